/* Operators that move elements anywhere, by gather: where each comes from is what the reference says when it moves numbers of
 * places in place of the elements. That is work on shapes and attributes, none on elements. */
#include "sim/network/operators/run.h"
#include "sim/run/lower/lowering.h"

#include <stdlib.h>
#include <string.h>

/* The places of the elements of `x`, from `first` on: what has none is a zero. */
static struct net_array *number_places(const struct net_array *x, int64_t first, struct orch_error *error)
{
    struct net_array *const a = net_array_new(NET_F64, x->shape, x->dims, error);
    for (int64_t i = 0; a && i < a->count; i++)
        ((double *)a->data)[i] = (double)(first + i);
    return a;
}

/* What the node makes of the places of operand `table`, and of another one behind them unless `also` is 0; NULL when it does not
 * only move them. */
static struct net_array *move_places(struct lowering *l, size_t table, size_t also)
{
    struct orch_error error = {0};
    struct net_array **const in = calloc(l->node->inputs + l->node->outputs + 1, sizeof(*in)), **const out = in + l->node->inputs;
    struct net_array *const places = in ? number_places(l->in[table], 1, &error) : NULL;
    struct net_array *const more = also && places ? number_places(l->in[also], l->in[table]->count + 1, &error) : NULL;
    struct net_array *moved = NULL;
    if (places && (more || !also)) {
        memcpy(in, l->in, l->node->inputs * sizeof(*in));
        in[also] = also ? more : in[also];
        in[table] = places;
        if (strcmp(l->node->op, "Pad") == 0 && l->node->inputs > 2)
            in[2] = NULL; /* the border: zeros */
        if (net_evaluate_node(l->node, in, out, NULL, &error))
            moved = out[0];
        for (size_t k = 1; moved && k < l->node->outputs; k++)
            net_array_release(out[k]);
    }
    if (!moved)
        lowering_leave(l, "%.150s", error.text[0] ? error.text : "memory is out");
    net_array_release(places);
    net_array_release(more);
    free(in);
    return moved;
}

/* Whether blocks of so many elements stay together, each of them a row of the table or zeros. */
static bool stay_together(const double *place, int64_t count, int64_t columns)
{
    for (int64_t i = 0; i < count; i += columns) {
        if (place[i] > 0 && ((int64_t)place[i] - 1) % columns != 0)
            return false;
        for (int64_t j = 1; j < columns; j++)
            if (place[i + j] != (place[i] > 0 ? place[i] + (double)j : 0))
                return false;
    }
    return true;
}

/* As many elements as possible at a time: dimensions at the end that stay together. */
static int64_t columns_of(const struct net_array *moved, int64_t from_count)
{
    int64_t best = 1, columns = 1;
    for (unsigned d = moved->dims; d-- > 0;) {
        columns *= moved->shape[d];
        if (from_count % columns || !stay_together(moved->data, moved->count, columns))
            break;
        best = columns;
    }
    return best;
}

bool lowering_gather_places(struct lowering *l, enum net_type type, const void *from, int64_t from_count, const double *place,
                            int64_t count, int64_t columns, void *to)
{
    const int64_t rows = count / columns, table = from_count / columns;
    uint32_t *const index = lowering_scratch(l, rows);
    for (int64_t i = 0; index && i < rows; i++)
        index[i] = place[i * columns] > 0 ? (uint32_t)(((int64_t)place[i * columns] - 1) / columns) : UINT32_MAX;
    struct lowered_step *const step = lowering_moves(lowering_step(l, to, count, "gather:%lldx%lldx%lld", (long long)table,
                                                                   (long long)(columns * lowering_words(type)), (long long)rows),
                                                     type, count);
    lowering_read_elements(step, type, from, from_count);
    lowering_read(step, index, rows);
    return lowering_holds(l);
}

/* The elements with the number of a border behind them, which takes the place of zeros. */
static bool gather_bordered(struct lowering *l, const struct net_array *moved, double border)
{
    const struct net_array *const x = l->in[0];
    float *const own = lowering_scratch(l, 1), *const table = lowering_scratch(l, x->count + 1);
    double *const place = moved->data;
    if (x->type != NET_F32)
        return lowering_leave(l, "a border of whole numbers other than 0");
    if (!lowering_holds(l))
        return false;
    own[0] = (float)border;
    struct lowered_step *const step = lowering_step(l, table, x->count + 1, "concat:1x%lldx1", (long long)x->count);
    lowering_read(step, x->data, x->count);
    lowering_read(step, own, 1);
    for (int64_t i = 0; i < moved->count; i++)
        place[i] = place[i] > 0 ? place[i] : (double)(x->count + 1);
    return lowering_gather_places(l, NET_F32, table, x->count + 1, place, moved->count, 1, l->out[0]->data);
}

bool lowering_by_places(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const value = l->node->inputs > 2 ? l->in[2] : NULL;
    const double border = strcmp(word, "pad") == 0 && value && value->count ? net_array_double(value, 0) : 0;
    if (strcmp(word, "resize") == 0 && strcmp(net_attr_text(l->node, "mode", "nearest"), "nearest") != 0)
        return lowering_leave(l, "elements that are mixed");
    struct net_array *const moved = move_places(l, 0, 0);
    if (!moved)
        return false;
    const bool fits = moved->count == l->out[0]->count;
    const bool ok = fits && border != 0 ? gather_bordered(l, moved, border)
                    : fits              ? lowering_gather_places(l, x->type, x->data, x->count, moved->data, moved->count,
                                                                 columns_of(moved, x->count), l->out[0]->data)
                                        : lowering_leave(l, "another shape than expected");
    net_array_release(moved);
    return ok;
}

/* Elements of another operand that are put among others are found behind them. */
static bool put_among(struct lowering *l, size_t operand)
{
    const struct net_array *const x = l->in[0], *const more = l->in[operand], *const out = l->out[0];
    const char *const reduction = net_attr_text(l->node, "reduction", "none");
    const int64_t all = x->count + more->count, words = lowering_words(x->type);
    if (more->count == 0)
        return lowering_leave(l, "there are no elements");
    if (strcmp(reduction, "none") != 0)
        return lowering_scatter_pairs(l, reduction);
    struct net_array *const moved = move_places(l, 0, operand);
    void *const table = moved ? lowering_scratch(l, all * words) : NULL;
    struct lowered_step *const step =
        table ? lowering_moves(lowering_step(l, table, all, "concat:1x%lldx%lld", (long long)(x->count * words),
                                             (long long)(more->count * words)),
                               x->type, all)
              : NULL;
    lowering_read_elements(step, x->type, x->data, x->count);
    lowering_read_elements(step, x->type, more->data, more->count);
    const bool ok = step && moved->count == out->count &&
                    lowering_gather_places(l, x->type, table, all, moved->data, moved->count, columns_of(moved, all), out->data);
    net_array_release(moved);
    return ok || lowering_leave(l, "another shape than expected");
}

bool lowering_scatter(struct lowering *l, const char *word)
{
    (void)word;
    return put_among(l, 2);
}

bool lowering_tensor_scatter(struct lowering *l, const char *word)
{
    (void)word;
    return l->in[1]->type == l->in[0]->type ? put_among(l, 1) : lowering_leave(l, "an update of another type");
}

/* One of two values at each place. */
bool lowering_one_hot(struct lowering *l, const char *word)
{
    const struct net_array *const values = l->node->inputs == 3 ? l->in[2] : NULL, *const out = l->out[0];
    (void)word;
    if (!values || !l->in[0] || !l->in[1] || !out || out->count == 0 || values->count != 2 || !lowering_words(out->type))
        return lowering_leave(l, "there are no elements, or of a type that kernels do not move");
    struct net_array *const moved = move_places(l, 2, 0);
    const bool ok = moved && moved->count == out->count &&
                    lowering_gather_places(l, out->type, values->data, 2, moved->data, moved->count, 1, out->data);
    net_array_release(moved);
    return ok || lowering_leave(l, "another shape than expected");
}

/* ---- images in other sizes ---- */

static bool is_ratio(const struct net_array *in, const struct net_array *out, unsigned d, const struct net_array *scales)
{
    return !scales || scales->count == 0 ||
           (scales->count == in->dims && net_array_double(scales, d) * (double)in->shape[d] == (double)out->shape[d]);
}

/* ---- resizing by products ---- */

/* Four numbers for the dimensions of an image of which only one axis changes. */
static struct net_array *of_one_axis(enum net_type type, unsigned axis, const double number[4], struct orch_error *error)
{
    struct net_array *const a = net_array_new(type, (const int64_t[]){4}, 1, error);
    for (unsigned d = 0; a && d < 4; d++)
        net_write_doubles(type, a->data, d, 1, d == 0 || d == axis ? &number[d] : &(const double){1});
    return a;
}

/* The node's operands for a row of units along the axis, one in each image; false = out of memory. */
static bool unit_operands(const struct lowering *l, unsigned axis, struct net_array **operand, struct orch_error *error)
{
    const int64_t in = l->in[0]->shape[axis], to = l->out[0]->shape[axis];
    const int64_t ones[4] = {in, 1, axis == 2 ? in : 1, axis == 3 ? in : 1};
    operand[0] = net_array_new(NET_F32, ones, 4, error);
    for (int64_t k = 0; operand[0] && k < in; k++)
        ((float *)operand[0]->data)[k * in + k] = 1;
    for (size_t k = 1; k < l->node->inputs && k < 4; k++) {
        const struct net_array *const given = l->in[k];
        const double scale[4] = {1, 1, given && given->count == 4 ? net_array_double(given, 2) : 1,
                                 given && given->count == 4 ? net_array_double(given, 3) : 1};
        const double size[4] = {(double)in, 1, (double)to, (double)to};
        if (k > 1 && given && given->count == 4)
            operand[k] = of_one_axis(k == 2 ? NET_F32 : NET_I64, axis, k == 2 ? scale : size, error);
        else
            operand[k] = net_array_retain(l->in[k]);
        if (given && !operand[k])
            return false;
    }
    return operand[0] != NULL;
}

/* What resizing does to one axis of an image, turned: in x out numbers. The reference says it, by resizing units. NULL when it
 * cannot, which is then the reason. */
static float *axis_weights(struct lowering *l, unsigned axis)
{
    const int64_t in = l->in[0]->shape[axis], to = l->out[0]->shape[axis];
    struct net_array *result[1] = {NULL}, *operand[4] = {NULL};
    struct orch_error error = {0};
    float *const weight = lowering_scratch(l, in * to);
    const bool ok = weight && unit_operands(l, axis, operand, &error) &&
                    net_evaluate_node(l->node, operand, result, NULL, &error) && result[0]->count == in * to;
    for (int64_t k = 0; ok && k < in * to; k++)
        weight[k] = (float)net_array_double(result[0], k);
    net_array_release(result[0]);
    for (size_t k = 0; k < 4; k++)
        net_array_release(operand[k]);
    if (!ok)
        lowering_leave(l, "how it resizes an axis is not known: %.120s", error.text);
    return ok ? weight : NULL;
}

static float *turn_planes(struct lowering *l, const float *from, int64_t planes, int64_t rows, int64_t columns, float *to)
{
    const int64_t count = planes * rows * columns;
    if (!to)
        to = lowering_scratch(l, count);
    lowering_read(
        lowering_step(l, to, count, "transpose:%lldx%lld,batch=%lld", (long long)rows, (long long)columns, (long long)planes),
        from, count);
    return to;
}

static void multiply_rows(struct lowering *l, const float *from, int64_t rows, int64_t in, int64_t out, const float *weight,
                          float *to)
{
    const struct lowering_product p = {.batch = 1, .m = rows, .n = out, .k = in, .b_known = true, .alpha = 1};
    lowering_add_product(l, &p, from, weight, NULL, to);
}

/* Each axis of an image is a product with constant weights; columns are turned to rows and back. */
static bool resize_by_products(struct lowering *l)
{
    size_t axes;
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    if (x->dims != 4 || out->dims != 4 || x->shape[0] != out->shape[0] || x->shape[1] != out->shape[1])
        return lowering_leave(l, "other dimensions than those of images");
    if (net_attr_ints(l->node, "axes", &axes) ||
        strcmp(net_attr_text(l->node, "keep_aspect_ratio_policy", "stretch"), "stretch") != 0)
        return lowering_leave(l, "axes by name, or a ratio that is kept");
    if (strcmp(net_attr_text(l->node, "coordinate_transformation_mode", "half_pixel"), "tf_crop_and_resize") == 0)
        return lowering_leave(l, "a part of the image");
    const int64_t planes = x->shape[0] * x->shape[1], high = x->shape[2], wide = out->shape[3];
    const float *const across = axis_weights(l, 3), *const down = axis_weights(l, 2);
    if (!across || !down)
        return false;
    float *const first = lowering_scratch(l, planes * high * wide);
    multiply_rows(l, x->data, planes * high, x->shape[3], wide, across, first);
    const float *const turned = turn_planes(l, first, planes, high, wide, NULL);
    float *const second = lowering_scratch(l, planes * wide * out->shape[2]);
    multiply_rows(l, turned, planes * wide, high, out->shape[2], down, second);
    turn_planes(l, second, planes, wide, out->shape[2], out->data);
    return lowering_holds(l);
}

/* Whether each pixel becomes `high` x `wide` equal ones. */
static bool is_enlarged(struct lowering *l, int64_t high, int64_t wide)
{
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    struct net_array *const moved = move_places(l, 0, 0);
    bool same = moved && moved->count == out->count;
    for (int64_t i = 0; same && i < out->count; i++) {
        const int64_t column = i % out->shape[3] / wide, row = i / out->shape[3] % out->shape[2] / high;
        const int64_t plane = i / out->shape[3] / out->shape[2];
        same = net_array_double(moved, i) == (double)((plane * x->shape[2] + row) * x->shape[3] + column + 1);
    }
    net_array_release(moved);
    return same;
}

/* The Neural Engine moves no single elements: columns are repeated by a product with constant zeros and ones, which is exact,
 * rows by joining each with itself. False where that does not do. */
static bool enlarge(struct lowering *l)
{
    enum { MOST = 4 };
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    if (l->part != PART_ANE || x->dims != 4 || out->dims != 4 || x->shape[0] != out->shape[0] || x->shape[1] != out->shape[1] ||
        out->shape[2] % x->shape[2] || out->shape[3] % x->shape[3])
        return false;
    const int64_t high = out->shape[2] / x->shape[2], wide = out->shape[3] / x->shape[3], in = x->shape[3];
    const int64_t rows = x->count / in, columns = out->shape[3];
    if (high > MOST || !is_enlarged(l, high, wide))
        return false;
    float *const select = lowering_scratch(l, in * columns);
    float *const row = high > 1 ? lowering_scratch(l, rows * columns) : out->data;
    for (int64_t j = 0; select && j < columns; j++)
        select[j / wide * columns + j] = 1;
    multiply_rows(l, x->data, rows, in, columns, select, row);
    if (high == 1)
        return lowering_holds(l);
    struct lowered_step *const step =
        lowering_step(l, out->data, out->count, "concat:%lldx%lldx%lld,c=%lld,d=%lld", (long long)rows, (long long)columns,
                      (long long)columns, (long long)(high > 2 ? columns : 0), (long long)(high > 3 ? columns : 0));
    for (int64_t k = 0; k < high; k++)
        lowering_read(step, row, rows * columns);
    return lowering_holds(l);
}

/* Images by the library's kernel where it does the same: bilinear between centres or corners; nearest moves elements; the rest
 * are products. */
bool lowering_resize(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const out = l->out[0], *const scales = l->node->inputs > 2 ? l->in[2] : NULL;
    const char *const mode = net_attr_text(l->node, "mode", "nearest");
    const char *const where = net_attr_text(l->node, "coordinate_transformation_mode", "half_pixel");
    const bool corners = strcmp(where, "align_corners") == 0;
    (void)word;
    if (strcmp(mode, "nearest") == 0)
        return enlarge(l) || lowering_by_places(l, "resize");
    if (strcmp(mode, "linear") != 0 || (!corners && strcmp(where, "half_pixel") != 0) || net_attr_int(l->node, "antialias", 0) ||
        x->dims != 4 || out->dims != 4 || x->shape[0] != out->shape[0] || x->shape[1] != out->shape[1] ||
        !is_ratio(x, out, 2, scales) || !is_ratio(x, out, 3, scales))
        return resize_by_products(l);
    lowering_read(lowering_step(l, out->data, out->count,
                                "resize:n=%lld,c=%lld,h=%lld,w=%lld,oh=%lld,ow=%lld,mode=bilinear,align=%d",
                                (long long)x->shape[0], (long long)x->shape[1], (long long)x->shape[2], (long long)x->shape[3],
                                (long long)out->shape[2], (long long)out->shape[3], corners),
                  x->data, x->count);
    return true;
}
