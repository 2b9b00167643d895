/* The body of a function: names, blocks, values that are used before they are defined. */
#include "isa/agx/compiler/ir_read_parts.h"

#include "isa/list_grow.h"

#include <string.h>

/* ---- names ---- */

static bool is_numbered(const char *name, size_t length)
{
    return length && *name >= '0' && *name <= '9';
}

/* The next number of what the text leaves without a name. */
static const char *next_number(struct ir_reader *r, size_t *length)
{
    char text[24];
    *length = (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)r->next_number);
    return ir_text(r->m, text, *length);
}

static void note_number(struct ir_reader *r, const char *name, size_t length)
{
    uint64_t number = 0;
    if (!is_numbered(name, length) || length > 18)
        return;
    for (size_t i = 0; i < length && name[i] >= '0' && name[i] <= '9'; i++)
        number = 10 * number + (unsigned)(name[i] - '0');
    r->next_number = number + 1;
}

bool ir_define(struct ir_reader *r, const char *name, size_t length, struct ir_value *v)
{
    if (!name)
        name = next_number(r, &length);
    note_number(r, name, length);
    void **const item = ir_names_at(&r->locals, name, length);
    if (!item || r->m->failed)
        return ir_read_no_memory(r);
    struct ir_value *const before = *item;
    const int shown = (int)(length < 60 ? length : 60);
    if (before && (before->op != IR_OP_COUNT || before->note))
        return ir_read_fail(r, "%%%.*s is defined twice", shown, name);
    if (before && before->type != v->type)
        return ir_read_fail(r, "%%%.*s was used as another type in line %u", shown, name, before->line);
    if (before) {
        before->note = v;
        r->forwards--;
    }
    *item = v;
    if (v->home && !v->name && !is_numbered(name, length))
        v->name = ir_text(r->m, name, length);
    return true;
}

static bool define_arguments(struct ir_reader *r, struct ir_function *f)
{
    for (unsigned i = 0; i < f->arguments; i++) {
        struct ir_value *const v = f->argument[i];
        const struct ir_param *const param = v->note;
        v->note = NULL;
        if (!ir_define(r, param ? param->local : NULL, param ? param->local_length : 0, v))
            return false;
    }
    return true;
}

/* ---- blocks ---- */

/* A block begins at the label that is the token; without one, at the entry. */
static bool begin_block(struct ir_reader *r)
{
    struct ir_block *b;
    if (r->block)
        return ir_read_fail(r, "the block before this label has no end");
    if (r->place.token.kind == IR_T_LABEL) {
        note_number(r, r->place.token.text, r->place.token.length);
        b = ir_block_named(r);
    } else {
        size_t length;
        const char *const name = next_number(r, &length);
        r->next_number++;
        b = ir_add_block(r->f, NULL, NULL);
        void **const item = ir_names_at(&r->blocks, name, length);
        if (!item || r->m->failed)
            return ir_read_no_memory(r);
        *item = b;
    }
    if (!b)
        return false;
    if (ir_block_inside(b)->reached)
        return ir_read_fail(r, "a block is defined twice");
    ir_block_inside(b)->reached = true; /* defined; ir_dominate uses it otherwise later */
    struct ir_block **const grown = list_grow(r->listed, r->listeds, &r->listed_room, sizeof *grown);
    if (!grown)
        return ir_read_no_memory(r);
    r->listed = grown;
    r->listed[r->listeds++] = r->block = b;
    return true;
}

/* Blocks were made as they were first named: put them into the order of the text. */
static bool order_blocks(struct ir_reader *r, struct ir_function *f)
{
    for (const struct ir_block *b = f->first; b; b = b->next)
        if (!ir_block_inside(b)->reached)
            return ir_read_fail(r, "block %%%.60s is not defined", b->name ? b->name : "of a number");
    for (size_t i = 0; i < r->listeds; i++)
        r->listed[i]->next = i + 1 < r->listeds ? r->listed[i + 1] : NULL;
    f->first = r->listed[0];
    ir_function_inside(f)->last = r->listed[r->listeds - 1];
    return true;
}

/* ---- forward references ---- */

static bool exchange_stand_ins(struct ir_reader *r, struct ir_function *f)
{
    for (struct ir_block *b = f->first; b; b = b->next) {
        for (struct ir_value *v = b->first; v; v = v->next) {
            for (unsigned i = 0; i < v->operands; i++) {
                struct ir_value *now = v->operand[i];
                while (now->op == IR_OP_COUNT && now->note && now->note != now)
                    now = now->note;
                if (now->op == IR_OP_COUNT) {
                    ir_read_fail(r, "%%%.60s is not defined", now->name);
                    r->error->line = now->line;
                    return false;
                }
                v->operand[i] = now;
            }
        }
    }
    return true;
}

/* ---- when the function is whole ---- */

/* An annotated variable that keeps an argument speaks of the argument. */
static void annotate_arguments(struct ir_reader *r, struct ir_function *f)
{
    for (struct ir_block *b = f->first; b; b = b->next) {
        for (struct ir_value *v = b->first; v; v = v->next) {
            if (v->op != IR_STORE || v->operand[0]->op != IR_ARGUMENT)
                continue;
            const struct ir_value *const variable = ir_behind_casts(v->operand[1]);
            if (variable->op == IR_ALLOCA && variable->annotation)
                ir_annotate(r, v->operand[0], variable->annotation);
        }
    }
}

/* The lines of the source take the place of those of the text. */
static void settle_lines(struct ir_function *f)
{
    for (struct ir_block *b = f->first; b; b = b->next) {
        for (struct ir_value *v = b->first; v; v = v->next) {
            v->line = (uint32_t)(uintptr_t)v->note;
            v->note = NULL;
        }
    }
}

static bool finish(struct ir_reader *r, struct ir_function *f, unsigned long line)
{
    struct isa_error wrong;
    if (r->block)
        return ir_read_fail(r, "the last block has no end");
    if (!r->listeds)
        return ir_read_fail(r, "a function has no block");
    if (!order_blocks(r, f) || (r->stand_ins && !exchange_stand_ins(r, f)))
        return false;
    annotate_arguments(r, f);
    if (!ir_verify(f, &wrong)) {
        ir_read_fail(r, "%s", wrong.text);
        *r->error = wrong;
        if (!r->error->line)
            r->error->line = line;
        return false;
    }
    settle_lines(f);
    return true;
}

bool ir_read_body(struct ir_reader *r, struct ir_function *f)
{
    const unsigned long line = r->place.token.line;
    ir_names_clear(&r->locals);
    ir_names_clear(&r->blocks);
    r->f = f;
    r->block = NULL;
    r->next_number = r->operands = r->listeds = r->forwards = r->stand_ins = 0;
    if (!define_arguments(r, f) || !ir_want_sign(r, '{'))
        return false;
    if (r->place.token.kind != IR_T_LABEL && !ir_is_sign(r, '}') && !begin_block(r))
        return false;
    while (!ir_is_sign(r, '}')) {
        if (r->place.token.kind == IR_T_END)
            return ir_read_fail(r, "the function does not end");
        if (!(r->place.token.kind == IR_T_LABEL ? begin_block(r) : ir_read_line(r)))
            return false;
        r->line.start = NULL;
    }
    return finish(r, f, line);
}
