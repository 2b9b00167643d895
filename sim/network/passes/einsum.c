/* Einsum of two operands as a product of matrices: each operand is brought into the order batches, rows, columns, and the result
 * into its own. */
#include "sim/network/operators/einsum.h"

#include "sim/network/passes/match.h"
#include "sim/network/passes/passes.h"

#include <string.h>

enum { BATCH, ROWS, INNER, COLUMNS, ROLES };

struct product {
    struct net_match *m;
    const struct net_node *node;
    struct net_equation e;
    int label[ROLES][NET_DIMS_MAX]; /* in the order of the result, those that are summed over in that of the first operand */
    unsigned count[ROLES];
    size_t at; /* where the next node goes */
};

/* ---- reading ---- */

static int place_of(const struct product *p, unsigned term, int label)
{
    for (unsigned d = 0; d < p->e.dims[term]; d++)
        if (p->e.label[term][d] == label)
            return (int)d;
    return -1;
}

static bool each_once(const struct product *p, unsigned term)
{
    for (unsigned d = 0; d < p->e.dims[term]; d++)
        if (place_of(p, term, p->e.label[term][d]) != (int)d)
            return false;
    return true;
}

/* A dimension of 1 that is repeated stays with Einsum. */
static bool full_size(const struct product *p, unsigned term)
{
    const struct net_shape *const s = net_value_shape(p->m, p->node->input[term]);
    for (unsigned d = 0; d < s->dims; d++)
        if (s->dim[d] < 1 || s->dim[d] != p->e.size[p->e.label[term][d]])
            return false;
    return true;
}

static void add_label(struct product *p, unsigned role, int label)
{
    p->label[role][p->count[role]++] = label;
}

static bool find_roles(struct product *p)
{
    for (unsigned d = 0; d < p->e.dims[2]; d++) {
        const int label = p->e.label[2][d];
        const bool a = place_of(p, 0, label) >= 0, b = place_of(p, 1, label) >= 0;
        add_label(p, a && b ? BATCH : a ? ROWS : COLUMNS, label);
    }
    for (unsigned d = 0; d < p->e.dims[0]; d++)
        if (place_of(p, 2, p->e.label[0][d]) < 0) {
            if (place_of(p, 1, p->e.label[0][d]) < 0)
                return false; /* summed over before the product */
            add_label(p, INNER, p->e.label[0][d]);
        }
    for (unsigned d = 0; d < p->e.dims[1]; d++)
        if (place_of(p, 2, p->e.label[1][d]) < 0 && place_of(p, 0, p->e.label[1][d]) < 0)
            return false;
    return p->count[INNER] > 0 && p->count[BATCH] + 2 <= NET_DIMS_MAX;
}

static bool read_product(struct product *p)
{
    struct net_fact in[2], out = {.present = true};
    struct orch_error ignored = {0};
    for (size_t k = 0; k < 2; k++) {
        const net_id id = p->node->input[k];
        if (id == NET_NONE || !net_value_shape(p->m, id)->known)
            return false;
        in[k] = (struct net_fact){.present = true, .type = p->m->model->value[id].type, .shape = *net_value_shape(p->m, id)};
    }
    struct net_infer infer = {.node = p->node, .in = in, .inputs = 2, .out = &out, .outputs = 1, .error = &ignored};
    return net_read_equation(&infer, &p->e) && each_once(p, 0) && each_once(p, 1) && each_once(p, 2) && full_size(p, 0) &&
           full_size(p, 1) && find_roles(p);
}

/* ---- writing ---- */

static net_id put(struct product *p, const char *op, net_id a, net_id b, const int64_t *perm, size_t dims)
{
    struct net_node *const node = net_put(p->m, p->node, &p->at, op, (const net_id[]){a, b}, b == NET_NONE ? 1 : 2, 1,
                                          p->m->model->value[p->node->output[0]].type);
    net_must(p->m, node && (!perm || net_set_ints(node, "perm", perm, dims)));
    return node ? node->output[0] : NET_NONE;
}

static net_id reshaped(struct product *p, net_id x, const int64_t *shape, size_t dims)
{
    struct net_array *const array = net_array_of_integers(NET_I64, shape, dims, NULL);
    const net_id list = array ? net_constant_add(p->m->model, p->node->name, array) : NET_NONE;
    net_must(p->m, list != NET_NONE);
    return list == NET_NONE ? NET_NONE : put(p, "Reshape", x, list, NULL, 0);
}

/* Dimensions of x with these labels in the order of the roles; nothing is done where they are in that order. */
static net_id turned(struct product *p, net_id x, const int *have, const int *want, unsigned dims)
{
    int64_t perm[NET_DIMS_MAX];
    bool same = true;
    for (unsigned d = 0; d < dims; d++) {
        unsigned k = 0;
        while (k < dims && have[k] != want[d])
            k++;
        perm[d] = k;
        same = same && k == d;
    }
    return same ? x : put(p, "Transpose", x, NET_NONE, perm, dims);
}

static int64_t extent(const struct product *p, unsigned role)
{
    int64_t product = 1;
    for (unsigned k = 0; k < p->count[role]; k++)
        product *= p->e.size[p->label[role][k]];
    return product;
}

static unsigned list_labels(const struct product *p, const unsigned *role, unsigned roles, int *label)
{
    unsigned count = 0;
    for (unsigned r = 0; r < roles; r++)
        for (unsigned k = 0; k < p->count[role[r]]; k++)
            label[count++] = p->label[role[r]][k];
    return count;
}

/* An operand as [batches, first role, second role]. */
static net_id matrix(struct product *p, unsigned term, unsigned first, unsigned second)
{
    int want[2 * NET_DIMS_MAX];
    int64_t shape[NET_DIMS_MAX];
    const unsigned role[3] = {BATCH, first, second}, dims = list_labels(p, role, 3, want);
    const net_id x = turned(p, p->node->input[term], p->e.label[term], want, dims);
    if (p->count[first] == 1 && p->count[second] == 1)
        return x;
    for (unsigned k = 0; k < p->count[BATCH]; k++)
        shape[k] = p->e.size[p->label[BATCH][k]];
    shape[p->count[BATCH]] = extent(p, first);
    shape[p->count[BATCH] + 1] = extent(p, second);
    return reshaped(p, x, shape, p->count[BATCH] + 2);
}

static bool change(struct net_match *m, struct net_node *node)
{
    struct product p = {.m = m, .node = node};
    static const unsigned result[3] = {BATCH, ROWS, COLUMNS};
    int have[2 * NET_DIMS_MAX];
    int64_t shape[NET_DIMS_MAX];
    if (!net_is(node, "Einsum") || node->inputs != 2 || !read_product(&p))
        return false;
    p.at = m->uses.position[node->output[0]];
    const net_id a = matrix(&p, 0, ROWS, INNER), b = m->starved ? NET_NONE : matrix(&p, 1, INNER, COLUMNS);
    net_id y = m->starved ? NET_NONE : put(&p, "MatMul", a, b, NULL, 0);
    const unsigned dims = list_labels(&p, result, 3, have);
    for (unsigned d = 0; d < dims; d++)
        shape[d] = p.e.size[have[d]];
    if (!m->starved && (p.count[ROWS] != 1 || p.count[COLUMNS] != 1))
        y = reshaped(&p, y, shape, dims);
    y = m->starved ? NET_NONE : turned(&p, y, have, p.e.label[2], dims);
    if (m->starved)
        return false;
    net_retire(m, node, y);
    return true;
}

bool net_pass_einsum(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, change, changes, error);
}
