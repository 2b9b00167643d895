/* What the timing side is told about an executed instruction. */
#include "units/gpu/gpu_exec.h"

/* Threadgroup memory is taken to have 32 banks of 4 bytes, one access each per turn (guess: a simdgroup's width; bank counts
 * are not published). */
enum { BANKS = 32, BANK_BYTES = 4, LINES_MAX = GPU_LANES * 8 };

/* Distinct words of the busiest bank, all components together; the same word serves all its lanes. */
static unsigned busiest_bank(const struct gpu_access *access, uint32_t mask)
{
    uint32_t seen[BANKS][4 * GPU_LANES];
    uint8_t count[BANKS] = {0};
    unsigned turns = 0;
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        for (unsigned c = 0; c < 4; c++) {
            if (!(mask >> lane & 1) || !(access->components >> c & 1))
                continue;
            const uint32_t word = (uint32_t)((access->address[lane] + c * access->item_bytes) / BANK_BYTES);
            const unsigned bank = word % BANKS;
            unsigned i = 0;
            while (i < count[bank] && seen[bank][i] != word)
                i++;
            if (i == count[bank])
                seen[bank][count[bank]++] = word;
            turns = count[bank] > turns ? count[bank] : turns;
        }
    return turns;
}

/* Words inside `windows` windows as wide as the banks meet at most so often in a bank. */
static bool within_windows(const struct gpu_access *access, uint32_t mask, unsigned windows)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const uint64_t word = access->address[lane] / BANK_BYTES, on = mask >> lane & 1;
        low = on && word < low ? word : low;
        high = on && word > high ? word : high;
    }
    return high - low + windows <= (uint64_t)BANKS * windows;
}

/* A turn brings one word of each bank and one word to each lane: krrishnarraj/clpeak reads as many bytes per second with eight
 * floats per lane as with one. */
static unsigned threadgroup_turns(const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const struct gpu_vector_set *vectors = group->group->vectors;
    const unsigned components = (unsigned)__builtin_popcount(op->inst->component_mask & 15U);
    struct gpu_access access;
    if (group->mask == 0)
        return 0;
    if (vectors && op->run != op->plain && op->inst->format == AGX_FORMAT_I32 && vectors->one_turn(group, op))
        return components;
    gpu_access_of(group, op, &access);
    const unsigned least = (unsigned)__builtin_popcount(access.components);
    if (access.item_bytes == BANK_BYTES && within_windows(&access, group->mask, least))
        return least;
    const unsigned turns = busiest_bank(&access, group->mask);
    return turns > least ? turns : least;
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

struct line_set {
    uint64_t line[LINES_MAX];
    unsigned count;
};

static void add_line(struct line_set *set, uint64_t line)
{
    for (unsigned i = set->count; i-- > 0;) /* most often the last one */
        if (set->line[i] == line)
            return;
    set->line[set->count++] = line;
}

static void device_lines(const struct gpu_access *access, uint32_t mask, struct line_set *set)
{
    const unsigned top = access->components ? 31 - (unsigned)__builtin_clz(access->components) : 0;
    const unsigned bottom = access->components ? (unsigned)__builtin_ctz(access->components) : 0;
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        const uint64_t first = access->address[lane] + (uint64_t)bottom * access->item_bytes;
        const uint64_t last = access->address[lane] + (uint64_t)top * access->item_bytes + access->bytes - 1;
        add_line(set, first / GPU_LINE_BYTES);
        if (last / GPU_LINE_BYTES != first / GPU_LINE_BYTES)
            add_line(set, last / GPU_LINE_BYTES);
    }
}

static void stack_lines(const struct gpu_simdgroup *group, const struct gpu_access *access, struct line_set *set)
{
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        for (unsigned c = 0; c < 4 && (group->mask >> lane & 1); c++)
            if (access->components >> c & 1)
                add_line(set, gpu_stack_address(group, access->address[lane] + c * access->item_bytes, lane) / GPU_LINE_BYTES);
}

bool gpu_record(const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lanes, struct gpu_trace *trace)
{
    struct gpu_trace_record record = {.instruction = op->index, .active_lanes = (uint8_t)lanes};
    struct gpu_access access;
    struct line_set set;
    set.count = 0;
    switch (op->inst->op) {
    case AGX_OP_DEVICE_LOAD: case AGX_OP_DEVICE_STORE: case AGX_OP_ATOMIC:
        gpu_access_of(group, op, &access);
        device_lines(&access, group->mask, &set);
        if (op->inst->op == AGX_OP_ATOMIC)
            record.passes = (uint8_t)distinct_addresses(&access, group->mask);
        break;
    case AGX_OP_STACK_LOAD: case AGX_OP_STACK_STORE:
        gpu_access_of(group, op, &access);
        stack_lines(group, &access, &set);
        break;
    case AGX_OP_THREADGROUP_LOAD: case AGX_OP_THREADGROUP_STORE:
        record.passes = (uint8_t)threadgroup_turns(group, op);
        break;
    case AGX_OP_THREADGROUP_ATOMIC:
        gpu_access_of(group, op, &access);
        record.passes = (uint8_t)distinct_addresses(&access, group->mask);
        break;
    default:
        break;
    }
    record.lines = (uint16_t)set.count;
    return gpu_trace_put(trace, record, set.line);
}
