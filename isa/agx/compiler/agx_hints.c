/* Hints for the cache of operands, within straight code: what is read again soon stays there, and what is read for the last time
 * needs no place in the register file. Values are thrown away only in programs without masks, where all lanes read last together
 * (agx-isa.md, hints: what happens to lanes that do not run is not known). */
#include "isa/agx/compiler/agx_lines.h"

#include <string.h>

enum { SOON = 8 };

/* Instructions whose operands are registers, uniforms and numbers; others have no hints. */
static bool has_hints(const struct agx_line *line)
{
    static const char *const names[] = {"iadd", "isub", "imadd", "imsub", "fadd",    "fmul",    "fmadd",   "and",   "or",
                                        "xor",  "not",  "xnor",  "bitop", "mov",     "bfi",     "bfeil",   "extr",  "asr",
                                        "rcp",  "exp2", "log2",  "rsqrt", "fcmpsel", "icmpsel", "convert", "floor", "ceil"};
    const size_t length = strcspn(line->format, " .%0123456789_");
    const size_t whole = strcspn(line->format, " ");
    if (line->kind != AGX_LINE_CODE || line->does != AGX_DO_PLAIN || strncmp(line->format, "mov_imm", 7) == 0)
        return false;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if ((strlen(names[i]) == length && strncmp(line->format, names[i], length) == 0) ||
            (strlen(names[i]) == whole && strncmp(line->format, names[i], whole) == 0))
            return true;
    return false;
}

static bool is_register(const struct agx_ref *ref)
{
    return (ref->kind == AGX_REF_REGISTER || ref->kind == AGX_REF_FIXED) && ref->count == 1;
}

static unsigned first_of(const struct agx_compiler *c, const struct agx_ref *ref)
{
    return ref->kind == AGX_REF_REGISTER ? c->reg[ref->index].place + ref->offset : ref->index;
}

static bool is_any_register(const struct agx_ref *ref)
{
    return ref->kind == AGX_REF_REGISTER || ref->kind == AGX_REF_FIXED;
}

static bool overlap(const struct agx_compiler *c, const struct agx_ref *a, const struct agx_ref *b)
{
    if (!is_any_register(a) || !is_any_register(b))
        return false;
    const unsigned x = first_of(c, a), y = first_of(c, b);
    return x < y + b->part / 16u * b->count && y < x + a->part / 16u * a->count;
}

static bool covers(const struct agx_compiler *c, const struct agx_ref *a, const struct agx_ref *b)
{
    const unsigned x = first_of(c, a), y = first_of(c, b);
    return is_any_register(a) && x <= y && y + b->part / 16u * b->count <= x + a->part / 16u * a->count;
}

static bool ends_straight_code(const struct agx_line *line)
{
    return line->kind != AGX_LINE_CODE || strstr(line->format, "r0l");
}

static bool reads(const struct agx_compiler *c, const struct agx_line *line, const struct agx_ref *ref)
{
    for (unsigned i = 0; i < line->reads; i++)
        if (overlap(c, &line->read[i], ref))
            return true;
    return false;
}

/* Whether the register is read within the next instructions, by one that has hints. */
static bool is_read_soon(const struct agx_compiler *c, unsigned at, const struct agx_ref *ref)
{
    for (unsigned i = at + 1; i < c->lines && i <= at + SOON && c->line[i].kind == AGX_LINE_CODE; i++) {
        if (reads(c, &c->line[i], ref))
            return has_hints(&c->line[i]);
        if (overlap(c, &c->line[i].write, ref))
            return false;
    }
    return false;
}

static bool was_written_soon(const struct agx_compiler *c, unsigned at, const struct agx_ref *ref)
{
    for (unsigned i = at; i-- > 0 && i + SOON >= at && c->line[i].kind == AGX_LINE_CODE;)
        if (overlap(c, &c->line[i].write, ref))
            return has_hints(&c->line[i]) && covers(c, &c->line[i].write, ref);
    return false;
}

/* Whether nothing reads it any more. */
static bool is_dead(const struct agx_compiler *c, unsigned at, const struct agx_ref *ref)
{
    if (c->has_masks)
        return false;
    if (covers(c, &c->line[at].write, ref))
        return true;
    for (unsigned i = at + 1; i < c->lines && !ends_straight_code(&c->line[i]); i++) {
        if (reads(c, &c->line[i], ref))
            return false;
        if (covers(c, &c->line[i].write, ref))
            return true;
    }
    return true; /* the program ends */
}

void agx_hints(struct agx_compiler *c)
{
    for (unsigned i = 0; i < c->lines && !c->failed; i++) {
        struct agx_line *const line = &c->line[i];
        if (!has_hints(line))
            continue;
        if (is_register(&line->write) && is_read_soon(c, i, &line->write))
            line->write.hint = AGX_REF_CACHE;
        for (unsigned k = 0; k < line->reads; k++) {
            struct agx_ref *const ref = &line->read[k];
            if (is_register(ref) && (was_written_soon(c, i, ref) || is_read_soon(c, i, ref)))
                ref->hint = is_dead(c, i, ref) ? AGX_REF_DISCARD : AGX_REF_CACHE;
        }
    }
}
