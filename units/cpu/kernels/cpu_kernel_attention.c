/* attention and rope: native/attention.c, native/rope.c. */
#include "units/cpu/kernels/cpu_kernel_family.h"

#include <math.h>
#include <stdio.h>

enum { TILE_ROWS = 8, TILE_COLUMNS = 12 }; /* ORDER: native/gemm_tile.h */

static const struct kernel_parameter attention_parameters[] = {ROUTINE_ATTENTION_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter cache_parameters[] = {ROUTINE_CACHE_ATTENTION_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter rope_parameters[] = {ROUTINE_ROPE_PARAMETERS, {.name = NULL}};

static bool build_attention(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t keys = ((uint64_t)r->value[ATTENTION_S] + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS;
    const struct arguments_attention cut = {.panel = TILE_COLUMNS,
                                            .block = TILE_ROWS,
                                            .own = TILE_ROWS * (keys + (uint64_t)r->value[ATTENTION_D]),
                                            .keys = "panels of 12 keys",
                                            .values = "panels of 12 columns of values",
                                            .queries = "blocks of 8 queries"};
    (void)error;
    arguments_build_attention(&cpu_kernel_neon, &cut, r, w);
    return true;
}

static bool build_cache(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t tokens = (uint64_t)r->value[CACHE_S], items = (uint64_t)(r->value[CACHE_Q] * r->value[CACHE_H]);
    const unsigned own = routine_add_scratch(w, "own", 4 * ((tokens + 3) / 4 * 4), r->threads ? r->threads : 1);
    const enum routine_type cached = operation_cached_type(r);
    struct kernel_pages pages;
    if (!operation_cache_pages(r, &pages, error))
        return false;
    static const char *const names[] = {"neon_attention_cache",
                                        "neon_attention_cached",
                                        "neon_attention_cache_paged",
                                        "neon_attention_cached_paged",
                                        "neon_attention_cache",
                                        "neon_attention_cached_biased",
                                        "neon_attention_cache_paged_biased",
                                        "neon_attention_cached_paged_biased"};
    const bool paged = pages.tokens != 0, biased = r->value[CACHE_BIAS] != 0, typed = cached != r->type;
    const char *const name = names[typed + 2 * paged + 4 * biased];
    const unsigned bias = paged ? 4 : 3;
    struct routine_call *const c = routine_add_call(w, name, cached, "heads of queries", items);
    for (unsigned operand = 0; operand < 3; operand++)
        routine_pass_operand(c, operand, 0);
    routine_pass_operand(c, 3 + paged + biased, 0);
    routine_pass_operand(c, own, 0);
    routine_pass(c, (int64_t)w->operand[own].thread_stride_bytes);
    routine_pass(c, r->value[CACHE_H]);
    routine_pass(c, r->value[CACHE_KVH] ? r->value[CACHE_KVH] : r->value[CACHE_H]);
    routine_pass(c, r->value[CACHE_S]);
    routine_pass(c, r->value[CACHE_D]);
    routine_pass(c, operation_cache_before(r));
    routine_pass_real(c, operation_cache_scale(r));
    if (biased && !typed)
        routine_pass_operand(c, bias, 0);
    else if (!typed)
        routine_pass(c, 0);
    if (paged)
        routine_pass_operand(c, 3, 0);
    else if (biased && typed)
        routine_pass(c, 0);
    if (paged || (biased && typed))
        routine_pass(c, (int64_t)pages.bits);
    if (biased && typed)
        routine_pass_operand(c, bias, 0);
    snprintf(w->variant, sizeof w->variant, "%s_%s", name, routine_type_name(cached));
    return true;
}

static bool build_rope(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t length = (uint64_t)r->value[ROPE_S], rows = (uint64_t)(r->value[ROPE_B] * r->value[ROPE_H]) * length;
    const bool scales = r->value[ROPE_SCALES] != 0;
    const unsigned turns = routine_add_scratch(w, "turns", 4 * length * (uint64_t)operation_rope_part(r), 0);
    struct routine_call *const calls[] = {routine_add_call(w, "neon_rope_turns", r->type, "positions", length),
                                          routine_add_call(w, "neon_rope", r->type, "rows of d elements", rows)};
    (void)error;
    for (int i = 0; i < 2; i++) {
        routine_pass_operand(calls[i], 0, 0);
        if (scales)
            routine_pass_operand(calls[i], 1, 0);
        else
            routine_pass(calls[i], 0);
        routine_pass_operand(calls[i], scales ? 2 : 1, 0);
        routine_pass_operand(calls[i], turns, 0);
        routine_pass(calls[i], r->value[ROPE_S]);
        routine_pass(calls[i], r->value[ROPE_ORDER] ? r->value[ROPE_H] : 1);
        routine_pass(calls[i], r->value[ROPE_D]);
        routine_pass(calls[i], operation_rope_part(r));
        routine_pass(calls[i], r->value[ROPE_OFFSET]);
        routine_pass(calls[i], r->value[ROPE_STYLE]);
        routine_pass_real(calls[i], log(r->decimal[ROPE_BASE]));
    }
    arguments_name_variant(&cpu_kernel_neon, r, w);
    return true;
}

const struct routine cpu_kernel_attention = {
    &operation_attention,
    "b=B,h=H,s=S,d=D[,causal=0|1][,kvh=H]",
    "f32 f16 bf16",
    "out = softmax(q k^T / sqrt(d)) v; q, out: [b][h][s][d], k, v: [b][kvh][s][d]; kvh: heads share keys and values",
    attention_parameters,
    build_attention};
const struct routine cpu_kernel_rope = {
    &operation_rope,
    "b=B,h=H,s=S,d=D[,base=X][,offset=N][,style=halves|interleaved][,order=heads|tokens][,part=P][,scales=0|1]",
    "f32 f16 bf16",
    "pairs of x[b][h][s][d] (tokens: x[b][s][h][d]) turned by (s + offset) * base^(-2 i / p), times scales[i]; p: the first part "
    "elements of a head (0: d), the others stay; pair i: elements i and i + p/2, or 2i and 2i + 1",
    rope_parameters,
    build_rope};
const struct routine cpu_kernel_cache_attention = {
    &operation_cache_attention,
    "h=H,s=S,d=D[,kvh=H][,q=Q][,cached=own|f16|q8_0][,page=T][,pages=N]"
    "[,seen=before|all][,bias=0|1][,scale=depth|one]",
    "f32 f16 bf16",
    "the last q of s tokens attend to those before and themselves; q, out: "
    "[q][h][d], k, v: [s][kvh][d], as projections leave them, or in another type; "
    "page: of N pages of T tokens those that the table page[] names; seen=all: any q "
    "queries see all; bias[q][s][h] is added to scores, which scale=one leaves as "
    "they are",
    cache_parameters,
    build_cache};
