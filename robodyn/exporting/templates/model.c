#include "model.h"

#include <string.h>

const double model_start[MODEL_VALUES] = {$start};

const unsigned char model_settable[MODEL_VALUES] = {$settable};

double model_time(const model_state *state)
{
    return state->start + (double)state->motion.steps * MODEL_STEP;
}

static const char *done($result result, model_state *state)
{
    if (result == ${macro}_NOT_FINITE)
        return "the motion is not finite: it is singular, or the step is too long";
    if (result != ${macro}_OK)
        return "the loops do not close";
    memcpy(state->values + $q, state->motion.q, sizeof state->motion.q);
    memcpy(state->values + $v, state->motion.v, sizeof state->motion.v);
    return NULL;
}

${given}const char *model_begin(model_state *state)
{
    return done($begin(&state->motion, state->values + $q, state->values + $v), state);
}

const char *model_step(model_state *state)
{
    const $state before = state->motion;
    const char *wrong;
$forces    wrong = done($call, state);
    if (wrong != NULL)
        state->motion = before;
    return wrong;
}

void model_outputs(model_state *state)
{
    const double t = model_time(state);
    double *const values = state->values;
$lines
    (void)t, (void)values;
}
