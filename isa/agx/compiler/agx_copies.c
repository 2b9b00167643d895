/* Copies that happen all at once, written one after another. */
#include "isa/agx/compiler/agx_lines.h"

enum { MOVES_MAX = 256 };

/* One move between registers of 16 or 32 bits. */
struct move {
    struct agx_ref from;
    unsigned to, source; /* halves; source is meant when `from` is a register */
    uint8_t part;
    bool done;
};

static unsigned place_of(const struct agx_compiler *c, const struct agx_ref *ref)
{
    return c->reg[ref->index].place + ref->offset;
}

static struct agx_ref fixed(unsigned half, unsigned part)
{
    return (struct agx_ref){.kind = AGX_REF_FIXED, .part = (uint8_t)part, .count = 1, .index = half};
}

static bool touches(const struct move *reader, const struct move *writer)
{
    return reader->from.kind == AGX_REF_REGISTER && reader->source < writer->to + writer->part / 16 &&
           writer->to < reader->source + reader->part / 16;
}

static void line_of(struct agx_compiler *c, const struct agx_step *op, const char *format, struct agx_ref to, struct agx_ref a,
                    struct agx_ref b)
{
    struct agx_line *const line = agx_add_line(c, op);
    line->format = format;
    line->write = to;
    line->read[0] = a;
    line->read[1] = b;
    line->reads = 2;
}

static void write_move(struct agx_compiler *c, const struct agx_step *op, const struct move *m)
{
    struct agx_ref from = m->from;
    if (from.kind == AGX_REF_REGISTER)
        from = fixed(m->source, m->part);
    if (from.kind == AGX_REF_CONSTANT)
        from = agx_number(c->constant[from.index].bits, m->part);
    line_of(c, op, from.kind == AGX_REF_NUMBER ? "mov_imm %d, %0" : "mov %d, %0", fixed(m->to, m->part), from, from);
}

/* What is left goes in circles: exchanging two registers by three exclusive ors shortens a circle by one. */
static void write_exchange(struct agx_compiler *c, const struct agx_step *op, struct move *moves, unsigned count, struct move *m)
{
    const struct agx_ref a = fixed(m->to, m->part), b = fixed(m->source, m->part);
    for (unsigned i = 0; i < 3; i++)
        line_of(c, op, "xor %d, %0, %1", i == 1 ? b : a, a, b);
    m->done = true;
    for (unsigned i = 0; i < count; i++) {
        struct move *const other = &moves[i];
        if (other->done || other->from.kind != AGX_REF_REGISTER)
            continue;
        const unsigned halves = m->part / 16;
        if (other->source >= m->to && other->source < m->to + halves)
            other->source = other->source - m->to + m->source;
        else if (other->source >= m->source && other->source < m->source + halves)
            other->source = other->source - m->source + m->to;
        other->done = other->source == other->to;
    }
}

static unsigned collect(struct agx_compiler *c, const struct agx_step *op, struct move *moves)
{
    unsigned count = 0;
    for (unsigned i = 0; i < op->copies; i++) {
        const struct agx_copy *const copy = &op->copy[i];
        if (!c->reg[copy->to.index].spans)
            continue; /* nobody reads it */
        for (unsigned k = 0; k < copy->to.count; k++) {
            struct move m = {.part = copy->to.part, .from = agx_part(copy->from, k, copy->from.part)};
            m.to = place_of(c, &copy->to) + k * copy->to.part / 16;
            if (m.from.kind == AGX_REF_REGISTER)
                m.source = place_of(c, &m.from);
            if (m.from.kind == AGX_REF_REGISTER && m.source == m.to)
                continue;
            if (count == MOVES_MAX) {
                agx_refuse(c, NULL, "more than %d values at one place where control flow meets", MOVES_MAX);
                return count;
            }
            moves[count++] = m;
        }
    }
    return count;
}

bool agx_copies_nothing(struct agx_compiler *c, const struct agx_step *op)
{
    struct move moves[MOVES_MAX];
    return collect(c, op, moves) == 0;
}

void agx_write_copies(struct agx_compiler *c, const struct agx_step *op)
{
    struct move moves[MOVES_MAX];
    const unsigned count = collect(c, op, moves);
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < count; i++) {
            bool wanted = false;
            for (unsigned k = 0; k < count && !moves[i].done; k++)
                wanted = wanted || (k != i && !moves[k].done && touches(&moves[k], &moves[i]));
            if (moves[i].done || wanted)
                continue;
            write_move(c, op, &moves[i]);
            moves[i].done = changed = true;
        }
        for (unsigned i = 0; i < count && !changed; i++)
            if (!moves[i].done) {
                write_exchange(c, op, moves, count, &moves[i]);
                changed = true;
            }
    }
}
