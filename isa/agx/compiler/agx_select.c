/* Selection walks the tree from its end to its beginning. */
#include "isa/agx/compiler/agx_select.h"

struct selector {
    struct agx_compiler *c;
    struct agx_tree **node; /* in order of the text */
    unsigned nodes, room;
};

void agx_prepend(struct agx_compiler *c, struct agx_steps *ops)
{
    if (!c->pending.first)
        return;
    c->pending.last->next = ops->first;
    if (!ops->last)
        ops->last = c->pending.last;
    ops->first = c->pending.first;
    c->pending = (struct agx_steps){0};
}

static void instruction(struct agx_compiler *c, const struct ir_value *v)
{
    c->what = v;
    if (v->op == IR_PHI || v->op == IR_ALLOCA || v->op == IR_FREEZE)
        return;
    if ((v->op == IR_PTRTOINT || v->op == IR_INTTOPTR || v->op == IR_SPACECAST) &&
        agx_bits(v->type) != agx_bits(v->operand[0]->type)) {
        agx_refuse(c, v, "a pointer to private or threadgroup memory as an integer");
        return;
    }
    if (v->op == IR_ICMP || v->op == IR_FCMP)
        agx_select_compare(c, v);
    else if (v->op == IR_EXTRACT && agx_bits(v->type) == 64)
        agx_refuse(c, v, "vectors of 64-bit elements");
    else if (!agx_select_boolean(c, v) && !agx_select_integer(c, v) && !agx_select_wide(c, v) && !agx_select_float(c, v) &&
             !agx_select_convert(c, v) && !agx_select_memory(c, v) && !agx_select_atomic(c, v) && !agx_select_simd(c, v) &&
             !agx_select_builtin(c, v)) {
        if (v->op == IR_BUILTIN)
            agx_refuse(c, v, "the function %s", ir_builtin_name(v->builtin));
        else
            agx_refuse(c, v, "the operation %s", ir_op_name(v->op));
    }
}

static void select_value(struct agx_compiler *c, const struct ir_value *v)
{
    const struct agx_condition condition = agx_condition_of(c, v->operand[0]);
    const struct agx_ref to = agx_to(c, v);
    if (to.count == 1) {
        agx_emit_select(c, &condition, to, agx_exact(c, v->operand[1]), agx_exact(c, v->operand[2]));
        return;
    }
    const struct agx_ref low = agx_new(c, 32, 1), high = agx_new(c, 32, 1);
    agx_emit_select(c, &condition, low, agx_low(c, v->operand[1]), agx_low(c, v->operand[2]));
    agx_emit_select(c, &condition, high, agx_high(c, v->operand[1]), agx_high(c, v->operand[2]));
    struct agx_step *const both = agx_emit_copies(c, 2);
    both->copy[0] = (struct agx_copy){agx_part(to, 0, 32), low};
    both->copy[1] = (struct agx_copy){agx_part(to, 1, 32), high};
}

void agx_select_value(struct agx_compiler *c, const struct ir_value *v)
{
    if (v->op != IR_SELECT)
        instruction(c, v);
    else if (!agx_select_boolean(c, v))
        select_value(c, v);
}

static void code(struct agx_compiler *c, struct agx_tree *tree)
{
    for (const struct ir_value *v = tree->from ? tree->from->last->previous : NULL; v && !c->failed; v = v->previous) {
        if (!agx_note_of(c, v)->reg && !(ir_flags(v) & IR_E) && !(v->op == IR_LOAD && v->is_volatile))
            continue;
        c->what = v;
        agx_halve(c, v);
        agx_select_value(c, v);
        agx_prepend(c, &tree->ops);
    }
}

static void decide(struct agx_compiler *c, struct agx_tree *tree)
{
    c->what = tree->from ? tree->from->last : NULL;
    c->has_masks = true;
    const bool empty = !tree->then || tree->then->kind == AGX_TREE_LEAVE ||
                       (tree->then->kind == AGX_TREE_EDGE && (!tree->then->next || tree->then->next->kind == AGX_TREE_LEAVE));
    if (tree->equal) {
        uint64_t bits = 0;
        if (agx_bits(tree->decides->type) == 64)
            agx_refuse(c, c->what, "a switch on 64 bits");
        agx_is_constant(tree->equal, &bits);
        tree->condition[0] = (struct agx_condition){.code = AGX_UEQ,
                                                    .a = agx_exact(c, tree->decides),
                                                    .b = agx_constant(c, (uint32_t)bits, agx_bits(tree->decides->type))};
        tree->conditions = 1;
    } else {
        tree->conditions = agx_conjunction(c, tree->decides, empty, tree->condition, AGX_CONDITIONS);
        if (empty) {
            struct agx_tree *const then = tree->then;
            tree->then = tree->other;
            tree->other = then;
        }
    }
    agx_prepend(c, &tree->before->ops);
}

/* The words of a pair are copied one by one, so that each finds its own place. */
static void edge(struct agx_compiler *c, struct agx_tree *tree)
{
    unsigned phis = 0, made = 0;
    for (const struct ir_value *v = tree->to->first; v && v->op == IR_PHI; v = v->next)
        phis += agx_note_of(c, v)->uses > 0;
    c->what = tree->from->last;
    if (!phis)
        return;
    struct agx_step *const op = agx_emit_copies(c, phis);
    c->pending = (struct agx_steps){0};
    for (const struct ir_value *v = tree->to->first; v && v->op == IR_PHI; v = v->next) {
        if (!agx_note_of(c, v)->uses)
            continue;
        for (unsigned i = 0; i < v->operands; i++) {
            if (v->block[i] != tree->from)
                continue;
            if (v->operand[i]->op != IR_UNDEFINED)
                op->copy[made++] = (struct agx_copy){agx_to(c, v), agx_bits(v->type) == 64 || agx_lanes(v->type) > 1
                                                                       ? agx_in_register(c, v->operand[i])
                                                                       : agx_exact(c, v->operand[i])};
            break;
        }
    }
    op->copies = made;
    if (c->pending.last)
        c->pending.last->next = op;
    else
        c->pending.first = op;
    c->pending.last = op;
    agx_prepend(c, &tree->ops);
}

static void collect(struct selector *s, struct agx_tree *tree)
{
    for (; tree; tree = tree->next) {
        if (s->nodes == s->room) {
            struct agx_tree **const grown = agx_alloc(s->c, (2 * s->room + 64) * sizeof(void *));
            for (unsigned i = 0; i < s->nodes; i++)
                grown[i] = s->node[i];
            s->node = grown;
            s->room = 2 * s->room + 64;
        }
        s->node[s->nodes++] = tree;
        collect(s, tree->then);
        collect(s, tree->other);
    }
}

static void count_uses(struct agx_compiler *c)
{
    for (const struct ir_block *b = c->f->first; b; b = b->next)
        for (const struct ir_value *v = b->first; v; v = v->next)
            for (unsigned i = 0; i < v->operands; i++)
                if (v->operand[i]->home || v->operand[i]->op == IR_ARGUMENT)
                    agx_note_of(c, v->operand[i])->uses++;
}

static bool lay_out_arguments(struct agx_compiler *c)
{
    c->argument_offset = agx_alloc(c, (c->f->arguments + 1) * sizeof *c->argument_offset);
    for (unsigned i = 0; i < c->f->arguments; i++) {
        const struct ir_type *const type = c->f->argument[i]->type;
        if (type->kind == IR_VECTOR || (type->kind == IR_POINTER && type->space == IR_PRIVATE) || type->bits == 1)
            return agx_refuse(c, c->f->argument[i], "argument %u of this type", i);
        const uint32_t bytes = type->kind == IR_POINTER ? 8 : agx_bits(type) / 8;
        c->argument_bytes = (c->argument_bytes + bytes - 1) / bytes * bytes;
        c->argument_offset[i] = c->argument_bytes;
        c->argument_bytes += bytes;
    }
    for (const struct ir_block *b = c->f->first; b; b = b->next)
        for (const struct ir_value *v = b->first; v; v = v->next) {
            c->what = v;
            if (v->op == IR_BUILTIN && (v->builtin == IR_B_GLOBAL_SIZE || v->builtin == IR_B_GROUP_COUNT))
                agx_implicit_of(c, v);
            for (unsigned i = 0; i < v->operands; i++)
                if (v->operand[i]->op == IR_GLOBAL && v->operand[i]->type->space != IR_THREADGROUP)
                    agx_table(c, v->operand[i]);
        }
    c->what = NULL;
    c->result_end = (c->argument_bytes + 1) / 2;
    return true;
}

static bool preamble(struct agx_compiler *c, const struct selector *s)
{
    const struct ir_block **const block = agx_alloc(c, (s->nodes + 1) * sizeof *block);
    unsigned blocks = 0;
    for (unsigned i = 0; i < s->nodes && !c->failed; i++)
        if (s->node[i]->kind == AGX_TREE_CODE && s->node[i]->from)
            block[blocks++] = s->node[i]->from;
    return agx_select_preamble(c, block, blocks);
}

bool agx_select(struct agx_compiler *c)
{
    struct selector s = {.c = c};
    c->notes = c->f->next_id + 1;
    c->note = agx_alloc(c, c->notes * sizeof *c->note);
    if (c->failed || !lay_out_arguments(c) || !agx_find_same(c))
        return false;
    count_uses(c);
    collect(&s, c->tree);
    for (unsigned i = s.nodes; i-- > 0 && !c->failed;) {
        struct agx_tree *const tree = s.node[i];
        if (tree->kind == AGX_TREE_CODE)
            code(c, tree);
        else if (tree->kind == AGX_TREE_IF)
            decide(c, tree);
        else if (tree->kind == AGX_TREE_EDGE)
            edge(c, tree);
        else
            c->has_masks = c->has_masks || tree->kind == AGX_TREE_LOOP;
    }
    return !c->failed && preamble(c, &s);
}
