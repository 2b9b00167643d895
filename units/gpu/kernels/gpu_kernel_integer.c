/* integer, compare and select: whole numbers of 8, 32 and 64 bits, and their answers. Four neighbouring elements per
 * thread, of 64 bits two, which lie in pairs of registers; one more thread does the rest one by one. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_whole.h"

#include <stdio.h>

enum { ADD, SUB, MUL, MIN, MAX, AND, OR, XOR, DIV, MOD, REM, SHL, SHR };
#define INTEGER_OPS "add|sub|mul|min|max|and|or|xor|div|mod|rem|shl|shr" /* ORDER: above */
enum { EQ, LT, LE, GT, GE };
#define COMPARE_OPS "eq|lt|le|gt|ge" /* ORDER: above */
enum { SINGLE_NONE, SINGLE_A, SINGLE_B, SINGLE_BOTH };
enum { COUNT, OP, OF, PERIOD, SELECT_OF = 1, SELECT_SINGLE };
enum { GROUP_THREADS = 256 };

#define PAIR_PARAMETERS(ops)                                                                                                     \
    {.name = "n", .least = 1, .most = GPU_KERNEL_ELEMENTS_MAX / 2, .required = true}, {.name = "op", .words = ops},              \
        {.name = "of", .words = TYPES}, {.name = "period", .least = 0, .most = GPU_KERNEL_ELEMENTS_MAX / 2},                     \
    {                                                                                                                            \
        .name = NULL                                                                                                             \
    }
static const struct kernel_parameter integer_parameters[] = {PAIR_PARAMETERS(INTEGER_OPS)};
static const struct kernel_parameter compare_parameters[] = {PAIR_PARAMETERS(COMPARE_OPS)};
static const struct kernel_parameter select_parameters[] = {
    {.name = "n", .least = 1, .most = GPU_KERNEL_ELEMENTS_MAX / 2, .required = true},
    {.name = "of", .words = TYPES},
    {.name = "single", .words = "none|a|b|both"},
    {.name = NULL},
};

static enum gpu_type type_of(const struct whole *w, int64_t of)
{
    return of == NUMBER ? w->number : of == SINGLE ? GPU_F32 : of == I32 || of == I64 ? GPU_I32 : GPU_U8;
}

static bool is_narrow(enum gpu_type type)
{
    return type == GPU_U8 || type == GPU_F16 || type == GPU_BF16;
}

/* ---- memory ---- */

/* Halves, which bytes come in as well, become words; the last ones first, because they lie in the same registers. */
static void widen(const struct whole *w, const struct operand *o, unsigned elements)
{
    const enum gpu_type type = type_of(w, o->of);
    if (o->of == NUMBER && !o->as_bits)
        gpu_widen(w->e, type, elements, o->data, 2 * o->data);
    for (unsigned j = elements; j-- > 0 && (o->of != NUMBER || o->as_bits) && is_narrow(type);)
        gpu_emit(w->e, "xor r%u, %s, 0", o->data + j, gpu_h(w->e, 2 * o->data + j));
}

/* `elements` from `place` on into the operand's registers from element `first` on. */
static void load_at(const struct whole *w, const struct operand *o, unsigned first, unsigned elements, unsigned place)
{
    const unsigned width = width_of(o->of), to = o->data + first * width;
    if (width == 2)
        gpu_shl(w->e, w->r, place, 1);
    gpu_load_raw(w->e, 0, type_of(w, o->of), elements * width, 2 * to, o->base, gpu_r(w->e, width == 2 ? w->r : place));
    gpu_wait(w->e, 0);
}

/* Neighbours one by one, where the operand may begin again between them. */
static void load_each(const struct whole *w, const struct operand *o, unsigned elements)
{
    const unsigned width = width_of(o->of);
    for (unsigned i = 0; i < elements; i++) {
        struct operand one = *o;
        one.data = o->data + i * width;
        load_at(w, &one, 0, 1, w->place);
        widen(w, &one, 1);
        gpu_add_imm(w->e, w->place, w->place, 1);
        gpu_emit(w->e, "icmpsel ueq, r%u, r%u, %s, 0, r%u", w->place, w->place, gpu_int(w->e, o->period), w->place);
    }
}

static void load(const struct whole *w, const struct operand *o, unsigned elements)
{
    const unsigned width = width_of(o->of);
    if (o->period == 1) {
        gpu_mov_imm(w->e, w->place, 0);
        load_at(w, o, 0, 1, w->place);
        widen(w, o, 1);
        for (unsigned i = width; i < elements * width; i++)
            gpu_mov(w->e, o->data + i, o->data + i % width);
        return;
    }
    if (o->period)
        gpu_divide_imm(w->e, GPU_NO_REGISTER, w->place, w->index, o->period);
    if (o->period && o->period % elements) {
        load_each(w, o, elements);
        return;
    }
    load_at(w, o, 0, elements, o->period ? w->place : w->index);
    widen(w, o, elements);
}

static void store(const struct whole *w, unsigned elements)
{
    const struct operand *const o = &w->out;
    const enum gpu_type type = type_of(w, o->of);
    const unsigned width = width_of(o->of);
    if (o->of == NUMBER && !o->as_bits)
        gpu_narrow(w->e, type, elements, 2 * o->data, o->data, w->r);
    for (unsigned j = 1; j < elements && (o->of != NUMBER || o->as_bits) && is_narrow(type); j++)
        gpu_emit(w->e, "xor %s, %s, 0", gpu_h(w->e, 2 * o->data + j), gpu_h(w->e, 2 * (o->data + j)));
    if (width == 2)
        gpu_shl(w->e, w->r, w->index, 1);
    gpu_store_raw(w->e, 1, type, elements * width, 2 * o->data, o->base, gpu_r(w->e, width == 2 ? w->r : w->index));
}

static void process(struct whole *w, unsigned elements)
{
    for (unsigned k = 0; k < w->inputs; k++)
        load(w, &w->in[k], elements);
    for (unsigned i = 0; i < elements; i++)
        w->compute(w, i);
    store(w, elements);
}

/* Any operand of 64 bits halves what a thread takes. */
static unsigned elements_of_thread(const struct whole *w)
{
    bool wide = w->out.of == I64;
    for (unsigned k = 0; k < w->inputs; k++)
        wide |= w->in[k].of == I64;
    return wide ? FOUR / 2 : FOUR;
}

static void emit_body(struct whole *w, uint32_t count)
{
    const unsigned each = elements_of_thread(w), thread = gpu_register(w->e, 1);
    const uint32_t whole = count / each, rest = count % each;
    gpu_emit(w->e, "get_sr r%u, sr%d", thread, GPU_SR_GRID_X);
    gpu_shl(w->e, w->index, thread, each == FOUR ? 2 : 1);
    if (rest)
        gpu_if(w->e, "ult", gpu_r(w->e, thread), gpu_int(w->e, whole));
    process(w, each);
    if (rest) {
        gpu_else(w->e);
        gpu_do(w->e);
        process(w, 1);
        gpu_wait(w->e, 1);
        gpu_add_imm(w->e, w->index, w->index, 1);
        gpu_while(w->e, "ult", gpu_r(w->e, w->index), gpu_int(w->e, count));
        gpu_endif(w->e);
    }
    gpu_emit_grid(w->e, whole + (rest != 0), 1, 1, GROUP_THREADS, 1, 1);
}

/* ---- building ---- */

static void add_operand(struct whole *w, struct gpu_kernel *kernel, struct operand *o, const char *name, uint64_t count)
{
    const enum gpu_type type = type_of(w, o->of);
    const bool result = o == &w->out, byte = type == GPU_U8, number = o->of == NUMBER || o->of == SINGLE;
    const double low = number ? -1 : byte ? 0 : -9, high = number ? 1 : byte ? 3 : 10;
    const uint64_t all = (o->period ? o->period : count) * width_of(o->of);
    o->base = gpu_argument_buffer(
        w->e, gpu_kernel_add_buffer(kernel, name, type, all, result ? GPU_BUFFER_OUTPUT : GPU_BUFFER_INPUT, low, high), 0);
    o->data = gpu_register(w->e, FOUR);
    kernel->min_bytes += (double)gpu_type_bytes(type, all);
}

bool gpu_whole_build(struct whole *w, const struct gpu_kernel_request *r, struct gpu_kernel *kernel, const char *variant,
                     const char *const *names, struct isa_error *error)
{
    const int64_t count = r->value[COUNT];
    w->e = gpu_emit_begin(kernel, variant, error);
    for (unsigned k = 0; k < w->inputs; k++)
        add_operand(w, kernel, &w->in[k], names[k], (uint64_t)count);
    add_operand(w, kernel, &w->out, "out", (uint64_t)count);
    w->index = gpu_register(w->e, 1);
    w->place = gpu_register(w->e, 1);
    w->r = gpu_register(w->e, FOUR);
    w->own = w->owns ? gpu_register(w->e, w->owns) : GPU_NO_REGISTER;
    emit_body(w, (uint32_t)count);
    kernel->flops = (double)count;
    return gpu_emit_end(w->e);
}

const char *gpu_whole_name(const struct gpu_kernel_request *r, int64_t of)
{
    static const char *const names[] = {NULL, "u8", "i32", "i64", "bool", "f32"};
    return of == NUMBER ? gpu_type_name(r->type) : names[of];
}

static const char *const pair_names[] = {"a", "b"};

static bool begin_pair(struct whole *w, const struct gpu_kernel_request *r, struct isa_error *error)
{
    const int64_t count = r->value[COUNT], period = r->value[PERIOD];
    *w = (struct whole){.number = r->type, .op = r->value[OP], .inputs = 2};
    w->in[0].of = w->in[1].of = r->value[OF];
    w->in[1].period = (uint32_t)period;
    return !period || (period <= count && count % period == 0) ||
           kernel_refuse(error, "%s: n must be a multiple of period", r->info->name);
}

/* ---- arithmetic ---- */

/* r0 = 1 where the element of a is below that of b, both with a sign. */
static void emit_less(const struct whole *w, unsigned a, unsigned b, bool wide)
{
    if (!wide) {
        gpu_emit(w->e, "icmpsel slt, r%u, r%u, r%u, 1, 0", w->r, a, b);
        return;
    }
    gpu_emit(w->e, "icmpsel ult, r%u, r%u, r%u, 1, 0", w->r, a, b);
    gpu_emit(w->e, "icmpsel slt, r%u, r%u, r%u, 1, 0", w->r + 1, a + 1, b + 1);
    gpu_emit(w->e, "icmpsel ueq, r%u, r%u, r%u, r%u, r%u", w->r, a + 1, b + 1, w->r, w->r + 1);
}

/* The low words' product of 64 bits, and both crosswise products above it. */
static void multiply_wide(const struct whole *w, unsigned a, unsigned b, unsigned to)
{
    gpu_emit(w->e, "imadd r%u_r%u, r%u, r%u, 0", w->r, w->r + 1, a, b);
    gpu_emit(w->e, "imadd r%u, r%u, r%u, r%u", w->r + 1, a + 1, b, w->r + 1);
    gpu_emit(w->e, "imadd r%u, r%u, r%u, r%u", to + 1, a, b + 1, w->r + 1);
    gpu_mov(w->e, to, w->r);
}

static void compute_integer(struct whole *w, unsigned element)
{
    static const char *const bits[] = {"and", "or", "xor"};
    const unsigned width = width_of(w->out.of), a = w->in[0].data + element * width, b = w->in[1].data + element * width;
    const unsigned to = w->out.data + element * width;
    const bool wide = width == 2;
    if (w->op == SHL || w->op == SHR) {
        gpu_whole_shift(w, w->op == SHL, a, b, to);
        return;
    }
    if (w->op >= DIV) {
        gpu_whole_divide(w, GPU_WHOLE_QUOTIENT + (enum gpu_whole_part)(w->op - DIV), a, b, to);
        return;
    }
    if (w->op == MIN || w->op == MAX)
        emit_less(w, a, b, wide);
    if (w->op == MUL && wide) {
        multiply_wide(w, a, b, to);
        return;
    }
    if ((w->op == ADD || w->op == SUB) && wide) {
        gpu_emit(w->e, "%s r%u_r%u, r%u_r%u, r%u_r%u", w->op == ADD ? "iadd" : "isub", to, to + 1, a, a + 1, b, b + 1);
        return;
    }
    for (unsigned k = 0; k < width; k++) {
        if (w->op == ADD || w->op == SUB)
            gpu_emit(w->e, "%s r%u, r%u, r%u", w->op == ADD ? "iadd" : "isub", to, a, b);
        else if (w->op == MUL)
            gpu_emit(w->e, "imadd r%u, r%u, r%u, 0", to, a, b);
        else if (w->op == MIN || w->op == MAX)
            gpu_emit(w->e, "icmpsel ueq, r%u, r%u, %d, r%u, r%u", to + k, w->r, w->op == MIN, a + k, b + k);
        else
            gpu_emit(w->e, "%s r%u, r%u, r%u", bits[w->op - AND], to + k, a + k, b + k);
    }
}

static bool build_integer(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    static const char *const names[] = {"add", "sub", "mul", "min", "max", "and", "or", "xor", "div", "mod", "rem", "shl", "shr"};
    struct whole w;
    char variant[40];
    if (r->value[OF] == NUMBER)
        return kernel_refuse(error, "integer: of=u8|i32|i64 is missing; numbers are elementwise's");
    if (!begin_pair(&w, r, error))
        return false;
    w.out.of = r->value[OF];
    w.compute = compute_integer;
    w.owns = w.op >= DIV ? GPU_WHOLE_OWN : 0;
    snprintf(variant, sizeof variant, "%s_%s", names[w.op], gpu_whole_name(r, w.out.of));
    return gpu_whole_build(&w, r, kernel, variant, pair_names, error);
}

/* ---- comparisons ---- */

static void compute_compare(struct whole *w, unsigned element)
{
    static const char *const numbers[] = {"eq", "lt", "lte", "gt", "gte"}; /* ORDER: COMPARE_OPS; no NaN is any of these */
    const int64_t of = w->in[0].of;
    const unsigned width = width_of(of), a = w->in[0].data + element * width, b = w->in[1].data + element * width;
    const unsigned to = w->out.data + element;
    if (of == NUMBER) {
        gpu_emit(w->e, "fcmpsel %s, r%u, r%u, r%u, 1, 0", numbers[w->op], to, a, b);
    } else if (w->op == EQ) {
        gpu_emit(w->e, "xor r%u, r%u, r%u", w->r, a, b);
        if (width == 2) {
            gpu_emit(w->e, "xor r%u, r%u, r%u", w->r + 1, a + 1, b + 1);
            gpu_emit(w->e, "or r%u, r%u, r%u", w->r, w->r, w->r + 1);
        }
        gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, 1, 0", to, w->r);
    } else {
        const bool swapped = w->op == GT || w->op == LE, not = w->op == LE || w->op == GE;
        emit_less(w, swapped ? b : a, swapped ? a : b, width == 2);
        gpu_emit(w->e, "xor r%u, r%u, %d", to, w->r, not );
    }
}

static bool build_compare(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    static const char *const names[] = {"eq", "lt", "le", "gt", "ge"};
    struct whole w;
    char variant[40];
    if (!begin_pair(&w, r, error))
        return false;
    w.out.of = U8;
    w.compute = compute_compare;
    snprintf(variant, sizeof variant, "%s_%s", names[w.op], gpu_whole_name(r, r->value[OF]));
    return gpu_whole_build(&w, r, kernel, variant, pair_names, error);
}

/* ---- choices ---- */

static void compute_select(struct whole *w, unsigned element)
{
    const unsigned width = width_of(w->out.of), condition = w->in[0].data + element;
    for (unsigned k = 0; k < width; k++) {
        const unsigned at = element * width + k;
        gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", w->out.data + at, condition, w->in[2].data + at, w->in[1].data + at);
    }
}

static bool build_select(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    static const char *const names[] = {"condition", "a", "b"};
    const int64_t of = r->value[SELECT_OF], single = r->value[SELECT_SINGLE];
    struct whole w = {.number = r->type, .inputs = 3, .compute = compute_select};
    char variant[40];
    w.in[0].of = U8;
    w.in[1] = (struct operand){.of = of, .period = single == SINGLE_A || single == SINGLE_BOTH, .as_bits = true};
    w.in[2] = (struct operand){.of = of, .period = single == SINGLE_B || single == SINGLE_BOTH, .as_bits = true};
    w.out = (struct operand){.of = of, .as_bits = true};
    snprintf(variant, sizeof variant, "select_%s", gpu_whole_name(r, of));
    return gpu_whole_build(&w, r, kernel, variant, names, error);
}

static const struct gpu_kernel_info rows[] = {
    {"integer", "N,of=u8|i32|i64[,op=add|sub|mul|min|max|and|or|xor|div|mod|rem|shl|shr][,period=P]", "f32 f16 bf16",
     "N whole numbers a op b, which wrap as their type does; what divides by 0 is 0; b may begin again after P", 1,
     integer_parameters, build_integer},
    {"compare", "N[,of=number|u8|i32|i64][,op=eq|lt|le|gt|ge][,period=P]", "f32 f16 bf16",
     "N bytes, 1 where a op b holds and 0 elsewhere; b may begin again after P", 1, compare_parameters, build_compare},
    {"select", "N[,of=number|u8|i32|i64][,single=none|a|b|both]", "f32 f16 bf16",
     "N elements: a where the condition's byte is not 0, else b; either may be one for all", 1, select_parameters, build_select},
};
const struct gpu_kernel_family gpu_family_integer = {rows, ARRAY_COUNT(rows)};
