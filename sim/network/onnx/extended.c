#include "sim/network/onnx/extended.h"

#include "isa/array_count.h"
#include "sim/network/passes/pass.h"

#include <string.h>

enum { GRID_MAX = 1 << 24 };

static const struct {
    const char *op, *domain;
    void (*write)(struct onnx_parts *p);
    size_t fewest; /* inputs */
} extended[] = {
#define EXTENDED(op, domain, function, fewest, ...) {#op, domain, onnx_extend_##function, fewest},
#include "sim/network/onnx/extended.inc"
#undef EXTENDED
};

static size_t find(const char *op, const char *domain)
{
    size_t k = 0;
    while (k < ARRAY_COUNT(extended) && (strcmp(extended[k].op, op) != 0 || strcmp(extended[k].domain, domain) != 0))
        k++;
    return k;
}

bool onnx_is_extended(const char *op, const char *domain)
{
    return find(op, domain) < ARRAY_COUNT(extended);
}

bool onnx_extend(struct net_model *model, struct net_graph *graph, const struct net_node *node, struct orch_error *error)
{
    struct onnx_parts p = {.model = model, .graph = graph, .of = node, .first = graph->nodes, .error = error};
    const size_t row = find(node->op, node->domain), fewest = extended[row].fewest;
    if (node->inputs < fewest)
        return orch_fail(error, ORCH_USAGE, "%zu inputs; expected %zu at least", node->inputs, fewest);
    extended[row].write(&p);
    return !p.failed && onnx_know_shapes(model, graph, p.first, error);
}

bool onnx_know_shapes(struct net_model *model, struct net_graph *graph, size_t first, struct orch_error *error)
{
    for (size_t k = first; k < graph->nodes; k++) {
        struct orch_error own = {0};
        if (net_infer_one(model, graph->node[k], &own) || own.exit_code == ORCH_USAGE || own.exit_code == ORCH_UNMODELLED)
            continue;
        *error = own;
        return false;
    }
    return true;
}

/* ---- the same under another name ---- */

static net_id plain(struct onnx_parts *p, const char *op, size_t inputs)
{
    const net_id y = onnx_part(p, op, p->of->input, inputs < p->of->inputs ? inputs : p->of->inputs);
    for (size_t k = 0; k < p->of->attributes; k++)
        onnx_part_copy(p, (const char *const[]){p->of->attribute[k].name}, 1);
    return y;
}

void onnx_extend_same_name(struct onnx_parts *p)
{
    onnx_part_give(p, 0, plain(p, p->of->op, SIZE_MAX));
}

void onnx_extend_ms_range(struct onnx_parts *p)
{
    const net_id step = onnx_part_in(p, 2) == NET_NONE ? onnx_part_number(p, 1) : onnx_part_in(p, 2);
    onnx_part_give(p, 0, ONNX_PART(p, "Range", onnx_part_in(p, 0), onnx_part_in(p, 1), step));
}

/* In the order in which they come first, where ONNX's are sorted unless that is said. */
void onnx_extend_ms_unique(struct onnx_parts *p)
{
    struct net_node *node;
    if (onnx_part_wanted(p, 1) || onnx_part_wanted(p, 2)) {
        onnx_part_refuse(p, ORCH_UNMODELLED, "places and counts of what is unique");
        return;
    }
    const net_id y = ONNX_PART(p, "Unique", onnx_part_in(p, 0));
    node = p->last;
    if (node)
        onnx_part_int(p, "sorted", 0);
    onnx_part_give(p, 0, y);
}

void onnx_extend_expand_dims(struct onnx_parts *p)
{
    onnx_part_give(p, 0, ONNX_PART(p, "Unsqueeze", onnx_part_in(p, 0), onnx_part_in(p, 1)));
}

/* ---- activations ---- */

static net_id gelu(struct onnx_parts *p, net_id x, bool by_tanh)
{
    const net_id y = ONNX_PART(p, "Gelu", x);
    onnx_part_text(p, "approximate", by_tanh ? "tanh" : "none");
    return y;
}

static net_id sum(struct onnx_parts *p, net_id a, net_id b)
{
    return b == NET_NONE ? a : ONNX_PART(p, "Add", a, b);
}

void onnx_extend_bias_gelu(struct onnx_parts *p)
{
    onnx_part_give(p, 0, gelu(p, sum(p, onnx_part_in(p, 0), onnx_part_in(p, 1)), false));
}

void onnx_extend_fast_gelu(struct onnx_parts *p)
{
    onnx_part_give(p, 0, gelu(p, sum(p, onnx_part_in(p, 0), onnx_part_in(p, 1)), true));
}

void onnx_extend_gemm_fast_gelu(struct onnx_parts *p)
{
    const net_id product = ONNX_PART(p, "MatMul", onnx_part_in(p, 0), onnx_part_in(p, 1));
    onnx_part_give(p, 0, gelu(p, sum(p, product, onnx_part_in(p, 2)), true));
}

void onnx_extend_quick_gelu(struct onnx_parts *p)
{
    const net_id x = onnx_part_in(p, 0);
    const double alpha = net_attr_real(p->of, "alpha", 1.702);
    const net_id inner = alpha == 1 ? x : ONNX_PART(p, "Mul", x, onnx_part_number(p, alpha));
    onnx_part_give(p, 0, ONNX_PART(p, "Mul", x, ONNX_PART(p, "Sigmoid", inner)));
}

void onnx_extend_bias_add(struct onnx_parts *p)
{
    onnx_part_give(p, 0, sum(p, sum(p, onnx_part_in(p, 0), onnx_part_in(p, 1)), onnx_part_in(p, 2)));
}

void onnx_extend_bias_split_gelu(struct onnx_parts *p)
{
    const net_id x = sum(p, onnx_part_in(p, 0), onnx_part_in(p, 1));
    const net_id length = onnx_part_length(p, x, -1), half = ONNX_PART(p, "Div", length, onnx_part_ints(p, &(int64_t){2}, 1));
    const net_id zero = onnx_part_ints(p, &(int64_t){0}, 1), last = onnx_part_ints(p, &(int64_t){-1}, 1);
    const net_id left = ONNX_PART(p, "Slice", x, zero, half, last), right = ONNX_PART(p, "Slice", x, half, length, last);
    onnx_part_give(p, 0, ONNX_PART(p, "Mul", left, gelu(p, right, false)));
}

/* The bias is laid along the batches of the softmax: outer dimensions are repeated as ONNX does, or each batch one after another.
 */
void onnx_extend_bias_softmax(struct onnx_parts *p)
{
    if (!net_attr_int(p->of, "is_inner_broadcast", 1))
        onnx_part_refuse(p, ORCH_UNMODELLED, "is_inner_broadcast=0: a bias that is repeated from outside");
    const net_id y = ONNX_PART(p, "Softmax", sum(p, onnx_part_in(p, 0), onnx_part_in(p, 1)));
    onnx_part_int(p, "axis", net_attr_int(p->of, "axis", 1));
    onnx_part_int(p, "flat", 1);
    onnx_part_give(p, 0, y);
}

/* The activation that a fused operator names, with its parameters one after another. */
static net_id activated(struct onnx_parts *p, net_id x)
{
    static const char *const names[][3] = {{"LeakyRelu", "alpha"}, {"HardSigmoid", "alpha", "beta"}, {"Elu", "alpha"}};
    const char *const op = net_attr_text(p->of, "activation", "");
    const struct net_attribute *const list = net_attribute(p->of, "activation_params");
    const double *const given = list && list->kind == NET_ATTR_REALS ? list->reals : NULL;
    if (!*op)
        return x;
    if (strcmp(op, "Clip") == 0 && given && list->count == 2)
        return ONNX_PART(p, "Clip", x, onnx_part_number(p, given[0]), onnx_part_number(p, given[1]));
    const net_id y = ONNX_PART(p, op, x);
    if (!p->failed && !p->last->row)
        onnx_part_refuse(p, ORCH_UNMODELLED, "activation '%.40s'", op);
    for (size_t k = 0; k < ARRAY_COUNT(names); k++)
        for (size_t n = 1; strcmp(names[k][0], op) == 0 && n < 3 && names[k][n]; n++) {
            char own[40] = "activation_";
            strcat(own, names[k][n]);
            if (given && n - 1 < list->count)
                onnx_part_real(p, names[k][n], given[n - 1]);
            else if (net_attribute(p->of, own))
                onnx_part_real(p, names[k][n], net_attr_real(p->of, own, 0));
        }
    return y;
}

/* ---- products ---- */

static const char *const window[] = {"auto_pad",     "ceil_mode", "count_include_pad", "dilations", "group",
                                     "kernel_shape", "pads",      "storage_order",     "strides"};

void onnx_extend_fused_conv(struct onnx_parts *p)
{
    const net_id y = onnx_part(p, "Conv", p->of->input, p->of->inputs < 3 ? p->of->inputs : 3);
    onnx_part_copy(p, window, ARRAY_COUNT(window));
    onnx_part_give(p, 0, activated(p, sum(p, y, onnx_part_in(p, 3))));
}

void onnx_extend_fused_gemm(struct onnx_parts *p)
{
    static const char *const names[] = {"alpha", "beta", "transA", "transB"};
    const net_id y = onnx_part(p, "Gemm", p->of->input, p->of->inputs);
    onnx_part_copy(p, names, ARRAY_COUNT(names));
    onnx_part_give(p, 0, activated(p, y));
}

void onnx_extend_fused_matmul(struct onnx_parts *p)
{
    static const char *const names[] = {"alpha", "transA", "transB"};
    if (net_attr_int(p->of, "transBatchA", 0) || net_attr_int(p->of, "transBatchB", 0))
        onnx_part_refuse(p, ORCH_UNMODELLED, "transBatchA, transBatchB: batches that are transposed");
    const net_id y = ONNX_PART(p, ".FusedMatMul", onnx_part_in(p, 0), onnx_part_in(p, 1));
    onnx_part_copy(p, names, ARRAY_COUNT(names));
    onnx_part_give(p, 0, y);
}

/* ---- channels last ---- */

static const int64_t channels_first[4] = {0, 3, 1, 2}, channels_last[4] = {0, 2, 3, 1};

void onnx_extend_nhwc_conv(struct onnx_parts *p)
{
    const net_id x = onnx_part_turn(p, onnx_part_in(p, 0), channels_first, 4);
    const net_id y = ONNX_PART(p, "Conv", x, onnx_part_turn(p, onnx_part_in(p, 1), channels_first, 4), onnx_part_in(p, 2));
    onnx_part_copy(p, window, ARRAY_COUNT(window));
    onnx_part_give(p, 0, onnx_part_turn(p, y, channels_last, 4));
}

void onnx_extend_nhwc_max_pool(struct onnx_parts *p)
{
    const net_id y = ONNX_PART(p, "MaxPool", onnx_part_turn(p, onnx_part_in(p, 0), channels_first, 4));
    onnx_part_copy(p, window, ARRAY_COUNT(window));
    onnx_part_give(p, 0, onnx_part_turn(p, y, channels_last, 4));
}

void onnx_extend_group_norm(struct onnx_parts *p)
{
    const bool last = net_attr_int(p->of, "channels_last", 1) != 0;
    const net_id x = last ? onnx_part_turn(p, onnx_part_in(p, 0), channels_first, 4) : onnx_part_in(p, 0);
    net_id y = ONNX_PART(p, "GroupNormalization", x, onnx_part_in(p, 1), onnx_part_in(p, 2));
    onnx_part_int(p, "num_groups", net_attr_int(p->of, "groups", 1));
    onnx_part_real(p, "epsilon", net_attr_real(p->of, "epsilon", 1e-5));
    y = net_attr_int(p->of, "activation", 0) ? ONNX_PART(p, "Swish", y) : y;
    onnx_part_give(p, 0, last ? onnx_part_turn(p, y, channels_last, 4) : y);
}

/* ---- grids and cuts ---- */

/* Middles of pixels between -1 and 1, or with align_corners the ends themselves. */
static double place(int64_t k, int64_t n, bool corners)
{
    return !corners ? (2 * (double)k + 1) / (double)n - 1 : n > 1 ? 2 * (double)k / (double)(n - 1) - 1 : 0;
}

/* The same for a length that is a number of the run. */
static net_id places_of_run(struct onnx_parts *p, net_id length, bool corners)
{
    const net_id range = ONNX_PART(p, "Range", onnx_part_integer(p, 0), length, onnx_part_integer(p, 1));
    const net_id k = ONNX_PART(p, "CastLike", range, onnx_part_in(p, 0)),
                 n = ONNX_PART(p, "CastLike", length, onnx_part_in(p, 0));
    const net_id one = onnx_part_number(p, 1), two = ONNX_PART(p, "Mul", k, onnx_part_number(p, 2));
    if (!corners)
        return ONNX_PART(p, "Sub", ONNX_PART(p, "Div", ONNX_PART(p, "Add", two, one), n), one);
    const net_id less = ONNX_PART(p, "Sub", n, one); /* a single one lies in the middle */
    const net_id ends = ONNX_PART(p, "Sub", ONNX_PART(p, "Div", two, ONNX_PART(p, "Max", less, one)), one);
    return ONNX_PART(p, "Mul", ends, ONNX_PART(p, "Min", less, one));
}

/* Grids of images and of volumes, [N, 3, 4], whose size is known when the network runs. */
static void grid_of_run(struct onnx_parts *p)
{
    const net_id map = onnx_part_in(p, 0);
    const struct net_shape *const theta = map == NET_NONE ? NULL : &p->model->value[map].shape;
    const int64_t axes = theta && theta->known && theta->dims == 3 ? theta->dim[1] : 0;
    const bool corners = net_attr_int(p->of, "align_corners", 0) != 0;
    net_id column[4] = {NET_NONE, NET_NONE, NET_NONE, NET_NONE};
    if (axes != 2 && axes != 3) {
        onnx_part_refuse(p, ORCH_UNMODELLED, "a map of another shape than [N, 2, 3] and [N, 3, 4]");
        return;
    }
    const net_id last = onnx_part_ints(p, &(int64_t){1}, 1);
    const net_id sizes = onnx_part_slice(p, onnx_part_in(p, 1), 2, INT64_MAX, 0);
    const net_id all = ONNX_PART(p, "Concat", sizes, last);
    onnx_part_int(p, "axis", 0);
    for (int64_t k = 0; k < axes; k++) { /* x comes first, and is the last axis */
        int64_t shape[4] = {1, 1, 1, 1};
        shape[axes - 1 - k] = -1;
        const net_id length = ONNX_PART(p, "Gather", sizes, onnx_part_integer(p, axes - 1 - k));
        column[k] = ONNX_PART(p, "Expand", onnx_part_reshape(p, places_of_run(p, length, corners), shape, (size_t)axes + 1), all);
    }
    column[axes] = ONNX_PART(p, "Expand", onnx_part_number(p, 1), all);
    const net_id point = onnx_part(p, "Concat", column, (size_t)axes + 1);
    onnx_part_int(p, "axis", -1);
    const net_id rows = onnx_part_reshape(p, point, (const int64_t[]){-1, axes + 1}, 2);
    const net_id grid = ONNX_PART(p, "MatMul", rows, onnx_part_turn(p, onnx_part_in(p, 0), (const int64_t[]){0, 2, 1}, 3));
    const net_id shape = ONNX_PART(p, "Concat", onnx_part_ints(p, &(int64_t){-1}, 1), sizes, onnx_part_ints(p, &axes, 1));
    onnx_part_int(p, "axis", 0);
    onnx_part_give(p, 0, ONNX_PART(p, "Reshape", grid, shape));
}

/* (x, y, 1) of each place of an image by theta [N, 2, 3]: [N, H, W, 2]. */
void onnx_extend_affine_grid(struct onnx_parts *p)
{
    const struct net_array *const size = onnx_part_constant(p, onnx_part_in(p, 1));
    const bool corners = net_attr_int(p->of, "align_corners", 0) != 0;
    const enum net_type own = onnx_part_type(p, onnx_part_in(p, 0)), type = own == NET_TYPES ? NET_F32 : own;
    if (!size || size->count != 4) {
        grid_of_run(p);
        return;
    }
    const int64_t h = net_array_integer(size, 2), w = net_array_integer(size, 3);
    const bool fits = h > 0 && w > 0 && h <= GRID_MAX / w;
    const int64_t shape[2] = {fits ? h * w : 0, 3};
    struct net_array *const rows = fits ? net_array_new(type, shape, 2, p->error) : NULL;
    if (!rows)
        onnx_part_refuse(p, ORCH_USAGE, "a grid of %lld x %lld", (long long)h, (long long)w);
    for (int64_t k = 0; rows && k < h * w; k++)
        net_write_doubles(type, rows->data, 3 * k, 3, (const double[]){place(k % w, w, corners), place(k / w, h, corners), 1});
    const net_id turned = onnx_part_turn(p, onnx_part_in(p, 0), (const int64_t[]){0, 2, 1}, 3);
    const net_id grid = ONNX_PART(p, "MatMul", onnx_part_array(p, rows), turned);
    onnx_part_give(p, 0, onnx_part_reshape(p, grid, (const int64_t[]){-1, h, w, 2}, 4));
}

/* Where what is cut or added is odd, cuts begin nearer to the front and paddings are shorter there. */
void onnx_extend_center_crop_pad(struct onnx_parts *p)
{
    const net_id x = onnx_part_in(p, 0), wanted = onnx_part_in(p, 1);
    size_t count;
    const int64_t *const axes = net_attr_ints(p->of, "axes", &count);
    const net_id list = axes ? onnx_part_ints(p, axes, count) : NET_NONE, shape = ONNX_PART(p, "Shape", x);
    const net_id now = axes ? ONNX_PART(p, "Gather", shape, list) : shape;
    const net_id zero = onnx_part_integer(p, 0), two = onnx_part_integer(p, 2);
    const net_id cut = ONNX_PART(p, "Max", ONNX_PART(p, "Sub", now, wanted), zero);
    const net_id begin = ONNX_PART(p, "Div", cut, two), kept = ONNX_PART(p, "Sub", now, cut);
    const net_id inner = ONNX_PART(p, "Slice", x, begin, ONNX_PART(p, "Add", begin, kept), list);
    const net_id more = ONNX_PART(p, "Sub", wanted, kept), front = ONNX_PART(p, "Div", more, two);
    const net_id pads = ONNX_PART(p, "Concat", front, ONNX_PART(p, "Sub", more, front));
    onnx_part_int(p, "axis", 0);
    onnx_part_give(p, 0, ONNX_PART(p, "Pad", inner, pads, NET_NONE, list));
}
