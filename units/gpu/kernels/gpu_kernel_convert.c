/* convert: numbers from and to integers with scales, four neighbouring elements per thread where they have one channel, or
 * channels that follow one another; else one. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <stdio.h>

enum { COUNT, FROM, TO, CHANNELS, INNER, BIAS };
enum { NUMBER, U8, I8, I32 }; /* ORDER: WORDS */
#define WORDS "number|u8|i8|i32"
enum { FOUR = 4, GROUP_THREADS = 256 };

static const struct kernel_parameter parameters[] = {
    {.name = "n", .least = 1, .most = GPU_KERNEL_ELEMENTS_MAX, .required = true},
    {.name = "from", .words = WORDS},
    {.name = "to", .words = WORDS},
    {.name = "channels", .missing = 1, .least = 1, .most = GPU_KERNEL_ELEMENTS_MAX},
    {.name = "inner", .missing = 1, .least = 1, .most = GPU_KERNEL_ELEMENTS_MAX},
    {.name = "bias", .least = 0, .most = 1},
    {.name = NULL},
};

struct conversion {
    struct gpu_emit *e;
    enum gpu_type number; /* of what is no integer */
    int64_t from, to;
    uint32_t channels, inner;
    bool has_bias;
    struct gpu_base x, scale, zero, offset, bias, out;
    unsigned data, index, channel, factor, point, more, r; /* four registers each, but for index, channel and r */
};

static enum gpu_type type_of(const struct conversion *c, int64_t word)
{
    return word == NUMBER ? c->number : word == I32 ? GPU_I32 : GPU_U8;
}

/* Parameters of so many channels from c->channel on, as float32. */
static void load_points(struct conversion *c, unsigned count)
{
    const bool whole = c->from != NUMBER || c->to != NUMBER;
    const char *const at = gpu_r(c->e, c->channel);
    gpu_load_raw(c->e, 0, GPU_F32, count, 2 * c->factor, c->scale, at);
    if (c->from != NUMBER)
        gpu_load_raw(c->e, 0, GPU_I32, count, 2 * c->point, c->zero, gpu_r(c->e, c->channel));
    if (c->to != NUMBER)
        gpu_load_raw(c->e, 0, GPU_I32, count, 2 * c->more, c->offset, gpu_r(c->e, c->channel));
    if (c->has_bias)
        gpu_load_raw(c->e, 0, GPU_F32, count, 2 * c->more, c->bias, gpu_r(c->e, c->channel));
    gpu_wait(c->e, 0);
    for (unsigned i = 0; whole && i < count; i++) {
        if (c->from != NUMBER)
            gpu_emit(c->e, "convert s32_to_f, r%u, r%u, rte", c->point + i, c->point + i);
        if (c->to != NUMBER)
            gpu_emit(c->e, "convert s32_to_f, r%u, r%u, rte", c->more + i, c->more + i);
    }
}

/* Bytes lie in halves where the first of the numbers will, so the last come first. */
static void widen(struct conversion *c, unsigned elements)
{
    if (c->from == NUMBER) {
        gpu_widen(c->e, c->number, elements, c->data, 2 * c->data);
        return;
    }
    for (unsigned j = elements; j-- > 0;) {
        if (c->from == I32)
            gpu_emit(c->e, "convert s32_to_f, r%u, r%u, rte", c->data + j, c->data + j);
        else
            gpu_emit(c->e, "convert %s_to_f, r%u, %s, rte", c->from == U8 ? "u8" : "s8", c->data + j,
                     gpu_h(c->e, 2 * c->data + j));
    }
}

/* x / scale: an estimate, held within what integers can be so that no infinity is subtracted from itself, and once corrected. */
static void divide(struct conversion *c, unsigned x, unsigned scale)
{
    const unsigned inverse = c->r, quotient = c->r + 1;
    gpu_emit(c->e, "rcp r%u, r%u", inverse, scale);
    gpu_emit(c->e, "fmul32 r%u, r%u, r%u", quotient, x, inverse);
    gpu_emit(c->e, "fcmpsel gt, r%u, r%u, %s, %s, r%u", quotient, quotient, gpu_float(c->e, 0x1p31F), gpu_float(c->e, 0x1p31F),
             quotient);
    gpu_emit(c->e, "fcmpsel lt, r%u, r%u, %s, %s, r%u", quotient, quotient, gpu_float(c->e, -0x1p31F), gpu_float(c->e, -0x1p31F),
             quotient);
    gpu_emit(c->e, "fmadd32 r%u, r%u.neg, r%u, r%u", x, quotient, scale, x);
    gpu_emit(c->e, "fmadd32 r%u, r%u, r%u, r%u", x, x, inverse, quotient);
}

/* To the nearest integer, limited together with the offset; no number becomes 0. */
static void round_one(struct conversion *c, unsigned x, unsigned offset)
{
    const unsigned most = c->r, whole = c->r + 1;
    if (c->to != I32) {
        const float low = c->to == U8 ? 0 : -128, high = c->to == U8 ? 255 : 127;
        gpu_emit(c->e, "fadd32 r%u, r%u.neg, %s", most, offset, gpu_float(c->e, high));
        gpu_emit(c->e, "fcmpsel gt, r%u, r%u, r%u, r%u, r%u", x, x, most, most, x);
        gpu_emit(c->e, "fadd32 r%u, r%u.neg, %s", most, offset, gpu_float(c->e, low));
        gpu_emit(c->e, "fcmpsel lt, r%u, r%u, r%u, r%u, r%u", x, x, most, most, x);
    }
    gpu_emit(c->e, "convert f_to_s32, r%u, r%u, rte", x, x);
    gpu_emit(c->e, "convert f_to_s32, r%u, r%u, rte", whole, offset);
    gpu_emit(c->e, "iadd r%u, r%u, r%u", x, x, whole);
}

static void compute(struct conversion *c, unsigned elements, bool each)
{
    for (unsigned i = 0; i < elements; i++) {
        const unsigned x = c->data + i, k = each ? i : 0;
        if (c->from == NUMBER) {
            divide(c, x, c->factor + k);
        } else {
            gpu_emit(c->e, "fadd32 r%u, r%u, r%u.neg", x, x, c->point + k);
            if (c->has_bias)
                gpu_emit(c->e, "fmadd32 r%u, r%u, r%u, r%u", x, x, c->factor + k, c->more + k);
            else
                gpu_emit(c->e, "fmul32 r%u, r%u, r%u", x, x, c->factor + k);
        }
        if (c->to != NUMBER)
            round_one(c, x, c->more + k);
    }
}

static void store(struct conversion *c, unsigned elements)
{
    if (c->to == NUMBER)
        gpu_narrow(c->e, c->number, elements, 2 * c->data, c->data, c->r);
    for (unsigned j = 1; j < elements && (c->to == U8 || c->to == I8); j++)
        gpu_emit(c->e, "xor %s, %s, 0", gpu_h(c->e, 2 * c->data + j), gpu_h(c->e, 2 * (c->data + j)));
    gpu_store_raw(c->e, 1, type_of(c, c->to), elements, 2 * c->data, c->out, gpu_r(c->e, c->index));
}

/* Elements from c->index on: of one channel, or with `each` of channels that follow one another. */
static void process(struct conversion *c, unsigned elements, bool each)
{
    gpu_load_raw(c->e, 0, type_of(c, c->from), elements, 2 * c->data, c->x, gpu_r(c->e, c->index));
    load_points(c, each ? elements : 1);
    widen(c, elements);
    compute(c, elements, each);
    store(c, elements);
}

/* c->channel = index / inner % channels */
static void find_channel(struct conversion *c)
{
    if (c->channels == 1) {
        gpu_mov_imm(c->e, c->channel, 0);
    } else if (c->inner == 1) {
        gpu_divide_imm(c->e, GPU_NO_REGISTER, c->channel, c->index, c->channels);
    } else {
        gpu_divide_imm(c->e, c->r, GPU_NO_REGISTER, c->index, c->inner);
        gpu_divide_imm(c->e, GPU_NO_REGISTER, c->channel, c->r, c->channels);
    }
}

static void emit_body(struct conversion *c, uint32_t count)
{
    const bool each = c->inner == 1 && c->channels % FOUR == 0;
    const bool fours = c->channels == 1 || each || c->inner % FOUR == 0;
    const uint32_t whole = fours ? count / FOUR : count, rest = fours ? count % FOUR : 0;
    const unsigned thread = gpu_register(c->e, 1);
    gpu_emit(c->e, "get_sr r%u, sr%d", thread, GPU_SR_GRID_X);
    gpu_shl(c->e, c->index, thread, fours ? 2 : 0);
    find_channel(c);
    if (rest)
        gpu_if(c->e, "ult", gpu_r(c->e, thread), gpu_int(c->e, whole));
    process(c, fours ? FOUR : 1, fours && each);
    if (rest) { /* only where all have one channel */
        gpu_else(c->e);
        gpu_do(c->e);
        process(c, 1, false);
        gpu_wait(c->e, 1);
        gpu_add_imm(c->e, c->index, c->index, 1);
        gpu_while(c->e, "ult", gpu_r(c->e, c->index), gpu_int(c->e, count));
        gpu_endif(c->e);
    }
    gpu_emit_grid(c->e, whole + (rest != 0), 1, 1, GROUP_THREADS, 1, 1);
}

static struct gpu_base add_buffer(struct conversion *c, struct gpu_kernel *kernel, const char *name, enum gpu_type type,
                                  uint64_t count, double low, double high)
{
    return gpu_argument_buffer(c->e, gpu_kernel_add_buffer(kernel, name, type, count, GPU_BUFFER_INPUT, low, high), 0);
}

static void add_buffers(struct conversion *c, struct gpu_kernel *kernel, uint64_t count)
{
    const bool number = c->from == NUMBER;
    c->x = add_buffer(c, kernel, "x", type_of(c, c->from), count, number ? -4 : 0, number ? 4 : 128);
    c->scale = add_buffer(c, kernel, "scale", GPU_F32, c->channels, 0.01, 0.05);
    if (c->from != NUMBER)
        c->zero = add_buffer(c, kernel, "zero", GPU_I32, c->channels, 0, 10);
    if (c->to != NUMBER)
        c->offset = add_buffer(c, kernel, "offset", GPU_I32, c->channels, 0, 10);
    if (c->has_bias)
        c->bias = add_buffer(c, kernel, "bias", GPU_F32, c->channels, -1, 1);
    c->out =
        gpu_argument_buffer(c->e, gpu_kernel_add_buffer(kernel, "out", type_of(c, c->to), count, GPU_BUFFER_OUTPUT, 0, 0), 0);
}

static bool build(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct conversion c = {.number = r->type,
                           .from = r->value[FROM],
                           .to = r->value[TO],
                           .channels = (uint32_t)r->value[CHANNELS],
                           .inner = (uint32_t)r->value[INNER],
                           .has_bias = r->value[BIAS] != 0};
    static const char *const words[] = {NULL, "u8", "i8", "i32"};
    const int64_t count = r->value[COUNT];
    char variant[40];
    if (c.from == NUMBER && c.to == NUMBER)
        return kernel_refuse(error, "convert: from=u8|i8|i32 or to=u8|i8|i32 is missing");
    if (c.has_bias && c.to != NUMBER)
        return kernel_refuse(error, "convert: bias=1 is for results that are no integers");
    if (count % (r->value[CHANNELS] * r->value[INNER]))
        return kernel_refuse(error, "convert: n must be a multiple of channels times inner");
    snprintf(variant, sizeof variant, "convert_%s_as_%s", c.from ? words[c.from] : gpu_type_name(r->type),
             c.to ? words[c.to] : gpu_type_name(r->type));
    c.e = gpu_emit_begin(kernel, variant, error);
    add_buffers(&c, kernel, (uint64_t)count);
    unsigned *const four[] = {&c.data, &c.factor, &c.point, &c.more}, *const few[] = {&c.index, &c.channel};
    for (unsigned i = 0; i < ARRAY_COUNT(four); i++)
        *four[i] = gpu_register(c.e, FOUR);
    for (unsigned i = 0; i < ARRAY_COUNT(few); i++)
        *few[i] = gpu_register(c.e, 1);
    c.r = gpu_register(c.e, 2);
    emit_body(&c, (uint32_t)count);
    kernel->flops = 2 * (double)count;
    kernel->min_bytes =
        (double)(gpu_type_bytes(type_of(&c, c.from), (uint64_t)count) + gpu_type_bytes(type_of(&c, c.to), (uint64_t)count));
    return gpu_emit_end(c.e);
}

static const struct gpu_kernel_info rows[] = {
    {"convert", "N[,from=TYPE][,to=TYPE][,channels=C][,inner=I][,bias=0|1]", "f32 f16 bf16",
     "N numbers as integers (u8, i8, i32) by x / scale + offset, or integers as numbers by (x - zero) scale + bias, or integers "
     "as "
     "integers; element i has the parameters of channel i / I % C",
     1, parameters, build},
};
const struct gpu_kernel_family gpu_family_convert = {rows, ARRAY_COUNT(rows)};
