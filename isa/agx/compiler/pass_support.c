/* How passes walk a function and replace values. While a rewrite is under way the note of a replaced instruction is what took its
 * place; operands follow it when their user is visited, and once more at the end for phis. */
#include "isa/agx/compiler/pass.h"

#include <stdarg.h>

struct ir_value *pass_refuse(struct pass *p, const struct ir_value *v, const char *format, ...)
{
    if (!p->failed) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(p->error->text, sizeof p->error->text, format, arguments);
        va_end(arguments);
        p->error->line = v ? v->line : 0;
        p->error->offset = 0;
        ir_error_file(v, p->f->module, p->error);
    }
    p->failed = true;
    return NULL;
}

bool pass_is_value(const struct ir_value *v)
{
    return ir_op_kind(v->op) == IR_KIND_VALUE;
}

bool pass_is_constant(const struct ir_value *v, uint64_t *bits)
{
    if (v->op != IR_CONSTANT)
        return false;
    *bits = v->bits;
    return true;
}

bool pass_is_int(const struct ir_type *type, unsigned bits)
{
    return type->kind == IR_INT && type->bits == bits;
}

unsigned pass_targets(const struct ir_value *end)
{
    return end && ir_op_kind(end->op) == IR_KIND_END ? end->blocks : 0;
}

/* ---- order of blocks ---- */

static struct ir_block **pass_mark(struct ir_function *f, struct ir_block **order, struct ir_block **stack, unsigned *next)
{
    /* Depth first without recursion; order is filled from its end, so that it is a reverse postorder. */
    struct ir_block **end = order;
    unsigned depth = 0;
    stack[depth] = f->first;
    f->first->note = f;
    next[depth++] = 0;
    while (depth) {
        const struct ir_block *b = stack[depth - 1];
        if (next[depth - 1] < pass_targets(b->last)) {
            struct ir_block *to = b->last->block[next[depth - 1]++];
            if (!to->note) {
                to->note = f;
                stack[depth] = to;
                next[depth++] = 0;
            }
        } else {
            *--end = stack[--depth];
        }
    }
    return end;
}

struct ir_block **pass_order(struct pass *p, unsigned *blocks)
{
    unsigned count = 0;
    for (struct ir_block *b = p->f->first; b; b = b->next, count++)
        b->note = NULL;
    struct ir_block **order = ir_alloc(p->m, 2 * (size_t)count * sizeof(struct ir_block *));
    unsigned *next = ir_alloc(p->m, count * sizeof(unsigned));
    *blocks = 0;
    if (ir_module_failed(p->m) || !count)
        return order;
    struct ir_block **first = pass_mark(p->f, order + count, order + count, next);
    *blocks = (unsigned)(order + count - first);
    for (struct ir_block *b = p->f->first, *after; b; b = after) {
        after = b->next;
        if (!b->note) {
            ir_remove_block(p->f, b);
            p->changed = true;
        }
    }
    for (struct ir_block *b = p->f->first; b; b = b->next)
        b->note = NULL;
    return first;
}

/* ---- replacing ---- */

static struct ir_value *pass_follow(struct ir_value *v)
{
    while (!pass_is_value(v) && v->note)
        v = v->note;
    return v;
}

static void pass_follow_operands(struct ir_value *v)
{
    for (unsigned i = 0; i < v->operands; i++)
        v->operand[i] = pass_follow(v->operand[i]);
}

bool pass_rewrite(struct pass *p, pass_rewriter *rewriter)
{
    unsigned blocks;
    struct ir_block **order = pass_order(p, &blocks);
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first; v; v = v->next)
            v->note = NULL;
    for (unsigned i = 0; i < blocks && !p->failed; i++) {
        for (struct ir_value *v = order[i]->first, *next; v && !p->failed; v = next) {
            next = v->next;
            pass_follow_operands(v);
            struct ir_value *now = rewriter(p, v);
            if (!now)
                continue;
            p->changed = true;
            if (now == v)
                continue;
            ir_remove(v);
            v->note = now;
        }
    }
    for (const struct ir_block *b = p->f->first; b; b = b->next) /* also those that a rewriter made */
        for (struct ir_value *v = b->first; v; v = v->next)
            pass_follow_operands(v);
    if (ir_module_failed(p->m))
        pass_refuse(p, NULL, "out of memory");
    return !p->failed;
}

uint32_t *pass_count_uses(struct pass *p)
{
    ir_number(p->f);
    uint32_t *uses = ir_alloc(p->m, ((size_t)p->f->next_id + 1) * sizeof *uses);
    if (ir_module_failed(p->m))
        return uses;
    for (struct ir_block *b = p->f->first; b; b = b->next)
        for (const struct ir_value *v = b->first; v; v = v->next)
            for (unsigned i = 0; i < v->operands; i++)
                if (!pass_is_value(v->operand[i]))
                    uses[v->operand[i]->id]++;
    return uses;
}

/* ---- ranges ---- */

static uint64_t pass_all(const struct ir_type *type)
{
    return type->kind != IR_INT || type->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << type->bits) - 1;
}

static uint64_t pass_most_id(const struct pass *p, const struct ir_value *v)
{
    uint64_t dimension = 3, size = 1024, threads = 1;
    if (v->operands)
        pass_is_constant(v->operand[0], &dimension);
    for (unsigned i = 0; i < 3; i++)
        threads *= p->f->group_size[i] ? p->f->group_size[i] : 1;
    if (!p->f->group_size[0])
        threads = 1024;
    if (dimension < 3 && p->f->group_size[dimension])
        size = p->f->group_size[dimension];
    switch (v->builtin) {
    case IR_B_LOCAL_ID: return size - 1;
    case IR_B_LOCAL_SIZE: return size;
    case IR_B_LOCAL_INDEX: return threads - 1;
    case IR_B_LANE: return 31;
    case IR_B_SIMDGROUP: return (threads - 1) / 32;
    case IR_B_SIMDGROUP_COUNT: return (threads + 31) / 32;
    case IR_B_POPCOUNT:
    case IR_B_CLZ:
    case IR_B_CTZ: return v->operand[0]->type->bits;
    default: return UINT64_MAX;
    }
}

static uint64_t pass_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t pass_most_deep(const struct pass *p, const struct ir_value *v, unsigned depth);

static uint64_t pass_most_pair(const struct pass *p, const struct ir_value *v, uint64_t all, unsigned depth)
{
    const uint64_t a = pass_most_deep(p, v->operand[0], depth), b = pass_most_deep(p, v->operand[1], depth);
    uint64_t result = all;
    switch (v->op) {
    case IR_ADD: return __builtin_add_overflow(a, b, &result) ? all : result;
    case IR_MUL: return __builtin_mul_overflow(a, b, &result) ? all : result;
    case IR_AND: return pass_least(a, b);
    case IR_UDIV: return a;
    case IR_UREM: return b ? pass_least(a, b - 1) : all;
    case IR_OR:
    case IR_XOR: return a | b ? UINT64_MAX >> __builtin_clzll(a | b) : 0;
    default: break;
    }
    uint64_t by;
    if (!pass_is_constant(v->operand[1], &by) || by >= v->type->bits)
        return v->op == IR_LSHR ? a : all;
    if (v->op == IR_LSHR)
        return a >> by;
    return v->op == IR_SHL && (!by || a >> (64 - by) == 0) ? a << by : all;
}

static uint64_t pass_most_deep(const struct pass *p, const struct ir_value *v, unsigned depth)
{
    uint64_t all = pass_all(v->type), result = all;
    if (v->op == IR_CONSTANT)
        return v->bits & all;
    if (!depth--)
        return all;
    if (v->op == IR_ZEXT)
        result = pass_most_deep(p, v->operand[0], depth);
    else if (v->op == IR_TRUNC || v->op == IR_FREEZE)
        result = pass_most_deep(p, v->operand[0], depth);
    else if (v->op == IR_BUILTIN)
        result = pass_most_id(p, v);
    else if (v->op == IR_LOAD && v->held && v->held->kind == IR_INT)
        result = pass_all(v->held);
    else if (v->op == IR_SELECT) {
        const uint64_t a = pass_most_deep(p, v->operand[1], depth), b = pass_most_deep(p, v->operand[2], depth);
        result = a > b ? a : b;
    } else if (ir_op_kind(v->op) == IR_KIND_BINARY && v->type->kind == IR_INT)
        result = pass_most_pair(p, v, all, depth);
    return result > all ? all : result;
}

uint64_t pass_most(const struct pass *p, const struct ir_value *v)
{
    return v->type->kind == IR_INT ? pass_most_deep(p, v, 6) : UINT64_MAX;
}
