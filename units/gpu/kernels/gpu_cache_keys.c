/* Keys and values of cache-attention on their way into registers, and the scores of keys. */
#include "units/gpu/kernels/gpu_cache_internal.h"

/* Four elements of a block, as bytes in halves, and its scale. */
static void load_block(struct gpu_cache *c, unsigned slot, unsigned to, unsigned scale, struct gpu_base base, unsigned row)
{
    const uint32_t bytes = (uint32_t)gpu_type_bytes(GPU_Q8_0, GPU_CACHE_BLOCK);
    gpu_shr(c->e, c->block, row, 5);
    gpu_mad_imm(c->e, c->next, c->block, bytes / 2, GPU_NO_REGISTER);
    gpu_load_raw(c->e, slot, GPU_F16, 1, 2 * scale, base, gpu_r(c->e, c->next));
    gpu_mad_imm(c->e, c->next, c->block, bytes - GPU_CACHE_BLOCK,
                row); /* a row of so many elements has as many bytes and the scales */
    gpu_add_imm(c->e, c->next, c->next, 2);
    gpu_load_raw(c->e, slot, GPU_U8, GPU_CACHE_FOUR, 2 * to, base, gpu_r(c->e, c->next));
}

void gpu_cache_load(struct gpu_cache *c, unsigned slot, enum gpu_type type, unsigned to, unsigned scale, struct gpu_base base,
                    unsigned row)
{
    for (unsigned i = 0; i < c->chunks; i++) {
        if (i)
            gpu_add_imm(c->e, row, row, GPU_CACHE_CHUNK);
        if (type == GPU_Q8_0)
            load_block(c, slot, to + GPU_CACHE_FOUR * i, scale + i, base, row);
        else
            gpu_load_raw(c->e, slot, type, GPU_CACHE_FOUR, 2 * (to + GPU_CACHE_FOUR * i), base, gpu_r(c->e, row));
    }
}

/* Signed bytes become numbers, from the last on, since the first of them lie where the first results go. A byte of value v is the
 * denormal half v * 2^-24. */
static void widen_bytes(struct gpu_cache *c, unsigned first)
{
    for (unsigned j = GPU_CACHE_FOUR; j-- > 0;) {
        const char *const byte = gpu_h(c->e, 2 * first + j);
        gpu_emit(c->e, "xor %s, %s, 128", byte, byte);
        gpu_emit(c->e, "fmul32 r%u, %s, %s", first + j, byte, gpu_float(c->e, 0x1p24F));
        gpu_emit(c->e, "fadd32 r%u, r%u, %s", first + j, first + j, gpu_float(c->e, -128));
    }
}

void gpu_cache_widen(struct gpu_cache *c, enum gpu_type type, unsigned first, unsigned rows)
{
    for (unsigned i = 0; i < rows * c->chunks; i++)
        if (type == GPU_Q8_0)
            widen_bytes(c, first + GPU_CACHE_FOUR * i);
        else
            gpu_widen(c->e, type, GPU_CACHE_FOUR, first + GPU_CACHE_FOUR * i, 2 * (first + GPU_CACHE_FOUR * i));
}

/* moved = first token of the page in memory - first token of the page in the text */
static void find_page(struct gpu_cache *c)
{
    const unsigned bits = (unsigned)c->pages.bits;
    gpu_shr(c->e, c->next, c->key, bits);
    gpu_load_raw(c->e, 0, GPU_U32, 1, 2 * c->moved, c->page, gpu_r(c->e, c->next));
    gpu_wait(c->e, 0);
    gpu_emit(c->e, "isub r%u, r%u, r%u", c->moved, c->moved, c->next);
    gpu_shl(c->e, c->moved, c->moved, bits);
}

void gpu_cache_load_keys(struct gpu_cache *c)
{
    const unsigned number = c->cached == GPU_Q8_0 ? c->score : c->next; /* scores are made afterwards */
    if (c->pages.tokens)
        find_page(c);
    for (unsigned u = 0; u < GPU_CACHE_KEYS; u++) {
        gpu_add_imm(c->e, number, c->key, u);
        gpu_emit(c->e, "icmpsel ult, r%u, r%u, r%u, r%u, r%u", number, number, c->seen, number, c->last);
        if (c->biased) {
            gpu_mad_imm(c->e, c->row, number, c->heads, c->bias_at);
            gpu_load_raw(c->e, 0, c->type, 1, 2 * (c->bias + u), c->bias_base, gpu_r(c->e, c->row));
        }
        if (c->pages.tokens)
            gpu_emit(c->e, "iadd r%u, r%u, r%u", number, number, c->moved);
        gpu_mad_imm(c->e, c->row, number, c->kv_heads * c->depth, c->place);
        gpu_cache_load(c, 0, c->cached, c->keys + u * GPU_CACHE_FOUR * c->chunks, c->key_scale + u * c->chunks, c->k, c->row);
        gpu_mad_imm(c->e, c->row, number, c->kv_heads * c->depth, c->place);
        gpu_cache_load(c, 1, c->cached, c->values + u * GPU_CACHE_FOUR * c->chunks, c->value_scale + u * c->chunks, c->v, c->row);
    }
}

/* score = the products of four elements of a key and the query, or those of all chunks of a lane. */
static void multiply_key(struct gpu_cache *c, unsigned score, unsigned key, unsigned scale)
{
    for (unsigned i = 0; i < c->chunks; i++) {
        const bool first = i == 0 || c->cached == GPU_Q8_0;
        const unsigned sum = first && i ? c->next : score, four = key + GPU_CACHE_FOUR * i, query = c->query + GPU_CACHE_FOUR * i;
        for (unsigned k = 0; k < GPU_CACHE_FOUR; k++)
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

/* Scores are powers of two. */
static void add_bias(struct gpu_cache *c, unsigned score, unsigned bias)
{
    gpu_widen(c->e, c->type, 1, bias, 2 * bias);
    gpu_emit(c->e, "fmul32 r%u, r%u, %s", bias, bias, gpu_float(c->e, 1.44269504F));
    gpu_emit(c->e, "fadd32 r%u, r%u, r%u", score, score, bias);
}

void gpu_cache_make_scores(struct gpu_cache *c)
{
    gpu_wait(c->e, 0);
    gpu_cache_widen(c, c->cached, c->keys, GPU_CACHE_KEYS);
    for (unsigned u = 0; u < GPU_CACHE_KEYS; u++) {
        const unsigned score = c->score + u;
        multiply_key(c, score, c->keys + u * GPU_CACHE_FOUR * c->chunks, c->key_scale + u * c->chunks);
        gpu_simd_reduce(c->e, "fadd", score, score);
        if (c->biased)
            add_bias(c, score, c->bias + u);
        gpu_add_imm(c->e, c->row, c->key, u);
        gpu_emit(c->e, "icmpsel ult, r%u, r%u, r%u, r%u, r%u", score, c->row, c->seen, score, c->low);
    }
}
