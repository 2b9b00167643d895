/* Operations that move elements. */
#include "sim/network/coreml/mil.h"

#include <string.h>

/* A 0 keeps a dimension: that of the same place up to opset CoreML6, the one as far from the end from CoreML7 on. */
void mil_reshape(struct mil_op *o)
{
    int64_t shape[NET_DIMS_MAX];
    size_t dims = 0;
    const net_id x = mil_in(o, "x"), wanted = mil_in(o, "shape");
    if (o->c->failed || !coreml_integers_of(o->c, wanted, shape, NET_DIMS_MAX, &dims)) {
        mil_set(o, coreml_two(o->c, "Reshape", x, wanted));
        return;
    }
    const unsigned rank = coreml_rank(o->c, x);
    for (size_t d = 0; d < dims && rank != dims; d++)
        if (shape[d] == 0 && o->p->opset >= 7)
            shape[d] = dims - d <= rank ? coreml_dim(o->c, x, (int64_t)d - (int64_t)dims) : 1;
    mil_set(o, coreml_reshape(o->c, x, shape, dims));
}

void mil_transpose(struct mil_op *o)
{
    int64_t order[NET_DIMS_MAX];
    const net_id x = mil_in(o, "x");
    const size_t dims = mil_ints(o, "perm", order, NET_DIMS_MAX);
    for (size_t d = 0; d < dims; d++)
        order[d] += order[d] < 0 ? (int64_t)dims : 0;
    mil_set(o, coreml_transpose(o->c, x, order, dims));
}

void mil_axes(struct mil_op *o)
{
    int64_t axes[NET_DIMS_MAX];
    const size_t count = mil_ints(o, "axes", axes, NET_DIMS_MAX);
    mil_set(o, coreml_axes(o->c, "Unsqueeze", mil_in(o, "x"), axes, count));
}

void mil_squeeze(struct mil_op *o)
{
    int64_t axes[NET_DIMS_MAX];
    const size_t count = mil_ints(o, "axes", axes, NET_DIMS_MAX);
    const net_id x = mil_in(o, "x");
    mil_set(o, count ? coreml_axes(o->c, "Squeeze", x, axes, count) : coreml_one(o->c, "Squeeze", x));
}

static net_id joined(struct mil_op *o, const net_id *part, size_t count, int64_t axis)
{
    struct net_node *const node = coreml_node(o->c, "Concat", 1, part, count);
    coreml_set_int(o->c, node, "axis", axis);
    return coreml_add(o->c, node, NULL);
}

/* Interleaved: element k of each in turn along the axis, which is what a new axis behind it gives. */
void mil_concat(struct mil_op *o)
{
    net_id part[MIL_OPERANDS_MAX];
    const size_t count = mil_all(o, "values", part, MIL_OPERANDS_MAX);
    const int64_t axis = mil_int(o, "axis", 0);
    if (o->c->failed)
        return;
    if (!mil_flag(o, "interleave", false)) {
        mil_set(o, joined(o, part, count, axis));
        return;
    }
    int64_t shape[NET_DIMS_MAX];
    const unsigned rank = coreml_rank(o->c, part[0]);
    const int64_t at = axis < 0 ? axis + rank : axis, behind = at + 1;
    for (unsigned d = 0; d < rank; d++)
        shape[d] = (int64_t)d == at ? coreml_dim(o->c, part[0], d) * (int64_t)count : coreml_dim(o->c, part[0], d);
    for (size_t k = 0; k < count; k++)
        part[k] = coreml_axes(o->c, "Unsqueeze", part[k], &behind, 1);
    mil_set(o, coreml_reshape(o->c, joined(o, part, count, behind), shape, rank));
}

void mil_stack(struct mil_op *o)
{
    net_id part[MIL_OPERANDS_MAX];
    const int64_t axis = mil_int(o, "axis", 0);
    const size_t count = mil_all(o, "values", part, MIL_OPERANDS_MAX);
    for (size_t k = 0; k < count; k++)
        part[k] = coreml_axes(o->c, "Unsqueeze", part[k], &axis, 1);
    mil_set(o, joined(o, part, count, axis));
}

void mil_split(struct mil_op *o)
{
    int64_t sizes[MIL_OUTPUTS_MAX];
    net_id out[MIL_OUTPUTS_MAX];
    const size_t given = mil_ints(o, "split_sizes", sizes, MIL_OUTPUTS_MAX);
    if (given && given != o->outputs)
        coreml_fail(o->c, ORCH_USAGE, "%zu sizes and %zu outputs", given, o->outputs);
    const net_id in[2] = {mil_in(o, "x"), given ? coreml_ints(o->c, sizes, given) : NET_NONE};
    struct net_node *const node = coreml_node(o->c, "Split", o->outputs, in, given ? 2 : 1);
    coreml_set_int(o->c, node, "axis", mil_int(o, "axis", 0));
    if (!given)
        coreml_set_int(o->c, node, "num_outputs", (int64_t)o->outputs);
    coreml_add(o->c, node, out);
    for (size_t k = 0; k < o->outputs; k++)
        o->out[k] = coreml_tensor(out[k]);
}

void mil_tile(struct mil_op *o)
{
    mil_set(o, coreml_two(o->c, "Tile", mil_in(o, "x"), coreml_cast(o->c, mil_in(o, "reps"), NET_I64)));
}

void mil_flatten(struct mil_op *o)
{
    mil_set(o, coreml_axis(o->c, "Flatten", mil_in(o, "x"), mil_int(o, "axis", 1)));
}

/* ---- parts ---- */

void mil_slice_by_index(struct mil_op *o)
{
    int64_t from[NET_DIMS_MAX] = {0}, to[NET_DIMS_MAX] = {0}, step[NET_DIMS_MAX] = {0}, squeeze[NET_DIMS_MAX] = {0};
    int64_t open_from[NET_DIMS_MAX] = {0}, open_to[NET_DIMS_MAX] = {0}, gone[NET_DIMS_MAX], axes[NET_DIMS_MAX];
    const net_id x = mil_in(o, "x");
    const unsigned rank = coreml_rank(o->c, x);
    const size_t dims = mil_ints(o, "begin", from, NET_DIMS_MAX);
    size_t squeezed = 0;
    mil_ints(o, "end", to, NET_DIMS_MAX);
    mil_ints(o, "stride", step, NET_DIMS_MAX);
    mil_ints(o, "begin_mask", open_from, NET_DIMS_MAX);
    mil_ints(o, "end_mask", open_to, NET_DIMS_MAX);
    mil_ints(o, "squeeze_mask", squeeze, NET_DIMS_MAX);
    if (!o->c->failed && dims != rank)
        coreml_fail(o->c, ORCH_USAGE, "%zu places for %u dimensions", dims, rank);
    for (size_t d = 0; d < dims; d++) {
        axes[d] = (int64_t)d;
        step[d] = step[d] && !squeeze[d] ? step[d] : 1;
        if (squeeze[d]) {
            gone[squeezed++] = (int64_t)d;
            to[d] = from[d] == -1 ? INT64_MAX : from[d] + 1;
            continue;
        }
        from[d] = !open_from[d] ? from[d] : step[d] > 0 ? 0 : INT64_MAX;
        to[d] = !open_to[d] ? to[d] : step[d] > 0 ? INT64_MAX : INT64_MIN;
    }
    if (o->c->failed)
        return;
    const net_id in[5] = {x, coreml_ints(o->c, from, dims), coreml_ints(o->c, to, dims), coreml_ints(o->c, axes, dims),
                          coreml_ints(o->c, step, dims)};
    const net_id y = coreml_add(o->c, coreml_node(o->c, "Slice", 1, in, 5), NULL);
    mil_set(o, squeezed ? coreml_axes(o->c, "Squeeze", y, gone, squeezed) : y);
}

void mil_slice_by_size(struct mil_op *o)
{
    int64_t from[NET_DIMS_MAX], size[NET_DIMS_MAX], to[NET_DIMS_MAX], axes[NET_DIMS_MAX];
    const net_id x = mil_in(o, "x");
    const size_t dims = mil_ints(o, "begin", from, NET_DIMS_MAX), sizes = mil_ints(o, "size", size, NET_DIMS_MAX);
    if (!o->c->failed && (dims != sizes || dims != coreml_rank(o->c, x)))
        coreml_fail(o->c, ORCH_USAGE, "%zu places and %zu sizes", dims, sizes);
    for (size_t d = 0; d < dims && !o->c->failed; d++) {
        axes[d] = (int64_t)d;
        to[d] = size[d] < 0 || __builtin_add_overflow(from[d], size[d], &to[d]) ? INT64_MAX : from[d] + size[d];
    }
    if (o->c->failed)
        return;
    const net_id in[4] = {x, coreml_ints(o->c, from, dims), coreml_ints(o->c, to, dims), coreml_ints(o->c, axes, dims)};
    mil_set(o, coreml_add(o->c, coreml_node(o->c, "Slice", 1, in, 4), NULL));
}

void mil_gather(struct mil_op *o)
{
    const bool by_nd = strcmp(o->op, "GatherND") == 0;
    const int64_t batch = mil_int(o, "batch_dims", 0);
    const net_id in[2] = {mil_in(o, "x"), coreml_cast(o->c, mil_in(o, "indices"), NET_I64)};
    struct net_node *const node = coreml_node(o->c, o->op, 1, in, 2);
    if (batch && !by_nd)
        coreml_fail(o->c, ORCH_UNMODELLED, "batch_dims of %lld", (long long)batch);
    coreml_set_int(o->c, node, by_nd ? "batch_dims" : "axis", by_nd ? batch : mil_int(o, "axis", 0));
    mil_set(o, coreml_add(o->c, node, NULL));
}

/* Begin and end of the last dimensions, one after the other. */
void mil_pad(struct mil_op *o)
{
    int64_t given[2 * NET_DIMS_MAX], pads[2 * NET_DIMS_MAX] = {0};
    char text[16];
    const net_id x = mil_in(o, "x");
    const size_t count = mil_ints(o, "pad", given, 2 * NET_DIMS_MAX);
    const unsigned rank = coreml_rank(o->c, x);
    const char *const mode = mil_word(o, "mode", "constant", text, sizeof text);
    if (count % 2 || count / 2 > rank)
        coreml_fail(o->c, ORCH_USAGE, "%zu amounts for %u dimensions", count, rank);
    for (size_t k = 0; k < count / 2 && !o->c->failed; k++) {
        pads[rank - count / 2 + k] = given[2 * k];
        pads[2 * rank - count / 2 + k] = given[2 * k + 1];
    }
    if (o->c->failed)
        return;
    const bool constant = strcmp(mode, "constant") == 0;
    const net_id in[3] = {x, coreml_ints(o->c, pads, 2 * rank),
                          constant ? coreml_number(o->c, mil_real(o, "constant_val", 0)) : NET_NONE};
    struct net_node *const node = coreml_node(o->c, "Pad", 1, in, constant ? 3 : 2);
    coreml_set_text(o->c, node, "mode", strcmp(mode, "replicate") == 0 ? "edge" : mode);
    mil_set(o, coreml_add(o->c, node, NULL));
}

/* ---- resampling ---- */

void mil_upsample(struct mil_op *o)
{
    static const char *const names[2] = {"scale_factor_height", "scale_factor_width"};
    const bool linear = strcmp(o->op, "linear") == 0;
    int64_t size[2] = {1, 1};
    const net_id x = mil_in(o, "x");
    for (unsigned d = 0; d < 2; d++) {
        const double exact = (double)coreml_dim(o->c, x, (int64_t)d - 2) * mil_real(o, names[d], 1);
        if (!(exact >= 1 && exact <= 1 << 20))
            coreml_fail(o->c, ORCH_USAGE, "upsampling to %g rows or columns", exact);
        else
            size[d] = (int64_t)(exact + 1e-6);
    }
    const char *const where = !linear ? "asymmetric" : mil_flag(o, "align_corners", true) ? "align_corners" : "half_pixel";
    mil_set(o, coreml_resize(o->c, x, o->op, where, size));
}

void mil_resize(struct mil_op *o)
{
    static const struct {
        const char *mode, *where;
    } modes[] = {{"STRICT_ALIGN_CORNERS", "align_corners"},
                 {"ALIGN_CORNERS", "align_corners"},
                 {"DEFAULT", "asymmetric"},
                 {"UNALIGN_CORNERS", "half_pixel"}};
    const int64_t size[2] = {mil_int(o, "target_size_height", 1), mil_int(o, "target_size_width", 1)};
    const bool linear = strcmp(o->op, "linear") == 0;
    char text[32];
    const char *const mode = linear ? mil_word(o, "sampling_mode", "DEFAULT", text, sizeof text) : "DEFAULT";
    const char *where = NULL;
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
        where = strcmp(mode, modes[k].mode) == 0 ? modes[k].where : where;
    if (!where || (strcmp(mode, "ALIGN_CORNERS") == 0 && (size[0] == 1 || size[1] == 1)))
        coreml_fail(o->c, ORCH_UNMODELLED, "the sampling mode %s", mode);
    else
        mil_set(o, coreml_resize(o->c, mil_in(o, "x"), o->op, where, size));
}

void mil_shuffle(struct mil_op *o)
{
    const bool to_depth = strcmp(o->op, "SpaceToDepth") == 0, pixels = strcmp(o->op, "CRD") == 0;
    const net_id x = mil_in(o, "x");
    struct net_node *const node = coreml_node(o->c, to_depth ? "SpaceToDepth" : "DepthToSpace", 1, &x, 1);
    coreml_set_int(o->c, node, "blocksize", mil_int(o, pixels ? "upscale_factor" : "block_size", 1));
    if (!to_depth)
        coreml_set_text(o->c, node, "mode", o->op);
    mil_set(o, coreml_add(o->c, node, NULL));
}

void mil_reverse(struct mil_op *o)
{
    int64_t axes[NET_DIMS_MAX];
    net_id x = mil_in(o, "x");
    size_t count = mil_ints(o, "axes", axes, NET_DIMS_MAX);
    if (!mil_has(o, "axes"))
        for (count = 0; count < coreml_rank(o->c, x); count++)
            axes[count] = (int64_t)count;
    for (size_t k = 0; k < count; k++)
        x = coreml_slice(o->c, x, axes[k], INT64_MAX, INT64_MIN, -1);
    mil_set(o, count ? x : coreml_one(o->c, "Identity", x));
}

/* ---- from numbers ---- */

void mil_one_hot(struct mil_op *o)
{
    const int64_t depth = mil_int(o, "one_hot_vector_size", 1), two[1] = {2};
    const double number[2] = {mil_real(o, "off_value", 0), mil_real(o, "on_value", 1)};
    struct net_array *const values = o->c->failed ? NULL : net_array_new(NET_F32, two, 1, o->c->error);
    if (values)
        net_write_doubles(NET_F32, values->data, 0, 2, number);
    const net_id in[3] = {coreml_cast(o->c, mil_in(o, "indices"), NET_I64), coreml_ints(o->c, &depth, 1),
                          coreml_constant(o->c, values)};
    struct net_node *const node = coreml_node(o->c, "OneHot", 1, in, 3);
    coreml_set_int(o->c, node, "axis", mil_int(o, "axis", -1));
    mil_set(o, coreml_add(o->c, node, NULL));
}

void mil_range(struct mil_op *o)
{
    net_id in[3] = {mil_in(o, "start"), mil_in(o, "end"), mil_in(o, "step")};
    bool real = false;
    for (unsigned k = 0; k < 3 && !o->c->failed; k++)
        real = real || o->c->model->value[in[k]].type == NET_F32;
    for (unsigned k = 0; k < 3; k++)
        in[k] = coreml_cast(o->c, in[k], real ? NET_F32 : NET_I64);
    mil_set(o, coreml_add(o->c, coreml_node(o->c, "Range", 1, in, 3), NULL));
}

void mil_fill(struct mil_op *o)
{
    mil_set(o, coreml_two(o->c, "Expand", mil_in(o, "value"), coreml_cast(o->c, mil_in(o, "shape"), NET_I64)));
}

void mil_band(struct mil_op *o)
{
    const int64_t lower = mil_int(o, "lower", -1), upper = mil_int(o, "upper", -1);
    net_id x = mil_in(o, "x");
    for (unsigned k = 0; k < 2; k++) {
        const int64_t band = k ? upper : lower, diagonal = k ? band : -band;
        if (band < 0)
            continue;
        const net_id in[2] = {x, coreml_reshape(o->c, coreml_ints(o->c, &diagonal, 1), NULL, 0)};
        struct net_node *const node = coreml_node(o->c, "Trilu", 1, in, 2);
        coreml_set_int(o->c, node, "upper", k == 0);
        x = coreml_add(o->c, node, NULL);
    }
    mil_set(o, lower < 0 && upper < 0 ? coreml_one(o->c, "Identity", x) : x);
}

void mil_shape_of(struct mil_op *o)
{
    mil_set(o, coreml_one(o->c, "Shape", mil_in(o, "x")));
}
