/* attention and mha: native/line_attention.c, native/products.c, native/bias.c. */
#include "units/amx/kernels/amx_kernel_product.h"

#include <stdio.h>

enum { PANEL = 16, BLOCK = 64 }; /* ORDER: native/line_outer.h, native/line.h */

static const struct kernel_parameter parameters[] = {ROUTINE_ATTENTION_PARAMETERS, {.name = NULL}};

/* Of q, k, v and out, which are operands from `first` on. */
static void add_attention(const struct routine_request *r, struct routine_work *w, unsigned first)
{
    const uint64_t keys = ((uint64_t)r->value[ATTENTION_S] + PANEL - 1) / PANEL * PANEL;
    const struct arguments_attention cut = {.first = first,
                                            .panel = PANEL,
                                            .block = BLOCK,
                                            .own = BLOCK * (keys + (uint64_t)r->value[ATTENTION_D]),
                                            .keys = "panels of 16 keys",
                                            .values = "panels of 16 columns of values",
                                            .queries = "blocks of 64 queries"};
    arguments_build_attention(&amx_kernel_block, &cut, r, w);
}

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    (void)error;
    add_attention(r, w, 0);
    return true;
}

/* ---- with its projections ---- */

static const struct kernel_parameter mha_parameters[] = {ROUTINE_MHA_PARAMETERS, {.name = NULL}};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Attention of all heads, as a kernel of its own would be asked for. */
static struct routine_request inner(const struct routine_request *r)
{
    struct routine_request heads = {
        .row = &amx_kernel_attention, .type = ROUTINE_F32, .threads = r->threads, .generation = r->generation};
    heads.value[ATTENTION_B] = 1;
    heads.value[ATTENTION_H] = r->value[MHA_H];
    heads.value[ATTENTION_S] = r->value[MHA_S];
    heads.value[ATTENTION_D] = r->value[MHA_E] / r->value[MHA_H];
    heads.value[ATTENTION_CAUSAL] = r->value[MHA_CAUSAL];
    return heads;
}

/* ORDER: native/bias.c. */
static void add_merge(const struct routine_request *r, struct routine_work *w, unsigned heads, unsigned rows)
{
    struct routine_call *const c = routine_add_call(w, "amx_merge_heads", ROUTINE_TYPES, "rows", (uint64_t)r->value[MHA_S]);
    routine_pass_operand(c, heads, 0);
    routine_pass_operand(c, rows, 0);
    routine_pass(c, r->value[MHA_S]);
    routine_pass(c, r->value[MHA_H]);
    routine_pass(c, r->value[MHA_E] / r->value[MHA_H]);
}

static bool build_mha(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    enum { IN, WEIGHTS, LAST_WEIGHTS = 4, OUT };
    static const char *const names[] = {"q", "k", "v", "heads"};
    const int64_t s = r->value[MHA_S], e = r->value[MHA_E], h = r->value[MHA_H];
    const uint32_t rows = (uint32_t)s, width = (uint32_t)e, each = (uint32_t)(e / h);
    const struct routine_request heads = inner(r);
    unsigned part[4];
    for (unsigned i = 0; i < 4; i++)
        part[i] = routine_add_scratch(w, names[i], 4 * (uint64_t)(s * e), 0);
    struct amx_kernel_product p = {.kind = GEMM_F32, .m = s, .n = e / h, .k = e, .batch = h, .one_a = true, .alpha = 1, .a = IN};
    p.own = routine_add_scratch(
        w, "own", larger(gemm_workspace_bytes(p.kind, rows, each, width), gemm_workspace_bytes(p.kind, rows, width, width)),
        r->threads ? r->threads : 1);
    for (unsigned i = 0; i < 3; i++) {
        p.b = WEIGHTS + i;
        p.result = part[i];
        if (!amx_kernel_add_product(r, w, &p, error))
            return false;
    }
    add_attention(&heads, w, part[0]);
    add_merge(r, w, part[3], part[0]); /* q is not needed any more */
    struct amx_kernel_product last = {.kind = GEMM_F32, .m = s, .n = e, .k = e, .batch = 1, .alpha = 1, .own = p.own};
    last.a = part[0];
    last.b = LAST_WEIGHTS;
    last.result = OUT;
    if (!amx_kernel_add_product(r, w, &last, error))
        return false;
    snprintf(w->variant, sizeof w->variant, "amx_mha_f32%s", r->generation > 1 ? "_quad" : "");
    return true;
}

const struct routine amx_kernel_mha = {
    &operation_mha, "SxE,h=H[,causal=0|1]",
    "f32",          "out = concatenated heads * wo; head: attention of x wq, x wk, x wv, weights [h][e][e / h]; S rows of E",
    mha_parameters, build_mha};

const struct routine amx_kernel_attention = {
    &operation_attention,
    "b=B,h=H,s=S,d=D[,causal=0|1][,kvh=H]",
    "f32 f16 bf16",
    "out = softmax(q k^T / sqrt(d)) v; q, out: [b][h][s][d], k, v: [b][kvh][s][d]; kvh: heads share keys and values",
    parameters,
    build};
