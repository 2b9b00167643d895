/* Layers on images: convolution, pooling, resampling, borders. */
#include "sim/network/coreml/layer.h"

#include <string.h>

enum { PADDING_BORDERS = 1, PADDING_MODE = 1, BORDER_LIST = 10 };

void layer_borders(struct layer *l, struct pb borders, int64_t *pad)
{
    size_t at = 0;
    memset(pad, 0, 4 * sizeof *pad);
    for (struct pb_field f; pb_next(&borders, &f);) {
        if (f.number != BORDER_LIST || !f.is_bytes)
            continue;
        if (at < 2) {
            pad[at] = pb_integer(f.body, 1, 0);
            pad[at + 2] = pb_integer(f.body, 2, 0);
        }
        at++;
    }
    if (at != 0 && at != 2)
        coreml_fail(l->c, ORCH_USAGE, "%zu borders where two, of height and width, belong", at);
    for (size_t k = 0; k < 4; k++)
        if (pad[k] < 0 || pad[k] > INT32_MAX)
            coreml_fail(l->c, ORCH_USAGE, "a border of %lld", (long long)pad[k]);
}

net_id layer_as_image(struct layer *l, net_id x)
{
    const unsigned rank = coreml_rank(l->c, x);
    const int64_t shape[4] = {-1, rank > 2 ? coreml_dim(l->c, x, -3) : 1, rank > 2 ? coreml_dim(l->c, x, -2) : 1,
                              rank > 2 ? coreml_dim(l->c, x, -1) : 1};
    if (rank < 3)
        return coreml_fail(l->c, ORCH_USAGE, "an array of %u dimensions where channels, height and width are wanted", rank);
    return rank == 4 ? x : coreml_reshape(l->c, x, shape, 4);
}

net_id layer_as_before(struct layer *l, net_id image, net_id x)
{
    int64_t shape[NET_DIMS_MAX] = {0};
    const unsigned rank = coreml_rank(l->c, x);
    if (rank == 4 || l->c->failed)
        return image;
    for (unsigned d = 0; d < rank; d++)
        shape[d] = d + 3 < rank ? coreml_dim(l->c, x, d) : coreml_dim(l->c, image, (int64_t)d - rank);
    return coreml_reshape(l->c, image, shape, rank);
}

/* ---- convolution ---- */

enum {
    CONV_OUT = 1,
    CONV_IN = 2,
    CONV_GROUPS = 10,
    CONV_KERNEL = 20,
    CONV_STRIDE = 30,
    CONV_DILATION = 40,
    CONV_VALID = 50,
    CONV_SAME = 51,
    CONV_IS_TRANSPOSED = 60,
    CONV_HAS_BIAS = 70,
    CONV_WEIGHTS = 90,
    CONV_BIAS = 91,
    CONV_SHAPE = 100
};

struct window {
    int64_t kernel[2], stride[2], dilation[2];
    const char *automatic;    /* NULL = by pad */
    int64_t pad[4], extra[2]; /* extra: rows and columns at the end of what is transposed */
};

static void set_window(struct layer *l, struct net_node *node, const struct window *w)
{
    coreml_set_ints(l->c, node, "kernel_shape", w->kernel, 2);
    coreml_set_ints(l->c, node, "strides", w->stride, 2);
    coreml_set_ints(l->c, node, "dilations", w->dilation, 2);
    if (w->automatic)
        coreml_set_text(l->c, node, "auto_pad", w->automatic);
    else
        coreml_set_ints(l->c, node, "pads", w->pad, 4);
}

static const char *same_of(struct pb same)
{
    return pb_integer(same, PADDING_MODE, 0) ? "SAME_LOWER" : "SAME_UPPER";
}

/* What a transposed convolution cuts off of (in - 1) stride + kernel, or adds to it, for the size that is wanted. */
static void cut(struct layer *l, net_id x, bool same, struct window *w)
{
    int64_t size[2];
    const bool given = pb_integers(l->body, CONV_SHAPE, size, 2) == 2;
    for (unsigned d = 0; d < 2 && (same || given); d++) {
        const int64_t in = coreml_dim(l->c, x, (int64_t)d - 2), full = (in - 1) * w->stride[d] + w->kernel[d];
        const int64_t excess = full - (given ? size[d] : in * w->stride[d]), half = excess > 0 ? excess / 2 : 0;
        const bool lower = w->automatic && strcmp(w->automatic, "SAME_LOWER") == 0;
        w->pad[d] = lower && excess > 0 ? excess - half : half;
        w->pad[d + 2] = excess > 0 ? excess - w->pad[d] : 0;
        w->extra[d] = excess < 0 ? -excess : 0;
    }
    w->automatic = NULL;
}

static net_id apply(struct layer *l, net_id x, const struct window *w, int64_t groups, const net_id *operand, bool transposed)
{
    const net_id in[3] = {x, operand[0], operand[1]};
    struct net_node *const node = coreml_node(l->c, transposed ? "ConvTranspose" : "Conv", 1, in, operand[1] == NET_NONE ? 2 : 3);
    set_window(l, node, w);
    coreml_set_int(l->c, node, "group", groups);
    if (transposed)
        coreml_set_ints(l->c, node, "output_padding", w->extra, 2);
    return coreml_add(l->c, node, NULL);
}

void layer_convolution(struct layer *l)
{
    struct window w = {.automatic = NULL};
    const int64_t groups = layer_int(l, CONV_GROUPS, 0) > 0 ? layer_int(l, CONV_GROUPS, 0) : 1;
    const int64_t out = layer_int(l, CONV_OUT, 0), in = layer_int(l, CONV_IN, 0);
    const bool transposed = layer_int(l, CONV_IS_TRANSPOSED, 0), same = pb_has(l->body, CONV_SAME);
    const net_id x = layer_as_image(l, l->in[0]);
    layer_ints(l, CONV_KERNEL, w.kernel, 2, 3);
    layer_ints(l, CONV_STRIDE, w.stride, 2, 1);
    layer_ints(l, CONV_DILATION, w.dilation, 2, 1);
    w.automatic = same ? same_of(pb_message(l->body, CONV_SAME)) : NULL;
    layer_borders(l, pb_message(pb_message(l->body, CONV_VALID), PADDING_BORDERS), w.pad);
    if (out < 1 || in < 1 || groups > out || out % groups)
        coreml_fail(l->c, ORCH_USAGE, "%lld channels of %lld in %lld groups", (long long)out, (long long)in, (long long)groups);
    if (l->c->failed)
        return;
    /* kernelChannels is input channels / groups for a convolution, and input channels for a transposed one. */
    const int64_t shape[4] = {transposed ? in : out, transposed ? out / groups : in, w.kernel[0], w.kernel[1]};
    const bool dynamic = l->inputs > 1;
    const net_id operand[2] = {dynamic ? l->in[1] : coreml_weights(l->c, l->body, CONV_WEIGHTS, shape, 4),
                               l->inputs > 2                    ? l->in[2]
                               : layer_int(l, CONV_HAS_BIAS, 0) ? coreml_weights(l->c, l->body, CONV_BIAS, &out, 1)
                                                                : NET_NONE};
    if (transposed) {
        w.dilation[0] = w.dilation[1] = 1;
        cut(l, x, same, &w);
    }
    l->out[0] = layer_as_before(l, apply(l, x, &w, groups, operand, transposed), l->in[0]);
}

/* ---- pooling ---- */

enum {
    POOL_TYPE = 1,
    POOL_KERNEL = 10,
    POOL_STRIDE = 20,
    POOL_VALID = 30,
    POOL_SAME = 31,
    POOL_LAST = 32,
    POOL_SKIPS_PADDING = 50,
    POOL_GLOBAL = 60
};

void layer_pooling(struct layer *l)
{
    struct coreml_pool pool = {.kind = (int)layer_int(l, POOL_TYPE, 0), .dims = 2};
    const net_id x = layer_as_image(l, l->in[0]);
    if (pool.kind < 0 || pool.kind > 2)
        coreml_fail(l->c, ORCH_USAGE, "a kind of pooling that does not exist");
    layer_ints(l, POOL_KERNEL, pool.kernel, 2, 3);
    layer_ints(l, POOL_STRIDE, pool.stride, 2, 1);
    pool.skips_padding = layer_int(l, POOL_SKIPS_PADDING, 0);
    if (layer_int(l, POOL_GLOBAL, 0)) {
        for (unsigned d = 0; d < 2; d++) {
            pool.kernel[d] = coreml_dim(l->c, x, (int64_t)d - 2);
            pool.stride[d] = 1;
        }
    } else if (pb_has(l->body, POOL_SAME)) {
        pool.automatic = same_of(pb_message(l->body, POOL_SAME));
    } else if (pb_has(l->body, POOL_LAST)) {
        int64_t amount[2] = {0, 0};
        pb_integers(pb_message(l->body, POOL_LAST), BORDER_LIST, amount, 2);
        pool.ceil = true;
        for (unsigned d = 0; d < 4; d++)
            pool.pad[d] = amount[d % 2];
    } else {
        layer_borders(l, pb_message(pb_message(l->body, POOL_VALID), PADDING_BORDERS), pool.pad);
    }
    l->out[0] = layer_as_before(l, coreml_pooled(l->c, x, &pool), l->in[0]);
}

/* ---- resampling ---- */

enum { UPSAMPLE_FACTOR = 1, UPSAMPLE_MODE = 5, UPSAMPLE_LINEAR = 6, UPSAMPLE_FRACTION = 7 };
enum { RESIZE_SIZE = 1, RESIZE_MODE = 2 };

void layer_upsample(struct layer *l)
{
    /* The default of the linear mode samples at i in / out: from the corner. */
    static const char *const where[] = {"asymmetric", "align_corners", "half_pixel"};
    int64_t factor[2], size[2];
    float fraction[2] = {1, 1};
    const bool linear = layer_int(l, UPSAMPLE_MODE, 0) == 1;
    const int64_t mode = layer_int(l, UPSAMPLE_LINEAR, 0);
    const net_id x = layer_as_image(l, l->in[0]);
    layer_ints(l, UPSAMPLE_FACTOR, factor, 2, 1);
    const bool fractional = pb_floats(l->body, UPSAMPLE_FRACTION, fraction, 2) == 2;
    for (unsigned d = 0; d < 2; d++) {
        const int64_t in = coreml_dim(l->c, x, (int64_t)d - 2);
        const double exact = fractional ? (double)in * (double)fraction[d] : (double)in * (double)factor[d];
        if (!(exact >= 1 && exact <= 1 << 20))
            coreml_fail(l->c, ORCH_USAGE, "upsampling %lld rows or columns to %g", (long long)in, exact);
        size[d] = l->c->failed ? 1 : (int64_t)exact;
    }
    if (mode < 0 || mode > 2)
        coreml_fail(l->c, ORCH_USAGE, "a mode of upsampling that does not exist");
    if (!l->c->failed)
        l->out[0] = layer_as_before(
            l, coreml_resize(l->c, x, linear ? "linear" : "nearest", linear ? where[mode] : "asymmetric", size), l->in[0]);
}

void layer_resize_bilinear(struct layer *l)
{
    static const char *const where[] = {"align_corners", "align_corners", "asymmetric"};
    int64_t size[2];
    const int64_t mode = pb_integer(pb_message(l->body, RESIZE_MODE), 1, 0);
    const net_id x = layer_as_image(l, l->in[0]);
    layer_ints(l, RESIZE_SIZE, size, 2, 1);
    if (mode < 0 || mode > 2)
        coreml_fail(l->c, ORCH_UNMODELLED, "sampling mode %lld", (long long)mode);
    /* With one row or column, align_endpoints takes the middle, not the first. */
    if (mode == 1 && (size[0] == 1 || size[1] == 1))
        coreml_fail(l->c, ORCH_UNMODELLED, "aligned end points with one row or column");
    if (!l->c->failed)
        l->out[0] = layer_as_before(l, coreml_resize(l->c, x, "linear", where[mode], size), l->in[0]);
}

/* ---- borders ---- */

void layer_crop(struct layer *l)
{
    int64_t pad[4], offset[2] = {0, 0};
    const net_id x = l->in[0];
    layer_borders(l, pb_message(l->body, 1), pad);
    if (l->inputs == 2)
        layer_ints(l, 5, offset, 2, 0);
    for (unsigned d = 0; d < 2; d++) {
        const int64_t size = coreml_dim(l->c, x, (int64_t)d - 2);
        const int64_t from = l->inputs == 2 ? offset[d] : pad[d];
        const int64_t to = l->inputs == 2 ? from + coreml_dim(l->c, l->in[1], (int64_t)d - 2) : size - pad[d + 2];
        if (from < 0 || to <= from || to > size)
            coreml_fail(l->c, ORCH_USAGE, "%lld to %lld of %lld rows or columns", (long long)from, (long long)to,
                        (long long)size);
        l->out[0] = coreml_slice(l->c, d ? l->out[0] : x, (int64_t)d - 2, from, to, 1);
    }
}

void layer_padding(struct layer *l)
{
    enum { PAD_CONSTANT = 1, PAD_REFLECTION = 2, PAD_REPLICATION = 3, PAD_AMOUNTS = 10 };
    int64_t pad[4], pads[2 * NET_DIMS_MAX] = {0};
    const unsigned rank = coreml_rank(l->c, l->in[0]);
    const char *const mode = pb_has(l->body, PAD_REFLECTION) ? "reflect" : pb_has(l->body, PAD_REPLICATION) ? "edge" : "constant";
    layer_borders(l, pb_message(l->body, PAD_AMOUNTS), pad);
    if (rank < 2)
        coreml_fail(l->c, ORCH_USAGE, "an array of %u dimensions has no height and width", rank);
    if (l->c->failed)
        return;
    for (unsigned d = 0; d < 2; d++) {
        pads[rank - 2 + d] = pad[d];
        pads[2 * rank - 2 + d] = pad[d + 2];
    }
    const net_id in[3] = {l->in[0], coreml_ints(l->c, pads, 2 * rank),
                          coreml_number(l->c, pb_real(pb_message(l->body, PAD_CONSTANT), 1, 0))};
    struct net_node *const node = coreml_node(l->c, "Pad", 1, in, strcmp(mode, "constant") == 0 ? 3 : 2);
    coreml_set_text(l->c, node, "mode", mode);
    l->out[0] = coreml_add(l->c, node, NULL);
}

void layer_reorganise(struct layer *l)
{
    const int64_t mode = layer_int(l, 1, 0), block = layer_int(l, 2, 0);
    const net_id x = layer_as_image(l, l->in[0]);
    struct net_node *const node = coreml_node(l->c, mode == 0 ? "SpaceToDepth" : "DepthToSpace", 1, &x, 1);
    if (block < 2 || mode < 0 || mode > 2)
        coreml_fail(l->c, ORCH_USAGE, "blocks of %lld", (long long)block);
    coreml_set_int(l->c, node, "blocksize", block);
    if (mode)
        coreml_set_text(l->c, node, "mode", mode == 1 ? "DCR" : "CRD");
    l->out[0] = layer_as_before(l, coreml_add(l->c, node, NULL), l->in[0]);
}
