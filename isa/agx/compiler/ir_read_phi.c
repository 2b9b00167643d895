/* Phis: one value for each block that comes in. */
#include "isa/agx/compiler/ir_read_parts.h"

/* Whether two values are one, or the same constant expression. */
static bool same_value(const struct ir_value *a, const struct ir_value *b, unsigned depth)
{
    if (a == b)
        return true;
    if (a->op != b->op || a->op == IR_PHI || a->type != b->type || a->held != b->held || a->condition != b->condition ||
        a->operands != b->operands || !a->operands || a->lists || depth >= 8 || ir_flags(a) & IR_E || a->op == IR_LOAD ||
        a->op == IR_BUILTIN)
        return false;
    for (unsigned i = 0; i < a->operands; i++)
        if (!same_value(a->operand[i], b->operand[i], depth + 1))
            return false;
    return true;
}

/* The operands and blocks since `from`, without blocks that come again: such a block gives one value, the same each time. */
static bool drop_repeated(struct ir_reader *r, size_t from)
{
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; i < r->targets; i++) {
        struct ir_block *const b = r->target[i];
        if (b->note) {
            const size_t first = (size_t)(uintptr_t)b->note - 1;
            good = good && same_value(r->operand[from + first], r->operand[from + i], 0);
            continue;
        }
        r->operand[from + kept] = r->operand[from + i];
        r->target[kept++] = b;
        b->note = (void *)(uintptr_t)kept;
    }
    for (size_t i = 0; i < kept; i++)
        r->target[i]->note = NULL;
    r->targets = kept;
    r->operands = from + kept;
    return good || ir_read_fail(r, "phi has two values for one block");
}

static bool read_incoming(struct ir_reader *r, const struct ir_type *type)
{
    r->hoist = true;
    const bool good = ir_want_sign(r, '[') && ir_push(r, ir_read_operand(r, type)) && ir_want_sign(r, ',');
    r->hoist = false;
    return good && ir_push_target(r, ir_block_named(r)) && ir_want_sign(r, ']');
}

struct ir_value *ir_read_phi(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    const struct ir_flags_read flags = ir_read_flags(r);
    const struct ir_type *const type = ir_read_type(r);
    r->targets = 0;
    for (struct ir_place back = r->place; type && (!r->targets || ir_take_sign(r, ',')); back = r->place) {
        if (r->targets && r->place.token.kind == IR_T_META) {
            r->place = back;
            break;
        }
        if (!read_incoming(r, type))
            return NULL;
    }
    if (!type || !drop_repeated(r, from))
        return NULL;
    struct ir_value *const v = ir_put(r, op, type, from);
    if (!v || !ir_read_blocks(r, v))
        return NULL;
    v->fast = flags.fast;
    return v;
}
