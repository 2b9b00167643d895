/* Values that are the same in all threads of a launch are computed once, in the preamble (agx-abi.md section 4), and read from
 * uniform registers: functions of arguments and constants, and of what constant memory holds at addresses of that kind. Which of
 * them are wanted shows while the main program is selected. */
#include "isa/agx/compiler/agx_select.h"

#include <string.h>

/* ---- blocks that all threads pass through ---- */

static bool leaves(const struct agx_tree *tree, const struct agx_tree *except)
{
    for (; tree; tree = tree->next)
        if ((tree->kind == AGX_TREE_LEAVE && tree->target != except) || leaves(tree->then, except) || leaves(tree->other, except))
            return true;
    return false;
}

static void mark_certain(bool *certain, const struct agx_tree *tree)
{
    for (; tree; tree = tree->next) {
        if (tree->kind == AGX_TREE_CODE && tree->from)
            certain[tree->from->id] = true;
        if (tree->kind == AGX_TREE_SCOPE || tree->kind == AGX_TREE_LOOP)
            mark_certain(certain, tree->then);
        if (leaves(tree->then, tree) || leaves(tree->other, tree) || tree->kind == AGX_TREE_LEAVE)
            return;
    }
}

/* ---- which values ---- */

static bool is_same_operand(struct agx_compiler *c, const struct ir_value *v)
{
    const bool is_table = v->op == IR_GLOBAL && agx_bits(v->type) == 64;
    return v->op == IR_CONSTANT || v->op == IR_UNDEFINED || v->op == IR_ARGUMENT || is_table ||
           (v->home && agx_note_of(c, v)->same);
}

/* Whether the bytes that a load reads may be read without it: they are within what an argument leads to for certain. */
static bool is_within_reach(const struct ir_value *load)
{
    const struct ir_value *pointer = load->operand[0];
    int64_t at = 0;
    uint64_t bits;
    for (; pointer->op == IR_GEP || pointer->op == IR_SPACECAST || pointer->op == IR_FREEZE; pointer = pointer->operand[0]) {
        if (pointer->op != IR_GEP)
            continue;
        if (!agx_is_constant(pointer->operand[1], &bits) || bits > UINT16_MAX || pointer->offset > UINT16_MAX ||
            pointer->offset < 0)
            return false;
        at += ((int64_t)bits + pointer->offset) * (int64_t)pointer->held->bytes;
    }
    const struct ir_type *const held = load->held ? load->held : load->type;
    if (pointer->op == IR_GLOBAL)
        return (uint64_t)at + held->bytes <= pointer->held->bytes;
    return pointer->op == IR_ARGUMENT && (uint64_t)at + held->bytes <= pointer->reach;
}

static bool is_same_load(const struct ir_value *v, const bool *certain)
{
    const enum ir_space space = v->operand[0]->type->space;
    return (space == IR_CONSTANT_SPACE || space == IR_CONSTANT_HOST) && !v->is_volatile &&
           (certain[v->home->id] || is_within_reach(v));
}

static bool is_same(struct agx_compiler *c, const struct ir_value *v, const bool *certain)
{
    const enum ir_op_kind kind = ir_op_kind(v->op);
    if ((ir_flags(v) & (IR_E | IR_D | IR_M)) || v->op == IR_PHI || kind == IR_KIND_END || v->op == IR_CALL)
        return false;
    if (v->op == IR_BUILTIN &&
        (v->builtin == IR_B_GROUP_ID || v->builtin == IR_B_LOCAL_SIZE || v->builtin == IR_B_SIMDGROUP_COUNT))
        return false;
    if (v->type->kind == IR_POINTER && agx_bits(v->type) != 64)
        return false;
    for (unsigned i = 0; i < v->operands; i++)
        if (!is_same_operand(c, v->operand[i]))
            return false;
    return v->op != IR_LOAD || is_same_load(v, certain);
}

bool agx_find_same(struct agx_compiler *c)
{
    bool *const certain = agx_alloc(c, c->block_ids + 1);
    if (c->failed)
        return false;
    mark_certain(certain, c->tree);
    for (bool changed = true; changed;) { /* again only when blocks stand in front of those that they use values of */
        changed = false;
        for (const struct ir_block *b = c->f->first; b; b = b->next)
            for (const struct ir_value *v = b->first; v; v = v->next) {
                struct agx_note *const note = agx_note_of(c, v);
                if (!note->same && is_same(c, v, certain))
                    note->same = changed = true;
            }
    }
    return true;
}

/* ---- results of the preamble ---- */

bool agx_is_result(struct agx_compiler *c, const struct ir_value *v)
{
    if (c->is_preamble || c->no_preamble || !v->home || !agx_note_of(c, v)->same)
        return false;
    return v->type->kind != IR_VECTOR && !(v->type->kind == IR_INT && v->type->bits == 1) &&
           agx_note_of(c, v)->result != AGX_NO_RESULT;
}

bool agx_result(struct agx_compiler *c, const struct ir_value *v, struct agx_ref *ref)
{
    if (!agx_is_result(c, v))
        return false;
    struct agx_note *const note = agx_note_of(c, v);
    const unsigned bits = agx_bits(v->type), halves = bits / 16;
    if (!note->result) {
        const uint32_t first = (c->result_end + halves - 1) / halves * halves;
        if (first + halves > AGX_RESULTS_END) {
            note->result = AGX_NO_RESULT;
            return false;
        }
        c->result_end = first + halves;
        note->result = (uint16_t)(first + 1);
        c->results++;
    }
    *ref = (struct agx_ref){
        .kind = AGX_REF_UNIFORM, .part = bits == 16 ? 16 : 32, .count = bits == 64 ? 2 : 1, .index = note->result - 1u};
    return true;
}

/* ---- the preamble's code ---- */

static void store_result(struct agx_compiler *c, const struct ir_value *v, unsigned half)
{
    static const char *const masks[] = {"", "x", "xy", "", "xyzw"};
    const unsigned halves = agx_bits(v->type) / 16;
    struct agx_ref from = agx_in_register(c, v);
    from.part = 16;
    from.count = (uint8_t)halves;
    AGX_EMIT(c, agx_text(c, "uniform_store %s, %%0, %u", masks[halves], half), (struct agx_ref){0}, from);
}

static void select_block(struct agx_compiler *c, const struct agx_note *main_note, struct agx_tree *into,
                         const struct ir_block *b)
{
    for (const struct ir_value *v = b->last; v && !c->failed; v = v->previous) {
        struct agx_note *const note = agx_note_of(c, v);
        const uint16_t result = main_note[note - c->note].result;
        if (!note->same)
            continue;
        c->what = v;
        if (result && result != AGX_NO_RESULT)
            store_result(c, v, result - 1u);
        agx_prepend(c, &into->ops);
        if (!note->reg)
            continue;
        agx_select_value(c, v);
        agx_prepend(c, &into->ops);
    }
}

/* `blocks`: so that values stand behind what they are made of. */
bool agx_select_preamble(struct agx_compiler *c, const struct ir_block *const *block, unsigned blocks)
{
    if (!c->results || c->failed)
        return !c->failed;
    struct agx_compiler *const p = c->preamble = agx_alloc(c, sizeof *p);
    *p = (struct agx_compiler){.f = c->f,
                               .error = c->error,
                               .arena = c->arena,
                               .is_preamble = true,
                               .blocks = c->blocks,
                               .block_depth = c->block_depth,
                               .block_loop = c->block_loop,
                               .notes = c->notes,
                               .constant = c->constant,
                               .constants = c->constants,
                               .argument_offset = c->argument_offset,
                               .argument_bytes = c->argument_bytes,
                               .table = c->table,
                               .tables = c->tables,
                               .register_halves = AGX_HALVES};
    memcpy(p->implicit, c->implicit, sizeof p->implicit);
    p->tree = agx_alloc(c, sizeof *p->tree);
    p->tree->kind = AGX_TREE_CODE;
    p->note = agx_alloc(c, c->notes * sizeof *p->note);
    for (uint32_t i = 0; i < c->notes && !c->failed; i++)
        p->note[i] = (struct agx_note){.uses = c->note[i].uses, .same = c->note[i].same};
    for (unsigned i = blocks; i-- > 0 && !p->failed && !c->failed;)
        select_block(p, c->note, p->tree, block[i]);
    c->constant = p->constant;
    c->constants = p->constants;
    return !p->failed && !c->failed;
}
