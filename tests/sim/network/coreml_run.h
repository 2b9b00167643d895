/* Importing and running Core ML files made by hand. */
#ifndef ORCHARD_TESTS_SIM_NETWORK_COREML_RUN_H
#define ORCHARD_TESTS_SIM_NETWORK_COREML_RUN_H

#include "sim/network/coreml/coreml.h"
#include "sim/network/network.h"
#include "sim/network/operators/run.h"
#include "tests/sim/network/coreml_example.h"
#include "tests/support/suite.h"

#include <math.h>

static inline struct net_model *import(struct message *m, struct orch_error *error)
{
    *error = (struct orch_error){0};
    struct net_model *const model = coreml_import("m.mlmodel", m->byte, m->size, error);
    free(m->byte);
    *m = (struct message){NULL, 0};
    return model;
}

/* Runs a model with the input 0, 1, 2, ... and compares its output. */
static inline void check_numbers(struct net_model *model, const char *what, const int64_t *shape, unsigned dims,
                                 const double *expected)
{
    struct orch_error error = {0};
    const struct net_open_options options = {.level = 2};
    struct net_array *y[1] = {NULL};
    const bool ready = net_prepare(model, &options, NULL, &error);
    const struct net_value *const v = &model->value[model->graph->input[0]];
    struct net_array *const x = ready ? net_array_new(v->type, v->shape.dim, v->shape.dims, &error) : NULL;
    for (int64_t k = 0; x && k < x->count; k++) {
        const double number = (double)k;
        net_write_doubles(v->type, x->data, k, 1, &number);
    }
    const struct net_run r = {.model = model, .input = &x};
    CHECK(x && net_run(&r, y, &error), "%s: %s", what, error.text);
    CHECK(y[0] && y[0]->dims == dims && memcmp(y[0]->shape, shape, dims * sizeof *shape) == 0, "%s: the shape", what);
    for (int64_t k = 0; y[0] && k < y[0]->count; k++)
        CHECK(fabs(net_array_double(y[0], k) - expected[k]) <= 1e-5 * (1 + fabs(expected[k])), "%s: %lld is %g, not %g", what,
              (long long)k, net_array_double(y[0], k), expected[k]);
    net_array_release(y[0]);
    net_array_release(x);
}

static inline void refuses(struct message *file, int code, const char *part)
{
    struct orch_error error;
    struct net_model *const model = import(file, &error);
    CHECK(!model && error.exit_code == code && strstr(error.text, part) && !strchr(error.text, '\n'), "%d, not %d with '%s': %s",
          error.exit_code, code, part, error.text);
    net_model_free(model);
}

#endif
