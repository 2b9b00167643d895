/* Memory, operands and instructions of the back end. */
#include "isa/agx/compiler/agx_machine.h"
#include "isa/list_grow.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 16, CONSTANTS_MAX = 160 };
_Static_assert(AGX_RESULTS_END + 2 * CONSTANTS_MAX <= AGX_UNIFORM_HALVES, "constants have a place behind the results");

struct chunk {
    struct chunk *next;
    size_t used, room;
    _Alignas(16) unsigned char bytes[];
};
struct agx_arena {
    struct chunk *first;
    _Alignas(16) unsigned char reserve[8192]; /* for what is asked after memory ran out */
};

bool agx_arena_start(struct agx_compiler *c)
{
    c->arena = calloc(1, sizeof *c->arena);
    return c->arena != NULL;
}

void agx_arena_free(struct agx_compiler *c)
{
    for (struct chunk *chunk = c->arena ? c->arena->first : NULL, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(c->arena);
    c->arena = NULL;
}

void *agx_alloc(struct agx_compiler *c, size_t bytes)
{
    struct chunk *chunk = c->arena->first;
    bytes = (bytes + 15) & ~(size_t)15;
    if (!chunk || chunk->room - chunk->used < bytes) {
        const size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        chunk = calloc(1, sizeof *chunk + room);
        if (!chunk) {
            agx_refuse(c, NULL, "out of memory");
            memset(c->arena->reserve, 0, sizeof c->arena->reserve);
            return c->arena->reserve;
        }
        chunk->room = room;
        chunk->next = c->arena->first;
        c->arena->first = chunk;
    }
    void *const at = chunk->bytes + chunk->used;
    chunk->used += bytes;
    return at;
}

const char *agx_text(struct agx_compiler *c, const char *format, ...)
{
    char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *const copy = agx_alloc(c, strlen(text) + 1);
    memcpy(copy, text, strlen(text) + 1);
    return copy;
}

bool agx_refuse(struct agx_compiler *c, const struct ir_value *v, const char *format, ...)
{
    va_list args;
    if (c->failed)
        return false;
    c->failed = true;
    *c->error = (struct isa_error){.line = v ? v->line : 0};
    ir_error_file(v, c->f->module, c->error);
    va_start(args, format);
    vsnprintf(c->error->text, sizeof c->error->text, format, args);
    va_end(args);
    return false;
}

unsigned agx_bits(const struct ir_type *type)
{
    if (type->kind == IR_VECTOR)
        return agx_bits(type->element);
    if (type->kind == IR_POINTER)
        return type->space == IR_THREADGROUP || type->space == IR_PRIVATE ? 32 : 64;
    return type->bits <= 16 ? 16 : type->bits;
}

unsigned agx_lanes(const struct ir_type *type)
{
    return type->kind == IR_VECTOR ? (unsigned)type->count : 1;
}

/* ---- operands ---- */

struct agx_ref agx_number(uint32_t value, unsigned part)
{
    return (struct agx_ref){.kind = AGX_REF_NUMBER, .part = (uint8_t)part, .count = 1, .index = value};
}

/* The pool is searched from its beginning: kernels have a few dozen constants. */
struct agx_ref agx_pooled(struct agx_compiler *c, uint32_t bits, unsigned part)
{
    unsigned i = 0;
    while (i < c->constants && (c->constant[i].bits != bits || c->constant[i].part != part))
        i++;
    if (i == c->constants) {
        if (c->constants == CONSTANTS_MAX) { /* the uniforms are for arguments, too */
            const struct agx_ref to = agx_new(c, part, 1);
            AGX_EMIT(c, "mov_imm %d, %0", to, agx_number(bits, part));
            return to;
        }
        if (!c->constant)
            c->constant = agx_alloc(c, CONSTANTS_MAX * sizeof *c->constant);
        c->constant[c->constants++] = (struct agx_constant){bits, (uint8_t)part};
    }
    return (struct agx_ref){.kind = AGX_REF_CONSTANT, .part = (uint8_t)part, .count = 1, .index = i};
}

struct agx_ref agx_constant(struct agx_compiler *c, uint32_t bits, unsigned part)
{
    if (part == 16)
        bits &= 0xffff;
    return bits < 256 ? agx_number(bits, part) : agx_pooled(c, bits, part);
}

struct agx_ref agx_new(struct agx_compiler *c, unsigned part, unsigned count)
{
    if (c->regs == c->reg_room) {
        const uint32_t room = 2 * c->reg_room + 256;
        struct agx_register *const grown = agx_alloc(c, room * sizeof *grown);
        if (c->failed)
            return agx_number(0, part);
        if (c->regs)
            memcpy(grown, c->reg, c->regs * sizeof *grown);
        c->reg = grown;
        c->reg_room = room;
    }
    c->reg[c->regs] = (struct agx_register){.halves = (uint16_t)(part / 16 * count), .even = part != 16};
    const uint8_t words = part == 64 ? 2 : 1;
    return (struct agx_ref){
        .kind = AGX_REF_REGISTER, .part = part == 16 ? 16 : 32, .count = (uint8_t)(count * words), .index = c->regs++};
}

struct agx_ref agx_part(struct agx_ref ref, unsigned first, unsigned part)
{
    const unsigned halves = first * part / 16;
    ref.count = 1;
    if (ref.kind == AGX_REF_REGISTER)
        ref.offset = (uint16_t)(ref.offset + halves);
    else if (ref.kind == AGX_REF_UNIFORM)
        ref.index += halves;
    else if (ref.kind == AGX_REF_NUMBER)
        ref.index = halves > 1 ? 0 : ref.index >> 16 * halves & (part == 16 ? 0xffff : 0xffffffff);
    ref.part = (uint8_t)part;
    return ref;
}

/* ---- instructions ---- */

static struct agx_step *append(struct agx_compiler *c, struct agx_step *op)
{
    if (c->what) {
        op->line = c->what->line;
        op->file = c->what->file;
    }
    if (c->pending.last)
        c->pending.last->next = op;
    else
        c->pending.first = op;
    c->pending.last = op;
    return op;
}

struct agx_step *agx_emit_op(struct agx_compiler *c, const char *format, struct agx_ref to, const struct agx_ref *from,
                             unsigned sources)
{
    struct agx_step *const op = agx_alloc(c, sizeof *op);
    op->format = format;
    op->to = to;
    op->sources = (uint8_t)sources;
    memcpy(op->from, from, sources * sizeof *from);
    return append(c, op);
}

void agx_emit_part(struct agx_compiler *c, const char *format, struct agx_ref to, unsigned word, struct agx_ref other)
{
    const struct agx_ref part = agx_part(to, word, 32);
    AGX_EMIT(c, format, part, part, other)->changes_part = true;
}

struct agx_step *agx_emit_copies(struct agx_compiler *c, unsigned copies)
{
    struct agx_step *const op = agx_alloc(c, sizeof *op);
    op->kind = AGX_DO_COPIES;
    op->copies = copies;
    op->copy = agx_alloc(c, (copies + 1) * sizeof *op->copy);
    return append(c, op);
}

void agx_emit_copy(struct agx_compiler *c, struct agx_ref to, struct agx_ref from)
{
    struct agx_step *const op = agx_emit_copies(c, 1);
    op->copy[0] = (struct agx_copy){to, from};
}
