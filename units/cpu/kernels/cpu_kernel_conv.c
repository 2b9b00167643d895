/* conv2d: native/conv.c, native/conv_i8.c, native/conv_direct.c, native/conv_winograd.c. */
#include "units/cpu/kernels/cpu_kernel_family.h"

#include <stdio.h>

/* ORDER: native/gemm_tile.h, native/conv.c. */
enum {
    TILE_ROWS = 8,
    TILE_COLUMNS = 12,
    BLOCK = 48,
    BYTES = 4
}; /* BYTES: channels of i8 that a step takes, or bytes of a float */

/* ORDER: native/conv_winograd.c. */
enum { SIDE = 4, POINTS = 36 };
/* What errors grow by at most, for F(4 x 4, 3 x 3): the square of the largest sum over the points of a row of |A^T| times a row
 * of |G| times a row of |B^T|, which is 1 (10 + 10) / 2 + 8 (6 + 6) 7 / 24 + 10. */
#define WINOGRAD_GROWTH 2304

enum { ALGO = CONV_OWN, PACKED, ALGO_AUTO = 0, ALGO_MATRIX, ALGO_WINOGRAD4 };
static const struct kernel_parameter parameters[] = {ROUTINE_CONV_PARAMETERS,
                                                     {.name = "algo", .words = "auto|matrix|winograd4"},
                                                     {.name = "packed", .least = 0, .most = 1},
                                                     {.name = NULL}};

/* Channels are parted where there are fewer blocks of pixels than threads want. */
static int64_t chunks_of(int64_t blocks, int64_t panels, unsigned threads)
{
    const int64_t wanted = (2 * (int64_t)threads + blocks - 1) / blocks;
    return threads == 1 || wanted < 1 ? 1 : wanted < panels ? wanted : panels;
}

static void build_matrix(const struct routine_request *r, struct routine_work *w, struct arguments_conv *p)
{
    const unsigned threads = r->threads ? r->threads : 1;
    const int64_t groups = r->value[CONV_GROUPS], panels = (p->shape.group_k + TILE_ROWS - 1) / TILE_ROWS;
    const int64_t blocks = r->value[IMAGE_N] * groups * ((p->shape.h * p->shape.w + BLOCK - 1) / BLOCK);
    const int64_t steps =
        r->type == ROUTINE_I8 ? r->value[CONV_R] * r->value[CONV_S] * ((p->shape.group_c + BYTES - 1) / BYTES) : p->shape.depth;
    p->chunks = chunks_of(blocks, panels, threads);
    p->panels = routine_add_scratch(w, "panels", BYTES * (uint64_t)(groups * panels * steps * TILE_ROWS), 0);
    p->own = routine_add_scratch(w, "own", BYTES * (uint64_t)(steps * BLOCK), threads);
    arguments_pass_conv(
        p, r, w, routine_add_call(w, "neon_conv_pack", r->type, "panels of 8 output channels", (uint64_t)(groups * panels)));
    arguments_pass_conv(p, r, w,
                        routine_add_call(w, "neon_conv", r->type,
                                         p->chunks > 1 ? "parts of channels of 48 pixels" : "blocks of 48 pixels",
                                         (uint64_t)(blocks * p->chunks)));
    w->loading = r->value[PACKED] ? 1 : 0;
    snprintf(w->variant, sizeof w->variant, r->type == ROUTINE_I8 ? "neon_conv_8x12_dot_%s" : "neon_conv_8x12_%s",
             routine_type_name(r->type));
}

static bool build_winograd(const struct routine_request *r, struct routine_work *w, struct arguments_conv *p,
                           struct isa_error *error)
{
    const int64_t *const v = r->value;
    const int64_t panels = (v[CONV_K] + TILE_ROWS - 1) / TILE_ROWS;
    const int64_t tiles = ((p->shape.h + SIDE - 1) / SIDE) * ((p->shape.w + SIDE - 1) / SIDE);
    const uint64_t blocks = (uint64_t)(v[IMAGE_N] * ((tiles + TILE_COLUMNS - 1) / TILE_COLUMNS));
    if (v[CONV_R] != 3 || v[CONV_S] != 3 || v[CONV_STRIDE] != 1 || v[CONV_DILATION] != 1 || v[CONV_GROUPS] != 1 ||
        r->type == ROUTINE_I8)
        return kernel_refuse(error, "conv2d: algo=winograd4 wants 3 x 3 taps, stride 1, dilation 1, one group and floats");
    w->epsilon *= WINOGRAD_GROWTH;
    p->panels = routine_add_scratch(w, "panels", 4 * (uint64_t)(panels * POINTS * v[IMAGE_C] * TILE_ROWS), 0);
    p->own = routine_add_scratch(w, "own", 4 * (uint64_t)(POINTS * (v[IMAGE_C] + 1) * TILE_COLUMNS), r->threads ? r->threads : 1);
    arguments_pass_conv(p, r, w,
                        routine_add_call(w, "neon_winograd_weights", r->type, "panels of 8 output channels", (uint64_t)panels));
    arguments_pass_conv(p, r, w, routine_add_call(w, "neon_winograd", r->type, "blocks of 12 tiles of 4 x 4", blocks));
    w->loading = r->value[PACKED] ? 1 : 0;
    snprintf(w->variant, sizeof w->variant, "neon_conv_winograd4_%s", routine_type_name(r->type));
    return true;
}

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    struct arguments_conv p = {.shape = operation_conv_shape(r), .chunks = 1, .out = w->operands - 1};
    p.bias = r->value[CONV_BIAS] ? 2 : 0;
    if (r->type == ROUTINE_I8 && p.shape.act >= 0)
        return kernel_refuse(error, "conv2d in i8 gives its sums, without an activation");
    if (r->value[ALGO] == ALGO_WINOGRAD4)
        return build_winograd(r, w, &p, error);
    if (r->type == ROUTINE_I8 || r->value[ALGO] == ALGO_MATRIX || p.shape.group_c > 1 || p.shape.group_k >= TILE_ROWS) {
        build_matrix(r, w, &p);
        return true;
    }
    arguments_pass_conv(&p, r, w,
                        routine_add_call(w, "neon_conv_direct", r->type, "rows of the result",
                                         (uint64_t)(r->value[IMAGE_N] * r->value[CONV_K] * p.shape.h)));
    snprintf(w->variant, sizeof w->variant, "neon_conv_direct_%s", routine_type_name(r->type));
    return true;
}

const struct routine cpu_kernel_conv2d = {
    &operation_conv2d,
    "c=C,h=H,w=W,k=K[,n=N][,r=R][,s=S][,stride=D][,pad=P][,groups=G][,dilation=D][,bias=0|1][,act=NAME][,algo=NAME][,packed=0|1]",
    "f32 f16 bf16 i8",
    "NCHW image, K x C/groups x R x S weights (3 x 3 unless told otherwise), sums in f32, then bias and an activation (names as "
    "elementwise); i8: sums, bias and result in i32, no activation; algo: auto matrix, and for 3 x 3 stride 1 winograd4 (less "
    "exact, never "
    "chosen by auto); packed=1: the weights are constants that were brought into panels before the run",
    parameters,
    build};
