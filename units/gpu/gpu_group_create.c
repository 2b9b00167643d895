/* Threadgroups are created, alone or beside others of their launch, and freed. */
#include "units/gpu/gpu_exec.h"

#include <stdlib.h>

enum { MEMORY_SLACK = 64 /* vector loads may read past the last byte */ };

/* Distance between the registers of two simdgroups: an odd number of cache lines, so that their first registers do not share sets
 * of the host's caches. */
size_t gpu_register_stride(const struct gpu_group *group)
{
    return (size_t)group->words * GPU_WORD_BYTES + 64;
}

static void *aligned_zero(size_t bytes)
{
    const size_t room = (bytes + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, room ? room : 64);
    if (memory)
        memset(memory, 0, room);
    return memory;
}

/* What groups of a launch have in common when they belong to one host thread. */
static bool allocate_bound(struct gpu_group *group)
{
    const size_t count = (size_t)group->program->count + 1;
    group->op = calloc(count, sizeof *group->op);
    group->entered = calloc(count, sizeof *group->entered);
    group->tally = calloc(count, sizeof *group->tally);
    group->turns = calloc(GPU_TURNS_KEPT, sizeof *group->turns);
    return group->op && group->entered && group->tally && group->turns;
}

/* For as many threads as there can be: a GPU holds thousands of groups of one simdgroup. */
static bool allocate_positions(struct gpu_group *group)
{
    const size_t threads = (size_t)group->simdgroups_room * GPU_LANES;
    uint32_t *const all = aligned_zero(3 * threads * sizeof *all);
    for (unsigned axis = 0; axis < 3; axis++)
        group->lane_position[axis] = all ? all + axis * threads : NULL;
    return all != NULL;
}

static bool allocate(struct gpu_group *group)
{
    const struct gpu_launch *launch = &group->launch;
    const uint32_t halves = launch->register_halves ? launch->register_halves : AGX_HALVES;
    group->words = halves < 4 ? 2 : (halves + 1) / 2;
    group->memory_bytes = launch->threadgroup_memory_bytes;
    group->stack_words = (launch->stack_bytes_per_thread + 3) / 4;
    const bool numbered = allocate_positions(group);
    group->registers = aligned_zero(gpu_register_stride(group) * group->simdgroups_room);
    group->memory = aligned_zero((size_t)group->memory_bytes + MEMORY_SLACK);
    group->stack = aligned_zero((size_t)group->stack_words * GPU_WORD_BYTES * group->simdgroups_room);
    if (group->checks.sanitize)
        group->sanitizer = gpu_sanitizer_create(group);
    return numbered && group->registers && group->memory && group->stack && (!group->checks.sanitize || group->sanitizer);
}

/* A group without what it may share. */
static struct gpu_group *create_unbound(const struct gpu_launch *launch, const struct gpu_checks *checks,
                                        const struct gpu_vector_set *vectors)
{
    const uint32_t threads = gpu_threads_of(launch->group_threads);
    if (threads == 0 || threads > GPU_SIMDGROUPS_MAX * GPU_LANES || launch->register_halves > AGX_HALVES)
        return NULL;
    struct gpu_group *group = aligned_zero(sizeof *group);
    if (!group)
        return NULL;
    group->launch = *launch;
    group->checks = checks ? *checks : (struct gpu_checks){0};
    group->program = launch->program;
    group->simdgroups_room = (threads + GPU_LANES - 1) / GPU_LANES;
    group->vectors = vectors;
    if (allocate(group))
        return group;
    gpu_group_free(group);
    return NULL;
}

struct gpu_group *gpu_group_create_with(const struct gpu_launch *launch, const struct gpu_checks *checks,
                                        uint16_t *preamble_uniforms, const struct gpu_vector_set *vectors)
{
    struct gpu_group *group = create_unbound(launch, checks, vectors);
    if (!group)
        return NULL;
    group->preamble_uniforms = preamble_uniforms;
    if (!allocate_bound(group)) {
        gpu_group_free(group);
        return NULL;
    }
    gpu_bind(group, launch->uniforms);
    return group;
}

struct gpu_group *gpu_group_create(const struct gpu_launch *launch, const struct gpu_checks *checks)
{
    return gpu_group_create_with(launch, checks, NULL, checks && checks->reference ? NULL : gpu_vector_best());
}

struct gpu_group *gpu_group_create_named(const struct gpu_launch *launch, const struct gpu_checks *checks, const char *vectors)
{
    const struct gpu_vector_set *set = gpu_vector_named(vectors);
    return set ? gpu_group_create_with(launch, checks, NULL, set) : NULL;
}

struct gpu_group *gpu_group_create_beside(const struct gpu_group *first)
{
    struct gpu_group *group = create_unbound(&first->launch, &first->checks, first->vectors);
    if (!group)
        return NULL;
    group->beside = true;
    group->op = first->op;
    group->entered = first->entered;
    group->tally = first->tally;
    group->turns = first->turns;
    return group;
}

static void free_bound(struct gpu_group *group)
{
    free(group->op);
    free(group->entered);
    free(group->tally);
    free(group->turns);
}

void gpu_group_free(struct gpu_group *group)
{
    if (!group)
        return;
    gpu_sanitizer_free(group->sanitizer);
    if (!group->beside)
        free_bound(group);
    free(group->lane_position[0]);
    free(group->registers);
    free(group->memory);
    free(group->stack);
    free(group);
}
