/* cache-attention: the last tokens of a text attend to all tokens so far, whose keys and values are in a cache.
 *
 * A threadgroup has a head of one query. Its simdgroups take turns of four keys each; a lane has four elements of the head (eight
 * of long heads), so that a score is a sum over lanes, and weights are kept relative to the largest score so far. At the end the
 * first simdgroup puts together what they have. Operands lie as projections leave them: [token][head][d]. Keys and values may be
 * halves, or in blocks of q8_0 (ggml): four elements of a lane are then bytes of one block, and its scale goes into the score, or
 * into the weight. They may lie in pages of tokens: the four keys are in one, whose number a simdgroup reads from a table first.
 */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"
#include "units/kernel_pages.h"

#include <math.h>
#include <stdio.h>

enum { HEADS, TOKENS, DEPTH, KV_HEADS, QUERIES, CACHED, PAGE, PAGES };
enum { LANES = 32, FOUR = 4, KEYS = 4, SIMDGROUPS_MAX = 8, CHUNK = LANES * FOUR, CHUNKS_MAX = 2, BLOCK = 32 };

static const struct kernel_parameter parameters[] = {
    {.name = "h", .least = 1, .most = 4096, .required = true},
    {.name = "s", .least = 1, .most = 1 << 24, .required = true},
    {.name = "d", .least = 1, .most = 4096, .required = true},
    {.name = "kvh", .missing = 0, .least = 0, .most = 4096},
    {.name = "q", .missing = 1, .least = 1, .most = 1 << 24},
    {.name = "cached", .words = "own|f16|q8_0"},
    {.name = "page", .missing = 0, .least = 0, .most = 1 << 16},
    {.name = "pages", .missing = 0, .least = 0, .most = 1 << 24},
    {.name = NULL},
};

struct cache {
    struct gpu_emit *e;
    enum gpu_type type, cached; /* of queries and results, of keys and values */
    uint32_t heads, tokens, depth, kv_heads, queries;
    unsigned chunks, simdgroups;
    struct kernel_pages pages;
    struct gpu_base q, k, v, page, out;
    /* Registers. */
    unsigned lane, simdgroup, group;     /* group: number of the query's head */
    unsigned place, row, key, seen;      /* place: of this lane's elements in a token's keys; seen: keys of the query */
    unsigned query, sum_v;               /* four for each chunk: elements of the query, sums of the result */
    unsigned keys, values, score;        /* of the keys in work */
    unsigned most, sum, next, low, last; /* low: less than any score */
    unsigned key_scale, value_scale;     /* of blocks: as keys and values, one for each four; then a place */
    unsigned block;
    unsigned moved; /* of pages: tokens from where the keys in work would be to where they are */
};

/* What stands for minus infinity, so that differences are numbers. */
static const float lowest = -1e30F;

static void take_registers(struct cache *c)
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
    if (c->cached != GPU_Q8_0)
        return;
    c->key_scale = gpu_register(c->e, KEYS * c->chunks);
    c->value_scale = gpu_register(c->e, KEYS * c->chunks);
    c->block = gpu_register(c->e, 1);
}

/* Four elements of a block, as bytes in halves, and its scale. */
static void load_block(struct cache *c, unsigned slot, unsigned to, unsigned scale, struct gpu_base base, unsigned row)
{
    const uint32_t bytes = (uint32_t)gpu_type_bytes(GPU_Q8_0, BLOCK);
    gpu_shr(c->e, c->block, row, 5);
    gpu_mad_imm(c->e, c->next, c->block, bytes / 2, GPU_NO_REGISTER);
    gpu_load_raw(c->e, slot, GPU_F16, 1, 2 * scale, base, gpu_r(c->e, c->next));
    gpu_mad_imm(c->e, c->next, c->block, bytes - BLOCK, row); /* a row of so many elements has as many bytes and the scales */
    gpu_add_imm(c->e, c->next, c->next, 2);
    gpu_load_raw(c->e, slot, GPU_U8, FOUR, 2 * to, base, gpu_r(c->e, c->next));
}

/* Loads this lane's elements of a row that begins at element `row`, in as many chunks as there are. */
static void load(struct cache *c, unsigned slot, enum gpu_type type, unsigned to, unsigned scale, struct gpu_base base,
                 unsigned row)
{
    for (unsigned i = 0; i < c->chunks; i++) {
        if (i)
            gpu_add_imm(c->e, row, row, CHUNK);
        if (type == GPU_Q8_0)
            load_block(c, slot, to + FOUR * i, scale + i, base, row);
        else
            gpu_load_raw(c->e, slot, type, FOUR, 2 * (to + FOUR * i), base, gpu_r(c->e, row));
    }
}

/* Signed bytes become numbers, from the last on, since the first of them lie where the first results go. A byte of value v is the
 * denormal half v * 2^-24. */
static void widen_bytes(struct cache *c, unsigned first)
{
    for (unsigned j = FOUR; j-- > 0;) {
        const char *const byte = gpu_h(c->e, 2 * first + j);
        gpu_emit(c->e, "xor %s, %s, 128", byte, byte);
        gpu_emit(c->e, "fmul32 r%u, %s, %s", first + j, byte, gpu_float(c->e, 0x1p24F));
        gpu_emit(c->e, "fadd32 r%u, r%u, %s", first + j, first + j, gpu_float(c->e, -128));
    }
}

static void widen(struct cache *c, enum gpu_type type, unsigned first, unsigned rows)
{
    for (unsigned i = 0; i < rows * c->chunks; i++)
        if (type == GPU_Q8_0)
            widen_bytes(c, first + FOUR * i);
        else
            gpu_widen(c->e, type, FOUR, first + FOUR * i, 2 * (first + FOUR * i));
}

/* Where this threadgroup and this lane are; the query, scaled so that weights are powers of two. */
static void begin(struct cache *c)
{
    const uint32_t share = c->heads / c->kv_heads;
    gpu_emit(c->e, "get_sr r%u, sr%d", c->lane, GPU_SR_LANE);
    gpu_emit(c->e, "get_sr r%u, sr%d", c->simdgroup, GPU_SR_SIMDGROUP);
    gpu_emit(c->e, "get_sr r%u, sr%d", c->group, GPU_SR_GROUP_X);
    gpu_divide_imm(c->e, c->seen, c->place, c->group, c->heads);
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

static void take_query(struct cache *c)
{
    const float scale = (float)(1.4426950408889634 / sqrt((double)c->depth));
    load(c, 0, c->type, c->query, 0, c->q, c->row);
    gpu_wait(c->e, 0);
    widen(c, c->type, c->query, 1);
    for (unsigned i = 0; i < FOUR * c->chunks; i++)
        gpu_emit(c->e, "fmul32 r%u, r%u, %s", c->query + i, c->query + i, gpu_float(c->e, scale));
}

/* moved = first token of the page in memory - first token of the page in the text */
static void find_page(struct cache *c)
{
    const unsigned bits = (unsigned)c->pages.bits;
    gpu_shr(c->e, c->next, c->key, bits);
    gpu_load_raw(c->e, 0, GPU_U32, 1, 2 * c->moved, c->page, gpu_r(c->e, c->next));
    gpu_wait(c->e, 0);
    gpu_emit(c->e, "isub r%u, r%u, r%u", c->moved, c->moved, c->next);
    gpu_shl(c->e, c->moved, c->moved, bits);
}

/* Keys behind the last one are read as the last one, and count nothing. */
static void load_keys(struct cache *c)
{
    const unsigned number = c->cached == GPU_Q8_0 ? c->score : c->next; /* scores are made afterwards */
    if (c->pages.tokens)
        find_page(c);
    for (unsigned u = 0; u < KEYS; u++) {
        gpu_add_imm(c->e, number, c->key, u);
        gpu_emit(c->e, "icmpsel ult, r%u, r%u, r%u, r%u, r%u", number, number, c->seen, number, c->last);
        if (c->pages.tokens)
            gpu_emit(c->e, "iadd r%u, r%u, r%u", number, number, c->moved);
        gpu_mad_imm(c->e, c->row, number, c->kv_heads * c->depth, c->place);
        load(c, 0, c->cached, c->keys + u * FOUR * c->chunks, c->key_scale + u * c->chunks, c->k, c->row);
        gpu_mad_imm(c->e, c->row, number, c->kv_heads * c->depth, c->place);
        load(c, 1, c->cached, c->values + u * FOUR * c->chunks, c->value_scale + u * c->chunks, c->v, c->row);
    }
}

/* score = the products of four elements of a key and the query, or those of all chunks of a lane. */
static void multiply_key(struct cache *c, unsigned score, unsigned key, unsigned scale)
{
    for (unsigned i = 0; i < c->chunks; i++) {
        const bool first = i == 0 || c->cached == GPU_Q8_0;
        const unsigned sum = first && i ? c->next : score, four = key + FOUR * i, query = c->query + FOUR * i;
        for (unsigned k = 0; k < FOUR; k++)
            if (first && k == 0)
                gpu_emit(c->e, "fmul32 r%u, r%u, r%u", sum, four, query);
            else
                gpu_emit(c->e, "fmadd32 r%u, r%u, r%u, r%u", sum, four + k, query + k, sum);
        if (c->cached == GPU_Q8_0 && i == 0)
            gpu_emit(c->e, "fmul32 r%u, r%u, %s", sum, sum, gpu_h(c->e, 2 * scale));
        else if (c->cached == GPU_Q8_0)
            gpu_emit(c->e, "fmadd32 r%u, r%u, %s, r%u", score, sum, gpu_h(c->e, 2 * (scale + i)), score);
    }
}

static void make_scores(struct cache *c)
{
    gpu_wait(c->e, 0);
    widen(c, c->cached, c->keys, KEYS);
    for (unsigned u = 0; u < KEYS; u++) {
        const unsigned score = c->score + u;
        multiply_key(c, score, c->keys + u * FOUR * c->chunks, c->key_scale + u * c->chunks);
        gpu_simd_reduce(c->e, "fadd", score, score);
        gpu_add_imm(c->e, c->row, c->key, u);
        gpu_emit(c->e, "icmpsel ult, r%u, r%u, r%u, r%u, r%u", score, c->row, c->seen, score, c->low);
    }
}

/* to = 2^(a - b) */
static void power(struct cache *c, unsigned to, unsigned a, unsigned b)
{
    gpu_emit(c->e, "fadd32 r%u, r%u, r%u.neg", to, a, b);
    gpu_emit(c->e, "exp2 r%u, r%u", to, to);
}

/* What value i of key u counts: of blocks the weight times their scale, made for the first of each four. */
static unsigned scaled_weight(struct cache *c, unsigned u, unsigned i)
{
    if (c->cached != GPU_Q8_0)
        return c->score + u;
    if (i % FOUR == 0)
        gpu_emit(c->e, "fmul32 r%u, r%u, %s", c->row, c->score + u, gpu_h(c->e, 2 * (c->value_scale + u * c->chunks + i / FOUR)));
    return c->row;
}

static void add_values(struct cache *c)
{
    gpu_mov(c->e, c->next, c->most);
    for (unsigned u = 0; u < KEYS; u++)
        gpu_emit(c->e, "fcmpsel gtn, r%u, r%u, r%u, r%u, r%u", c->most, c->most, c->score + u, c->most, c->score + u);
    power(c, c->next, c->next, c->most);
    gpu_emit(c->e, "fmul32 r%u, r%u, r%u", c->sum, c->sum, c->next);
    for (unsigned i = 0; i < FOUR * c->chunks; i++)
        gpu_emit(c->e, "fmul32 r%u, r%u, r%u", c->sum_v + i, c->sum_v + i, c->next);
    gpu_wait(c->e, 1);
    widen(c, c->cached, c->values, KEYS);
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
static uint32_t left_bytes(const struct cache *c)
{
    return 4 * (c->depth + FOUR);
}

/* address = first byte of what a simdgroup left, of this lane's elements. */
static void leave(struct cache *c, uint32_t memory)
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
static void gather(struct cache *c, uint32_t memory)
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

static void write_out(struct cache *c)
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
static void mask(struct cache *c, bool begins)
{
    if (c->depth >= CHUNK)
        return;
    if (begins)
        gpu_if(c->e, "ult", gpu_r(c->e, c->lane), gpu_int(c->e, c->depth / FOUR));
    else
        gpu_endif(c->e);
}

static void attend(struct cache *c)
{
    gpu_mad_imm(c->e, c->key, c->simdgroup, KEYS, GPU_NO_REGISTER);
    gpu_if(c->e, "ult", gpu_r(c->e, c->key), gpu_r(c->e, c->seen));
    gpu_do(c->e);
    load_keys(c);
    make_scores(c);
    add_values(c);
    gpu_add_imm(c->e, c->key, c->key, (int64_t)KEYS * c->simdgroups);
    gpu_while(c->e, "ult", gpu_r(c->e, c->key), gpu_r(c->e, c->seen));
    gpu_endif(c->e);
}

static bool emit(struct cache *c, struct gpu_kernel *kernel, struct isa_error *error)
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
    c->out = gpu_argument_buffer(c->e, c->pages.tokens ? 4 : 3, 0);
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
static uint64_t cached_values(const struct cache *c)
{
    return (c->pages.tokens ? c->pages.all * c->pages.tokens : c->tokens) * c->kv_heads * c->depth;
}

static bool check(const struct cache *c, struct isa_error *error)
{
    const uint64_t most = (uint64_t)GPU_KERNEL_ELEMENTS_MAX;
    if (c->kv_heads > c->heads || c->heads % c->kv_heads)
        return kernel_refuse(error, "cache-attention: h = %u is no multiple of kvh = %u", (unsigned)c->heads,
                             (unsigned)c->kv_heads);
    if (c->queries > c->tokens)
        return kernel_refuse(error, "cache-attention: q = %u queries are among s = %u tokens", (unsigned)c->queries,
                             (unsigned)c->tokens);
    if (c->depth % FOUR || (c->depth > CHUNK && c->depth != CHUNK * CHUNKS_MAX))
        return kernel_refuse(error, "cache-attention: d is a multiple of 4 up to %d, or %d", (int)CHUNK, CHUNK * CHUNKS_MAX);
    if (c->cached != c->type && c->type != GPU_F32)
        return kernel_refuse(error, "cache-attention: queries are f32 where keys and values have another type (cached)");
    if (c->cached == GPU_Q8_0 && c->kv_heads * c->depth % BLOCK)
        return kernel_refuse(error, "cache-attention: kvh x d = %u values of a token are no whole blocks of %d",
                             (unsigned)(c->kv_heads * c->depth), (int)BLOCK);
    if ((uint64_t)c->queries * c->heads * c->depth > most || cached_values(c) > most ||
        (uint64_t)c->queries * c->heads > GPU_KERNEL_ROWS_MAX / SIMDGROUPS_MAX)
        return kernel_refuse(error, "cache-attention: an operand has more elements than one launch reaches");
    return true;
}

static bool build(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    static const enum gpu_type others[] = {GPU_F32, GPU_F16, GPU_Q8_0}; /* as the words of `cached`; the first stands for own */
    struct cache c = {.type = r->type,
                      .cached = r->value[CACHED] ? others[r->value[CACHED]] : r->type,
                      .heads = (uint32_t)r->value[HEADS],
                      .tokens = (uint32_t)r->value[TOKENS],
                      .depth = (uint32_t)r->value[DEPTH],
                      .kv_heads = (uint32_t)(r->value[KV_HEADS] ? r->value[KV_HEADS] : r->value[HEADS]),
                      .queries = (uint32_t)r->value[QUERIES],
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
    gpu_kernel_add_buffer(kernel, "out", c.type, queries, GPU_BUFFER_OUTPUT, 0, 0);
    const double pairs = (double)c.queries * ((double)(c.tokens - c.queries) + ((double)c.queries + 1) / 2);
    kernel->macs = 2 * (double)c.heads * c.depth * pairs;
    kernel->flops = 2 * kernel->macs;
    kernel->min_bytes =
        2 * (double)(gpu_type_bytes(c.type, queries) + gpu_type_bytes(c.cached, cached)) + 4 * (double)c.pages.used;
    return emit(&c, kernel, error);
}

static const struct gpu_kernel_info rows[] = {
    {"cache-attention", "h=H,s=S,d=D[,kvh=H][,q=Q][,cached=own|f16|q8_0][,page=T][,pages=N]", "f32 f16",
     "the last q of s tokens attend to those before and themselves; q, out: [q][h][d], k, v: [s][kvh][d], as projections leave "
     "them, or in another type; page: of N pages of T tokens those that the table page[] names",
     0, parameters, build},
};
const struct gpu_kernel_family gpu_family_cache = {rows, ARRAY_COUNT(rows)};
