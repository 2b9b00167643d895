/* One-pass attention: the registers, queries and places in threadgroup memory that belong to a lane; loading queries and blocks.
 */
#include "units/gpu/kernels/gpu_attention_internal.h"

#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_matrix.h"

/* Number of fours in a line of a block, a power of two; those beyond the depth are zero. */
static unsigned line_fours(const struct gpu_flash *f)
{
    unsigned fours = FLASH_FOUR;
    while (fours < f->part * FLASH_FOUR)
        fours *= 2;
    return fours;
}

static unsigned passes(const struct gpu_flash *f)
{
    return FLASH_KEYS * line_fours(f) / FLASH_THREADS;
}

void gpu_flash_take_registers(struct gpu_flash *f)
{
    struct gpu_emit *e = f->e;
    unsigned *const singles[] = {&f->factor, &f->scratch,  &f->other,    &f->row,  &f->p,
                                 &f->key,    &f->keys_end, &f->kv_start, &f->line, &f->column};
    if (!gpu_flash_streams(f))
        f->query = gpu_register(e, f->row_tiles * f->depths * f->four_halves / 2);
    f->sum_out = gpu_register(e, 4 * f->row_tiles * f->depths);
    f->work = gpu_register(e, FLASH_WORK);
    f->scores = f->work;
    f->fragments = f->work + 8 * f->row_tiles;
    if (gpu_flash_streams(f)) {
        f->query = f->fragments + FLASH_SETS * f->four_halves / 2;
        f->query_place = gpu_register(e, 1);
    }
    f->largest = gpu_register(e, f->row_tiles);
    f->sum = gpu_register(e, f->row_tiles);
    for (unsigned i = 0; i < ARRAY_COUNT(singles); i++)
        *singles[i] = gpu_register(e, 1);
    const unsigned halves = 2 * gpu_register(e, 4);
    for (unsigned j = 0; j < FLASH_FOUR; j++)
        f->take_k[j] = halves + j;
    f->take_v = halves + 4;
    f->put_k = halves + 5;
    f->put_v = halves + 6;
}

/* Converts a place to the offset of word accesses, in a half register. */
static void words_of(struct gpu_flash *f, unsigned half, unsigned place)
{
    gpu_emit(f->e, "bfeil %s, 0, r%u, %u", gpu_h(f->e, half), place, gpu_flash_bytes(f) == 4 ? 0 : 1);
}

/* to = place of line `key` of V: R + 8 q + 16 c, bits 0, 3, 4, 1, 2 of the key. */
static void v_line(struct gpu_flash *f, unsigned to, unsigned key)
{
    gpu_and_imm(f->e, to, key, 1);
    gpu_emit(f->e, "bfeil r%u, 0, r%u, 3, mask 0x3", f->other, key);
    gpu_emit(f->e, "iadd r%u, r%u, r%u, lsl 1", to, to, f->other);
    gpu_emit(f->e, "bfeil r%u, 0, r%u, 1, mask 0x3", f->other, key);
    gpu_emit(f->e, "iadd r%u, r%u, r%u, lsl 3", to, to, f->other);
}

static uint32_t v_line_of(uint32_t key)
{
    return (key & 1) | (key >> 3 & 3) << 1 | (key >> 1 & 3) << 3;
}

static void find_block_place(struct gpu_flash *f)
{
    struct gpu_emit *e = f->e;
    gpu_emit(e, "get_sr r%u, sr%d", f->scratch, GPU_SR_LOCAL_INDEX);
    gpu_divide_imm(e, f->line, f->column, f->scratch, line_fours(f));
    gpu_shl(e, f->column, f->column, 2);
    gpu_mad_imm(e, f->scratch, f->line, f->pitch, f->column);
    words_of(f, f->put_k, f->scratch);
    v_line(f, f->scratch, f->line);
    gpu_mad_imm(e, f->scratch, f->scratch, f->pitch, f->column);
    words_of(f, f->put_v, f->scratch);
}

static void find_fragments(struct gpu_flash *f, unsigned r)
{
    struct gpu_emit *e = f->e;
    gpu_and_imm(e, f->scratch, r, 1);
    gpu_shr(e, f->other, r, 1);
    gpu_emit(e, "iadd r%u, r%u, r%u, lsl 2", f->scratch, f->scratch, f->other);
    gpu_mad_imm(e, f->scratch, f->p, 8 * f->pitch, f->scratch);
    for (unsigned j = 0; j < FLASH_FOUR; j++)
        gpu_emit(e, "iadd %s, %s, %s", gpu_h(e, f->take_k[j]), gpu_h(e, 2 * f->scratch), gpu_int(e, j * f->pitch));
    gpu_mad_imm(e, f->scratch, f->p, gpu_flash_column_step(f), GPU_NO_REGISTER);
    gpu_mad_imm(e, f->scratch, r, f->pitch, f->scratch);
    words_of(f, f->take_v, f->scratch);
}

/* kv_start = first element of this head's keys; row = first query of the lane (may lie beyond the end). */
void gpu_flash_find_place(struct gpu_flash *f)
{
    struct gpu_emit *e = f->e;
    const struct gpu_attention *a = f->a;
    const unsigned r = gpu_register(e, 1);
    gpu_matrix_lane(e, r, f->p);
    find_block_place(f);
    find_fragments(f, r);
    gpu_emit(e, "get_sr r%u, sr%d", f->scratch, GPU_SR_SIMDGROUP);
    gpu_mad_imm(e, f->row, f->scratch, 8 * f->row_tiles, r);
    gpu_emit(e, "get_sr r%u, sr%d", f->scratch, GPU_SR_GROUP_X);
    gpu_mad_imm(e, f->row, f->scratch, gpu_flash_queries(f), f->row);
    gpu_mov_imm(e, f->keys_end, a->length);
    if (a->causal) {
        gpu_add_imm(e, f->scratch, f->scratch, 1);
        gpu_mad_imm(e, f->scratch, f->scratch, gpu_flash_queries(f), GPU_NO_REGISTER);
        gpu_min_imm(e, f->keys_end, f->scratch, a->length);
    }
    gpu_emit(e, "get_sr r%u, sr%d", f->scratch, GPU_SR_GROUP_Y);
    gpu_divide_imm(e, f->kv_start, GPU_NO_REGISTER, f->scratch, a->heads / a->kv_heads);
    gpu_emit(e, "get_sr r%u, sr%d", f->scratch, GPU_SR_GROUP_Z);
    gpu_mad_imm(e, f->kv_start, f->scratch, a->kv_heads, f->kv_start);
    gpu_mad_imm(e, f->kv_start, f->kv_start, a->length * a->depth, GPU_NO_REGISTER);
    gpu_register_free(e, r, 1);
}

void gpu_flash_query_element(struct gpu_flash *f, unsigned to, unsigned i)
{
    struct gpu_emit *e = f->e;
    const struct gpu_attention *a = f->a;
    gpu_add_imm(e, to, f->row, 8 * i);
    gpu_min_imm(e, to, to, a->length - 1);
    gpu_emit(e, "get_sr r%u, sr%d", f->other, GPU_SR_GROUP_Z);
    gpu_mad_imm(e, f->other, f->other, a->heads, GPU_NO_REGISTER);
    gpu_mad_imm(e, to, f->other, a->length, to);
    gpu_emit(e, "get_sr r%u, sr%d", f->other, GPU_SR_GROUP_Y);
    gpu_mad_imm(e, to, f->other, a->length, to);
    gpu_mad_imm(e, to, to, a->depth, GPU_NO_REGISTER);
}

void gpu_flash_stream_query(struct gpu_flash *f, unsigned depth)
{
    struct gpu_emit *e = f->e;
    const unsigned half = gpu_flash_query_half(f, 0, depth, 0);
    const bool cut = 16 * (depth + 1) > f->a->depth;
    if (cut)
        gpu_clear_words(e, half / 2, f->four_halves / 2);
    if (16 * depth >= f->a->depth)
        return;
    if (cut) {
        gpu_mad_imm(e, f->other, f->p, FLASH_FOUR, GPU_NO_REGISTER);
        gpu_if(e, "ult", gpu_r(e, f->other), gpu_int(e, f->a->depth - 16 * depth));
    }
    gpu_add_imm(e, f->scratch, f->query_place, 16 * depth);
    gpu_load_raw(e, 0, f->a->type, FLASH_FOUR, half, f->q_base, gpu_r(e, f->scratch));
    if (cut)
        gpu_endif(e);
}

/* Loads elements 16 depth + 4P .. + 3 of each query; of streamed ones only finds the first. */
void gpu_flash_load_queries(struct gpu_flash *f)
{
    struct gpu_emit *e = f->e;
    if (gpu_flash_streams(f)) {
        gpu_flash_query_element(f, f->query_place, 0);
        gpu_mad_imm(e, f->query_place, f->p, FLASH_FOUR, f->query_place);
        return;
    }
    gpu_clear_words(e, f->query, f->row_tiles * f->depths * f->four_halves / 2);
    for (unsigned i = 0; i < f->row_tiles; i++) {
        gpu_flash_query_element(f, f->scratch, i);
        gpu_mad_imm(e, f->scratch, f->p, FLASH_FOUR, f->scratch);
        gpu_mad_imm(e, f->other, f->p, FLASH_FOUR, GPU_NO_REGISTER);
        for (unsigned d = 0; d < f->depths; d++) {
            const bool cut = 16 * (d + 1) > f->a->depth;
            if (cut)
                gpu_if(e, "ult", gpu_r(e, f->other), gpu_int(e, f->a->depth - 16 * d));
            gpu_load_raw(e, 0, f->a->type, FLASH_FOUR, gpu_flash_query_half(f, i, d, 0), f->q_base, gpu_r(e, f->scratch));
            if (cut)
                gpu_endif(e);
            gpu_add_imm(e, f->scratch, f->scratch, 16);
        }
    }
    gpu_wait(e, 0);
}

static void load_pass(struct gpu_flash *f, struct gpu_base base, unsigned pass, uint32_t first_element, unsigned to_half)
{
    struct gpu_emit *e = f->e;
    gpu_emit(e, "iadd r%u, r%u, r%u", f->scratch, f->key, f->line);
    gpu_add_imm(e, f->scratch, f->scratch, pass * (FLASH_THREADS / line_fours(f)));
    gpu_min_imm(e, f->scratch, f->scratch, f->a->length - 1);
    gpu_mad_imm(e, f->scratch, f->scratch, f->a->depth, f->kv_start);
    gpu_emit(e, "iadd r%u, r%u, r%u", f->scratch, f->scratch, f->column);
    if (first_element)
        gpu_add_imm(e, f->scratch, f->scratch, first_element);
    gpu_load_raw(e, 0, f->a->type, FLASH_FOUR, to_half, base, gpu_r(e, f->scratch));
}

static void put_pass(struct gpu_flash *f, bool is_v, unsigned pass, unsigned from_half)
{
    const uint32_t key = pass * (FLASH_THREADS / line_fours(f)), line = is_v ? v_line_of(key) : key;
    const uint32_t at = (is_v ? f->v_address : f->k_address) + line * f->pitch * gpu_flash_bytes(f);
    gpu_group_store_raw(f->e, GPU_F32, f->four_halves / 2, from_half, gpu_argument_u16(f->e, (uint16_t)at),
                        gpu_h(f->e, is_v ? f->put_v : f->put_k));
}

/* Runs the passes over K and V, as many at a time as the work registers hold. */
void gpu_flash_load_blocks(struct gpu_flash *f)
{
    struct gpu_emit *e = f->e;
    const unsigned all = 2 * passes(f), at_once = 2 * FLASH_WORK / f->four_halves;
    const bool cut = line_fours(f) * FLASH_FOUR > f->a->depth;
    for (unsigned first = 0; first < all; first += at_once) {
        const unsigned now = all - first < at_once ? all - first : at_once;
        if (cut) {
            gpu_clear_words(e, f->work, now * f->four_halves / 2);
            gpu_if(e, "ult", gpu_r(e, f->column), gpu_int(e, f->a->depth));
        }
        for (unsigned i = 0; i < now; i++)
            load_pass(f, (first + i) % 2 ? f->v_base : f->k_base, (first + i) / 2, 0, 2 * f->work + i * f->four_halves);
        if (cut)
            gpu_endif(e);
        gpu_wait(e, 0);
        if (first == 0)
            gpu_barrier(e); /* the previous block has been used */
        if (cut)
            gpu_if(e, "ult", gpu_r(e, f->column), gpu_int(e, 16 * f->depths));
        for (unsigned i = 0; i < now; i++)
            put_pass(f, (first + i) % 2, (first + i) / 2, 2 * f->work + i * f->four_halves);
        if (cut)
            gpu_endif(e);
    }
    gpu_barrier(e);
}

/* The scores are in use while values are loaded: blocks under way take the registers of the fragments. */
void gpu_flash_load_part(struct gpu_flash *f, bool is_v, unsigned part)
{
    struct gpu_emit *e = f->e;
    const unsigned all = passes(f), stage = f->fragments, at_once = (FLASH_WORK - 8 * f->row_tiles) * 2 / f->four_halves;
    const uint32_t element = 16 * f->part * part, left = f->a->depth - element, width = 16 * f->part;
    const bool cut = line_fours(f) * FLASH_FOUR > (left < width ? left : width);
    for (unsigned first = 0; first < all; first += at_once) {
        const unsigned now = all - first < at_once ? all - first : at_once;
        if (cut) {
            gpu_clear_words(e, stage, now * f->four_halves / 2);
            gpu_if(e, "ult", gpu_r(e, f->column), gpu_int(e, left < width ? left : width));
        }
        for (unsigned i = 0; i < now; i++)
            load_pass(f, is_v ? f->v_base : f->k_base, first + i, element, 2 * stage + i * f->four_halves);
        if (cut)
            gpu_endif(e);
        gpu_wait(e, 0);
        if (first == 0)
            gpu_barrier(e); /* what was there has been used */
        if (cut)
            gpu_if(e, "ult", gpu_r(e, f->column), gpu_int(e, width));
        for (unsigned i = 0; i < now; i++)
            put_pass(f, is_v, first + i, 2 * stage + i * f->four_halves);
        if (cut)
            gpu_endif(e);
    }
    gpu_barrier(e);
}
