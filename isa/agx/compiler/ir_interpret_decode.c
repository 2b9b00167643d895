/* Decodes a kernel into steps: blocks in their order, phis as moves on the edges, calls in their place. */
#include "isa/agx/compiler/ir_interpret_decode.h"
#include "isa/list_grow.h"
#include "isa/rounding.h"

#include <stdlib.h>
#include <string.h>

/* Calls within calls; more are taken for a recursion. */
#define CALLS_DEEP 64u

/* ---- edges ---- */

static void edge_moves(struct decoder *d, const struct frame *frame, const struct ir_block *from, const struct ir_block *to)
{
    uint32_t count = 0;
    for (const struct ir_value *v = to->first; v && v->op == IR_PHI; v = v->next)
        count += type_parts(v->type);
    if (!count)
        return;
    const struct slots target = decode_slots(d, count), source = decode_slots(d, count);
    uint32_t at = 0;
    for (const struct ir_value *v = to->first; v && v->op == IR_PHI && !d->failed; v = v->next) {
        unsigned i = 0;
        while (i < v->operands && v->block[i] != from)
            i++;
        if (i == v->operands) {
            decode_refuse(d, "a phi has no value for one of its predecessors");
            return;
        }
        const struct slots value = decode_operand(d, frame, v->operand[i]);
        for (uint32_t part = 0; part < type_parts(v->type) && !d->failed; part++, at++) {
            target.slot[at] = slot_at(&frame->value[v->id], part);
            source.slot[at] = slot_at(&value, part);
        }
    }
    if (!d->failed)
        decode_moves(d, target.slot, source.slot, count);
}

static bool has_phi(const struct ir_block *b)
{
    return b->first && b->first->op == IR_PHI;
}

/* Where to go for this edge: the block, or moves that come behind the end at work. */
static uint32_t edge_label(struct decoder *d, const struct frame *frame, const struct ir_block *to)
{
    return has_phi(to) ? decode_label(d) : frame->label[to->id];
}

/* The moves of an edge that has some, and the way on from them. */
static void place_edge(struct decoder *d, const struct frame *frame, const struct ir_block *from, const struct ir_block *to,
                       uint32_t label)
{
    if (!has_phi(to) || d->failed)
        return;
    decode_place(d, label);
    edge_moves(d, frame, from, to);
    decode_jump(d, frame->label[to->id]);
}

static void decode_switch(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct slots pair = decode_slots(d, 2 * v->blocks);
    if (d->failed)
        return;
    const uint32_t value = decode_scalar(d, frame, v->operand[0]);
    for (unsigned i = 0; i < v->blocks; i++) {
        pair.slot[2 * i] = i ? decode_scalar(d, frame, v->operand[i]) : 0;
        pair.slot[2 * i + 1] = edge_label(d, frame, v->block[i]);
    }
    struct step *const step = decode_step(d, STEP_SWITCH);
    step->a = value;
    step->other = pair.slot[1];
    step->extra = pair.slot + 2;
    step->extras = v->blocks - 1;
    for (unsigned i = 0; i < v->blocks; i++)
        place_edge(d, frame, v->home, v->block[i], pair.slot[2 * i + 1]);
}

static void decode_return(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    if (!frame->caller) {
        decode_step(d, STEP_END);
        return;
    }
    if (v->operands) {
        const struct slots value = decode_operand(d, frame, v->operand[0]);
        for (uint32_t i = 0; i < frame->result.count; i++) {
            struct step *const step = decode_step(d, STEP_PURE);
            step->pure = pure_copy;
            step->d = frame->result.slot[i];
            step->a = slot_at(&value, i);
        }
    }
    decode_jump(d, frame->return_label);
}

static void decode_end(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    switch (v->op) {
    case IR_JUMP:
        edge_moves(d, frame, v->home, v->block[0]);
        decode_jump(d, frame->label[v->block[0]->id]);
        break;
    case IR_BRANCH: {
        const uint32_t condition = decode_scalar(d, frame, v->operand[0]);
        const uint32_t yes = edge_label(d, frame, v->block[0]), no = edge_label(d, frame, v->block[1]);
        struct step *const step = decode_step(d, STEP_BRANCH);
        step->a = condition;
        step->target = yes;
        step->other = no;
        place_edge(d, frame, v->home, v->block[0], yes);
        place_edge(d, frame, v->home, v->block[1], no);
        break;
    }
    case IR_SWITCH: decode_switch(d, frame, v); break;
    case IR_RETURN: decode_return(d, frame, v); break;
    default: decode_step(d, STEP_TRAP); break;
    }
}

/* ---- functions ---- */

static void decode_block(struct decoder *d, const struct frame *frame, const struct ir_block *b)
{
    decode_place(d, frame->label[b->id]);
    for (const struct ir_value *v = b->first; v && !d->failed; v = v->next) {
        d->line = v->line ? v->line : d->line;
        if (v->op == IR_PHI)
            continue;
        if (ir_op_kind(v->op) == IR_KIND_END)
            decode_end(d, frame, v);
        else
            frame->value[v->id] = decode_instruction(d, frame, v);
    }
    if (!d->failed && (!b->last || ir_op_kind(b->last->op) != IR_KIND_END))
        decode_refuse(d, "a block of %s has no end", frame->function->name);
}

static bool frame_memory(struct decoder *d, struct frame *frame)
{
    uint32_t values = 0, blocks = 0;
    for (const struct ir_block *b = frame->function->first; b; b = b->next) {
        blocks = b->id >= blocks ? b->id + 1 : blocks;
        for (const struct ir_value *v = b->first; v; v = v->next)
            values = v->id >= values ? v->id + 1 : values;
    }
    frame->value = program_take(d->program, values * sizeof *frame->value);
    frame->label = program_take(d->program, blocks * sizeof *frame->label);
    if (!frame->value || !frame->label)
        decode_refuse(d, "out of memory");
    return !d->failed;
}

void decode_function(struct decoder *d, struct frame *frame)
{
    size_t blocks;
    struct ir_block **const order = interpret_order(frame->function, &blocks);
    if (!order)
        decode_refuse(d, "%s has too many blocks for the interpreter", frame->function->name);
    if (order && frame_memory(d, frame)) {
        for (size_t i = 0; i < blocks; i++) {
            frame->label[order[i]->id] = decode_label(d);
            for (const struct ir_value *v = order[i]->first; v && v->op == IR_PHI; v = v->next)
                frame->value[v->id] = decode_new_slots(d, type_parts(v->type));
        }
        for (size_t i = 0; i < blocks && !d->failed; i++)
            decode_block(d, frame, order[i]);
    }
    free(order);
}

/* What is passed by value is copied, for the function may change it. */
static struct slots argument_of(struct decoder *d, const struct frame *frame, const struct ir_value *v,
                                const struct ir_type *by_value)
{
    const struct slots given = decode_operand(d, frame, v);
    if (!by_value)
        return given;
    struct slots copy = decode_slots(d, 1);
    if (d->failed)
        return copy;
    copy.slot[0] = decode_variable(d, by_value->bytes, by_value->align);
    const uint32_t bytes = decode_bits(d, by_value->bytes);
    struct step *const step = decode_step(d, STEP_COPY);
    step->a = copy.slot[0];
    step->b = slot_at(&given, 0);
    step->c = bytes;
    return copy;
}

struct slots decode_call(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct ir_value *const called = v->operands ? v->operand[0] : NULL;
    if (!called || called->op != IR_FUNCTION || !called->function) {
        decode_refuse(d, "a call through a pointer is not supported");
        return (struct slots){NULL, 0};
    }
    const struct ir_function *const f = called->function;
    if (!f->first)
        return decode_library(d, frame, v, f->name);
    unsigned deep = 0;
    for (const struct frame *above = frame; above; above = above->caller)
        if (above->function == f || ++deep > CALLS_DEEP) {
            decode_refuse(d, "%s calls itself, which GPUs cannot", f->name);
            return (struct slots){NULL, 0};
        }
    struct frame inner = {.function = f, .caller = frame, .return_label = decode_label(d)};
    inner.argument = program_take(d->program, (f->arguments + 1) * sizeof *inner.argument);
    inner.result = decode_new_slots(d, type_parts(f->result));
    if (!inner.argument || v->operands != f->arguments + 1)
        decode_refuse(d, inner.argument ? "a call of %s has another number of arguments" : "out of memory for %s", f->name);
    for (unsigned i = 0; i < f->arguments && !d->failed; i++)
        inner.argument[i] = argument_of(d, frame, v->operand[i + 1], f->by_value ? f->by_value[i] : NULL);
    const uint32_t line = d->line;
    if (!d->failed)
        decode_function(d, &inner);
    d->line = line;
    if (!d->failed)
        decode_place(d, inner.return_label);
    return inner.result;
}

/* ---- kernels ---- */

static uint64_t argument_bits(const struct decoder *d, const struct part *part, uint64_t offset)
{
    uint64_t bits = 0;
    const uint64_t bytes = part->type->kind == IR_POINTER ? 8 : part->type->bytes;
    memcpy(&bits, (const uint8_t *)d->launch->arguments + offset + part->offset, bytes < 8 ? bytes : 8);
    return bits & (part->type->kind == IR_POINTER ? UINT64_MAX : mask_of(part->type->bits));
}

static void kernel_by_value(struct decoder *d, struct slots *to, const struct ir_type *type, uint64_t offset)
{
    struct program *const p = d->program;
    void *const grown = list_grow(p->copy, p->copies, &p->copy_room, sizeof *p->copy);
    if (!grown) {
        decode_refuse(d, "out of memory");
        return;
    }
    p->copy = grown;
    to->slot[0] = decode_variable(d, type->bytes, type->align);
    if (!d->failed)
        p->copy[p->copies++] =
            (struct argument_copy){p->constant[to->slot[0] & ~CONSTANT_SLOT][0] & mask_of(REGION_SHIFT), offset, type->bytes};
}

/* Arguments have the same bits for all threads: they are constants of the launch. */
static void kernel_arguments(struct decoder *d, struct frame *frame, uint64_t threadgroup_base)
{
    const struct ir_function *const f = frame->function;
    uint64_t offset = 0;
    for (unsigned i = 0; i < f->arguments && !d->failed; i++) {
        const struct ir_type *const by_value = f->by_value ? f->by_value[i] : NULL;
        const struct ir_type *const type = by_value ? by_value : f->argument[i]->type;
        const uint64_t align = f->argument[i]->align > type->align ? f->argument[i]->align : type->align;
        offset = d->launch->argument_offset ? d->launch->argument_offset[i] : round_up(offset, align < 2 ? 2 : align);
        if (offset + type->bytes > d->launch->argument_bytes) {
            decode_refuse(d, "argument %u of %s lies behind the end of the argument block of %zu bytes", i, f->name,
                          d->launch->argument_bytes);
            return;
        }
        frame->argument[i] = decode_slots(d, by_value ? 1 : type_parts(type));
        if (d->failed)
            return;
        for (uint32_t part = 0; part < frame->argument[i].count && !by_value; part++) {
            const struct part at = type_part(type, part);
            uint64_t bits = argument_bits(d, &at, offset);
            if (at.type->kind == IR_POINTER && at.type->space == IR_THREADGROUP)
                bits += threadgroup_base;
            frame->argument[i].slot[part] = decode_bits(d, bits);
        }
        if (by_value)
            kernel_by_value(d, &frame->argument[i], by_value, offset);
        offset += type->bytes;
    }
}

static bool resolve_labels(struct decoder *d)
{
    for (size_t i = 0; i < d->program->steps; i++) {
        struct step *const step = &d->program->step[i];
        if (step->kind == STEP_JUMP || step->kind == STEP_BRANCH)
            step->target = d->label[step->target];
        if (step->kind == STEP_BRANCH || step->kind == STEP_SWITCH)
            step->other = d->label[step->other];
        for (uint32_t c = 0; step->kind == STEP_SWITCH && c < step->extras; c++)
            step->extra[2 * c + 1] = d->label[step->extra[2 * c + 1]];
    }
    return true;
}

bool program_decode(struct program *p, const struct ir_function *kernel, const struct ir_launch *launch, struct isa_error *error)
{
    struct decoder d = {.program = p, .launch = launch, .error = error};
    struct frame frame = {.function = kernel};
    p->slots = 1;
    decode_bits(&d, 0);
    if (!kernel->first)
        decode_refuse(&d, "%s is declared only", kernel->name);
    uint64_t base = 0;
    if (launch->threadgroup_bytes && !program_object(&p->threadgroup, launch->threadgroup_bytes, 16, &base))
        decode_refuse(&d, "out of memory");
    frame.argument = program_take(p, (kernel->arguments + 1) * sizeof *frame.argument);
    if (!frame.argument)
        decode_refuse(&d, "out of memory");
    if (!d.failed)
        kernel_arguments(&d, &frame, (uint64_t)REGION_THREADGROUP << REGION_SHIFT | base);
    if (!d.failed)
        decode_function(&d, &frame);
    if (!d.failed)
        resolve_labels(&d);
    free(d.label);
    free(d.global);
    return !d.failed;
}
