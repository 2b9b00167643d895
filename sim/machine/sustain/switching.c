#include "sim/machine/sustain/switching.h"

#include <math.h>

/* clocks closer to a point than this are at the point */
#define SAME_MHZ 0.5

/* Adds a change from one clock to another; the length of the transition belongs to its target. */
static void add_change(struct switching *s, enum power_domain d, const struct opp_table *table, double stop, double from_mhz,
                       double to_mhz, double times, double seconds)
{
    const struct opp *const target = &table->point[opp_at_most(table, to_mhz + SAME_MHZ)];
    const double low = fmin(from_mhz, to_mhz), high = fmax(from_mhz, to_mhz), during = target->switch_us * 1e-6 * times / seconds;
    const double volts = opp_volts(table, high) / opp_volts(table, low);
    /* Going up, the voltage rises before the clock; going down, the clock falls first. The domain is slow in both cases. */
    s->lost[d] += during * (stop + (to_mhz > from_mhz ? (1 - stop) * (1 - low / high) : 0));
    s->rail[d] += during * (volts * volts - 1);
    s->changes += times;
}

void switching_add(struct switching *s, enum power_domain d, const struct opp_table *table, const struct governor_params *params,
                   double from_mhz, double to_mhz, double starts, double seconds)
{
    const size_t below = opp_at_most(table, to_mhz + SAME_MHZ);
    const double lowest = table->point[0].mhz;
    if (table->count < 2 || seconds <= 0)
        return;
    if (from_mhz > 0 && opp_at_most(table, from_mhz + SAME_MHZ) != below)
        add_change(s, d, table, params->switch_stop, from_mhz, to_mhz, 1, seconds);
    if (below + 1 < table->count && to_mhz > table->point[below].mhz + SAME_MHZ) {
        const double times = seconds / (params->alternate_ms * 1e-3), low = table->point[below].mhz,
                     high = table->point[below + 1].mhz;
        add_change(s, d, table, params->switch_stop, low, high, times, seconds);
        add_change(s, d, table, params->switch_stop, high, low, times, seconds);
    }
    if (starts > 0 && to_mhz > lowest + SAME_MHZ)
        add_change(s, d, table, params->switch_stop, lowest, to_mhz, starts, seconds);
    s->lost[d] = fmin(s->lost[d], 1);
}
