#include "units/mem/dram_commands.h"
#include "units/mem/dram_rows.h"
#include "units/mem/dram_window.h"

#include <limits.h>
#include <string.h>

/* A command that finds its clock taken waits so long, in an idle channel. */
#define COMMAND_WAIT 2
/* A drain begins where the data bus is no longer booked: less than DRAIN_DENSE of DRAIN_AHEAD slots are taken. Reads that wait
 * for their bank lie further out, one by one; a controller turns the bus without them. */
#define DRAIN_AHEAD 64
#define DRAIN_DENSE 0.4
/* Writes that arrive while others are sent make a drain so many times longer at most: where there are next to no reads it would
 * wait for what may never come. */
#define DRAIN_STRETCH 4

static void start_bank(struct dram_channel *c, int i)
{
    struct dram_bank *b = &c->bank[i];
    *b = (struct dram_bank){.row = -1,
                            .activate = DRAM_LONG_AGO,
                            .column_from = DRAM_LONG_AGO,
                            .precharge_from = DRAM_LONG_AGO,
                            .activate_from = DRAM_LONG_AGO};
    for (int k = 0; k < DRAM_ROWS_KEPT; k++)
        b->old[k].row = -1;
    const bool all = c->policy.refresh == DRAM_REFRESH_ALL;
    b->refresh_at = refresh_period(c) * (all ? 1 : i / c->t.refresh_banks + 1);
}

void dram_channel_start(struct dram_channel *c, const struct dram_timing *timing, const struct dram_policy *policy)
{
    memset(c, 0, sizeof *c);
    c->t = *timing;
    c->policy = *policy;
    c->burst_shift = __builtin_ctz((unsigned)timing->burst);
    c->row_idle = (int64_t)(policy->row_idle_ns / timing->clock_ns);
    dram_slots_clear(&c->data);
    dram_slots_clear(&c->activates);
    dram_slots_clear(&c->commands[0]);
    dram_slots_clear(&c->commands[1]);
    for (int i = 0; i < c->t.banks; i++)
        start_bank(c, i);
    c->window.earliest = DRAM_LONG_AGO;
    c->last_read = c->last_write = c->read_from = c->reads_wait_until = DRAM_LONG_AGO;
    c->refresh_at = policy->refresh == DRAM_REFRESH_NONE ? LLONG_MAX : refresh_period(c);
}

/* --- commands ----------------------------------------------------------------------------------------------------------- */

/* Places a run of bursts off the grid when nothing else is near. `at`: slots of the data bus are counted in times of read
 * commands. */
static bool place_alone(struct dram_channel *c, int64_t at, int shift, int bursts)
{
    const int burst = c->t.burst;
    const int64_t slot = at >> c->burst_shift;
    if (slot * burst == at || at + (int64_t)bursts * burst >= c->refresh_at || !alone(&c->data, slot, bursts + 1) ||
        !commands_free(c, at - shift, bursts))
        return false;
    for (int i = 0; i <= bursts; i++)
        dram_slots_take(&c->data, slot + i);
    take_columns(c, at - shift, ~UINT64_C(0) >> (64 - bursts));
    return true;
}

/* Places one burst on the grid. Returns its command. */
static int64_t place_burst(struct dram_channel *c, int64_t at, int shift)
{
    const int burst = c->t.burst;
    for (int64_t slot = (at + burst - 1) >> c->burst_shift;; slot++) {
        slot = dram_slots_find(&c->data, slot);
        if (slot * burst >= c->refresh_at && refresh_bus(c, slot * burst)) {
            slot--;
            continue;
        }
        if (!commands_free(c, slot * burst - shift, 1))
            continue;
        dram_slots_take(&c->data, slot);
        take_command(c, slot * burst - shift);
        return slot * burst - shift;
    }
}

/* False when there are not so many. */
static bool lowest_bits(uint64_t of, int count, uint64_t *bits)
{
    *bits = 0;
    for (; count > 0 && of; count--, of &= of - 1)
        *bits |= of & -of;
    return count == 0;
}

/* What place_burst does for each burst of a run, at once: when there is room for all of them among 64 slots and no refresh comes
 * between, as mostly is so. Returns the last command; LLONG_MIN when they must be placed one by one. */
static int64_t place_run(struct dram_channel *c, int64_t at, int shift, int bursts)
{
    const int64_t slot = dram_slots_find(&c->data, (at + c->t.burst - 1) >> c->burst_shift);
    const int64_t command = (slot << c->burst_shift) - shift;
    const bool read = shift == 0;
    const uint64_t all = ~UINT64_C(0) >> (64 - bursts);
    uint64_t open = ~taken_from(c, slot, command), run = 0;
    if (!open || (read && command + ((int64_t)__builtin_ctzll(open) << c->burst_shift) <= c->window.earliest))
        return LLONG_MIN;
    if ((open >> __builtin_ctzll(open) & all) == all)
        run = all << __builtin_ctzll(open);
    else if (!lowest_bits(open, bursts, &run))
        return LLONG_MIN;
    const int latest = 63 - __builtin_clzll(run);
    if ((slot + latest) << c->burst_shift >= c->refresh_at)
        return LLONG_MIN;
    dram_slots_take_run(&c->data, slot, run);
    take_columns(c, command, run);
    if (read)
        enter_run(c, slot, run, bursts);
    return command + ((int64_t)latest << c->burst_shift);
}

/* Places a run of bursts whose first command comes at `from` or later; data follow after `latency`. Returns the last command. */
static int64_t place_columns(struct dram_channel *c, int64_t from, int latency, int bursts, bool soon)
{
    const int shift = latency - c->t.read_latency;
    const bool read = shift == 0, lone = soon && place_alone(c, from + shift, shift, bursts);
    const int64_t last = lone ? LLONG_MIN : place_run(c, from + shift, shift, bursts);
    if (last != LLONG_MIN)
        return last;
    int64_t command = from;
    for (int i = 0; i < bursts; i++) {
        command = lone ? from + (int64_t)i * c->t.burst : place_burst(c, command + shift, shift);
        if (read && command > c->window.earliest)
            enter_window(c, command >> c->burst_shift >> 6, UINT64_C(1) << (command >> c->burst_shift & 63), 1);
    }
    return command;
}

/* Opens a row if it is not open. Returns from when on a column command may come. `tail`: clocks from the column command until the
 * row may be precharged. */
static int64_t open_row(struct dram_channel *c, int64_t now, int64_t column, int bank, int64_t row, int tail)
{
    const struct dram_timing *t = &c->t;
    struct dram_bank *b = &c->bank[bank];
    if (c->row_idle && b->row >= 0 && now > b->precharge_from + c->row_idle) {
        b->activate_from = later(b->activate_from, b->precharge_from + c->row_idle + t->precharge);
        close_row(b, b->precharge_from + c->row_idle);
    }
    const bool hit = b->row == row;
    refresh_bank(c, b, now, (hit ? later(now, b->column_from) : now) + tail, hit);
    const int64_t open = open_column(c, b, row, now, column);
    if (open != LLONG_MIN)
        return open;
    for (;;) {
        int64_t from = later(later(now, b->activate_from), b->activate + t->activate_to_activate);
        if (b->row >= 0)
            from = later(from, later(now, b->precharge_from) + t->precharge);
        const int64_t due = b->refresh_at;
        refresh_bank(c, b, now, from + t->activate_to_column + tail, false);
        if (b->refresh_at != due)
            continue;
        if (b->row >= 0)
            from = later(from, place_precharge(c, from - t->precharge) + t->precharge);
        const int64_t at = place_activate(c, from, from <= now + t->precharge + COMMAND_WAIT);
        close_row(b, at - t->precharge - t->read_to_precharge);
        b->row = row;
        b->activate = at;
        b->column_from = at + t->activate_to_column;
        b->precharge_from = at + t->activate_to_precharge;
        return b->column_from;
    }
}

/* --- reads -------------------------------------------------------------------------------------------------------------- */

static void drain_idle(struct dram_channel *c, int64_t now);

int64_t dram_channel_read(struct dram_channel *c, int64_t now, int bank, int64_t row, int bursts)
{
    const struct dram_timing *t = &c->t;
    drain_idle(c, now);
    refresh_bus(c, now);
    const int64_t entry = later(now, c->window.earliest);
    const uint64_t activates = c->counts.activates;
    int64_t from = later(open_row(c, entry, c->read_from, bank, row, t->read_to_precharge), c->read_from);
    if (same_group(c, bank, c->write_bank))
        from = later(from, c->last_write + t->write_to_read_same_group);
    const int64_t command =
        place_columns(c, from, t->read_latency, bursts, from <= now + t->precharge + t->activate_to_column + COMMAND_WAIT);
    settle_window(c);
    struct dram_bank *b = &c->bank[bank];
    const bool opens = c->counts.activates != activates;
    if (b->row == row) {
        b->precharge_from = later(b->precharge_from, command + t->read_to_precharge);
        b->tail = t->read_to_precharge;
    }
    c->reads_wait_until = later(c->reads_wait_until, opens && bursts == 1 ? b->activate : command);
    c->last_read = later(c->last_read, command);
    c->arrived_reads += bursts;
    c->counts.read_bursts += (unsigned)bursts;
    /* Bursts of one bank group leave room for those of others between them. */
    return command + t->read_latency + t->burst + (bursts - 1) * (t->burst_same_group - t->burst);
}

/* --- writes ------------------------------------------------------------------------------------------------------------- */

/* When a bank could take an activate, a refresh that comes before it included. */
static int64_t bank_ready(const struct dram_channel *c, const struct dram_bank *b, int64_t from)
{
    const struct dram_timing *t = &c->t;
    const int64_t at = later(later(b->activate + t->activate_to_activate, b->activate_from), b->precharge_from + t->precharge);
    if (c->policy.refresh == DRAM_REFRESH_STRICT && b->refresh_at < later(at, from) + t->activate_to_column)
        return later(at, b->refresh_at + t->precharge + t->refresh_bank);
    return at;
}

/* Of the oldest `seen` posted writes the one to send next, from `from` on: the oldest whose row is open or, when banks are opened
 * side by side, whose bank is not among those `opened`; when there is none, that of the bank that is ready first. */
static int pick_write(const struct dram_channel *c, int64_t from, int seen, const bool *opened)
{
    const bool strict = c->policy.refresh == DRAM_REFRESH_STRICT;
    int64_t ready[DRAM_BANKS_MAX], best_at = LLONG_MAX;
    int best = 0;
    for (int i = 0; i < seen; i++) {
        const struct dram_bank *b = &c->bank[c->write[i].bank];
        if ((opened && !opened[c->write[i].bank]) || (b->row == c->write[i].row && !(strict && b->refresh_at <= from)))
            return i;
    }
    for (int i = 0; i < c->t.banks; i++)
        ready[i] = bank_ready(c, &c->bank[i], from);
    for (int i = 0; i < seen; i++) {
        const int64_t at = ready[c->write[i].bank];
        if (at < best_at) {
            best_at = at;
            best = i;
        }
    }
    return best;
}

/* Sends a posted write from `from` on. Returns the last command. */
static int64_t send_write(struct dram_channel *c, int64_t now, int64_t from, int index)
{
    const struct dram_timing *t = &c->t;
    const struct dram_write w = c->write[index];
    const int tail = t->write_latency + t->burst + t->write_recovery;
    const int64_t open = later(from, open_row(c, now, from, w.bank, w.row, tail));
    const int64_t command = place_columns(c, open, t->write_latency, w.bursts, false);
    struct dram_bank *b = &c->bank[w.bank];
    if (b->row == w.row) {
        b->precharge_from = later(b->precharge_from, command + tail);
        b->tail = tail;
    }
    if (command > c->last_write)
        c->write_bank = w.bank;
    c->last_write = later(c->last_write, command);
    c->counts.write_bursts += (unsigned)w.bursts;
    c->write_bursts -= w.bursts;
    c->writes--;
    memmove(&c->write[index], &c->write[index + 1], (size_t)(c->writes - index) * sizeof w);
    if (c->written)
        c->written(c->context, w.tag, command);
    return command;
}

/* The bus turns back. The last access of a group leaves a gap that nothing fills: as on the other turn. */
static void end_drain(struct dram_channel *c)
{
    const int gap = c->t.burst_same_group - c->t.burst;
    c->read_from = later(c->read_from, c->last_write + c->t.write_to_read + gap);
    c->counts.drains++;
    /* Forget half. */
    c->arrived_reads /= 2;
    c->arrived_writes /= 2;
}

static int64_t drain_start(const struct dram_channel *c, int64_t now)
{
    const struct dram_timing *t = &c->t;
    const int gap = t->burst_same_group - t->burst;
    int64_t at = now, slot = now >> c->burst_shift;
    uint64_t taken = dram_slots_bits(&c->data, slot, DRAIN_AHEAD), next = 0;
    for (int count = bits_in(taken), left = 0; at <= c->last_read && count > DRAIN_AHEAD * DRAIN_DENSE; at += t->burst, left--) {
        if (left == 0) {
            slot += DRAIN_AHEAD;
            next = dram_slots_bits(&c->data, slot, DRAIN_AHEAD);
            left = DRAIN_AHEAD;
        }
        count += (int)(next & 1) - (int)(taken & 1);
        taken = taken >> 1 | next << (DRAIN_AHEAD - 1);
        next >>= 1;
    }
    return later(now, (at < c->last_read ? at - t->burst : c->last_read) + t->read_to_write + gap);
}

/* How many bursts are posted while a drain sends as many as `bursts` of them, at the latest mix of reads and writes: all of them,
 * less those that it had when it began. */
static int64_t posted_before(const struct dram_channel *c, int64_t bursts)
{
    const int64_t arrived = c->arrived_writes + c->arrived_reads;
    if (!c->arrived_reads)
        return bursts;
    return arrived < c->arrived_reads * DRAIN_STRETCH ? bursts * c->arrived_reads / arrived : bursts / DRAIN_STRETCH;
}

void dram_channel_drain(struct dram_channel *c, int64_t now, int bursts)
{
    bool opened[DRAM_BANKS_MAX] = {false};
    if (c->write_bursts <= bursts)
        return;
    const int64_t from = drain_start(c, now);
    int seen = 0, seen_bursts = 0;
    int64_t sent = now;
    while (c->write_bursts > bursts) {
        const int64_t posted = bursts + posted_before(c, c->write_bursts - bursts);
        for (; seen < c->writes && (seen_bursts < posted || !seen); seen++) {
            seen_bursts += c->write[seen].bursts;
            c->write[seen].since = later(c->write[seen].since, sent);
        }
        const int i = pick_write(c, later(from, c->last_write), seen, opened);
        const struct dram_write w = c->write[i];
        sent = send_write(c, later(now, w.since), later(from, w.since), i);
        seen--;
        seen_bursts -= w.bursts;
        opened[w.bank] = true;
    }
    end_drain(c);
}

/* When the command that decides for a posted write could come: its column if its row is open, else the activate that promises it.
 */
static int64_t write_begins(const struct dram_channel *c, const struct dram_write *w, int64_t from, int64_t column)
{
    const struct dram_bank *b = &c->bank[w->bank];
    return b->row == w->row ? later(column, b->column_from) : later(from, bank_ready(c, b, from));
}

/* A write has its bank precharged before a read that comes at `now`, though that read is served first. */
static void precharge_before(const struct dram_channel *c, struct dram_bank *b, int64_t row, int64_t from, int64_t now)
{
    const int64_t at = later(from, b->precharge_from);
    if (b->row < 0 || b->row == row || at >= now)
        return;
    close_row(b, at - c->t.read_to_precharge);
    b->activate_from = later(b->activate_from, at + c->t.precharge);
}

/* Posted writes that a controller has sent before `now` because no read was waiting: a single burst that is read waits until its
 * row is activated, and after that writes may open rows of their own. */
static void send_at_once(struct dram_channel *c, int64_t now)
{
    bool opened[DRAM_BANKS_MAX] = {false}, any = false;
    int64_t from = c->reads_wait_until, column = c->last_read + c->t.read_to_write + c->t.burst_same_group - c->t.burst;
    if (from >= now)
        return;
    while (c->writes) {
        const int i = pick_write(c, from, c->writes, opened);
        const struct dram_write w = c->write[i];
        from = later(from, w.since);
        column = later(column, from);
        if (c->write_bursts <= (int)c->policy.write_low && write_begins(c, &w, from, column) >= now) {
            precharge_before(c, &c->bank[w.bank], w.row, from, now);
            break;
        }
        opened[w.bank] = any = true;
        column = send_write(c, from, column, i) + c->t.burst;
    }
    if (any)
        end_drain(c);
}

/* The same, of a controller that opens rows for writes while reads are still sent, and sends them when the bus has turned behind
 * the last one. */
static void send_behind(struct dram_channel *c, int64_t now)
{
    int64_t from = c->last_read + c->t.read_to_write + c->t.burst_same_group - c->t.burst;
    bool any = false;
    if (from >= now)
        return;
    while (c->writes) {
        const int i = pick_write(c, from, c->writes, NULL);
        from = later(from, c->write[i].since);
        if (from >= now && (!any || c->write_bursts <= (int)c->policy.write_low))
            break;
        from = send_write(c, c->write[i].since, from, i) + c->t.burst;
        any = true;
    }
    if (any)
        end_drain(c);
}

static void drain_idle(struct dram_channel *c, int64_t now)
{
    if (c->writes && c->policy.writes_at_once)
        send_at_once(c, now);
    else if (c->writes)
        send_behind(c, now);
}

/* How many posted bursts begin a drain. A controller begins one above the high watermark and goes on until the low one is
 * reached, what is posted meanwhile included. Here a drain is placed as a whole, so that it waits for these: while bursts are
 * sent, others arrive, of which the writes' share is that of the time since the last drain. */
static int drain_above(const struct dram_channel *c)
{
    const int64_t high = c->policy.write_high, low = c->policy.write_low;
    const int64_t reads = c->arrived_reads, arrived = c->arrived_writes + reads;
    if (!reads)
        return (int)high;
    return (int)(low + (arrived < reads * DRAIN_STRETCH ? (high - low) * arrived / reads : (high - low) * DRAIN_STRETCH));
}

int64_t dram_channel_write(struct dram_channel *c, int64_t now, int bank, int64_t row, int bursts, uint64_t tag)
{
    drain_idle(c, now);
    refresh_bus(c, now);
    c->write[c->writes++] = (struct dram_write){.bank = bank, .bursts = bursts, .row = row, .since = now, .tag = tag};
    c->write_bursts += bursts;
    c->arrived_writes += bursts;
    if (c->write_bursts > drain_above(c) || c->writes == DRAM_WRITES_MAX)
        dram_channel_drain(c, now, (int)c->policy.write_low);
    /* It is taken when the queue has room again. */
    return later(now, c->last_write - (int64_t)c->policy.write_high * c->t.burst);
}
