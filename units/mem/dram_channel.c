#include "units/mem/dram_commands.h"
#include "units/mem/dram_rows.h"

#include <limits.h>
#include <string.h>

#define LONG_AGO (-1000000)
/* A command that finds its clock taken waits so long, in an idle channel. */
#define COMMAND_WAIT 2
/* A drain begins where the data bus is no longer booked: less than DRAIN_DENSE of DRAIN_AHEAD slots are taken. Reads that wait
 * for their bank lie further out, one by one; a controller turns the bus without them. */
#define DRAIN_AHEAD 64
#define DRAIN_DENSE 0.4
static void start_bank(struct dram_channel *c, int i)
{
    struct dram_bank *b = &c->bank[i];
    *b = (struct dram_bank){
        .row = -1, .activate = LONG_AGO, .column_from = LONG_AGO, .precharge_from = LONG_AGO, .activate_from = LONG_AGO};
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
    c->window.earliest = LONG_AGO;
    c->last_read = c->last_write = c->read_from = LONG_AGO;
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

/* Words that are a whole window's length behind are left. They hold nothing that later reads could wait for. */
static void move_window(struct dram_window *w, int64_t word)
{
    if (word - w->first >= 2 * DRAM_SLOT_WORDS) {
        memset(w->read, 0, sizeof w->read);
        w->first = word;
        w->count = 0;
    }
    for (; word - w->first >= DRAM_SLOT_WORDS; w->first++) {
        uint64_t *const left = &w->read[w->first & (DRAM_SLOT_WORDS - 1)];
        w->count -= __builtin_popcountll(*left);
        *left = 0;
    }
}

/* Bursts that are read enter the window: those of a word of the data bus, `count` of them. */
static void enter_window(struct dram_channel *c, int64_t word, uint64_t bursts, int count)
{
    struct dram_window *w = &c->window;
    if (word < w->first)
        return;
    if (word - w->first >= DRAM_SLOT_WORDS)
        move_window(w, word);
    uint64_t *const into = &w->read[word & (DRAM_SLOT_WORDS - 1)];
    w->count += count;
    for (uint64_t again = bursts & *into; again; again &= again - 1)
        w->count--;
    *into |= bursts;
}

static int bits_in(uint64_t word)
{
    int count = 0;
    for (; word; word &= word - 1)
        count++;
    return count;
}

/* A run of bursts from a slot on; bit 0 is the burst in that slot. */
static void enter_run(struct dram_channel *c, int64_t slot, uint64_t run, int bursts)
{
    const int shift = (int)(slot & 63);
    const uint64_t beyond = run >> 1 >> (63 - shift);
    const int others = bits_in(beyond);
    enter_window(c, slot >> 6, run << shift, bursts - others);
    if (others)
        enter_window(c, (slot >> 6) + 1, beyond, others);
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
static int64_t open_row(struct dram_channel *c, int64_t now, int bank, int64_t row, int tail)
{
    const struct dram_timing *t = &c->t;
    struct dram_bank *b = &c->bank[bank];
    if (c->row_idle && b->row >= 0 && now > b->precharge_from + c->row_idle) {
        b->activate_from = later(b->activate_from, b->precharge_from + c->row_idle + t->precharge);
        close_row(b, b->precharge_from + c->row_idle);
    }
    const bool hit = b->row == row;
    refresh_bank(c, b, now, (hit ? later(now, b->column_from) : now) + tail, hit);
    const int64_t open = open_column(c, b, row, now);
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

/* As many reads with the earliest commands leave the window as have entered it. */
static void settle_window(struct dram_channel *c)
{
    struct dram_window *w = &c->window;
    int excess = w->count - (int)c->policy.window;
    if (excess < 0) {
        w->earliest = LONG_AGO;
        return;
    }
    uint64_t *word = &w->read[w->first & (DRAM_SLOT_WORDS - 1)], bits = *word;
    w->count -= excess;
    for (;; excess--) {
        while (!bits) {
            *word = 0;
            w->first++;
            word = &w->read[w->first & (DRAM_SLOT_WORDS - 1)];
            bits = *word;
        }
        if (!excess)
            break;
        bits &= bits - 1;
    }
    *word = bits;
    w->earliest = (w->first * 64 + __builtin_ctzll(bits)) << c->burst_shift;
}

static void drain_idle(struct dram_channel *c, int64_t now);

int64_t dram_channel_read(struct dram_channel *c, int64_t now, int bank, int64_t row, int bursts)
{
    const struct dram_timing *t = &c->t;
    drain_idle(c, now);
    refresh_bus(c, now);
    const int64_t entry = later(now, c->window.earliest);
    int64_t from = later(open_row(c, entry, bank, row, t->read_to_precharge), c->read_from);
    if (same_group(c, bank, c->write_bank))
        from = later(from, c->last_write + t->write_to_read_same_group);
    const int64_t command =
        place_columns(c, from, t->read_latency, bursts, from <= now + t->precharge + t->activate_to_column + COMMAND_WAIT);
    settle_window(c);
    struct dram_bank *b = &c->bank[bank];
    if (b->row == row) {
        b->precharge_from = later(b->precharge_from, command + t->read_to_precharge);
        b->tail = t->read_to_precharge;
    }
    c->last_read = later(c->last_read, command);
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

/* The posted write to send next, from `from` on: row hits first, then the bank that is ready first; banks that this drain opened
 * already last. */
static int pick_write(const struct dram_channel *c, int64_t from, const bool *opened)
{
    const bool strict = c->policy.refresh == DRAM_REFRESH_STRICT;
    int64_t ready[DRAM_BANKS_MAX], best_at = LLONG_MAX;
    int best = 0;
    for (int i = 0; i < c->writes; i++) {
        const struct dram_bank *b = &c->bank[c->write[i].bank];
        if (b->row == c->write[i].row && !(strict && b->refresh_at <= from))
            return i;
    }
    for (int i = 0; i < c->t.banks; i++)
        ready[i] = bank_ready(c, &c->bank[i], from) + (opened[i] ? -LONG_AGO : 0);
    for (int i = 0; i < c->writes; i++) {
        const int64_t at = ready[c->write[i].bank];
        if (at < best_at) {
            best_at = at;
            best = i;
        }
    }
    return best;
}

/* Sends a posted write from `from` on. Returns its last command. */
static int64_t send_write(struct dram_channel *c, int64_t now, int64_t from, int index)
{
    const struct dram_timing *t = &c->t;
    const struct dram_write w = c->write[index];
    c->writes--;
    memmove(&c->write[index], &c->write[index + 1], (size_t)(c->writes - index) * sizeof w);
    c->write_bursts -= w.bursts;
    const int tail = t->write_latency + t->burst + t->write_recovery;
    const int64_t open = later(from, open_row(c, now, w.bank, w.row, tail));
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

void dram_channel_drain(struct dram_channel *c, int64_t now, int bursts)
{
    bool opened[DRAM_BANKS_MAX] = {false};
    if (c->write_bursts <= bursts)
        return;
    const int64_t from = drain_start(c, now);
    while (c->write_bursts > bursts) {
        const int i = pick_write(c, later(from, c->last_write), opened);
        const int bank = c->write[i].bank;
        send_write(c, now, from, i);
        opened[bank] = true;
    }
    end_drain(c);
}

/* Before `now` no read was waiting: the controller has sent posted writes meanwhile. */
static void drain_idle(struct dram_channel *c, int64_t now)
{
    bool opened[DRAM_BANKS_MAX] = {false};
    const int gap = c->t.burst_same_group - c->t.burst;
    int64_t from = c->last_read + c->t.read_to_write + gap;
    if (!c->writes || from >= now)
        return;
    bool any = false;
    while (c->writes) {
        const int i = pick_write(c, from, opened);
        from = later(from, c->write[i].since);
        if (from >= now && (!any || c->write_bursts <= (int)c->policy.write_low))
            break;
        opened[c->write[i].bank] = true;
        from = send_write(c, c->write[i].since, from, i) + c->t.burst;
        any = true;
    }
    if (any)
        end_drain(c);
}

int64_t dram_channel_write(struct dram_channel *c, int64_t now, int bank, int64_t row, int bursts, uint64_t tag)
{
    drain_idle(c, now);
    refresh_bus(c, now);
    c->write[c->writes++] = (struct dram_write){.bank = bank, .bursts = bursts, .row = row, .since = now, .tag = tag};
    c->write_bursts += bursts;
    if (c->write_bursts > (int)c->policy.write_high || c->writes == DRAM_WRITES_MAX)
        dram_channel_drain(c, now, (int)c->policy.write_low);
    /* It is taken when the queue has room again. */
    return later(now, c->last_write - (int64_t)c->policy.write_high * c->t.burst);
}
