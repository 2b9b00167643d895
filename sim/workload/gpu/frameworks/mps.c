/* What PyTorch's MPS back end is thought to run. Its kernels are closed, so all of this is a guess; versions are PyTorch's, and
 * those up to 2.4 stand for macOS 14, later ones for macOS 15.
 *
 * What is known and what is inferred:
 * - Products. Published times have two levels: as MLX's tiles of matrices (everything on macOS 15, batches, linear layers of M3),
 *   and a slow one, on all chips the same for a core: 61 to 74 flop a cycle where the right side lies in rows (M1 to M3, nine
 *   rows), 40 to 67 where it is transposed (M1 and M2, thirteen rows), whatever k is. That is what threadgroup memory feeds a
 *   thread that has four rows and two columns, or one, of a tile of 16 x 16 threads: PyTorch's own kernel of such tiles with one
 *   result a thread (aten/src/ATen/native/mps/operations/LinearAlgebra.mm) reaches half. The slow level is seen for all single
 *   products on M1 and M2 with macOS 14, for those with a million rows everywhere, and for tall ones of 32 columns everywhere.
 *   Batches of 32 columns on M1 and M2 with macOS 14 are slower still, as slow as a kernel that reads each operand from the L1.
 * - Softmax. For rows of 8 to 1024 elements macOS 14 reaches 2 to 7 GB/s a core whatever the length is, where MLX is bound by
 *   DRAM: as one thread a row, whose lanes touch a line each. macOS 15 keeps that for rows of 8 and streams longer rows. A
 * million elements a row take three reads and a write on macOS 14, two reads and a write on macOS 15.
 * - Places of the largest take 180 to 490 cycles of a core for each result along rows of 128 and columns of 64, on all chips:
 * what a threadgroup of two simdgroups takes. Along rows of 1024 they take what MLX's take; along columns of 1024 they are as
 * fast as neighbouring lanes that each go down a column.
 * - Convolutions take images N H W C; up to 2.4 a transposition of the result to N C H W is part of the graph
 *   (pytorch/pytorch pull requests 83121, 95078, 128393). The products are MLX's implicit ones, but those of 3 channels, which
 * take as long as DRAM needs, and on macOS 15 those of 12 channels, which take a half to a third of what MLX's
 * take: as a kernel without blocks of products would, a pixel a thread, or two of 3 channels. */
#include "sim/workload/gpu/frameworks/framework_plan.h"

#include <string.h>

enum {
    MILLION_ROWS = 1 << 18,
    TALL = 32768,
    NARROW = 32,
    DEEP = 32768,
    SHORT_ROW = 32,
    LOOPED = 4096,
    PLACE_THREADS = 64,
    SHORT_COLUMN = 64,
    FEW_CHANNELS = 12,
    FEW_DEPTH = 256 /* channels times taps that the kernel keeps at a time */
};
enum { IMAGE, WEIGHTS, OUT }; /* of a convolution */

static bool is_macos_14(const struct framework_plan *p)
{
    return p->choice->version < framework_version(2, 5, 0);
}

/* M1 and M2. */
static bool is_older_gpu(const struct framework_plan *p)
{
    return p->library->request.generation <= GPU_G14;
}

static uint32_t bits(double value)
{
    const float single = (float)value;
    uint32_t word;
    memcpy(&word, &single, sizeof word);
    return word;
}

/* ---- products ---- */

struct shape {
    uint64_t m, n, k, batch;
    bool ta, tb;
};

enum kind { TILES, PLAIN, DIRECT };

static enum kind kind_of(const struct framework_plan *p, const struct shape *g)
{
    const bool early = is_macos_14(p) && is_older_gpu(p);
    if (g->m == 1 || g->n == 1)
        return TILES;
    if (g->batch > 1)
        return early && g->n <= NARROW ? DIRECT : TILES;
    if (g->k > DEEP)
        return TILES;
    return early || g->m >= MILLION_ROWS || (g->n <= NARROW && g->m > TALL) ? PLAIN : TILES;
}

/* As struct product_sizes of mps/simple.metal. */
static void one_a_thread(struct framework_plan *p, const struct shape *g, enum kind kind)
{
    const double alpha = plan_decimal(p, "alpha"), beta = plan_decimal(p, "beta");
    const bool adds = alpha < 1 || alpha > 1 || beta < 0 || beta > 0;
    const unsigned columns = g->tb ? 1 : 2; /* a thread */
    if (kind == PLAIN)
        plan_launch_groups(p, (struct plan_size){plan_ceil(g->n, 16 * columns), plan_ceil(g->m, 64), g->batch},
                           (struct plan_size){16, 16, 1}, "mps_tiled_%s%u_%s", adds ? "add_" : "", columns, plan_type(p));
    else
        plan_launch(p, (struct plan_size){g->n, g->m, g->batch}, (struct plan_size){plan_least(32, g->n), 8, 1},
                    "mps_direct_%s%s", adds ? "add_" : "", plan_type(p));
    for (unsigned i = 0; i < 3; i++)
        plan_buffer(p, i);
    plan_number(p, (uint32_t)g->m, (uint32_t)g->n, (uint32_t)g->k, g->ta ? 1 : (uint32_t)g->k, g->ta ? (uint32_t)g->m : 1,
                g->tb ? 1 : (uint32_t)g->n, g->tb ? (uint32_t)g->k : 1, (uint32_t)(g->m * g->k), (uint32_t)(g->k * g->n),
                (uint32_t)(g->m * g->n), bits(alpha), bits(beta));
}

bool mps_gemm(struct framework_plan *p)
{
    const struct shape g = {.m = plan_value(p, "m"),
                            .n = plan_value(p, "n"),
                            .k = plan_value(p, "k"),
                            .batch = plan_value(p, "batch"),
                            .ta = plan_value(p, "ta") != 0,
                            .tb = plan_value(p, "tb") != 0};
    const enum kind kind = kind_of(p, &g);
    if (kind == TILES || plan_value(p, "gate"))
        return mlx_gemm(p);
    if (g.m * g.n > UINT32_MAX || g.m * g.k > UINT32_MAX || g.k * g.n > UINT32_MAX)
        return plan_refuse(p, "gemm with a matrix of more than 2^32 - 1 elements");
    one_a_thread(p, &g, kind);
    return !p->failed;
}

/* ---- rows ---- */

/* The largest or the sum of each row: a thread or a simdgroup a row. */
static unsigned of_rows(struct framework_plan *p, const char *op, unsigned from, uint64_t rows, uint64_t columns)
{
    const unsigned result = plan_scratch(p, op, GPU_F32, rows);
    if (columns < 32)
        plan_launch(p, (struct plan_size){rows, 1, 1}, (struct plan_size){256, 1, 1}, "mlx_row_small_%s", op);
    else
        plan_launch_groups(p, (struct plan_size){plan_ceil(rows, 8), 1, 1}, (struct plan_size){256, 1, 1}, "mlx_row_medium_%s",
                           op);
    plan_buffer(p, from);
    plan_buffer(p, result);
    if (columns < 32)
        plan_number(p, (uint32_t)columns);
    else
        plan_number(p, (uint32_t)columns, (uint32_t)rows);
    return result;
}

static void softmax_in_parts(struct framework_plan *p, uint64_t rows, uint64_t columns)
{
    const struct plan_size grid = {columns, rows, 1}, group = plan_block(columns, rows, 1);
    const unsigned most = of_rows(p, "max", 0, rows, columns);
    plan_launch(p, grid, group, "mps_exp_less_%s", plan_type(p));
    plan_buffer(p, 0);
    plan_buffer(p, most);
    plan_buffer(p, 1);
    plan_number(p, (uint32_t)columns);
    const unsigned sum = of_rows(p, "sum", 1, rows, columns);
    plan_launch(p, grid, group, "mps_over_%s", plan_type(p));
    plan_buffer(p, 1);
    plan_buffer(p, sum);
    plan_number(p, (uint32_t)columns);
}

static void softmax_of_short_rows(struct framework_plan *p, uint64_t rows, uint64_t columns)
{
    uint64_t width = 1;
    while (width < columns)
        width *= 2;
    plan_launch(p, (struct plan_size){plan_ceil(rows * width, 32) * 32, 1, 1},
                (struct plan_size){plan_least(256, plan_ceil(rows * width, 32) * 32), 1, 1}, "mps_softmax_short_%s",
                plan_type(p));
    plan_buffer(p, 0);
    plan_buffer(p, 1);
    plan_number(p, (uint32_t)rows, (uint32_t)columns, (uint32_t)width);
}

bool mps_softmax(struct framework_plan *p)
{
    const uint64_t rows = plan_value(p, "rows"), columns = plan_value(p, "columns");
    const bool several_rows = !is_macos_14(p) && columns <= SHORT_ROW;
    if (!several_rows && (!is_macos_14(p) || p->type != GPU_F32))
        return mlx_softmax(p);
    if (plan_value(p, "log"))
        return plan_refuse(p, "softmax without log");
    if (columns > INT32_MAX || rows > INT32_MAX)
        return plan_refuse(p, "softmax of more than 2^31 - 1 rows or columns");
    if (several_rows) {
        softmax_of_short_rows(p, rows, columns);
    } else if (columns <= LOOPED) {
        softmax_in_parts(p, rows, columns);
    } else {
        plan_launch_groups(p, (struct plan_size){rows, 1, 1}, (struct plan_size){1024, 1, 1}, "mps_softmax_passes_%s",
                           plan_type(p));
        plan_buffer(p, 0);
        plan_buffer(p, 1);
        plan_number(p, (uint32_t)columns);
    }
    return !p->failed;
}

/* Places along long columns: a thread a result. */
static void places_of_columns(struct framework_plan *p, const char *op, uint64_t rows, uint64_t columns, uint64_t results)
{
    plan_launch(p, (struct plan_size){results, 1, 1}, (struct plan_size){plan_least(256, results), 1, 1}, "mps_%s_%s", op,
                plan_type(p));
    plan_buffer(p, 0);
    plan_buffer(p, 1);
    plan_number(p, (uint32_t)rows, (uint32_t)columns, (uint32_t)columns, (uint32_t)(rows * columns));
}

bool mps_reduce(struct framework_plan *p)
{
    enum { ARGMAX = 6, ARGMIN = 7 };
    const uint64_t op = plan_value(p, "op"), rows = plan_value(p, "rows"), columns = plan_value(p, "columns"),
                   batch = plan_value(p, "batch");
    const char *const name = op == ARGMAX ? "argmax" : "argmin";
    const bool along_rows = plan_value(p, "axis") == 1;
    if (op < ARGMAX || op > ARGMIN)
        return mlx_reduce(p);
    if (rows * columns * batch > UINT32_MAX)
        return plan_refuse(p, "reduce of more than 2^32 - 1 elements");
    if (!along_rows && rows > SHORT_COLUMN)
        places_of_columns(p, name, rows, columns, columns * batch);
    else
        mlx_places(p, name, along_rows, PLACE_THREADS);
    return !p->failed;
}

/* ---- convolutions ---- */

static void channels_first(struct framework_plan *p, uint64_t pixels, uint64_t filters, uint64_t images, unsigned last)
{
    plan_launch(p, (struct plan_size){pixels, filters, images}, (struct plan_size){plan_least(256, pixels), 1, 1},
                "mps_channels_first_%s", plan_type(p));
    plan_buffer(p, last);
    plan_buffer(p, OUT);
    plan_number(p, (uint32_t)pixels, (uint32_t)filters);
}

/* As struct few_sizes of mps/simple.metal. */
static void few_channels(struct framework_plan *p, uint64_t out_height, uint64_t out_width, unsigned to)
{
    const uint64_t channels = plan_value(p, "c"), filters = plan_value(p, "k"),
                   pixels = plan_value(p, "n") * out_height * out_width;
    const bool fours = channels % 4 == 0;
    plan_launch_groups(p, (struct plan_size){plan_ceil(pixels, fours ? 256 : 512), plan_ceil(filters, 8), 1},
                       (struct plan_size){256, 1, 1}, "mps_conv_%s_%s", fours ? "few" : "three", plan_type(p));
    plan_buffer(p, IMAGE);
    plan_buffer(p, WEIGHTS);
    plan_buffer(p, to);
    plan_number(p, (uint32_t)plan_value(p, "n"), (uint32_t)channels, (uint32_t)plan_value(p, "h"), (uint32_t)plan_value(p, "w"),
                (uint32_t)filters, (uint32_t)plan_value(p, "r"), (uint32_t)plan_value(p, "s"), (uint32_t)plan_value(p, "stride"),
                (uint32_t)plan_value(p, "pad"), (uint32_t)out_height, (uint32_t)out_width, (uint32_t)(FEW_DEPTH / channels));
}

/* Three channels everywhere; on macOS 15 also few channels in fours. */
static bool is_narrow(const struct framework_plan *p, uint64_t pixels)
{
    const uint64_t channels = plan_value(p, "c");
    const bool fours = !is_macos_14(p) && channels % 4 == 0 && channels <= FEW_CHANNELS;
    return (channels == 3 || fours) && pixels <= INT32_MAX;
}

static bool narrow(struct framework_plan *p, uint64_t out_height, uint64_t out_width, unsigned to)
{
    const uint64_t images = plan_value(p, "n"), filters = plan_value(p, "k"), channels = plan_value(p, "c");
    if (plan_value(p, "groups") != 1 || plan_value(p, "dilation") != 1 || plan_value(p, "bias") || plan_value(p, "act"))
        return plan_refuse(p, "conv2d without groups, dilation, bias and activation");
    plan_channels_last(p, IMAGE, images, channels, plan_value(p, "h") * plan_value(p, "w"));
    plan_channels_last(p, WEIGHTS, filters, channels, plan_value(p, "r") * plan_value(p, "s"));
    if (to == OUT)
        plan_channels_last(p, OUT, images, filters, out_height * out_width);
    few_channels(p, out_height, out_width, to);
    return !p->failed;
}

/* Up to 2.4 the result is turned to N C H W afterwards. */
bool mps_conv2d(struct framework_plan *p)
{
    const uint64_t images = plan_value(p, "n"), filters = plan_value(p, "k"), stride = plan_value(p, "stride"),
                   pad = plan_value(p, "pad");
    const uint64_t out_height = (plan_value(p, "h") + 2 * pad - plan_value(p, "r")) / stride + 1,
                   out_width = (plan_value(p, "w") + 2 * pad - plan_value(p, "s")) / stride + 1, pixels = out_height * out_width;
    const unsigned to = is_macos_14(p) ? plan_scratch(p, "last", p->type, images * filters * pixels) : OUT;
    if (!(is_narrow(p, images * pixels) ? narrow(p, out_height, out_width, to) : mlx_conv2d_to(p, to)))
        return false;
    if (is_macos_14(p))
        channels_first(p, pixels, filters, images, to);
    return !p->failed;
}
