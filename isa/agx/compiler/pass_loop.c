/* Loops that passes make, in the middle of a block. */
#include "isa/agx/compiler/pass.h"

static struct ir_value *end_to(struct build *b, enum ir_op op, struct ir_value *condition, struct ir_block *yes,
                               struct ir_block *no)
{
    struct ir_value *end = ir_make(b->f, op, ir_void(b->m), &condition, condition ? 1 : 0);
    end->line = b->at->line;
    end->file = b->at->file;
    end->blocks = no ? 2 : 1;
    end->block = ir_alloc(b->m, 2 * sizeof *end->block);
    if (ir_module_failed(b->m))
        return end;
    end->block[0] = yes;
    if (no)
        end->block[1] = no;
    return end;
}

static void rename_incoming(struct ir_block *to, const struct ir_block *from, struct ir_block *now)
{
    for (struct ir_value *v = to->first; v && v->op == IR_PHI; v = v->next)
        for (unsigned i = 0; i < v->blocks; i++)
            if (v->block[i] == from)
                v->block[i] = now;
}

struct ir_block *build_split(struct build *b)
{
    struct ir_block *before = b->at->home, *after = ir_add_block(b->f, NULL, before);
    for (struct ir_value *v = b->at, *next; v; v = next) {
        next = v->next;
        ir_remove(v);
        ir_append(after, v);
    }
    for (unsigned i = 0; i < pass_targets(after->last); i++)
        rename_incoming(after->last->block[i], before, after);
    return after;
}

struct build_loop build_loop_open(struct build *b, struct ir_value *enter)
{
    struct build_loop l = {.before = b->at->home};
    l.after = build_split(b);
    l.body = ir_add_block(b->f, NULL, l.before);
    struct ir_value *turn = end_to(b, IR_JUMP, NULL, l.body, NULL);
    ir_append(l.before, enter ? end_to(b, IR_BRANCH, enter, l.body, l.after) : end_to(b, IR_JUMP, NULL, l.body, NULL));
    ir_append(l.body, turn);
    l.b = *b;
    l.b.at = turn;
    return l;
}

struct ir_value *build_loop_phi(struct build_loop *l, struct ir_value *first)
{
    struct ir_value *phi = ir_make(l->b.f, IR_PHI, first->type, NULL, 0);
    phi->line = l->b.at->line;
    phi->file = l->b.at->file;
    ir_insert_before(l->body->first, phi);
    ir_add_incoming(phi, first, l->before);
    return phi;
}

void build_loop_next(struct build_loop *l, struct ir_value *phi, struct ir_value *next)
{
    ir_add_incoming(phi, next, l->body);
}

struct ir_value *build_loop_result(struct build_loop *l, struct ir_value *none, struct ir_value *last)
{
    struct ir_value *phi = ir_make(l->b.f, IR_PHI, none->type, NULL, 0);
    ir_insert_before(l->after->first, phi);
    ir_add_incoming(phi, none, l->before);
    ir_add_incoming(phi, last, l->body);
    return phi;
}

void build_loop_close(struct build_loop *l, struct ir_value *again)
{
    struct ir_value *end = end_to(&l->b, IR_BRANCH, again, l->body, l->after);
    ir_remove(l->b.at);
    ir_append(l->body, end);
}
