/* Rows of a DRAM channel's banks: when they are open, and when refresh closes them. For dram_channel.c only. */
#ifndef ORCHARD_UNITS_MEM_DRAM_ROWS_H
#define ORCHARD_UNITS_MEM_DRAM_ROWS_H

#include "units/mem/dram_channel.h"

#include <limits.h>

/* JESD209-4/-5: at most eight refresh commands may be owed. */
#define REFRESHES_OWED 8

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The low bits of a bank's number are its group. */
#define GROUPS 4

static inline bool same_group(const struct dram_channel *c, int bank, int other)
{
    return (c->t.burst_same_group != c->t.burst) & (((bank ^ other) & (GROUPS - 1)) == 0);
}

static inline int64_t refresh_period(const struct dram_channel *c)
{
    return c->policy.refresh == DRAM_REFRESH_ALL ? c->t.refresh_interval : c->t.refresh_interval / 8;
}

/* The row leaves the bank. Accesses that were under way before may still be served with it: a first-ready scheduler would have
 * taken them first, and what they take from others is the same time on the bus. */
static inline void close_row(struct dram_bank *b, int64_t until)
{
    if (b->row < 0)
        return;
    const unsigned k = b->old_next++ % DRAM_ROWS_KEPT;
    b->old_key[k] = (uint32_t)b->row;
    b->old[k] = (struct dram_old_row){b->row, until, b->column_from};
    b->row = -1;
}

/* Where a row is, or was, open for a column command from `from` on; LLONG_MIN when it is not. A row that is gone serves what the
 * bus has room for before it closed. */
static inline int64_t open_column(const struct dram_channel *c, const struct dram_bank *b, int64_t row, int64_t from,
                                  int64_t column)
{
    if (b->row == row)
        return later(from, b->column_from);
    uint32_t any = 0;
    for (int k = 0; k < DRAM_ROWS_KEPT; k++)
        any |= b->old_key[k] == (uint32_t)row;
    for (int k = 0; any && k < DRAM_ROWS_KEPT; k++) {
        const struct dram_old_row *const old = &b->old[k];
        if (old->row != row || old->until <= from)
            continue;
        const int64_t at = later(later(from, column), old->column);
        if (dram_slots_find(&c->data, at >> c->burst_shift) << c->burst_shift < old->until)
            return at;
    }
    return LLONG_MIN;
}

/* --- refresh ------------------------------------------------------------------------------------------------------------ */

/* Refreshes a bank as often as is due before `until`, the end of an access that came at `wanted`. `hit`: it finds its row open. A
 * polite controller waits for a gap between accesses, as long as it may. */
static inline void refresh_bank(const struct dram_channel *c, struct dram_bank *b, int64_t wanted, int64_t until, bool hit)
{
    if (until <= b->refresh_at || c->policy.refresh == DRAM_REFRESH_NONE)
        return;
    const struct dram_timing *t = &c->t;
    const bool all = c->policy.refresh == DRAM_REFRESH_ALL, polite = c->policy.refresh == DRAM_REFRESH_POLITE;
    const int64_t takes = all ? t->precharge_all + t->refresh_all : t->precharge + t->refresh_bank;
    const int64_t period = all ? t->refresh_interval : refresh_period(c) * (t->banks / t->refresh_banks);
    while (until > b->refresh_at) {
        /* One that was put off comes when the row is no longer used. */
        const int64_t at = polite && b->row >= 0 ? later(b->refresh_at, b->precharge_from) : b->refresh_at;
        if (polite && (hit || at + takes > wanted) && wanted - b->refresh_at < REFRESHES_OWED * period)
            return;
        close_row(b, at);
        b->activate_from = later(b->activate_from, at + takes);
        b->refresh_at += period;
    }
}

static inline void take_data(struct dram_channel *c, int64_t from, int64_t clocks)
{
    dram_slots_take_all(&c->data, from >> c->burst_shift, (from + clocks + c->t.burst - 1) >> c->burst_shift);
}

/* How long everything stands still for the refresh of a bank that nothing may overtake: until the open row is precharged. Only
 * what has been sent by then is waited for, not all that is booked: the last access and the last activate at most. */
static inline int64_t strict_stall(const struct dram_channel *c)
{
    int64_t stall = 0;
    for (int i = 0; i < c->t.refresh_banks; i++) {
        const struct dram_bank *b = &c->bank[c->refresh_bank + i];
        if (b->row < 0)
            continue;
        /* A row that is to be opened later follows one that is open now. */
        int64_t wait = c->t.read_to_precharge;
        if (b->activate <= c->refresh_at) {
            const int64_t sent = later(b->tail, b->activate + c->t.activate_to_precharge - c->refresh_at);
            wait = b->precharge_from - c->refresh_at < sent ? b->precharge_from - c->refresh_at : sent;
        }
        stall = later(stall, later(wait, 0) + c->t.precharge + c->t.burst);
    }
    return stall;
}

static inline void stand_still(struct dram_channel *c, int64_t from, int64_t clocks)
{
    const int spacing = c->t.activate_spacing;
    take_data(c, from, clocks);
    dram_slots_take_all(&c->activates, from / spacing, (from + clocks + spacing - 1) / spacing);
}

/* Blocks the data bus for the refreshes that come before a command at `command`. True when there was one. Slots of the data bus
 * are counted in times of read commands. */
static inline bool refresh_bus(struct dram_channel *c, int64_t command)
{
    const struct dram_timing *t = &c->t;
    bool any = false;
    if (c->policy.refresh == DRAM_REFRESH_NONE)
        return false;
    for (; c->refresh_at <= command; c->refresh_at += refresh_period(c)) {
        c->counts.refreshes += c->policy.refresh == DRAM_REFRESH_ALL ? 8 : 1;
        if (c->policy.refresh == DRAM_REFRESH_ALL) {
            take_data(c, c->refresh_at - t->read_to_precharge,
                      t->read_to_precharge + t->precharge_all + t->refresh_all + t->activate_to_column);
            any = true;
            continue;
        }
        const int64_t stall = c->policy.refresh == DRAM_REFRESH_STRICT ? strict_stall(c) : 0;
        c->refresh_bank = (c->refresh_bank + t->refresh_banks) % t->banks;
        if (stall > 0)
            stand_still(c, c->refresh_at, stall);
        any |= stall > 0;
    }
    return any;
}

#endif
