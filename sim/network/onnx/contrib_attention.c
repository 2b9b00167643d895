/* Rotations, and attention of groups of queries. */
#include "sim/network/onnx/contrib_internal.h"

#include "isa/array_count.h"

#include <math.h>

/* ---- rotation by halves ---- */

/* Rows of a table of cosines or sines for positions, both halves of a head alike. */
static net_id angles(struct contrib_builder *b, net_id table, net_id place)
{
    const net_id half = contrib_make(b, "Gather", table, place);
    return contrib_join(b, NET_NONE, half, half, -1);
}

/* x cos + (-b, a) sin of the first `size` of `head` values, where x is (a, b). */
static net_id rotate(struct contrib_builder *b, net_id x, net_id cosines, net_id sines, int64_t size, int64_t head)
{
    const int64_t parts[] = {size, head - size}, halves[] = {size / 2, size / 2};
    net_id whole[2] = {x, NET_NONE}, half[2];
    if (size != head && !contrib_cut(b, x, parts, 2, whole))
        return NET_NONE;
    if (!contrib_cut(b, whole[0], halves, 2, half))
        return NET_NONE;
    const net_id other = contrib_join(b, NET_NONE, contrib_make(b, "Neg", half[1], NET_NONE), half[0], -1);
    const net_id turned = contrib_make(b, "Add", contrib_make(b, "Mul", whole[0], cosines), contrib_make(b, "Mul", other, sines));
    return size != head ? contrib_join(b, NET_NONE, turned, whole[1], -1) : turned;
}

static bool halves_alone(struct contrib_builder *b, const char *name)
{
    if (net_attr_int(b->from, name, 0))
        contrib_refuse(b, "a rotation of neighbours (interleaved)");
    return b->ok;
}

/* [batch][tokens][heads * head]; how long a head is says the table. */
void contrib_rotary(struct contrib_builder *b)
{
    const struct net_node *const f = b->from;
    const int64_t size = 2 * contrib_last_dim(b, net_input(f, 2)), apart[] = {0, 0, -1, size}, together[] = {0, 0, -1};
    if (!halves_alone(b, "interleaved"))
        return;
    if (size <= 0 || net_attr_int(f, "rotary_embedding_dim", 0) || net_attr_int(f, "is_packed_batching", 0)) {
        contrib_refuse(b, "a table whose width is not known, a part of a head, or sequences in one");
        return;
    }
    const net_id x = contrib_reshape(b, NET_NONE, net_input(f, 0), apart, 4);
    const net_id c = contrib_unsqueeze(b, angles(b, net_input(f, 2), net_input(f, 1)), 2),
                 s = contrib_unsqueeze(b, angles(b, net_input(f, 3), net_input(f, 1)), 2);
    contrib_reshape(b, f->output[0], rotate(b, x, c, s, size, size), together, 3);
}

/* ---- attention of groups of queries ---- */

enum { HEADS_MOST = 1 << 16 }; /* and values of one */

struct grouped {
    int64_t heads, kv_heads, size;
    enum net_type type;
    net_id query, key, value, past[2], present[2];
    net_id place, places; /* of the step's tokens: for the tables, and as numbers in order */
};

/* [batch][tokens][heads * size] as [batch][heads][tokens][size]. */
static net_id part(struct contrib_builder *b, net_id x, int64_t heads, int64_t size)
{
    const int64_t shape[] = {0, 0, heads, size};
    return contrib_turn(b, contrib_reshape(b, NET_NONE, x, shape, 4));
}

static bool read_grouped(struct contrib_builder *b, struct grouped *g)
{
    const struct net_node *const f = b->from;
    static const char *const zero[] = {"softcap", "smooth_softmax", "qk_output", "k_quant_type", "v_quant_type"};
    *g = (struct grouped){.heads = net_attr_int(f, "num_heads", 0), .kv_heads = net_attr_int(f, "kv_num_heads", 0)};
    for (size_t i = 0; i < ARRAY_COUNT(zero); i++)
        if (net_attr_int(f, zero[i], 0) || net_attr_real(f, zero[i], 0) != 0)
            contrib_refuse(b, zero[i]);
    if (net_input(f, 10) != NET_NONE || net_input(f, 11) != NET_NONE)
        contrib_refuse(b, "attention_bias or head_sink");
    if (net_input(f, 3) == NET_NONE || net_input(f, 4) == NET_NONE || !contrib_has_output(b, 1) || !contrib_has_output(b, 2))
        contrib_refuse(b, "attention without keys and values that are handed on");
    if ((net_input(f, 1) == NET_NONE) != (net_input(f, 2) == NET_NONE))
        contrib_refuse(b, "a key without a value");
    if (!b->ok)
        return false;
    g->size = contrib_last_dim(b, net_input(f, 3));
    g->type = b->model->value[net_input(f, 3)].type;
    if (g->heads < 1 || g->kv_heads < 1 || g->heads > HEADS_MOST || g->heads % g->kv_heads || g->size < 1 ||
        g->size > HEADS_MOST || !net_type_is_float(g->type))
        contrib_refuse(b, "heads that do not share evenly, or a past whose type or last dimension is not known");
    return b->ok && halves_alone(b, "rotary_interleaved");
}

static bool part_operands(struct contrib_builder *b, struct grouped *g)
{
    const struct net_node *const f = b->from;
    const int64_t q = g->heads * g->size, k = g->kv_heads * g->size, sizes[] = {q, k, k};
    net_id operand[] = {net_input(f, 0), net_input(f, 1), net_input(f, 2)};
    if (operand[1] == NET_NONE && !contrib_cut(b, net_input(f, 0), sizes, 3, operand)) /* all in one */
        return false;
    g->query = part(b, operand[0], g->heads, g->size);
    g->key = part(b, operand[1], g->kv_heads, g->size);
    g->value = part(b, operand[2], g->kv_heads, g->size);
    return b->ok;
}

static bool turn_operands(struct contrib_builder *b, struct grouped *g)
{
    const struct net_node *const f = b->from;
    const net_id given = net_input(f, 9), cosines = net_input(f, 7), sines = net_input(f, 8);
    const net_id before = contrib_length_of(b, net_input(f, 3), 2), count = contrib_length_of(b, g->key, 2);
    g->places = contrib_make_into(b, "Range", NET_NONE, before, contrib_make(b, "Add", before, count), contrib_integer(b, 1));
    if (!net_attr_int(f, "do_rotary", 0))
        return b->ok;
    if (cosines == NET_NONE || sines == NET_NONE || contrib_last_dim(b, cosines) < 1 ||
        2 * contrib_last_dim(b, cosines) > g->size) {
        contrib_refuse(b, "a rotation without tables, or by tables whose width is not known");
        return false;
    }
    const int64_t size = 2 * contrib_last_dim(b, cosines);
    net_id c = angles(b, cosines, given != NET_NONE ? given : g->places),
           s = angles(b, sines, given != NET_NONE ? given : g->places);
    if (given != NET_NONE) {
        c = contrib_unsqueeze(b, c, 1);
        s = contrib_unsqueeze(b, s, 1);
    }
    g->query = rotate(b, g->query, c, s, size, g->size);
    g->key = rotate(b, g->key, c, s, size, g->size);
    return b->ok;
}

/* Which keys, a column each, a token of the step sees. */
static net_id seen(struct contrib_builder *b, const struct grouped *g)
{
    const int64_t window = net_attr_int(b->from, "local_window_size", -1);
    const net_id all = contrib_length_of(b, g->present[0], 2);
    const net_id keys = contrib_unsqueeze(
                     b, contrib_make_into(b, "Range", NET_NONE, contrib_integer(b, 0), all, contrib_integer(b, 1)), 0),
                 places = contrib_unsqueeze(b, g->places, 1);
    const net_id before = contrib_make(b, "LessOrEqual", keys, places);
    if (window <= 0)
        return before;
    return contrib_make(b, "And", before,
                        contrib_make(b, "Greater", keys, contrib_make(b, "Sub", places, contrib_integer(b, window))));
}

/* Queries of a group share keys and values: [batch][kv][group][tokens][size] by [batch][kv][1][size][keys]. */
void contrib_grouped(struct contrib_builder *b)
{
    const struct net_node *const f = b->from;
    static const int64_t across[] = {0, 1, 2, 4, 3};
    struct grouped g;
    if (!read_grouped(b, &g) || !part_operands(b, &g) || !turn_operands(b, &g))
        return;
    g.present[0] = contrib_join(b, f->output[1], net_input(f, 3), g.key, 2);
    g.present[1] = contrib_join(b, f->output[2], net_input(f, 4), g.value, 2);
    const double given = net_attr_real(f, "scale", 0);
    const int64_t groups[] = {0, g.kv_heads, g.heads / g.kv_heads, -1, g.size}, heads[] = {0, g.heads, -1, g.size},
                  flat[] = {0, 0, g.heads * g.size};
    const net_id q = contrib_reshape(b, NET_NONE, g.query, groups, 5), k = contrib_unsqueeze(b, g.present[0], 2);
    struct net_node *const keys = contrib_node(b, "Transpose", &k, 1, NET_NONE, 1);
    b->ok = keys && (net_set_ints(keys, "perm", across, 5) || orch_no_memory(b->error));
    if (!b->ok)
        return;
    const net_id scores = contrib_make(b, "Mul", contrib_make(b, "MatMul", q, keys->output[0]),
                                       contrib_number(b, g.type, given != 0 ? given : 1 / sqrt((double)g.size)));
    const net_id masked = contrib_make_into(b, "Where", NET_NONE, seen(b, &g), scores,
                                            contrib_number(b, g.type, g.type == NET_F16 ? -65504 : -1e9));
    struct net_node *const p = contrib_node(b, "Softmax", &masked, 1, NET_NONE, 1);
    b->ok = p && (net_set_int(p, "axis", -1) || orch_no_memory(b->error));
    if (!b->ok)
        return;
    const net_id found = contrib_make(b, "MatMul", p->output[0], contrib_unsqueeze(b, g.present[1], 2));
    contrib_reshape(b, f->output[0], contrib_turn(b, contrib_reshape(b, NET_NONE, found, heads, 4)), flat, 3);
}
