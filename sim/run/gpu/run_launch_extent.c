/* How long windows of a launch last, and whether they are to stand for it. */
#include "sim/run/gpu/run_forward.h"

#include <math.h>

/* Instructions of each simdgroup that a window issues before it counts, until pipes, queues and first caches have settled. Short
 * threadgroups wait for the memory more than long ones; in which order they do settles over many of them. */
#define SETTLING       400.0
#define SETTLING_SHORT 1200.0
/* Instructions of each simdgroup that count then, at most. Many simdgroups need fewer instructions each for the same certainty:
 * as many as count for so many simdgroups, but at least a share of them. */
#define COUNTED     1600.0
#define CERTAIN     768.0
#define LEAST_SHARE 0.4
/* A threadgroup does one thing after another, each at its own pace. So windows count whole lives of threadgroups where a life is
 * at most so many times as long as a window need be. */
#define WHOLE_LIVES 4
/* Of longer lives windows count this part of that: they are amid a loop whose pace is steady. Not of few waves, which windows
 * that scatter do not stand for. Gemm, attention and convolutions (14 launches on M1, against the same with every
 * threadgroup timed) are off by as much as with whole windows then, 0.6 % in the mean and 1.2 at most. */
#define LONG_PART 0.5
/* Fewest windows that fit into a launch that windows stand for, and fewest waves of it (a wave is as many threadgroups as the GPU
 * holds at a time). Of a launch of few waves the last one, which windows only estimate, is a larger part, and windows that count
 * whole lives of threadgroups are as long as its waves: it is timed whole where windows save less than two thirds. */
#define LEAST_WINDOWS 10.0
#define FEW_WINDOWS   16.0
#define LEAST_WAVES   4
#define FEW_WAVES     12

bool run_forward_has_few_waves(const struct run_launch *l)
{
    return l->setup->group_count / run_launch_wave(l) < FEW_WAVES;
}

/* Windows of attention on M1, whose threadgroups wait for the keys that others fetch: behind half windows and ways half as long,
 * times were 4.9 and 2.2 % off in the mean of five clocks that differ by a thousandth, behind whole ones 0.7 and 1.9 %; the
 * launch itself is chaotic then and scatters by 2 %. */
bool run_forward_scatters_held_up(const struct forward *f)
{
    return f->resident < CERTAIN && run_forward_is_held_up(f);
}

/* Where threadgroups are short, two of them end before the window counts, because their ends decide how those of a core fall out
 * of step. */
struct extent run_forward_extent(const struct run_launch *l, double life)
{
    const double resident = (double)run_launch_wave(l) * run_launch_mean_simdgroups(l); /* simdgroups of a full GPU */
    const double counted = COUNTED * fmax(LEAST_SHARE, fmin(1, CERTAIN / resident));
    const double amid = run_forward_has_few_waves(l) ? counted : counted * LONG_PART;
    const double whole = life < WHOLE_LIVES * counted ? life * ceil(counted / life) : amid;
    return (struct extent){.settling = life < COUNTED ? fmax(SETTLING_SHORT, SETTLING + 2 * life) : SETTLING,
                           .counted = whole,
                           .counted_held_up = fmax(whole, counted),
                           .lives = whole / life};
}

bool run_launch_forward_worthwhile(const struct run_launch *l, double work)
{
    const uint64_t groups = l->setup->group_count, wave = run_launch_wave(l);
    const double simdgroups = run_launch_mean_simdgroups(l), resident = (double)wave * simdgroups;
    const struct extent e = run_forward_extent(l, work / (double)groups / simdgroups);
    const double windows = work / ((e.settling + e.counted) * resident);
    return groups / wave >= LEAST_WAVES && windows >= (run_forward_has_few_waves(l) ? FEW_WINDOWS : LEAST_WINDOWS);
}
