#include "sim/workload/gpu/gpu_sample.h"

#include <math.h>

/* Threadgroups begin in step and fall out of step over many waves, and what a wave of short threadgroups leaves in the SLC is
 * evicted by a single wave of the same launch, so a few waves do not stand for the others. Waves of long threadgroups are more
 * alike. */
#define LEAST_WAVES      32
#define LONG_WORK        0x1p26
#define LEAST_LONG_WAVES 12

/* The first stretch begins with a wave that finds the GPU empty, and lasts until threadgroups are somewhat out of step. In each
 * later stretch, one wave starts while threadgroups of the stretch before it end; the waves that follow are counted. A longer
 * launch has more and longer stretches. */
static const struct shape {
    uint64_t waves;   /* fewest waves of a launch with this shape */
    uint64_t first;   /* waves of the first stretch */
    unsigned behind;  /* number of later stretches */
    uint64_t counted; /* counted waves of each of these */
} shapes[] = {{256, 12, 8, 3}, {128, 10, 6, 2}, {64, 8, 4, 2}, {LEAST_WAVES, 8, 2, 2}, {24, 2, 3, 1}, {0, 2, 2, 1}};

bool gpu_sample_worthwhile(uint64_t groups, uint64_t wave, double work)
{
    return wave > 0 && groups / wave >= (work < LONG_WORK ? LEAST_WAVES : LEAST_LONG_WAVES);
}

static struct shape shape_of(uint64_t waves)
{
    unsigned i = 0;
    while (waves < shapes[i].waves)
        i++;
    return shapes[i];
}

/* Stretches are spread evenly; the last one ends the launch. */
void gpu_sample_choose(uint64_t groups, uint64_t wave, uint64_t least, uint64_t warm, struct gpu_sample *s)
{
    const struct shape shape = shape_of(groups / wave);
    const uint64_t count = (1 + shape.counted) * wave, behind = shape.behind * count, room = groups - behind;
    const uint64_t wanted = least > shape.first * wave ? least : shape.first * wave, start = wanted < room ? wanted : room;
    const uint64_t gaps = groups - start - behind;
    *s = (struct gpu_sample){.stretches = shape.behind + 1, .groups = groups, .groups_timed = groups - gaps};
    s->stretch[0] = (struct gpu_stretch){.count = start};
    uint64_t end = start;
    for (unsigned i = 1; i <= shape.behind; i++) {
        const uint64_t gap = gaps * i / shape.behind - gaps * (i - 1) / shape.behind;
        const uint64_t first = end + gap;
        s->stretch[i] =
            (struct gpu_stretch){.first = first, .count = count, .lead = wave, .warm_first = gap > warm ? first - warm : end};
        end = first + count;
    }
}

/* ---- the whole ---- */

/* Time per instruction of the counted part of a stretch, in ns. */
static double pace_of(const struct gpu_progress *p)
{
    const double work = p->end.work - p->lead.work;
    return work > 0 ? (p->end.ns - p->lead.ns) / work : 0;
}

/* Mean instructions of a threadgroup in the counted part of a stretch. */
static double work_of_each(const struct gpu_sample *s, unsigned stretch)
{
    const struct gpu_progress *p = &s->progress[stretch];
    return (p->end.work - p->lead.work) / (double)(s->stretch[stretch].count - s->stretch[stretch].lead);
}

/* Instructions of the threadgroups between a stretch and the one before it: as executed where `work` tells, otherwise the mean of
 * those in the two stretches. */
static double gap_work(const struct gpu_sample *s, unsigned stretch, const uint32_t *work)
{
    const struct gpu_stretch *before = &s->stretch[stretch - 1], *to = &s->stretch[stretch];
    const uint64_t begin = before->first + before->count;
    double sum = s->progress[stretch].warm_work;
    if (!work)
        return sum +
               (double)(to->warm_first - begin) * (work_of_each(s, stretch) + work_of_each(s, stretch > 1 ? stretch - 1 : 1)) / 2;
    sum = 0;
    for (uint64_t i = begin; i < to->first; i++)
        sum += work[i];
    return sum;
}

/* Relative standard error of the mean of the paces. */
static double spread(const struct gpu_sample *s)
{
    double sum = 0, squares = 0;
    const unsigned count = s->stretches - 1;
    for (unsigned i = 1; i <= count; i++)
        sum += pace_of(&s->progress[i]);
    const double mean = sum / count;
    for (unsigned i = 1; i <= count; i++)
        squares += (pace_of(&s->progress[i]) - mean) * (pace_of(&s->progress[i]) - mean);
    return mean > 0 && count > 1 ? sqrt(squares / (count - 1) / count) / mean : 0;
}

struct gpu_part gpu_sample_scale(const struct gpu_sample *s, struct gpu_part part, const uint32_t *work, bool fresh,
                                 double *uncertainty)
{
    struct gpu_part whole = part;
    for (unsigned i = 1; i < s->stretches; i++) {
        const double here = pace_of(&s->progress[i]), before = i > 1 ? pace_of(&s->progress[i - 1]) : here;
        const double skipped = gap_work(s, i, work);
        whole.work += skipped;
        whole.ns += skipped * (here + before) / 2;
    }
    const struct gpu_mark none = {.ns = 0}, *from = fresh ? &s->progress[0].end : &none;
    const double factor = part.work > from->work ? (whole.work - part.work) / (part.work - from->work) : 0;
    gpu_counted_add(&whole.beside, &part.counted, factor);
    gpu_counted_add(&whole.beside, &from->counts, -factor);
    *uncertainty = whole.ns > 0 ? spread(s) * (whole.ns - part.ns) / whole.ns : 0;
    return whole;
}

double gpu_sample_first_pace(const struct gpu_sample *s)
{
    return pace_of(&s->progress[0]);
}
