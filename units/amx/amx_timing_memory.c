/* Loads and stores of an AMX block. Data come through the cluster's L2 (github tzakharko/m4-sme-exploration for M4; the M2 Pro
 * bandwidths of zhen8838 agree), so one path serves all cores of the block.
 *
 * A load requests its data as soon as it reaches the block and waits for them in its queue; they are written to X or Y when its
 * turn comes. Later loads therefore overlap earlier arithmetic although the same registers are still being read (the packed
 * kernel of zhen8838 reloads the registers it uses and still reaches 97.9 % of the arithmetic limit).
 */
#include "units/amx/amx_timing_state.h"
#include "units/mem/mem_fast.h"

static void lines_of(const struct amx_timing_core *core, uint64_t operand, uint32_t bytes, uint64_t *first, uint64_t *last)
{
    const uint64_t address = amx_address_of(core, operand);
    *first = address >> AMX_LINE_SHIFT;
    *last = (address + (bytes ? bytes - 1 : 0)) >> AMX_LINE_SHIFT;
}

static int64_t access_done(const struct amx_block *block, const struct amx_timing_core *core, int64_t tick, uint64_t operand,
                           uint32_t bytes, enum mem_access_kind kind, enum mem_level *level)
{
    *level = MEM_L1;
    if (!core->port)
        return tick;
    const uint64_t address = amx_address_of(core, operand);
    const uint64_t line = address >> AMX_LINE_SHIFT;
    const double now_ns = amx_ns_of(block, tick);
    struct mem_reply reply;
    if (kind != MEM_ACCESS_LOAD || (address + bytes - 1) >> AMX_LINE_SHIFT != line ||
        !mem_port_l2_hit(core->port, now_ns, line, &reply))
        reply = mem_port_access(core->port, now_ns, address, bytes, kind, 0);
    *level = reply.level;
    return amx_later(tick, amx_tick_of(block, reply.ready_ns));
}

static void write_down(struct amx_record *record, const struct amx_recorded_load *load, bool plain)
{
    record->plain &= plain && record->loads < AMX_RECORD_LOADS;
    if (record->loads < AMX_RECORD_LOADS)
        record->load[record->loads++] = *load;
}

/* Loading the same bytes repeatedly is slow: 30 GB/s for pairs on M2 Pro, against 213-260 over changing addresses. The mechanism
 * is not known (its author could not explain it). Here a load waits for an earlier one that began in the same 64 bytes.
 * Neighbours do not wait for each other, whatever their alignment: sgemm of xrq-phys blis_apple loads 64 bytes at a time from
 * matrices of any leading dimension at nearly one load per cycle. */
static int64_t wait_for_repeats(struct amx_block *block, uint64_t address, int64_t tick)
{
    const uint64_t first = address / 64;
    struct amx_loaded_block *loaded = &block->loaded[first & (block->params.load_banks - 1)];
    const int64_t start = loaded->block == first ? amx_later(tick, loaded->free) : tick;
    *loaded = (struct amx_loaded_block){first, start + block->ticks.load_bank};
    return start;
}

/* Requests leave for the caches at a limited rate, whatever their width (zhen8838, M2 Pro: 1.6 to 1.9 cycles for 64, 128 and 256
 * bytes from different lines). They are a little further apart when they fill the same registers, and Y takes longer for two or
 * four registers than for one, X not (the same source; that both are the time to fill a register file is a guess). The rest of a
 * line that the same registers have just loaded a part of needs no new request: single loads in sequence run at nearly one per
 * cycle in xrq-phys blis_apple. */
static bool takes_request(struct amx_timing_core *core, const struct amx_memo *memo, uint64_t first, uint64_t last)
{
    const unsigned file = memo->file;
    const bool needed = first != last || core->coming[file] != last + 1;
    core->coming[file] = last + 1;
    return needed;
}

/* Spreads strides that are powers of two over the slots as well as consecutive lines. */
static unsigned stored_slot(uint64_t line)
{
    return (line ^ line >> 3) % AMX_STORE_LINES;
}

static int64_t wait_for_stores(const struct amx_block *block, uint64_t first, uint64_t last, int64_t tick)
{
    for (uint64_t line = first; line <= last; line++) {
        const struct amx_stored_line *stored = &block->stored[stored_slot(line)];
        if (stored->line == line)
            tick = amx_later(tick, stored->visible);
    }
    return tick;
}

static int64_t transfer(int64_t least, double per_byte, uint32_t bytes)
{
    return amx_later(least, (int64_t)(bytes * per_byte));
}

static int64_t load_done(struct amx_block *block, const struct amx_timing_core *core, int64_t asked, uint64_t operand,
                         uint32_t bytes, enum mem_level *level)
{
    if (__builtin_expect(block->answers_used < block->answers, 0)) {
        const struct amx_answer *answer = &block->answer[block->answers_used++];
        *level = answer->level;
        return answer->answered;
    }
    return access_done(block, core, asked, operand, bytes, MEM_ACCESS_LOAD, level);
}

bool amx_timing_load_requests(struct amx_timing_core *core, uint64_t operand, const struct amx_memo *memo)
{
    uint64_t first, last;
    lines_of(core, operand, memo->effect.memory_bytes, &first, &last);
    return takes_request(core, memo, first, last);
}

bool amx_timing_load_again(struct amx_block *block, const struct amx_timing_core *core, uint64_t operand,
                           const struct amx_memo *memo, struct amx_recorded_load *load)
{
    const uint32_t bytes = memo->effect.memory_bytes;
    uint64_t first, last;
    lines_of(core, operand, bytes, &first, &last);
    if (wait_for_stores(block, first, last, load->asked) != load->asked ||
        wait_for_repeats(block, amx_address_of(core, operand), load->asked) != load->asked)
        return false;
    load->done = load_done(block, core, load->asked, operand, bytes, &load->level);
    return true;
}

struct amx_answer amx_timing_ask(const struct amx_block *block, const struct amx_timing_core *core, int64_t asked,
                                 uint64_t operand, uint32_t bytes)
{
    struct amx_answer answer;
    answer.answered = access_done(block, core, asked, operand, bytes, MEM_ACCESS_LOAD, &answer.level);
    return answer;
}

/* All cores of a block load through one path, in an order that is only known of each by itself. */
static int64_t pass_load(struct amx_block *block, struct amx_timing_core *core, int64_t issue, int64_t passing)
{
    block->loading += !core->loads;
    core->loads = true;
    return block->loading > 1 ? amx_share_take_load(block, issue, passing) : issue;
}

int64_t amx_timing_load(struct amx_block *block, struct amx_timing_core *core, int64_t arrived, int64_t start, uint64_t operand,
                        const struct amx_memo *memo, enum amx_stall *reason)
{
    const struct amx_ticks *t = &block->ticks;
    const uint32_t bytes = memo->effect.memory_bytes;
    uint64_t first, last;
    lines_of(core, operand, bytes, &first, &last);
    const bool request = takes_request(core, memo, first, last);
    const int64_t passing = transfer(t->load_issue, t->load_per_byte, bytes);
    const int64_t issue = pass_load(block, core, amx_later(arrived, core->load_ready), passing);
    /* Requests of a core leave in order; a load without a request of its own follows the latest one. */
    const int64_t same = core->requested_file == memo->file ? t->load_request_same : 0;
    const int64_t free = amx_later(issue, request ? core->request_ready + same : core->requested);
    int64_t asked = free;
    asked = wait_for_stores(block, first, last, asked);
    asked = wait_for_repeats(block, amx_address_of(core, operand), asked);
    core->load_ready = issue + passing;
    if (request) {
        if (block->loading > 1)
            asked = amx_share_take_request(block, asked, memo->request);
        core->requested = asked;
        core->requested_file = memo->file;
        core->request_ready = asked + memo->request;
    }
    enum mem_level level;
    const int64_t answered = load_done(block, core, asked, operand, bytes, &level);
    const int64_t done = answered + t->load_latency;
    if (asked > start) {
        start = asked;
        *reason = AMX_STALL_LOAD_PORT;
    }
    if (__builtin_expect(block->record.on, 0)) {
        /* Data that arrive before the load's turn wait for it. */
        const int64_t latest = amx_later(answered, start - t->load_latency);
        write_down(&block->record, &(struct amx_recorded_load){asked, answered, latest, level, request}, asked == free);
    }
    const int64_t ready = amx_later(start, done);
    amx_registers_write(core, memo->writes, ready);
    if (memo->rows)
        amx_rows_write(core, memo, ready, AMX_NO_LANE);
    if (t->load_array > 0)
        for (int lane = 0; lane < AMX_LANES; lane++)
            core->lane_ready[lane] = amx_later(core->lane_ready[lane], start) + t->load_array;
    core->complete = amx_later(core->complete, ready);
    return start;
}

/* Which halves of a line an access touches. */
static uint8_t halves_of(uint64_t line, uint64_t address, uint32_t bytes)
{
    const uint64_t base = line << AMX_LINE_SHIFT, half = UINT64_C(1) << (AMX_LINE_SHIFT - 1);
    const bool low = address<base + half, high = address + bytes> base + half;
    return (uint8_t)((low ? 1 : 0) | (high ? 2 : 0));
}

/* Records a store to the lines first..last, which other requests see at `visible`. */
static void remember_store(struct amx_block *block, struct amx_timing_core *core, uint64_t first, uint64_t last, uint64_t address,
                           uint32_t bytes, int64_t visible)
{
    block->storing += core->stores == 0;
    core->stores++;
    core->store_address = address;
    core->store_end = address + bytes;
    for (uint64_t line = first; line <= last; line++) {
        struct amx_stored_line *const stored = &block->stored[stored_slot(line)];
        const uint8_t halves = halves_of(line, address, bytes), before = stored->line == line ? stored->written : 0;
        *stored = (struct amx_stored_line){line, visible, core->stores, core, halves, halves | before};
    }
}

/* Writing a line by halves has a price: on M2 Pro a store into the half beside one that was written about sixteen stores ago
 * takes nearly twice as long as a store into the same half or of the whole line (zhen8838: 7.6 and 5.7 GB/s against 12.9 and
 * 12.4). That points to a read-modify-write of the line; the mechanism is not published. */
static int64_t merge_time(const struct amx_block *block, const struct amx_timing_core *core, uint64_t first, uint64_t last,
                          uint64_t address, uint32_t bytes)
{
    int64_t time = 0;
    for (uint64_t line = first; line <= last; line++) {
        const struct amx_stored_line *stored = &block->stored[stored_slot(line)];
        const bool recent =
            stored->line == line && stored->core == core && core->stores - stored->number < block->params.store_merge_rows;
        if (recent && stored->halves + halves_of(line, address, bytes) == 3)
            time += block->ticks.store_merge; /* one store wrote the low half, the other the high half */
    }
    return time;
}

static bool is_written(const struct amx_block *block, uint64_t line)
{
    const struct amx_stored_line *const stored = &block->stored[stored_slot(line)];
    return stored->line == line && stored->written == 3;
}

/* Stores that climb in steps of up to 256 bytes take longer when they leave a part of each 256 bytes unwritten (zhen8838, M2 Pro:
 * 4 to 13 cycles more than into rows 2048 bytes apart; nothing more where they write all of it in two or four turns). That the
 * caches fetch what is left out, as for a stream, is a guess. */
static int64_t gap_time(const struct amx_block *block, const struct amx_timing_core *core, uint64_t address, uint64_t first)
{
    const uint64_t step = address - core->store_address;
    if (step == 0 || step > 256 || address == core->store_end)
        return 0;
    return is_written(block, first & ~UINT64_C(1)) && is_written(block, first | 1) ? 0 : block->ticks.store_gap;
}

int64_t amx_timing_store(struct amx_block *block, struct amx_timing_core *core, int64_t start, uint64_t operand,
                         const struct amx_memo *memo, enum amx_stall *reason)
{
    const struct amx_ticks *t = &block->ticks;
    const uint32_t bytes = memo->effect.memory_bytes;
    const uint64_t address = amx_address_of(core, operand);
    uint64_t first, last;
    lines_of(core, operand, bytes, &first, &last);
    unsigned lanes;
    const int64_t z = memo->rows ? amx_rows_ready(core, memo, &lanes) : 0;
    const int64_t data = amx_later(amx_registers_ready(core, memo->reads), z);
    /* The buffer holds store_buffer_rows rows: this store enters it when the path is no more than that behind. */
    const int64_t entered = amx_later(data, core->store_ready - t->store_slack);
    if (entered > start) {
        start = entered;
        *reason = AMX_STALL_STORE;
    }
    int64_t drained = amx_later(start, core->store_ready);
    if (block->storing > 1)
        drained = amx_share_take_store(block, drained, (int64_t)(bytes * t->store_shared_per_byte));
    core->store_ready = drained + transfer(t->store_issue, t->store_per_byte, bytes) +
                        merge_time(block, core, first, last, address, bytes) + gap_time(block, core, address, first);
    enum mem_level level;
    const int64_t accepted = access_done(block, core, drained, operand, bytes, MEM_ACCESS_STORE, &level);
    const int64_t visible = amx_later(accepted, core->store_ready) + t->store_latency;
    remember_store(block, core, first, last, address, bytes, visible);
    core->stores_visible = amx_later(core->stores_visible, visible);
    core->complete = amx_later(core->complete, visible);
    return start;
}
