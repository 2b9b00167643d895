/* elementwise: chains of functions over arrays of any length. */
#include "isa/array_count.h"
#include "units/ane/kernels/ane_fold.h"
#include "units/ane/kernels/ane_function.h"
#include "units/ane/kernels/ane_kernel_family.h"

#include <stdio.h>

enum { COUNT, OP, ALPHA, NUMBER, PERIOD };
enum { WIDTH_MAX = 1024, CHANNELS = 16 /* one per engine */, INPUTS_MAX = ANE_KERNEL_TENSORS - 1 };

#define ELEMENTS_MAX (INT64_C(1) << 31)

static const struct kernel_parameter parameters[] = {
    {.name = "n", .least = 1, .most = ELEMENTS_MAX, .required = true},
    {.name = "op", .words = ANE_FUNCTION_WORDS, .chain = true},
    {.name = "alpha", .missing = 0, .least = -60000, .most = 60000, .decimal = true},
    {.name = "number", .missing = 0, .least = -60000, .most = 60000, .decimal = true},
    {.name = "period", .missing = 0, .least = 1, .most = ELEMENTS_MAX},
    {.name = NULL},
};

struct chain {
    struct ane_function_call call[KERNEL_CHAIN_WORDS];
    unsigned length, inputs;
    bool number; /* binary functions use the number */
    struct ane_fold fold;
    struct ane_view in[INPUTS_MAX], out;
    uint32_t repeats; /* of the second arrays, each a channel of the first; 0 = they are as long as the first */
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
        const uint32_t times = i > 0 && c->repeats ? c->repeats : 1;
        c->in[i] = ane_build_input(b, name, 1, 1, c->fold.height / times, c->fold.width);
        ane_tensor_axis(ane_build_tensor(b, name, ANE_TENSOR_INPUT, &c->in[i], -1, 1), count / times, ANE_HALF_BYTES);
    }
    c->out = ane_build_output(b, "out", 1, 1, c->fold.height, c->fold.width);
    ane_tensor_axis(ane_build_tensor(b, "out", ANE_TENSOR_OUTPUT, &c->out, 0, 0), count, ANE_HALF_BYTES);
}

/* Part `part` of a second array. One that repeats lies in each channel: its planes are no bytes apart. */
static struct ane_view second_view(const struct chain *c, unsigned part, struct ane_view whole)
{
    if (!c->repeats)
        return ane_fold_view(&c->fold, part, whole);
    whole.channels = c->repeats;
    whole.plane = 0;
    return whole;
}

static void write_rows(struct ane_builder *b, const struct chain *c, unsigned part, uint32_t row, uint32_t rows)
{
    const uint32_t mark = ane_build_mark(b);
    struct ane_view x = ane_view_rows(ane_fold_view(&c->fold, part, c->in[0]), row, rows);
    const struct ane_view out = ane_view_rows(ane_fold_view(&c->fold, part, c->out), row, rows);
    unsigned input = 1;
    for (unsigned i = 0; i < c->length && !b->failed; i++) {
        const bool last = i + 1 == c->length;
        const bool second = ane_function_is_binary(c->call[i].function) && !c->number;
        const struct ane_view y = second ? ane_view_rows(second_view(c, part, c->in[input++]), row, rows) : x;
        const struct ane_view result = last ? out : ane_build_between(b, out.channels, out.height, out.width);
        ane_build_function(b, &c->call[i], x, second ? &y : NULL, result);
        x = result;
    }
    if (c->length == 0)
        ane_build_copy(b, x, out);
    ane_build_release(b, mark);
}

/* Rows at once: so many that what lies between functions, a result and what a function keeps beside it, has room in the half of
 * tile memory that is not for tiles. All of them where nothing lies between. */
static uint32_t rows_at_once(const struct ane_builder *b, const struct chain *c, const struct ane_fold_part *part)
{
    const uint64_t row = (uint64_t)part->channels * part->width * ANE_HALF_BYTES;
    const uint64_t rows = row ? b->request->limits.l2_bytes / 4 / row : 0;
    return c->length < 2 || rows == 0 || rows > part->height ? part->height : (uint32_t)rows;
}

static void write_part(struct ane_builder *b, const struct chain *c, unsigned part)
{
    const uint32_t all = c->fold.part[part].height, most = rows_at_once(b, c, &c->fold.part[part]);
    for (uint32_t row = 0; row < all && !b->failed; row += most)
        write_rows(b, c, part, row, most < all - row ? most : all - row);
}

/* Rows so wide that they divide the period, and a channel for each time that it is repeated. */
static void fold_period(struct ane_builder *b, struct chain *c, uint64_t count, uint64_t period)
{
    enum { ROW = ANE_ROW_BYTES / ANE_HALF_BYTES };
    const uint64_t repeats = count / period;
    const uint32_t widest = period / WIDTH_MAX > b->request->limits.dimension_max ? b->request->limits.dimension_max : WIDTH_MAX;
    uint32_t width = widest / ROW * ROW;
    while (width > ROW && period % width != 0)
        width -= ROW;
    if (count % period != 0 || period % ROW != 0)
        ane_build_limit(b, "a period of %llu elements of %llu: arrays repeat in whole rows of %d bytes",
                        (unsigned long long)period, (unsigned long long)count, ANE_ROW_BYTES);
    else if (repeats > b->request->limits.channels_max || period / width > b->request->limits.dimension_max)
        ane_build_limit(b, "an array of %llu elements %llu times: %s has at most %u channels of %u rows",
                        (unsigned long long)period, (unsigned long long)repeats, ane_build_generation(b),
                        (unsigned)b->request->limits.channels_max, (unsigned)b->request->limits.dimension_max);
    if (b->failed)
        return;
    c->repeats = (uint32_t)repeats;
    c->fold = (struct ane_fold){.width = width, .height = (uint32_t)(count / width), .parts = 1};
    c->fold.part[0] = (struct ane_fold_part){0, c->repeats, (uint32_t)(period / width), width};
}

static bool build(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const uint64_t count = (uint64_t)q->value[COUNT], period = (uint64_t)q->value[PERIOD];
    struct chain c = {.length = 0};
    struct ane_builder b;
    read_functions(q, &c);
    if (c.inputs > INPUTS_MAX)
        return kernel_refuse(error, "elementwise: at most %d arrays", INPUTS_MAX);
    c.fold = ane_fold_elements(count, WIDTH_MAX, CHANNELS);
    if (c.fold.height > q->limits.dimension_max)
        c.fold = ane_fold_elements(count, q->limits.dimension_max, CHANNELS);
    ane_build_begin(&b, q, kernel, 1, error);
    if (period && period != count)
        fold_period(&b, &c, count, period);
    if (!b.failed)
        add_tensors(&b, &c, count);
    for (unsigned part = 0; part < c.fold.parts && !b.failed; part++)
        write_part(&b, &c, part);
    kernel->flops = (double)c.length * (double)count;
    snprintf(kernel->variant, sizeof kernel->variant, "%ux%ux%u, %zu descriptors", (unsigned)c.fold.part[0].channels,
             (unsigned)c.fold.part[0].height, (unsigned)c.fold.part[0].width, b.count);
    return ane_build_end(&b);
}

static const struct ane_kernel_info rows[] = {
    {"elementwise", "N,op=NAME[+NAME...][,alpha=X][,number=X][,period=N]",
     "out = a chain of functions of a; two-operand functions take the next array (b, c ...) or the number; "
     "names: " ANE_FUNCTION_WORDS "; period: elements after which b begins again, a multiple of 32"
     "; alpha: slope of leaky_relu (0.01) and hard_sigmoid (1/6), scale of elu (1), bound of hardtanh (1)",
     1, parameters, build},
};
const struct ane_kernel_family ane_family_elementwise = {rows, ARRAY_COUNT(rows)};
