/* From operators of profiles to kernels of the library. Where a profile does not tell what decides the work, the note says what
 * was assumed. Names: the operator sets of PyTorch (ATen), ONNX and ONNX Runtime. */
#include "isa/array_count.h"
#include "sim/trace/import_op.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum category {
    GEMM,
    CONV,
    CONV_BACK,
    CONV_BACK_ONE,
    CONV_TRANSPOSE,
    ATTENTION,
    ATTENTION_BSHD,
    SOFTMAX,
    LAYERNORM,
    GROUPNORM,
    BATCHNORM,
    POOL,
    GLOBALPOOL,
    REDUCE,
    ELEMENTWISE,
    COPY,
    COPY_ALL,
    COPY_OUT,
    GATHER,
    RESIZE,
    ESTIMATE,
    NONE
};

static const struct name_row {
    const char *name;
    enum category category;
    const char *argument;
} names[] = {
#define NAME(name, category, argument) {name, category, argument},
#include "sim/trace/import_names.inc"
#undef NAME
};

/* "aten::_foreach_add_" -> "add". */
static void plain_name(const char *name, char *to, size_t size)
{
    const char *colon = strstr(name, "::");
    if (strncmp(name, "aten::", 6) == 0 || strncmp(name, "prims::", 7) == 0)
        name = colon + 2;
    if (strncmp(name, "_foreach_", 9) == 0)
        name += 9;
    snprintf(to, size, "%s", name);
    const size_t length = strlen(to);
    if (length > 1 && to[length - 1] == '_')
        to[length - 1] = 0;
}

static const struct name_row *find_name(const char *name)
{
    char plain[64];
    plain_name(name, plain, sizeof plain);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strcmp(names[i].name, plain) == 0)
            return &names[i];
    return NULL;
}

bool import_is_known(const char *name)
{
    return find_name(name) != NULL;
}

/* ---- shared ---- */

static double max2(double a, double b)
{
    return a > b ? a : b;
}

static uint64_t last(const struct import_array *a, unsigned back)
{
    return a->rank > back ? a->dim[a->rank - 1 - back] : 1;
}

static uint64_t leading(const struct import_array *a, unsigned without)
{
    uint64_t n = 1;
    for (unsigned i = 0; i + without < a->rank; i++)
        n *= a->dim[i];
    return n;
}

static const struct import_array *in_at(const struct import_op *op, unsigned i)
{
    static const struct import_array none;
    return i < op->ins && op->in[i].is_array ? &op->in[i] : &none;
}

/* The array that the result is like: told, or the largest of those read. */
static const struct import_array *result_of(const struct import_op *op)
{
    const struct import_array *best = in_at(op, 0);
    if (op->outs)
        return &op->out[0];
    for (unsigned i = 1; i < op->ins; i++)
        if (in_at(op, i)->elements > best->elements)
            best = in_at(op, i);
    return best;
}

static double bytes_in(const struct import_op *op)
{
    double sum = 0;
    for (unsigned i = 0; i < op->ins; i++)
        sum += in_at(op, i)->elements * in_at(op, i)->bytes;
    return sum;
}

static double bytes_out(const struct import_op *op)
{
    double sum = 0;
    for (unsigned i = 0; i < op->outs; i++)
        sum += op->out[i].elements * op->out[i].bytes;
    return op->outs ? sum : result_of(op)->elements * result_of(op)->bytes;
}

static void note(struct import_mapping *m, const char *text)
{
    const size_t used = strlen(m->note);
    snprintf(m->note + used, sizeof m->note - used, "%s%s", used ? "; " : "", text);
}

__attribute__((format(printf, 3, 4))) static void kernel(struct import_mapping *m, const char *name, const char *format, ...)
{
    va_list args;
    const int n = snprintf(m->workload, sizeof m->workload, "%s:", name);
    va_start(args, format);
    vsnprintf(m->workload + n, sizeof m->workload - (size_t)n, format, args);
    va_end(args);
    snprintf(m->kernel, sizeof m->kernel, "%s", name);
    m->work = IMPORT_KERNEL;
}

static void precision_of(struct import_mapping *m, const struct import_array *a)
{
    if (a->type && a->bytes == 8)
        note(m, "f64 as f32");
    if (!a->type)
        note(m, "integers as f32");
    snprintf(m->precision, sizeof m->precision, "%s", a->type ? a->type : "f32");
}

/* An input that is a list of whole numbers, by its text "[2, 2]"; false when it is not told. */
static bool value_list(const struct import_op *op, char place, uint64_t *first)
{
    if (place == '-' || !op->values || !json_object_is_type(op->values, json_type_array) ||
        json_object_array_length(op->values) <= (size_t)(place - '0'))
        return false;
    const char *text = json_object_get_string(json_object_array_get_idx(op->values, (size_t)(place - '0')));
    if (!text)
        return false;
    text += strspn(text, "[ ");
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    *first = value;
    return end != text && *text != '-' && value < 1 << 16;
}

/* ---- products ---- */

static void put_gemm(struct import_mapping *m, uint64_t batch, uint64_t rows, uint64_t columns, uint64_t inner)
{
    if (batch > 1)
        kernel(m, "gemm", "%" PRIu64 "x%" PRIu64 "x%" PRIu64 ",batch=%" PRIu64, rows, columns, inner, batch);
    else
        kernel(m, "gemm", "%" PRIu64 "x%" PRIu64 "x%" PRIu64, rows, columns, inner);
    if (rows == 0 || columns == 0 || inner == 0 || batch == 0)
        m->work = IMPORT_NONE;
}

static void map_gemm(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    const struct import_array *a = in_at(op, (unsigned)(argument[0] - '0')), *b = in_at(op, (unsigned)(argument[1] - '0'));
    if (op->outs && a->rank >= 1 && a->elements >= 1 && op->ins == 1 &&
        op->out[0].elements >= 1) { /* packed weights are not told */
        precision_of(m, a);
        note(m, "one matrix of weights for all rows assumed");
        put_gemm(m, 1, leading(&op->out[0], 1), last(&op->out[0], 0), last(a, 0));
        return;
    }
    if (a->rank == 0 || b->rank == 0 || a->elements < 1 || b->elements < 1 || (op->outs && op->out[0].elements < 1))
        return;
    uint64_t rows, columns, inner, batch;
    precision_of(m, a);
    if (op->outs && op->out[0].rank >= 2) { /* which operand is transposed is not told: the result says the rest */
        rows = last(&op->out[0], 1);
        columns = last(&op->out[0], 0);
        batch = leading(&op->out[0], 2);
        const double each = a->elements / (double)leading(a, 2);
        inner = rows ? (uint64_t)(each / (double)rows + 0.5) : 0;
    } else {
        rows = last(a, 1);
        inner = last(a, 0);
        columns = argument[2] == 't' ? leading(b, 1) : b->rank >= 2 ? last(b, 0) : 1;
        batch = leading(a, 2) > leading(b, 2) ? leading(a, 2) : leading(b, 2);
    }
    if (b->rank <= 2 && batch > 1) { /* one matrix for all */
        rows *= batch;
        batch = 1;
    }
    put_gemm(m, batch, rows, columns, inner);
}

/* ---- convolutions ---- */

enum { WINDOW_MAX = 64 }; /* of the library's convolutions */

struct conv {
    uint64_t n, c, h, w, k, r, s, groups, oh, ow, stride, pad;
};

static void put_conv(struct import_mapping *m, const struct conv *v)
{
    const bool plain =
        v->stride && (v->h + 2 * v->pad - v->r) / v->stride + 1 == v->oh && (v->w + 2 * v->pad - v->s) / v->stride + 1 == v->ow;
    /* Else an image without padding that gives the same results: the same products. */
    const uint64_t h = plain ? v->h : (v->oh - 1) * v->stride + v->r, w = plain ? v->w : (v->ow - 1) * v->stride + v->s;
    if (!plain)
        note(m, "image with its padding");
    kernel(m, "conv2d",
           "n=%" PRIu64 ",c=%" PRIu64 ",h=%" PRIu64 ",w=%" PRIu64 ",k=%" PRIu64 ",r=%" PRIu64 ",s=%" PRIu64 ",stride=%" PRIu64
           ",pad=%" PRIu64 ",groups=%" PRIu64,
           v->n, v->c, h, w, v->k, v->r, v->s, v->stride, plain ? v->pad : 0, v->groups);
}

/* Of one direction: the window moves by so much. */
static uint64_t stride_of(uint64_t in, uint64_t out)
{
    return out ? (in + out / 2) / out ? (in + out / 2) / out : 1 : 1;
}

static uint64_t pad_for(uint64_t in, uint64_t out, uint64_t window, uint64_t stride)
{
    const uint64_t reach = (out - 1) * stride + window;
    return reach > in ? (reach - in + 1) / 2 : 0;
}

/* Stride and padding from the result's size; without one, as they usually are. */
static void find_geometry(const struct import_op *op, const char *argument, struct conv *v, struct import_mapping *m)
{
    const struct import_array *out = op->outs ? &op->out[0] : op->next.rank ? &op->next : NULL;
    uint64_t stride, pad;
    if (value_list(op, argument[2], &stride) && value_list(op, argument[3], &pad) && stride > 0) {
        v->stride = stride;
        v->pad = pad;
    } else if (out && out->rank >= 3 && last(out, 0) && (out->rank == 3 || last(out, 1))) {
        v->oh = out->rank >= 4 ? last(out, 1) : 1;
        v->ow = last(out, 0);
        v->stride = stride_of(v->w, v->ow);
        v->pad = pad_for(v->w, v->ow, v->s, v->stride);
        if (!op->outs)
            note(m, "stride and padding from what reads the result");
        return;
    } else {
        v->stride = v->r >= 7 && v->h >= 112 ? 2 : 1;
        v->pad = (v->r - 1) / 2;
        note(m, "stride and padding assumed");
    }
    v->oh = v->h + 2 * v->pad >= v->r ? (v->h + 2 * v->pad - v->r) / v->stride + 1 : 1;
    v->ow = v->w + 2 * v->pad >= v->s ? (v->w + 2 * v->pad - v->s) / v->stride + 1 : 1;
    if (v->h == 1 && v->r == 1)
        v->oh = 1;
}

static void map_conv(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    const struct import_array *x = in_at(op, (unsigned)(argument[0] - '0')), *f = in_at(op, (unsigned)(argument[1] - '0'));
    if (x->rank < 3 || x->rank != f->rank || x->elements < 1 || f->elements < 1)
        return;
    precision_of(m, x);
    struct conv v = {.n = x->dim[0],
                     .c = x->dim[1],
                     .h = x->rank >= 4 ? last(x, 1) : 1,
                     .w = last(x, 0),
                     .k = f->dim[0],
                     .r = f->rank >= 4 ? last(f, 1) : 1,
                     .s = last(f, 0)};
    v.groups = v.c / f->dim[1] ? v.c / f->dim[1] : 1;
    if (!v.h || !v.w || !v.r || !v.s || !v.c)
        return;
    if (x->rank >= 5) {
        const uint64_t depth = x->dim[2];
        put_gemm(m, 1, v.k, v.n * depth * v.h * v.w, f->dim[1] * f->dim[2] * v.r * v.s);
        note(m, "3-D convolution as one product, stride 1 assumed");
        return;
    }
    find_geometry(op, argument, &v, m);
    if ((v.r > WINDOW_MAX || v.s > WINDOW_MAX) && v.groups == 1) {
        put_gemm(m, 1, v.k, v.n * v.oh * v.ow, v.c * v.r * v.s);
        note(m, "wide windows as one product");
        return;
    }
    put_conv(m, &v);
}

/* Gradients: each as much work as the convolution itself. The arguments name image and weights. */
static void map_conv_back(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    struct import_op forward = *op;
    const struct import_array *g = in_at(op, argument[0] == '1' ? 0 : 1);
    forward.outs = g->rank >= 3;
    forward.out[0] = *g;
    char places[6] = {argument[0], argument[1], '-', '-', '-', 0};
    map_conv(&forward, places, m);
    m->repeat = 2;
    note(m, "gradients as much work as the convolution");
}

static void map_conv_back_one(const struct import_op *op, struct import_mapping *m)
{
    /* With the shapes of cudnn_convolution_backward(image, grad, weight) around it. */
    if (in_at(op, 0)->rank >= 3 && in_at(op, 2)->rank >= 3) {
        map_conv_back(op, "02", m);
        m->repeat = 1;
        return;
    }
    /* cudnn_convolution_backward_input(sizes, grad, weight), _weight(sizes, grad, image): one of the two is not told. */
    const struct import_array *g = in_at(op, 1), *o = in_at(op, 2);
    if (g->rank != 4 || o->rank != 4 || g->elements < 1 || o->elements < 1)
        return;
    precision_of(m, g);
    const bool weight = strstr(op->name, "weight") != NULL;
    if (!weight) /* k x c x r x s weights over the gradient's places */
        put_gemm(m, 1, o->dim[1] * o->dim[2] * o->dim[3], g->dim[0] * g->dim[2] * g->dim[3], g->dim[1]);
    else
        put_gemm(m, 1, g->dim[1], o->dim[1], g->dim[0] * g->dim[2] * g->dim[3]);
    note(m, weight ? "gradient of 1 x 1 weights assumed" : "gradient of the image as one product");
}

static void map_conv_transpose(const struct import_op *op, struct import_mapping *m)
{
    const struct import_array *x = in_at(op, 0), *f = in_at(op, 1);
    if (x->rank >= 3 && x->elements >= 1 && op->ins == 1 && op->outs && op->out[0].rank == x->rank && op->out[0].elements >= 1) {
        /* Packed weights are not told: windows side by side make as many products as results, times channels. */
        precision_of(m, x);
        put_gemm(m, 1, (uint64_t)(op->out[0].elements * (double)x->dim[1] / x->elements + 0.5),
                 (uint64_t)(x->elements / (double)x->dim[1]), x->dim[1]);
        note(m, "transposed convolution as one product, windows side by side assumed");
        return;
    }
    if (x->rank < 3 || f->rank != x->rank || x->elements < 1 || f->elements < 1)
        return;
    precision_of(m, x);
    put_gemm(m, 1, (uint64_t)(f->elements / (double)(f->dim[0] ? f->dim[0] : 1)),
             (uint64_t)(x->elements / (double)(x->dim[1] ? x->dim[1] : 1)), x->dim[1]);
    note(m, "transposed convolution as one product");
}

/* ---- rows ---- */

static void map_attention(const struct import_op *op, bool heads_inside, struct import_mapping *m)
{
    const struct import_array *q = in_at(op, 0), *k = in_at(op, 1);
    if (q->rank != 4 || k->rank != 4 || q->elements < 1 || k->elements < 1)
        return;
    const unsigned head = heads_inside ? 1 : 2, place = heads_inside ? 2 : 1;
    precision_of(m, q);
    if (k->dim[q->rank - 1 - place] != q->dim[q->rank - 1 - place])
        note(m, "as many keys as queries assumed");
    kernel(m, "attention", "b=%" PRIu64 ",h=%" PRIu64 ",s=%" PRIu64 ",d=%" PRIu64, q->dim[0], q->dim[3 - head], k->dim[3 - place],
           q->dim[3]);
}

static void map_rows(const struct import_op *op, const char *name, const char *more, struct import_mapping *m)
{
    const struct import_array *x = in_at(op, 0);
    if (x->rank == 0 || x->elements < 1)
        return;
    precision_of(m, x);
    kernel(m, name, "%" PRIu64 "x%" PRIu64 "%s", leading(x, 1), last(x, 0), more);
}

static void map_reduce(const struct import_op *op, const char *name, struct import_mapping *m)
{
    const struct import_array *x = in_at(op, 0);
    uint64_t rows = op->outs ? (uint64_t)op->out[0].elements : leading(x, 1);
    if (x->elements < 1)
        return;
    if (!op->outs)
        note(m, "reduced over the last axis");
    rows = rows ? rows : 1;
    precision_of(m, x);
    kernel(m, "reduce", "%" PRIu64 "x%" PRIu64 ",op=%s", rows, (uint64_t)max2(1, x->elements / (double)rows), name);
}

static bool image(const struct import_array *x, uint64_t to[4])
{
    if (x->rank < 2 || x->elements < 1)
        return false;
    to[0] = x->dim[0];
    to[1] = x->dim[1];
    to[2] = x->rank >= 4 ? last(x, 1) : 1;
    to[3] = x->rank >= 3 ? last(x, 0) : 1;
    if (x->rank >= 5)
        to[2] = (uint64_t)(x->elements / (double)(to[0] * to[1] * to[3]));
    return true;
}

static void map_image(const struct import_op *op, const char *name, const char *more, struct import_mapping *m)
{
    uint64_t d[4];
    if (!image(in_at(op, 0), d))
        return;
    precision_of(m, in_at(op, 0));
    kernel(m, name, "n=%" PRIu64 ",c=%" PRIu64 ",h=%" PRIu64 ",w=%" PRIu64 "%s", d[0], d[1], d[2], d[3], more);
}

static void map_groupnorm(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    uint64_t d[4], groups = 1;
    char more[40];
    if (!image(in_at(op, 0), d))
        return;
    if (*argument == 'c')
        groups = d[1];
    else if (d[1] % 32 == 0)
        groups = 32;
    if (*argument != 'c')
        note(m, "32 groups assumed");
    snprintf(more, sizeof more, ",groups=%" PRIu64, groups);
    map_image(op, "groupnorm", more, m);
}

/* The window is not told: as far as it moves, one more where it overlaps or the image has a border. */
static void map_pool(const struct import_op *op, const char *name, struct import_mapping *m)
{
    uint64_t d[4], o[4], r = 0, stride = 0, pad = 0;
    const struct import_array *out = op->outs ? &op->out[0] : op->next.rank ? &op->next : NULL;
    char more[80];
    if (!image(in_at(op, 0), d))
        return;
    if (value_list(op, '1', &r) && r && value_list(op, '3', &pad)) {
        if (!value_list(op, '2', &stride) || stride == 0)
            stride = r;
    } else if (out && image(out, o) && o[3]) {
        stride = stride_of(d[3], o[3]);
        r = stride == 1 ? 3 : o[3] * stride == d[3] ? stride : stride + 1;
        pad = pad_for(d[3], o[3], r, stride);
        note(m, "window assumed from sizes");
    } else {
        r = stride = 2;
        note(m, "window 2 x 2 assumed");
    }
    snprintf(more, sizeof more, ",r=%" PRIu64 ",s=%" PRIu64 ",stride=%" PRIu64 ",pad=%" PRIu64 ",op=%s", r, r, stride, pad, name);
    map_image(op, "pool", more, m);
}

static void map_resize(const struct import_op *op, const char *mode, struct import_mapping *m)
{
    uint64_t d[4], o[4];
    char more[80];
    if (!op->outs || !image(in_at(op, 0), d) || !image(&op->out[0], o))
        return;
    snprintf(more, sizeof more, ",oh=%" PRIu64 ",ow=%" PRIu64 ",mode=%s", o[2], o[3], mode);
    note(m, "interpolation assumed");
    map_image(op, "resize", more, m);
}

/* ---- elements ---- */

static void map_elementwise(const struct import_op *op, const char *name, struct import_mapping *m)
{
    const struct import_array *x = result_of(op);
    if (x->elements < 1)
        return;
    precision_of(m, x->type ? x : in_at(op, 0));
    kernel(m, "elementwise", "%.0f,op=%s", x->elements, name);
}

/* Whole lines, as a copy moves them. */
static void put_copy(struct import_mapping *m, double bytes)
{
    if (bytes < 1)
        return;
    kernel(m, "copy", "%.0f", ceil(bytes / 128) * 128);
}

static void map_gather(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    const struct import_array *table = in_at(op, 0), *index = in_at(op, *argument == '0' ? 2 : 1);
    if (table->rank < 2) {
        put_copy(m, bytes_out(op));
        return;
    }
    const double row = table->elements / (double)(table->dim[0] ? table->dim[0] : 1);
    double count = op->outs && row > 0 ? op->out[0].elements / row : index->elements;
    count = max2(1, count);
    precision_of(m, table);
    kernel(m, "gather", "%" PRIu64 "x%.0fx%.0f", table->dim[0], row, count);
}

static void map_known(const struct import_op *op, const struct name_row *row, struct import_mapping *m)
{
    switch (row->category) {
    case GEMM: map_gemm(op, row->argument, m); break;
    case CONV: map_conv(op, row->argument, m); break;
    case CONV_BACK: map_conv_back(op, row->argument, m); break;
    case CONV_BACK_ONE: map_conv_back_one(op, m); break;
    case CONV_TRANSPOSE: map_conv_transpose(op, m); break;
    case ATTENTION: map_attention(op, false, m); break;
    case ATTENTION_BSHD: map_attention(op, true, m); break;
    case SOFTMAX: map_rows(op, "softmax", row->argument, m); break;
    case LAYERNORM: map_rows(op, row->argument, "", m); break;
    case GROUPNORM: map_groupnorm(op, row->argument, m); break;
    case BATCHNORM: map_image(op, "batchnorm", "", m); break;
    case POOL: map_pool(op, row->argument, m); break;
    case GLOBALPOOL: {
        char more[16];
        snprintf(more, sizeof more, ",op=%s", row->argument);
        map_image(op, "globalpool", more, m);
        break;
    }
    case REDUCE: map_reduce(op, row->argument, m); break;
    case ELEMENTWISE: map_elementwise(op, row->argument, m); break;
    case COPY: put_copy(m, bytes_out(op)); break;
    case COPY_ALL: put_copy(m, bytes_in(op)); break;
    case COPY_OUT: put_copy(m, bytes_out(op)); break;
    case GATHER: map_gather(op, row->argument, m); break;
    case RESIZE: map_resize(op, row->argument, m); break;
    default: break;
    }
}

/* Elements that could be counted. */
static bool sizes_are_sane(const struct import_op *op)
{
    for (unsigned i = 0; i < op->ins; i++)
        if (!(op->in[i].elements < 1e15))
            return false;
    for (unsigned i = 0; i < op->outs; i++)
        if (!(op->out[i].elements < 1e15))
            return false;
    return op->next.elements < 1e15;
}

void import_map(const struct import_op *op, struct import_mapping *m)
{
    const struct name_row *row = find_name(op->name);
    memset(m, 0, sizeof *m);
    m->work = IMPORT_ESTIMATE;
    m->repeat = 1;
    const double bytes = bytes_in(op) + bytes_out(op);
    m->bytes = (uint64_t)fmin(max2(bytes, op->device_bytes), 1e18);
    if (row && row->category == NONE) {
        m->work = op->device_bytes > 0 ? IMPORT_ESTIMATE : IMPORT_NONE;
        return;
    }
    if (row && sizes_are_sane(op))
        map_known(op, row, m);
    if (m->work == IMPORT_ESTIMATE && m->bytes == 0) {
        m->work = IMPORT_NONE;
        note(m, "neither shapes nor bytes are told");
    }
}
