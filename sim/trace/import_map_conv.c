/* Convolutions and their gradients. */
#include "sim/trace/import_mapper.h"

#include <inttypes.h>
#include <string.h>

enum { WINDOW_MAX = 64 }; /* largest window that the library's convolutions take */

struct conv {
    uint64_t n, c, h, w, k, r, s, groups, oh, ow, stride, pad;
};

static void put_conv(struct import_mapping *m, const struct conv *v)
{
    const bool plain =
        v->stride && (v->h + 2 * v->pad - v->r) / v->stride + 1 == v->oh && (v->w + 2 * v->pad - v->s) / v->stride + 1 == v->ow;
    /* Otherwise the padding becomes part of the image: the result needs the same products. */
    const uint64_t h = plain ? v->h : (v->oh - 1) * v->stride + v->r, w = plain ? v->w : (v->ow - 1) * v->stride + v->s;
    if (!plain)
        import_note(m, "image with its padding");
    import_kernel(m, "conv2d",
                  "n=%" PRIu64 ",c=%" PRIu64 ",h=%" PRIu64 ",w=%" PRIu64 ",k=%" PRIu64 ",r=%" PRIu64 ",s=%" PRIu64
                  ",stride=%" PRIu64 ",pad=%" PRIu64 ",groups=%" PRIu64,
                  v->n, v->c, h, w, v->k, v->r, v->s, v->stride, plain ? v->pad : 0, v->groups);
}

/* Finds stride and padding from recorded values or the size of the result; when the profile has neither, assumes the usual ones.
 */
static void find_geometry(const struct import_op *op, const char *argument, struct conv *v, struct import_mapping *m)
{
    const struct import_array *const out = op->outs ? &op->out[0] : op->next.rank ? &op->next : NULL;
    uint64_t stride, pad;
    if (import_value(op, argument[2], &stride) && import_value(op, argument[3], &pad) && stride > 0) {
        v->stride = stride;
        v->pad = pad;
    } else if (out && out->rank >= 3 && import_last(out, 0) && (out->rank == 3 || import_last(out, 1))) {
        v->oh = out->rank >= 4 ? import_last(out, 1) : 1;
        v->ow = import_last(out, 0);
        v->stride = import_stride(v->w, v->ow);
        v->pad = import_pad(v->w, v->ow, v->s, v->stride);
        if (!op->outs)
            import_note(m, "stride and padding from what reads the result");
        return;
    } else {
        v->stride = v->r >= 7 && v->h >= 112 ? 2 : 1;
        v->pad = (v->r - 1) / 2;
        import_note(m, "stride and padding assumed");
    }
    v->oh = v->h + 2 * v->pad >= v->r ? (v->h + 2 * v->pad - v->r) / v->stride + 1 : 1;
    v->ow = v->w + 2 * v->pad >= v->s ? (v->w + 2 * v->pad - v->s) / v->stride + 1 : 1;
    if (v->h == 1 && v->r == 1)
        v->oh = 1;
}

void import_map_conv(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    const struct import_array *const x = import_in(op, (unsigned)(argument[0] - '0'));
    const struct import_array *const f = import_in(op, (unsigned)(argument[1] - '0'));
    if (x->rank < 3 || x->rank != f->rank || x->elements < 1 || f->elements < 1)
        return;
    import_precision(m, x);
    struct conv v = {.n = x->dim[0],
                     .c = x->dim[1],
                     .h = x->rank >= 4 ? import_last(x, 1) : 1,
                     .w = import_last(x, 0),
                     .k = f->dim[0],
                     .r = f->rank >= 4 ? import_last(f, 1) : 1,
                     .s = import_last(f, 0)};
    v.groups = v.c / f->dim[1] ? v.c / f->dim[1] : 1;
    if (!v.h || !v.w || !v.r || !v.s || !v.c)
        return;
    if (x->rank >= 5) {
        const uint64_t depth = x->dim[2];
        import_put_gemm(m, 1, v.k, v.n * depth * v.h * v.w, f->dim[1] * f->dim[2] * v.r * v.s);
        import_note(m, "3-D convolution as one product, stride 1 assumed");
        return;
    }
    find_geometry(op, argument, &v, m);
    if ((v.r > WINDOW_MAX || v.s > WINDOW_MAX) && v.groups == 1) {
        import_put_gemm(m, 1, v.k, v.n * v.oh * v.ow, v.c * v.r * v.s);
        import_note(m, "wide windows as one product");
        return;
    }
    put_conv(m, &v);
}

/* A gradient is as much work as the convolution itself, and there are two. The argument names the inputs that are image and
 * weights. */
void import_map_conv_back(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    struct import_op forward = *op;
    const struct import_array *const g = import_in(op, argument[0] == '1' ? 0 : 1);
    forward.outs = g->rank >= 3;
    forward.out[0] = *g;
    char places[6] = {argument[0], argument[1], '-', '-', '-', 0};
    import_map_conv(&forward, places, m);
    m->repeat = 2;
    import_note(m, "gradients as much work as the convolution");
}

void import_map_conv_grad(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    (void)argument;
    /* The shapes are those of the enclosing cudnn_convolution_backward(image, grad, weight). */
    if (import_in(op, 0)->rank >= 3 && import_in(op, 2)->rank >= 3) {
        import_map_conv_back(op, "02", m);
        m->repeat = 1;
        return;
    }
    /* cudnn_convolution_backward_input(sizes, grad, weight) and _weight(sizes, grad, image) each leave one of the two shapes out.
     */
    const struct import_array *const g = import_in(op, 1), *const o = import_in(op, 2);
    if (g->rank != 4 || o->rank != 4 || g->elements < 1 || o->elements < 1)
        return;
    import_precision(m, g);
    const bool weight = strstr(op->name, "weight") != NULL;
    if (!weight) /* k x c x r x s weights at every place of the gradient */
        import_put_gemm(m, 1, o->dim[1] * o->dim[2] * o->dim[3], g->dim[0] * g->dim[2] * g->dim[3], g->dim[1]);
    else
        import_put_gemm(m, 1, g->dim[1], o->dim[1], g->dim[0] * g->dim[2] * g->dim[3]);
    import_note(m, weight ? "gradient of 1 x 1 weights assumed" : "gradient of the image as one product");
}

void import_map_conv_transpose(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    const struct import_array *const x = import_in(op, 0), *const f = import_in(op, 1);
    (void)argument;
    if (x->rank >= 3 && x->elements >= 1 && op->ins == 1 && op->outs && op->out[0].rank == x->rank && op->out[0].elements >= 1) {
        /* The shape of packed weights is not recorded. Windows side by side take as many products as there are results, times
         * channels. */
        import_precision(m, x);
        import_put_gemm(m, 1, (uint64_t)(op->out[0].elements * (double)x->dim[1] / x->elements + 0.5),
                        (uint64_t)(x->elements / (double)x->dim[1]), x->dim[1]);
        import_note(m, "transposed convolution as one product, windows side by side assumed");
        return;
    }
    if (x->rank < 3 || f->rank != x->rank || x->elements < 1 || f->elements < 1)
        return;
    import_precision(m, x);
    import_put_gemm(m, 1, (uint64_t)(f->elements / (double)(f->dim[0] ? f->dim[0] : 1)),
                    (uint64_t)(x->elements / (double)(x->dim[1] ? x->dim[1] : 1)), x->dim[1]);
    import_note(m, "transposed convolution as one product");
}
