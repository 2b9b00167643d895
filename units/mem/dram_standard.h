/* What the standards ask of a DRAM channel of 16 bits, in clocks of its command bus, and what they leave to its controller. */
#ifndef ORCHARD_UNITS_MEM_DRAM_STANDARD_H
#define ORCHARD_UNITS_MEM_DRAM_STANDARD_H

#include <stdbool.h>
#include <stdint.h>

/* Times are in clocks, lengths of commands in clocks of the command bus. "To" is from command to command. */
struct dram_timing {
    double clock_ns;
    int burst;              /* one BL16, 32 bytes */
    int burst_same_group;   /* bursts of the same bank group follow one another by this much (tCCD_L); = burst without groups */
    int banks;              /* per channel */
    int refresh_banks;      /* that one per-bank refresh closes */
    int read_latency;       /* RL with tDQSCK: command to first data */
    int write_latency;      /* WL */
    int activate_to_column; /* tRCD */
    int precharge;          /* tRPpb */
    int precharge_all;      /* tRPab */
    int activate_to_precharge; /* tRAS */
    int activate_to_activate;  /* tRC, same bank */
    int activate_spacing;      /* tRRD, any bank; tFAW is four of them in both standards */
    int write_recovery;        /* tWR, from the last data */
    int read_to_precharge;     /* tRTP */
    int read_to_write;         /* command to command, bus turnaround and preamble in it */
    int write_to_read;         /* the same, other bank group */
    int write_to_read_same_group;
    int refresh_interval;          /* tREFI */
    int refresh_all, refresh_bank; /* tRFCab, tRFCpb for this density */
    bool command_bus;              /* its slots are counted: ACT takes two clocks, up to eight apart, the others one */
};

#define DRAM_WINDOW_MAX 256 /* bursts */

/* How a controller uses its channel: not published for any of Apple's. */
enum dram_refresh {
    DRAM_REFRESH_NONE,
    DRAM_REFRESH_ALL,    /* all banks at once, at fixed times */
    DRAM_REFRESH_STRICT, /* bank after bank; nothing else is sent while one waits for its precharge */
    DRAM_REFRESH_POLITE  /* bank after bank, put off while the bank's row is open, by at most eight intervals */
};

struct dram_policy {
    uint32_t refresh;               /* enum dram_refresh */
    double row_idle_ns;             /* a row that nobody uses for so long is closed; 0 = never */
    uint32_t window;                /* read bursts that may be reordered, 1..DRAM_WINDOW_MAX */
    uint32_t write_high, write_low; /* bursts of posted writes: a drain begins above the one and ends at the other */
    /* While no read waits, posted writes are sent at once (as by Ramulator 2.1), or behind the last read in rows opened before.
     */
    bool writes_at_once;
    uint32_t bank_lines; /* lines of a channel in one page before the next bank's turn comes: 1, 2, 4, 8 or 16 */
};

/* Fills `timing` for a standard ("LPDDR4X-4266", "LPDDR5-6400", "LPDDR5X-7500", "LPDDR5X-8533") and a density in Gb per channel
 * (the next larger one of the standard is taken). False when the standard is unknown. */
bool dram_standard(const char *name, double gbit_per_channel, struct dram_timing *timing);
/* The names of the standards, one after another; NULL after the last. */
const char *dram_standard_name(unsigned index);

#endif
