/* Along an axis: places of the largest, running sums, sums of whole numbers. */
#include "sim/run/lower/lowering.h"

#include <string.h>

/* Elements of x as rows of its axis: [batch][inner][axis]. */
struct rows {
    int64_t batch, axis, inner;
};

static bool rows_of(struct lowering *l, const struct net_array *x, int64_t given, struct rows *r)
{
    const int64_t at = given < 0 ? given + x->dims : given;
    if (at < 0 || at >= (int64_t)x->dims)
        return lowering_leave(l, "axis %lld", (long long)given);
    r->batch = net_extent(x->shape, 0, (unsigned)at);
    r->axis = x->shape[at];
    r->inner = net_extent(x->shape, (unsigned)at + 1, x->dims);
    return true;
}

/* The same elements with the order along the axis turned round. */
static const void *reversed(struct lowering *l, enum net_type type, const void *from, int64_t rows, int64_t columns, void *to)
{
    uint32_t *const place = lowering_scratch(l, rows * columns);
    for (int64_t i = 0; place && i < rows * columns; i++)
        place[i] = (uint32_t)(i / columns * columns + columns - 1 - i % columns);
    struct lowered_step *const step = lowering_moves(
        lowering_step(l, to, rows * columns, "gather:%lldx1x%lld", (long long)(rows * columns), (long long)(rows * columns)),
        type, rows * columns);
    lowering_read_elements(step, type, from, rows * columns);
    lowering_read(step, place, rows * columns);
    return to;
}

/* So many words of one number, which follows from shapes. */
static const int32_t *same_everywhere(struct lowering *l, int64_t count, int64_t number)
{
    int32_t *const own = lowering_scratch(l, count);
    for (int64_t i = 0; own && i < count; i++)
        own[i] = (int32_t)number;
    return own;
}

/* to = a op b, of words. */
static void add_whole(struct lowering *l, const char *op, const int32_t *a, const int32_t *b, int64_t count, int32_t *to)
{
    struct lowered_step *const step = lowering_step(l, to, count, "integer:%lld,op=%s,of=i32", (long long)count, op);
    lowering_read(step, a, count);
    lowering_read(step, b, count);
}

bool lowering_place_of(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->node->inputs ? l->in[0] : NULL;
    struct rows r;
    if (!x || !l->out[0] || x->count == 0 || x->type != NET_F32)
        return lowering_leave(l, "no elements, or other types than f32");
    if (!rows_of(l, x, net_attr_int(l->node, "axis", 0), &r))
        return false;
    const int64_t rows = r.batch * r.inner;
    const void *from = x->data;
    if (r.inner > 1) {
        void *const turned = lowering_scratch(l, x->count);
        lowering_turn(l, NET_F32, from, r.batch, r.axis, r.inner, turned);
        from = turned;
    }
    const bool last = net_attr_int(l->node, "select_last_index", 0) != 0;
    if (last)
        from = reversed(l, NET_F32, from, rows, r.axis, lowering_scratch(l, x->count));
    void *const place = lowering_scratch(l, rows), *const counted = last ? lowering_scratch(l, rows) : place;
    lowering_read(lowering_step(l, place, rows, "reduce:%lldx%lld,op=%s", (long long)rows, (long long)r.axis, word), from,
                  x->count);
    if (last)
        add_whole(l, "sub", same_everywhere(l, rows, r.axis - 1), place, rows, counted);
    lowering_add_cast(l, NET_I32, counted, NET_I64, l->out[0]->data, rows);
    return lowering_holds(l);
}

/* 1 at the place of the largest, 0 elsewhere: each place is compared with it. */
bool lowering_hardmax(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    struct rows r;
    (void)word;
    if (!rows_of(l, x, net_attr_int(l->node, "axis", -1), &r))
        return false;
    if (net_attr_int(l->node, "flat", 0)) { /* of opsets before 13: all from the axis on is one row */
        r.axis *= r.inner;
        r.inner = 1;
    }
    const int64_t rows = r.batch * r.inner;
    const bool turns = r.inner > 1;
    void *const turned = turns ? lowering_scratch(l, x->count) : x->data, *const place = lowering_scratch(l, rows);
    void *const each = lowering_scratch(l, x->count), *const holds = lowering_scratch(l, x->count);
    void *const to = turns ? lowering_scratch(l, x->count) : l->out[0]->data;
    int32_t *const counted = lowering_scratch(l, r.axis);
    const struct net_array all = {.type = NET_I32, .dims = 2, .shape = {rows, r.axis}, .count = x->count};
    const struct net_array best = {.type = NET_I32, .dims = 2, .shape = {rows, 1}, .count = rows, .data = place};
    for (int64_t i = 0; counted && i < r.axis; i++)
        counted[i] = (int32_t)i;
    if (turns)
        lowering_turn(l, NET_F32, x->data, r.batch, r.axis, r.inner, turned);
    lowering_read(lowering_step(l, place, rows, "reduce:%lldx%lld,op=argmax", (long long)rows, (long long)r.axis), turned,
                  x->count);
    lowering_repeat(l, &all, &best, each);
    struct lowered_step *const step =
        lowering_step(l, holds, x->count, "compare:%lld,op=eq,of=i32,period=%lld", (long long)x->count, (long long)r.axis);
    if (step)
        step->operands.result_bytes = (uint64_t)x->count;
    lowering_read(step, each, x->count);
    lowering_read(step, counted, r.axis);
    lowering_add_cast(l, NET_BOOL, holds, NET_F32, to, x->count);
    if (turns)
        lowering_turn(l, NET_F32, to, r.batch, r.inner, r.axis, l->out[0]->data);
    return lowering_holds(l);
}

/* Places by a kernel; what stands there is fetched from them, which count from the beginning of each row. */
static void fetch(struct lowering *l, const void *from, const int32_t *place, const struct rows *r, int64_t count, void *to)
{
    const int64_t rows = r->batch * r->inner, all = rows * count;
    int32_t *const first = lowering_scratch(l, all), *const whole = lowering_scratch(l, all);
    for (int64_t i = 0; first && i < all; i++)
        first[i] = (int32_t)(i / count * r->axis);
    add_whole(l, "add", place, first, all, whole);
    struct lowered_step *const step =
        lowering_step(l, to, all, "gather:%lldx1x%lld", (long long)(rows * r->axis), (long long)all);
    lowering_read(step, from, rows * r->axis);
    lowering_read(step, whole, all);
}

/* The result's own order of rows, where what stood behind the axis was brought in front of it. */
static void turn_back(struct lowering *l, enum net_type type, const struct rows *r, const void *from, int64_t count, void *to)
{
    lowering_turn(l, type, from, r->batch, r->inner, count, to);
}

bool lowering_top(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->node->inputs > 1 ? l->in[0] : NULL, *const k = x ? l->in[1] : NULL;
    struct net_array *const values = l->out[0], *const places = l->node->outputs > 1 ? l->out[1] : NULL;
    struct rows r;
    (void)word;
    if (!k || k->count != 1 || x->type != NET_F32 || x->count == 0 || net_array_integer(k, 0) < 1)
        return lowering_leave(l, "no elements, or other types than f32");
    if (!rows_of(l, x, net_attr_int(l->node, "axis", -1), &r))
        return false;
    const int64_t count = net_array_integer(k, 0), rows = r.batch * r.inner, all = rows * count;
    const bool turns = r.inner > 1;
    const void *from = x->data;
    if (turns) {
        void *const turned = lowering_scratch(l, x->count);
        lowering_turn(l, NET_F32, from, r.batch, r.axis, r.inner, turned);
        from = turned;
    }
    int32_t *const place = lowering_scratch(l, all);
    lowering_read(lowering_step(l, place, all, "topk:%lldx%lld,k=%lld,smallest=%d", (long long)rows, (long long)r.axis,
                                (long long)count, net_attr_int(l->node, "largest", 1) == 0),
                  from, x->count);
    if (values) {
        void *const own = turns ? lowering_scratch(l, all) : values->data;
        fetch(l, from, place, &r, count, own);
        if (turns)
            turn_back(l, NET_F32, &r, own, count, values->data);
    }
    if (places) {
        void *const own = turns ? lowering_scratch(l, all) : place;
        if (turns)
            turn_back(l, NET_I32, &r, place, count, own);
        lowering_add_cast(l, NET_I32, own, NET_I64, places->data, all);
    }
    return lowering_holds(l);
}

/* Words of 64 bits are added up in 32, which is exact as long as no sum needs more. */
static bool fits_words(const struct net_array *x)
{
    double most = 0;
    for (int64_t i = 0; i < x->count; i++) {
        const double number = net_array_double(x, i);
        most += number < 0 ? -number : number;
    }
    return most < 0x1p31;
}

/* Elements of four bytes, row by row: wide whole numbers narrowed into `own`, the axis turned behind the others into `other`. */
static const void *by_rows(struct lowering *l, const struct net_array *x, const struct rows *r, void *own, void *other)
{
    const enum net_type type = x->type == NET_F32 ? NET_F32 : NET_I32;
    const void *from = x->data;
    if (x->type == NET_I64) {
        lowering_add_cast(l, NET_I64, from, NET_I32, own, x->count);
        from = own;
    }
    if (r->inner > 1) {
        lowering_turn(l, type, from, r->batch, r->axis, r->inner, other);
        from = other;
    }
    return from;
}

bool lowering_running_sum(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->node->inputs > 1 ? l->in[0] : NULL, *const axis = x ? l->in[1] : NULL;
    const bool exclusive = net_attr_int(l->node, "exclusive", 0) != 0, turns = net_attr_int(l->node, "reverse", 0) != 0;
    struct rows r;
    (void)word;
    if (!x || !axis || axis->count != 1 || !l->out[0] || x->count == 0)
        return lowering_leave(l, "no elements, or no axis");
    if (x->type != NET_F32 && x->type != NET_I32 && !(x->type == NET_I64 && fits_words(x)))
        return lowering_leave(l, "the library's CumSum has no version of %s",
                              x->type == NET_I64 ? "sums beyond 32 bits" : "this type");
    if (!rows_of(l, x, net_array_integer(axis, 0), &r))
        return false;
    const enum net_type type = x->type == NET_F32 ? NET_F32 : NET_I32;
    const int64_t rows = r.batch * r.inner;
    void *const own = lowering_scratch(l, x->count), *const other = lowering_scratch(l, x->count);
    const void *from = by_rows(l, x, &r, own, other);
    if (turns)
        from = reversed(l, type, from, rows, r.axis, from == own ? other : own);
    const bool last = !turns && r.inner == 1 && x->type != NET_I64;
    void *to = last ? l->out[0]->data : from == own ? other : own;
    lowering_read_elements(lowering_moves(lowering_step(l, to, x->count, "scan:%lldx%lld,exclusive=%d", (long long)rows,
                                                        (long long)r.axis, exclusive),
                                          type, x->count),
                           type, from, x->count);
    if (turns)
        to = (void *)reversed(l, type, to, rows, r.axis,
                              r.inner == 1 && x->type != NET_I64 ? l->out[0]->data
                              : to == own                        ? other
                                                                 : own);
    if (r.inner > 1) {
        void *const back = x->type == NET_I64 ? (to == own ? other : own) : l->out[0]->data;
        lowering_turn(l, type, to, r.batch, r.inner, r.axis, back);
        to = back;
    }
    if (x->type == NET_I64)
        lowering_add_cast(l, NET_I32, to, NET_I64, l->out[0]->data, x->count);
    return lowering_holds(l);
}

/* Sums of rows are the last of their running sums. */
bool lowering_whole_sum(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const axes = l->node->inputs > 1 ? l->in[1] : NULL;
    struct rows r = {1, x->count, 1};
    if (strcmp(word, "sum") != 0 || !l->out[0] || x->count == 0 || !(x->type == NET_I32 || (x->type == NET_I64 && fits_words(x))))
        return lowering_leave(l, "the library's %s has no version of type %s", l->node->op, net_type_name(x->type));
    if ((axes && axes->count > 1) || ((!axes || !axes->count) && net_attr_int(l->node, "noop_with_empty_axes", 0)))
        return lowering_leave(l, "several axes, or none");
    if (axes && axes->count && !rows_of(l, x, net_array_integer(axes, 0), &r))
        return false;
    const int64_t rows = r.batch * r.inner;
    void *const words = lowering_scratch(l, x->count), *const turned = lowering_scratch(l, x->count);
    void *const sums = lowering_scratch(l, x->count), *const last = lowering_scratch(l, rows);
    const void *const from = by_rows(l, x, &r, words, turned);
    struct lowered_step *const scan = lowering_step(l, sums, x->count, "scan:%lldx%lld", (long long)rows, (long long)r.axis);
    lowering_read_elements(lowering_moves(scan, NET_I32, x->count), NET_I32, from, x->count);
    struct lowered_step *const slice =
        lowering_step(l, x->type == NET_I64 ? last : l->out[0]->data, rows, "slice:%lldx%lld,h=%lld,w=1,column=%lld",
                      (long long)rows, (long long)r.axis, (long long)rows, (long long)(r.axis - 1));
    lowering_read_elements(lowering_moves(slice, NET_I32, rows), NET_I32, sums, x->count);
    if (x->type == NET_I64)
        lowering_add_cast(l, NET_I32, last, NET_I64, l->out[0]->data, rows);
    return lowering_holds(l);
}
