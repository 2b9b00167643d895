#include "power/floorplan_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layout {
    const struct floorplan_area *area;
    size_t count;
    double total_mm2, height_mm;
};

/* The end of the column that starts at `first`: its blocks come as near as possible to its share of the area. */
static size_t column_end(const struct layout *l, size_t first, double share_mm2, double *column_mm2)
{
    size_t end = first;
    double sum = 0;

    while (end < l->count && (end == first || sum + l->area[end].mm2 / 2 < share_mm2))
        sum += l->area[end++].mm2;
    *column_mm2 = sum;
    return end;
}

static double aspect_of(double a, double b)
{
    return a > b ? a / b : b / a;
}

/* The mean aspect ratio of all blocks, weighted by area, in `columns` columns. Places the blocks when a plan is given. */
static double lay_out(const struct layout *l, unsigned columns, struct floorplan *plan)
{
    double left = 0, left_over = l->total_mm2, worst = 0;
    unsigned column = 0;

    for (size_t first = 0; first < l->count; column++) {
        double sum = 0;
        size_t end = column + 1 >= columns ? l->count : column_end(l, first, left_over / (columns - column), &sum);
        if (end == l->count)
            sum = left_over;
        const double width = sum / l->height_mm;
        double bottom = 0;
        for (size_t i = first; i < end; i++) {
            const double height = i + 1 == end ? l->height_mm - bottom : l->area[i].mm2 / width;
            worst += l->area[i].mm2 * aspect_of(width, height);
            if (plan) {
                struct floorplan_block *const b = &plan->block[i];
                snprintf(b->name, sizeof b->name, "%s", l->area[i].name);
                b->left_m = left * 1e-3;
                b->bottom_m = bottom * 1e-3;
                b->width_m = width * 1e-3;
                b->height_m = height * 1e-3;
            }
            bottom += height;
        }
        left += width;
        left_over -= sum;
        first = end;
    }
    return worst / l->total_mm2;
}

bool floorplan_build(const struct floorplan_area *area, size_t count, double aspect, struct floorplan *plan,
                     struct power_error *error)
{
    struct layout l = {.area = area, .count = count};
    unsigned best = 1;
    double best_aspect = INFINITY;

    memset(plan, 0, sizeof *plan);
    for (size_t i = 0; i < count; i++) {
        if (!(area[i].mm2 > 0) || !isfinite(area[i].mm2))
            return power_fail(error, 0, "block %s: its area must be positive", area[i].name);
        l.total_mm2 += area[i].mm2;
    }
    if (count == 0 || !(aspect > 0))
        return power_fail(error, 0, "a floorplan needs blocks and a positive aspect ratio");
    l.height_mm = sqrt(l.total_mm2 * aspect);
    for (unsigned columns = 1; columns <= count && columns <= 24; columns++) {
        const double mean = lay_out(&l, columns, NULL);
        if (mean < best_aspect) {
            best_aspect = mean;
            best = columns;
        }
    }
    plan->block = calloc(count, sizeof *plan->block);
    if (!plan->block)
        return power_fail(error, 0, "out of memory");
    plan->count = count;
    lay_out(&l, best, plan);
    if (floorplan_check(plan, error))
        return true;
    floorplan_free(plan);
    return false;
}
