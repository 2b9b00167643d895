#include "sim/chip/chip_power.h"
#include "isa/array_count.h"
#include "sim/chip/chip_reader.h"

#include <stdio.h>
#include <string.h>

/* All parameters of power/ are numbers: their rows are (field, unit, lowest, highest, meaning). */
static void read_domain(struct chip_reader *r, enum power_domain domain, struct power_domain_params *to)
{
    char prefix[48];

    snprintf(prefix, sizeof prefix, "power.%s.", power_domain_name(domain));
    r->prefix = prefix;
    POWER_DOMAIN_FIELDS(FILL_FIELD)
}

bool chip_power_params(const struct chip *chip, struct power_params *to, struct orch_error *error)
{
    struct chip_reader reader = chip_reader_start(chip, "", 1, error), *const r = &reader;

    memset(to, 0, sizeof *to);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        read_domain(r, d, &to->domain[d]);
    r->prefix = "power.pj.";
    for (enum activity_event event = 0; event < ACT_COUNT; event++)
        to->event_pj[event] = chip_read(r, activity_name(event));
    r->prefix = "power.";
    POWER_FIELDS(FILL_FIELD)
    return r->ok;
}

bool chip_gpu_control(const struct chip *chip, struct gpu_control_params *to, struct orch_error *error)
{
    struct chip_reader reader = chip_reader_start(chip, "gpu_control.", 1, error), *const r = &reader;

    GPU_CONTROL_FIELDS(FILL_FIELD)
    return r->ok;
}

/* ---- operating points ---- */

struct opp_source {
    const char *states, *max_mhz, *curve; /* keys; NULL: there is none */
};

static struct opp_source source_of(enum power_domain domain)
{
    switch (domain) {
    case POWER_P_CPU:
    case POWER_AMX: return (struct opp_source){"p_opp_table", "p_max_mhz", "power.p_volts"};
    case POWER_E_CPU: return (struct opp_source){"e_opp_table", "e_max_mhz", "power.e_volts"};
    case POWER_GPU: return (struct opp_source){"gpu_states", "gpu_max_mhz", "power.gpu_volts"};
    case POWER_ANE: return (struct opp_source){"power.ane_states", NULL, "power.ane_volts"};
    case POWER_SLC:
    case POWER_FABRIC: return (struct opp_source){"power.memory_states", NULL, NULL};
    default: return (struct opp_source){NULL, NULL, NULL};
    }
}

static bool read_states(const struct chip *chip, const char *key, struct opp_table *table)
{
    const struct chip_value *const states = chip_value(chip, key);

    for (size_t row = 0; states && states->known && row < states->count && table->count < OPP_MAX; row++) {
        double mhz = 0, millivolts = 0, switch_ns = 0;
        if (!chip_table_number(chip, key, row, "mhz", &mhz) || !(mhz > 0))
            continue;
        chip_table_number(chip, key, row, "voltage_mV", &millivolts);
        chip_table_number(chip, key, row, "transition_ns", &switch_ns);
        table->point[table->count++] = (struct opp){.mhz = mhz, .volts = millivolts / 1000, .switch_us = switch_ns / 1000};
    }
    return table->count > 0;
}

/* Reads a curve of voltage over clock as a table of points whose clock is a share of the highest one. */
static void read_curve(const struct chip *chip, const char *key, struct opp_table *curve)
{
    const struct chip_value *const value = chip_value(chip, key);

    curve->count = 0;
    for (size_t row = 0; value && value->known && row < value->count && curve->count < OPP_MAX; row++) {
        struct opp *const p = &curve->point[curve->count];
        if (chip_table_number(chip, key, row, "share", &p->mhz) && chip_table_number(chip, key, row, "volts", &p->volts))
            curve->count++;
    }
}

/* Published tables mix states of chips in different voltage bins, so a fast state may be listed with less voltage than a slower
 * one. No state needs less than a slower one. */
static void never_fall(struct opp_table *table)
{
    for (size_t i = 1; i < table->count; i++)
        if (table->point[i].volts < table->point[i - 1].volts)
            table->point[i].volts = table->point[i - 1].volts;
}

bool chip_opp_table(const struct chip *chip, enum power_domain domain, struct opp_table *table, struct orch_error *error)
{
    const struct opp_source from = source_of(domain);
    struct opp_table curve;
    struct power_error why;
    char volts[48];
    double mhz = 1;
    bool ok = true;

    memset(table, 0, sizeof *table);
    if (!from.states || !read_states(chip, from.states, table)) {
        if (domain == POWER_ANE) { /* without states: the clock under load */
            ok = chip_number(chip, "ane.clock_ghz", &mhz, error);
            mhz *= 1000;
        } else if (from.max_mhz) {
            ok = chip_number(chip, from.max_mhz, &mhz, error);
        }
        table->count = 1;
        table->point[0] = (struct opp){.mhz = mhz};
    }
    if (from.curve) {
        read_curve(chip, from.curve, &curve);
        opp_suppose_volts(table, &curve);
    }
    snprintf(volts, sizeof volts, "power.%s.volts", power_domain_name(domain));
    for (size_t i = 0; ok && i < table->count; i++)
        if (table->point[i].volts == 0)
            ok = chip_number(chip, volts, &table->point[i].volts, error);
    never_fall(table);
    if (!ok)
        return false;
    return opp_check(table, power_domain_name(domain), &why) ||
           orch_fail(error, ORCH_USAGE, "chip %s: %.240s", chip_id(chip), why.text);
}

bool chip_power_slices(const struct chip *chip, unsigned slices[POWER_DOMAIN_COUNT], struct orch_error *error)
{
    static const struct {
        enum power_domain domain;
        const char *key;
        double per_slice;
    } counts[] = {
        {POWER_P_CPU, "p_cores", 1},           {POWER_E_CPU, "e_cores", 1},         {POWER_AMX, "amx_blocks_p", 1},
        {POWER_GPU, "gpu_cores", 1},           {POWER_ANE, "ane_cores", 4},         {POWER_SLC, "memory_bus_bits", 64},
        {POWER_FABRIC, "memory_bus_bits", 64}, {POWER_DRAM, "memory_bus_bits", 16},
    };

    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        slices[d] = 1;
    for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
        double value;
        if (!chip_number(chip, counts[i].key, &value, error))
            return false;
        slices[counts[i].domain] = value >= counts[i].per_slice ? (unsigned)(value / counts[i].per_slice) : 1;
    }
    return true;
}

bool chip_p_limit_mhz(const struct chip *chip, unsigned active, double *mhz, struct orch_error *error)
{
    double ghz;

    if (!chip_number_active(chip, "cpu_p.clock_ghz", active ? active : 1, &ghz, error))
        return false;
    *mhz = ghz * 1000;
    return true;
}
