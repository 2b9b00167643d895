#include "units/mem/dram.h"

#include "units/mem/mem_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BURST_BYTES 32u
/* A page of 2 KiB. Of a channel's lines, bank_lines follow one another in a page before the next bank's turn comes; when all
 * banks have had theirs, the next columns of the pages follow. With bank groups lines alternate between the groups first, because
 * bursts of one group follow one another at half the rate (JESD209-5). */
#define PAGE_LINES_SHIFT 4
_Static_assert(MEM_LINE_BYTES << PAGE_LINES_SHIFT == DRAM_PAGE_BYTES, "lines of a page");
/* Bits of the bank are mixed with the parity of every so-many-th row bit, as masks in the controllers of A7 to A14 and M1 do
 * (0x7ff/golb, ryuzaki.c: 0x9249, 0xA492, 0xC924 for three bits). The masks for four bits, 0x1111, 0x2222, 0x4444, 0x8888, are a
 * guess of the same form. */

/* Timing is given for the standard's rate; a what-if of the bandwidth changes the rate of the data and leaves the times of the
 * cells as they are. */
static struct dram_timing at_rate(const struct dram_timing *standard, double gbps_per_channel)
{
    struct dram_timing t = *standard;
    t.clock_ns = BURST_BYTES / gbps_per_channel / t.burst;
    const double scale = standard->clock_ns / t.clock_ns;
    if (fabs(scale - 1) < 0.01)
        return t;
    int *const times[] = {&t.read_latency,   &t.write_latency,         &t.activate_to_column,   &t.precharge,
                          &t.precharge_all,  &t.activate_to_precharge, &t.activate_to_activate, &t.activate_spacing,
                          &t.write_recovery, &t.read_to_precharge,     &t.refresh_interval,     &t.refresh_all,
                          &t.refresh_bank};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        *times[i] = (int)ceil(*times[i] * scale);
    /* Columns of reads and of writes stay on clocks of one parity, or stay apart, as the standard's latencies have them: a
     * latency is what a controller programs, at least as long as the cells take. Left to rounding, streams that read and write
     * would be faster or slower by a tenth from one percent of bandwidth to the next, since activates share the clocks between
     * columns. */
    t.read_latency += (t.read_latency - t.write_latency - standard->read_latency + standard->write_latency) & 1;
    /* The turns hold two bursts, which take as many clocks as ever. */
    t.read_to_write = (int)ceil((t.read_to_write - t.burst) * scale) + t.burst;
    t.write_to_read = (int)ceil((t.write_to_read - t.burst) * scale) + t.burst;
    t.write_to_read_same_group = (int)ceil((t.write_to_read_same_group - t.burst_same_group) * scale) + t.burst_same_group;
    return t;
}

/* Clocks from a read to the end of its line in an idle channel with closed rows. */
static double idle_clocks(const struct dram_timing *t)
{
    const int bursts = MEM_LINE_BYTES / BURST_BYTES;
    return t->activate_to_column + t->read_latency + t->burst + (bursts - 1) * t->burst_same_group;
}

bool mem_dram_init(struct mem_dram *dram, const struct mem_params *params)
{
    memset(dram, 0, sizeof *dram);
    if (params->dram_channels == 0 || params->dram_peak_gbps <= 0.0 || params->dram_timing.burst <= 0 ||
        params->dram_policy.window == 0 || params->dram_policy.window > DRAM_WINDOW_MAX)
        return false;
    while (dram->bank_shift < PAGE_LINES_SHIFT && 2u << dram->bank_shift <= params->dram_policy.bank_lines)
        dram->bank_shift++;
    dram->channels = params->dram_channels;
    dram->channel_mask = (dram->channels & (dram->channels - 1)) == 0 ? dram->channels - 1 : 0;
    dram->timing = at_rate(&params->dram_timing, params->dram_peak_gbps / params->dram_channels);
    dram->policy = params->dram_policy;
    dram->clock_ns = dram->timing.clock_ns;
    dram->clocks_per_ns = 1 / dram->clock_ns;
    /* The latency of a chip is measured by one random read after the other. Refresh has closed their rows long before. */
    dram->way_ns = fmax(0, params->dram_latency_ns - idle_clocks(&dram->timing) * dram->clock_ns);
    dram->channel = calloc(dram->channels, sizeof dram->channel[0]);
    if (!dram->channel)
        return false;
    mem_dram_restart(dram, 0);
    return true;
}

void mem_dram_release(struct mem_dram *dram)
{
    free(dram->channel);
    memset(dram, 0, sizeof *dram);
}

void mem_dram_restart(struct mem_dram *dram, double now_ns)
{
    dram->origin_ns = now_ns;
    dram->untimed_bytes = 0;
    for (uint32_t i = 0; i < dram->channels; i++)
        dram_channel_start(&dram->channel[i], &dram->timing, &dram->policy);
}

struct place {
    int bank;
    int64_t row;
};

/* The parities of the bits of a row under each mask, found by folding it. */
static int hash_of_8(uint64_t row)
{
    const uint64_t bits = row & 0x7fff, top = 0 - (row >> 15 & 1);
    return (int)((bits ^ bits >> 3 ^ bits >> 6 ^ bits >> 9 ^ bits >> 12 ^ top) & 7);
}

static int hash_of_16(uint64_t row)
{
    const uint64_t bits = row & 0xffff, half = bits ^ bits >> 8;
    return (int)((half ^ half >> 4) & 15);
}

static struct place place_of(const struct mem_dram *dram, uint64_t line)
{
    const uint64_t own = dram->channel_mask ? line >> __builtin_ctz(dram->channels) : line / dram->channels;
    const int in_bank = dram->bank_shift;
    if (dram->timing.banks == 8) {
        const uint64_t row = own >> (PAGE_LINES_SHIFT + 3);
        return (struct place){(int)(own >> in_bank & 7) ^ hash_of_8(row), (int64_t)row};
    }
    const uint64_t row = own >> (2 + PAGE_LINES_SHIFT + 2);
    const int bank = (int)((own & 3) | (own >> (2 + in_bank) & 3) << 2);
    return (struct place){bank ^ hash_of_16(row), (int64_t)row};
}

static int64_t clock_of(const struct mem_dram *dram, double now_ns)
{
    const double clocks = (now_ns - dram->origin_ns) * dram->clocks_per_ns;
    return clocks > 0 ? (int64_t)clocks + ((double)(int64_t)clocks < clocks) : 0;
}

static int bursts_of(uint32_t bytes)
{
    return bytes > BURST_BYTES ? (int)((bytes + BURST_BYTES - 1) / BURST_BYTES) : 1;
}

double mem_dram_read(struct mem_dram *dram, double now_ns, uint32_t channel, uint64_t line, uint32_t bytes)
{
    const struct place place = place_of(dram, line);
    const int64_t end =
        dram_channel_read(&dram->channel[channel], clock_of(dram, now_ns), place.bank, place.row, bursts_of(bytes));
    return dram->origin_ns + (double)end * dram->clock_ns + dram->way_ns;
}

double mem_dram_write(struct mem_dram *dram, double now_ns, uint32_t channel, uint64_t line, uint32_t bytes)
{
    const struct place place = place_of(dram, line);
    const int64_t now = clock_of(dram, now_ns);
    const int64_t taken = dram_channel_write(&dram->channel[channel], now, place.bank, place.row, bursts_of(bytes), 0);
    return taken <= now ? now_ns : dram->origin_ns + (double)taken * dram->clock_ns;
}

void mem_dram_counts(const struct mem_dram *dram, struct dram_counts *into)
{
    struct dram_counts sum = {0};
    for (uint32_t i = 0; i < dram->channels; i++) {
        const struct dram_counts *const from = &dram->channel[i].counts;
        sum.read_bursts += from->read_bursts;
        sum.write_bursts += from->write_bursts;
        sum.activates += from->activates;
        sum.refreshes += from->refreshes;
        sum.drains += from->drains;
    }
    const double bytes = (double)(sum.read_bursts + sum.write_bursts) * BURST_BYTES;
    const double activates_per_byte = bytes > 0 ? (double)sum.activates / bytes : 1.0 / DRAM_PAGE_BYTES;
    sum.activates += (uint64_t)((double)dram->untimed_bytes * activates_per_byte);
    into->read_bursts += sum.read_bursts;
    into->write_bursts += sum.write_bursts;
    into->activates += sum.activates;
    into->refreshes += sum.refreshes;
    into->drains += sum.drains;
}

void mem_dram_take_counts(struct mem_dram *dram, struct dram_counts *into)
{
    mem_dram_counts(dram, into);
    for (uint32_t i = 0; i < dram->channels; i++)
        memset(&dram->channel[i].counts, 0, sizeof dram->channel[i].counts);
    dram->untimed_bytes = 0;
}

double mem_dram_stream_gbps(const struct mem_params *params, double write_share)
{
    /* Long enough for several refreshes; lines ahead as a requester with deep queues has them. */
    enum { LINES = 8000, AHEAD = 64 };
    struct mem_params one = *params;
    struct mem_dram dram;
    double done_ns[AHEAD] = {0}, end_ns = 0, write = 0;
    one.dram_peak_gbps /= params->dram_channels;
    one.dram_channels = 1;
    if (!mem_dram_init(&dram, &one))
        return NAN;
    uint64_t read_line = 0, write_line = (1u << 22) + 77;
    for (int i = 0; i < LINES; i++) {
        double *const slot = &done_ns[i % AHEAD];
        write += write_share;
        if (write >= 1) {
            write -= 1;
            *slot = mem_dram_write(&dram, *slot, 0, write_line++, MEM_LINE_BYTES);
        } else {
            *slot = mem_dram_read(&dram, *slot, 0, read_line++, MEM_LINE_BYTES);
        }
        end_ns = fmax(end_ns, *slot);
    }
    mem_dram_release(&dram);
    return LINES * MEM_LINE_BYTES / end_ns * params->dram_channels;
}
