/* The state of threadgroups: laps, copies, counts, registers. */
#include "units/gpu/gpu_exec.h"

/* --- laps and copies --- */

void gpu_group_mark_laps(struct gpu_group *group, const bool *lap)
{
    for (uint32_t i = 0; i < group->program->count; i++)
        group->op[i].lap = lap[i];
}

uint32_t gpu_group_at(const struct gpu_group *group, unsigned simdgroup)
{
    return group->simdgroup[simdgroup].at->index;
}

uint64_t gpu_group_executed(const struct gpu_group *group, unsigned simdgroup)
{
    return group->simdgroup[simdgroup].executed;
}

void gpu_group_copy(struct gpu_group *to, const struct gpu_group *from)
{
    for (uint32_t i = 0; i < from->simdgroups; i++) {
        struct gpu_simdgroup *s = &to->simdgroup[i];
        void *word = (uint8_t *)to->registers + gpu_register_stride(to) * i;
        *s = from->simdgroup[i];
        s->word = word;
        s->group = to;
        s->at = &to->op[s->at - from->op];
        memcpy(word, from->simdgroup[i].word, (size_t)to->words * GPU_WORD_BYTES);
    }
    memcpy(to->memory, from->memory, from->memory_bytes);
    memcpy(to->stack, from->stack, (size_t)from->stack_words * GPU_WORD_BYTES * from->simdgroups);
    memcpy(to->position, from->position, sizeof to->position);
    memcpy(to->size, from->size, sizeof to->size);
    to->simdgroups = from->simdgroups;
    to->core_index = from->core_index;
    to->arrived = from->arrived;
    to->stopped = from->stopped;
    to->barrier_openings = from->barrier_openings;
    gpu_number_lanes(to);
}

/* --- counts and state --- */

struct gpu_counts gpu_group_counts(const struct gpu_group *group)
{
    struct gpu_counts counts = {group->executed_before, group->active_before};
    for (uint32_t i = 0; i < group->simdgroups_room; i++) {
        counts.instructions += group->simdgroup[i].executed;
        counts.active_lanes += group->simdgroup[i].active;
    }
    return counts;
}

/* An instruction is issued as often as its block is entered at it or before it. */
void gpu_group_issue_counts(const struct gpu_group *group, uint64_t *counts)
{
    const uint32_t count = group->beside ? 0 : group->program->count;
    memcpy(group->tally, group->entered, ((size_t)count + 1) * sizeof *group->tally);
    for (uint32_t i = 0; i < count; i++) {
        if (group->op[i].straight > 1)
            group->tally[group->op[i].next - group->op] += group->tally[i];
        counts[i] += (uint64_t)group->tally[i];
    }
}

void gpu_group_read_state(const struct gpu_group *group, unsigned simdgroup, struct gpu_lanes *out)
{
    const struct gpu_simdgroup *s = &group->simdgroup[simdgroup];
    memset(out, 0, sizeof *out);
    memcpy(out->word, s->word, (size_t)group->words * GPU_WORD_BYTES);
    out->mask = s->mask;
}

void gpu_group_write_state(struct gpu_group *group, unsigned simdgroup, const struct gpu_lanes *in)
{
    struct gpu_simdgroup *s = &group->simdgroup[simdgroup];
    memcpy(s->word, in->word, (size_t)group->words * GPU_WORD_BYTES);
    s->mask = in->mask & s->exist;
}
