/* The scoreboard of Z when an instruction's rows are not rows that were written together before: stores of single rows from an
 * accumulator, extracts, a change of type.
 */
#include "units/amx/amx_timing_state.h"

static unsigned lowest(uint64_t rows)
{
    return (unsigned)__builtin_ctzll(rows);
}

int64_t amx_rows_gather(const struct amx_timing_core *core, uint64_t rows, unsigned *lanes)
{
    int64_t ready = 0;
    *lanes = 0;
    for (uint64_t left = rows & core->grouped; left;) {
        const struct amx_rows *group = &core->rows[core->owner[lowest(left)]];
        ready = amx_later(ready, group->ready);
        *lanes |= group->lane;
        left &= ~group->rows;
    }
    return ready;
}

static void place(struct amx_timing_core *core, const struct amx_rows *group)
{
    const unsigned slot = lowest(group->rows);
    core->rows[slot] = *group;
    for (uint64_t left = group->rows; left; left &= left - 1)
        core->owner[lowest(left)] = (uint8_t)slot;
    core->grouped |= group->rows;
}

void amx_rows_regroup(struct amx_timing_core *core, uint64_t rows, int64_t ready, unsigned lanes)
{
    if (!rows)
        return;
    for (uint64_t left = rows & core->grouped; left;) {
        struct amx_rows *old = &core->rows[core->owner[lowest(left)]];
        struct amx_rows rest = *old;
        left &= ~old->rows;
        ready = amx_later(ready, old->ready);
        old->rows = 0;
        rest.rows &= ~rows;
        if (rest.rows)
            place(core, &rest);
    }
    const struct amx_rows group = {rows, ready, (uint8_t)lanes};
    place(core, &group);
}
