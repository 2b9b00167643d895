/* Operands: constants, arguments, variables of the module, and what earlier instructions made. */
#include "isa/agx/compiler/ir_interpret_decode.h"
#include "isa/list_grow.h"

#include <stdlib.h>
#include <string.h>

bool decode_number(const struct ir_value *v, uint64_t *bits)
{
    if (v->op != IR_CONSTANT || v->type->kind != IR_INT)
        return false;
    *bits = v->bits & mask_of(v->type->bits);
    return true;
}

static unsigned scalar_bits(const struct ir_type *type)
{
    return type->kind == IR_POINTER ? 64 : type->bits;
}

uint32_t decode_variable(struct decoder *d, uint64_t bytes, uint64_t align)
{
    uint64_t offset = 0;
    struct objects *const o = &d->program->private;
    if (bytes > PRIVATE_BYTES_MAX || o->bytes > PRIVATE_BYTES_MAX)
        decode_refuse(d, "variables of a thread of more than %llu bytes are not supported",
                      (unsigned long long)PRIVATE_BYTES_MAX);
    else if (!program_object(o, bytes, align, &offset))
        decode_refuse(d, "out of memory");
    return decode_bits(d, (uint64_t)REGION_PRIVATE << REGION_SHIFT | offset);
}

/* ---- variables of the module ---- */

static void write_bits(uint8_t *to, uint64_t bits, const struct ir_type *type)
{
    const uint64_t bytes = type->kind == IR_POINTER ? 8 : type->bytes;
    memcpy(to, &bits, bytes < 8 ? bytes : 8);
}

static void write_initial(struct decoder *d, uint64_t at, const struct ir_value *v);

static void write_members(struct decoder *d, uint64_t at, const struct ir_value *v)
{
    const struct ir_type *const type = v->type;
    for (unsigned i = 0; i < v->operands && !d->failed; i++)
        write_initial(d, at + (type->kind == IR_STRUCT ? type->member_offset[i] : i * type->element->bytes), v->operand[i]);
}

/* The region's bytes may move while a variable that is pointed to finds its place, so they are found anew for each scalar. */
static void write_initial(struct decoder *d, uint64_t at, const struct ir_value *v)
{
    const bool scalar = v->type->kind == IR_INT || v->type->kind == IR_FLOAT || v->type->kind == IR_POINTER;
    if (v->op == IR_AGGREGATE) {
        write_members(d, at, v);
    } else if (v->op == IR_CONSTANT && !scalar) {
        memset(d->program->module_bytes + at, 0, v->type->bytes);
    } else if (v->op == IR_CONSTANT) {
        write_bits(d->program->module_bytes + at, v->bits, v->type);
    } else if (v->op == IR_GLOBAL) {
        const struct frame none = {.function = NULL};
        const uint32_t slot = decode_scalar(d, &none, v);
        if (!d->failed)
            write_bits(d->program->module_bytes + at, d->program->constant[slot & ~CONSTANT_SLOT][0], v->type);
    } else if (v->op != IR_UNDEFINED) {
        decode_refuse(d, "a variable of the module with an initial value by %s is not supported", ir_op_name(v->op));
    }
}

static uint64_t module_variable(struct decoder *d, const struct ir_value *v)
{
    struct program *const p = d->program;
    const uint64_t before = p->module.bytes;
    uint64_t offset;
    const bool placed =
        v->held->bytes < UINT32_MAX && program_object(&p->module, v->held->bytes, v->align ? v->align : v->held->align, &offset);
    uint8_t *const grown = placed ? realloc(p->module_bytes, p->module.bytes + 8) : NULL;
    if (!grown) {
        decode_refuse(d, "out of memory for a variable of the module");
        return 0;
    }
    p->module_bytes = grown;
    memset(grown + before, IR_POISON_BYTE, p->module.bytes + 8 - before);
    return (uint64_t)REGION_MODULE << REGION_SHIFT | offset;
}

static uint32_t global_address(struct decoder *d, const struct ir_value *v)
{
    for (size_t i = 0; i < d->globals; i++)
        if (d->global[i].global == v)
            return d->global[i].slot;
    void *const grown = list_grow(d->global, d->globals, &d->global_room, sizeof *d->global);
    if (!grown || !v->held) {
        decode_refuse(d, grown ? "the variable %s has no type" : "out of memory for %s", v->name ? v->name : "of the module");
        return CONSTANT_SLOT;
    }
    d->global = grown;
    const bool threadgroup = v->type->space == IR_THREADGROUP;
    uint64_t address = 0;
    if (!threadgroup) {
        address = module_variable(d, v);
    } else {
        if (!program_object(&d->program->threadgroup, v->held->bytes, v->align ? v->align : v->held->align, &address))
            decode_refuse(d, "out of memory");
        address |= (uint64_t)REGION_THREADGROUP << REGION_SHIFT;
    }
    const uint32_t slot = decode_bits(d, address);
    d->global[d->globals++] = (struct global_slot){v, slot};
    if (v->initial && !threadgroup && !d->failed)
        write_initial(d, address & mask_of(REGION_SHIFT), v->initial);
    return slot;
}

/* ---- operands ---- */

static void aggregate_slots(struct decoder *d, const struct frame *frame, const struct ir_value *v, struct slots *out)
{
    uint32_t at = 0;
    for (unsigned i = 0; i < v->operands && !d->failed; i++) {
        const struct slots member = decode_operand(d, frame, v->operand[i]);
        for (uint32_t part = 0; part < member.count && at < out->count; part++)
            out->slot[at++] = member.slot[part];
    }
}

static struct slots constant_slots(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    struct slots out = decode_slots(d, type_parts(v->type));
    if (d->failed)
        return out;
    if (v->op == IR_AGGREGATE) {
        aggregate_slots(d, frame, v, &out);
        return out;
    }
    for (uint32_t i = 0; i < out.count; i++) {
        const uint64_t mask = mask_of(scalar_bits(type_part(v->type, i).type));
        out.slot[i] = decode_bits(d, (v->op == IR_UNDEFINED ? POISON : v->bits) & mask);
    }
    return out;
}

struct slots decode_operand(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    switch (v->op) {
    case IR_CONSTANT:
    case IR_UNDEFINED:
    case IR_AGGREGATE: return constant_slots(d, frame, v);
    case IR_ARGUMENT: return frame->argument[v->bits];
    case IR_GLOBAL: {
        const struct slots out = decode_slots(d, 1);
        out.slot[0] = global_address(d, v);
        return out;
    }
    case IR_FUNCTION: decode_refuse(d, "the address of a function is not supported"); break;
    default: break;
    }
    /* A constant expression stands in no block: it is computed where it is used. */
    if (!v->home && !d->failed)
        return decode_instruction(d, frame, v);
    if (!d->failed && (!frame->function || !frame->value[v->id].slot))
        decode_refuse(d, "a value is used where it is not defined");
    if (d->failed)
        return (struct slots){&d->spare_slot, 1};
    return frame->value[v->id];
}

uint32_t decode_scalar(struct decoder *d, const struct frame *frame, const struct ir_value *v)
{
    const struct slots slots = decode_operand(d, frame, v);
    return slot_at(&slots, 0);
}
