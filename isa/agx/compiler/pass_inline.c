/* Puts the bodies of called functions in the place of their calls. */
#include "isa/agx/compiler/pass.h"

/* Calls within calls grow without bound; real kernels stay far below. */
#define MOST_CALLS  4000
#define MOST_VALUES 200000
#define FIRST_ASKED 16

struct copy {
    struct pass *p;
    const struct ir_value *call;
    struct ir_value **value; /* of the called function's values, by id; arguments first */
    struct ir_block **block;
    struct ir_block *after;
    struct ir_value *result; /* a phi of what is returned; NULL when nothing is */
};

static struct ir_value *copied(const struct copy *c, struct ir_value *v)
{
    if (v->op == IR_ARGUMENT || !pass_is_value(v))
        return c->value[v->id];
    return v;
}

/* What has no line of its own (code of a library) belongs to the line of the call. */
static void put_place(const struct copy *c, const struct ir_value *from, struct ir_value *to)
{
    const struct ir_value *const place = from->line ? from : c->call;
    to->line = place->line;
    to->file = place->file;
}

static void copy_return(const struct copy *c, const struct ir_value *v, struct ir_block *to)
{
    struct ir_value *jump = ir_make(c->p->f, IR_JUMP, ir_void(c->p->m), NULL, 0);
    put_place(c, v, jump);
    jump->blocks = 1;
    jump->block = ir_alloc(c->p->m, sizeof *jump->block);
    jump->block[0] = c->after;
    ir_append(to, jump);
    if (c->result)
        ir_add_incoming(c->result, copied(c, v->operand[0]), to);
}

/* Operands may not be copied yet (phis): they are put right afterwards. */
static void copy_value(const struct copy *c, const struct ir_value *v, struct ir_block *to)
{
    if (v->op == IR_RETURN)
        return;
    struct ir_value *now = v->op == IR_BUILTIN
                               ? ir_make_builtin(c->p->f, (enum ir_builtin)v->builtin, v->type, v->operand, v->operands)
                               : ir_make(c->p->f, (enum ir_op)v->op, v->type, v->operand, v->operands);
    now->condition = v->condition;
    now->fast = v->fast;
    now->exact = v->exact;
    now->is_volatile = v->is_volatile;
    now->held = v->held;
    now->align = v->align;
    now->bits = v->bits;
    now->offset = v->offset;
    put_place(c, v, now);
    now->name = v->name;
    now->annotation = v->annotation;
    now->lists = v->lists;
    now->list = v->list;
    now->blocks = v->blocks;
    now->block = ir_alloc(c->p->m, (v->blocks + 1) * sizeof *now->block);
    if (ir_module_failed(c->p->m))
        return;
    for (unsigned i = 0; i < v->blocks; i++)
        now->block[i] = c->block[v->block[i]->id];
    c->value[v->id] = now;
    /* Private variables belong to the caller's first block: it runs once. */
    if (v->op == IR_ALLOCA && v->operand[0]->op == IR_CONSTANT)
        ir_insert_before(c->p->f->first->first, now);
    else
        ir_append(to, now);
}

static void copy_body(const struct copy *c, const struct ir_function *callee)
{
    for (const struct ir_block *b = callee->first; b; b = b->next)
        for (const struct ir_value *v = b->first; v; v = v->next)
            copy_value(c, v, c->block[b->id]);
    for (const struct ir_block *b = callee->first; b && !ir_module_failed(c->p->m); b = b->next)
        for (const struct ir_value *v = b->first; v; v = v->next) {
            if (v->op == IR_RETURN) {
                copy_return(c, v, c->block[b->id]);
                continue;
            }
            struct ir_value *now = c->value[v->id];
            for (unsigned i = 0; i < now->operands; i++)
                now->operand[i] = copied(c, v->operand[i]);
        }
}

/* A structure passed by value is copied: the called function may change it. */
static struct ir_value *by_value(struct pass *p, struct ir_value *call, struct ir_value *pointer, const struct ir_type *type)
{
    struct build entry = build_at(p, p->f->first->first), b = build_at(p, call);
    struct ir_value *one = build_i32(&entry, 1);
    struct ir_value *slot = build_any(&entry, IR_ALLOCA, ir_pointer(p->m, IR_PRIVATE), &one, 1);
    slot->held = type;
    build_store(&b, build_load(&b, type, pointer, 0), slot, 0);
    return slot;
}

static void inline_call(struct pass *p, struct ir_value *call)
{
    struct ir_function *callee = call->operand[0]->function;
    struct copy c = {.p = p, .call = call};
    ir_number(callee);
    unsigned blocks = 0;
    for (const struct ir_block *b = callee->first; b; b = b->next)
        blocks++;
    c.value = ir_alloc(p->m, (callee->next_id + 1) * sizeof *c.value);
    c.block = ir_alloc(p->m, blocks * sizeof *c.block);
    if (ir_module_failed(p->m))
        return;
    for (unsigned i = 0; i < callee->arguments && i + 1 < call->operands; i++)
        c.value[callee->argument[i]->id] = callee->by_value && callee->by_value[i]
                                               ? by_value(p, call, call->operand[i + 1], callee->by_value[i])
                                               : call->operand[i + 1];
    struct ir_block *before = call->home, *last = before;
    struct build behind = build_at(p, call->next);
    c.after = build_split(&behind);
    for (const struct ir_block *b = callee->first; b; b = b->next)
        last = c.block[b->id] = ir_add_block(p->f, b->name, last);
    if (call->type->kind != IR_VOID) {
        c.result = ir_make(p->f, IR_PHI, call->type, NULL, 0);
        if (c.after->first)
            ir_insert_before(c.after->first, c.result);
    }
    copy_body(&c, callee);
    struct ir_value *jump = ir_make(p->f, IR_JUMP, ir_void(p->m), NULL, 0);
    jump->blocks = 1;
    jump->block = ir_alloc(p->m, sizeof *jump->block);
    jump->block[0] = c.block[0];
    ir_append(before, jump);
    ir_remove(call);
    if (c.result)
        ir_replace(p->f, call, c.result);
    p->changed = true;
}

/* In this block or behind it. */
static struct ir_value *find_call(const struct ir_block *from)
{
    for (const struct ir_block *b = from; b; b = b->next)
        for (struct ir_value *v = b->first; v; v = v->next)
            if (v->op == IR_CALL && v->operand[0]->op == IR_FUNCTION && v->operand[0]->function->first)
                return v;
    return NULL;
}

/* Whether calls lead from one function to another. Each is looked into once: `seen` ends with NULL. */
static bool leads_to(const struct ir_function *from, const struct ir_function *to, const struct ir_function **seen)
{
    for (; *seen; seen++)
        if (*seen == from)
            return false;
    *seen = from;
    for (const struct ir_block *b = from->first; b; b = b->next)
        for (const struct ir_value *v = b->first; v; v = v->next)
            if (v->op == IR_CALL && v->operand[0]->op == IR_FUNCTION &&
                (v->operand[0]->function == to || leads_to(v->operand[0]->function, to, seen)))
                return true;
    return false;
}

static bool calls_itself(struct pass *p, const struct ir_function *f)
{
    size_t functions = 1;
    for (const struct ir_function *other = ir_module_functions(p->m); other; other = other->next)
        functions++;
    const struct ir_function **seen = ir_alloc(p->m, (functions + 1) * sizeof *seen);
    return !ir_module_failed(p->m) && (f == p->f || leads_to(f, f, seen));
}

/* Asked now and then only: most functions call nobody. */
static bool may_inline(struct pass *p, const struct ir_value *call, unsigned calls, uint64_t values)
{
    const struct ir_function *callee = call->operand[0]->function;
    const bool ask = callee == p->f || (calls >= FIRST_ASKED && (calls & (calls - 1)) == 0);
    if (ask && calls_itself(p, callee))
        return pass_refuse(p, call, "%s calls itself, which the GPU cannot", callee->name) != NULL;
    return (calls < MOST_CALLS && values <= MOST_VALUES) ||
           pass_refuse(p, call, "%s becomes too large: every call, here of %s, is code of its own", p->f->name, callee->name) !=
               NULL;
}

bool pass_inline(struct pass *p)
{
    struct ir_value *call;
    const struct ir_block *from = p->f->first;
    uint64_t values = 0;
    for (unsigned calls = 0; (call = find_call(from)); calls++) {
        from = call->home;
        values += call->operand[0]->function->next_id;
        if (!may_inline(p, call, calls, values))
            return false;
        inline_call(p, call);
        if (ir_module_failed(p->m))
            return pass_refuse(p, NULL, "out of memory") != NULL;
    }
    unsigned blocks;
    pass_order(p, &blocks);
    return true;
}
