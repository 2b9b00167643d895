/* conv2d: checks, and the choice of the method. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_conv.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

enum { N, C, H, W, K, R, S, STRIDE, PAD, GROUPS, DILATION, BIAS, ACT, ALGO, PACKED };
enum { AUTO, DIRECT, MATRIX, WINOGRAD2, WINOGRAD4, WINOGRAD6 };
enum { IMAGE_MAX = 32767 /* of a side: corners of taps are kept as two signed 16-bit numbers */ };

static const struct kernel_parameter parameters[] = {
    {.name = "n", .missing = 1, .least = 1, .most = 1 << 24},
    {.name = "c", .least = 1, .most = 65536, .required = true},
    {.name = "h", .least = 1, .most = IMAGE_MAX, .required = true},
    {.name = "w", .least = 1, .most = IMAGE_MAX, .required = true},
    {.name = "k", .least = 1, .most = 65536, .required = true},
    {.name = "r", .missing = 3, .least = 1, .most = 64},
    {.name = "s", .missing = 3, .least = 1, .most = 64},
    {.name = "stride", .missing = 1, .least = 1, .most = 64},
    {.name = "pad", .missing = 0, .least = 0, .most = 64},
    {.name = "groups", .missing = 1, .least = 1, .most = 65536},
    {.name = "dilation", .missing = 1, .least = 1, .most = 64},
    {.name = "bias", .missing = 0, .least = 0, .most = 1},
    {.name = "act", .words = GPU_MATH_WORDS, .chain = true},
    {.name = "algo", .words = "auto|direct|matrix|winograd2|winograd4|winograd6"},
    {.name = "packed", .missing = 0, .least = 0, .most = 1},
    {.name = NULL},
};

static uint32_t out_size(uint32_t in, uint32_t taps, const struct gpu_conv *v)
{
    const uint32_t reach = (taps - 1) * v->dilation + 1, padded = in + 2 * v->pad;
    return padded < reach ? 0 : (padded - reach) / v->stride + 1;
}

static struct gpu_conv shape_of(const struct gpu_kernel_request *q)
{
    const int64_t *p = q->value;
    struct gpu_conv v = {
        .n = (uint32_t)p[N],
        .c = (uint32_t)p[C],
        .h = (uint32_t)p[H],
        .w = (uint32_t)p[W],
        .k = (uint32_t)p[K],
        .r = (uint32_t)p[R],
        .s = (uint32_t)p[S],
        .stride = (uint32_t)p[STRIDE],
        .pad = (uint32_t)p[PAD],
        .dilation = (uint32_t)p[DILATION],
        .groups = (uint32_t)p[GROUPS],
        .cores = q->cores ? q->cores : 1,
        .type = q->type,
        .has_bias = p[BIAS],
        .is_packed = p[PACKED],
        .has_act = p[ACT] != 0,
    };
    v.act = v.has_act ? (enum gpu_math)((p[ACT] & ((1 << KERNEL_CHAIN_BITS) - 1)) - 1) : GPU_MATH_RELU;
    v.out_h = out_size(v.h, v.r, &v);
    v.out_w = out_size(v.w, v.s, &v);
    v.group_c = v.c / v.groups;
    v.group_k = v.k / v.groups;
    return v;
}

static bool is_winograd_shape(const struct gpu_conv *v)
{
    return v->r == 3 && v->s == 3 && v->stride == 1 && v->dilation == 1 && v->groups == 1;
}

static bool check(const struct gpu_kernel_request *q, const struct gpu_conv *v, struct isa_error *error)
{
    const uint64_t most = GPU_KERNEL_ELEMENTS_MAX;
    if (v->c % v->groups || v->k % v->groups)
        return kernel_refuse(error, "conv2d: c and k must be multiples of groups");
    if (v->out_h == 0 || v->out_w == 0)
        return kernel_refuse(error, "conv2d: %u x %u taps with dilation %u do not fit an image of %u x %u with pad %u",
                             (unsigned)v->r, (unsigned)v->s, (unsigned)v->dilation, (unsigned)v->h, (unsigned)v->w,
                             (unsigned)v->pad);
    if ((uint64_t)v->h * v->w > most / v->n / v->c || (uint64_t)v->out_h * v->out_w > most / v->n / v->k ||
        (uint64_t)v->r * v->s > most / v->k / v->group_c)
        return kernel_refuse(error, "conv2d: an operand has more than 2^31 - 1 elements");
    if (q->value[ACT] >> KERNEL_CHAIN_BITS || gpu_math_is_binary(v->act))
        return kernel_refuse(error, "conv2d: act is one function of one operand");
    if (q->value[ALGO] >= WINOGRAD2 && !is_winograd_shape(v))
        return kernel_refuse(error, "conv2d: winograd wants r=3,s=3,stride=1,dilation=1,groups=1");
    return true;
}

static void add_buffers(struct gpu_conv *v, struct gpu_kernel *kernel)
{
    const uint64_t taps = (uint64_t)v->r * v->s, x = (uint64_t)v->n * v->c * v->h * v->w;
    const uint64_t weights = (uint64_t)v->k * v->group_c * taps;
    const uint64_t out = (uint64_t)v->n * v->k * v->out_h * v->out_w, size = gpu_type_bytes(v->type, 1);
    v->x = gpu_kernel_add_buffer(kernel, "x", v->type, x, GPU_BUFFER_INPUT, -1, 1);
    v->weights = gpu_kernel_add_buffer(kernel, "weights", v->type, weights, GPU_BUFFER_INPUT, -1, 1);
    if (v->has_bias)
        v->bias = gpu_kernel_add_buffer(kernel, "bias", v->type, v->k, GPU_BUFFER_INPUT, -1, 1);
    v->out = gpu_kernel_add_buffer(kernel, "out", v->type, out, GPU_BUFFER_OUTPUT, 0, 0);
    kernel->macs = (double)out * (double)v->group_c * (double)taps;
    kernel->flops = 2 * kernel->macs;
    kernel->min_bytes = (double)(size * (x + weights + out));
}

/* Matrices of 8 x 8 pay off from a few channels on, on both sides. */
static bool pays_matrices(const struct gpu_conv *v)
{
    return v->group_c >= 3 && v->group_k >= 8 && v->out_h * v->out_w >= 8;
}

static bool build(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct gpu_conv v = shape_of(q);
    if (!check(q, &v, error))
        return false;
    add_buffers(&v, kernel);
    switch (q->value[ALGO]) {
    case WINOGRAD2: return gpu_conv_winograd(&v, 2, kernel, error);
    case WINOGRAD4: return gpu_conv_winograd(&v, 4, kernel, error);
    case WINOGRAD6: return gpu_conv_winograd(&v, 6, kernel, error);
    case DIRECT: return gpu_conv_direct(&v, kernel, error);
    case MATRIX: return gpu_conv_matrix(&v, kernel, error);
    default: return pays_matrices(&v) ? gpu_conv_matrix(&v, kernel, error) : gpu_conv_direct(&v, kernel, error);
    }
}

static const struct gpu_kernel_info rows[] = {
    {"conv2d",
     "c=C,h=H,w=W,k=K[,n=N][,r=R][,s=S][,stride=D][,pad=P][,groups=G][,dilation=D][,bias=0|1][,act=NAME][,algo=NAME][,packed=0|"
     "1]",
     "f32 f16 bf16",
     "NCHW image, K x C/groups x R x S weights (3 x 3 unless told otherwise), sums in f32, then bias and an activation (names as "
     "elementwise); algo: auto direct matrix, and for 3 x 3 stride 1 winograd2 winograd4 winograd6 (less exact, never chosen by "
     "auto); packed=1: the weights are constants that were brought into the kernel's layout before the run",
     0, parameters, build},
};
const struct gpu_kernel_family gpu_family_conv = {rows, ARRAY_COUNT(rows)};
