/* Which slots of a repeating resource are taken, over a window that moves on with time: the data bus of a DRAM channel (a slot is
 * one burst), its activates (tRRD), its command bus (one clock). Requests need not come in order of time: a late one takes the
 * first slot that is still free. Slots that have left the window count as taken.
 */
#ifndef ORCHARD_UNITS_MEM_DRAM_SLOTS_H
#define ORCHARD_UNITS_MEM_DRAM_SLOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define DRAM_SLOT_WORDS 64 /* of 64 slots: 10 us of LPDDR5-6400's bursts */
#define DRAM_SLOT_AHEAD 8  /* words that lie ahead when the window has moved */

struct dram_slots {
    int64_t first; /* the first word of the window */
    uint64_t taken[DRAM_SLOT_WORDS];
};

static inline void dram_slots_clear(struct dram_slots *slots)
{
    memset(slots, 0, sizeof *slots);
}

static inline bool dram_slots_inside(const struct dram_slots *slots, int64_t word, int words)
{
    return (uint64_t)(word - slots->first) <= (uint64_t)(DRAM_SLOT_WORDS - words);
}

static inline uint64_t dram_slots_word(const struct dram_slots *slots, int64_t word)
{
    if (dram_slots_inside(slots, word, 1))
        return slots->taken[word & (DRAM_SLOT_WORDS - 1)];
    return word < slots->first ? ~UINT64_C(0) : 0;
}

static inline bool dram_slots_free(const struct dram_slots *slots, int64_t slot)
{
    return !(dram_slots_word(slots, slot >> 6) >> (slot & 63) & 1);
}

/* Up to 64 slots from `first` on as bits: the first one is bit 0. */
static inline uint64_t dram_slots_bits(const struct dram_slots *slots, int64_t first, int count)
{
    const int64_t word = first >> 6;
    const int shift = (int)(first & 63);
    uint64_t low, high;
    if (dram_slots_inside(slots, word, 2)) {
        low = slots->taken[word & (DRAM_SLOT_WORDS - 1)];
        high = slots->taken[(word + 1) & (DRAM_SLOT_WORDS - 1)];
    } else {
        low = dram_slots_word(slots, word);
        high = dram_slots_word(slots, word + 1);
    }
    return (low >> shift | high << 1 << (63 - shift)) & ~UINT64_C(0) >> (64 - count);
}

/* The first free slot from `from` on. */
static inline int64_t dram_slots_find(const struct dram_slots *slots, int64_t from)
{
    int64_t word = from >> 6;
    uint64_t open = ~dram_slots_word(slots, word) & ~UINT64_C(0) << (from & 63);
    while (!open)
        open = ~dram_slots_word(slots, ++word);
    return word * 64 + __builtin_ctzll(open);
}

/* Moves the window on, so that a word lies in it. */
static inline void dram_slots_move(struct dram_slots *slots, int64_t word)
{
    const int64_t first = word - (DRAM_SLOT_WORDS - DRAM_SLOT_AHEAD);
    if (first - slots->first >= DRAM_SLOT_WORDS)
        memset(slots->taken, 0, sizeof slots->taken);
    else
        for (int64_t w = slots->first; w < first; w++)
            slots->taken[w & (DRAM_SLOT_WORDS - 1)] = 0;
    slots->first = first;
}

static inline void dram_slots_take_bits(struct dram_slots *slots, int64_t word, uint64_t bits)
{
    if (word - slots->first >= DRAM_SLOT_WORDS)
        dram_slots_move(slots, word);
    if (word >= slots->first)
        slots->taken[word & (DRAM_SLOT_WORDS - 1)] |= bits;
}

static inline void dram_slots_take(struct dram_slots *slots, int64_t slot)
{
    dram_slots_take_bits(slots, slot >> 6, UINT64_C(1) << (slot & 63));
}

/* Takes the slots from `first` on up to `end`, exclusively. */
static inline void dram_slots_take_all(struct dram_slots *slots, int64_t first, int64_t end)
{
    while (first < end) {
        const int64_t word = first >> 6, next = (word + 1) * 64 < end ? (word + 1) * 64 : end;
        const uint64_t bits = ~UINT64_C(0) >> (64 - (next - first)) << (first & 63);
        dram_slots_take_bits(slots, word, bits);
        first = next;
    }
}

/* Takes slots from `first` on; bit 0 is the first one. */
static inline void dram_slots_take_run(struct dram_slots *slots, int64_t first, uint64_t bits)
{
    const int64_t word = first >> 6;
    const int shift = (int)(first & 63);
    dram_slots_take_bits(slots, word, bits << shift);
    if (bits >> 1 >> (63 - shift))
        dram_slots_take_bits(slots, word + 1, bits >> 1 >> (63 - shift));
}

#endif
