/* attention: native/line_attention.c. */
#include "units/amx/kernels/amx_kernels.h"

#include <math.h>
#include <stdio.h>

enum { PANEL = 16, BLOCK = 64 }; /* ORDER: native/line_outer.h, native/line.h */

static const struct kernel_parameter parameters[] = {ROUTINE_ATTENTION_PARAMETERS, {.name = NULL}};

static uint64_t panels_of(uint64_t count)
{
    return (count + PANEL - 1) / PANEL;
}

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t s = (uint64_t)r->value[ATTENTION_S], d = (uint64_t)r->value[ATTENTION_D];
    const uint64_t heads = (uint64_t)(r->value[ATTENTION_B] * r->value[ATTENTION_H]);
    const uint64_t kv = (uint64_t)(r->value[ATTENTION_B] * operation_kv_heads(r));
    (void)error;
    const unsigned scratch[] = {routine_add_scratch(w, "keys", 4 * kv * panels_of(s) * d * PANEL, 0),
                                routine_add_scratch(w, "values", 4 * kv * panels_of(d) * s * PANEL, 0),
                                routine_add_scratch(w, "queries", 4 * d * BLOCK, 0),
                                routine_add_scratch(w, "scores", 4 * panels_of(s) * PANEL * BLOCK, 0)};
    struct routine_call *const calls[] = {
        routine_add_call(w, "amx_attention_keys", r->type, "panels of 16 keys", kv * panels_of(s)),
        routine_add_call(w, "amx_attention_values", r->type, "panels of 16 columns of values", kv * panels_of(d)),
        routine_add_call(w, "amx_attention", r->type, "blocks of 64 queries", heads * ((s + BLOCK - 1) / BLOCK))};
    for (int i = 0; i < 3; i++) {
        for (unsigned operand = 0; operand < 4; operand++)
            routine_pass_operand(calls[i], operand, 0);
        for (int k = 0; k < 4; k++)
            routine_pass_operand(calls[i], scratch[k], 0);
        routine_pass(calls[i], r->value[ATTENTION_H]);
        routine_pass(calls[i], operation_kv_heads(r));
        routine_pass(calls[i], r->value[ATTENTION_S]);
        routine_pass(calls[i], r->value[ATTENTION_D]);
        routine_pass(calls[i], r->value[ATTENTION_CAUSAL]);
        routine_pass_real(calls[i], 1 / sqrt((double)d));
    }
    snprintf(w->variant, sizeof w->variant, "amx_attention_%s", routine_type_name(r->type));
    return true;
}

const struct routine amx_kernel_attention = {
    &operation_attention,
    "b=B,h=H,s=S,d=D[,causal=0|1][,kvh=H]",
    "f32 f16 bf16",
    "out = softmax(q k^T / sqrt(d)) v; q, out: [b][h][s][d], k, v: [b][kvh][s][d]; kvh: heads share keys and values",
    parameters,
    build};
