#include "sim/agx/gpu_sample.h"

#include <math.h>
#include <stdlib.h>

enum { FEW_WAVES = 2, MANY_WAVES = 4, WORTHWHILE_WAVES = 8 };

uint64_t gpu_sample_wave(uint64_t groups, uint64_t wave, double bytes, double all_bytes)
{
    const double touching = all_bytes > 0 ? ceil(bytes / all_bytes * (double)groups) : 0;
    if (all_bytes <= bytes || touching <= (double)wave)
        return wave;
    return (uint64_t)touching;
}

bool gpu_sample_worthwhile(uint64_t groups, uint64_t wave)
{
    return wave > 0 && groups / wave >= WORTHWHILE_WAVES;
}

/* Waves centred in equal parts of the grid. */
static uint64_t *spread(uint64_t groups, uint64_t wave, unsigned waves)
{
    uint64_t *list = malloc(waves * wave * sizeof *list);
    for (unsigned w = 0; list && w < waves; w++) {
        const uint64_t centre = groups / (2 * waves) * (2 * w + 1);
        const uint64_t first = centre - wave / 2;
        for (uint64_t i = 0; i < wave; i++)
            list[w * wave + i] = first + i;
    }
    return list;
}

bool gpu_sample_choose(uint64_t groups, uint64_t wave, struct gpu_sample *s)
{
    *s = (struct gpu_sample){spread(groups, wave, FEW_WAVES), spread(groups, wave, MANY_WAVES), FEW_WAVES * wave,
                             MANY_WAVES * wave};
    return s->few && s->many;
}

void gpu_sample_free(struct gpu_sample *s)
{
    free(s->few);
    free(s->many);
    s->few = s->many = NULL;
}

double gpu_sample_scale(struct gpu_part few, struct gpu_part many, double whole_work, double *uncertainty)
{
    const double proportion = many.work > 0 ? many.ns * whole_work / many.work : many.ns;
    const double ns = many.ns - few.ns, work = many.work - few.work;
    *uncertainty = 0;
    if (ns <= 0 || work <= 0)
        return proportion;
    const double paced = many.ns + (whole_work - many.work) * ns / work;
    *uncertainty = fabs(paced - proportion) / (2 * paced);
    return paced;
}
