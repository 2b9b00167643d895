/* Writes everything on the board that can matter later as a short list of words, and reads it back. Times count from the present
 * dispatch cycle, and the past is left out, so that two boards that behave alike from here on give the same words.
 */
#include "units/cpu/cpu_timing_internal.h"

#include <string.h>

#define HEAD_WORDS 8
#define ROW_WORDS  (CPU_CALENDAR_GROUPS / 4)

/* The worst case: all rings full of different times, the whole calendar in use. */
uint32_t cpu_state_words_max(const struct cpu_timing *t)
{
    return HEAD_WORDS + 1 + 2 * CPU_REG_COUNT + 3 + 2 * t->params.reorder_window + 2 * t->params.load_queue +
           2 * t->params.store_queue + 1 + CPU_CALENDAR * (1 + ROW_WORDS);
}

/* ---- board -> words ---- */

/* All times that have passed are equal. */
static uint32_t ahead(const struct cpu_board *b, uint64_t cycle)
{
    return cycle > b->now ? (uint32_t)(cycle - b->now) : 0;
}

/* Each part begins with its number of entries, of two words each (in the calendar of up to 1 + ROW_WORDS). */

static uint32_t *write_registers(const struct cpu_board *b, uint32_t *w)
{
    uint32_t *count = w++;
    *count = 0;
    for (unsigned r = 0; r < A64_DEP_COUNT; r++) {
        const uint32_t in = ahead(b, b->ready[r]);
        if (in == 0)
            continue;
        *w++ = in;
        *w++ = r | (uint32_t)b->cause[r] << 8 | (uint32_t)b->early[r] << 16;
        ++*count;
    }
    return w;
}

/* Writes the entries of a ring that have not passed, newest first: a time, and how many entries have it. `total` were ever
 * written, `depth` matter. Times only fall on the way back, so that those between two equal ones need not be looked at. */
static uint32_t *write_ring(const struct cpu_board *b, const uint64_t *ring, uint32_t mask, uint64_t total, uint32_t depth,
                            uint32_t *w)
{
    enum { STRIDE = 8 };
    uint32_t *count = w++;
    *count = 0;
    for (uint32_t i = 1; i <= depth;) {
        const uint64_t cycle = ring[(total - i) & mask];
        if (cycle <= b->now)
            break; /* in program order, so all older ones have passed as well */
        uint32_t end = i + 1;
        while (end + STRIDE <= depth + 1 && ring[(total - end - STRIDE + 1) & mask] == cycle)
            end += STRIDE;
        while (end <= depth && ring[(total - end) & mask] == cycle)
            end++;
        *w++ = (uint32_t)(cycle - b->now);
        *w++ = end - i;
        ++*count;
        i = end;
    }
    return w;
}

/* Stores are accepted in any order: the whole queue is written. */
static uint32_t *write_stores(const struct cpu_timing *t, uint32_t *w)
{
    const struct cpu_board *b = &t->board;
    uint32_t *count = w++;
    *count = 0;
    for (uint32_t i = 1; i <= t->params.store_queue; i++) {
        const uint32_t slot = (uint32_t)((b->stores - i) & b->store_mask);
        const uint32_t in = ahead(b, b->store_done[slot]);
        if (in == 0)
            continue;
        *w++ = in;
        *w++ = i << 8 | b->store_cause[slot];
        ++*count;
    }
    return w;
}

/* Writes a cycle in which a port is in use: which groups, and how many ports of each, four to a word. `half` is its row of the
 * calendar. */
static uint32_t *write_row(const uint64_t half[2], uint32_t cycle, uint32_t *w)
{
    uint32_t *head = w++;
    uint32_t used = 0, bytes = 0, groups = 0;
    for (unsigned h = 0; h < 2; h++)
        for (uint64_t left = half[h]; left;) {
            const unsigned shift = (unsigned)__builtin_ctzll(left) & ~7u;
            groups |= 1u << (8 * h + shift / 8);
            bytes |= (uint32_t)(left >> shift & 255) << used % 4 * 8;
            left &= ~(UINT64_C(255) << shift);
            if (++used % 4 == 0) {
                *w++ = bytes;
                bytes = 0;
            }
        }
    if (used % 4)
        *w++ = bytes;
    *head = cycle << CPU_CALENDAR_GROUPS | groups;
    return w;
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the groups of a row are the bytes of two words in order");
_Static_assert(CPU_CALENDAR <= 1 << (32 - CPU_CALENDAR_GROUPS), "a word for a cycle and its groups");

static uint32_t *write_calendar(const struct cpu_board *b, uint32_t *w)
{
    uint32_t *count = w++;
    *count = 0;
    for (uint64_t c = b->now; c < b->calendar_far; c++) {
        const uint8_t *row = b->calendar[c % CPU_CALENDAR];
        uint64_t half[2];
        memcpy(half, row, sizeof half);
        if ((half[0] | half[1]) == 0)
            continue;
        w = write_row(half, (uint32_t)(c - b->now), w);
        ++*count;
    }
    return w;
}
_Static_assert(CPU_CALENDAR_GROUPS == 16, "a row of the calendar is looked at as two halves");

static void write_head(const struct cpu_timing *t, uint32_t words[HEAD_WORDS])
{
    const struct cpu_board *b = &t->board;
    uint32_t *w = words;
    *w++ = b->slots;
    *w++ = b->taken_cycle >= b->now ? (uint32_t)(b->taken_cycle - b->now) + 1 : 0;
    *w++ = b->taken_cycle >= b->now ? b->taken : 0;
    *w++ = ahead(b, b->redirect);
    /* A branch that issued `mispredict_cycles` ago cannot hold up dispatch any more. */
    *w++ = ahead(b, b->branch_issue + t->mispredict_cycles);
    *w++ = (uint32_t)(int32_t)(int64_t)(b->last_retire - b->now);
    *w++ = ahead(b, b->last_commit);
    *w++ = ahead(b, b->amx_next);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
}

/* Besides the first words, some entries of the window: after a disturbance its oldest ones are the last to become regular. And
 * the latest stores: those that miss leave nothing else behind for long. */
uint64_t cpu_state_glance(const struct cpu_timing *t)
{
    enum { ENTRIES = 8, STORES = 4 };
    const struct cpu_board *b = &t->board;
    uint32_t words[HEAD_WORDS + ENTRIES + STORES];
    write_head(t, words);
    for (uint32_t i = 1; i <= STORES; i++)
        words[HEAD_WORDS + ENTRIES + i - 1] =
            i <= t->params.store_queue ? ahead(b, b->store_done[(b->stores - i) & b->store_mask]) : 0;
    for (uint32_t i = 1; i <= ENTRIES; i++) {
        const uint64_t back = (uint64_t)t->params.reorder_window * i / ENTRIES;
        words[HEAD_WORDS + i - 1] = ahead(b, b->retired[(b->instructions - back) & b->retired_mask]);
    }
    uint64_t h = 0;
    for (uint32_t i = 0; i < HEAD_WORDS + ENTRIES + STORES; i++)
        h = mix(h, words[i]);
    return h ^ h >> 32;
}

/* Registers, more entries of the window than above, and the store queue, whose answers differ most from line to line; four sums,
 * so that the multiplications overlap. */
uint64_t cpu_state_look(const struct cpu_timing *t)
{
    enum { SUMS = 4, APART = 5 };
    const struct cpu_board *b = &t->board;
    uint64_t sum[SUMS] = {1, 2, 3, 4};
    unsigned at = 0;
    for (unsigned r = 0; r < A64_DEP_COUNT; r++, at = (at + 1) % SUMS)
        sum[at] = mix(sum[at], ahead(b, b->ready[r]));
    for (uint32_t back = 1; back <= t->params.reorder_window; back += APART, at = (at + 1) % SUMS)
        sum[at] = mix(sum[at], ahead(b, b->retired[(b->instructions - back) & b->retired_mask]));
    for (uint32_t back = 1; back <= t->params.store_queue; back++, at = (at + 1) % SUMS)
        sum[at] = mix(sum[at], ahead(b, b->store_done[(b->stores - back) & b->store_mask]));
    uint64_t h = 0;
    for (unsigned i = 0; i < SUMS; i++)
        h = mix(h ^ h >> 32, sum[i] ^ sum[i] >> 32);
    return h ^ h >> 32;
}

uint32_t cpu_state_write(const struct cpu_timing *t, uint32_t *out)
{
    const struct cpu_board *b = &t->board;
    uint32_t *w = out + HEAD_WORDS;
    write_head(t, out);
    w = write_registers(b, w);
    w = write_ring(b, b->retired, b->retired_mask, b->instructions, t->params.reorder_window, w);
    w = write_ring(b, b->load_done, b->load_mask, b->loads, t->params.load_queue, w);
    w = write_stores(t, w);
    w = write_calendar(b, w);
    return (uint32_t)(w - out);
}

/* ---- words -> board ---- */

static const uint32_t *read_registers(struct cpu_board *b, const uint32_t *w)
{
    memset(b->ready, 0, sizeof b->ready);
    memset(b->early, 0, sizeof b->early);
    for (uint32_t count = *w++; count > 0; count--) {
        const uint32_t in = *w++, more = *w++;
        b->ready[more & 255] = b->now + in;
        b->cause[more & 255] = (uint8_t)(more >> 8);
        b->early[more & 255] = (uint8_t)(more >> 16);
    }
    return w;
}

static const uint32_t *read_ring(const struct cpu_board *b, uint64_t *ring, uint32_t mask, uint64_t total, const uint32_t *w)
{
    memset(ring, 0, (mask + 1) * sizeof ring[0]);
    uint64_t i = total;
    for (uint32_t count = *w++; count > 0; count--) {
        const uint64_t cycle = b->now + *w++;
        for (uint32_t same = *w++; same > 0; same--)
            ring[--i & mask] = cycle;
    }
    return w;
}

static const uint32_t *read_stores(struct cpu_board *b, const uint32_t *w)
{
    memset(b->store_done, 0, (b->store_mask + 1) * sizeof b->store_done[0]);
    for (uint32_t count = *w++; count > 0; count--) {
        const uint32_t in = *w++, more = *w++;
        const uint32_t slot = (uint32_t)((b->stores - (more >> 8)) & b->store_mask);
        b->store_done[slot] = b->now + in;
        b->store_cause[slot] = (uint8_t)more;
    }
    return w;
}

static const uint32_t *read_row(uint8_t *row, const uint32_t *w)
{
    unsigned used = 0;
    for (uint32_t groups = *w++ & ((1u << CPU_CALENDAR_GROUPS) - 1); groups; groups &= groups - 1, used++)
        row[__builtin_ctz(groups)] = (uint8_t)(w[used / 4] >> used % 4 * 8);
    return w + (used + 3) / 4;
}

/* The calendar is blank (cpu_state_rest). */
static void read_calendar(struct cpu_board *b, const uint32_t *w)
{
    b->calendar_far = b->now;
    for (uint32_t count = *w++; count > 0; count--) {
        const uint64_t cycle = b->now + (*w >> CPU_CALENDAR_GROUPS);
        w = read_row(b->calendar[cycle % CPU_CALENDAR], w);
        b->calendar_far = cycle + 1;
    }
}

void cpu_state_read(struct cpu_timing *t, const uint32_t *w)
{
    struct cpu_board *b = &t->board;
    b->slots = *w++;
    b->taken_cycle = w[0] ? b->now + w[0] - 1 : 0;
    b->taken = w[1];
    b->redirect = w[2] ? b->now + w[2] : 0;
    b->branch_issue = w[3] ? b->now + w[3] - t->mispredict_cycles : 0;
    b->last_commit = w[5] ? b->now + w[5] : 0;
    b->amx_next = w[6] ? b->now + w[6] : 0;
    w = read_registers(b, w + 7);
    w = read_ring(b, b->retired, b->retired_mask, b->instructions, w);
    w = read_ring(b, b->load_done, b->load_mask, b->loads, w);
    w = read_stores(b, w);
    read_calendar(b, w);
    memset(b->open, 0, sizeof b->open);
}

void cpu_state_rest(struct cpu_board *b)
{
    for (uint64_t c = b->now; c < b->calendar_far; c++)
        memset(b->calendar[c % CPU_CALENDAR], 0, sizeof b->calendar[0]);
    b->calendar_far = 0;
}
