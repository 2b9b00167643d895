#include "reports/chart_parts.h"

#include <stdlib.h>

static int by_x(const void *a, const void *b)
{
    const struct chart_point *x = a, *y = b;
    return x->x < y->x ? -1 : x->x > y->x ? 1 : x->y > y->y ? -1 : x->y < y->y;
}

void chart_pareto(struct text *out, const struct svg_frame *frame, const void *description)
{
    const struct chart_pareto *const c = description;
    struct chart_point *const front = calloc(c->points + 1, sizeof *front), *const rest = calloc(c->points + 1, sizeof *rest);
    size_t fronts = 0, rests = 0;

    if (!front || !rest) {
        out->failed = true;
    } else {
        for (size_t i = 0; i < c->points; i++) {
            if (c->front[i])
                front[fronts++] = c->point[i];
            else
                rest[rests++] = c->point[i];
        }
        qsort(front, fronts, sizeof *front, by_x);
        const struct chart_series series[] = {
            {"other points", 7, SVG_CIRCLE, true, false, false, rest, rests},
            {"no other point is better in both", 0, SVG_DIAMOND, false, true, false, front, fronts},
        };
        const struct chart_xy xy = {.x = c->x, .y = c->y, .series = series, .count = 2};
        chart_xy(out, frame, &xy);
    }
    free(front);
    free(rest);
}
