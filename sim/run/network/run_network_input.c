#include "sim/run/network/run_network_input.h"

#include "sim/base/splitmix64.h"
#include "sim/network/arrays.h"
#include "sim/run/network/run_network_lengths.h"
#include "sim/run/network/run_network_places.h"

#include <math.h>
#include <string.h>

bool run_network_read_input(const struct net_model *model, struct net_array **input, const char *text, struct orch_error *error)
{
    const struct net_graph *const g = model->graph;
    const size_t length = strcspn(text, "=");
    if (text[length] != '=')
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("input") " %s: expected NAME=FILE.npy", text);
    for (size_t k = 0; k < g->inputs; k++) {
        const char *const name = model->value[g->input[k]].name;
        if (strlen(name) != length || strncmp(name, text, length) != 0)
            continue;
        net_array_release(input[k]);
        input[k] = net_array_load(text + length + 1, name, error);
        return input[k] != NULL;
    }
    return orch_fail(error, ORCH_USAGE, ORCH_OPTION("input") " %s: the network has no input of that name; the first is %.80s",
                     text, g->inputs ? model->value[g->input[0]].name : "none");
}

/* Numbers in [0, 1); whole ones below 16, or where the network looks up something shorter by them, places of that. */
static struct net_array *generate(const struct net_model *model, net_id value, uint64_t seed, struct orch_error *error)
{
    enum { MOST = 16 };
    const struct net_value *const v = &model->value[value];
    const bool whole = !net_type_is_float(v->type) && v->type != NET_BOOL;
    const double most = whole ? (double)run_network_places(model, value, MOST) : 2;
    struct net_array *const a = net_array_new(v->type, v->shape.dim, v->shape.dims, error);
    uint64_t state = seed;
    for (int64_t i = 0; a && i < a->count; i++) {
        const double unit = (double)(splitmix64_next(&state) >> 11) * 0x1p-53;
        const double number = net_type_is_float(v->type) ? unit : floor(unit * most);
        net_write_doubles(v->type, a->data, i, 1, &number);
    }
    return a;
}

/* Names the dimensions, so that they can be given. */
static bool refuse_open(const struct net_model *model, const struct net_value *v, struct orch_error *error)
{
    orch_fail(error, ORCH_USAGE,
              "input '%.80s' has dimensions that the file leaves open: give it by " ORCH_OPTION("input") ", or each dimension:",
              v->name);
    for (unsigned d = 0; v->shape.known && d < v->shape.dims; d++)
        if (v->shape.dim[d] < 0)
            orch_fail_more(error, " " ORCH_OPTION("dim") " '%.60s=N'", net_symbol_name(model, v->shape.dim[d]));
    return false;
}

bool run_network_generate_missing(const struct net_model *model, struct net_array **input, uint64_t seed, unsigned *generated,
                                  struct orch_error *error)
{
    if (!run_network_fill_lengths(model, input, generated, error))
        return false;
    for (size_t k = 0; k < model->graph->inputs; k++) {
        const struct net_value *const v = &model->value[model->graph->input[k]];
        if (input[k] || v->constant)
            continue;
        bool known = v->shape.known && v->type != NET_TYPES;
        for (unsigned d = 0; known && d < v->shape.dims; d++)
            known = v->shape.dim[d] >= 0;
        if (!known)
            return refuse_open(model, v, error);
        input[k] = generate(model, model->graph->input[k], seed + k, error);
        if (!input[k])
            return false;
        (*generated)++;
    }
    return true;
}

const char *run_network_own_precision(const struct net_model *model)
{
    int64_t halves = 0, others = 0;
    for (size_t i = 0; i < model->values; i++) {
        const struct net_array *const a = model->value[i].constant;
        if (a && a->type == NET_F16)
            halves += a->count;
        else if (a && net_type_is_float(a->type))
            others += a->count;
    }
    for (size_t k = 0; halves + others == 0 && k < model->graph->inputs; k++)
        if (model->value[model->graph->input[k]].type != NET_F16)
            return NULL;
    return halves > others || (halves + others == 0 && model->graph->inputs > 0) ? "f16" : NULL;
}
