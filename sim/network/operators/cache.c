/* Rows that attention keeps from step to step, with lengths that are numbers of the run: CacheRows and CacheBuffer, of domain
 * "orchard". Sequences of a batch may have different lengths, and arrays may be longer than what is kept. */
#include "sim/network/operators/families.h"

#include <string.h>

enum { NEW, FIRST, TOTAL, PAST };

static int64_t rows_of(const struct net_fact *fact)
{
    return fact->shape.known && fact->shape.dims == 4 ? fact->shape.dim[2] : NET_UNKNOWN;
}

/* Whether each sequence fits what was kept, and the result, where all of that is known. */
static bool check_lengths(struct net_infer *i, int64_t total)
{
    const struct net_array *const first = net_fact_in(i, FIRST)->constant;
    const struct net_shape *const now = &i->in[NEW].shape;
    const int64_t more = now->dim[2], kept = net_fact_in(i, PAST)->present ? rows_of(net_fact_in(i, PAST)) : 0;
    if (!first || more < 0 || kept < 0 || total < 0)
        return true;
    if (now->dim[0] >= 0 && first->count != now->dim[0])
        return net_refuse(i->error, "lengths of %lld sequences for a batch of %lld", (long long)first->count,
                          (long long)now->dim[0]);
    for (int64_t b = 0; b < first->count; b++) {
        const int64_t before = net_array_integer(first, b);
        if (before < 0 || before > kept || before + more > total)
            return net_refuse(i->error,
                              "sequence %lld has %lld places before %lld new ones, where %lld are kept and %lld possible",
                              (long long)b, (long long)before, (long long)more, (long long)kept, (long long)total);
    }
    return true;
}

/* New rows [B, N, S, D], how many rows each sequence has before them [B], how many rows there are at most, and what was kept
 * [B, N, P, D]: all rows [B, N, total, D]. */
bool net_rule_cache_rows(struct net_infer *i)
{
    const struct net_fact *const now = &i->in[NEW], *const total = net_fact_in(i, TOTAL), *const past = net_fact_in(i, PAST);
    struct net_shape to = now->shape;
    net_state(i, 0, now->type, NULL);
    if (!to.known)
        return true;
    if (to.dims != 4 || (past->shape.known && past->shape.dims != 4))
        return net_refuse(i->error, "rows of %u dimensions behind rows of %u", to.dims, past->shape.dims);
    for (unsigned d = 0; past->shape.known && d < 4; d++)
        if (d != 2 && past->shape.dim[d] >= 0 && to.dim[d] >= 0 && past->shape.dim[d] != to.dim[d])
            return net_refuse(i->error, "dimension %u of what was kept is %lld; expected %lld", d, (long long)past->shape.dim[d],
                              (long long)to.dim[d]);
    if (total->constant && total->constant->count != 1)
        return net_refuse(i->error, "%lld numbers of rows", (long long)total->constant->count);
    to.dim[2] = total->constant ? net_array_integer(total->constant, 0) : NET_UNKNOWN;
    if (total->constant && (to.dim[2] < 0 || to.dim[2] > INT32_MAX))
        return net_refuse(i->error, "%lld rows in all", (long long)to.dim[2]);
    net_state(i, 0, now->type, &to);
    return check_lengths(i, to.dim[2]);
}

bool net_eval_cache_rows(struct net_call *call)
{
    const struct net_array *const now = call->in[NEW], *const past = net_in(call, PAST);
    const struct net_shape *const to_shape = &call->fact[0].shape;
    const int64_t heads = now->shape[1], more = now->shape[2], total = to_shape->dim[2], kept = past ? past->shape[2] : 0;
    const size_t row = (size_t)now->shape[3] * net_type_bytes(now->type);
    if (!call->fact[0].present || total == more)
        return net_eval_view(call);
    if (!net_make_output(call, 0, now->type, to_shape->dim, to_shape->dims))
        return false;
    struct net_array *const out = call->out[0];
    for (int64_t b = 0; row && b < now->shape[0]; b++) {
        const int64_t before = net_array_integer(call->in[FIRST], b);
        for (int64_t n = b * heads; n < (b + 1) * heads; n++) {
            uint8_t *const to = (uint8_t *)out->data + (size_t)(n * total) * row;
            if (before)
                memcpy(to, (const uint8_t *)past->data + (size_t)(n * kept) * row, (size_t)before * row);
            memcpy(to + (size_t)before * row, (const uint8_t *)now->data + (size_t)(n * more) * row, (size_t)more * row);
        }
    }
    return true;
}

/* All rows, and the buffer that they are kept in: they themselves where it is no longer, else in its front, before zeros. */
bool net_rule_cache_buffer(struct net_infer *i)
{
    const int64_t rows = rows_of(&i->in[0]), buffer = rows_of(&i->in[1]);
    struct net_shape to = i->in[0].shape;
    net_state(i, 0, i->in[0].type, NULL);
    if (!to.known || to.dims != 4)
        return true;
    to.dim[2] = rows < 0 || buffer < 0 ? NET_UNKNOWN : rows > buffer ? rows : buffer;
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

bool net_eval_cache_buffer(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const struct net_shape *const to = &call->fact[0].shape;
    if (!call->outputs || !call->fact[0].present || to->dim[2] == x->shape[2])
        return net_eval_view(call);
    const size_t row = (size_t)x->shape[3] * net_type_bytes(x->type);
    if (!net_make_output(call, 0, x->type, to->dim, to->dims))
        return false;
    for (int64_t n = 0; row && n < x->shape[0] * x->shape[1]; n++)
        memcpy((uint8_t *)call->out[0]->data + (size_t)(n * to->dim[2]) * row,
               (const uint8_t *)x->data + (size_t)(n * x->shape[2]) * row, (size_t)x->shape[2] * row);
    return true;
}
