/* elementwise: chains of functions over arrays of any length. */
#include "isa/array_count.h"
#include "units/ane/kernels/ane_fold.h"
#include "units/ane/kernels/ane_function.h"
#include "units/ane/kernels/ane_kernel_family.h"

#include <stdio.h>

enum { COUNT, OP, ALPHA, NUMBER };
enum { WIDTH_MAX = 1024, CHANNELS = 16 /* one per engine */, INPUTS_MAX = ANE_KERNEL_TENSORS - 1 };

#define ELEMENTS_MAX (INT64_C(1) << 31)

static const struct kernel_parameter parameters[] = {
    {.name = "n", .least = 1, .most = ELEMENTS_MAX, .required = true},
    {.name = "op", .words = ANE_FUNCTION_WORDS, .chain = true},
    {.name = "alpha", .missing = 0, .least = -60000, .most = 60000, .decimal = true},
    {.name = "number", .missing = 0, .least = -60000, .most = 60000, .decimal = true},
    {.name = NULL},
};

struct chain {
    struct ane_function_call call[KERNEL_CHAIN_WORDS];
    unsigned length, inputs;
    bool number; /* binary functions use the number */
    struct ane_fold fold;
    struct ane_view in[INPUTS_MAX], out;
};

static void read_functions(const struct ane_kernel_request *q, struct chain *c)
{
    c->number = q->decimal[NUMBER] != 0;
    c->inputs = 1;
    for (int64_t words = q->value[OP]; words; words >>= KERNEL_CHAIN_BITS) {
        const enum ane_function function = (enum ane_function)((words & ((1 << KERNEL_CHAIN_BITS) - 1)) - 1);
        struct ane_function_call *last = c->length ? &c->call[c->length - 1] : NULL;
        if (function == ANE_FUNCTION_RELU && last && ane_function_takes_relu(last->function, c->number) && !last->then_relu) {
            last->then_relu = true;
            continue;
        }
        c->inputs += ane_function_is_binary(function) && !c->number;
        c->call[c->length++] = (struct ane_function_call){function, q->decimal[ALPHA], (float)q->decimal[NUMBER], false};
    }
}

static void add_tensors(struct ane_builder *b, struct chain *c, uint64_t count)
{
    for (unsigned i = 0; i < c->inputs; i++) {
        const char name[2] = {(char)('a' + i), '\0'};
        c->in[i] = ane_build_input(b, name, 1, 1, c->fold.height, c->fold.width);
        ane_tensor_axis(ane_build_tensor(b, name, ANE_TENSOR_INPUT, &c->in[i], -1, 1), count, ANE_HALF_BYTES);
    }
    c->out = ane_build_output(b, "out", 1, 1, c->fold.height, c->fold.width);
    ane_tensor_axis(ane_build_tensor(b, "out", ANE_TENSOR_OUTPUT, &c->out, 0, 0), count, ANE_HALF_BYTES);
}

static void write_part(struct ane_builder *b, const struct chain *c, unsigned part)
{
    const uint32_t mark = ane_build_mark(b);
    struct ane_view x = ane_fold_view(&c->fold, part, c->in[0]);
    const struct ane_view out = ane_fold_view(&c->fold, part, c->out);
    unsigned input = 1;
    for (unsigned i = 0; i < c->length && !b->failed; i++) {
        const bool last = i + 1 == c->length;
        const bool second = ane_function_is_binary(c->call[i].function) && !c->number;
        const struct ane_view y = second ? ane_fold_view(&c->fold, part, c->in[input++]) : x;
        const struct ane_view result = last ? out : ane_build_between(b, out.channels, out.height, out.width);
        ane_build_function(b, &c->call[i], x, second ? &y : NULL, result);
        x = result;
    }
    if (c->length == 0)
        ane_build_copy(b, x, out);
    ane_build_release(b, mark);
}

static bool build(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const uint64_t count = (uint64_t)q->value[COUNT];
    struct chain c = {.length = 0};
    struct ane_builder b;
    read_functions(q, &c);
    if (c.inputs > INPUTS_MAX)
        return kernel_refuse(error, "elementwise: at most %d arrays", INPUTS_MAX);
    c.fold = ane_fold_elements(count, WIDTH_MAX, CHANNELS);
    if (c.fold.height > q->limits.dimension_max)
        c.fold = ane_fold_elements(count, q->limits.dimension_max, CHANNELS);
    ane_build_begin(&b, q, kernel, 1, error);
    add_tensors(&b, &c, count);
    for (unsigned part = 0; part < c.fold.parts && !b.failed; part++)
        write_part(&b, &c, part);
    kernel->flops = (double)c.length * (double)count;
    snprintf(kernel->variant, sizeof kernel->variant, "%ux%ux%u, %zu descriptors", (unsigned)c.fold.part[0].channels,
             (unsigned)c.fold.part[0].height, (unsigned)c.fold.part[0].width, b.count);
    return ane_build_end(&b);
}

static const struct ane_kernel_info rows[] = {
    {"elementwise", "N,op=NAME[+NAME...][,alpha=X][,number=X]",
     "out = a chain of functions of a; two-operand functions take the next array (b, c ...) or the number; "
     "names: " ANE_FUNCTION_WORDS
     "; alpha: slope of leaky_relu (0.01) and hard_sigmoid (1/6), scale of elu (1), bound of hardtanh (1)",
     1, parameters, build},
};
const struct ane_kernel_family ane_family_elementwise = {rows, ARRAY_COUNT(rows)};
