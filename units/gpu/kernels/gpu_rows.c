#include "isa/rounding.h"
#include "units/gpu/kernels/gpu_rows.h"
#include "isa/array_count.h"

enum { SIMDGROUP = 32, SHORT_ROWS_PER_GROUP = 4 };

void gpu_rows_plan(struct gpu_rows *r)
{
    const unsigned per_simdgroup = SIMDGROUP * GPU_ROWS_HELD, most = GPU_ROWS_TEAM_MAX / SIMDGROUP;
    r->wide = r->columns % 4 == 0 ? 4 : 1;
    if (r->parts == 0)
        r->parts = 1;
    const unsigned simdgroups = divide_up(r->columns, per_simdgroup);
    r->team = SIMDGROUP * (simdgroups > most ? most : simdgroups);
    r->chunks = r->parts == 1 && simdgroups <= most ? divide_up(r->columns, (uint64_t)r->team * r->wide) : 0;
}

static bool is_short(const struct gpu_rows *r)
{
    return r->team == SIMDGROUP && r->parts == 1;
}

/* Finds row and first column. Short rows: one per simdgroup. */
static void find_place(struct gpu_rows *r)
{
    struct gpu_emit *e = r->e;
    gpu_emit(e, "get_sr r%u, sr%d", r->lane, GPU_SR_LANE);
    gpu_emit(e, "get_sr r%u, sr%d", r->simdgroup, GPU_SR_SIMDGROUP);
    gpu_emit(e, "get_sr r%u, sr%d", r->row, is_short(r) ? GPU_SR_GROUP_X : GPU_SR_GROUP_Y);
    if (is_short(r)) {
        gpu_mad_imm(e, r->row, r->row, SHORT_ROWS_PER_GROUP, r->simdgroup);
        gpu_mov(e, r->first, r->lane);
    } else {
        gpu_emit(e, "get_sr r%u, sr%d", r->first, GPU_SR_GRID_X);
    }
    gpu_mad_imm(e, r->start, r->row, r->columns, GPU_NO_REGISTER);
    gpu_mad_imm(e, r->first, r->first, r->wide, GPU_NO_REGISTER);
}

/* Distance in columns from one chunk of a thread to its next. */
static uint32_t stride(const struct gpu_rows *r)
{
    return r->team * r->wide * r->parts;
}

/* True when some threads have no elements in chunk i. */
static bool is_cut(const struct gpu_rows *r, unsigned i)
{
    return (uint64_t)(i + 1) * stride(r) > r->columns;
}

static void begin_chunk(struct gpu_rows *r, unsigned i)
{
    gpu_add_imm(r->e, r->column, r->first, (int64_t)i * stride(r));
    if (is_cut(r, i))
        gpu_if(r->e, "ult", gpu_r(r->e, r->column), gpu_int(r->e, r->columns));
    gpu_emit(r->e, "iadd r%u, r%u, r%u", r->index, r->start, r->column);
}

static void end_chunk(struct gpu_rows *r, unsigned i)
{
    if (is_cut(r, i))
        gpu_endif(r->e);
}

static void load_held(struct gpu_rows *r)
{
    for (unsigned i = 0; i < r->chunks; i++) {
        const unsigned value = r->value + i * r->wide;
        begin_chunk(r, i);
        gpu_load_raw(r->e, 0, r->type, r->wide, 2 * value, r->in, gpu_r(r->e, r->index));
        end_chunk(r, i);
    }
    gpu_wait(r->e, 0);
    for (unsigned i = 0; i < r->chunks; i++)
        gpu_widen(r->e, r->type, r->wide, r->value + i * r->wide, 2 * (r->value + i * r->wide));
}

void gpu_rows_begin(struct gpu_rows *r)
{
    struct gpu_emit *e = r->e;
    unsigned *const single[] = {&r->row, &r->start, &r->column, &r->first, &r->lane, &r->simdgroup, &r->index, &r->scratch};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
    const unsigned words = r->wide * (r->chunks ? r->chunks : 1);
    r->value = gpu_register(e, words);
    find_place(r);
    if (is_short(r) && r->rows % SHORT_ROWS_PER_GROUP)
        gpu_if(e, "ult", gpu_r(e, r->row), gpu_int(e, r->rows));
    for (unsigned i = 0; r->chunks && i < words; i++)
        gpu_mov_imm(e, r->value + i, 0); /* what lies beyond the row is carried along, never used */
    load_held(r);
}

static void pass_held(struct gpu_rows *r, gpu_rows_chunk *chunk, void *context)
{
    for (unsigned i = 0; i < r->chunks; i++) {
        begin_chunk(r, i);
        chunk(r, context, r->value + i * r->wide, r->wide);
        end_chunk(r, i);
    }
}

static void pass_again(struct gpu_rows *r, gpu_rows_chunk *chunk, void *context)
{
    struct gpu_emit *e = r->e;
    const bool some_idle = stride(r) > r->columns;
    gpu_mov(e, r->column, r->first);
    if (some_idle)
        gpu_if(e, "ult", gpu_r(e, r->column), gpu_int(e, r->columns));
    gpu_do(e);
    gpu_emit(e, "iadd r%u, r%u, r%u", r->index, r->start, r->column);
    gpu_load_raw(e, 0, r->type, r->wide, 2 * r->value, r->in, gpu_r(e, r->index));
    gpu_wait(e, 0);
    gpu_widen(e, r->type, r->wide, r->value, 2 * r->value);
    chunk(r, context, r->value, r->wide);
    gpu_add_imm(e, r->column, r->column, stride(r));
    gpu_while(e, "ult", gpu_r(e, r->column), gpu_int(e, r->columns));
    if (some_idle)
        gpu_endif(e);
}

void gpu_rows_pass(struct gpu_rows *r, gpu_rows_chunk *chunk, void *context)
{
    if (r->chunks)
        pass_held(r, chunk, context);
    else
        pass_again(r, chunk, context);
}

/* Each simdgroup leaves its result in threadgroup memory, then each combines all of them. Every call has a place of its own
 * there, so that one barrier suffices. */
void gpu_rows_combine(struct gpu_rows *r, const char *op, unsigned value, uint32_t identity)
{
    struct gpu_emit *e = r->e;
    const unsigned simdgroups = r->team / SIMDGROUP;
    gpu_simd_reduce(e, op, value, value);
    if (simdgroups == 1)
        return;
    const uint32_t place = gpu_threadgroup_memory(e, 4 * simdgroups);
    gpu_shl(e, r->scratch, r->simdgroup, 2);
    gpu_add_imm(e, r->scratch, r->scratch, place);
    gpu_if(e, "ueq", gpu_r(e, r->lane), "0");
    gpu_group_store_raw(e, GPU_F32, 1, 2 * value, gpu_h(e, 2 * r->scratch), "0");
    gpu_endif(e);
    gpu_barrier(e);
    gpu_shl(e, r->scratch, r->lane, 2);
    gpu_add_imm(e, r->scratch, r->scratch, place);
    gpu_mov_imm(e, value, identity);
    gpu_if(e, "ult", gpu_r(e, r->lane), gpu_int(e, simdgroups));
    gpu_group_load_raw(e, GPU_F32, 1, 2 * value, gpu_h(e, 2 * r->scratch), "0");
    gpu_endif(e);
    gpu_simd_reduce(e, op, value, value);
}

void gpu_rows_first_thread(struct gpu_rows *r)
{
    struct gpu_emit *e = r->e;
    if (r->team == SIMDGROUP) {
        gpu_if(e, "ueq", gpu_r(e, r->lane), "0");
        return;
    }
    gpu_emit(e, "get_sr r%u, sr%d", r->scratch, GPU_SR_LOCAL_INDEX);
    gpu_if(e, "ueq", gpu_r(e, r->scratch), "0");
}

void gpu_rows_store(struct gpu_rows *r, unsigned value, unsigned count, struct gpu_base out)
{
    gpu_narrow(r->e, r->type, count, 2 * value, value, r->scratch);
    /* In a loop, the wait for the next round's loads covers the store as well. */
    gpu_store_raw(r->e, r->chunks ? 1 : 0, r->type, count, 2 * value, out, gpu_r(r->e, r->index));
}

void gpu_rows_end(struct gpu_rows *r)
{
    struct gpu_emit *e = r->e;
    if (!is_short(r)) {
        gpu_emit_grid(e, r->team * r->parts, r->rows, 1, r->team, 1, 1);
        return;
    }
    const unsigned per_group = SHORT_ROWS_PER_GROUP;
    if (r->rows % per_group)
        gpu_endif(e);
    gpu_emit_grid(e, divide_up(r->rows, per_group) * per_group * SIMDGROUP, 1, 1, per_group * SIMDGROUP, 1, 1);
}
