#include "units/routines/arguments.h"

#include <math.h>
#include <stdio.h>

void arguments_name_variant(const struct arguments_unit *unit, const struct routine_request *request, struct routine_work *work)
{
    snprintf(work->variant, sizeof work->variant, "%s_%s_%s", unit->prefix, request->row->operation->name,
             routine_type_name(request->type));
}

static struct routine_call *add_call(const struct arguments_unit *unit, const char *function,
                                     const struct routine_request *request, struct routine_work *work, const char *items,
                                     uint64_t count)
{
    char name[40];
    snprintf(name, sizeof name, "%s_%s", unit->prefix, function);
    return routine_add_call(work, name, request->type, items, count);
}

static void pass_own(struct routine_call *call, const struct routine_work *work, unsigned own)
{
    routine_pass_operand(call, own, 0);
    routine_pass(call, (int64_t)work->operand[own].thread_stride_bytes);
}

static unsigned threads_of(const struct routine_request *request)
{
    return request->threads ? request->threads : 1;
}

/* ---- rows ---- */

/* A row of float32 for each thread. */
static void pass_row(const struct arguments_unit *unit, const struct routine_request *request, struct routine_work *work,
                     struct routine_call *call, uint64_t columns)
{
    pass_own(call, work, routine_add_scratch(work, "own", 4 * (columns + unit->row_pad), threads_of(request)));
    routine_pass(call, (int64_t)columns);
}

void arguments_build_softmax(const struct arguments_unit *unit, const struct routine_request *request, struct routine_work *work)
{
    struct routine_call *const call = add_call(unit, "softmax", request, work, "rows", (uint64_t)request->value[ROWS_ROWS]);
    routine_pass_operand(call, 0, 0);
    routine_pass_operand(call, 1, 0);
    pass_row(unit, request, work, call, (uint64_t)request->value[ROWS_COLUMNS]);
    routine_pass(call, request->value[SOFTMAX_LOG]);
    arguments_name_variant(unit, request, work);
}

void arguments_norm(const struct arguments_unit *unit, const struct arguments_norm *n, const struct routine_request *request,
                    struct routine_work *work)
{
    struct routine_call *const call = add_call(unit, "norm", request, work, n->items, n->rows);
    for (unsigned operand = 0; operand < 4; operand++)
        routine_pass_operand(call, operand < 2 + n->parameters ? operand : 0, 0);
    pass_row(unit, request, work, call, n->columns);
    routine_pass(call, n->parameters > 0);
    routine_pass(call, n->parameters > 1);
    routine_pass(call, n->centred);
    routine_pass(call, n->by_run);
    routine_pass(call, n->each);
    routine_pass(call, n->count);
    routine_pass_real(call, n->eps);
    arguments_name_variant(unit, request, work);
}

void arguments_build_norm(const struct arguments_unit *unit, const struct routine_request *request, struct routine_work *work)
{
    const bool centred = request->row->operation == &operation_layernorm;
    const struct arguments_norm n = {.items = "rows",
                                     .rows = (uint64_t)request->value[ROWS_ROWS],
                                     .columns = (uint64_t)request->value[ROWS_COLUMNS],
                                     .centred = centred,
                                     .parameters = !request->value[NORM_AFFINE] ? 0
                                                   : centred                    ? 2
                                                                                : 1,
                                     .each = 1,
                                     .count = request->value[ROWS_COLUMNS],
                                     .eps = request->decimal[NORM_EPS]};
    arguments_norm(unit, &n, request, work);
}

void arguments_build_groupnorm(const struct arguments_unit *unit, const struct routine_request *request,
                               struct routine_work *work)
{
    const int64_t *const v = request->value;
    const int64_t groups = v[IMAGENORM_GROUPS], channels = v[IMAGE_C], pixels = v[IMAGE_H] * v[IMAGE_W];
    const struct arguments_norm n = {.items = "groups of channels",
                                     .rows = (uint64_t)(v[IMAGE_N] * groups),
                                     .columns = (uint64_t)(channels / groups * pixels),
                                     .centred = true,
                                     .by_run = true,
                                     .parameters = 2,
                                     .each = pixels,
                                     .count = channels,
                                     .eps = request->decimal[IMAGENORM_EPS]};
    arguments_norm(unit, &n, request, work);
}

void arguments_build_batchnorm(const struct arguments_unit *unit, const struct routine_request *request,
                               struct routine_work *work)
{
    const int64_t *const v = request->value;
    struct routine_call *const call =
        add_call(unit, "batchnorm", request, work, "planes of h x w", (uint64_t)(v[IMAGE_N] * v[IMAGE_C]));
    for (unsigned operand = 0; operand < 6; operand++)
        routine_pass_operand(call, operand, 0);
    routine_pass(call, v[IMAGE_H] * v[IMAGE_W]);
    routine_pass(call, v[IMAGE_C]);
    routine_pass_real(call, request->decimal[IMAGENORM_EPS]);
    arguments_name_variant(unit, request, work);
}

/* ---- attention ---- */

void arguments_build_attention(const struct arguments_unit *unit, const struct arguments_attention *a,
                               const struct routine_request *request, struct routine_work *work)
{
    const int64_t *const v = request->value;
    const uint64_t s = (uint64_t)v[ATTENTION_S], d = (uint64_t)v[ATTENTION_D];
    const uint64_t heads = (uint64_t)(v[ATTENTION_B] * v[ATTENTION_H]);
    const uint64_t kv = (uint64_t)(v[ATTENTION_B] * operation_kv_heads(request));
    const uint64_t key_panels = kv * ((s + a->panel - 1) / a->panel), value_panels = kv * ((d + a->panel - 1) / a->panel);
    const unsigned keys = routine_add_scratch(work, "keys", 4 * key_panels * d * a->panel, 0);
    const unsigned values = routine_add_scratch(work, "values", 4 * value_panels * s * a->panel, 0);
    const unsigned own = routine_add_scratch(work, "own", 4 * a->own, threads_of(request));
    struct routine_call *const calls[] = {
        add_call(unit, "attention_keys", request, work, a->keys, key_panels),
        add_call(unit, "attention_values", request, work, a->values, value_panels),
        add_call(unit, "attention", request, work, a->queries, heads * ((s + a->block - 1) / a->block))};
    for (int i = 0; i < 3; i++) {
        for (unsigned operand = 0; operand < 4; operand++)
            routine_pass_operand(calls[i], a->first + operand, 0);
        routine_pass_operand(calls[i], keys, 0);
        routine_pass_operand(calls[i], values, 0);
        pass_own(calls[i], work, own);
        routine_pass(calls[i], v[ATTENTION_H]);
        routine_pass(calls[i], operation_kv_heads(request));
        routine_pass(calls[i], v[ATTENTION_S]);
        routine_pass(calls[i], v[ATTENTION_D]);
        routine_pass(calls[i], v[ATTENTION_CAUSAL]);
        routine_pass_real(calls[i], 1 / sqrt((double)d));
    }
    arguments_name_variant(unit, request, work);
}

/* ---- conv2d ---- */

void arguments_pass_conv(const struct arguments_conv *v, const struct routine_request *request, const struct routine_work *work,
                         struct routine_call *call)
{
    routine_pass_operand(call, 0, 0);
    routine_pass_operand(call, 1, 0);
    routine_pass_operand(call, v->bias, 0);
    routine_pass_operand(call, v->out, 0);
    routine_pass_operand(call, v->panels, 0);
    pass_own(call, work, v->own);
    for (unsigned value = IMAGE_N; value <= CONV_BIAS; value++)
        routine_pass(call, request->value[value]);
    routine_pass(call, v->shape.act);
    routine_pass(call, v->shape.h);
    routine_pass(call, v->shape.w);
    routine_pass(call, v->shape.group_c);
    routine_pass(call, v->shape.group_k);
    routine_pass(call, v->chunks);
}
