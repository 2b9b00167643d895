/* Operators that say where something is, of which there are as many as are found: their number is known when kernels run, as the
 * shape of the result. Kernels mark what is found, bring its places together by sorting, and make coordinates of them. */
#include "sim/run/lower/lowering.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COORDINATES_MOST = 4 };

static int32_t *add_integers(struct lowering *l, const char *op, const int32_t *x, int64_t number, int64_t count)
{
    int32_t *const own = lowering_scratch(l, 1), *const to = lowering_scratch(l, count);
    if (own)
        *own = (int32_t)number;
    struct lowered_step *const step = lowering_step(l, to, count, "integer:%lld,op=%s,of=i32,period=1", (long long)count, op);
    lowering_read(step, x, count);
    lowering_read(step, own, 1);
    return to;
}

/* The places among `all` truth values of those that do not hold, in order; there are `count` of them. */
static const int32_t *add_places(struct lowering *l, const void *misses, int64_t all, int64_t count)
{
    int32_t *const place = lowering_scratch(l, all), *const end = lowering_scratch(l, 1), *const kept = lowering_scratch(l, all);
    int32_t *const sorted = lowering_scratch(l, all), *const found = lowering_scratch(l, count);
    const struct lowering_choice choice = {.condition = misses, .a = end, .b = place, .one_a = true, .type = NET_I32};
    for (int64_t i = 0; place && i < all; i++)
        place[i] = (int32_t)i;
    if (end)
        *end = INT32_MAX;
    if (!place || !end || !lowering_add_choice(l, &choice, all, kept))
        return NULL;
    lowering_read_elements(lowering_moves(lowering_step(l, sorted, all, "sort:1x%lld", (long long)all), NET_I32, all), NET_I32,
                           kept, all);
    lowering_read_elements(
        lowering_moves(lowering_step(l, found, count, "slice:1x%lld,h=1,w=%lld", (long long)all, (long long)count), NET_I32,
                       count),
        NET_I32, sorted, all);
    return found;
}

/* to = several rows of words behind one another. */
static void join_rows(struct lowering *l, const int32_t *const *row, unsigned rows, int64_t count, int32_t *to)
{
    char more[80] = "";
    for (unsigned k = 2; k < rows; k++)
        snprintf(more + strlen(more), sizeof more - strlen(more), ",%c=%lld", 'a' + (int)k, (long long)count);
    struct lowered_step *const step =
        lowering_moves(lowering_step(l, to, rows * count, "concat:1x%lldx%lld%s", (long long)count, (long long)count, more),
                       NET_I32, rows * count);
    for (unsigned k = 0; k < rows; k++)
        lowering_read_elements(step, NET_I32, row[k], count);
}

/* out = coordinates as whole numbers of 64 bits, a row for each dimension. */
static bool write_rows(struct lowering *l, const int32_t *const *row, unsigned rows, int64_t count, bool turned)
{
    int32_t *const all = rows > 1 ? lowering_scratch(l, rows * count) : NULL;
    const int32_t *from = row[0];
    if (rows > 1) {
        join_rows(l, row, rows, count, all);
        from = all;
    }
    if (turned) {
        int32_t *const other = lowering_scratch(l, rows * count);
        lowering_turn(l, NET_I32, from, 1, rows, count, other);
        from = other;
    }
    lowering_add_cast(l, NET_I32, from, NET_I64, l->out[0]->data, rows * count);
    return lowering_holds(l);
}

/* Where elements are not zero: of each the place, taken apart by the extents of the dimensions. */
bool lowering_non_zero(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->node->inputs ? l->in[0] : NULL, *const out = l->out[0];
    const int32_t *row[COORDINATES_MOST];
    (void)word;
    if (!x || !out || x->dims < 1 || x->dims > COORDINATES_MOST || x->count >= INT32_MAX)
        return lowering_leave(l, "no dimension, or more than %d", COORDINATES_MOST);
    const char *const of = x->type == NET_F32                                              ? "number"
                           : x->type == NET_I32                                            ? "i32"
                           : x->type == NET_I64                                            ? "i64"
                           : x->type == NET_BOOL || x->type == NET_U8 || x->type == NET_I8 ? "u8"
                                                                                           : NULL;
    if (!of)
        return lowering_leave(l, "the library's NonZero has no version of type %s", net_type_name(x->type));
    void *const zero = lowering_scratch(l, 2), *const misses = lowering_scratch(l, x->count);
    struct lowered_step *const step =
        lowering_step(l, misses, x->count, "compare:%lld,op=eq,of=%s,period=1", (long long)x->count, of);
    if (step)
        step->operands.result_bytes = (uint64_t)x->count;
    lowering_read_elements(step, x->type, x->data, x->count);
    lowering_read_elements(step, x->type, zero, 1);
    const int64_t count = out->count / x->dims;
    const int32_t *const place = add_places(l, misses, x->count, count);
    for (unsigned d = 0; place && d < x->dims; d++) {
        const int64_t inner = net_extent(x->shape, d + 1, x->dims);
        const int32_t *const part = inner > 1 ? add_integers(l, "div", place, inner, count) : place;
        row[d] = d ? add_integers(l, "mod", part, x->shape[d], count) : part;
    }
    return place && write_rows(l, row, x->dims, count, false);
}

/* ---- boxes ---- */

static double number_of(const struct lowering *l, size_t operand, double missing)
{
    const struct net_array *const a = operand < l->node->inputs ? l->in[operand] : NULL;
    return a && a->count ? net_array_double(a, 0) : missing;
}

static bool are_boxes(struct lowering *l)
{
    const struct net_array *const b = l->node->inputs > 1 ? l->in[0] : NULL, *const s = b ? l->in[1] : NULL;
    if (!s || !l->out[0] || b->type != NET_F32 || s->type != NET_F32 || b->dims != 3 || s->dims != 3 || b->shape[2] != 4 ||
        b->shape[0] != s->shape[0] || b->shape[1] != s->shape[2] || s->count == 0)
        return lowering_leave(l, "boxes and scores that do not fit, or are not in f32");
    return s->count < INT32_MAX || lowering_leave(l, "more than 2^31 scores");
}

/* The kernel gives places of boxes by image and class; what follows the last one is 2^32 - 1. */
bool lowering_nms(struct lowering *l, const char *word)
{
    (void)word;
    if (!are_boxes(l))
        return false;
    const struct net_array *const b = l->in[0], *const s = l->in[1];
    const int64_t boxes = b->shape[1], classes = s->shape[1], rows = s->shape[0] * classes, wanted = (int64_t)number_of(l, 2, 0);
    const int64_t most = wanted < boxes ? wanted : boxes, all = rows * most, count = l->out[0]->count / 3;
    float *const limits = lowering_scratch(l, 2);
    int32_t *const kept = most > 0 ? lowering_scratch(l, all) : NULL, *const box = lowering_scratch(l, count);
    void *const misses = lowering_scratch(l, all);
    if (!limits || !kept || !misses)
        return lowering_leave(l, "no box is wanted");
    limits[0] = (float)number_of(l, 3, 0);
    limits[1] = (float)number_of(l, 4, (double)-INFINITY);
    struct lowered_step *const step =
        lowering_step(l, kept, all, "nms:%lldx%lldx%lld,k=%lld,center=%d", (long long)s->shape[0], (long long)classes,
                      (long long)boxes, (long long)most, net_attr_int(l->node, "center_point_box", 0) != 0);
    if (step) { /* halves do not tell neighbours apart */
        step->precision = "f32";
        step->part = PART_CPU;
    }
    lowering_read(step, b->data, b->count);
    lowering_read(step, s->data, s->count);
    lowering_read(step, limits, 2);
    int32_t *const none = lowering_scratch(l, 1);
    if (none)
        *none = -1;
    struct lowered_step *const test = lowering_step(l, misses, all, "compare:%lld,op=eq,of=i32,period=1", (long long)all);
    if (test)
        test->operands.result_bytes = (uint64_t)all;
    lowering_read(test, kept, all);
    lowering_read(test, none, 1);
    const int32_t *const place = add_places(l, misses, all, count);
    struct lowered_step *const fetch =
        lowering_moves(lowering_step(l, box, count, "gather:%lldx1x%lld", (long long)all, (long long)count), NET_I32, count);
    lowering_read_elements(fetch, NET_I32, kept, all);
    lowering_read(fetch, place, count);
    if (!place)
        return false;
    const int32_t *const class = most > 1 ? add_integers(l, "div", place, most, count) : place;
    const int32_t *const row[] = {add_integers(l, "div", class, classes, count), add_integers(l, "mod", class, classes, count),
                                  box};
    return write_rows(l, row, 3, count, true);
}
