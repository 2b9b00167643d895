/* Steps, slots, labels and the parts of types while decoding. */
#include "isa/agx/compiler/ir_interpret_decode.h"
#include "isa/list_grow.h"

#include <stdarg.h>
#include <stdio.h>

/* Most scalars of one value. */
#define PARTS_MAX 65536u

void decode_refuse(struct decoder *d, const char *format, ...)
{
    char text[sizeof d->error->text];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!d->failed)
        interpret_fail(d->error, d->line, "%s", text);
    d->failed = true;
}

/* ---- types ---- */

uint32_t type_parts(const struct ir_type *type)
{
    uint64_t count = 0;
    switch (type->kind) {
    case IR_INT:
    case IR_FLOAT:
    case IR_POINTER: return 1;
    case IR_VECTOR:
    case IR_ARRAY: count = type->count ? type->count * type_parts(type->element) : 0; break;
    case IR_STRUCT:
        for (uint64_t i = 0; i < type->count; i++)
            count += type_parts(type->member[i]);
        break;
    default: return 0;
    }
    /* Too many for slots: decode_slots refuses them. */
    return type->count > PARTS_MAX || count > PARTS_MAX ? PARTS_MAX + 1 : (uint32_t)count;
}

struct part type_part(const struct ir_type *type, uint32_t index)
{
    struct part part = {type, 0};
    while (part.type->kind == IR_VECTOR || part.type->kind == IR_ARRAY || part.type->kind == IR_STRUCT) {
        const struct ir_type *const whole = part.type;
        if (whole->kind == IR_STRUCT) {
            uint64_t member = 0;
            while (member + 1 < whole->count && index >= type_parts(whole->member[member]))
                index -= type_parts(whole->member[member++]);
            part.offset += whole->member_offset[member];
            part.type = whole->member[member];
        } else {
            const uint32_t each = type_parts(whole->element);
            part.offset += each ? index / each * whole->element->bytes : 0;
            index = each ? index % each : 0;
            part.type = whole->element;
        }
    }
    return part;
}

/* ---- slots ---- */

struct slots decode_slots(struct decoder *d, uint32_t count)
{
    if (count > PARTS_MAX)
        decode_refuse(d, "a value of more than %u scalars is not supported", PARTS_MAX);
    struct slots slots = {d->failed ? NULL : program_take(d->program, (count + 1) * sizeof(uint32_t)), count};
    if (!slots.slot) {
        decode_refuse(d, "out of memory");
        slots = (struct slots){&d->spare_slot, 1};
    }
    return slots;
}

struct slots decode_new_slots(struct decoder *d, uint32_t count)
{
    const struct slots slots = decode_slots(d, count);
    for (uint32_t i = 0; i < slots.count && !d->failed; i++)
        slots.slot[i] = decode_new(d);
    return slots;
}

uint32_t slot_at(const struct slots *slots, uint32_t index)
{
    if (slots->count == 1)
        return slots->slot[0];
    return index < slots->count ? slots->slot[index] : CONSTANT_SLOT;
}

uint32_t decode_new(struct decoder *d)
{
    return d->program->slots++;
}

uint32_t decode_bits(struct decoder *d, uint64_t bits)
{
    uint32_t slot;
    if (!program_constant(d->program, bits, &slot))
        decode_refuse(d, "out of memory");
    return slot;
}

uint32_t decode_special(struct decoder *d, enum ir_builtin builtin, unsigned dimension)
{
    struct program *const p = d->program;
    for (size_t i = 0; i < p->specials; i++)
        if (p->special[i].builtin == builtin && p->special[i].dimension == dimension)
            return p->special[i].slot;
    void *const grown = list_grow(p->special, p->specials, &p->special_room, sizeof *p->special);
    if (!grown) {
        decode_refuse(d, "out of memory");
        return CONSTANT_SLOT;
    }
    p->special = grown;
    p->special[p->specials] = (struct special){builtin, dimension, decode_new(d)};
    return p->special[p->specials++].slot;
}

/* ---- steps ---- */

struct step *decode_step(struct decoder *d, enum step_kind kind)
{
    struct program *const p = d->program;
    struct step *step = &d->spare;
    if (p->steps >= STEPS_MAX) {
        decode_refuse(d, "the kernel with all that it calls is more than %u steps", STEPS_MAX);
    } else {
        void *const grown = list_grow(p->step, p->steps, &p->step_room, sizeof *p->step);
        if (grown) {
            p->step = grown;
            step = &p->step[p->steps++];
        } else {
            decode_refuse(d, "out of memory");
        }
    }
    *step = (struct step){.kind = (uint8_t)kind, .line = d->line, .a = CONSTANT_SLOT, .b = CONSTANT_SLOT, .c = CONSTANT_SLOT};
    /* What is copied or filled may lie anywhere; other accesses have the space of their pointer. */
    step->space = kind == STEP_COPY || kind == STEP_FILL ? IR_GENERIC : IR_PRIVATE;
    return step;
}

uint32_t decode_pure(struct decoder *d, pure_function *pure, unsigned bits, unsigned from, uint32_t a, uint32_t b, uint32_t c)
{
    struct step *const step = decode_step(d, STEP_PURE);
    step->pure = pure;
    step->bits = (uint8_t)bits;
    step->mask = mask_of(bits);
    step->from = (uint8_t)from;
    step->a = a;
    step->b = b;
    step->c = c;
    step->d = decode_new(d);
    return step->d;
}

uint32_t decode_label(struct decoder *d)
{
    void *const grown = list_grow(d->label, d->labels, &d->label_room, sizeof *d->label);
    if (!grown) {
        decode_refuse(d, "out of memory");
        return 0;
    }
    d->label = grown;
    d->label[d->labels] = 0;
    return (uint32_t)d->labels++;
}

void decode_place(struct decoder *d, uint32_t label)
{
    if (!d->failed)
        d->label[label] = (uint32_t)d->program->steps;
}

void decode_jump(struct decoder *d, uint32_t label)
{
    decode_step(d, STEP_JUMP)->target = label;
}

static void move(struct decoder *d, uint32_t to, uint32_t from)
{
    if (to == from)
        return;
    struct step *const step = decode_step(d, STEP_PURE);
    step->pure = pure_copy;
    step->d = to;
    step->a = from;
}

void decode_moves(struct decoder *d, const uint32_t *to, const uint32_t *from, uint32_t count)
{
    const struct slots between = decode_slots(d, count);
    for (uint32_t i = 0; i < count && !d->failed; i++) {
        between.slot[i] = from[i];
        /* A source that an earlier move changes is kept first. */
        for (uint32_t j = 0; j < i; j++)
            if (to[j] == from[i] && from[i] != from[j]) {
                between.slot[i] = decode_new(d);
                move(d, between.slot[i], from[i]);
                break;
            }
    }
    for (uint32_t i = 0; i < count && !d->failed; i++)
        move(d, to[i], between.slot[i]);
}
