/* How much the threadgroups of a launch execute, from executing some of them. */
#include "sim/run/gpu/run_launch.h"
#include "units/mem/cache.h"

#include <math.h>
#include <string.h>

/* Where what was executed differs by more than this share of its mean, the axes of the grid are asked for the reason. */
#define VARIES 0.02
/* The axes explain it when the threadgroups that were executed before are met, in the mean, to within this share. */
#define EXPLAINED 0.03

/* Executes a threadgroup for what a simdgroup of it issues. */
static bool execute(struct run_launch *l, uint64_t group, double *instructions)
{
    struct unit_fault fault = {0};
    if (!gpu_crowd_move(l->crowd, 0, group, GPU_WHOLE_GROUP, false, &fault))
        return run_launch_fault(l, &fault);
    *instructions = gpu_crowd_done(l->crowd, 0);
    return true;
}

/* Of each part of the launch the mean of two neighbours, because programs may treat threadgroups by turns. */
static bool find_by_number(struct run_launch *l)
{
    const uint64_t groups = l->setup->group_count, part = groups / GPU_WORK_KNOWN;
    const unsigned known = part ? GPU_WORK_KNOWN : (unsigned)groups, neighbours = part > 1 ? 2 : 1;
    struct gpu_work_line *line = &l->work.number;
    for (unsigned i = 0; i < known; i++) {
        const uint64_t group = part > 1 ? part * i + mem_page_hash(i) % (part - 1) : i;
        double sum = 0, one;
        for (unsigned k = 0; k < neighbours; k++) {
            if (!execute(l, group + k, &one))
                return false;
            sum += one;
        }
        line->at[i] = group;
        line->instructions[i] = sum / neighbours;
        line->known++;
    }
    return true;
}

static double mean_of(const struct gpu_work_line *l)
{
    double sum = 0;
    for (unsigned i = 0; i < l->known; i++)
        sum += l->instructions[i] / l->known;
    return sum;
}

static bool varies(const struct gpu_work_line *l)
{
    double least = INFINITY, most = 0;
    for (unsigned i = 0; i < l->known; i++) {
        least = fmin(least, l->instructions[i]);
        most = fmax(most, l->instructions[i]);
    }
    return most - least > VARIES * mean_of(l);
}

/* Executes threadgroups along an axis, from its first place to its last one, amid the others: `middle` is the number of the one
 * in the middle of all axes. Behind the first axis only what differs from that one counts. */
static bool find_along(struct run_launch *l, unsigned axis, uint64_t each, uint64_t middle)
{
    struct gpu_work *const w = &l->work;
    struct gpu_work_line *const line = &w->axis[axis];
    const uint64_t extent = w->extent[axis], most = extent < GPU_WORK_KNOWN ? extent : GPU_WORK_KNOWN;
    double base = 0;
    if (axis > 0 && extent > 1 && !execute(l, middle, &base))
        return false;
    for (unsigned i = 0; i < most; i++) {
        const uint64_t place = most > 1 ? i * (extent - 1) / (most - 1) : 0;
        double one = base;
        if (!(axis > 0 && place == extent / 2) && !execute(l, middle - extent / 2 * each + place * each, &one))
            return false;
        line->at[i] = place;
        line->instructions[i] = one - base;
        line->known++;
    }
    return true;
}

/* Whether the axes meet what was executed by number. */
static bool explained(const struct gpu_work *w)
{
    double off = 0;
    for (unsigned i = 0; i < w->number.known; i++) {
        const uint64_t group = w->number.at[i];
        const double now = (gpu_work_of(w, group) + gpu_work_of(w, group + 1)) / 2;
        off += fabs(now - w->number.instructions[i]) / w->number.known;
    }
    return off <= EXPLAINED * mean_of(&w->number);
}

static bool find_by_axes(struct run_launch *l)
{
    struct gpu_work *const w = &l->work;
    const uint32_t *groups = l->setup->groups;
    const uint64_t each[GPU_WORK_AXES] = {1, groups[0], (uint64_t)groups[0] * groups[1]};
    uint64_t middle = 0;
    for (unsigned a = 0; a < GPU_WORK_AXES; a++) {
        w->extent[a] = groups[a];
        middle += groups[a] / 2 * each[a];
    }
    w->axes = GPU_WORK_AXES;
    for (unsigned a = 0; a < GPU_WORK_AXES; a++)
        if (!find_along(l, a, each[a], middle))
            return false;
    if (!explained(w))
        w->axes = 0;
    return true;
}

bool run_launch_find_work(struct run_launch *l)
{
    memset(&l->work, 0, sizeof l->work);
    run_launch_rewind(l);
    if (!find_by_number(l))
        return false;
    return l->setup->group_count < 2 * GPU_WORK_KNOWN || !varies(&l->work.number) || find_by_axes(l);
}
