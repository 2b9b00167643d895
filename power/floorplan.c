#include "power/floorplan.h"

#include "power/text_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool add_block(struct floorplan *plan, size_t *room, const struct floorplan_block *block)
{
    if (plan->count == *room) {
        const size_t more = *room ? *room * 2 : 32;
        struct floorplan_block *grown = realloc(plan->block, more * sizeof *grown);
        if (!grown)
            return false;
        plan->block = grown;
        *room = more;
    }
    plan->block[plan->count++] = *block;
    return true;
}

static bool read_block(struct text_line *line, struct floorplan_block *block, struct power_error *error)
{
    memset(block, 0, sizeof *block);
    if (!text_word(line, block->name, sizeof block->name))
        return power_fail(error, line->number, "block names have 1 to %d characters", FLOORPLAN_NAME - 1);
    double *const value[] = {&block->width_m, &block->height_m, &block->left_m, &block->bottom_m};
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++)
        if (!text_number(line, value[i]))
            return power_fail(error, line->number, "expected: name width height left bottom, in metres");
    return true;
}

bool floorplan_parse(const char *text, size_t size, struct floorplan *plan, struct power_error *error)
{
    struct text_line line;
    size_t room = 0;
    bool ok = true;

    memset(plan, 0, sizeof *plan);
    text_lines_begin(&line, text, size);
    while (ok && text_next_line(&line)) {
        struct floorplan_block block;
        ok = read_block(&line, &block, error);
        if (ok && !text_line_ended(&line))
            ok = power_fail(error, line.number, "block %s: more than four numbers", block.name);
        if (ok && !add_block(plan, &room, &block))
            ok = power_fail(error, 0, "out of memory");
    }
    ok = ok && floorplan_check(plan, error);
    if (!ok)
        floorplan_free(plan);
    return ok;
}

void floorplan_free(struct floorplan *plan)
{
    free(plan->block);
    memset(plan, 0, sizeof *plan);
}

static double overlap(double a, double a_size, double b, double b_size)
{
    return fmin(a + a_size, b + b_size) - fmax(a, b);
}

static bool check_block(const struct floorplan *plan, size_t i, struct power_error *error)
{
    const struct floorplan_block *const b = &plan->block[i];

    if (!(b->width_m > 0) || !(b->height_m > 0) || !isfinite(b->width_m) || !isfinite(b->height_m))
        return power_fail(error, 0, "block %s: width and height must be positive", b->name);
    if (!(b->left_m >= -FLOORPLAN_EPSILON_M) || !(b->bottom_m >= -FLOORPLAN_EPSILON_M) || !isfinite(b->left_m) ||
        !isfinite(b->bottom_m))
        return power_fail(error, 0, "block %s lies outside the die: left and bottom start at 0", b->name);
    for (size_t j = 0; j < i; j++) {
        const struct floorplan_block *const c = &plan->block[j];
        if (strcmp(b->name, c->name) == 0)
            return power_fail(error, 0, "block %s appears twice", b->name);
        if (overlap(b->left_m, b->width_m, c->left_m, c->width_m) > FLOORPLAN_EPSILON_M &&
            overlap(b->bottom_m, b->height_m, c->bottom_m, c->height_m) > FLOORPLAN_EPSILON_M)
            return power_fail(error, 0, "blocks %s and %s overlap", c->name, b->name);
    }
    return true;
}

bool floorplan_check(struct floorplan *plan, struct power_error *error)
{
    double area = 0;

    if (plan->count == 0)
        return power_fail(error, 0, "a floorplan has at least one block");
    plan->width_m = plan->height_m = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct floorplan_block *const b = &plan->block[i];
        if (!check_block(plan, i, error))
            return false;
        plan->width_m = fmax(plan->width_m, b->left_m + b->width_m);
        plan->height_m = fmax(plan->height_m, b->bottom_m + b->height_m);
        area += b->width_m * b->height_m;
    }
    /* The blocks lie inside and do not overlap, so they leave no gap when their areas add up to that of the die. */
    const double die = plan->width_m * plan->height_m;
    if (fabs(die - area) > FLOORPLAN_EPSILON_M * (plan->width_m + plan->height_m) * (double)plan->count)
        return power_fail(error, 0, "blocks leave gaps: they cover %.4f of %.4f square millimetres", 1e6 * area, 1e6 * die);
    return true;
}

long floorplan_find(const struct floorplan *plan, const char *name)
{
    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->block[i].name, name) == 0)
            return (long)i;
    return -1;
}

double floorplan_shared_edge_m(const struct floorplan_block *a, const struct floorplan_block *b, bool *vertical)
{
    const double across = overlap(a->left_m, a->width_m, b->left_m, b->width_m);
    const double up = overlap(a->bottom_m, a->height_m, b->bottom_m, b->height_m);

    *vertical = fabs(across) < FLOORPLAN_EPSILON_M && up > FLOORPLAN_EPSILON_M;
    if (*vertical)
        return up;
    return fabs(up) < FLOORPLAN_EPSILON_M && across > FLOORPLAN_EPSILON_M ? across : 0;
}
