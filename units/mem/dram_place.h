/* Where bursts of a run find room on the data bus of a DRAM channel. For dram_channel.c only; inlined there, because every access
 * comes through here. */
#ifndef ORCHARD_UNITS_MEM_DRAM_PLACE_H
#define ORCHARD_UNITS_MEM_DRAM_PLACE_H

#include "units/mem/dram_commands.h"
#include "units/mem/dram_rows.h"
#include "units/mem/dram_window.h"

#include <limits.h>

/* A run of bursts on its way to its slots: of which bank group, and by how much its slots lie behind those of reads. Groups are
 * kept apart where reads are: NO_GROUP is that of writes, of which a drain has enough at hand to take groups in turn, and of
 * standards without groups. */
enum { NO_GROUP = -1 };
struct run_of {
    int group, shift;
};

static inline void take_run(struct dram_channel *c, int64_t slot, const struct run_of *of, uint64_t run)
{
    dram_slots_take_run(&c->data, slot, run);
    if (of->group == NO_GROUP)
        return;
    dram_slots_take_run(&c->beside[of->group], slot - 1, run | run << 2);
    if (run >> 62)
        dram_slots_take_run(&c->beside[of->group], slot + 63, run >> 62);
}

/* Slots of a run that nothing comes between, but what another group has there. */
static inline uint64_t columns_of(const struct run_of *of, int bursts)
{
    return of->group == NO_GROUP ? ~UINT64_C(0) >> (64 - bursts) : UINT64_C(0x5555555555555555) >> (64 - 2 * bursts);
}

/* Places a run of bursts off the grid when nothing else is near. `at`: slots of the data bus are counted in times of read
 * commands. */
static inline bool place_alone(struct dram_channel *c, int64_t at, const struct run_of *of, int bursts)
{
    const int burst = c->t.burst;
    const int64_t slot = at >> c->burst_shift;
    const int slots = of->group == NO_GROUP ? bursts : 2 * bursts - 1;
    if (slot * burst == at || at + (int64_t)slots * burst >= c->refresh_at || !alone(&c->data, slot, slots + 1) ||
        !commands_free(c, at - of->shift, slots))
        return false;
    for (int i = 0; i <= slots; i++)
        take_run(c, slot + i, of, 1);
    take_columns(c, at - of->shift, columns_of(of, bursts));
    return true;
}

/* Places one burst on the grid. Returns its command. */
static inline int64_t place_burst(struct dram_channel *c, int64_t at, const struct run_of *of)
{
    const int burst = c->t.burst;
    for (int64_t slot = (at + burst - 1) >> c->burst_shift;; slot++) {
        slot = dram_slots_find(&c->data, slot);
        if (slot * burst >= c->refresh_at && refresh_bus(c, slot * burst)) {
            slot--;
            continue;
        }
        if ((of->group != NO_GROUP && !dram_slots_free(&c->beside[of->group], slot)) ||
            !commands_free(c, slot * burst - of->shift, 1))
            continue;
        take_run(c, slot, of, 1);
        take_command(c, slot * burst - of->shift);
        return slot * burst - of->shift;
    }
}

/* The first of these slots, so many, with room for one between any two where they lie apart. False when there are not so many. */
static inline bool lowest_bits(uint64_t of, int count, bool apart, uint64_t *bits)
{
    *bits = 0;
    for (; count > 0 && of; count--) {
        const uint64_t lowest = of & -of;
        *bits |= lowest;
        of &= ~(lowest | lowest << apart);
    }
    return count == 0;
}

/* What place_burst does for each burst of a run, at once: when there is room for all of them among 64 slots and no refresh comes
 * between, as mostly is so. Returns the last command; LLONG_MIN when they must be placed one by one. */
static inline int64_t place_run(struct dram_channel *c, int64_t at, const struct run_of *of, int bursts)
{
    const int64_t slot = dram_slots_find(&c->data, (at + c->t.burst - 1) >> c->burst_shift);
    const int64_t command = (slot << c->burst_shift) - of->shift;
    const bool read = of->shift == 0, apart = of->group != NO_GROUP;
    const uint64_t beside = apart ? dram_slots_bits(&c->beside[of->group], slot, 64) : 0;
    const uint64_t open = ~(taken_from(c, slot, command) | beside), all = columns_of(of, bursts);
    uint64_t run = 0;
    if (!open || (read && command + ((int64_t)__builtin_ctzll(open) << c->burst_shift) <= c->window.earliest))
        return LLONG_MIN;
    if ((open >> __builtin_ctzll(open) & all) == all)
        run = all << __builtin_ctzll(open);
    else if (!lowest_bits(open, bursts, apart, &run))
        return LLONG_MIN;
    const int latest = 63 - __builtin_clzll(run);
    if ((slot + latest) << c->burst_shift >= c->refresh_at)
        return LLONG_MIN;
    take_run(c, slot, of, run);
    take_columns(c, command, run);
    if (read)
        enter_run(c, slot, run, bursts);
    return command + ((int64_t)latest << c->burst_shift);
}

/* Places a run of bursts of a bank whose first command comes at `from` or later. Returns the last command. */
static inline int64_t place_columns(struct dram_channel *c, int64_t from, const struct run_of *of, int bursts, bool soon)
{
    const int shift = of->shift, spacing = of->group == NO_GROUP ? c->t.burst : c->t.burst_same_group;
    const bool read = shift == 0, lone = soon && place_alone(c, from + shift, of, bursts);
    const int64_t last = lone ? LLONG_MIN : place_run(c, from + shift, of, bursts);
    if (last != LLONG_MIN)
        return last;
    int64_t command = from;
    for (int i = 0; i < bursts; i++) {
        command = lone ? from + (int64_t)i * spacing : place_burst(c, command + shift, of);
        if (read && command > c->window.earliest)
            enter_window(c, command >> c->burst_shift >> 6, UINT64_C(1) << (command >> c->burst_shift & 63), 1);
    }
    return command;
}

#endif
