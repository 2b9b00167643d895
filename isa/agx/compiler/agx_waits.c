/* Waits: in front of the first instruction that reads or writes what a load has not brought yet, and of barriers while stores
 * are on the way. What is on the way is followed along jumps, over the whole program. */
#include "isa/agx/compiler/agx_lines.h"

#include <string.h>

enum { SLOTS = 2, SET_WORDS = AGX_HALVES / 64, MOST_PENDING = 8 };

struct pending {
    uint64_t half[SLOTS][SET_WORDS];
    uint8_t count[SLOTS]; /* operations on the way, at most */
    bool stores[SLOTS];   /* some of them may be stores */
};

static void range_of(const struct agx_compiler *c, const struct agx_ref *ref, unsigned *first, unsigned *halves)
{
    *first = *halves = 0;
    if (ref->kind == AGX_REF_REGISTER)
        *first = c->reg[ref->index].place + ref->offset;
    else if (ref->kind == AGX_REF_FIXED)
        *first = ref->index;
    else
        return;
    *halves = ref->part / 16u * ref->count;
}

static bool is_pending(const struct pending *p, unsigned slot, unsigned first, unsigned halves)
{
    for (unsigned h = first; h < first + halves && h < AGX_HALVES; h++)
        if (p->half[slot][h / 64] >> h % 64 & 1)
            return true;
    return false;
}

static void wait_for(struct pending *p, struct agx_line *line, unsigned slot)
{
    line->wait |= (uint8_t)(1u << slot);
    memset(p->half[slot], 0, sizeof p->half[slot]);
    p->count[slot] = 0;
    p->stores[slot] = false;
}

static void pass_line(struct agx_compiler *c, struct pending *p, struct agx_line *line)
{
    unsigned first, halves;
    line->wait = 0;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        bool needed = line->does == AGX_DO_BARRIER && p->stores[slot];
        for (unsigned i = 0; i < line->reads; i++) {
            range_of(c, &line->read[i], &first, &halves);
            needed = needed || is_pending(p, slot, first, halves);
        }
        range_of(c, &line->write, &first, &halves);
        needed = needed || is_pending(p, slot, first, halves);
        needed = needed || ((line->does == AGX_DO_LOAD || line->does == AGX_DO_STORE) && line->slot == slot &&
                            p->count[slot] >= MOST_PENDING);
        if (needed)
            wait_for(p, line, slot);
    }
    if (line->does != AGX_DO_LOAD && line->does != AGX_DO_STORE)
        return;
    p->count[line->slot]++;
    p->stores[line->slot] = p->stores[line->slot] || line->does == AGX_DO_STORE;
    range_of(c, &line->write, &first, &halves);
    for (unsigned h = first; h < first + halves && h < AGX_HALVES && line->does == AGX_DO_LOAD; h++)
        p->half[line->slot][h / 64] |= UINT64_C(1) << h % 64;
}

static bool merge(struct pending *to, const struct pending *from)
{
    bool changed = false;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        for (unsigned w = 0; w < SET_WORDS; w++) {
            changed = changed || (from->half[slot][w] & ~to->half[slot][w]);
            to->half[slot][w] |= from->half[slot][w];
        }
        changed = changed || (from->stores[slot] && !to->stores[slot]);
        to->stores[slot] = to->stores[slot] || from->stores[slot];
        if (from->count[slot] > to->count[slot]) {
            to->count[slot] = from->count[slot];
            changed = true;
        }
    }
    return changed;
}

void agx_waits(struct agx_compiler *c)
{
    struct pending *const at_label = agx_alloc(c, (c->labels + 1) * sizeof *at_label);
    for (bool changed = true; changed && !c->failed;) {
        struct pending now = {.count = {0}};
        changed = false;
        for (unsigned i = 0; i < c->lines; i++) {
            struct agx_line *const line = &c->line[i];
            if (line->kind == AGX_LINE_LABEL) {
                merge(&now, &at_label[line->label]);
                at_label[line->label] = now;
            } else if (line->kind == AGX_LINE_JUMP) {
                changed = merge(&at_label[line->label], &now) || changed;
            } else {
                pass_line(c, &now, line);
            }
        }
    }
}
