#include "sim/network/network.h"

#include "sim/base/suggest.h"
#include "sim/network/coreml/coreml.h"
#include "sim/network/cost.h"
#include "sim/network/encoder/encoder.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/operator.h"
#include "sim/network/passes/pass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct net_model *net_import(const char *path, struct orch_error *error)
{
    return coreml_is_named(path) ? coreml_load(path, error)
           : encoder_is(path)    ? encoder_load(path, error)
                                 : onnx_load(path, error);
}

bool net_bind(struct net_model *model, const char *text, struct orch_error *error)
{
    const char *const equals = strrchr(text, '=');
    char name[256], hint[96], *end = NULL;
    struct suggest s;
    errno = 0;
    const long long size = equals && equals[1] ? strtoll(equals + 1, &end, 10) : -1;
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name || !end || *end || errno || size < 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("dim") " %.80s: expected NAME=N", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    suggest_start(&s, name);
    for (size_t k = 1; k < model->symbols; k++) {
        if (strcmp(model->symbol[k], name) == 0) {
            model->bound[k] = size;
            return true;
        }
        suggest_offer(&s, model->symbol[k]);
    }
    return orch_fail(error, ORCH_USAGE, ORCH_OPTION("dim") " %.80s: the network has no such dimension%s", name,
                     suggest_phrase(&s, hint, sizeof hint));
}

/* "input 'x' is [1,1,28,28]; the array has [3,3]" */
static bool refuse_dimensions(const struct net_model *model, const struct net_value *v, const struct net_array *a,
                              struct orch_error *error)
{
    char wanted[160] = "", given[160] = "";
    size_t used = 0;
    for (unsigned d = 0; d < v->shape.dims && used < sizeof wanted; d++) {
        const int64_t dim = net_dim_bound(model, v->shape.dim[d]);
        used += dim >= 0 ? (size_t)snprintf(wanted + used, sizeof wanted - used, "%s%lld", d ? "," : "", (long long)dim)
                         : (size_t)snprintf(wanted + used, sizeof wanted - used, "%s?", d ? "," : "");
    }
    used = 0;
    for (unsigned d = 0; d < a->dims && used < sizeof given; d++)
        used += (size_t)snprintf(given + used, sizeof given - used, "%s%lld", d ? "," : "", (long long)a->shape[d]);
    return orch_fail(error, ORCH_USAGE, "input '%.80s' has %u dimensions, not %u: it is [%s], the array [%s]", v->name, a->dims,
                     v->shape.dims, wanted, given);
}

bool net_bind_inputs(struct net_model *model, struct net_array *const *input, struct orch_error *error)
{
    for (size_t k = 0; k < model->graph->inputs; k++) {
        struct net_value *const v = &model->value[model->graph->input[k]];
        const struct net_array *const a = input[k];
        if (!a)
            continue;
        if (v->shape.known && v->shape.dims != a->dims)
            return refuse_dimensions(model, v, a, error);
        for (unsigned d = 0; d < a->dims && v->shape.known; d++) {
            const int64_t dim = net_dim_bound(model, v->shape.dim[d]);
            if (dim >= 0 && dim != a->shape[d])
                return orch_fail(error, ORCH_USAGE, "dimension %u of input '%.80s' is %lld, not %lld", d, v->name,
                                 (long long)a->shape[d], (long long)dim);
            if (dim < NET_UNKNOWN)
                model->bound[-1 - dim] = a->shape[d];
        }
        v->type = a->type;
        v->shape = (struct net_shape){.known = true, .dims = a->dims};
        memcpy(v->shape.dim, a->shape, sizeof v->shape.dim);
    }
    return true;
}

bool net_fix(struct net_model *model, const char *text, struct orch_error *error)
{
    const char *const equals = strrchr(text, '=');
    char *end = NULL;
    const double number = equals && equals[1] ? strtod(equals + 1, &end) : 0;
    if (!equals || equals == text || !end || *end)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("value") " %.80s: expected NAME=NUMBER", text);
    for (size_t k = 0; k < model->graph->inputs; k++) {
        struct net_value *const v = &model->value[model->graph->input[k]];
        if (strncmp(v->name, text, (size_t)(equals - text)) != 0 || v->name[equals - text])
            continue;
        int64_t one[NET_DIMS_MAX];
        for (unsigned d = 0; d < NET_DIMS_MAX; d++)
            one[d] = 1;
        if (v->type == NET_TYPES || !v->shape.known ||
            (net_shape_complete(&v->shape) && net_product(&v->shape, 0, v->shape.dims) != 1))
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("value") " %.80s: the input is no single number", text);
        struct net_array *const array = net_array_new(v->type, one, v->shape.dims, error);
        if (!array)
            return false;
        net_write_doubles(v->type, array->data, 0, 1, &number);
        net_array_release(v->constant);
        v->constant = array;
        v->shape = net_shape_of(array->shape, array->dims);
        return true;
    }
    return orch_fail(error, ORCH_USAGE, ORCH_OPTION("value") " %.80s: the network has no such input", text);
}

static bool is_left_out(const struct net_open_options *options, const char *name)
{
    for (size_t k = 0; k < options->without_count; k++)
        if (strcmp(options->without[k], name) == 0)
            return true;
    return false;
}

static bool run_pass(struct net_model *model, const struct net_pass *pass, struct net_pass_effect *effect,
                     struct orch_error *error)
{
    const struct net_cost before = net_total_cost(model);
    *effect = (struct net_pass_effect){.pass = pass->name, .nodes_before = model->graph->nodes};
    if (!pass->run(model, &effect->changes, error) || (effect->changes && !net_infer_shapes(model, error)))
        return orch_fail_in(error, "%s: pass %s", model->path, pass->name);
    const struct net_cost after = effect->changes ? net_total_cost(model) : before;
    effect->nodes_after = model->graph->nodes;
    effect->bytes_before = before.bytes;
    effect->bytes_after = after.bytes;
    effect->macs_before = before.macs;
    effect->macs_after = after.macs;
    return true;
}

bool net_prepare(struct net_model *model, const struct net_open_options *options, struct net_report *report,
                 struct orch_error *error)
{
    bool stopped = false;
    for (size_t k = 0; k < options->without_count; k++)
        if (!net_pass_find(options->without[k], error))
            return false;
    if (options->last && !net_pass_find(options->last, error))
        return false;
    for (size_t k = 0; k < model->symbols; k++)
        model->bound[k] = model->bound[k] < 0 ? model->usual[k] : model->bound[k];
    if (!net_infer_shapes(model, error))
        return orch_fail_in(error, "%s", model->path);
    if (report)
        report->effects = 0;
    for (size_t k = 0; net_pass_at(k) && !stopped; k++) {
        const struct net_pass *const pass = net_pass_at(k);
        struct net_pass_effect effect;
        stopped = options->last && strcmp(pass->name, options->last) == 0;
        if ((pass->level > options->level && !stopped) || is_left_out(options, pass->name))
            continue;
        if (!run_pass(model, pass, &effect, error))
            return false;
        if (report && report->effects < NET_EFFECTS_MAX)
            report->effect[report->effects++] = effect;
    }
    return true;
}
