/* Numbers that a register holds already are not written again. Between labels, and as long as lanes only leave, whoever runs now
 * has run before. */
#include "isa/agx/compiler/agx_lines.h"

#include <string.h>

struct known {
    bool is_known[AGX_HALVES];
    uint16_t bits[AGX_HALVES];
};

static bool lets_lanes_in(const struct agx_line *line)
{
    return line->kind == AGX_LINE_LABEL || strncmp(line->format, "pop_exec", 8) == 0 || strncmp(line->format, "else_", 5) == 0;
}

static unsigned first_half(const struct agx_compiler *c, const struct agx_ref *ref)
{
    return ref->kind == AGX_REF_REGISTER ? c->reg[ref->index].place + ref->offset : ref->index;
}

static bool is_written(const struct agx_ref *ref)
{
    return ref->kind == AGX_REF_REGISTER || ref->kind == AGX_REF_FIXED;
}

/* Whether the line changes nothing; otherwise notes what it writes. */
static bool repeats(const struct agx_compiler *c, struct known *k, const struct agx_line *line)
{
    if (!is_written(&line->write))
        return false;
    const unsigned first = first_half(c, &line->write), halves = line->write.part / 16u * line->write.count;
    const bool sets = strcmp(line->format, "mov_imm %d, %0") == 0;
    bool same = sets;
    for (unsigned i = 0; i < halves && first + i < AGX_HALVES; i++) {
        const uint16_t bits = (uint16_t)(line->read[0].index >> 16 * (i & 1));
        same = same && k->is_known[first + i] && k->bits[first + i] == bits;
        k->is_known[first + i] = sets;
        k->bits[first + i] = bits;
    }
    return same;
}

void agx_known(struct agx_compiler *c)
{
    struct known *const k = agx_alloc(c, sizeof *k);
    unsigned kept = 0;
    if (c->failed)
        return;
    for (unsigned i = 0; i < c->lines; i++) {
        if (lets_lanes_in(&c->line[i]))
            memset(k, 0, sizeof *k);
        if (!repeats(c, k, &c->line[i]))
            c->line[kept++] = c->line[i];
    }
    c->lines = kept;
}
