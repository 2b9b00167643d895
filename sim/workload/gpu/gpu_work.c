#include "sim/workload/gpu/gpu_work.h"

static double line_at(const struct gpu_work_line *l, uint64_t at)
{
    unsigned i = 0;
    while (i + 1 < l->known && l->at[i + 1] <= at)
        i++;
    if (i + 1 >= l->known || at <= l->at[i])
        return l->instructions[i];
    const double share = (double)(at - l->at[i]) / (double)(l->at[i + 1] - l->at[i]);
    return l->instructions[i] + share * (l->instructions[i + 1] - l->instructions[i]);
}

/* The sum over places [0, end). */
static double line_before(const struct gpu_work_line *l, uint64_t end)
{
    double sum = 0;
    for (unsigned i = 0; i <= l->known; i++) {
        const uint64_t from = i ? l->at[i - 1] : 0, next = i < l->known ? l->at[i] : end;
        const uint64_t to = next < end ? next : end;
        if (from < to)
            sum += (double)(to - from) * (line_at(l, from) + line_at(l, to - 1)) / 2;
    }
    return sum;
}

double gpu_work_of(const struct gpu_work *w, uint64_t group)
{
    if (!w->axes)
        return line_at(&w->number, group);
    double sum = 0;
    for (unsigned a = 0; a < w->axes; a++) {
        sum += line_at(&w->axis[a], group % w->extent[a]);
        group /= w->extent[a];
    }
    return sum;
}

/* What an axis adds to threadgroups [0, end), when so many lie at each of its places: whole rounds of it, and the last one. */
static double axis_before(const struct gpu_work_line *l, uint64_t extent, uint64_t each, uint64_t end)
{
    const uint64_t rounds = end / (each * extent), left = end % (each * extent), place = left / each;
    return (double)each * ((double)rounds * line_before(l, extent) + line_before(l, place)) +
           (double)(left % each) * line_at(l, place);
}

double gpu_work_before(const struct gpu_work *w, uint64_t end)
{
    if (!w->axes)
        return line_before(&w->number, end);
    double sum = 0;
    uint64_t each = 1;
    for (unsigned a = 0; a < w->axes; a++) {
        sum += axis_before(&w->axis[a], w->extent[a], each, end);
        each *= w->extent[a];
    }
    return sum;
}

static void scale_line(struct gpu_work_line *l, double factor)
{
    for (unsigned i = 0; i < l->known; i++)
        l->instructions[i] *= factor;
}

void gpu_work_scale(struct gpu_work *w, double factor)
{
    scale_line(&w->number, factor);
    for (unsigned a = 0; a < w->axes; a++)
        scale_line(&w->axis[a], factor);
}
