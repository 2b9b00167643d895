/* conv2d: native/line_conv.c, native/line_winograd.c. */
#include "units/amx/kernels/amx_kernels.h"

#include "isa/array_count.h"

#include <stdio.h>

/* ORDER: native/line_conv.c, native/line_winograd.c. */
enum { CHANNELS = 16, FEW = 8, BLOCK = 64, ASIDE = 32 };

enum { ALGO = CONV_OWN, PACKED, ALGO_AUTO = 0, ALGO_MATRIX, ALGO_WINOGRAD2, ALGO_WINOGRAD4, ALGO_WINOGRAD6, ALGO_WINOGRAD };
static const struct kernel_parameter parameters[] = {
    ROUTINE_CONV_PARAMETERS,
    {.name = "algo", .words = "auto|matrix|winograd2|winograd4|winograd6|winograd"},
    {.name = "packed", .least = 0, .most = 1},
    {.name = NULL}};

/* A tile of side x side results, and what errors grow by at most: the square of the largest sum over the points of a row of |A^T|
 * times a row of |G| times a row of |B^T|, which is 8, 48 and 203/3. */
struct tile {
    int64_t side, growth;
    const char *weights, *function, *items;
};
static const struct tile tiles[] = {
    [ALGO_WINOGRAD2] = {2, 64, "amx_winograd2_weights", "amx_winograd2", "blocks of 64 tiles of 2 x 2"},
    [ALGO_WINOGRAD4] = {4, 2304, "amx_winograd4_weights", "amx_winograd4", "blocks of 64 tiles of 4 x 4"},
    [ALGO_WINOGRAD6] = {6, 4579, "amx_winograd6_weights", "amx_winograd6", "blocks of 64 tiles of 6 x 6"},
};

static int64_t blocks_of(const struct operation_conv *shape, int64_t side)
{
    return (((shape->h + side - 1) / side) * ((shape->w + side - 1) / side) + BLOCK - 1) / BLOCK;
}

/* The side whose blocks take the fewest products, counted with the lanes that have no tile. Larger tiles take longer to
 * transform, and their errors grow: they must spare a quarter. */
static int64_t fewest_products(const struct operation_conv *shape)
{
    int64_t best = ALGO_WINOGRAD2, least = INT64_MAX;
    for (int64_t algo = ALGO_WINOGRAD2; algo < (int64_t)ARRAY_COUNT(tiles); algo++) {
        const int64_t seen = tiles[algo].side + 2, products = blocks_of(shape, tiles[algo].side) * seen * seen;
        if (products <= least / 4 * 3)
            least = products, best = algo;
    }
    return best;
}

static bool build_winograd(const struct routine_request *r, struct routine_work *w, struct arguments_conv *p,
                           struct isa_error *error)
{
    const int64_t *const v = r->value;
    if (v[CONV_R] != 3 || v[CONV_S] != 3 || v[CONV_STRIDE] != 1 || v[CONV_DILATION] != 1 || v[CONV_GROUPS] != 1)
        return kernel_refuse(error, "conv2d: algo=winograd wants 3 x 3 taps, stride 1, dilation 1 and one group");
    const struct tile *const t = &tiles[v[ALGO] == ALGO_WINOGRAD ? fewest_products(&p->shape) : v[ALGO]];
    const int64_t points = (t->side + 2) * (t->side + 2), panels = (v[CONV_K] + CHANNELS - 1) / CHANNELS;
    w->epsilon *= (double)t->growth;
    p->panels = routine_add_scratch(w, "panels", 4 * (uint64_t)(panels * points * (v[IMAGE_C] * CHANNELS + ASIDE)), 0);
    p->own = routine_add_scratch(w, "own", 4 * (uint64_t)(points * ((v[IMAGE_C] + CHANNELS + 1) * BLOCK + 2 * ASIDE)),
                                 r->threads ? r->threads : 1);
    arguments_pass_conv(p, r, w, routine_add_call(w, t->weights, r->type, "panels of 16 output channels", (uint64_t)panels));
    arguments_pass_conv(
        p, r, w, routine_add_call(w, t->function, r->type, t->items, (uint64_t)(v[IMAGE_N] * blocks_of(&p->shape, t->side))));
    w->loading = v[PACKED] ? 1 : 0;
    snprintf(w->variant, sizeof w->variant, "amx_conv_winograd%d_%s", (int)t->side, routine_type_name(r->type));
    return true;
}

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    struct arguments_conv p = {
        .shape = operation_conv_shape(r), .chunks = 1, .out = w->operands - 1, .bias = r->value[CONV_BIAS] ? 2 : 0};
    const bool few = p.shape.group_k < FEW;
    const int64_t groups = r->value[CONV_GROUPS], panels = few ? p.shape.group_k : (p.shape.group_k + CHANNELS - 1) / CHANNELS;
    const int64_t blocks = r->value[IMAGE_N] * groups * ((p.shape.h * p.shape.w + BLOCK - 1) / BLOCK);
    if (p.shape.act >= 0 && !amx_kernel_function((enum kernel_function)p.shape.act))
        return kernel_refuse(error, "conv2d on amx has the activations %s", AMX_KERNEL_FUNCTIONS);
    if (r->value[ALGO] >= ALGO_WINOGRAD2)
        return build_winograd(r, w, &p, error);
    p.panels = routine_add_scratch(w, "panels", 4 * (uint64_t)(groups * panels * p.shape.depth * CHANNELS), 0);
    p.own = routine_add_scratch(w, "own", 4 * (uint64_t)(p.shape.depth * BLOCK), r->threads ? r->threads : 1);
    arguments_pass_conv(&p, r, w,
                        routine_add_call(w, "amx_conv_pack", r->type, few ? "output channels" : "panels of 16 output channels",
                                         (uint64_t)(groups * panels)));
    arguments_pass_conv(&p, r, w, routine_add_call(w, "amx_conv", r->type, "blocks of 64 pixels", (uint64_t)blocks));
    w->loading = r->value[PACKED] ? 1 : 0;
    snprintf(w->variant, sizeof w->variant, few ? "amx_conv_vector_%s" : "amx_conv_16x64_%s", routine_type_name(r->type));
    return true;
}

const struct routine amx_kernel_conv2d = {
    &operation_conv2d,
    "c=C,h=H,w=W,k=K[,n=N][,r=R][,s=S][,stride=D][,pad=P][,groups=G][,dilation=D][,bias=0|1][,act=NAME][,algo=NAME]"
    "[,packed=0|1]",
    "f32 f16 bf16",
    "NCHW image, K x C/groups x R x S weights (3 x 3 unless told otherwise), sums in f32, then bias and an activation (names as "
    "elementwise on amx); algo: auto matrix, and for 3 x 3 stride 1 winograd2, winograd4, winograd6 (less exact, never chosen by "
    "auto) or winograd, the one with the fewest products; packed=1: the weights are constants that were brought into "
    "panels before the run",
    parameters,
    build};
