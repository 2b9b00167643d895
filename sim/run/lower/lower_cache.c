/* Rows that attention keeps, with new ones behind them. */
#include "sim/run/lower/lowering.h"

enum { NEW, FIRST, TOTAL, PAST };

/* One row after another for each head: what was kept of each sequence, its new ones, zeros. */
static bool gather_rows(struct lowering *l, const float *table, int64_t kept)
{
    const struct net_array *const now = l->in[NEW], *const out = l->out[0];
    const int64_t more = now->shape[2], width = now->shape[3], total = out->shape[2], heads = now->shape[1];
    const int64_t each = kept + more, rows = out->count / width;
    uint32_t *const place = lowering_scratch(l, rows);
    for (int64_t i = 0; place && i < rows; i++) {
        const int64_t head = i / total, at = i % total, before = net_array_integer(l->in[FIRST], head / heads);
        const int64_t from = at < before ? at : kept + at - before;
        place[i] = at < before + more ? (uint32_t)(head * each + from) : UINT32_MAX;
    }
    struct lowered_step *const step = lowering_step(l, out->data, out->count, "gather:%lldx%lldx%lld",
                                                    (long long)(now->shape[0] * heads * each), (long long)width, (long long)rows);
    lowering_read(step, table, now->shape[0] * heads * each * width);
    lowering_read(step, place, rows);
    return lowering_holds(l);
}

/* The front of what was kept, of each head. */
static const float *front_of(struct lowering *l, int64_t heads, int64_t rows, int64_t width)
{
    const struct net_array *const past = l->in[PAST];
    const int64_t all = past->shape[2] * width, some = rows * width;
    if (rows == past->shape[2])
        return past->data;
    float *const front = lowering_scratch(l, heads * some);
    lowering_read(lowering_step(l, front, heads * some, "slice:%lldx%lld,h=%lld,w=%lld,row=0,column=0", (long long)heads,
                                (long long)all, (long long)heads, (long long)some),
                  past->data, past->count);
    return front;
}

/* Sequences of one length are joined with their new rows; where lengths differ each row is looked up in that. */
bool lowering_cache_rows(struct lowering *l, const char *word)
{
    const struct net_array *const now = l->in[NEW], *const first = l->in[FIRST], *const out = l->out[0];
    const struct net_array *const past = l->node->inputs > PAST ? l->in[PAST] : NULL;
    int64_t most = 0;
    bool same = true;
    (void)word;
    if (now->dims != 4 || first->count != now->shape[0])
        return lowering_leave(l, "lengths of %lld sequences", (long long)first->count);
    for (int64_t b = 0; b < first->count; b++) {
        const int64_t before = net_array_integer(first, b), more = now->shape[2];
        if (before < 0 || before > (past ? past->shape[2] : 0) || before + more > out->shape[2])
            return lowering_leave(l, "more places than are kept"); /* the reference says which */
        same &= before == net_array_integer(first, 0) && before + more == out->shape[2];
        most = before > most ? before : most;
    }
    const int64_t heads = now->shape[0] * now->shape[1], width = now->shape[3], rows = now->shape[2];
    if (most == 0)
        return gather_rows(l, now->data, 0);
    const float *const both[2] = {front_of(l, heads, most, width), now->data};
    float *const to = same ? out->data : lowering_scratch(l, heads * (most + rows) * width);
    if (!both[0] || !to)
        return false;
    lowering_add_concat(l, heads, 2, both, (const int64_t[]){most * width, rows * width}, to);
    return same ? lowering_holds(l) : gather_rows(l, to, most);
}
