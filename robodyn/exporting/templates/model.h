/* The motion of $name as the functions of FMI see it. */
#ifndef MODEL_H
#define MODEL_H

#include "$prefix.h"

#define MODEL_TOKEN "$token"
#define MODEL_STEP $step
#define MODEL_STEP_TEXT "$step"

enum {
    MODEL_VALUES = $count, /* numbers of variables, by value reference */
    MODEL_NEEDS_TIME = $needs_time /* whether the motion depends on when it begins */
};

enum { MODEL_NEVER, MODEL_AT_START, MODEL_ALWAYS }; /* when a variable can be set */

typedef struct {
    double start; /* time [s] */
    double values[MODEL_VALUES];
    $state motion;
} model_state;

extern const double model_start[MODEL_VALUES];
extern const unsigned char model_settable[MODEL_VALUES];

double model_time(const model_state *state);

/* These return NULL, or what is wrong. */
const char *model_begin(model_state *state);
const char *model_step(model_state *state);

/* Forces of the controller and other outputs, of which the motion knows nothing. */
void model_outputs(model_state *state);

#endif
