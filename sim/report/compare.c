#include "sim/report/compare.h"
#include "isa/array_count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool differ(double a, double b)
{
    return isnan(a) != isnan(b) || (!isnan(a) && a != b);
}

static void add_number(struct compare_number *list, size_t *count, const char *name, const char *unit, double a, double b)
{
    struct compare_number *const n = &list[*count];
    if (!differ(a, b))
        return;
    snprintf(n->name, sizeof n->name, "%s", name);
    n->unit = unit;
    n->a = a;
    n->b = b;
    n->ratio = a != 0 && b / a > 0 ? b / a : (double)NAN;
    ++*count;
}

/* ---- numbers ---- */

/* Names that only `b` has come after those of `a`. */
static void add_values(struct compare_number *list, size_t *count, const char *prefix, const char *unit,
                       const struct run_values *a, const struct run_values *b)
{
    char name[80];
    for (size_t i = 0; i < a->count; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, a->item[i].name);
        add_number(list, count, name, unit, a->item[i].value, run_values_get(b, a->item[i].name));
    }
    for (size_t i = 0; i < b->count; i++)
        if (isnan(run_values_get(a, b->item[i].name))) {
            snprintf(name, sizeof name, "%s%s", prefix, b->item[i].name);
            add_number(list, count, name, unit, NAN, b->item[i].value);
        }
}

static bool compare_numbers(struct comparison *c)
{
    const struct run_result *const a = &c->a->r, *const b = &c->b->r;
    c->number = calloc(run_number_field_count() + RUN_UTILISATION_COUNT + a->joules_by.count + b->joules_by.count +
                           a->counters.count + b->counters.count,
                       sizeof *c->number);
    if (!c->number)
        return false;
    for (size_t i = 0; i < run_number_field_count(); i++) {
        const struct run_number_field *const f = run_number_field(i);
        if (f->offset != offsetof(struct run_result, host_seconds)) /* a property of the host, not of the simulation */
            add_number(c->number, &c->numbers, f->name, f->unit, run_number_of(a, f), run_number_of(b, f));
    }
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof name, "utilisation.%s", orch_part_name((enum orch_part)i));
        add_number(c->number, &c->numbers, name, "1", a->utilisation[i], b->utilisation[i]);
    }
    add_values(c->number, &c->numbers, "joules.", "J", &a->joules_by, &b->joules_by);
    add_values(c->number, &c->numbers, "", "", &a->counters, &b->counters);
    return true;
}

/* ---- reasons ---- */

static double zero_for_none(double x)
{
    return isnan(x) ? 0 : x;
}

/* Seconds by which a reason for waiting grew, while the pair is sorted: its share times the time of each run. */
struct growth {
    struct compare_number number;
    double seconds;
};

static int by_growth(const void *a, const void *b)
{
    const double x = fabs(((const struct growth *)a)->seconds), y = fabs(((const struct growth *)b)->seconds);
    return x < y ? 1 : x > y ? -1 : strcmp(((const struct growth *)a)->number.name, ((const struct growth *)b)->number.name);
}

/* Compares seconds, not shares, so that a reason that grew shows whatever the whole did. */
static bool compare_stalls(struct comparison *c)
{
    const struct run_result *const a = &c->a->r, *const b = &c->b->r;
    const size_t most = a->stalls.count + b->stalls.count;
    struct compare_number *const shares = calloc(most + 1, sizeof *shares);
    struct growth *const all = calloc(most + 1, sizeof *all);
    c->stall = calloc(most + 1, sizeof *c->stall);
    if (shares && all && c->stall) {
        size_t count = 0;
        add_values(shares, &count, "", "s", &a->stalls, &b->stalls);
        for (size_t i = 0; i < count; i++) {
            const double x = zero_for_none(shares[i].a) * a->seconds, y = zero_for_none(shares[i].b) * b->seconds;
            size_t one = 0;
            add_number(&all[i].number, &one, shares[i].name, "s", x, y);
            if (one == 0) /* the same seconds can be different shares of different times */
                snprintf(all[i].number.name, sizeof all[i].number.name, "%s", shares[i].name);
            all[i].seconds = y - x;
        }
        qsort(all, count, sizeof *all, by_growth);
        for (size_t i = 0; i < count; i++)
            if (all[i].seconds != 0)
                c->stall[c->stalls++] = all[i].number;
    }
    const bool ok = shares && all && c->stall;
    free(shares);
    free(all);
    return ok;
}

/* ---- what decides the answer ---- */

static bool compare_texts(struct comparison *c)
{
    const struct report_run *const a = c->a, *const b = c->b;
    const struct compare_text all[] = {
        {"workload", a->r.workload, b->r.workload},
        {"chip", a->r.chip, b->r.chip},
        {"device", a->r.device, b->r.device},
        {"unit", a->r.unit, b->r.unit},
        {"precision", a->r.precision, b->r.precision},
        {"detail", a->r.detail, b->r.detail},
        {"mode", a->r.mode, b->r.mode},
        {"options", a->options, b->options},
        {"version", a->version, b->version},
        {"values of the chip", a->chip_hash, b->chip_hash},
        {"bound by", a->r.bound_by, b->r.bound_by},
    };
    c->text = calloc(ARRAY_COUNT(all), sizeof *c->text);
    for (size_t i = 0; c->text && i < ARRAY_COUNT(all); i++) {
        const bool both = all[i].a && all[i].b;
        if (both ? strcmp(all[i].a, all[i].b) != 0 : all[i].a != all[i].b)
            c->text[c->texts++] = all[i];
    }
    return c->text != NULL;
}

static bool compare_keys(struct comparison *c)
{
    c->key = calloc(chip_key_count() + 1, sizeof *c->key);
    if (!c->key)
        return false;
    for (size_t i = 0; c->a->chip && c->b->chip && i < chip_key_count(); i++) {
        const struct chip_value *const a = chip_value_at(c->a->chip, i), *const b = chip_value_at(c->b->chip, i);
        if (chip_value_same(a, b))
            continue;
        c->key[c->keys].a = a;
        c->key[c->keys++].b = b;
    }
    return true;
}

bool compare_runs(const struct report_run *a, const struct report_run *b, struct comparison *c, struct orch_error *error)
{
    *c = (struct comparison){.a = a, .b = b};
    c->has_intervals = a->r.seconds_low < a->r.seconds_high && b->r.seconds_low < b->r.seconds_high;
    c->intervals_overlap = a->r.seconds_low <= b->r.seconds_high && b->r.seconds_low <= a->r.seconds_high;
    return (compare_numbers(c) && compare_stalls(c) && compare_texts(c) && compare_keys(c)) || orch_no_memory(error);
}

void compare_free(struct comparison *c)
{
    free(c->text);
    free(c->number);
    free(c->stall);
    free(c->key);
    *c = (struct comparison){0};
}
