/* Sites: instructions together with the cost of reading their operands after the instructions before them. Sites are found when a
 * trace comes from the source, where the instructions of a simdgroup follow one another, not when an instruction's turn comes. */
#include "units/gpu/gpu_timing_state.h"

#include <stdlib.h>

#define MEMO_ENTRIES 1024 /* a power of two */

/* The site of an instruction after others: chain[0] is the instruction, chain[1] the one before, ... */
struct gpu_site_memo {
    uint32_t chain[GPU_WINDOW_MAX];
    uint32_t site;
};

bool gpu_sites_create(struct gpu_timing *t, uint32_t instructions)
{
    const uint32_t room = instructions ? 2 * instructions : 2;
    t->plan = aligned_alloc(GPU_HOST_LINE, room * sizeof *t->plan);
    t->tally = calloc(room, sizeof *t->tally);
    t->site = calloc(room, sizeof *t->site);
    t->site_memo = malloc(MEMO_ENTRIES * sizeof *t->site_memo);
    t->site_room = room;
    t->site_count = instructions;
    if (!t->plan || !t->tally || !t->site || !t->site_memo)
        return false;
    memset(t->site_memo, 0xff, MEMO_ENTRIES * sizeof *t->site_memo);
    for (uint32_t i = 0; i < instructions; i++)
        t->site[i].instruction = i;
    return true;
}

void gpu_sites_free(struct gpu_timing *t)
{
    free(t->plan);
    free(t->tally);
    free(t->site);
    free(t->site_memo);
    t->plan = NULL;
    t->tally = NULL;
    t->site = NULL;
    t->site_memo = NULL;
    t->site_count = t->site_room = 0;
}

static bool grow(struct gpu_timing *t)
{
    const uint32_t room = 2 * t->site_room;
    struct gpu_plan *plan = aligned_alloc(GPU_HOST_LINE, room * sizeof *plan);
    uint64_t *tally = calloc(room, sizeof *tally);
    struct gpu_site *site = calloc(room, sizeof *site);
    const bool ok = plan && tally && site;
    if (ok) {
        memcpy(plan, t->plan, t->site_count * sizeof *plan);
        memcpy(tally, t->tally, t->site_count * sizeof *tally);
        memcpy(site, t->site, t->site_count * sizeof *site);
    }
    free(ok ? t->plan : plan);
    free(ok ? t->tally : tally);
    free(ok ? t->site : site);
    if (!ok)
        return false;
    t->plan = plan;
    t->tally = tally;
    t->site = site;
    t->site_room = room;
    return true;
}

/* Returns the site of an instruction with these costs. */
static uint32_t find_site(struct gpu_timing *t, uint32_t instruction, double hold_cycles, float port_cycles)
{
    uint32_t last = instruction;
    for (uint32_t i = instruction;; i = t->site[i].next) {
        if (t->plan[i].hold_cycles == hold_cycles && t->plan[i].port_cycles == port_cycles)
            return i;
        last = i;
        if (t->site[i].next == 0)
            break;
    }
    if (t->site_count == t->site_room && !grow(t)) {
        t->failed = true;
        return instruction;
    }
    const uint32_t made = t->site_count++;
    t->plan[made] = t->plan[instruction];
    t->plan[made].hold_cycles = hold_cycles;
    t->plan[made].port_cycles = port_cycles;
    t->tally[made] = 0;
    t->site[made] = (struct gpu_site){.instruction = instruction};
    t->site[last].next = made;
    return made;
}

static uint32_t site_behind(struct gpu_timing *t, uint32_t instruction, const struct gpu_history *history)
{
    uint32_t chain[GPU_WINDOW_MAX] = {instruction}, hash = instruction;
    double hold;
    float port;
    for (unsigned i = 1; i < t->window; i++) {
        chain[i] = history->recent[(history->at - i + 1) % GPU_WINDOW_MAX];
        hash = hash * UINT32_C(2654435761) + chain[i];
    }
    struct gpu_site_memo *memo = &t->site_memo[(hash * UINT32_C(2654435761) >> 16) % MEMO_ENTRIES];
    if (memcmp(memo->chain, chain, sizeof chain) == 0)
        return memo->site;
    gpu_plan_operands(t, &t->plan[instruction], chain + 1, &hold, &port);
    memcpy(memo->chain, chain, sizeof chain);
    memo->site = find_site(t, instruction, hold, port);
    return memo->site;
}

/* Counts the records that continue straight code, where sites are instructions. */
static size_t pass_straight(const struct gpu_timing *t, struct gpu_history *h, const struct gpu_trace_record *record,
                            size_t count)
{
    const uint32_t first = h->recent[h->at] + 1;
    size_t passed = 0;
    if (h->straight + 2 < t->window)
        return 0;
    while (passed < count && record[passed].instruction == first + passed)
        passed++;
    for (unsigned i = 0; i < GPU_WINDOW_MAX && i < passed; i++)
        h->recent[(h->at + passed - i) % GPU_WINDOW_MAX] = first + (uint32_t)passed - 1 - i;
    h->at = (uint32_t)(h->at + passed) % GPU_WINDOW_MAX;
    h->straight = passed < GPU_WINDOW_MAX - h->straight ? h->straight + (uint32_t)passed : GPU_WINDOW_MAX;
    return passed;
}

void gpu_sites_enter(struct gpu_timing *t, struct gpu_history *history, struct gpu_trace *trace)
{
    struct gpu_history h = *history;
    for (; trace->entered < trace->written; trace->entered++) {
        trace->entered += pass_straight(t, &h, trace->record + trace->entered, trace->written - trace->entered);
        if (trace->entered == trace->written)
            break;
        uint32_t *number = &trace->record[trace->entered].instruction;
        const uint32_t instruction = *number;
        h.straight = instruction != h.recent[h.at] + 1 ? 0 : h.straight + (h.straight < GPU_WINDOW_MAX);
        if (h.straight + 1 < t->window)
            *number = site_behind(t, instruction, &h);
        h.at = (h.at + 1) % GPU_WINDOW_MAX;
        h.recent[h.at] = instruction;
    }
    *history = h;
}
