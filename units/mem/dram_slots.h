/* Which slots of a repeating resource are taken, over a window that moves on with time: the data bus of a DRAM channel (a slot is
 * one burst), its activates (tRRD), its command bus (one clock). Requests need not come in order of time: a late one takes the
 * first slot that is still free. Slots that have left the window count as taken.
 */
#ifndef ORCHARD_UNITS_MEM_DRAM_SLOTS_H
#define ORCHARD_UNITS_MEM_DRAM_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define DRAM_SLOT_WORDS 64 /* of 64 slots: 10 us of bursts, 5 us of commands of LPDDR5-6400 */

struct dram_slots {
    struct {
        int64_t number; /* which word of all time is here; -1 = none yet */
        uint64_t taken;
    } word[DRAM_SLOT_WORDS];
};

static inline void dram_slots_clear(struct dram_slots *slots)
{
    for (int i = 0; i < DRAM_SLOT_WORDS; i++)
        slots->word[i].number = -1;
}

static inline uint64_t dram_slots_word(const struct dram_slots *slots, int64_t word)
{
    const int place = (int)(word & (DRAM_SLOT_WORDS - 1));
    if (slots->word[place].number == word)
        return slots->word[place].taken;
    return slots->word[place].number > word ? ~UINT64_C(0) : 0;
}

static inline bool dram_slots_free(const struct dram_slots *slots, int64_t slot)
{
    return !(dram_slots_word(slots, slot >> 6) >> (slot & 63) & 1);
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

static inline void dram_slots_take_bits(struct dram_slots *slots, int64_t word, uint64_t bits)
{
    const int place = (int)(word & (DRAM_SLOT_WORDS - 1));
    if (slots->word[place].number < word) {
        slots->word[place].number = word;
        slots->word[place].taken = 0;
    }
    if (slots->word[place].number == word)
        slots->word[place].taken |= bits;
}

static inline void dram_slots_take(struct dram_slots *slots, int64_t slot)
{
    dram_slots_take_bits(slots, slot >> 6, UINT64_C(1) << (slot & 63));
}

#endif
