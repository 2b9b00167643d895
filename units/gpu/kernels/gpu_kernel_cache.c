/* cache-attention: the last tokens of a text attend to all tokens so far, whose keys and values are in a cache.
 *
 * A threadgroup has a head of one query. Its simdgroups take turns of four keys each; a lane has four elements of the head (eight
 * of long heads), so that a score is a sum over lanes, and weights are kept relative to the largest score so far. At the end the
 * first simdgroup puts together what they have. Operands lie as projections leave them: [token][head][d]. Keys and values may be
 * halves, or in blocks of q8_0 (ggml): four elements of a lane are then bytes of one block, and its scale goes into the score, or
 * into the weight. They may lie in pages of tokens: the four keys are in one, whose number a simdgroup reads from a table first.
 */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_cache_internal.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <math.h>
#include <stdio.h>

enum { HEADS, TOKENS, DEPTH, KV_HEADS, QUERIES, CACHED, PAGE, PAGES, SEEN, BIAS, SCALE };
enum {
    LANES = GPU_CACHE_LANES,
    FOUR = GPU_CACHE_FOUR,
    KEYS = GPU_CACHE_KEYS,
    CHUNK = GPU_CACHE_CHUNK,
    BLOCK = GPU_CACHE_BLOCK,
    SIMDGROUPS_MAX = 8,
    CHUNKS_MAX = 2
};

static const struct kernel_parameter parameters[] = {
    {.name = "h", .least = 1, .most = 4096, .required = true},
    {.name = "s", .least = 1, .most = 1 << 24, .required = true},
    {.name = "d", .least = 1, .most = 4096, .required = true},
    {.name = "kvh", .missing = 0, .least = 0, .most = 4096},
    {.name = "q", .missing = 1, .least = 1, .most = 1 << 24},
    {.name = "cached", .words = "own|f16|q8_0"},
    {.name = "page", .missing = 0, .least = 0, .most = 1 << 16},
    {.name = "pages", .missing = 0, .least = 0, .most = 1 << 24},
    {.name = "seen", .words = "before|all"},
    {.name = "bias", .least = 0, .most = 1},
    {.name = "scale", .words = "depth|one"},
    {.name = NULL},
};

/* What stands for minus infinity, so that differences are numbers. */
static const float lowest = -1e30F;

static void take_registers(struct gpu_cache *c)
{
    unsigned *const single[] = {&c->lane, &c->simdgroup, &c->group, &c->place, &c->row, &c->key,
                                &c->seen, &c->most,      &c->sum,   &c->next,  &c->low, &c->last};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(c->e, 1);
    c->query = gpu_register(c->e, FOUR * c->chunks);
    c->sum_v = gpu_register(c->e, FOUR * c->chunks);
    c->keys = gpu_register(c->e, KEYS * FOUR * c->chunks);
    c->values = gpu_register(c->e, KEYS * FOUR * c->chunks);
    c->score = gpu_register(c->e, KEYS);
    if (c->pages.tokens)
        c->moved = gpu_register(c->e, 1);
    if (c->biased) {
        c->bias = gpu_register(c->e, KEYS);
        c->bias_at = gpu_register(c->e, 1);
    }
    if (c->cached != GPU_Q8_0)
        return;
    c->key_scale = gpu_register(c->e, KEYS * c->chunks);
    c->value_scale = gpu_register(c->e, KEYS * c->chunks);
    c->block = gpu_register(c->e, 1);
}

/* Where this threadgroup and this lane are; the query, scaled so that weights are powers of two. */
static void begin(struct gpu_cache *c)
{
    const uint32_t share = c->heads / c->kv_heads;
    gpu_emit(c->e, "get_sr r%u, sr%d", c->lane, GPU_SR_LANE);
    gpu_emit(c->e, "get_sr r%u, sr%d", c->simdgroup, GPU_SR_SIMDGROUP);
    gpu_emit(c->e, "get_sr r%u, sr%d", c->group, GPU_SR_GROUP_X);
    gpu_divide_imm(c->e, c->seen, c->place, c->group, c->heads);
    if (c->biased)
        gpu_mad_imm(c->e, c->bias_at, c->seen, c->tokens * c->heads, c->place);
    if (c->sees_all)
        gpu_mov_imm(c->e, c->seen, c->tokens);
    else
        gpu_add_imm(c->e, c->seen, c->seen, (int64_t)c->tokens - c->queries + 1);
    gpu_add_imm(c->e, c->last, c->seen, -1);
    gpu_divide_imm(c->e, c->key, GPU_NO_REGISTER, c->place, share);
    gpu_shl(c->e, c->row, c->lane, 2);
    gpu_mad_imm(c->e, c->place, c->key, c->depth, c->row);
    gpu_mad_imm(c->e, c->row, c->group, c->depth, c->row);
    gpu_mov_imm(c->e, c->low, f32_bits(lowest));
    gpu_mov_imm(c->e, c->most, f32_bits(lowest));
    gpu_mov_imm(c->e, c->sum, 0);
    gpu_clear_words(c->e, c->sum_v, FOUR * c->chunks);
}

static void take_query(struct gpu_cache *c)
{
    const float scale = (float)(1.4426950408889634 / (c->whole ? 1 : sqrt((double)c->depth)));
    gpu_cache_load(c, 0, c->type, c->query, 0, c->q, c->row);
    gpu_wait(c->e, 0);
    gpu_cache_widen(c, c->type, c->query, 1);
    for (unsigned i = 0; i < FOUR * c->chunks; i++)
        gpu_emit(c->e, "fmul32 r%u, r%u, %s", c->query + i, c->query + i, gpu_float(c->e, scale));
}

/* to = 2^(a - b) */
static void power(struct gpu_cache *c, unsigned to, unsigned a, unsigned b)
{
    gpu_emit(c->e, "fadd32 r%u, r%u, r%u.neg", to, a, b);
    gpu_emit(c->e, "exp2 r%u, r%u", to, to);
}

/* What value i of key u counts: of blocks the weight times their scale, made for the first of each four. */
static unsigned scaled_weight(struct gpu_cache *c, unsigned u, unsigned i)
{
    if (c->cached != GPU_Q8_0)
        return c->score + u;
    if (i % FOUR == 0)
        gpu_emit(c->e, "fmul32 r%u, r%u, %s", c->row, c->score + u, gpu_h(c->e, 2 * (c->value_scale + u * c->chunks + i / FOUR)));
    return c->row;
}

static void add_values(struct gpu_cache *c)
{
    gpu_mov(c->e, c->next, c->most);
    for (unsigned u = 0; u < KEYS; u++)
        gpu_emit(c->e, "fcmpsel gtn, r%u, r%u, r%u, r%u, r%u", c->most, c->most, c->score + u, c->most, c->score + u);
    power(c, c->next, c->next, c->most);
    gpu_emit(c->e, "fmul32 r%u, r%u, r%u", c->sum, c->sum, c->next);
    for (unsigned i = 0; i < FOUR * c->chunks; i++)
        gpu_emit(c->e, "fmul32 r%u, r%u, r%u", c->sum_v + i, c->sum_v + i, c->next);
    gpu_wait(c->e, 1);
    gpu_cache_widen(c, c->cached, c->values, KEYS);
    for (unsigned u = 0; u < KEYS; u++) {
        const unsigned weight = c->score + u, value = c->values + u * FOUR * c->chunks;
        power(c, weight, weight, c->most);
        gpu_add_imm(c->e, c->row, c->key, u);
        gpu_emit(c->e, "icmpsel ult, r%u, r%u, r%u, r%u, 0", weight, c->row, c->seen, weight);
        gpu_emit(c->e, "fadd32 r%u, r%u, r%u", c->sum, c->sum, weight);
        for (unsigned i = 0; i < FOUR * c->chunks; i++)
            gpu_emit(c->e, "fmadd32 r%u, r%u, r%u, r%u", c->sum_v + i, scaled_weight(c, u, i), value + i, c->sum_v + i);
    }
}

/* Bytes of what a simdgroup leaves: its sums, its largest score, its sum of weights. */
static uint32_t left_bytes(const struct gpu_cache *c)
{
    return 4 * (c->depth + FOUR);
}

/* address = first byte of what a simdgroup left, of this lane's elements. */
static void leave(struct gpu_cache *c, uint32_t memory)
{
    gpu_mad_imm(c->e, c->row, c->simdgroup, left_bytes(c), GPU_NO_REGISTER);
    gpu_add_imm(c->e, c->row, c->row, memory);
    gpu_shl(c->e, c->next, c->lane, 4);
    gpu_emit(c->e, "iadd r%u, r%u, r%u", c->next, c->next, c->row);
    for (unsigned i = 0; i < c->chunks; i++) {
        if (i)
            gpu_add_imm(c->e, c->next, c->next, 4 * CHUNK);
        gpu_group_store_raw(c->e, GPU_F32, FOUR, 2 * (c->sum_v + FOUR * i), gpu_h(c->e, 2 * c->next), "0");
    }
    gpu_add_imm(c->e, c->row, c->row, 4 * c->depth);
    gpu_group_store_raw(c->e, GPU_F32, 1, 2 * c->most, gpu_h(c->e, 2 * c->row), "0");
    gpu_add_imm(c->e, c->row, c->row, 4);
    gpu_group_store_raw(c->e, GPU_F32, 1, 2 * c->sum, gpu_h(c->e, 2 * c->row), "0");
}

/* The first simdgroup adds what the others left; its own is in registers. */
static void gather(struct gpu_cache *c, uint32_t memory)
{
    const unsigned other = c->score, weight = c->score + 1;
    for (unsigned s = 1; s < c->simdgroups; s++) {
        gpu_mov_imm(c->e, c->row, memory + s * left_bytes(c) + 4 * c->depth);
        gpu_group_load_raw(c->e, GPU_F32, 1, 2 * other, gpu_h(c->e, 2 * c->row), "0");
        gpu_add_imm(c->e, c->row, c->row, 4);
        gpu_group_load_raw(c->e, GPU_F32, 1, 2 * weight, gpu_h(c->e, 2 * c->row), "0");
        gpu_shl(c->e, c->next, c->lane, 4);
        gpu_add_imm(c->e, c->next, c->next, memory + s * left_bytes(c));
        for (unsigned i = 0; i < c->chunks; i++) {
            if (i)
                gpu_add_imm(c->e, c->next, c->next, 4 * CHUNK);
            gpu_group_load_raw(c->e, GPU_F32, FOUR, 2 * (c->values + FOUR * i), gpu_h(c->e, 2 * c->next), "0");
        }
        gpu_mov(c->e, c->next, c->most);
        gpu_emit(c->e, "fcmpsel gtn, r%u, r%u, r%u, r%u, r%u", c->most, c->most, other, c->most, other);
        power(c, c->next, c->next, c->most);
        power(c, other, other, c->most);
        gpu_emit(c->e, "fmul32 r%u, r%u, r%u", c->sum, c->sum, c->next);
        gpu_emit(c->e, "fmadd32 r%u, r%u, r%u, r%u", c->sum, weight, other, c->sum);
        for (unsigned i = 0; i < FOUR * c->chunks; i++) {
            gpu_emit(c->e, "fmul32 r%u, r%u, r%u", c->sum_v + i, c->sum_v + i, c->next);
            gpu_emit(c->e, "fmadd32 r%u, r%u, r%u, r%u", c->sum_v + i, c->values + i, other, c->sum_v + i);
        }
    }
}

static void write_out(struct gpu_cache *c)
{
    gpu_emit(c->e, "rcp r%u, r%u", c->sum, c->sum);
    gpu_shl(c->e, c->row, c->lane, 2);
    gpu_mad_imm(c->e, c->row, c->group, c->depth, c->row);
    for (unsigned i = 0; i < c->chunks; i++) {
        const unsigned from = c->sum_v + FOUR * i;
        for (unsigned k = 0; k < FOUR; k++)
            gpu_emit(c->e, "fmul32 r%u, r%u, r%u", from + k, from + k, c->sum);
        gpu_narrow(c->e, c->type, FOUR, 2 * from, from, c->next);
        if (i)
            gpu_add_imm(c->e, c->row, c->row, CHUNK);
        gpu_store_raw(c->e, 1, c->type, FOUR, 2 * from, c->out, gpu_r(c->e, c->row));
    }
}

/* Lanes without elements wait; the others do all of it. */
static void mask(struct gpu_cache *c, bool begins)
{
    if (c->depth >= CHUNK)
        return;
    if (begins)
        gpu_if(c->e, "ult", gpu_r(c->e, c->lane), gpu_int(c->e, c->depth / FOUR));
    else
        gpu_endif(c->e);
}

static void attend(struct gpu_cache *c)
{
    gpu_mad_imm(c->e, c->key, c->simdgroup, KEYS, GPU_NO_REGISTER);
    gpu_if(c->e, "ult", gpu_r(c->e, c->key), gpu_r(c->e, c->seen));
    gpu_do(c->e);
    gpu_cache_load_keys(c);
    gpu_cache_make_scores(c);
    add_values(c);
    gpu_add_imm(c->e, c->key, c->key, (int64_t)KEYS * c->simdgroups);
    gpu_while(c->e, "ult", gpu_r(c->e, c->key), gpu_r(c->e, c->seen));
    gpu_endif(c->e);
}

static bool emit(struct gpu_cache *c, struct gpu_kernel *kernel, struct isa_error *error)
{
    char variant[48];
    const char *const paged = c->pages.tokens ? "paged" : "cache";
    if (c->cached == c->type)
        snprintf(variant, sizeof variant, "attention_%s_%u_simdgroups", paged, c->simdgroups);
    else
        snprintf(variant, sizeof variant, "attention_%s_%s_%u", paged, gpu_type_name(c->cached), c->simdgroups);
    c->e = gpu_emit_begin(kernel, variant, error);
    c->q = gpu_argument_buffer(c->e, 0, 0);
    c->k = gpu_argument_buffer(c->e, 1, 0);
    c->v = gpu_argument_buffer(c->e, 2, 0);
    if (c->pages.tokens)
        c->page = gpu_argument_buffer(c->e, 3, 0);
    if (c->biased)
        c->bias_base = gpu_argument_buffer(c->e, c->pages.tokens ? 4 : 3, 0);
    c->out = gpu_argument_buffer(c->e, 3 + (c->pages.tokens != 0) + c->biased, 0);
    take_registers(c);
    begin(c);
    mask(c, true);
    take_query(c);
    attend(c);
    if (c->simdgroups > 1) {
        const uint32_t memory = gpu_threadgroup_memory(c->e, c->simdgroups * left_bytes(c));
        leave(c, memory);
        mask(c, false);
        gpu_barrier(c->e);
        gpu_if(c->e, "ueq", gpu_r(c->e, c->simdgroup), "0");
        mask(c, true);
        gather(c, memory);
        write_out(c);
        mask(c, false);
        gpu_endif(c->e);
    } else {
        write_out(c);
        mask(c, false);
    }
    const uint32_t threads = LANES * c->simdgroups;
    gpu_emit_grid(c->e, c->queries * c->heads * threads, 1, 1, threads, 1, 1);
    return gpu_emit_end(c->e);
}

/* Of keys, or of values, of all pages. */
static uint64_t cached_values(const struct gpu_cache *c)
{
    return (c->pages.tokens ? c->pages.all * c->pages.tokens : c->tokens) * c->kv_heads * c->depth;
}

static bool check(const struct gpu_cache *c, struct isa_error *error)
{
    const uint64_t most = (uint64_t)GPU_KERNEL_ELEMENTS_MAX;
    if (c->kv_heads > c->heads || c->heads % c->kv_heads)
        return kernel_refuse(error, "cache-attention: h = %u is no multiple of kvh = %u", (unsigned)c->heads,
                             (unsigned)c->kv_heads);
    if (c->queries > c->tokens && !c->sees_all)
        return kernel_refuse(error, "cache-attention: q = %u queries are among s = %u tokens", (unsigned)c->queries,
                             (unsigned)c->tokens);
    if (c->depth % FOUR || (c->depth > CHUNK && c->depth != CHUNK * CHUNKS_MAX))
        return kernel_refuse(error, "cache-attention: d is a multiple of 4 up to %d, or %d", (int)CHUNK, CHUNK * CHUNKS_MAX);
    if (c->cached != c->type && c->type != GPU_F32)
        return kernel_refuse(error, "cache-attention: queries are f32 where keys and values have another type (cached)");
    if (c->cached == GPU_Q8_0 && c->kv_heads * c->depth % BLOCK)
        return kernel_refuse(error, "cache-attention: kvh x d = %u values of a token are no whole blocks of %d",
                             (unsigned)(c->kv_heads * c->depth), (int)BLOCK);
    if ((c->biased && (uint64_t)c->queries * c->tokens * c->heads > most) || (uint64_t)c->queries * c->heads * c->depth > most ||
        cached_values(c) > most || (uint64_t)c->queries * c->heads > GPU_KERNEL_ROWS_MAX / SIMDGROUPS_MAX)
        return kernel_refuse(error, "cache-attention: an operand has more elements than one launch reaches");
    return true;
}

static bool build(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    static const enum gpu_type others[] = {GPU_F32, GPU_F16, GPU_Q8_0}; /* as the words of `cached`; the first stands for own */
    struct gpu_cache c = {.type = r->type,
                          .cached = r->value[CACHED] ? others[r->value[CACHED]] : r->type,
                          .heads = (uint32_t)r->value[HEADS],
                          .tokens = (uint32_t)r->value[TOKENS],
                          .depth = (uint32_t)r->value[DEPTH],
                          .kv_heads = (uint32_t)(r->value[KV_HEADS] ? r->value[KV_HEADS] : r->value[HEADS]),
                          .queries = (uint32_t)r->value[QUERIES],
                          .sees_all = r->value[SEEN],
                          .biased = r->value[BIAS],
                          .whole = r->value[SCALE],
                          .simdgroups = SIMDGROUPS_MAX};
    if (!kernel_pages_of(c.tokens, (uint64_t)r->value[PAGE], (uint64_t)r->value[PAGES], &c.pages, error) || !check(&c, error))
        return false;
    c.chunks = c.depth > CHUNK ? CHUNKS_MAX : 1;
    while (c.simdgroups > 1 && c.tokens < 2 * KEYS * c.simdgroups)
        c.simdgroups /= 2;
    const uint64_t queries = (uint64_t)c.queries * c.heads * c.depth, cached = (uint64_t)c.tokens * c.kv_heads * c.depth;
    gpu_kernel_add_buffer(kernel, "q", c.type, queries, GPU_BUFFER_INPUT, -1, 1);
    gpu_kernel_add_buffer(kernel, "k", c.cached, cached_values(&c), GPU_BUFFER_INPUT, -1, 1);
    gpu_kernel_add_buffer(kernel, "v", c.cached, cached_values(&c), GPU_BUFFER_INPUT, -1, 1);
    if (c.pages.tokens) {
        const unsigned table =
            gpu_kernel_add_buffer(kernel, "page", GPU_U32, c.pages.used, GPU_BUFFER_INPUT, 0, (double)c.pages.all);
        kernel->buffer[table].places = kernel->buffer[table].distinct = true;
    }
    const uint64_t biases = c.biased ? (uint64_t)c.queries * c.tokens * c.heads : 0;
    if (c.biased)
        gpu_kernel_add_buffer(kernel, "bias", c.type, biases, GPU_BUFFER_INPUT, -1, 1);
    gpu_kernel_add_buffer(kernel, "out", c.type, queries, GPU_BUFFER_OUTPUT, 0, 0);
    const double before = c.sees_all ? c.tokens : (double)c.tokens - c.queries + ((double)c.queries + 1) / 2;
    const double pairs = (double)c.queries * before;
    kernel->macs = 2 * (double)c.heads * c.depth * pairs;
    kernel->flops = 2 * kernel->macs;
    kernel->min_bytes = 2 * (double)(gpu_type_bytes(c.type, queries) + gpu_type_bytes(c.cached, cached)) +
                        4 * (double)c.pages.used + (double)gpu_type_bytes(c.type, biases);
    return emit(&c, kernel, error);
}

static const struct gpu_kernel_info rows[] = {
    {"cache-attention",
     "h=H,s=S,d=D[,kvh=H][,q=Q][,cached=own|f16|q8_0][,page=T][,pages=N][,seen=before|all][,bias=0|1][,scale=depth|one]",
     "f32 f16",
     "the last q of s tokens attend to those before and themselves; q, out: [q][h][d], k, v: [s][kvh][d], as projections leave "
     "them, or in another type; page: of N pages of T tokens those that the table page[] names; seen=all: any q queries see all; "
     "bias[q][s][h] is added to scores, which scale=one leaves as they are",
     0, parameters, build},
};
const struct gpu_kernel_family gpu_family_cache = {rows, ARRAY_COUNT(rows)};
