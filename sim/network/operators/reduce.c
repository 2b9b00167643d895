/* Reductions, ArgMax and ArgMin, CumSum, TopK. */
#include "sim/network/operators/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reductions ---- */

/* Which axes are reduced; *known is false when they are not known yet. */
static bool reduced_axes(struct net_infer *i, unsigned dims, bool *drop, bool *known)
{
    struct net_ints axes;
    if (!net_ints_input(i, 1, &axes, known))
        return false;
    memset(drop, 0, NET_DIMS_MAX * sizeof *drop);
    if (*known && axes.count == 0) {
        const bool all = !net_attr_int(i->node, "noop_with_empty_axes", 0);
        for (unsigned d = 0; d < dims; d++)
            drop[d] = all;
    }
    for (unsigned k = 0; k < axes.count; k++) {
        unsigned axis;
        if (!net_axis(i, axes.at[k], dims, &axis))
            return false;
        drop[axis] = true;
    }
    return true;
}

bool net_rule_reduce(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    const bool keep = net_attr_int(i->node, "keepdims", 1) != 0;
    struct net_shape to = {.known = true};
    bool drop[NET_DIMS_MAX], known;
    net_state(i, 0, i->in[0].type, NULL);
    if (!x->known)
        return true;
    if (!reduced_axes(i, x->dims, drop, &known))
        return false;
    if (!known && !keep)
        return true;
    for (unsigned d = 0; d < x->dims; d++) {
        if (!known)
            to.dim[to.dims++] = NET_UNKNOWN;
        else if (!drop[d] || keep)
            to.dim[to.dims++] = drop[d] ? 1 : x->dim[d];
    }
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

enum reduction { SUM, MEAN, PROD, MAX, MIN, L1, L2, SUM_SQUARE, LOG_SUM, LOG_SUM_EXP };

static enum reduction reduction_of(const char *op)
{
    static const char *const names[] = {"Sum", "Mean", "Prod", "Max", "Min", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"};
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(op + strlen("Reduce"), names[k]) == 0)
            return (enum reduction)k;
    return SUM;
}

struct sums {
    double *sum, *top; /* top: the largest, for LogSumExp */
    int64_t *exact;    /* of integers */
};

static void add_real(enum reduction how, double x, double top, double *sum)
{
    switch (how) {
    case SUM:
    case MEAN:
    case LOG_SUM: *sum += x; break;
    case PROD: *sum *= x; break;
    case MAX: *sum = isnan(x) || x > *sum ? x : *sum; break;
    case MIN: *sum = isnan(x) || x < *sum ? x : *sum; break;
    case L1: *sum += fabs(x); break;
    case L2:
    case SUM_SQUARE: *sum += x * x; break;
    case LOG_SUM_EXP: *sum += exp(x - (isfinite(top) ? top : 0)); break;
    }
}

static void add_integer(enum reduction how, bool wide, int64_t x, int64_t *sum)
{
    const uint64_t a = (uint64_t)*sum, b = (uint64_t)x;
    switch (how) {
    case PROD: *sum = (int64_t)(a * b); break;
    case MAX: *sum = (wide ? b > a : x > *sum) ? x : *sum; break;
    case MIN: *sum = (wide ? b < a : x < *sum) ? x : *sum; break;
    case L1: *sum = (int64_t)(a + (x < 0 && !wide ? -b : b)); break;
    case L2:
    case SUM_SQUARE: *sum = (int64_t)(a + b * b); break;
    default: *sum = (int64_t)(a + b);
    }
}

static double finish(enum reduction how, double sum, double top, double count)
{
    switch (how) {
    case MEAN: return sum / count;
    case L2: return sqrt(sum);
    case LOG_SUM: return log(sum);
    case LOG_SUM_EXP: return log(sum) + (isfinite(top) ? top : 0);
    default: return sum;
    }
}

/* Where each element of the input goes: strides into the result, 0 along reduced axes. */
static void result_strides(const struct net_array *x, const bool *drop, int64_t *stride)
{
    int64_t step = 1;
    for (unsigned d = x->dims; d-- > 0;) {
        stride[d] = drop[d] ? 0 : step;
        step *= drop[d] ? 1 : x->shape[d];
    }
}

static int64_t place_in_result(const struct net_array *x, const int64_t *stride, int64_t row)
{
    int64_t place = 0;
    for (unsigned d = x->dims - 1; d-- > 0;) {
        place += row % x->shape[d] * stride[d];
        row /= x->shape[d];
    }
    return place;
}

/* The least or largest whole number of a type: what nothing has for its largest or least. */
static int64_t end_of(enum net_type type, bool largest)
{
    const bool plain = type == NET_BOOL || type == NET_U8 || type == NET_U16 || type == NET_U32 || type == NET_U64;
    const unsigned bits = type == NET_BOOL ? 1 : net_type_bits(type);
    const uint64_t all = UINT64_MAX >> (64 - bits);
    return plain ? (largest ? (int64_t)all : 0) : largest ? (int64_t)(all >> 1) : -(int64_t)(all >> 1) - 1;
}

static void start(enum reduction how, enum net_type type, struct sums *s, int64_t count)
{
    const int64_t none = how == PROD ? 1 : (how == MAX || how == MIN) && !net_type_is_float(type) ? end_of(type, how == MIN) : 0;
    for (int64_t k = 0; k < count; k++) {
        s->sum[k] = how == PROD ? 1 : how == MAX ? -INFINITY : how == MIN ? INFINITY : 0;
        s->top[k] = -INFINITY;
        s->exact[k] = none;
    }
}

static void accumulate(const struct net_array *x, const int64_t *stride, enum reduction how, bool integers, bool tops,
                       struct sums *s)
{
    const unsigned last = x->dims ? x->dims - 1 : 0;
    const int64_t row = x->dims ? x->shape[last] : 1, step = x->dims ? stride[last] : 0;
    for (int64_t at = 0; at < x->count; at += row) {
        const int64_t place = x->dims ? place_in_result(x, stride, at / row) : 0;
        for (int64_t k = 0; k < row; k++) {
            const int64_t to = place + k * step;
            if (integers) {
                add_integer(how, x->type == NET_U64, net_array_integer(x, at + k), &s->exact[to]);
                continue;
            }
            const double number = net_array_double(x, at + k);
            if (tops)
                s->top[to] = fmax(s->top[to], number);
            else
                add_real(how, number, s->top[to], &s->sum[to]);
        }
    }
}

static void reduce(const struct net_array *x, struct net_array *out, const bool *drop, enum reduction how, struct sums *s)
{
    const bool integers = !net_type_is_float(x->type) && how != LOG_SUM && how != LOG_SUM_EXP;
    int64_t stride[NET_DIMS_MAX];
    result_strides(x, drop, stride);
    start(how, x->type, s, out->count);
    if (how == LOG_SUM_EXP)
        accumulate(x, stride, how, false, true, s);
    accumulate(x, stride, how, integers, false, s);
    const int64_t each = out->count ? x->count / out->count : 0;
    for (int64_t k = 0; k < out->count; k++) {
        const double real = finish(how, s->sum[k], s->top[k], (double)each);
        const int64_t exact = how == MEAN && each ? s->exact[k] / each
                              : how == L2         ? (int64_t)sqrt((double)s->exact[k])
                                                  : s->exact[k];
        if (integers)
            net_write_integers(out->type, out->data, k, 1, &exact);
        else
            net_write_doubles(out->type, out->data, k, 1, &real);
    }
}

bool net_eval_reduce(struct net_call *call)
{
    struct net_fact fact[2] = {{.present = true}};
    struct net_infer i = {.node = call->node, .in = fact, .inputs = call->inputs, .error = call->error};
    struct net_array *const out = call->out[0];
    bool drop[NET_DIMS_MAX], known;
    fact[1] = (struct net_fact){.present = net_in(call, 1) != NULL, .constant = net_in(call, 1)};
    if (!reduced_axes(&i, call->in[0]->dims, drop, &known))
        return false;
    const size_t room = (size_t)out->count + 1;
    struct sums s = {malloc(room * sizeof(double)), malloc(room * sizeof(double)), malloc(room * sizeof(int64_t))};
    const bool ok = s.sum && s.top && s.exact;
    if (ok)
        reduce(call->in[0], out, drop, reduction_of(call->node->op), &s);
    free(s.sum);
    free(s.top);
    free(s.exact);
    return ok || orch_no_memory(call->error);
}

/* ---- the place of the largest ---- */

bool net_rule_arg(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    struct net_shape to = {.known = true};
    unsigned axis;
    net_state(i, 0, NET_I64, NULL);
    if (!x->known)
        return true;
    if (!net_axis(i, net_attr_int(i->node, "axis", 0), x->dims, &axis))
        return false;
    for (unsigned d = 0; d < x->dims; d++)
        if (d != axis || net_attr_int(i->node, "keepdims", 1))
            to.dim[to.dims++] = d == axis ? 1 : x->dim[d];
    net_state(i, 0, NET_I64, &to);
    return true;
}

static unsigned axis_of(const struct net_call *call, int64_t missing)
{
    const int64_t axis = net_attr_int(call->node, "axis", missing);
    return (unsigned)(axis < 0 ? axis + call->in[0]->dims : axis);
}

bool net_eval_arg(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const bool least = strcmp(call->node->op, "ArgMin") == 0, last = net_attr_int(call->node, "select_last_index", 0) != 0;
    const unsigned axis = axis_of(call, 0);
    const int64_t inner = net_extent(x->shape, axis + 1, x->dims), length = x->shape[axis];
    if (length == 0)
        return net_refuse(call->error, "an empty axis");
    for (int64_t k = 0; k < call->out[0]->count; k++) {
        const int64_t base = k / inner * inner * length + k % inner;
        int64_t best = 0;
        for (int64_t e = 1; e < length; e++) {
            const double a = net_array_double(x, base + e * inner), b = net_array_double(x, base + best * inner);
            if ((least ? a < b : a > b) || (last && a == b))
                best = e;
        }
        ((int64_t *)call->out[0]->data)[k] = best;
    }
    return true;
}

/* ---- running sums ---- */

bool net_eval_cum_sum(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    struct net_array *const out = call->out[0];
    const bool exclusive = net_attr_int(call->node, "exclusive", 0) != 0, reverse = net_attr_int(call->node, "reverse", 0) != 0;
    const int64_t given = call->in[1]->count == 1 ? net_array_integer(call->in[1], 0) : INT64_MAX;
    if (given < -(int64_t)x->dims || given >= (int64_t)x->dims)
        return net_refuse(call->error, "an axis that the input does not have");
    const unsigned axis = (unsigned)(given < 0 ? given + x->dims : given);
    const int64_t inner = net_extent(x->shape, axis + 1, x->dims), length = x->shape[axis],
                  lines = length ? x->count / length : 0;
    for (int64_t line = 0; line < lines; line++) {
        const int64_t base = line / inner * inner * length + line % inner;
        double sum = 0;
        int64_t exact = 0;
        for (int64_t k = 0; k < length; k++) {
            const int64_t at = base + (reverse ? length - 1 - k : k) * inner;
            const double next = sum + net_array_double(x, at);
            const int64_t exact_next = (int64_t)((uint64_t)exact + (uint64_t)net_array_integer(x, at));
            if (net_type_is_float(x->type))
                net_write_doubles(out->type, out->data, at, 1, exclusive ? &sum : &next);
            else
                net_write_integers(out->type, out->data, at, 1, exclusive ? &exact : &exact_next);
            sum = next;
            exact = exact_next;
        }
    }
    return true;
}

/* ---- the k largest ---- */

bool net_rule_top_k(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    struct net_shape to = *x;
    unsigned axis;
    net_state(i, 0, i->in[0].type, NULL);
    net_state(i, 1, NET_I64, NULL);
    if (!x->known)
        return true;
    if (!net_axis(i, net_attr_int(i->node, "axis", -1), x->dims, &axis))
        return false;
    const struct net_array *const k = i->in[1].constant;
    to.dim[axis] = k && k->count == 1 ? net_array_integer(k, 0) : NET_UNKNOWN;
    if (k && (to.dim[axis] < 0 || (x->dim[axis] >= 0 && to.dim[axis] > x->dim[axis])))
        return net_refuse(i->error, "the %lld largest of %lld", (long long)to.dim[axis], (long long)x->dim[axis]);
    net_state(i, 0, i->in[0].type, &to);
    net_state(i, 1, NET_I64, &to);
    return true;
}

struct candidate {
    double value;
    int64_t place;
};

static int by_value(const void *a, const void *b)
{
    const struct candidate *const x = a, *const y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

bool net_eval_top_k(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const unsigned axis = axis_of(call, -1);
    const double sign = net_attr_int(call->node, "largest", 1) ? 1 : -1;
    const int64_t inner = net_extent(x->shape, axis + 1, x->dims), length = x->shape[axis];
    const int64_t k = net_array_integer(call->in[1], 0), lines = length ? x->count / length : 0;
    struct candidate *const list = malloc(((size_t)length + 1) * sizeof *list);
    const size_t size = net_type_bytes(x->type);
    if (!list)
        return orch_no_memory(call->error);
    for (int64_t line = 0; line < lines; line++) {
        const int64_t base = line / inner * inner * length + line % inner, to = line / inner * inner * k + line % inner;
        for (int64_t e = 0; e < length; e++)
            list[e] = (struct candidate){sign * net_array_double(x, base + e * inner), e};
        qsort(list, (size_t)length, sizeof *list, by_value);
        for (int64_t e = 0; e < k; e++) {
            if (net_out(call, 0))
                memcpy((uint8_t *)call->out[0]->data + (size_t)(to + e * inner) * size,
                       (const uint8_t *)x->data + (size_t)(base + list[e].place * inner) * size, size);
            if (net_out(call, 1))
                ((int64_t *)call->out[1]->data)[to + e * inner] = list[e].place;
        }
    }
    free(list);
    return true;
}
