#include "power/opp.h"

bool opp_check(const struct opp_table *table, const char *name, struct power_error *error)
{
    if (table->count == 0 || table->count > OPP_MAX)
        return power_fail(error, 0, "%s: 1 to %d operating points are needed", name, OPP_MAX);
    for (size_t i = 0; i < table->count; i++) {
        const struct opp *const p = &table->point[i];
        if (!(p->mhz > 0) || !(p->volts > 0) || !(p->switch_us >= 0))
            return power_fail(error, 0, "%s: point %zu needs a positive clock and voltage", name, i);
        if (i && (p->mhz <= p[-1].mhz || p->volts < p[-1].volts))
            return power_fail(error, 0, "%s: clocks must rise and voltages not fall (%.0f MHz at %.3f V)", name, p->mhz,
                              p->volts);
    }
    return true;
}

size_t opp_at_most(const struct opp_table *table, double mhz)
{
    size_t i = table->count ? table->count - 1 : 0;

    /* Clocks of the tables are whole MHz; half a kHz is rounding. */
    while (i && table->point[i].mhz > mhz + 5e-4)
        i--;
    return i;
}

double opp_volts(const struct opp_table *table, double mhz)
{
    const struct opp *const p = table->point;

    if (table->count == 0)
        return 0;
    if (mhz <= p[0].mhz)
        return p[0].volts;
    for (size_t i = 1; i < table->count; i++)
        if (mhz <= p[i].mhz)
            return p[i - 1].volts + (p[i].volts - p[i - 1].volts) * (mhz - p[i - 1].mhz) / (p[i].mhz - p[i - 1].mhz);
    return p[table->count - 1].volts;
}

void opp_suppose_volts(struct opp_table *table, const struct opp_table *model)
{
    if (table->count == 0 || model->count == 0)
        return;
    const double scale = model->point[model->count - 1].mhz / table->point[table->count - 1].mhz;
    for (size_t i = 0; i < table->count; i++)
        if (table->point[i].volts == 0) {
            table->point[i].volts = opp_volts(model, table->point[i].mhz * scale);
            table->point[i].volts_supposed = true;
        }
}
