#include "units/mem/dram_standard.h"

#include <math.h>
#include <string.h>

/* JESD209-4/-5 values as public simulators and data sheets carry them: Ramulator 2.1 (lpddr5.py, which names the tables of
 * JESD209-5B), gem5 (DRAMInterface.py, LPDDR5_6400_1x16), DRAMSys (JEDEC_512Mbx16_LPDDR4-4266), Micron's LPDDR5 data sheet y31m,
 * Rayson's LPDDR4X data sheet. Times in ns unless said. RL, WL and the turns of 7500 and 8533 follow from the rules of 6400
 * with the latencies of those bins, which were not checked against the standard's text (kind: guess). tRRD of LPDDR4X is that of
 * the 4266 bins (7.5 ns; the DRAMSys set has 10). */
struct standard {
    const char *name;
    double clock_ns;
    int burst_clocks, same_group_clocks, banks, refresh_banks;
    int read_latency_clocks, write_latency_clocks, read_to_write_clocks, write_to_read_clocks, write_to_read_same_group_clocks;
    double activate_to_column_ns, precharge_ns, precharge_all_ns, activate_to_precharge_ns, activate_spacing_ns;
    double write_recovery_ns, read_to_precharge_ns;
    bool command_bus;
    const struct refresh *refresh;
};

struct refresh {
    double gbit; /* up to; 0 ends the list, the last row is for all that is larger */
    double all_ns, bank_ns;
};

static const struct refresh lpddr4[] = {{4, 180, 90}, {8, 280, 140}, {0, 380, 190}};
static const struct refresh lpddr5[] = {{4, 180, 90}, {8, 210, 120}, {16, 280, 140}, {0, 380, 190}};

/* LPDDR4X needs 4 clocks of its command bus for an activate or a column, of 8 that a burst takes: the bus is not what limits it.
 * RL 36 + tDQSCK 8. LPDDR5 in bank group mode: 4 groups of 4 banks, refreshed in pairs. */
static const struct standard standards[] = {
    {"LPDDR4X-4266", 0.46875, 8, 8, 8, 1, 44, 18, 37, 49, 49, 18, 18, 21, 42, 7.5, 18, 7.5, false, lpddr4},
    {"LPDDR5-6400", 1.25, 2, 4, 16, 2, 17, 9, 12, 16, 23, 18, 18, 21, 42, 5, 34, 7.5, true, lpddr5},
    {"LPDDR5X-7500", 1.0 / 0.9375, 2, 4, 16, 2, 20, 11, 13, 19, 27, 18, 18, 21, 42, 5, 34, 7.5, true, lpddr5},
    {"LPDDR5X-8533", 0.9375, 2, 4, 16, 2, 23, 12, 15, 21, 29, 18, 18, 21, 42, 5, 34, 7.5, true, lpddr5},
};

enum { STANDARDS = sizeof standards / sizeof standards[0] };

#define REFRESH_INTERVAL_NS 3904.0 /* tREFI: 8192 commands in 32 ms */

const char *dram_standard_name(unsigned index)
{
    return index < STANDARDS ? standards[index].name : NULL;
}

static int clocks(const struct standard *s, double ns)
{
    return (int)ceil(ns / s->clock_ns - 1e-9);
}

static struct dram_timing timing_of(const struct standard *s, const struct refresh *refresh)
{
    const int ras = clocks(s, s->activate_to_precharge_ns), rp = clocks(s, s->precharge_ns);
    return (struct dram_timing){
        .clock_ns = s->clock_ns,
        .burst = s->burst_clocks,
        .burst_same_group = s->same_group_clocks,
        .banks = s->banks,
        .refresh_banks = s->refresh_banks,
        .read_latency = s->read_latency_clocks,
        .write_latency = s->write_latency_clocks,
        .activate_to_column = clocks(s, s->activate_to_column_ns),
        .precharge = rp,
        .precharge_all = clocks(s, s->precharge_all_ns),
        .activate_to_precharge = ras,
        .activate_to_activate = ras + rp,
        .activate_spacing = clocks(s, s->activate_spacing_ns),
        .write_recovery = clocks(s, s->write_recovery_ns),
        .read_to_precharge = clocks(s, s->read_to_precharge_ns),
        .read_to_write = s->read_to_write_clocks,
        .write_to_read = s->write_to_read_clocks,
        .write_to_read_same_group = s->write_to_read_same_group_clocks,
        .refresh_interval = (int)(REFRESH_INTERVAL_NS / s->clock_ns),
        .refresh_all = clocks(s, refresh->all_ns),
        .refresh_bank = clocks(s, refresh->bank_ns),
        .command_bus = s->command_bus,
    };
}

bool dram_standard(const char *name, double gbit_per_channel, struct dram_timing *timing)
{
    for (unsigned i = 0; i < STANDARDS; i++) {
        if (strcmp(standards[i].name, name) != 0)
            continue;
        const struct refresh *refresh = standards[i].refresh;
        while (refresh->gbit > 0 && gbit_per_channel > refresh->gbit)
            refresh++;
        *timing = timing_of(&standards[i], refresh);
        return true;
    }
    return false;
}
