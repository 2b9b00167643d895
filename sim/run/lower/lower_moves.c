/* Operators that only move elements. */
#include "sim/run/lower/lowering.h"

#include <string.h>

/* The Neural Engine moves numbers alone. */
static bool on_engine(const struct lowering *l)
{
    return l->part == PART_ANE && l->in[0]->type == NET_F32;
}

/* Where the rows of the result stand in the input: rows are the dimensions at the end that stay where they are. */
static bool move_rows(struct lowering *l, const int64_t *perm, unsigned moved)
{
    const struct net_array *const x = l->in[0];
    const int64_t columns = net_extent(x->shape, moved, x->dims), rows = x->count / columns, words = lowering_words(x->type);
    int64_t stride[NET_DIMS_MAX];
    uint32_t *const place = lowering_scratch(l, rows);
    net_strides(x->shape, x->dims, stride);
    for (int64_t i = 0; place && i < rows; i++) {
        int64_t left = i, at = 0;
        for (unsigned d = moved; d-- > 0; left /= x->shape[perm[d]])
            at += left % x->shape[perm[d]] * (stride[perm[d]] / columns);
        place[i] = (uint32_t)at;
    }
    struct lowered_step *const step =
        lowering_moves(lowering_step(l, l->out[0]->data, x->count, "gather:%lldx%lldx%lld", (long long)rows,
                                     (long long)(columns * words), (long long)rows),
                       x->type, x->count);
    lowering_read_elements(step, x->type, x->data, x->count);
    lowering_read(step, place, rows);
    return true;
}

/* The first dimension of the result from which on it is that of a transposed matrix behind `batch` dimensions that stay. */
static bool is_matrix(const int64_t *perm, unsigned dims, unsigned *batch, unsigned *split)
{
    unsigned at = 0;
    while (at < dims && perm[at] == at)
        at++;
    *batch = at;
    *split = at < dims ? (unsigned)perm[at] : 0;
    for (unsigned d = at; d < dims; d++)
        if ((unsigned)perm[d] != (d - at < dims - *split ? *split + d - at : at + d - at - (dims - *split)))
            return false;
    return at < dims;
}

/* Whether the last two of the dimensions that move change places, and nothing else does. */
static bool swaps_last(const int64_t *perm, unsigned moved)
{
    for (unsigned d = 0; d + 2 < moved; d++)
        if (perm[d] != d)
            return false;
    return moved >= 2 && perm[moved - 1] == moved - 2 && perm[moved - 2] == moved - 1;
}

/* Rows x columns of blocks become columns x rows of them: the Neural Engine's library does not look up places. */
static bool swap_blocks(struct lowering *l, unsigned moved)
{
    const struct net_array *const x = l->in[0];
    const int64_t rows = x->shape[moved - 2], columns = x->shape[moved - 1], block = net_extent(x->shape, moved, x->dims);
    lowering_read(lowering_step(l, l->out[0]->data, x->count, "transpose:%lldx%lld,inner=%lld,batch=%lld", (long long)rows,
                                (long long)columns, (long long)block, (long long)(x->count / (rows * columns * block))),
                  x->data, x->count);
    return lowering_holds(l);
}

/* Elements of two words go one by one as rows of a table. */
void lowering_turn(struct lowering *l, enum net_type type, const void *from, int64_t batch, int64_t rows, int64_t columns,
                   void *to)
{
    const int64_t count = batch * rows * columns;
    const bool wide = lowering_words(type) > 1;
    uint32_t *const place = wide ? lowering_scratch(l, count) : NULL;
    for (int64_t i = 0; place && i < count; i++)
        place[i] = (uint32_t)(i / (rows * columns) * rows * columns + i % rows * columns + i / rows % columns);
    struct lowered_step *const step =
        lowering_moves(wide ? lowering_step(l, to, count, "gather:%lldx2x%lld", (long long)count, (long long)count)
                            : lowering_step(l, to, count, "transpose:%lldx%lld,batch=%lld", (long long)rows, (long long)columns,
                                            (long long)batch),
                       type, count);
    lowering_read_elements(step, type, from, count);
    if (wide)
        lowering_read(step, place, count);
}

bool lowering_transpose(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    int64_t perm[NET_DIMS_MAX];
    size_t given;
    unsigned batch, split, moved = x->dims;
    const int64_t *const asked = net_attr_ints(l->node, "perm", &given);
    (void)word;
    if (asked && given != x->dims)
        return lowering_leave(l, "an order of %zu dimensions", given);
    for (unsigned d = 0; d < x->dims; d++)
        perm[d] = asked ? asked[d] : x->dims - 1 - d;
    if (is_matrix(perm, x->dims, &batch, &split)) {
        const int64_t rows = net_extent(x->shape, batch, split), columns = net_extent(x->shape, split, x->dims);
        lowering_turn(l, x->type, x->data, x->count / rows / columns, rows, columns, l->out[0]->data);
        return lowering_holds(l);
    }
    while (moved > 0 && perm[moved - 1] == moved - 1)
        moved--;
    if (on_engine(l) && swaps_last(perm, moved))
        return swap_blocks(l, moved);
    return move_rows(l, perm, moved);
}

/* Up to so many operands behind one another, each of so many rows. */
enum { CONCAT_MOST = 4 };

static void add_concat(struct lowering *l, enum net_type type, int64_t rows, unsigned operands, const void *const *from,
                       const int64_t *columns, void *to)
{
    const int64_t words = lowering_words(type);
    int64_t all = 0;
    for (unsigned k = 0; k < operands; k++)
        all += columns[k];
    struct lowered_step *const step = lowering_moves(
        lowering_step(l, to, rows * all, "concat:%lldx%lldx%lld,c=%lld,d=%lld", (long long)rows, (long long)(columns[0] * words),
                      (long long)(columns[1] * words), (long long)(operands > 2 ? columns[2] * words : 0),
                      (long long)(operands > 3 ? columns[3] * words : 0)),
        type, rows * all);
    for (unsigned k = 0; k < operands; k++)
        lowering_read_elements(step, type, from[k], rows * columns[k]);
}

void lowering_add_concat(struct lowering *l, int64_t rows, unsigned operands, const float *const *from, const int64_t *columns,
                         float *to)
{
    const void *any[CONCAT_MOST] = {NULL};
    for (unsigned k = 0; k < operands; k++)
        any[k] = from[k];
    add_concat(l, NET_F32, rows, operands, any, columns, to);
}

/* More than the library takes at a time are joined a few at a time. */
bool lowering_concat(struct lowering *l, const char *word)
{
    const struct net_array *const out = l->out[0];
    const int64_t axis = net_attr_int(l->node, "axis", 0);
    const unsigned at = (unsigned)(axis < 0 ? axis + out->dims : axis);
    const int64_t rows = net_extent(out->shape, 0, at);
    const void *from[CONCAT_MOST];
    int64_t columns[CONCAT_MOST];
    unsigned held = 0;
    (void)word;
    if (l->node->inputs < 2)
        return lowering_leave(l, "%zu operand", l->node->inputs);
    for (size_t k = 0; k < l->node->inputs; k++) {
        const bool last = k + 1 == l->node->inputs;
        if (l->in[k]->count == 0)
            return lowering_leave(l, "an operand without elements");
        from[held] = l->in[k]->data;
        columns[held++] = l->in[k]->count / rows;
        if (held < CONCAT_MOST && !last)
            continue;
        void *const to = last ? out->data : lowering_scratch(l, out->count * lowering_words(out->type));
        add_concat(l, out->type, rows, held, from, columns, to);
        for (unsigned i = 1; i < held; i++)
            columns[0] += columns[i];
        from[0] = to;
        held = 1;
    }
    return lowering_holds(l);
}

/* Rows of a table, or of each of several behind one another; places that count from the end are turned round, which is no work on
 * elements. */
bool lowering_gather(struct lowering *l, const char *word)
{
    const struct net_array *const table = l->in[0], *const index = l->in[1];
    const int64_t axis = net_attr_int(l->node, "axis", 0);
    const unsigned at = (unsigned)(axis < 0 ? axis + table->dims : axis);
    (void)word;
    if (at >= table->dims || index->count == 0)
        return lowering_leave(l, "axis %lld, %lld places", (long long)axis, (long long)index->count);
    const int64_t tables = net_extent(table->shape, 0, at), rows = table->shape[at], all = tables * rows;
    const int64_t columns = table->count / all, count = tables * index->count;
    if (on_engine(l) && tables == 1 && index->count == 1) { /* one row is a slice, which the engine has */
        const int64_t row = net_array_integer(index, 0);
        if (row < -rows || row >= rows)
            return lowering_leave(l, "row %lld of %lld", (long long)row, (long long)rows);
        lowering_read(lowering_step(l, l->out[0]->data, columns, "slice:%lldx%lld,h=1,w=%lld,row=%lld", (long long)rows,
                                    (long long)columns, (long long)columns, (long long)(row < 0 ? row + rows : row)),
                      table->data, table->count);
        return true;
    }
    uint32_t *const place = lowering_scratch(l, count);
    for (int64_t i = 0; place && i < count; i++) {
        const int64_t row = net_array_integer(index, i % index->count);
        if (row < -rows || row >= rows)
            return lowering_leave(l, "row %lld of %lld", (long long)row, (long long)rows);
        place[i] = (uint32_t)(i / index->count * rows + (row < 0 ? row + rows : row));
    }
    struct lowered_step *const step =
        lowering_moves(lowering_step(l, l->out[0]->data, l->out[0]->count, "gather:%lldx%lldx%lld", (long long)all,
                                     (long long)(columns * lowering_words(table->type)), (long long)count),
                       table->type, l->out[0]->count);
    lowering_read_elements(step, table->type, table->data, table->count);
    lowering_read(step, place, count);
    return true;
}

/* Elements first ... of one dimension. */
static void add_part(struct lowering *l, unsigned axis, int64_t first, const struct net_array *out)
{
    const struct net_array *const x = l->in[0];
    const int64_t rows = net_extent(x->shape, 0, axis), inner = net_extent(x->shape, axis + 1, x->dims);
    const int64_t words = lowering_words(x->type);
    if (on_engine(l) && rows == 1 && inner > 1) { /* rows of a matrix, which are shorter than one row of it all */
        lowering_read(lowering_step(l, out->data, out->count, "slice:%lldx%lld,h=%lld,w=%lld,row=%lld", (long long)x->shape[axis],
                                    (long long)inner, (long long)out->shape[axis], (long long)inner, (long long)first),
                      x->data, x->count);
        return;
    }
    struct lowered_step *const step =
        lowering_step(l, out->data, out->count, "slice:%lldx%lld,h=%lld,w=%lld,column=%lld", (long long)rows,
                      (long long)(x->count / rows * words), (long long)rows, (long long)(out->shape[axis] * inner * words),
                      (long long)(first * inner * words));
    lowering_read_elements(lowering_moves(step, x->type, out->count), x->type, x->data, x->count);
}

static bool lowering_split(struct lowering *l)
{
    const struct net_array *const x = l->in[0];
    const int64_t axis = net_attr_int(l->node, "axis", 0);
    const unsigned at = (unsigned)(axis < 0 ? axis + x->dims : axis);
    int64_t first = 0;
    for (size_t k = 0; k < l->node->outputs; k++) {
        if (!l->out[k])
            return lowering_leave(l, "a part that nobody wants");
        add_part(l, at, first, l->out[k]);
        first += l->out[k]->shape[at];
    }
    return true;
}

bool lowering_slice(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    if (strcmp(word, "split") == 0)
        return lowering_split(l);
    unsigned axis = x->dims;
    for (unsigned d = 0; d < x->dims; d++) {
        if (x->shape[d] == out->shape[d])
            continue;
        if (axis < x->dims)
            return lowering_by_places(l, "");
        axis = d;
    }
    const struct net_array *const starts = l->in[1], *const axes = l->node->inputs > 3 ? l->in[3] : NULL;
    const struct net_array *const steps = l->node->inputs > 4 ? l->in[4] : NULL;
    for (int64_t i = 0; steps && i < steps->count; i++)
        if (net_array_integer(steps, i) != 1)
            return lowering_by_places(l, "");
    for (int64_t i = 0; axis < x->dims && i < starts->count; i++) {
        const int64_t asked = axes ? net_array_integer(axes, i) : i, start = net_array_integer(starts, i);
        if (asked != axis && asked + x->dims != axis)
            continue;
        const int64_t first = start < 0 ? start + x->shape[axis] : start;
        add_part(l, axis, first < 0 ? 0 : first, out);
        return true;
    }
    return lowering_by_places(l, "");
}
