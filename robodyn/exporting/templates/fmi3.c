/* The functions of FMI 3.0 for co-simulation, around the model that model.h declares.
 *
 * An instance is a model_state, which is plain numbers: states of the unit are copies of it. What is
 * read are values of a copy on which the model has computed its outputs, so that reading changes
 * nothing. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter" /* FMI says which there are */
#endif

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* -- what FMI 3.0 calls types ----------------------------------------------------------------- */

typedef void *Instance;
typedef void *Environment;
typedef uint32_t Reference;
typedef const char *String;
typedef const uint8_t *Binary;
typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } Status;
typedef void (*Log)(Environment, Status, String category, String message);
typedef void (*Intermediate)(Environment, double, bool, bool, bool, bool, bool *, double *);
typedef void (*ClockUpdate)(Environment);
typedef void (*Lock)(void);

enum phase { INSTANTIATED, INITIALIZATION, STEP, TERMINATED };

typedef struct {
    model_state state, shown;
    enum phase phase;
    bool is_shown; /* whether shown has the outputs of state */
    Environment environment;
    Log log;
} Unit;

static Status failed(const Unit *unit, const char *message)
{
    if (unit->log != NULL)
        unit->log(unit->environment, ERROR, "logStatusError", message);
    return ERROR;
}

static void begin(Unit *unit)
{
    memset(&unit->state, 0, sizeof unit->state);
    memcpy(unit->state.values, model_start, sizeof unit->state.values);
    unit->phase = INSTANTIATED;
    unit->is_shown = false;
}

/* -- instances ---------------------------------------------------------------------------------- */

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

EXPORT Status fmi3SetDebugLogging(Instance unit, bool on, size_t n, const String categories[])
{
    return OK;
}

EXPORT Instance fmi3InstantiateCoSimulation(
    String name, String token, String resources, bool visible, bool logging, bool events, bool early,
    const Reference required[], size_t n, Environment environment, Log log, Intermediate update)
{
    Unit *unit;
    if (token == NULL || strcmp(token, MODEL_TOKEN) != 0) {
        if (log != NULL)
            log(environment, ERROR, "logStatusError",
                "the instantiation token is that of another model description");
        return NULL;
    }
    unit = calloc(1, sizeof *unit);
    if (unit == NULL)
        return NULL;
    unit->environment = environment;
    unit->log = log;
    begin(unit);
    return unit;
}

EXPORT Instance fmi3InstantiateModelExchange(
    String name, String token, String resources, bool visible, bool logging, Environment environment,
    Log log)
{
    if (log != NULL)
        log(environment, ERROR, "logStatusError", "this unit is for co-simulation only");
    return NULL;
}

EXPORT Instance fmi3InstantiateScheduledExecution(
    String name, String token, String resources, bool visible, bool logging, Environment environment,
    Log log, ClockUpdate update, Lock lock, Lock unlock)
{
    return fmi3InstantiateModelExchange(name, token, resources, visible, logging, environment, log);
}

EXPORT void fmi3FreeInstance(Instance unit) { free(unit); }

EXPORT Status fmi3EnterInitializationMode(
    Instance instance, bool has_tolerance, double tolerance, double start, bool has_stop, double stop)
{
    Unit *unit = instance;
    if (unit->phase != INSTANTIATED)
        return failed(unit, "initialization is entered, but the motion has begun: reset it first");
    if (start != 0.0 && MODEL_NEEDS_TIME)
        return failed(unit, "the motion depends on time, which begins at zero: start there");
    if (!isfinite(start))
        return failed(unit, "the start time is not finite");
    unit->state.start = start;
    unit->phase = INITIALIZATION;
    unit->is_shown = false;
    return OK;
}

EXPORT Status fmi3ExitInitializationMode(Instance instance)
{
    Unit *unit = instance;
    const char *wrong;
    if (unit->phase != INITIALIZATION)
        return failed(unit, "initialization is left, but has not been entered");
    wrong = model_begin(&unit->state);
    if (wrong != NULL)
        return failed(unit, wrong);
    unit->phase = STEP;
    unit->is_shown = false;
    return OK;
}

EXPORT Status fmi3Terminate(Instance instance)
{
    Unit *unit = instance;
    unit->phase = TERMINATED;
    return OK;
}

EXPORT Status fmi3Reset(Instance instance)
{
    begin(instance);
    return OK;
}

/* -- numbers ------------------------------------------------------------------------------------ */

/* Compute what is read, on a copy. */
static Status show(Unit *unit)
{
    const char *wrong = NULL;
    if (unit->is_shown)
        return OK;
    unit->shown = unit->state;
    if (unit->phase == INITIALIZATION)
        wrong = model_begin(&unit->shown);
    if (wrong != NULL)
        return failed(unit, wrong);
    if (unit->phase != INSTANTIATED)
        model_outputs(&unit->shown);
    unit->shown.values[0] = model_time(&unit->shown);
    unit->is_shown = true;
    return OK;
}

EXPORT Status fmi3GetFloat64(
    Instance instance, const Reference references[], size_t n, double values[], size_t count)
{
    Unit *unit = instance;
    size_t k;
    if (n != count)
        return failed(unit, "every variable has one value");
    if (show(unit) != OK)
        return ERROR;
    for (k = 0; k < n; ++k) {
        if (references[k] >= MODEL_VALUES)
            return failed(unit, "there is no variable of this reference");
        values[k] = unit->shown.values[references[k]];
    }
    return OK;
}

EXPORT Status fmi3SetFloat64(
    Instance instance, const Reference references[], size_t n, const double values[], size_t count)
{
    Unit *unit = instance;
    size_t k;
    if (n != count)
        return failed(unit, "every variable has one value");
    for (k = 0; k < n; ++k) {
        if (references[k] >= MODEL_VALUES)
            return failed(unit, "there is no variable of this reference");
        if (model_settable[references[k]] == MODEL_NEVER)
            return failed(unit, "this variable cannot be set");
        if (model_settable[references[k]] == MODEL_AT_START && unit->phase >= STEP)
            return failed(unit, "positions and speeds are set before the motion begins");
        if (!isfinite(values[k]))
            return failed(unit, "a value is not finite");
    }
    for (k = 0; k < n; ++k)
        unit->state.values[references[k]] = values[k];
    unit->is_shown = unit->is_shown && n == 0;
    return OK;
}

#define NO_VARIABLES(kind, type)                                                                    \
    EXPORT Status fmi3Get##kind(                                                                    \
        Instance unit, const Reference references[], size_t n, type values[], size_t count)         \
    {                                                                                               \
        return n == 0 ? OK : failed(unit, "there are no variables of type " #kind);                 \
    }                                                                                               \
    EXPORT Status fmi3Set##kind(                                                                    \
        Instance unit, const Reference references[], size_t n, const type values[], size_t count)   \
    {                                                                                               \
        return n == 0 ? OK : failed(unit, "there are no variables of type " #kind);                 \
    }

NO_VARIABLES(Float32, float)
NO_VARIABLES(Int8, int8_t)
NO_VARIABLES(UInt8, uint8_t)
NO_VARIABLES(Int16, int16_t)
NO_VARIABLES(UInt16, uint16_t)
NO_VARIABLES(Int32, int32_t)
NO_VARIABLES(UInt32, uint32_t)
NO_VARIABLES(Int64, int64_t)
NO_VARIABLES(UInt64, uint64_t)
NO_VARIABLES(Boolean, bool)
NO_VARIABLES(String, String)

/* -- time --------------------------------------------------------------------------------------- */

EXPORT Status fmi3EnterStepMode(Instance unit)
{
    return OK;
}

EXPORT Status fmi3DoStep(
    Instance instance, double point, double size, bool no_set_before, bool *events, bool *terminate,
    bool *early, double *last)
{
    Unit *unit = instance;
    const double steps = nearbyint(size / MODEL_STEP);
    const char *wrong = NULL;
    double k;
    *events = *terminate = *early = false;
    *last = model_time(&unit->state);
    if (unit->phase != STEP)
        return failed(unit, "a step is asked for, but the motion has not begun or is over");
    if (!(fabs(point - *last) <= 1e-3 * MODEL_STEP + 1e-9 * fabs(point)))
        return failed(unit, "the step does not begin where the one before has ended");
    if (!(steps >= 0.0 && fabs(size - steps * MODEL_STEP) <= 1e-3 * MODEL_STEP + 1e-9 * size))
        return failed(unit, "the length of the step is no multiple of " MODEL_STEP_TEXT " s");
    unit->is_shown = unit->is_shown && steps == 0.0;
    for (k = 0.0; k < steps && wrong == NULL; k += 1.0) {
        wrong = model_step(&unit->state);
    }
    *last = model_time(&unit->state);
    return wrong == NULL ? OK : failed(unit, wrong);
}

EXPORT Status fmi3GetOutputDerivatives(
    Instance unit, const Reference references[], size_t n, const int32_t orders[], double values[],
    size_t count)
{
    return n == 0 ? OK : failed(unit, "there are no derivatives of outputs");
}

/* -- states of the unit ------------------------------------------------------------------------- */

typedef struct {
    model_state state;
    enum phase phase;
} Snapshot;

EXPORT Status fmi3FreeFMUState(Instance unit, void **state)
{
    if (state != NULL) {
        free(*state);
        *state = NULL;
    }
    return OK;
}

EXPORT Status fmi3GetFMUState(Instance instance, void **state)
{
    Unit *unit = instance;
    Snapshot *copy = *state != NULL ? *state : calloc(1, sizeof *copy);
    if (copy == NULL)
        return failed(unit, "there is no memory for a state");
    copy->state = unit->state;
    copy->phase = unit->phase;
    *state = copy;
    return OK;
}

EXPORT Status fmi3SetFMUState(Instance instance, void *state)
{
    Unit *unit = instance;
    const Snapshot *copy = state;
    if (copy == NULL)
        return failed(unit, "there is no state to go back to");
    unit->state = copy->state;
    unit->phase = copy->phase;
    unit->is_shown = false;
    return OK;
}

EXPORT Status fmi3SerializedFMUStateSize(Instance unit, void *state, size_t *size)
{
    *size = sizeof(Snapshot);
    return OK;
}

EXPORT Status fmi3SerializeFMUState(Instance unit, void *state, uint8_t bytes[], size_t size)
{
    if (state == NULL || size < sizeof(Snapshot))
        return failed(unit, "a state does not fit into the given bytes");
    memcpy(bytes, state, sizeof(Snapshot));
    return OK;
}

EXPORT Status fmi3DeserializeFMUState(
    Instance unit, const uint8_t bytes[], size_t size, void **state)
{
    if (size != sizeof(Snapshot))
        return failed(unit, "the bytes are no state of this unit");
    if (*state == NULL)
        *state = calloc(1, sizeof(Snapshot));
    if (*state == NULL)
        return failed(unit, "there is no memory for a state");
    memcpy(*state, bytes, sizeof(Snapshot));
    return OK;
}

/* -- what this unit does not have ---------------------------------------------------------------- */

static Status absent(const Unit *unit)
{
    return failed(unit, "this unit for co-simulation does not have this function");
}

#define ABSENT(name, ...)                                                                           \
    EXPORT Status name(Instance unit, __VA_ARGS__) { return absent(unit); }

EXPORT Status fmi3EnterEventMode(Instance unit) { return absent(unit); }
EXPORT Status fmi3EnterConfigurationMode(Instance unit) { return absent(unit); }
EXPORT Status fmi3ExitConfigurationMode(Instance unit) { return absent(unit); }
EXPORT Status fmi3EvaluateDiscreteStates(Instance unit) { return absent(unit); }
EXPORT Status fmi3EnterContinuousTimeMode(Instance unit) { return absent(unit); }
ABSENT(fmi3GetBinary, const Reference r[], size_t n, size_t sizes[], Binary values[], size_t count)
ABSENT(fmi3SetBinary, const Reference r[], size_t n, const size_t sizes[], const Binary values[],
       size_t count)
ABSENT(fmi3GetClock, const Reference r[], size_t n, bool values[])
ABSENT(fmi3SetClock, const Reference r[], size_t n, const bool values[])
ABSENT(fmi3GetNumberOfVariableDependencies, Reference r, size_t *n)
ABSENT(fmi3GetVariableDependencies, Reference r, size_t elements[], Reference independents[],
       size_t of_independents[], int kinds[], size_t n)
ABSENT(fmi3GetDirectionalDerivative, const Reference unknowns[], size_t n, const Reference knowns[],
       size_t m, const double seed[], size_t n_seed, double sensitivity[], size_t count)
ABSENT(fmi3GetAdjointDerivative, const Reference unknowns[], size_t n, const Reference knowns[],
       size_t m, const double seed[], size_t n_seed, double sensitivity[], size_t count)
ABSENT(fmi3GetIntervalDecimal, const Reference r[], size_t n, double intervals[], int qualifiers[])
ABSENT(fmi3GetIntervalFraction, const Reference r[], size_t n, uint64_t counters[],
       uint64_t resolutions[], int qualifiers[])
ABSENT(fmi3GetShiftDecimal, const Reference r[], size_t n, double shifts[])
ABSENT(fmi3GetShiftFraction, const Reference r[], size_t n, uint64_t counters[],
       uint64_t resolutions[])
ABSENT(fmi3SetIntervalDecimal, const Reference r[], size_t n, const double intervals[])
ABSENT(fmi3SetIntervalFraction, const Reference r[], size_t n, const uint64_t counters[],
       const uint64_t resolutions[])
ABSENT(fmi3SetShiftDecimal, const Reference r[], size_t n, const double shifts[])
ABSENT(fmi3SetShiftFraction, const Reference r[], size_t n, const uint64_t counters[],
       const uint64_t resolutions[])
ABSENT(fmi3UpdateDiscreteStates, bool *update, bool *terminate, bool *nominals, bool *values,
       bool *has_next, double *next)
ABSENT(fmi3CompletedIntegratorStep, bool no_set_before, bool *event, bool *terminate)
ABSENT(fmi3SetTime, double time)
ABSENT(fmi3SetContinuousStates, const double states[], size_t n)
ABSENT(fmi3GetContinuousStateDerivatives, double derivatives[], size_t n)
ABSENT(fmi3GetEventIndicators, double indicators[], size_t n)
ABSENT(fmi3GetContinuousStates, double states[], size_t n)
ABSENT(fmi3GetNominalsOfContinuousStates, double nominals[], size_t n)
ABSENT(fmi3GetNumberOfEventIndicators, size_t *n)
ABSENT(fmi3GetNumberOfContinuousStates, size_t *n)
ABSENT(fmi3ActivateModelPartition, Reference clock, double time)
