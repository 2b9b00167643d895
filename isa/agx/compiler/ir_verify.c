/* Whether a function is well formed: blocks, control flow, and definitions before their uses. */
#include "isa/agx/compiler/ir_parts.h"

#include <stdarg.h>
#include <stdlib.h>

bool ir_verify_fail(const struct ir_function *f, const struct ir_value *v, struct isa_error *error, const char *format, ...)
{
    char what[160];
    va_list rest;
    va_start(rest, format);
    vsnprintf(what, sizeof what, format, rest);
    va_end(rest);
    error->line = v ? v->line : 0;
    error->offset = 0;
    if (v)
        snprintf(error->text, sizeof error->text, "%.40s: %%%u, %s: %s", f->name, v->id, ir_op_name(v->op), what);
    else
        snprintf(error->text, sizeof error->text, "%.40s: %s", f->name, what);
    return false;
}

static bool verify_order(const struct ir_function *f, const struct ir_block *b, const struct ir_value *v, struct isa_error *error)
{
    if (v->home != b || v->next == v)
        return ir_verify_fail(f, v, error, "stands in block %u but belongs to another", b->id);
    if (v->op >= IR_OP_COUNT || ir_op_kind(v->op) == IR_KIND_VALUE)
        return ir_verify_fail(f, v, error, "is no instruction");
    if ((v->next ? v->next->previous : b->last) != v)
        return ir_verify_fail(f, v, error, "the list of block %u is torn", b->id);
    if (v->op == IR_PHI && v->previous && v->previous->op != IR_PHI)
        return ir_verify_fail(f, v, error, "stands behind other instructions of its block");
    if ((ir_op_kind(v->op) == IR_KIND_END) != (v->next == NULL))
        return ir_verify_fail(f, v, error, v->next ? "ends the block before its last instruction" : "ends the block as no end");
    return true;
}

static bool verify_targets(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    for (unsigned i = 0; i < v->blocks; i++) {
        if (!v->block[i] || v->block[i]->function != f)
            return ir_verify_fail(f, v, error, "names a block of another function");
        if (v->op != IR_PHI && v->block[i] == f->first)
            return ir_verify_fail(f, v, error, "leads back to the entry");
    }
    return true;
}

/* Whether the block is still in the function: ids were given in order, and what is not listed has one that is taken. */
static bool is_listed(struct ir_block *const *list, uint32_t blocks, const struct ir_block *b)
{
    return b->id < blocks && list[b->id] == b;
}

static bool verify_phi(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    const struct ir_block *const b = v->home;
    if (v->blocks != v->operands)
        return ir_verify_fail(f, v, error, "has %u values and %u blocks", v->operands, v->blocks);
    if (v->blocks != b->predecessors)
        return ir_verify_fail(f, v, error, "has %u values; its block has %u predecessors", v->operands, b->predecessors);
    for (unsigned i = 0; i < b->predecessors; i++) {
        unsigned found = 0;
        if (v->block[i] == b->predecessor[i])
            continue; /* the usual order saves the search */
        for (unsigned k = 0; k < v->blocks; k++)
            found += v->block[k] == b->predecessor[i];
        if (found != 1)
            return ir_verify_fail(f, v, error, "has %u values for block %u", found, b->predecessor[i]->id);
    }
    return true;
}

static bool verify_use(const struct ir_function *f, const struct ir_value *v, unsigned i, struct isa_error *error)
{
    const struct ir_value *const used = v->operand[i];
    if (!used || !used->type)
        return ir_verify_fail(f, v, error, "operand %u is missing", i);
    if (used->op == IR_ARGUMENT && used->function != f)
        return ir_verify_fail(f, v, error, "operand %u is an argument of another function", i);
    if (ir_op_kind(used->op) == IR_KIND_VALUE)
        return true;
    if (!used->home || used->home->function != f)
        return ir_verify_fail(f, v, error, "operand %u (%%%u) stands in no block of the function", i, used->id);
    const struct ir_block *const at = v->op == IR_PHI ? v->block[i] : v->home;
    const bool before =
        used->home == at && v->op != IR_PHI && ir_block_inside(at)->enter ? used->id < v->id : ir_dominates(used->home, at);
    if (!before)
        return ir_verify_fail(f, v, error, "operand %u (%%%u) is not computed on every way here", i, used->id);
    return true;
}

static bool verify_block(const struct ir_function *f, const struct ir_block *b, struct ir_block *const *list, uint32_t blocks,
                         struct isa_error *error)
{
    for (const struct ir_value *v = b->first; v; v = v->next) {
        for (unsigned i = 0; i < v->blocks; i++)
            if (!is_listed(list, blocks, v->block[i]))
                return ir_verify_fail(f, v, error, "names a block that was removed");
        if (v->op == IR_PHI && !verify_phi(f, v, error))
            return false;
        for (unsigned i = 0; i < v->operands; i++)
            if (!verify_use(f, v, i, error))
                return false;
        if (!ir_verify_value(f, v, error))
            return false;
    }
    return true;
}

/* Links first: what follows walks over them. */
static bool verify_lists(const struct ir_function *f, uint32_t *blocks, struct isa_error *error)
{
    for (const struct ir_block *b = f->first; b; b = b->next) {
        ++*blocks;
        if (b->function != f)
            return ir_verify_fail(f, NULL, error, "block %u belongs to another function", b->id);
        if (!b->last || ir_op_kind(b->last->op) != IR_KIND_END)
            return ir_verify_fail(f, NULL, error, "block %u has no end", b->id);
        for (const struct ir_value *v = b->first; v; v = v->next)
            if (!verify_order(f, b, v, error) || !verify_targets(f, v, error))
                return false;
    }
    return true;
}

bool ir_verify(const struct ir_function *f, struct isa_error *error)
{
    uint32_t blocks = 0;
    if (!f->first)
        return true;
    if (!verify_lists(f, &blocks, error))
        return false;
    struct ir_block **const list = calloc(blocks, sizeof *list);
    /* Numbers are no part of what a function says, so that giving them anew leaves it as it is. */
    bool good = list && ir_dominate((struct ir_function *)f);
    if (!good)
        ir_verify_fail(f, NULL, error, "memory ran out");
    for (struct ir_block *b = good ? f->first : NULL; b; b = b->next)
        list[b->id] = b;
    for (const struct ir_block *b = f->first; good && b; b = b->next)
        good = verify_block(f, b, list, blocks, error);
    free(list);
    return good;
}
