/* Inference: a network by the kernels of a unit on the values of a request. */
#include "sim/serve/served_internal.h"

#include "sim/base/checksum.h"
#include "sim/base/host_time.h"
#include "sim/network/encoder/encoder.h"
#include "sim/network/network.h"
#include "sim/run/network/run_network.h"
#include "sim/run/network/run_network_text.h"
#include "sim/run/run_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void served_shapes_free(struct served_model *m)
{
    for (unsigned i = 0; i < m->shapes; i++)
        net_model_free(m->shape[i].model);
    free(m->shape);
    m->shape = NULL;
    m->shapes = 0;
}

/* What decides how the graph is prepared: shapes and types, and the values of inputs that may be shapes themselves. */
static uint64_t key_of(const struct served_model *m, struct net_array *const *input)
{
    enum { SMALL = 16 };
    uint64_t key = CHECKSUM_START;
    for (size_t k = 0; k < m->network->graph->inputs; k++) {
        if (!input[k])
            continue;
        key = checksum_add(key, &input[k]->type, sizeof input[k]->type);
        key = checksum_add(key, &input[k]->dims, sizeof input[k]->dims);
        key = checksum_add(key, input[k]->shape, input[k]->dims * sizeof input[k]->shape[0]);
        if (input[k]->count <= SMALL && !net_type_is_float(input[k]->type))
            key = checksum_add(key, input[k]->data, net_array_bytes(input[k]));
        if (m->vocabulary && strcmp(m->network->value[m->network->graph->input[k]].name, ENCODER_MASK) == 0)
            key = checksum_add(key, input[k]->data, net_array_bytes(input[k])); /* one that hides nothing is a constant */
    }
    return key;
}

/* ---- costs ---- */

/* "NAME=N" for every dimension that the inputs bound. */
static char **bound_dims(const struct net_model *model, size_t *count)
{
    char **const list = calloc(model->symbols + 1, sizeof *list);
    *count = 0;
    for (size_t k = 1; list && k < model->symbols; k++) {
        if (model->bound[k] < 0)
            continue;
        const size_t size = strlen(model->symbol[k]) + 32;
        char *const text = malloc(size);
        if (!text)
            continue;
        snprintf(text, size, "%s=%lld", model->symbol[k], (long long)model->bound[k]);
        list[(*count)++] = text;
    }
    return list;
}

static struct run_request request_of(const struct served *s, const struct served_model *m)
{
    struct run_request q = s->setup.run;
    q.workload = m->entry.workload;
    q.unit = m->unit;
    q.precision = m->precision[0] ? m->precision : NULL;
    q.repeat = 1;
    return q;
}

static bool find_cost(struct served *s, const struct served_model *m, struct served_shape *shape, struct orch_error *error)
{
    struct run_request q = request_of(s, m);
    struct run_result r;
    size_t dims;
    char **const dim = bound_dims(shape->model, &dims);
    q.detail = "op";
    q.dims = (const char *const *)dim;
    q.dim_count = dims;
    struct net_array *none[NET_DIMS_MAX] = {NULL}, *nothing[NET_DIMS_MAX] = {NULL};
    const struct run_network_arrays loaded = {none, nothing, m->network};
    if (m->vocabulary) /* its files need not be read again */
        q.arrays = &loaded;
    run_result_init(&r);
    bool ok;
    if (s->heat) {
        ok = run_profile(&q, s->setup.db, &s->setup.overrides, &shape->profile, &r, error);
    } else {
        struct run *const run = run_prepare(&q, error);
        ok = run && run_execute(run, NULL, 1, &r, error);
        run_free(run);
    }
    shape->seconds = r.seconds;
    shape->joules = r.joules;
    shape->dram_bytes = r.dram_bytes;
    for (size_t i = 0; dim && i < dims; i++)
        free(dim[i]);
    free(dim);
    for (size_t i = 0; i < NET_DIMS_MAX; i++)
        net_array_release(nothing[i]);
    run_result_free(&r);
    return ok;
}

/* ---- shapes ---- */

static struct served_shape *place_for(struct served_model *m)
{
    if (!m->shape)
        m->shape = calloc(SERVED_SHAPES, sizeof *m->shape);
    if (!m->shape || m->shapes < SERVED_SHAPES)
        return m->shape ? &m->shape[m->shapes++] : NULL;
    struct served_shape *oldest = &m->shape[0];
    for (unsigned i = 1; i < m->shapes; i++)
        if (m->shape[i].used < oldest->used)
            oldest = &m->shape[i];
    net_model_free(oldest->model);
    memset(oldest, 0, sizeof *oldest);
    return oldest;
}

static struct served_shape *shape_of(struct served *s, struct served_model *m, struct net_array *const *input,
                                     struct orch_error *error)
{
    static const struct net_open_options everything = {.level = 2};
    const uint64_t key = key_of(m, input);
    for (unsigned i = 0; i < m->shapes; i++)
        if (m->shape[i].key == key && m->shape[i].model) {
            m->shape[i].used = ++s->uses;
            return &m->shape[i];
        }
    struct served_shape made = {.key = key, .used = ++s->uses, .model = net_model_copy(m->network)};
    if (!made.model)
        orch_no_memory(error);
    if (made.model && m->vocabulary)
        run_network_fix_mask(made.model, input);
    if (!made.model || !net_bind_inputs(made.model, input, error) || !net_prepare(made.model, &everything, NULL, error) ||
        !find_cost(s, m, &made, error)) {
        net_model_free(made.model);
        return NULL;
    }
    struct served_shape *const place = place_for(m);
    if (!place) {
        net_model_free(made.model);
        orch_no_memory(error);
        return NULL;
    }
    *place = made;
    return place;
}

/* ---- values ---- */

static bool compute(const struct served *s, const struct served_model *m, const struct net_model *model,
                    struct net_array *const *input, struct net_array **output, struct orch_error *error)
{
    struct run_request q = request_of(s, m);
    struct run_measure sum = {.soc = NULL};
    struct run_result result;
    const bool buffers = m->part != PART_CPU;
    struct mem_space *const space = buffers ? mem_space_create(0) : NULL;
    q.mode = RUN_FUNCTIONAL;
    q.known = NULL;
    struct run_network n = {
        .request = &q, .part = m->part, .space = space, .model = model, .input = input, .sum = &sum, .result = &result};
    run_result_init(&result);
    const bool ok = (space || !buffers || orch_no_memory(error)) && run_network(&n, output, error);
    mem_space_free(space);
    run_result_free(&result);
    run_measure_release(&sum);
    return ok;
}

bool served_infer(struct served *s, struct served_model *m, struct net_array *const *input, struct net_array **output,
                  unsigned samples, struct served_cost *cost, struct orch_error *error)
{
    const double began = host_seconds();
    struct served_shape *const shape = shape_of(s, m, input, error);
    if (!shape || !compute(s, m, shape->model, input, output, error)) {
        served_count_failure(s, m);
        return false;
    }
    *cost = (struct served_cost){.seconds = shape->seconds, .joules = shape->joules};
    cost->celsius = served_machine_add(s, m->part, &shape->profile, shape->seconds, shape->dram_bytes);
    served_add_counts(
        s, m,
        &(struct served_counts){
            .samples = samples, .seconds = shape->seconds, .joules = shape->joules, .host_s = host_seconds() - began});
    return true;
}
