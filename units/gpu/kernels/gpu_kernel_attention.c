/* attention, in one pass or as two products with a softmax between them; rope. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_attention.h"
#include "units/gpu/kernels/gpu_gemm.h"
#include "units/gpu/kernels/gpu_kernel_family.h"
#include "units/gpu/kernels/gpu_math.h"

#include <math.h>
#include <stdio.h>

enum { BATCH, HEADS, LENGTH, DEPTH, CAUSAL, KV_HEADS, VARIANT };
enum { FLASH, NAIVE };
enum { LANES = 32, ROW_SIMDGROUPS = 4 };

static const struct kernel_parameter parameters[] = {
    {.name = "b", .missing = 1, .least = 1, .most = 1 << 24},
    {.name = "h", .least = 1, .most = 4096, .required = true},
    {.name = "s", .least = 1, .most = 1 << 24, .required = true},
    {.name = "d", .least = 1, .most = 4096, .required = true},
    {.name = "causal", .least = 0, .most = 1},
    {.name = "kvh", .missing = 0, .least = 0, .most = 4096},
    {.name = "variant", .missing = FLASH, .words = "flash|naive"},
    {.name = NULL},
};

/* ---- softmax of the scores, in place: a simdgroup per row, three passes ---- */

struct softmax {
    struct gpu_emit *e;
    enum gpu_type type;
    struct gpu_base base;
    unsigned lane, start, limit, column, index, value, largest, sum;
};

static void pass_begin(struct softmax *s)
{
    gpu_mov(s->e, s->column, s->lane);
    gpu_if(s->e, "ult", gpu_r(s->e, s->column), gpu_r(s->e, s->limit));
    gpu_do(s->e);
    gpu_emit(s->e, "iadd r%u, r%u, r%u", s->index, s->start, s->column);
    gpu_load_element(s->e, 0, s->type, s->value, s->base, gpu_r(s->e, s->index));
}

static void pass_end(struct softmax *s)
{
    gpu_add_imm(s->e, s->column, s->column, LANES);
    gpu_while(s->e, "ult", gpu_r(s->e, s->column), gpu_r(s->e, s->limit));
    gpu_endif(s->e);
}

/* value = e^(value - largest) */
static void exponential(struct softmax *s)
{
    gpu_emit(s->e, "fadd32 r%u, r%u, r%u.neg", s->value, s->value, s->largest);
    gpu_emit(s->e, "fmul32 r%u, r%u, %s", s->value, s->value, gpu_float(s->e, 1.44269504F));
    gpu_emit(s->e, "exp2 r%u, r%u", s->value, s->value);
}

static void softmax_passes(struct softmax *s)
{
    gpu_mov_imm(s->e, s->largest, f32_bits(-INFINITY));
    pass_begin(s);
    gpu_emit(s->e, "fcmpsel gtn, r%u, r%u, r%u, r%u, r%u", s->largest, s->largest, s->value, s->largest, s->value);
    pass_end(s);
    gpu_simd_reduce(s->e, "fmax", s->largest, s->largest);
    gpu_mov_imm(s->e, s->sum, 0);
    pass_begin(s);
    exponential(s);
    gpu_emit(s->e, "fadd32 r%u, r%u, r%u", s->sum, s->sum, s->value);
    pass_end(s);
    gpu_simd_reduce(s->e, "fadd", s->sum, s->sum);
    gpu_emit(s->e, "rcp r%u, r%u", s->sum, s->sum);
    pass_begin(s);
    exponential(s);
    gpu_emit(s->e, "fmul32 r%u, r%u, r%u", s->value, s->value, s->sum);
    gpu_store_element(s->e, 1, s->type, s->value, s->base, gpu_r(s->e, s->index));
    pass_end(s);
}

/* Gives weight 0 to what a causal row does not see. */
static void clear_unseen(struct softmax *s, uint32_t length)
{
    gpu_emit(s->e, "iadd r%u, r%u, r%u", s->column, s->limit, s->lane);
    gpu_mov_imm(s->e, s->value, 0);
    gpu_if(s->e, "ult", gpu_r(s->e, s->column), gpu_int(s->e, length));
    gpu_do(s->e);
    gpu_emit(s->e, "iadd r%u, r%u, r%u", s->index, s->start, s->column);
    gpu_store_raw(s->e, 1, s->type, 1, 2 * s->value, s->base, gpu_r(s->e, s->index));
    gpu_add_imm(s->e, s->column, s->column, LANES);
    gpu_while(s->e, "ult", gpu_r(s->e, s->column), gpu_int(s->e, length));
    gpu_endif(s->e);
}

static bool build_softmax(const struct gpu_attention *a, unsigned scores, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint32_t rows = a->batch * a->heads * a->length;
    struct softmax s = {.type = a->type};
    s.e = gpu_emit_begin(kernel, "attention_softmax_rows", error);
    s.base = gpu_argument_buffer(s.e, scores, 0);
    unsigned *const registers[] = {&s.lane, &s.start, &s.limit, &s.column, &s.index, &s.value, &s.largest, &s.sum};
    for (unsigned i = 0; i < ARRAY_COUNT(registers); i++)
        *registers[i] = gpu_register(s.e, 1);
    gpu_emit(s.e, "get_sr r%u, sr%d", s.lane, GPU_SR_LANE);
    gpu_emit(s.e, "get_sr r%u, sr%d", s.start, GPU_SR_GROUP_X);
    gpu_emit(s.e, "get_sr r%u, sr%d", s.column, GPU_SR_SIMDGROUP);
    gpu_mad_imm(s.e, s.start, s.start, ROW_SIMDGROUPS, s.column);
    gpu_if(s.e, "ult", gpu_r(s.e, s.start), gpu_int(s.e, rows));
    gpu_mov_imm(s.e, s.limit, a->length);
    if (a->causal) {
        gpu_divide_imm(s.e, GPU_NO_REGISTER, s.limit, s.start, a->length);
        gpu_add_imm(s.e, s.limit, s.limit, 1);
    }
    gpu_mad_imm(s.e, s.start, s.start, a->length, GPU_NO_REGISTER);
    softmax_passes(&s);
    if (a->causal)
        clear_unseen(&s, a->length);
    gpu_endif(s.e);
    const uint32_t threads = LANES * ROW_SIMDGROUPS;
    gpu_emit_grid(s.e, (rows + ROW_SIMDGROUPS - 1) / ROW_SIMDGROUPS * threads, 1, 1, threads, 1, 1);
    return gpu_emit_end(s.e);
}

/* ---- attention ---- */

static bool build_naive(const struct gpu_attention *a, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint32_t batch = a->batch * a->heads, tiles = 4;
    const unsigned scores =
        gpu_kernel_add_buffer(kernel, "scores", a->type, (uint64_t)batch * a->length * a->length, GPU_BUFFER_SCRATCH, 0, 0);
    const struct gpu_gemm first = {
        .m = a->length,
        .n = a->length,
        .k = a->depth,
        .batch = batch,
        .share_b = a->heads / a->kv_heads,
        .split = 1,
        .transposed_b = true,
        .type = a->type,
        .alpha = (float)(1 / sqrt((double)a->depth)),
        .row_tiles = tiles,
        .column_tiles = 4,
        .a = a->q,
        .b = a->k,
        .c = scores,
    };
    const struct gpu_gemm second = {
        .m = a->length,
        .n = a->depth,
        .k = a->length,
        .batch = batch,
        .share_b = a->heads / a->kv_heads,
        .split = 1,
        .type = a->type,
        .alpha = 1,
        .row_tiles = tiles,
        .column_tiles = a->depth > 32 ? 4 : 2,
        .a = scores,
        .b = a->v,
        .c = a->out,
    };
    return gpu_gemm_build(&first, kernel, error) && build_softmax(a, scores, kernel, error) &&
           gpu_gemm_build(&second, kernel, error);
}

static bool check(const struct gpu_attention *a, bool flash, struct isa_error *error)
{
    const uint64_t most = (uint64_t)GPU_KERNEL_ELEMENTS_MAX, rows = (uint64_t)a->batch * a->heads * a->length;
    if (a->kv_heads > a->heads || a->heads % a->kv_heads)
        return kernel_refuse(error, "attention: h = %u is no multiple of kvh = %u", (unsigned)a->heads, (unsigned)a->kv_heads);
    if (flash && (a->depth % 4 || a->depth > GPU_ATTENTION_DEPTH_MAX))
        return kernel_refuse(error, "attention: variant=flash takes d that is a multiple of 4 up to %d; variant=naive takes any",
                             GPU_ATTENTION_DEPTH_MAX);
    if (rows > most || rows * a->depth > most || (!flash && rows * a->length > most))
        return kernel_refuse(error, "attention: an operand has more than 2^31 - 1 elements");
    return true;
}

/* The number of products of queries with the keys that they see. */
static double pairs(const struct gpu_attention *a)
{
    const double s = a->length;
    return (double)a->batch * a->heads * (a->causal ? s * (s + 1) / 2 : s * s);
}

static bool build_attention(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct gpu_attention a = {
        .batch = (uint32_t)r->value[BATCH],
        .heads = (uint32_t)r->value[HEADS],
        .length = (uint32_t)r->value[LENGTH],
        .depth = (uint32_t)r->value[DEPTH],
        .causal = r->value[CAUSAL],
        .type = r->type,
        .kv_heads = (uint32_t)(r->value[KV_HEADS] ? r->value[KV_HEADS] : r->value[HEADS]),
    };
    const bool flash = r->value[VARIANT] == FLASH;
    if (!check(&a, flash, error))
        return false;
    const uint64_t elements = (uint64_t)a.batch * a.heads * a.length * a.depth, kv = elements / a.heads * a.kv_heads;
    a.q = gpu_kernel_add_buffer(kernel, "q", a.type, elements, GPU_BUFFER_INPUT, -1, 1);
    a.k = gpu_kernel_add_buffer(kernel, "k", a.type, kv, GPU_BUFFER_INPUT, -1, 1);
    a.v = gpu_kernel_add_buffer(kernel, "v", a.type, kv, GPU_BUFFER_INPUT, -1, 1);
    a.out = gpu_kernel_add_buffer(kernel, "out", a.type, elements, GPU_BUFFER_OUTPUT, 0, 0);
    kernel->macs = 2 * pairs(&a) * a.depth;
    kernel->flops = 2 * kernel->macs;
    kernel->min_bytes = 2 * (double)gpu_type_bytes(a.type, elements + kv);
    return flash ? gpu_attention_build(&a, kernel, error) : build_naive(&a, kernel, error);
}

/* ---- rope ---- */

enum { ROPE_BATCH, ROPE_HEADS, ROPE_LENGTH, ROPE_DEPTH, ROPE_BASE, ROPE_OFFSET, ROPE_STYLE, ROPE_ORDER, ROPE_PART, ROPE_SCALES };
enum { HALVES, INTERLEAVED };
/* The sine and cosine of gpu_math are accurate up to 8192 radians, and the fastest pair turns by one radian per position. */
enum { ROPE_POSITIONS = 8192, ROPE_GROUP = 128 };

static const struct kernel_parameter rope_parameters[] = {
    {.name = "b", .missing = 1, .least = 1, .most = 1 << 24},
    {.name = "h", .least = 1, .most = 4096, .required = true},
    {.name = "s", .least = 1, .most = ROPE_POSITIONS, .required = true},
    {.name = "d", .least = 2, .most = 4096, .required = true},
    {.name = "base", .missing = 10000, .least = 2, .most = 100000000, .decimal = true},
    {.name = "offset", .missing = 0, .least = 0, .most = ROPE_POSITIONS},
    {.name = "style", .missing = HALVES, .words = "halves|interleaved"},
    {.name = "order", .words = "heads|tokens"},
    {.name = "part", .missing = 0, .least = 0, .most = 4096},
    {.name = "scales", .missing = 0, .least = 0, .most = 1},
    {.name = NULL},
};

struct rope {
    struct gpu_emit *e;
    const struct gpu_kernel_request *r;
    struct gpu_base in, scales, out;
    uint32_t part; /* elements of a head that turn */
    unsigned pair, row, first, second, x, y, angle, cosine, sine;
};

/* angle = position * base^(-2 pair / part); row = (b, h, s) or (b, s, h) as one number. */
static void rope_angle(struct rope *o)
{
    const double part = o->part;
    unsigned row = o->row;
    if (o->r->value[ROPE_ORDER] && o->r->value[ROPE_HEADS] > 1) {
        gpu_divide_imm(o->e, o->y, GPU_NO_REGISTER, o->row, (uint32_t)o->r->value[ROPE_HEADS]);
        row = o->y;
    }
    gpu_divide_imm(o->e, GPU_NO_REGISTER, o->x, row, (uint32_t)o->r->value[ROPE_LENGTH]);
    gpu_add_imm(o->e, o->x, o->x, o->r->value[ROPE_OFFSET]);
    gpu_emit(o->e, "convert u32_to_f, r%u, r%u, rte", o->x, o->x);
    gpu_emit(o->e, "convert u32_to_f, r%u, r%u, rte", o->y, o->pair);
    gpu_emit(o->e, "fmul32 r%u, r%u, %s", o->y, o->y, gpu_float(o->e, (float)(-2 / part * log2(o->r->decimal[ROPE_BASE]))));
    gpu_emit(o->e, "exp2 r%u, r%u", o->y, o->y);
    if (o->r->value[ROPE_SCALES]) {
        gpu_load_element(o->e, 0, GPU_F32, o->angle, o->scales, gpu_r(o->e, o->pair));
        gpu_emit(o->e, "fmul32 r%u, r%u, r%u", o->y, o->y, o->angle);
    }
    gpu_emit(o->e, "fmul32 r%u, r%u, r%u", o->angle, o->x, o->y);
    gpu_mov(o->e, o->cosine, o->angle);
    gpu_mov(o->e, o->sine, o->angle);
    gpu_math_emit(o->e, GPU_MATH_COS, o->cosine, GPU_NO_REGISTER, 0);
    gpu_math_emit(o->e, GPU_MATH_SIN, o->sine, GPU_NO_REGISTER, 0);
}

static void rope_places(struct rope *o)
{
    const uint32_t depth = (uint32_t)o->r->value[ROPE_DEPTH];
    const bool interleaved = o->r->value[ROPE_STYLE] == INTERLEAVED;
    gpu_mad_imm(o->e, o->first, o->pair, interleaved ? 2 : 1, GPU_NO_REGISTER);
    gpu_mad_imm(o->e, o->first, o->row, depth, o->first);
    gpu_add_imm(o->e, o->second, o->first, interleaved ? 1 : o->part / 2);
}

/* Threads behind the part copy two elements each. */
static void rope_copy(struct rope *o)
{
    const enum gpu_type type = o->r->type;
    gpu_shl(o->e, o->first, o->pair, 1);
    gpu_mad_imm(o->e, o->first, o->row, (uint32_t)o->r->value[ROPE_DEPTH], o->first);
    gpu_add_imm(o->e, o->second, o->first, 1);
    gpu_load_element(o->e, 0, type, o->x, o->in, gpu_r(o->e, o->first));
    gpu_load_element(o->e, 0, type, o->y, o->in, gpu_r(o->e, o->second));
    gpu_store_element(o->e, 1, type, o->x, o->out, gpu_r(o->e, o->first));
    gpu_store_element(o->e, 1, type, o->y, o->out, gpu_r(o->e, o->second));
}

/* (x, y) -> (x cos - y sin, x sin + y cos) */
static void rope_turn(struct rope *o)
{
    const enum gpu_type type = o->r->type;
    gpu_load_element(o->e, 0, type, o->x, o->in, gpu_r(o->e, o->first));
    gpu_load_element(o->e, 0, type, o->y, o->in, gpu_r(o->e, o->second));
    gpu_emit(o->e, "fmul32 r%u, r%u, r%u", o->angle, o->y, o->sine);
    gpu_emit(o->e, "fmadd32 r%u, r%u, r%u, r%u.neg", o->angle, o->x, o->cosine, o->angle);
    gpu_emit(o->e, "fmul32 r%u, r%u, r%u", o->y, o->y, o->cosine);
    gpu_emit(o->e, "fmadd32 r%u, r%u, r%u, r%u", o->y, o->x, o->sine, o->y);
    gpu_store_element(o->e, 1, type, o->angle, o->out, gpu_r(o->e, o->first));
    gpu_store_element(o->e, 1, type, o->y, o->out, gpu_r(o->e, o->second));
}

static bool rope_check(const struct gpu_kernel_request *r, uint64_t part, uint64_t elements, struct isa_error *error)
{
    const uint64_t depth = (uint64_t)r->value[ROPE_DEPTH];
    if (depth % 2 || part % 2)
        return kernel_refuse(error, "rope: d and part are even: elements turn in pairs");
    if (part > depth)
        return kernel_refuse(error, "rope: part = %llu of the d = %llu elements of a head", (unsigned long long)part,
                             (unsigned long long)depth);
    if (elements > (uint64_t)GPU_KERNEL_ELEMENTS_MAX || r->value[ROPE_LENGTH] + r->value[ROPE_OFFSET] > ROPE_POSITIONS)
        return kernel_refuse(error, "rope: at most 2^31 - 1 elements and positions up to %d", ROPE_POSITIONS);
    return true;
}

static void rope_emit(struct rope *o)
{
    const uint32_t depth = (uint32_t)o->r->value[ROPE_DEPTH];
    unsigned *const registers[] = {&o->pair, &o->row, &o->first, &o->second, &o->x, &o->y, &o->angle, &o->cosine, &o->sine};
    for (unsigned i = 0; i < ARRAY_COUNT(registers); i++)
        *registers[i] = gpu_register(o->e, 1);
    gpu_emit(o->e, "get_sr r%u, sr%d", o->x, GPU_SR_GRID_X);
    gpu_divide_imm(o->e, o->row, o->pair, o->x, depth / 2);
    if (o->part < depth)
        gpu_if(o->e, "ult", gpu_r(o->e, o->pair), gpu_int(o->e, o->part / 2));
    rope_places(o);
    rope_angle(o);
    rope_turn(o);
    if (o->part < depth) {
        gpu_else(o->e);
        rope_copy(o);
        gpu_endif(o->e);
    }
}

static bool build_rope(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)(r->value[ROPE_BATCH] * r->value[ROPE_HEADS] * r->value[ROPE_LENGTH]);
    const uint64_t depth = (uint64_t)r->value[ROPE_DEPTH], elements = rows * depth;
    const uint64_t part = r->value[ROPE_PART] ? (uint64_t)r->value[ROPE_PART] : depth;
    unsigned scales = 0;
    if (!rope_check(r, part, elements, error))
        return false;
    const unsigned x = gpu_kernel_add_buffer(kernel, "x", r->type, elements, GPU_BUFFER_INPUT, -1, 1);
    if (r->value[ROPE_SCALES])
        scales = gpu_kernel_add_buffer(kernel, "scales", GPU_F32, part / 2, GPU_BUFFER_INPUT, 0, 1);
    const unsigned y = gpu_kernel_add_buffer(kernel, "out", r->type, elements, GPU_BUFFER_OUTPUT, 0, 0);
    struct rope o = {.e = gpu_emit_begin(kernel, "rope_pairs", error), .r = r, .part = (uint32_t)part};
    o.in = gpu_argument_buffer(o.e, x, 0);
    if (scales)
        o.scales = gpu_argument_buffer(o.e, scales, 0);
    o.out = gpu_argument_buffer(o.e, y, 0);
    rope_emit(&o);
    gpu_emit_grid(o.e, (uint32_t)(elements / 2), 1, 1, ROPE_GROUP, 1, 1);
    kernel->flops = 3.0 * (double)(rows * part);
    kernel->min_bytes = 2.0 * (double)gpu_type_bytes(r->type, elements);
    return gpu_emit_end(o.e);
}

static const struct gpu_kernel_info rows[] = {
    {"attention", "b=B,h=H,s=S,d=D[,causal=0|1][,kvh=H][,variant=flash|naive]", "f32 f16",
     "out = softmax(q k^T / sqrt(d)) v; q, out: [b][h][s][d], k, v: [b][kvh][s][d]; kvh: heads share keys and values; flash: one "
     "pass over the keys",
     0, parameters, build_attention},
    {"rope", "b=B,h=H,s=S,d=D[,base=X][,offset=N][,style=halves|interleaved][,order=heads|tokens][,part=P][,scales=0|1]",
     "f32 f16 bf16",
     "pairs of x[b][h][s][d] (tokens: x[b][s][h][d]) turned by (s + offset) * base^(-2 i / p), times scales[i]; p: the first "
     "part "
     "elements of a head (0: d), the others stay; pair i: elements i and i + p/2, or 2i and 2i + 1",
     0, rope_parameters, build_rope},
};
const struct gpu_kernel_family gpu_family_attention = {rows, ARRAY_COUNT(rows)};
