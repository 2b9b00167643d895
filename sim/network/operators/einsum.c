/* Einsum, and the determinant. */
#include "sim/network/operators/einsum.h"

#include "sim/network/operators/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int label_of(char c)
{
    return c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? 26 + c - 'A' : -1;
}

/* One term; `ellipsis` is how many dimensions "..." stands for. Returns where it ends. */
static const char *read_term(const char *at, unsigned ellipsis, int *label, unsigned *dims)
{
    *dims = 0;
    for (; *at && *at != ',' && strncmp(at, "->", 2) != 0; at++) {
        const unsigned more = *at == '.' ? ellipsis : 1;
        if (*at == ' ')
            continue;
        if (*dims + more > NET_DIMS_MAX || (*at == '.' ? strncmp(at, "...", 3) != 0 : label_of(*at) < 0))
            return NULL;
        for (unsigned k = 0; k < more; k++)
            label[(*dims)++] = *at == '.' ? (int)(52 + NET_DIMS_MAX - ellipsis + k) : label_of(*at);
        at += *at == '.' ? 2 : 0;
    }
    return at;
}

/* Without "->": the ellipsis, then the labels that occur once, in the order of the alphabet (capitals first). */
static void implicit_result(struct net_equation *e, unsigned ellipsis)
{
    unsigned *const dims = &e->dims[e->terms];
    *dims = 0;
    for (unsigned k = 0; k < ellipsis; k++)
        e->label[e->terms][(*dims)++] = (int)(52 + NET_DIMS_MAX - ellipsis + k);
    for (int c = 0; c < 52; c++) {
        const int label = c < 26 ? 26 + c : c - 26;
        unsigned times = 0;
        for (unsigned t = 0; t < e->terms; t++)
            for (unsigned d = 0; d < e->dims[t]; d++)
                times += e->label[t][d] == label;
        if (times == 1 && *dims < NET_DIMS_MAX)
            e->label[e->terms][(*dims)++] = label;
    }
}

bool net_read_equation(struct net_infer *i, struct net_equation *e)
{
    const char *at = net_attr_text(i->node, "equation", "");
    unsigned ellipsis = 0;
    *e = (struct net_equation){.terms = (unsigned)i->inputs};
    if (i->inputs > NET_TERMS_MAX)
        return net_refuse(i->error, "%zu operands", i->inputs);
    for (unsigned t = 0; t < e->terms; t++) {
        unsigned letters = 0;
        for (const char *c = at; *c && *c != ',' && strncmp(c, "->", 2) != 0; c++)
            letters += label_of(*c) >= 0;
        const unsigned dims = i->in[t].shape.dims, rest = dims > letters ? dims - letters : 0;
        at = read_term(at, rest, e->label[t], &e->dims[t]);
        if (!at || e->dims[t] != dims || (t + 1 < e->terms) != (*at == ','))
            return net_refuse(i->error, "the equation does not fit operand %u", t);
        ellipsis = rest > ellipsis ? rest : ellipsis;
        at += *at == ',';
        for (unsigned d = 0; d < dims; d++) {
            int64_t *const size = &e->size[e->label[t][d]];
            const int64_t own = i->in[t].shape.dim[d];
            if (e->used[e->label[t][d]] && *size != own && *size != 1 && own != 1 && *size >= 0 && own >= 0)
                return net_refuse(i->error, "sizes %lld and %lld of one label", (long long)*size, (long long)own);
            if (!e->used[e->label[t][d]] || *size == 1)
                *size = own;
            e->used[e->label[t][d]] = true;
        }
    }
    if (!*at) {
        implicit_result(e, ellipsis);
        return true;
    }
    at = read_term(at + 2, ellipsis, e->label[e->terms], &e->dims[e->terms]);
    if (!at || *at)
        return net_refuse(i->error, "the result of the equation cannot be read");
    for (unsigned d = 0; d < e->dims[e->terms]; d++)
        if (!e->used[e->label[e->terms][d]])
            return net_refuse(i->error, "the result has a label that no operand has");
    return true;
}

bool net_rule_einsum(struct net_infer *i)
{
    struct net_equation e;
    struct net_shape to = {.known = true};
    net_state(i, 0, i->in[0].type, NULL);
    for (size_t k = 0; k < i->inputs; k++)
        if (!i->in[k].shape.known)
            return true;
    if (!net_read_equation(i, &e))
        return false;
    to.dims = e.dims[e.terms];
    for (unsigned d = 0; d < to.dims; d++)
        to.dim[d] = e.size[e.label[e.terms][d]];
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

/* Steps of each label through an operand; a dimension of 1 is repeated. */
static void label_strides(const struct net_equation *e, const struct net_array *x, unsigned term, int64_t *stride)
{
    int64_t own[NET_DIMS_MAX];
    net_strides(x->shape, x->dims, own);
    memset(stride, 0, NET_LABELS * sizeof *stride);
    for (unsigned d = 0; d < x->dims; d++)
        stride[e->label[term][d]] += x->shape[d] == 1 ? 0 : own[d];
}

bool net_eval_einsum(struct net_call *call)
{
    struct net_fact fact[NET_TERMS_MAX];
    struct net_infer i = {.node = call->node, .in = fact, .inputs = call->inputs, .error = call->error};
    struct net_array *const out = call->out[0];
    struct net_equation e;
    int64_t stride[NET_TERMS_MAX + 1][NET_LABELS], total = 1;
    for (size_t k = 0; k < call->inputs && k < NET_TERMS_MAX; k++)
        fact[k] = (struct net_fact){.present = true, .shape = net_shape_of(call->in[k]->shape, call->in[k]->dims)};
    if (!net_read_equation(&i, &e))
        return false;
    for (unsigned t = 0; t <= e.terms; t++)
        label_strides(&e, t < e.terms ? call->in[t] : out, t, stride[t]);
    for (int l = 0; l < NET_LABELS; l++)
        if (e.used[l] && (__builtin_mul_overflow(total, e.size[l], &total) || total > INT64_C(1) << 40))
            return net_refuse(call->error, "too many products");
    double *const sum = calloc((size_t)out->count + 1, sizeof *sum);
    if (!sum)
        return orch_no_memory(call->error);
    for (int64_t k = 0; k < total; k++) {
        int64_t left = k, place[NET_TERMS_MAX + 1] = {0};
        double product = 1;
        for (int l = NET_LABELS; l-- > 0;) {
            if (!e.used[l])
                continue;
            for (unsigned t = 0; t <= e.terms; t++)
                place[t] += left % e.size[l] * stride[t][l];
            left /= e.size[l];
        }
        for (unsigned t = 0; t < e.terms; t++)
            product *= net_array_double(call->in[t], place[t]);
        sum[place[e.terms]] += product;
    }
    net_write_doubles(out->type, out->data, 0, (size_t)out->count, sum);
    free(sum);
    return true;
}

/* ---- determinant ---- */

bool net_rule_det(struct net_infer *i)
{
    struct net_shape to = i->in[0].shape;
    if (to.known && (to.dims < 2 || (net_shape_complete(&to) && to.dim[to.dims - 1] != to.dim[to.dims - 2])))
        return net_refuse(i->error, "no square matrices");
    to.dims -= to.known ? 2 : 0;
    net_state(i, 0, i->in[0].type, to.known ? &to : NULL);
    return true;
}

/* Gauss's elimination with the largest pivot. */
static double determinant(double *m, int64_t n)
{
    double det = 1;
    for (int64_t c = 0; c < n; c++) {
        int64_t pivot = c;
        for (int64_t r = c + 1; r < n; r++)
            if (fabs(m[r * n + c]) > fabs(m[pivot * n + c]))
                pivot = r;
        if (m[pivot * n + c] == 0)
            return 0;
        for (int64_t k = 0; pivot != c && k < n; k++) {
            const double swap = m[c * n + k];
            m[c * n + k] = m[pivot * n + k];
            m[pivot * n + k] = swap;
        }
        det *= pivot != c ? -m[c * n + c] : m[c * n + c];
        for (int64_t r = c + 1; r < n; r++) {
            const double factor = m[r * n + c] / m[c * n + c];
            for (int64_t k = c; k < n; k++)
                m[r * n + k] -= factor * m[c * n + k];
        }
    }
    return det;
}

bool net_eval_det(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const int64_t n = x->shape[x->dims - 1];
    double *const m = malloc((size_t)(n * n + 1) * sizeof *m);
    if (!m)
        return orch_no_memory(call->error);
    for (int64_t k = 0; k < call->out[0]->count; k++) {
        net_read_doubles(x->type, x->data, k * n * n, 1, (size_t)(n * n), m);
        const double det = determinant(m, n);
        net_write_doubles(x->type, call->out[0]->data, k, 1, &det);
    }
    free(m);
    return true;
}
