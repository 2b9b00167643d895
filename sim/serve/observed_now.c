#include "sim/serve/observed_now.h"

#include "isa/array_count.h"
#include "sim/serve/exposition.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 64, NAME = 48 };

struct work {
    int64_t id;
    char kind[8], workload[NAME], chip[NAME], unit[16];
    double fraction, seconds, host_s, ops, op_s, points, points_done, watts, celsius, dram_bytes_s, utilisation;
};

struct gathered {
    struct work work[SHOWN];
    size_t count, runs, sweeps; /* count: of work */
};

static void copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

static void gather(void *gathered, const struct db_progress *p)
{
    struct gathered *const g = gathered;
    *(strcmp(p->kind, "run") == 0 ? &g->runs : &g->sweeps) += 1;
    if (g->count == SHOWN)
        return;
    struct work *const w = &g->work[g->count++];
    *w = (struct work){.id = p->id,
                       .fraction = p->fraction,
                       .seconds = p->seconds,
                       .host_s = p->host_seconds,
                       .ops = p->ops,
                       .op_s = p->op_seconds,
                       .points = p->points,
                       .points_done = p->points_done,
                       .watts = p->watts,
                       .celsius = p->celsius,
                       .dram_bytes_s = 1e9 * p->dram_gbps,
                       .utilisation = p->utilisation};
    copy(w->kind, sizeof w->kind, p->kind);
    copy(w->workload, sizeof w->workload, p->workload);
    copy(w->chip, sizeof w->chip, p->chip);
    copy(w->unit, sizeof w->unit, p->unit);
}

static const struct {
    const char *name, *help;
    size_t offset;
} metrics[] = {
    {"orchard_running_done_ratio", "How much is done of what a run or sweep does now", offsetof(struct work, fraction)},
    {"orchard_running_simulated_seconds", "Simulated time that a run has reached", offsetof(struct work, seconds)},
    {"orchard_running_host_seconds", "Time of the host since a run or sweep began", offsetof(struct work, host_s)},
    {"orchard_running_operations", "Operations of a run that ended so far", offsetof(struct work, ops)},
    {"orchard_running_operation_seconds", "Simulated time of these operations on their units", offsetof(struct work, op_s)},
    {"orchard_running_power_watts", "Power of the simulated package now", offsetof(struct work, watts)},
    {"orchard_running_temperature_celsius", "Hottest block of the simulated die now", offsetof(struct work, celsius)},
    {"orchard_running_memory_bytes_per_second", "Simulated DRAM traffic now", offsetof(struct work, dram_bytes_s)},
    {"orchard_running_utilisation_ratio", "Utilisation of the unit that works now", offsetof(struct work, utilisation)},
    {"orchard_running_points", "Points of a sweep", offsetof(struct work, points)},
    {"orchard_running_points_done", "Points of a sweep that are done", offsetof(struct work, points_done)},
};

static double value_of(const struct work *w, size_t metric)
{
    double value;
    memcpy(&value, (const char *)w + metrics[metric].offset, sizeof value);
    return value;
}

static void put_labels(struct text *to, const struct work *w)
{
    const char *const name[] = {"kind", "workload", "chip", "unit"}, *const value[] = {w->kind, w->workload, w->chip, w->unit};
    text_printf(to, "row=\"%lld\"", (long long)w->id);
    for (size_t i = 0; i < ARRAY_COUNT(name); i++) {
        text_put(to, ",");
        exposition_label(to, name[i], value[i]);
    }
    text_bytes(to, "", 1);
}

static void put_metric(const struct gathered *g, size_t metric, struct text *to)
{
    bool any = false;
    for (size_t i = 0; i < g->count; i++) {
        struct text labels = {.data = NULL};
        const double value = value_of(&g->work[i], metric);
        if (isnan(value))
            continue;
        if (!any)
            exposition_head(to, metrics[metric].name, "gauge", metrics[metric].help);
        any = true;
        put_labels(&labels, &g->work[i]);
        if (!labels.failed)
            exposition_value(to, metrics[metric].name, labels.data, value);
        to->failed |= labels.failed;
        text_free(&labels);
    }
}

size_t observed_now(struct orch_db *db, struct text *to)
{
    struct gathered *const g = calloc(1, sizeof *g);
    if (!g)
        return 0;
    db_visit_progress(db, gather, g, NULL);
    exposition_head(to, "orchard_runs_running", "gauge", "Runs that are going on, in any process");
    exposition_value(to, "orchard_runs_running", "", (double)g->runs);
    exposition_head(to, "orchard_sweeps_running", "gauge", "Sweeps that are going on, in any process");
    exposition_value(to, "orchard_sweeps_running", "", (double)g->sweeps);
    for (size_t m = 0; m < ARRAY_COUNT(metrics); m++)
        put_metric(g, m, to);
    const size_t going = g->runs + g->sweeps;
    free(g);
    return going;
}
