/* Lists, loops and choices. A loop is unrolled: its condition must follow from constants, as it does where a recurrent cell runs
 * over the steps of a sequence of known length. */
#include "sim/network/coreml/mil.h"

#include <stdlib.h>
#include <string.h>

enum { OP_BLOCKS = 4, LIST_MAX = 1 << 14, LISTED_MAX = 1 << 22 };

struct coreml_list *mil_list_new(struct mil_program *p, size_t count)
{
    p->listed += count;
    if (count > LIST_MAX || p->listed > LISTED_MAX) {
        coreml_fail(p->c, ORCH_UNMODELLED, "lists of too many items");
        return NULL;
    }
    struct coreml_list *const list = malloc(sizeof *list + count * sizeof *list->item);
    if (!list) {
        coreml_fail(p->c, ORCH_INTERNAL, "out of memory");
        return NULL;
    }
    *list = (struct coreml_list){.next = p->lists, .count = count};
    for (size_t k = 0; k < count; k++)
        list->item[k] = NET_NONE;
    p->lists = list;
    return list;
}

static void set_list(struct mil_op *o, const struct coreml_list *list)
{
    o->out[0] = (struct coreml_value){.kind = list ? COREML_LIST : COREML_NOTHING, .id = NET_NONE, .list = list};
}

static const struct coreml_list *list_in(struct mil_op *o)
{
    const struct coreml_value v = mil_value(o, "ls", 0);
    if (v.kind != COREML_LIST)
        coreml_fail(o->c, ORCH_USAGE, "ls is no list");
    return v.kind == COREML_LIST ? v.list : NULL;
}

void mil_make_list(struct mil_op *o)
{
    const int64_t length = mil_int(o, "init_length", 1);
    if (length < 0 || length > LIST_MAX)
        coreml_fail(o->c, ORCH_UNMODELLED, "a list of %lld items", (long long)length);
    if (!o->c->failed)
        set_list(o, mil_list_new(o->p, (size_t)length));
}

/* A list grows when it is written behind its end. */
static struct coreml_list *copied(struct mil_op *o, const struct coreml_list *list, size_t least)
{
    struct coreml_list *const copy = mil_list_new(o->p, list->count > least ? list->count : least);
    if (copy)
        memcpy(copy->item, list->item, list->count * sizeof *list->item);
    return copy;
}

void mil_list_write(struct mil_op *o)
{
    const struct coreml_list *const list = list_in(o);
    const int64_t index = mil_int(o, "index", -1);
    const net_id value = mil_in(o, "value");
    if (!o->c->failed && (index < 0 || index >= LIST_MAX))
        coreml_fail(o->c, ORCH_UNMODELLED, "item %lld, which is not a known place of a list", (long long)index);
    struct coreml_list *const copy = o->c->failed ? NULL : copied(o, list, (size_t)index + 1);
    if (copy)
        copy->item[index] = value;
    set_list(o, copy);
}

static net_id item_of(struct mil_op *o, const struct coreml_list *list, int64_t index)
{
    if (o->c->failed)
        return NET_NONE;
    if (index < 0 || (size_t)index >= list->count || list->item[index] == NET_NONE)
        return coreml_fail(o->c, ORCH_UNMODELLED, "item %lld, which is not a known place of a list", (long long)index);
    return list->item[index];
}

void mil_list_read(struct mil_op *o)
{
    const struct coreml_list *const list = list_in(o);
    mil_set(o, coreml_one(o->c, "Identity", item_of(o, list, mil_int(o, "index", -1))));
}

void mil_list_gather(struct mil_op *o)
{
    int64_t at[MIL_OPERANDS_MAX];
    net_id item[MIL_OPERANDS_MAX];
    const int64_t first = 0;
    const struct coreml_list *const list = list_in(o);
    const size_t count = mil_ints(o, "indices", at, MIL_OPERANDS_MAX);
    for (size_t k = 0; k < count && !o->c->failed; k++)
        item[k] = coreml_axes(o->c, "Unsqueeze", item_of(o, list, at[k]), &first, 1);
    struct net_node *const node = coreml_node(o->c, "Concat", 1, item, count);
    coreml_set_int(o->c, node, "axis", 0);
    mil_set(o, coreml_add(o->c, node, NULL));
}

/* Row k of the value becomes item indices[k]. */
void mil_list_scatter(struct mil_op *o)
{
    int64_t at[MIL_OPERANDS_MAX];
    const int64_t first = 0;
    const struct coreml_list *const list = list_in(o);
    const net_id value = mil_in(o, "value");
    const size_t count = mil_ints(o, "indices", at, MIL_OPERANDS_MAX);
    size_t least = 0;
    for (size_t k = 0; k < count; k++) {
        if (at[k] < 0 || at[k] >= LIST_MAX)
            coreml_fail(o->c, ORCH_UNMODELLED, "item %lld of a list", (long long)at[k]);
        else if ((size_t)at[k] >= least)
            least = (size_t)at[k] + 1;
    }
    struct coreml_list *const copy = o->c->failed ? NULL : copied(o, list, least);
    for (size_t k = 0; k < count && copy; k++)
        copy->item[at[k]] = coreml_axes(o->c, "Squeeze", coreml_slice(o->c, value, 0, (int64_t)k, (int64_t)k + 1, 1), &first, 1);
    set_list(o, copy);
}

void mil_list_length(struct mil_op *o)
{
    const struct coreml_list *const list = list_in(o);
    const int64_t count = list ? (int64_t)list->count : 0;
    mil_set(o, coreml_reshape(o->c, coreml_ints(o->c, &count, 1), NULL, 0));
}

/* ---- loops and choices ---- */

static struct pb block_of(struct mil_op *o, size_t index)
{
    struct pb body = o->body;
    size_t at = 0;
    for (struct pb_field f; pb_next(&body, &f);)
        if (f.number == OP_BLOCKS && f.is_bytes && at++ == index)
            return f.body;
    coreml_fail(o->c, ORCH_USAGE, "block %zu is missing", index);
    return (struct pb){body.end, body.end, body.state};
}

/* Whether a value is a constant that is true; a failure is noted when it is none. */
static bool holds(struct mil_op *o, const struct coreml_value *v)
{
    const struct net_array *const a = v->kind == COREML_TENSOR && v->id != NET_NONE ? o->c->model->value[v->id].constant : NULL;
    if (!a || a->count != 1)
        coreml_fail(o->c, ORCH_UNMODELLED, "the condition does not follow from constants");
    return a && a->count == 1 && net_array_integer(a, 0);
}

/* Blocks name places of their own. */
static void enter_again(struct mil_op *o, const char *place, const char *name)
{
    memcpy(o->c->place, place, COREML_TEXT);
    memcpy(o->c->name, name, COREML_TEXT);
}

void mil_while_loop(struct mil_op *o)
{
    const size_t count = mil_count(o, "loop_vars");
    const struct pb condition = block_of(o, 0), body = block_of(o, 1);
    struct coreml_value value[MIL_OUTPUTS_MAX], next[MIL_OUTPUTS_MAX], go_on;
    char place[COREML_TEXT], name[COREML_TEXT];
    memcpy(place, o->c->place, sizeof place);
    memcpy(name, o->c->name, sizeof name);
    if (count == 0 || count > MIL_OUTPUTS_MAX || count != o->outputs)
        coreml_fail(o->c, ORCH_USAGE, "%zu values of a loop with %zu outputs", count, o->outputs);
    for (size_t k = 0; k < count && !o->c->failed; k++)
        value[k] = mil_value(o, "loop_vars", k);
    while (!o->c->failed) {
        if (++o->p->steps > 1 << 20)
            coreml_fail(o->c, ORCH_UNMODELLED, "loops of too many steps");
        else if (mil_block(o->p, condition, o->names, value, count, &go_on, 1) != 1 && !o->c->failed)
            coreml_fail(o->c, ORCH_USAGE, "a condition of no value");
        enter_again(o, place, name);
        if (o->c->failed || !holds(o, &go_on))
            break;
        if (mil_block(o->p, body, o->names, value, count, next, MIL_OUTPUTS_MAX) != count && !o->c->failed)
            coreml_fail(o->c, ORCH_USAGE, "a body of other outputs than the loop has");
        enter_again(o, place, name);
        memcpy(value, next, count * sizeof *value);
    }
    for (size_t k = 0; k < count && !o->c->failed; k++)
        o->out[k] = value[k];
}

void mil_cond(struct mil_op *o)
{
    const struct coreml_value condition = mil_value(o, "pred", 0);
    char place[COREML_TEXT], name[COREML_TEXT];
    memcpy(place, o->c->place, sizeof place);
    memcpy(name, o->c->name, sizeof name);
    const bool taken = holds(o, &condition);
    const struct pb block = block_of(o, taken ? 0 : 1);
    if (!o->c->failed && mil_block(o->p, block, o->names, NULL, 0, o->out, MIL_OUTPUTS_MAX) != o->outputs && !o->c->failed)
        coreml_fail(o->c, ORCH_USAGE, "a block of other outputs than the choice has");
    enter_again(o, place, name);
}

/* The label and the probabilities: the label follows from them. */
void mil_classify(struct mil_op *o)
{
    const int64_t flat = -1;
    o->out[0] = (struct coreml_value){.kind = COREML_WORD, .id = NET_NONE};
    o->out[1] = coreml_tensor(coreml_reshape(o->c, mil_in(o, "probabilities"), &flat, 1));
}
