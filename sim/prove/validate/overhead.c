#include "sim/prove/validate/overhead.h"

#include "isa/array_count.h"
#include "sim/prove/validate/validate.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* kind: measured. Each line names the rows that it was measured by, which are scored apart. Written by `orchard validate
 * --measure-overheads`. One set for a framework, version and machine, and one for all machines of a version; which version a table
 * was made with is in row_framework.c. */
static const struct validate_overhead overheads[] = {
#include "sim/prove/validate/overheads.inc"
};

size_t validate_overhead_count(void)
{
    return ARRAY_COUNT(overheads);
}

const struct validate_overhead *validate_overhead_at(size_t index)
{
    return &overheads[index];
}

bool validate_overhead_covers(const char *name, const char *framework)
{
    const size_t length = strlen(name);
    return strncmp(framework, name, length) == 0 && (!framework[length] || framework[length] == ',');
}

const struct validate_overhead *validate_overhead_of(const char *framework)
{
    const struct validate_overhead *of_version = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(overheads); i++) {
        if (strcmp(overheads[i].framework, framework) == 0)
            return &overheads[i];
        if (validate_overhead_covers(overheads[i].framework, framework))
            of_version = &overheads[i];
    }
    return of_version;
}

double validate_overhead_seconds(const struct validate_overhead *overhead, double bytes, double out_bytes)
{
    return overhead->call_us * 1e-6 + (overhead->ns_per_kib * bytes + overhead->ns_per_kib_out * out_bytes) / 1024 * 1e-9;
}

/* ---- measurement ---- */

enum use { OF_CALLS, OF_BYTES_IN, OF_BYTES_OUT };

/* Next to nothing is copied out of a sample that measures copies in. */
static bool is_inward(const struct overhead_sample *s)
{
    return s->in_kib > 0 && s->out_kib < 0.01 * s->in_kib;
}

static double fewest_bytes(const struct overhead_sample *s, size_t count)
{
    double least = INFINITY;
    for (size_t i = 0; i < count; i++)
        least = s[i].in_kib == 0 ? fmin(least, s[i].bytes) : least;
    return least;
}

static bool is_for(const struct overhead_sample *s, enum use use, double fewest)
{
    switch (use) {
    case OF_CALLS: return s->in_kib == 0 && s->bytes == fewest && fewest <= OVERHEAD_BYTES_MAX;
    case OF_BYTES_IN: return is_inward(s);
    case OF_BYTES_OUT: return s->out_kib > 0 && !is_inward(s);
    }
    return false;
}

/* The middle of what the samples of a use say; 0 without any, and never less. `room` holds `count` numbers. */
static double middle(struct overhead_sample *s, size_t count, enum use use, double us_per_kib, double *room)
{
    const double fewest = fewest_bytes(s, count);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_for(&s[i], use, fewest))
            continue;
        s[i].used = true;
        room[n++] = use == OF_CALLS      ? s[i].missing_us
                    : use == OF_BYTES_IN ? s[i].missing_us / s[i].in_kib
                                         : (s[i].missing_us - us_per_kib * s[i].in_kib) / s[i].out_kib;
    }
    if (n == 0)
        return 0;
    gsl_sort(room, 1, n);
    return fmax(0, gsl_stats_median_from_sorted_data(room, 1, n));
}

struct overhead_measured overhead_measure(struct overhead_sample *samples, size_t count)
{
    struct overhead_measured m = {.rows = 0};
    double *const room = malloc((count + 1) * sizeof *room);
    for (size_t i = 0; i < count; i++)
        samples[i].used = false;
    if (!room)
        return m;
    m.call_us = middle(samples, count, OF_CALLS, 0, room);
    const double in_us = middle(samples, count, OF_BYTES_IN, 0, room);
    m.ns_per_kib = 1e3 * in_us;
    m.ns_per_kib_out = 1e3 * middle(samples, count, OF_BYTES_OUT, in_us, room);
    for (size_t i = 0; i < count; i++)
        m.rows += samples[i].used;
    free(room);
    return m;
}
