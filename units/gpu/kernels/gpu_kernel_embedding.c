/* embedding: rows of a table of any type as float32 or float16; of GGUF blocks the weights that they stand for
 * (gpu_gemv_quantised.c says how bytes become numbers). A thread has four neighbours. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <stdio.h>

enum { ROWS, COLUMNS, COUNT, OUT };
enum { FOUR = 4, BLOCK = 32, GROUP_THREADS = 256 };

static const struct kernel_parameter parameters[] = {
    {.name = "rows", .least = 1, .most = 1 << 30, .required = true},
    {.name = "columns", .least = 1, .most = 1 << 30, .required = true},
    {.name = "count", .least = 1, .most = 1 << 30, .required = true},
    {.name = "out", .words = "f32|f16"},
    {.name = NULL},
};

struct embedding {
    struct gpu_emit *e;
    enum gpu_type type;
    struct gpu_base table;
    /* Registers. */
    unsigned at, row, column, value;       /* value: four */
    unsigned block, within, scale, quants; /* quants: two; of blocks */
};

static bool is_block(enum gpu_type type)
{
    return type == GPU_Q4_0 || type == GPU_Q8_0;
}

static void load_plain(struct embedding *m, uint32_t columns)
{
    gpu_mad_imm(m->e, m->column, m->row, columns, m->column);
    gpu_load_raw(m->e, 0, m->type, FOUR, 2 * m->value, m->table, gpu_r(m->e, m->column));
    gpu_wait(m->e, 0);
    gpu_widen(m->e, m->type, FOUR, m->value, 2 * m->value);
}

/* value = (byte `op` mask) * factor - less, a byte of value v being the denormal half v * 2^-24 */
static void decode(struct embedding *m, const char *op, unsigned mask, float factor, float less)
{
    for (unsigned j = 0; j < FOUR; j++) {
        const char *const byte = gpu_h(m->e, 2 * m->quants + j);
        gpu_emit(m->e, "%s %s, %s, %u", op, byte, byte, mask);
        gpu_emit(m->e, "fmul32 r%u, %s, %s", m->value + j, byte, gpu_float(m->e, factor));
        gpu_emit(m->e, "fadd32 r%u, r%u, %s", m->value + j, m->value + j, gpu_float(m->e, -less));
    }
}

/* Scales come first in a block; low nibbles are its first sixteen weights. */
static void load_block(struct embedding *m, uint32_t columns)
{
    const uint32_t bytes = (uint32_t)gpu_type_bytes(m->type, BLOCK);
    gpu_shr(m->e, m->block, m->column, 5);
    gpu_and_imm(m->e, m->within, m->column, BLOCK - 1);
    gpu_mad_imm(m->e, m->block, m->row, columns / BLOCK, m->block);
    gpu_mad_imm(m->e, m->column, m->block, bytes / 2, GPU_NO_REGISTER);
    gpu_load_raw(m->e, 0, GPU_F16, 1, 2 * m->scale, m->table, gpu_r(m->e, m->column));
    gpu_mad_imm(m->e, m->column, m->block, bytes, GPU_NO_REGISTER);
    gpu_add_imm(m->e, m->column, m->column, 2);
    gpu_and_imm(m->e, m->block, m->within, m->type == GPU_Q8_0 ? BLOCK - 1 : BLOCK / 2 - 1);
    gpu_emit(m->e, "iadd r%u, r%u, r%u", m->column, m->column, m->block);
    gpu_load_raw(m->e, 0, GPU_U8, FOUR, 2 * m->quants, m->table, gpu_r(m->e, m->column));
    gpu_wait(m->e, 0);
    if (m->type == GPU_Q8_0) {
        decode(m, "xor", 128, 0x1p24F, 128);
    } else {
        gpu_if(m->e, "ult", gpu_r(m->e, m->within), gpu_int(m->e, BLOCK / 2));
        decode(m, "and", 15, 0x1p24F, 8);
        gpu_else(m->e);
        decode(m, "and", 240, 0x1p20F, 8);
        gpu_endif(m->e);
    }
    for (unsigned j = 0; j < FOUR; j++)
        gpu_emit(m->e, "fmul32 r%u, %s, r%u", m->value + j, gpu_h(m->e, 2 * m->scale), m->value + j);
}

static bool check(const struct gpu_kernel_request *r, struct isa_error *error)
{
    const uint32_t block = is_block(r->type) ? BLOCK : FOUR;
    const uint64_t most = (uint64_t)GPU_KERNEL_ELEMENTS_MAX, columns = (uint64_t)r->value[COLUMNS];
    if (columns % block)
        return kernel_refuse(error, "embedding: rows of %s have a multiple of %u columns; %llu is none", gpu_type_name(r->type),
                             (unsigned)block, (unsigned long long)columns);
    return gpu_kernel_count_of((uint64_t)r->value[ROWS], columns, 1) <= most / 4 * 4 ||
           kernel_refuse(error, "embedding: the table has more than 2^31 - 1 elements");
}

static bool build(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint32_t rows = (uint32_t)r->value[ROWS], columns = (uint32_t)r->value[COLUMNS], count = (uint32_t)r->value[COUNT];
    const uint64_t results = (uint64_t)count * columns;
    const enum gpu_type type = r->value[OUT] ? GPU_F16 : GPU_F32; /* of the result */
    char variant[40];
    if (!check(r, error))
        return false;
    if (results > (uint64_t)GPU_KERNEL_ELEMENTS_MAX)
        return kernel_refuse(error, "embedding: the result has more than 2^31 - 1 elements");
    const unsigned table = gpu_kernel_add_buffer(kernel, "table", r->type, (uint64_t)rows * columns, GPU_BUFFER_INPUT, -1, 1);
    const unsigned index = gpu_kernel_add_buffer(kernel, "index", GPU_U32, count, GPU_BUFFER_INPUT, 0, rows);
    const unsigned out = gpu_kernel_add_buffer(kernel, "out", type, results, GPU_BUFFER_OUTPUT, 0, 0);
    kernel->buffer[index].places = true;
    snprintf(variant, sizeof variant, "embedding_%s_as_%s", gpu_type_name(r->type), gpu_type_name(type));
    struct embedding m = {.e = gpu_emit_begin(kernel, variant, error), .type = r->type};
    m.table = gpu_argument_buffer(m.e, table, 0);
    const struct gpu_base which = gpu_argument_buffer(m.e, index, 0), to = gpu_argument_buffer(m.e, out, 0);
    unsigned *const single[] = {&m.at, &m.row, &m.column, &m.block, &m.within, &m.scale};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(m.e, 1);
    m.value = gpu_register(m.e, FOUR);
    m.quants = gpu_register(m.e, 2);
    gpu_emit(m.e, "get_sr r%u, sr%d", m.at, GPU_SR_GRID_X);
    gpu_mad_imm(m.e, m.at, m.at, FOUR, GPU_NO_REGISTER);
    gpu_divide_imm(m.e, m.row, m.column, m.at, columns);
    gpu_load_raw(m.e, 0, GPU_U32, 1, 2 * m.row, which, gpu_r(m.e, m.row));
    gpu_clear_words(m.e, m.value, FOUR);
    gpu_wait(m.e, 0);
    gpu_if(m.e, "ult", gpu_r(m.e, m.row), gpu_int(m.e, rows));
    (is_block(r->type) ? load_block : load_plain)(&m, columns);
    gpu_endif(m.e);
    gpu_narrow(m.e, type, FOUR, 2 * m.value, m.value, m.column);
    gpu_store_raw(m.e, 1, type, FOUR, 2 * m.value, to, gpu_r(m.e, m.at));
    gpu_emit_grid(m.e, (uint32_t)(results / FOUR), 1, 1, GROUP_THREADS, 1, 1);
    kernel->min_bytes = (double)(gpu_type_bytes(r->type, results) + gpu_type_bytes(type, results)) + 4.0 * count;
    return gpu_emit_end(m.e);
}

static const struct gpu_kernel_info rows[] = {
    {"embedding", "RxCxN[,out=f32|f16]", "f32 f16 bf16 q4_0 q8_0",
     "out[i] = row index[i] of the R x C table, N times, as f32 or f16 whatever the type of the table; zeros where index[i] >= R",
     3, parameters, build},
};
const struct gpu_kernel_family gpu_family_embedding = {rows, ARRAY_COUNT(rows)};
