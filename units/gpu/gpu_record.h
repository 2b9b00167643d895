/* Records for the timing side of what an instruction executed: body of gpu_record.c, gpu_record_avx2.c and gpu_record_avx512.c,
 * which differ in how many lanes the host handles at once. The including file defines RECORD and SPAN, the names of the two
 * functions.
 */
#include "units/gpu/gpu_lanes.h"

/* Threadgroup memory is assumed to have 32 banks of 4 bytes, each with one access per pass (a guess: a simdgroup's width; bank
 * counts are not published). */
enum { BANKS = 32, BANK_BYTES = 4, LINES_MAX = GPU_LANES * 8, HALF = GPU_LINE_BYTES / 2 };
/* More memory than any threadgroup has: 256 KiB. */
enum { ROWS_MAX = 2048, COUNT_BITS = 8 };
#define ADDRESS_MASK ((UINT64_C(1) << 56) - 1)

/* The words of threadgroup memory that an access touches: one bit per bank for each row of all banks. The same word serves all
 * its lanes. */
struct rows {
    uint64_t first; /* row of the lowest word */
    unsigned count;
    uint32_t bank[ROWS_MAX];
};

/* The lowest and the highest address of active lanes; without any, UINT64_MAX and 0. */
void SPAN(const struct gpu_access *access, uint32_t mask, uint64_t *low, uint64_t *high)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const uint64_t address = access->address[lane], off = (uint64_t)(mask >> lane & 1) - 1;
        const uint64_t here = address | off, there = address & ~off;
        least = here < least ? here : least;
        most = there > most ? there : most;
    }
    *low = least;
    *high = most;
}

/* The words where a lane's first and last component begin. The words between them belong to components, too, because components
 * are no wider than a bank.
 */
static void lane_words(const struct gpu_access *access, unsigned lane, unsigned bottom, unsigned top, uint64_t *low,
                       uint64_t *high)
{
    *low = (access->address[lane] + (uint64_t)bottom * access->item_bytes) / BANK_BYTES;
    *high = (access->address[lane] + (uint64_t)top * access->item_bytes) / BANK_BYTES;
}

static void mark_words(struct rows *rows, uint64_t low, uint64_t high)
{
    const uint64_t row = low / BANKS - rows->first;
    if (row + 1 >= ROWS_MAX || high - low >= BANKS) /* outside any memory: a fault will follow */
        return;
    const uint64_t run = (UINT64_C(2) << (high - low)) - 1, set = run << low % BANKS;
    rows->bank[row] |= (uint32_t)set;
    rows->bank[row + 1] |= (uint32_t)(set >> BANKS);
}

/* The largest number of rows that use a word of the same bank. Bit k of a bank's count is in plane[k]. */
static unsigned busiest(const struct rows *rows)
{
    uint32_t plane[COUNT_BITS] = {0}, among = UINT32_MAX;
    unsigned most = 0;
    for (unsigned i = 0; i < rows->count; i++) {
        uint32_t carry = rows->bank[i];
        for (unsigned k = 0; carry && k < COUNT_BITS; k++) {
            const uint32_t next = plane[k] & carry;
            plane[k] ^= carry;
            carry = next;
        }
    }
    for (unsigned k = COUNT_BITS; k-- > 0;) {
        if (!(plane[k] & among))
            continue;
        among &= plane[k];
        most |= 1U << k;
    }
    return most;
}

/* Number of distinct words of the busiest bank, over all components. */
static unsigned busiest_bank(const struct gpu_access *access, uint32_t mask)
{
    const unsigned parts = access->components, shape = parts ? parts >> __builtin_ctz(parts) : 0;
    const bool gaps = (shape & (shape + 1)) != 0;
    struct rows rows;
    uint64_t low = UINT64_MAX, high = 0, from, to;
    if (!parts || !mask)
        return 0;
    const unsigned bottom = (unsigned)__builtin_ctz(parts), top = 31 - (unsigned)__builtin_clz(parts);
    for (uint32_t left = mask; left; left &= left - 1) {
        lane_words(access, (unsigned)__builtin_ctz(left), bottom, top, &from, &to);
        low = from < low ? from : low;
        high = to > high ? to : high;
    }
    rows.first = low / BANKS;
    rows.count = high / BANKS - rows.first < ROWS_MAX - 2 ? (unsigned)(high / BANKS - rows.first) + 2 : ROWS_MAX;
    memset(rows.bank, 0, rows.count * sizeof rows.bank[0]);
    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        for (unsigned c = bottom; c <= top; c += gaps ? 1 : top - bottom + 1) {
            if (!(parts >> c & 1))
                continue;
            lane_words(access, lane, c, gaps ? c : top, &from, &to);
            mark_words(&rows, from, to);
        }
    }
    return busiest(&rows);
}

/* True when all words lie within `windows` windows as wide as all banks: a bank then has at most that many. */
static bool within_windows(const struct gpu_access *access, uint32_t mask, unsigned windows)
{
    uint64_t low, high;
    SPAN(access, mask, &low, &high);
    low /= BANK_BYTES;
    high /= BANK_BYTES;
    return high - low + windows <= (uint64_t)BANKS * windows;
}

static unsigned count_turns(const struct gpu_access *access, uint32_t mask)
{
    const unsigned least = (unsigned)__builtin_popcount(access->components);
    if (access->item_bytes == BANK_BYTES && within_windows(access, mask, least))
        return least;
    const unsigned turns = busiest_bank(access, mask);
    return turns > least ? turns : least;
}

/* Where the passes for some distances are kept. */
static unsigned turns_slot(const uint16_t distance[GPU_LANES], uint32_t components)
{
    uint64_t parts[GPU_LANES / 4], h = components;
    memcpy(parts, distance, sizeof parts);
    for (unsigned i = 0; i < GPU_LANES / 4; i++)
        h += parts[i] * (UINT64_C(0x9E3779B97F4A7C15) * (2 * i + 1));
    return (unsigned)(h >> (64 - GPU_TURNS_BITS));
}

/* The passes are the same when all addresses move by whole words. Distances in 16 bits tell all addresses of a threadgroup's
 * memory apart. */
static unsigned known_turns(struct gpu_turns kept[GPU_TURNS_KEPT], const struct gpu_access *access, uint32_t mask)
{
    const uint64_t origin = access->address[__builtin_ctz(mask)];
    struct gpu_turns now = {.mask = mask,
                            .item_bytes = (uint8_t)access->item_bytes,
                            .components = (uint8_t)access->components,
                            .rest = (uint8_t)(origin % BANK_BYTES)};
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        now.distance[lane] = (uint16_t)((access->address[lane] - origin) & -(uint64_t)(mask >> lane & 1));
    struct gpu_turns *known = &kept[turns_slot(now.distance, access->components)];
    now.turns = known->turns;
    if (memcmp(known, &now, sizeof now) == 0)
        return now.turns;
    now.turns = (uint8_t)count_turns(access, mask);
    *known = now;
    return now.turns;
}

/* A pass reads one word of each bank and delivers one word to each lane: krrishnarraj/clpeak reads as many bytes per second with
 * eight floats per lane as with one. */
static unsigned threadgroup_turns(const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const struct gpu_vector_set *vectors = group->group->vectors;
    const unsigned components = (unsigned)__builtin_popcount(op->inst->component_mask & 15U);
    struct gpu_access access;
    if (group->mask == 0)
        return 0;
    if (vectors && op->vectorised && op->inst->format == AGX_FORMAT_I32 && vectors->one_turn(group, op))
        return components;
    gpu_lanes_access(group, op, &access);
    return known_turns(group->group->turns, &access, group->mask);
}

static unsigned distinct_addresses(const struct gpu_access *access, uint32_t mask)
{
    uint64_t seen[GPU_LANES];
    unsigned count = 0;
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        unsigned i = 0;
        while (i < count && seen[i] != access->address[lane])
            i++;
        if ((mask >> lane & 1) && i == count)
            seen[count++] = access->address[lane];
    }
    return count;
}

/* --- lines --- */

/* The entries of a record. */
struct line_set {
    struct gpu_trace_line line[LINES_MAX];
    unsigned count;
};

static void put_line(struct line_set *set, uint64_t address, unsigned bytes)
{
    set->line[set->count++] = (struct gpu_trace_line){.address = address & ADDRESS_MASK, .bytes = bytes & 0xff};
}

/* The bytes of its lines that an access touches: of loads, some byte of each half that is touched. */
struct touched {
    uint64_t line[LINES_MAX];
    uint64_t written[LINES_MAX][2]; /* by half of the line */
    unsigned count;
    bool store;
};

static void touch_nothing(struct touched *t, bool store)
{
    t->count = 0;
    t->store = store;
}

static unsigned find_line(struct touched *t, uint64_t line)
{
    for (unsigned i = t->count; i-- > 0;) /* usually the last one */
        if (t->line[i] == line)
            return i;
    t->line[t->count] = line;
    t->written[t->count][0] = t->written[t->count][1] = 0;
    return t->count++;
}

static uint64_t bits(unsigned count)
{
    return count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

/* Marks bytes of one line. */
static void touch_line(struct touched *t, uint64_t first, unsigned bytes)
{
    const unsigned place = find_line(t, first / GPU_LINE_BYTES), from = first % GPU_LINE_BYTES;
    for (unsigned half = 0; half < 2; half++) {
        const unsigned low = from > 64 * half ? from - 64 * half : 0;
        const unsigned high = from + bytes > 64 * half ? from + bytes - 64 * half : 0;
        t->written[place][half] |= bits(high) & ~bits(low);
    }
}

/* Marks at most as many bytes as a line has. */
static void touch(struct touched *t, uint64_t first, unsigned bytes)
{
    const unsigned room = GPU_LINE_BYTES - first % GPU_LINE_BYTES, here = bytes < room ? bytes : room;
    touch_line(t, first, here);
    if (here < bytes)
        touch_line(t, first + here, bytes - here);
}

/* The next byte of a line, from `from` on, that is written, or is not. */
static unsigned next_byte(const uint64_t written[2], unsigned from, bool is)
{
    for (unsigned at = from; at < GPU_LINE_BYTES; at = (at / 64 + 1) * 64) {
        const uint64_t of_half = (is ? written[at / 64] : ~written[at / 64]) & UINT64_MAX << at % 64;
        if (of_half)
            return at / 64 * 64 + (unsigned)__builtin_ctzll(of_half);
    }
    return GPU_LINE_BYTES;
}

static void put_touched(struct line_set *set, const struct touched *t)
{
    for (unsigned i = 0; i < t->count; i++) {
        const uint64_t start = t->line[i] * GPU_LINE_BYTES;
        if (!t->store) {
            put_line(set, start, (t->written[i][0] ? 1u : 0u) | (t->written[i][1] ? 2u : 0u));
            continue;
        }
        for (unsigned at = next_byte(t->written[i], 0, true); at < GPU_LINE_BYTES;) {
            const unsigned end = next_byte(t->written[i], at, false);
            put_line(set, start + at, end - at);
            at = next_byte(t->written[i], end, true);
        }
    }
}

/* Adds contiguous bytes of all lanes. */
static void put_range(struct line_set *set, uint64_t first, unsigned bytes, bool store)
{
    for (unsigned left = bytes, here; left > 0; left -= here, first += here) {
        const unsigned offset = first % GPU_LINE_BYTES, room = GPU_LINE_BYTES - offset;
        here = left < room ? left : room;
        if (store)
            put_line(set, first, here);
        else
            put_line(set, first - offset, (offset < HALF ? 1u : 0u) | (offset + here > HALF ? 2u : 0u));
    }
}

static bool side_by_side(const struct gpu_access *access, unsigned width)
{
    uint64_t differ = 0;
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        differ |= access->address[lane] ^ (access->address[0] + (uint64_t)lane * width);
    return differ == 0;
}

/* The lanes that may touch other halves of lines than the lane before them, which is active, too. */
static uint32_t new_halves(const struct gpu_access *access, uint32_t mask, unsigned from, unsigned width)
{
    uint64_t half[GPU_LANES + 1];
    uint32_t changes = 0;
    half[0] = UINT64_MAX;
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        half[lane + 1] = (access->address[lane] + from) / HALF;
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const uint64_t last = (access->address[lane] + from + width - 1) / HALF;
        changes |= (uint32_t)((half[lane + 1] != half[lane]) | (last != half[lane + 1])) << lane;
    }
    return changes | ~(mask << 1);
}

static void device_lines(const struct gpu_access *access, uint32_t mask, bool store, struct line_set *set)
{
    const unsigned top = access->components ? 31 - (unsigned)__builtin_clz(access->components) : 0;
    const unsigned bottom = access->components ? (unsigned)__builtin_ctz(access->components) : 0;
    const unsigned width = (top - bottom) * access->item_bytes + access->bytes, from = bottom * access->item_bytes;
    const unsigned shape = access->components >> bottom;
    const bool gaps = store && (shape & (shape + 1)) != 0;
    struct touched t;
    if (mask == UINT32_MAX && !gaps && side_by_side(access, width)) {
        put_range(set, access->address[0] + from, width * GPU_LANES, store);
        return;
    }
    touch_nothing(&t, store);
    for (uint32_t left = store ? mask : mask & new_halves(access, mask, from, width); left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        if (!gaps)
            touch(&t, access->address[lane] + from, width);
        for (unsigned c = 0; gaps && c < 4; c++)
            if (access->components >> c & 1)
                touch(&t, access->address[lane] + c * access->item_bytes, access->bytes);
    }
    put_touched(set, &t);
}

static void stack_lines(const struct gpu_simdgroup *group, const struct gpu_access *access, bool store, struct line_set *set)
{
    struct touched t;
    touch_nothing(&t, store);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        for (unsigned c = 0; c < 4 && (group->mask >> lane & 1); c++)
            if (access->components >> c & 1)
                touch(&t, gpu_stack_address(group, access->address[lane] + c * access->item_bytes, lane), access->item_bytes);
    put_touched(set, &t);
}

bool RECORD(const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lanes, struct gpu_trace *trace)
{
    struct gpu_trace_record record = {.instruction = op->index, .active_lanes = (uint8_t)lanes};
    struct gpu_access *access = &group->group->last_access;
    struct line_set set;
    set.count = 0;
    switch (op->inst->op) {
    case AGX_OP_DEVICE_LOAD:
    case AGX_OP_DEVICE_STORE:
    case AGX_OP_ATOMIC:
        gpu_lanes_access(group, op, access);
        device_lines(access, group->mask, op->inst->op == AGX_OP_DEVICE_STORE, &set);
        if (op->inst->op == AGX_OP_ATOMIC)
            record.passes = (uint8_t)distinct_addresses(access, group->mask);
        break;
    case AGX_OP_STACK_LOAD:
    case AGX_OP_STACK_STORE:
        gpu_lanes_access(group, op, access);
        stack_lines(group, access, op->inst->op == AGX_OP_STACK_STORE, &set);
        break;
    case AGX_OP_THREADGROUP_LOAD:
    case AGX_OP_THREADGROUP_STORE: record.passes = (uint8_t)threadgroup_turns(group, op); break;
    case AGX_OP_THREADGROUP_ATOMIC:
        gpu_lanes_access(group, op, access);
        record.passes = (uint8_t)distinct_addresses(access, group->mask);
        break;
    default: break;
    }
    record.lines = (uint16_t)set.count;
    return gpu_trace_put(trace, record, set.line);
}
