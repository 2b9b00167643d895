/* attention: native/line_attention.c. */
#include "units/amx/kernels/amx_kernels.h"

enum { PANEL = 16, BLOCK = 64 }; /* ORDER: native/line_outer.h, native/line.h */

static const struct kernel_parameter parameters[] = {ROUTINE_ATTENTION_PARAMETERS, {.name = NULL}};

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t keys = ((uint64_t)r->value[ATTENTION_S] + PANEL - 1) / PANEL * PANEL;
    const struct arguments_attention cut = {.panel = PANEL,
                                            .block = BLOCK,
                                            .own = BLOCK * (keys + (uint64_t)r->value[ATTENTION_D]),
                                            .keys = "panels of 16 keys",
                                            .values = "panels of 16 columns of values",
                                            .queries = "blocks of 64 queries"};
    (void)error;
    arguments_build_attention(&amx_kernel_block, &cut, r, w);
    return true;
}

const struct routine amx_kernel_attention = {
    &operation_attention,
    "b=B,h=H,s=S,d=D[,causal=0|1][,kvh=H]",
    "f32 f16 bf16",
    "out = softmax(q k^T / sqrt(d)) v; q, out: [b][h][s][d], k, v: [b][kvh][s][d]; kvh: heads share keys and values",
    parameters,
    build};
