/* The window of a DRAM channel: as many read commands as may overtake one another. For dram_channel.c only; inlined there,
 * because every read comes through here. */
#ifndef ORCHARD_UNITS_MEM_DRAM_WINDOW_H
#define ORCHARD_UNITS_MEM_DRAM_WINDOW_H

#include "units/mem/dram_channel.h"

#include <string.h>

/* Words that are a whole window's length behind are left. They hold nothing that later reads could wait for. */
static inline void move_window(struct dram_window *w, int64_t word)
{
    if (word - w->first >= 2 * DRAM_SLOT_WORDS) {
        memset(w->read, 0, sizeof w->read);
        w->first = word;
        w->count = 0;
    }
    for (; word - w->first >= DRAM_SLOT_WORDS; w->first++) {
        uint64_t *const left = &w->read[w->first & (DRAM_SLOT_WORDS - 1)];
        w->count -= __builtin_popcountll(*left);
        *left = 0;
    }
}

/* Bursts that are read enter the window: those of a word of the data bus, `count` of them. */
static inline void enter_window(struct dram_channel *c, int64_t word, uint64_t bursts, int count)
{
    struct dram_window *w = &c->window;
    if (word < w->first)
        return;
    if (word - w->first >= DRAM_SLOT_WORDS)
        move_window(w, word);
    uint64_t *const into = &w->read[word & (DRAM_SLOT_WORDS - 1)];
    w->count += count;
    for (uint64_t again = bursts & *into; again; again &= again - 1)
        w->count--;
    *into |= bursts;
}

static inline int bits_in(uint64_t word)
{
    int count = 0;
    for (; word; word &= word - 1)
        count++;
    return count;
}

/* A run of bursts from a slot on; bit 0 is the burst in that slot. */
static inline void enter_run(struct dram_channel *c, int64_t slot, uint64_t run, int bursts)
{
    const int shift = (int)(slot & 63);
    const uint64_t beyond = run >> 1 >> (63 - shift);
    const int others = bits_in(beyond);
    enter_window(c, slot >> 6, run << shift, bursts - others);
    if (others)
        enter_window(c, (slot >> 6) + 1, beyond, others);
}

/* As many reads with the earliest commands leave the window as have entered it. */
static inline void settle_window(struct dram_channel *c)
{
    struct dram_window *w = &c->window;
    int excess = w->count - (int)c->policy.window;
    if (excess < 0) {
        w->earliest = DRAM_LONG_AGO;
        return;
    }
    uint64_t *word = &w->read[w->first & (DRAM_SLOT_WORDS - 1)], bits = *word;
    w->count -= excess;
    for (;; excess--) {
        while (!bits) {
            *word = 0;
            w->first++;
            word = &w->read[w->first & (DRAM_SLOT_WORDS - 1)];
            bits = *word;
        }
        if (!excess)
            break;
        bits &= bits - 1;
    }
    *word = bits;
    w->earliest = (w->first * 64 + __builtin_ctzll(bits)) << c->burst_shift;
}

#endif
