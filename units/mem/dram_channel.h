/* One DRAM channel of 16 bits with its controller: banks with open rows, activates, the data and the command bus, bus
 * turnarounds, posted writes that are drained in batches, refresh. All times are clocks of the command bus since the channel's
 * start.
 *
 * There are no events: an access is placed, when it is called, into the first slots that are still free, so that reads overtake
 * one another as they do under a first-ready, first-come scheduler. What that leaves out: an access that has been placed does not
 * move any more.
 */
#ifndef ORCHARD_UNITS_MEM_DRAM_CHANNEL_H
#define ORCHARD_UNITS_MEM_DRAM_CHANNEL_H

#include "units/mem/dram_slots.h"
#include "units/mem/dram_standard.h"

#define DRAM_LONG_AGO   (-1000000)
#define DRAM_BANKS_MAX  16
#define DRAM_PAGE_BYTES 2048
#define DRAM_ROWS_KEPT  8   /* rows a bank had open that accesses in the window may still hit */
#define DRAM_WRITES_MAX 256 /* accesses */

/* What happened, for energy and reports. */
struct dram_counts {
    uint64_t read_bursts, write_bursts, activates, drains;
    uint64_t refreshes; /* of an eighth of the banks; one of all banks counts as eight */
};

struct dram_bank {
    int64_t row;      /* open row; -1 = none */
    int64_t activate; /* the last one */
    int64_t column_from, precharge_from, activate_from;
    int64_t refresh_at;
    int64_t tail; /* of the last access: clocks from its command until the row may be precharged */
    unsigned old_next;
    /* Rows that were open before: until when (exclusive) an access may be served with them, and from when. Their low bits are
     * kept side by side, because every access looks for its row among them. */
    uint32_t old_key[DRAM_ROWS_KEPT];
    struct dram_old_row {
        int64_t row, until, column;
    } old[DRAM_ROWS_KEPT];
};

struct dram_write {
    int bank, bursts;
    int64_t row, since;
    uint64_t tag;
};

/* The latest read commands, as many as may overtake one another: their slots of the data bus, which no two share. */
struct dram_window {
    uint64_t read[DRAM_SLOT_WORDS];
    int64_t first;    /* the word of the earliest */
    int64_t earliest; /* command; in the far past while there is room */
    int count;
};

struct dram_channel {
    struct dram_timing t;
    struct dram_policy policy;
    struct dram_slots data, activates;
    struct dram_slots commands[2]; /* even and odd clocks of the command bus */
    struct dram_bank bank[DRAM_BANKS_MAX];
    struct dram_window window;
    struct dram_write write[DRAM_WRITES_MAX];
    int burst_shift;                       /* of a burst's clocks, a power of two */
    int writes, write_bursts;              /* posted, not drained */
    int64_t last_read, last_write;         /* the latest commands */
    int write_bank;                        /* of last_write */
    int64_t reads_wait_until;              /* reads have been sent, or are single bursts whose row is activated */
    int64_t read_from;                     /* no read command before, after a drain */
    int64_t arrived_reads, arrived_writes; /* bursts, lately */
    int64_t row_idle;                      /* of the policy, in clocks; 0 = no end */
    int64_t refresh_at;                    /* the next one that the data bus feels */
    int refresh_bank;                      /* whose turn it is then */
    struct dram_counts counts;
    /* Called, when not NULL, for each write when its last command has been placed. */
    void (*written)(void *context, uint64_t tag, int64_t at);
    void *context;
};

void dram_channel_start(struct dram_channel *channel, const struct dram_timing *timing, const struct dram_policy *policy);
/* Reads `bursts` consecutive bursts of a row. Returns when the last data have arrived. */
int64_t dram_channel_read(struct dram_channel *channel, int64_t now, int bank, int64_t row, int bursts);
/* Posts a write; drains when there are too many. Returns when the controller could take it. */
int64_t dram_channel_write(struct dram_channel *channel, int64_t now, int bank, int64_t row, int bursts, uint64_t tag);
/* Drains posted writes until at most `bursts` are left. */
void dram_channel_drain(struct dram_channel *channel, int64_t now, int bursts);

#endif
