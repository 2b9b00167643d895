/* elementwise: chains of functions over arrays, with four neighbouring elements per thread. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"
#include "units/gpu/kernels/gpu_math.h"

#include <stdio.h>

enum { COUNT, OP, FUSED, ALPHA, PERIOD };
enum { PER_THREAD = 4, GROUP_THREADS = 256, CHAIN_MAX = 2 * KERNEL_CHAIN_WORDS, OPERANDS_MAX = 8 };

static const struct kernel_parameter parameters[] = {
    {.name = "n", .least = 1, .most = INT64_C(1) << 42, .required = true},
    {.name = "op", .words = GPU_MATH_WORDS, .chain = true},
    {.name = "fused", .words = GPU_MATH_WORDS, .chain = true},
    {.name = "alpha", .missing = 0, .least = -1000000, .most = 1000000, .decimal = true},
    {.name = "period", .least = 0, .most = INT64_C(1) << 42},
    {.name = NULL},
};

struct chain {
    struct gpu_emit *e;
    enum gpu_type type;
    uint64_t all, all_period; /* count and period are those of one launch */
    enum gpu_math function[CHAIN_MAX];
    unsigned length, operands; /* arrays that are read: the first one, and one per binary function */
    float alpha;
    uint32_t count, period; /* period: elements of the further arrays when they repeat, otherwise 0 */
    struct gpu_base in[OPERANDS_MAX], out;
    unsigned data[OPERANDS_MAX], index, place;
};

static void append_functions(struct chain *c, int64_t words)
{
    for (; words && c->length < CHAIN_MAX; words >>= KERNEL_CHAIN_BITS) {
        const enum gpu_math function = (enum gpu_math)((words & ((1 << KERNEL_CHAIN_BITS) - 1)) - 1);
        c->operands += gpu_math_is_binary(function);
        c->function[c->length++] = function;
    }
}

static void compute(struct chain *c, unsigned elements)
{
    for (unsigned i = 0; i < elements; i++) {
        unsigned operand = 0;
        for (unsigned f = 0; f < c->length; f++) {
            operand += gpu_math_is_binary(c->function[f]);
            gpu_math_emit(c->e, c->function[f], c->data[0] + i, c->data[operand] + i, c->alpha);
        }
    }
}

/* Loads `elements` neighbours from element c->index on. */
static void load(struct chain *c, unsigned elements)
{
    const bool together = c->period == 0 || c->period % PER_THREAD == 0 || elements == 1;
    gpu_load_raw(c->e, 0, c->type, elements, 2 * c->data[0], c->in[0], gpu_r(c->e, c->index));
    if (c->period && c->operands > 1)
        gpu_divide_imm(c->e, GPU_NO_REGISTER, c->place, c->index, c->period);
    for (unsigned k = 1; together && k < c->operands; k++)
        gpu_load_raw(c->e, 0, c->type, elements, 2 * c->data[k], c->in[k], gpu_r(c->e, c->period ? c->place : c->index));
    gpu_wait(c->e, 0);
    for (unsigned k = 0; k < (together ? c->operands : 1); k++)
        gpu_widen(c->e, c->type, elements, c->data[k], 2 * c->data[k]);
    for (unsigned i = 0; !together && i < elements; i++) {
        for (unsigned k = 1; k < c->operands; k++)
            gpu_load_element(c->e, 0, c->type, c->data[k] + i, c->in[k], gpu_r(c->e, c->place));
        gpu_add_imm(c->e, c->place, c->place, 1);
        gpu_emit(c->e, "icmpsel ueq, r%u, r%u, %s, 0, r%u", c->place, c->place, gpu_int(c->e, c->period), c->place);
    }
}

static void process(struct chain *c, unsigned elements)
{
    const unsigned scratch = c->type == GPU_BF16 ? gpu_register(c->e, 1) : GPU_NO_REGISTER;
    load(c, elements);
    compute(c, elements);
    gpu_narrow(c->e, c->type, elements, 2 * c->data[0], c->data[0], scratch);
    gpu_store_raw(c->e, 1, c->type, elements, 2 * c->data[0], c->out, gpu_r(c->e, c->index));
    if (scratch != GPU_NO_REGISTER)
        gpu_register_free(c->e, scratch, 1);
}

static void emit_body(struct chain *c)
{
    struct gpu_emit *e = c->e;
    const uint32_t whole = c->count / PER_THREAD, rest = c->count % PER_THREAD;
    const unsigned thread = gpu_register(e, 1);
    c->index = gpu_register(e, 1);
    c->place = gpu_register(e, 1);
    for (unsigned k = 0; k < c->operands; k++)
        c->data[k] = gpu_register(e, PER_THREAD);
    gpu_emit(e, "get_sr r%u, sr%d", thread, GPU_SR_GRID_X);
    gpu_shl(e, c->index, thread, 2);
    if (rest)
        gpu_if(e, "ult", gpu_r(e, thread), gpu_int(e, whole));
    process(c, PER_THREAD);
    if (rest) {
        gpu_else(e);
        gpu_do(e);
        process(c, 1);
        gpu_wait(e, 1);
        gpu_add_imm(e, c->index, c->index, 1);
        gpu_while(e, "ult", gpu_r(e, c->index), gpu_int(e, c->count));
        gpu_endif(e);
    }
    gpu_emit_grid(e, whole + (rest != 0), 1, 1, GROUP_THREADS, 1, 1);
}

/* The lower end of inputs that the functions of the chain accept: log, roots and powers need positive numbers. */
static double lowest_input(const struct chain *c)
{
    for (unsigned f = 0; f < c->length; f++)
        switch (c->function[f]) {
        case GPU_MATH_LOG:
        case GPU_MATH_LOG2:
        case GPU_MATH_SQRT:
        case GPU_MATH_RSQRT:
        case GPU_MATH_RCP:
        case GPU_MATH_POW:
        case GPU_MATH_DIV: return 0.25;
        default: break;
        }
    return -4;
}

static void add_operands(struct chain *c, struct gpu_kernel *kernel)
{
    const double low = lowest_input(c);
    for (unsigned k = 0; k < c->operands; k++) {
        const char name[2] = {(char)('a' + k), '\0'};
        gpu_kernel_add_buffer(kernel, name, c->type, k && c->all_period ? c->all_period : c->all, GPU_BUFFER_INPUT, low, 4);
    }
    gpu_kernel_add_buffer(kernel, "out", c->type, c->all, GPU_BUFFER_OUTPUT, 0, 0);
}

/* Elements [first, first + c->count); those of the further arrays begin at `other`. */
static bool build_launch(struct chain *c, struct gpu_kernel *kernel, uint64_t first, uint64_t other, struct isa_error *error)
{
    const uint64_t size = gpu_type_bytes(c->type, 1);
    char variant[32];
    snprintf(variant, sizeof variant, "%s%s_%s_x4", gpu_math_name(c->function[0]), c->length > 1 ? "_fused" : "",
             gpu_type_name(c->type));
    c->e = gpu_emit_begin(kernel, variant, error);
    for (unsigned k = 0; k < c->operands; k++)
        c->in[k] = gpu_argument_buffer(c->e, k, size * (k ? other : first));
    c->out = gpu_argument_buffer(c->e, c->operands, size * first);
    emit_body(c);
    return gpu_emit_end(c->e);
}

/* A launch counts its elements in 32 bits: one takes whole periods, or part of a period when that is longer. */
static bool build_launches(struct chain *c, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint64_t most = (uint64_t)GPU_KERNEL_ELEMENTS_MAX, period = c->all_period;
    const bool repeats = period && period <= most / PER_THREAD;
    const uint64_t whole = c->all <= most ? c->all : repeats ? most / (PER_THREAD * period) * PER_THREAD * period : most + 1;
    bool ok = true;
    for (uint64_t at = 0; ok && at < c->all; at += c->count) {
        const uint64_t left = period && !repeats && c->all > most ? period - at % period : c->all - at;
        c->count = (uint32_t)(left < whole ? left : whole);
        c->period = repeats || c->all <= most ? (uint32_t)period : 0;
        ok = build_launch(c, kernel, at, !period ? at : c->period ? 0 : at % period, error);
    }
    return ok;
}

static bool build(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct chain c = {.type = r->type,
                      .operands = 1,
                      .all = (uint64_t)r->value[COUNT],
                      .alpha = (float)r->decimal[ALPHA],
                      .all_period = (uint64_t)r->value[PERIOD]};
    append_functions(&c, r->value[OP]);
    append_functions(&c, r->value[FUSED]);
    if (c.length == 0)
        return kernel_refuse(error, "elementwise: op=NAME or fused=NAME+NAME is missing, of %s", GPU_MATH_WORDS);
    if (c.operands > OPERANDS_MAX)
        return kernel_refuse(error, "elementwise: at most %d functions of two operands in one chain", OPERANDS_MAX - 1);
    if (c.all_period > c.all || (c.all_period && c.all % c.all_period))
        return kernel_refuse(error, "elementwise: n must be a multiple of period");
    add_operands(&c, kernel);
    kernel->flops = (double)c.length * (double)c.all;
    kernel->min_bytes = (double)gpu_type_bytes(r->type, 1) * ((c.all_period ? 2.0 : c.operands + 1.0) * (double)c.all +
                                                              (c.all_period ? (c.operands - 1.0) * (double)c.all_period : 0.0));
    return build_launches(&c, kernel, error);
}

static const struct gpu_kernel_info rows[] = {
    {"elementwise", "N,op=NAME[+NAME...][,fused=NAME+NAME...][,alpha=X][,period=P]", "f32 f16 bf16",
     "out = a chain of functions of a, in f32; two-operand functions take the next array (b, c ...); names: " GPU_MATH_WORDS
     "; alpha: slope of leaky_relu (0.01), scale of elu (1); period: the further arrays have P elements and repeat",
     1, parameters, build},
};
const struct gpu_kernel_family gpu_family_elementwise = {rows, ARRAY_COUNT(rows)};
