/* Operators over images: normalisation, pooling, scaling. */
#include "sim/trace/import_mapper.h"

#include <inttypes.h>
#include <stdio.h>

static bool image(const struct import_array *x, uint64_t to[4])
{
    if (x->rank < 2 || x->elements < 1)
        return false;
    to[0] = x->dim[0];
    to[1] = x->dim[1];
    to[2] = x->rank >= 4 ? import_last(x, 1) : 1;
    to[3] = x->rank >= 3 ? import_last(x, 0) : 1;
    if (x->rank >= 5)
        to[2] = (uint64_t)(x->elements / (double)(to[0] * to[1] * to[3]));
    return true;
}

static void put_image(const struct import_op *op, const char *name, const char *more, struct import_mapping *m)
{
    uint64_t d[4];
    if (!image(import_in(op, 0), d))
        return;
    import_precision(m, import_in(op, 0));
    import_kernel(m, name, "n=%" PRIu64 ",c=%" PRIu64 ",h=%" PRIu64 ",w=%" PRIu64 "%s", d[0], d[1], d[2], d[3], more);
}

void import_map_groupnorm(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    uint64_t d[4], groups = 1;
    char more[40];
    if (!image(import_in(op, 0), d))
        return;
    if (*argument == 'c')
        groups = d[1];
    else if (d[1] % 32 == 0)
        groups = 32;
    if (*argument != 'c')
        import_note(m, "32 groups assumed");
    snprintf(more, sizeof more, ",groups=%" PRIu64, groups);
    put_image(op, "groupnorm", more, m);
}

/* Profiles do not record the window: it is assumed as wide as its stride, one wider where windows overlap or the image has a
 * border. */
void import_map_pool(const struct import_op *op, const char *name, struct import_mapping *m)
{
    uint64_t d[4], o[4], r = 0, stride = 0, pad = 0;
    const struct import_array *const out = op->outs ? &op->out[0] : op->next.rank ? &op->next : NULL;
    char more[80];
    if (!image(import_in(op, 0), d))
        return;
    if (import_value(op, '1', &r) && r && import_value(op, '3', &pad)) {
        if (!import_value(op, '2', &stride) || stride == 0)
            stride = r;
    } else if (out && image(out, o) && o[3]) {
        stride = import_stride(d[3], o[3]);
        r = stride == 1 ? 3 : o[3] * stride == d[3] ? stride : stride + 1;
        pad = import_pad(d[3], o[3], r, stride);
        import_note(m, "window assumed from sizes");
    } else {
        r = stride = 2;
        import_note(m, "window 2 x 2 assumed");
    }
    snprintf(more, sizeof more, ",r=%" PRIu64 ",s=%" PRIu64 ",stride=%" PRIu64 ",pad=%" PRIu64 ",op=%s", r, r, stride, pad, name);
    put_image(op, "pool", more, m);
}

void import_map_batchnorm(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    put_image(op, "batchnorm", argument, m);
}

void import_map_globalpool(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    char more[16];
    snprintf(more, sizeof more, ",op=%s", argument);
    put_image(op, "globalpool", more, m);
}

void import_map_resize(const struct import_op *op, const char *mode, struct import_mapping *m)
{
    uint64_t d[4], o[4];
    char more[80];
    if (!op->outs || !image(import_in(op, 0), d) || !image(&op->out[0], o))
        return;
    snprintf(more, sizeof more, ",oh=%" PRIu64 ",ow=%" PRIu64 ",mode=%s", o[2], o[3], mode);
    import_note(m, "interpolation assumed");
    put_image(op, "resize", more, m);
}
