/* scan: running sums along rows.
 *
 * A threadgroup advances along its part of a row, with four elements per thread and round: a prefix over the simdgroup, totals of
 * simdgroups through threadgroup memory, and a carry from round to round. Long rows are cut into parts: first the sums of the
 * parts, then the running sums of those, then all parts with the sum of what precedes them.
 */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <stdio.h>

enum { ROWS, COLUMNS, EXCLUSIVE };
enum { SIMDGROUP = 32, THREADS_MAX = 512, WIDE = 4, PART_ROUNDS = 4, PARTS_MAX = 1024 };

static const struct kernel_parameter parameters[] = {
    {.name = "rows", .least = 1, .most = INT64_C(1) << 40, .required = true},
    {.name = "columns", .least = 1, .most = GPU_KERNEL_ELEMENTS_MAX, .required = true},
    {.name = "exclusive", .least = 0, .most = 1},
    {.name = NULL},
};

/* One launch: rows of `columns` elements in parts of `part`. */
struct scan {
    struct gpu_emit *e;
    enum gpu_type type;
    bool whole; /* integers */
    uint32_t rows, columns, part, parts, threads;
    bool exclusive, sums_only; /* sums_only: writes only the sum of each part, to out[row * parts + part] */
    bool has_before;           /* `before` holds the sum of what precedes each part */
    struct gpu_base in, out, before;
    unsigned values; /* register: WIDE elements, then their running sums */
    unsigned row, number, column, end, at, value, prefix, total, carry, thread, lane, simdgroup, address; /* registers */
    uint32_t place[2]; /* threadgroup memory for totals: rounds alternate, so that one barrier per round suffices */
};

static void add(const struct scan *s, unsigned to, unsigned a, unsigned b)
{
    gpu_emit(s->e, "%s r%u, r%u, r%u", s->whole ? "iadd" : "fadd32", to, a, b);
}

static void simd_sum(const struct scan *s, unsigned to, unsigned from, bool prefix)
{
    gpu_emit(s->e, "simd_%s%s r%u, r%u", prefix ? "prefix_" : "", s->whole ? "iadd" : "fadd", to, from);
}

static void find_place(struct scan *s)
{
    struct gpu_emit *e = s->e;
    unsigned *const single[] = {&s->row,   &s->number, &s->column, &s->end,  &s->at,        &s->value,  &s->prefix,
                                &s->total, &s->carry,  &s->thread, &s->lane, &s->simdgroup, &s->address};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
    s->values = gpu_register(e, WIDE);
    gpu_emit(e, "get_sr r%u, sr%d", s->row, GPU_SR_GROUP_Y);
    gpu_emit(e, "get_sr r%u, sr%d", s->number, GPU_SR_GROUP_X);
    gpu_emit(e, "get_sr r%u, sr%d", s->thread, GPU_SR_LOCAL_X);
    gpu_emit(e, "get_sr r%u, sr%d", s->lane, GPU_SR_LANE);
    gpu_emit(e, "get_sr r%u, sr%d", s->simdgroup, GPU_SR_SIMDGROUP);
    gpu_mad_imm(e, s->column, s->number, s->part, GPU_NO_REGISTER);
    gpu_add_imm(e, s->end, s->column, s->part);
    gpu_min_imm(e, s->end, s->end, s->columns);
    gpu_mad_imm(e, s->number, s->row, s->parts, s->number);
    gpu_mov_imm(e, s->carry, 0);
    if (s->has_before)
        gpu_load_element(e, 0, s->type < GPU_I32 ? GPU_F32 : s->type, s->carry, s->before, gpu_r(e, s->number));
    if (s->threads > SIMDGROUP)
        for (unsigned i = 0; i < 2; i++)
            s->place[i] = gpu_threadgroup_memory(e, 4 * SIMDGROUP);
}

/* total = sum of the round; prefix += the sums of the simdgroups before this one. */
static void combine_simdgroups(struct scan *s, uint32_t place)
{
    struct gpu_emit *e = s->e;
    const unsigned others = gpu_register(e, 1), before = gpu_register(e, 1);
    gpu_shl(e, s->address, s->simdgroup, 2);
    gpu_add_imm(e, s->address, s->address, place);
    gpu_if(e, "ueq", gpu_r(e, s->lane), "0");
    gpu_group_store_raw(e, GPU_F32, 1, 2 * s->total, gpu_h(e, 2 * s->address), "0");
    gpu_endif(e);
    gpu_barrier(e);
    gpu_shl(e, s->address, s->lane, 2);
    gpu_add_imm(e, s->address, s->address, place);
    gpu_mov_imm(e, others, 0);
    gpu_if(e, "ult", gpu_r(e, s->lane), gpu_int(e, s->threads / SIMDGROUP));
    gpu_group_load_raw(e, GPU_F32, 1, 2 * others, gpu_h(e, 2 * s->address), "0");
    gpu_endif(e);
    simd_sum(s, s->total, others, false);
    gpu_emit(e, "icmpsel ult, r%u, r%u, r%u, r%u, 0", before, s->lane, s->simdgroup, others);
    simd_sum(s, before, before, false);
    add(s, s->prefix, s->prefix, before);
    gpu_register_free(e, others, 1);
    gpu_register_free(e, before, 1);
}

/* Loads the elements of this thread from device index s->at on, with zeros beyond the end. */
static void load_values(const struct scan *s, unsigned column, unsigned last)
{
    struct gpu_emit *e = s->e;
    for (unsigned i = 0; i < WIDE; i++)
        gpu_mov_imm(e, s->values + i, 0);
    gpu_if(e, "ult", gpu_r(e, last), gpu_r(e, s->end));
    gpu_load_raw(e, 0, s->type, WIDE, 2 * s->values, s->in, gpu_r(e, s->at));
    gpu_wait(e, 0);
    gpu_widen(e, s->type, WIDE, s->values, 2 * s->values);
    gpu_else(e);
    for (unsigned i = 0; i + 1 < WIDE; i++) {
        gpu_add_imm(e, s->address, column, i);
        gpu_if(e, "ult", gpu_r(e, s->address), gpu_r(e, s->end));
        gpu_add_imm(e, s->address, s->at, i);
        gpu_load_element(e, 0, s->type, s->values + i, s->in, gpu_r(e, s->address));
        gpu_endif(e);
    }
    gpu_endif(e);
}

static void store_values(const struct scan *s, unsigned column, unsigned last, unsigned scratch)
{
    struct gpu_emit *e = s->e;
    gpu_narrow(e, s->type, WIDE, 2 * s->values, s->values, scratch);
    gpu_if(e, "ult", gpu_r(e, last), gpu_r(e, s->end));
    gpu_store_raw(e, 0, s->type, WIDE, 2 * s->values, s->out, gpu_r(e, s->at));
    gpu_else(e);
    for (unsigned i = 0; i + 1 < WIDE; i++) {
        const unsigned half = s->type == GPU_F16 || s->type == GPU_BF16 ? 2 * s->values + i : 2 * (s->values + i);
        gpu_add_imm(e, s->address, column, i);
        gpu_if(e, "ult", gpu_r(e, s->address), gpu_r(e, s->end));
        gpu_add_imm(e, s->address, s->at, i);
        gpu_store_raw(e, 0, s->type, 1, half, s->out, gpu_r(e, s->address));
        gpu_endif(e);
    }
    gpu_endif(e);
}

/* values = prefix + running sum of values, with or without the element itself. */
static void finish_values(const struct scan *s)
{
    for (unsigned i = WIDE; i-- > 0;) {
        if (!s->exclusive)
            add(s, s->values + i, s->prefix, s->values + i);
        else if (i)
            add(s, s->values + i, s->prefix, s->values + i - 1);
        else
            gpu_mov(s->e, s->values, s->prefix);
    }
}

static void emit_round(struct scan *s, uint32_t place)
{
    struct gpu_emit *e = s->e;
    const unsigned column = gpu_register(e, 1), last = gpu_register(e, 1), scratch = gpu_register(e, 1);
    gpu_mad_imm(e, column, s->thread, WIDE, s->column);
    gpu_add_imm(e, last, column, WIDE - 1);
    gpu_mad_imm(e, s->at, s->row, s->columns, column);
    load_values(s, column, last);
    for (unsigned i = 1; i < WIDE; i++)
        add(s, s->values + i, s->values + i - 1, s->values + i);
    gpu_mov(e, s->value, s->values + WIDE - 1);
    simd_sum(s, s->prefix, s->value, true);
    simd_sum(s, s->total, s->value, false);
    if (s->threads > SIMDGROUP)
        combine_simdgroups(s, place);
    add(s, s->prefix, s->prefix, s->carry);
    add(s, s->carry, s->carry, s->total);
    if (!s->sums_only) {
        finish_values(s);
        store_values(s, column, last, scratch);
    }
    gpu_add_imm(e, s->column, s->column, (int64_t)s->threads * WIDE);
    gpu_register_free(e, column, 1);
    gpu_register_free(e, last, 1);
    gpu_register_free(e, scratch, 1);
}

static bool build_step(struct scan *s, const char *name, struct gpu_kernel *kernel, unsigned in, unsigned out, unsigned before,
                       struct isa_error *error)
{
    char variant[32];
    const uint32_t simdgroups = (s->part + SIMDGROUP * WIDE - 1) / (SIMDGROUP * WIDE);
    s->threads = simdgroups > THREADS_MAX / SIMDGROUP ? THREADS_MAX : simdgroups * SIMDGROUP;
    snprintf(variant, sizeof variant, "scan_%s_%s_%u", name, gpu_type_name(s->type), (unsigned)s->threads);
    struct gpu_emit *e = s->e = gpu_emit_begin(kernel, variant, error);
    s->in = gpu_argument_buffer(e, in, 0);
    s->out = gpu_argument_buffer(e, out, 0);
    if (s->has_before)
        s->before = gpu_argument_buffer(e, before, 0);
    find_place(s);
    gpu_do(e);
    emit_round(s, s->place[0]);
    if (s->part > s->threads * WIDE)
        emit_round(s, s->place[1]);
    gpu_while(e, "ult", gpu_r(e, s->column), gpu_r(e, s->end));
    if (s->sums_only) {
        gpu_if(e, "ueq", gpu_r(e, s->thread), "0");
        gpu_store_raw(e, 1, GPU_F32, 1, 2 * s->carry, s->out, gpu_r(e, s->number));
        gpu_endif(e);
    }
    gpu_emit_grid(e, s->threads * s->parts, s->rows, 1, s->threads, 1, 1);
    return gpu_emit_end(e);
}

/* Number of parts: enough for four per core, none shorter than PART_ROUNDS rounds. */
static uint32_t parts_of(const struct gpu_kernel_request *q)
{
    const uint64_t rows = (uint64_t)q->value[ROWS], least = (uint64_t)THREADS_MAX * WIDE * PART_ROUNDS;
    uint64_t parts = (4U * (uint64_t)(q->cores ? q->cores : 1) + rows - 1) / rows;
    const uint64_t most = (uint64_t)q->value[COLUMNS] / least;
    parts = parts > most ? most : parts;
    return parts == 0 ? 1 : parts > PARTS_MAX ? PARTS_MAX : (uint32_t)parts;
}

static bool build(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    const bool whole = q->type >= GPU_I32;
    const uint32_t wanted = parts_of(q);
    struct scan s = {.type = q->type,
                     .whole = whole,
                     .rows = (uint32_t)q->value[ROWS],
                     .columns = (uint32_t)q->value[COLUMNS],
                     .exclusive = q->value[EXCLUSIVE]};
    const uint64_t count = (uint64_t)s.rows * s.columns;
    if ((uint64_t)q->value[ROWS] > (uint64_t)GPU_KERNEL_ELEMENTS_MAX / s.columns)
        return kernel_refuse(error, "scan: more than 2^31 - 1 elements");
    s.part = (s.columns + wanted - 1) / wanted;
    s.parts = (s.columns + s.part - 1) / s.part;
    const enum gpu_type sum_type = whole ? q->type : GPU_F32;
    const double low = q->type == GPU_U32 ? 0 : whole ? -100 : -1, high = whole ? 100 : 1;
    const unsigned in = gpu_kernel_add_buffer(kernel, "x", q->type, count, GPU_BUFFER_INPUT, low, high);
    const unsigned out = gpu_kernel_add_buffer(kernel, "out", q->type, count, GPU_BUFFER_OUTPUT, 0, 0);
    kernel->flops = whole ? 0 : (double)count;
    kernel->min_bytes = 2 * (double)gpu_type_bytes(q->type, count);
    if (s.parts == 1)
        return build_step(&s, "rows", kernel, in, out, 0, error);
    const uint64_t partial_count = (uint64_t)s.rows * s.parts;
    const unsigned sums = gpu_kernel_add_buffer(kernel, "sums", sum_type, partial_count, GPU_BUFFER_SCRATCH, 0, 0);
    const unsigned before = gpu_kernel_add_buffer(kernel, "before", sum_type, partial_count, GPU_BUFFER_SCRATCH, 0, 0);
    struct scan first = s, second = {.type = sum_type,
                                     .whole = whole,
                                     .rows = s.rows,
                                     .columns = s.parts,
                                     .part = s.parts,
                                     .parts = 1,
                                     .exclusive = true};
    first.sums_only = true;
    s.has_before = true;
    return build_step(&first, "sums", kernel, in, sums, 0, error) &&
           build_step(&second, "parts", kernel, sums, before, 0, error) && build_step(&s, "rows", kernel, in, out, before, error);
}

static const struct gpu_kernel_info rows[] = {
    {"scan", "RxC[,exclusive=0|1]", "f32 f16 bf16 i32 u32",
     "running sums along each row of C elements, in f32 or 32-bit integers; exclusive=1: without the element itself", 2,
     parameters, build},
};
const struct gpu_kernel_family gpu_family_scan = {rows, ARRAY_COUNT(rows)};
