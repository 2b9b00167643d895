#include "sim/run/network/run_network_alone.h"

#include "isa/list_grow.h"
#include "sim/run/run_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct noted {
    const struct net_node *node;
    size_t lines; /* of the placement, when it was done */
    double seconds, joules;
};

struct network_alone {
    enum orch_part part;
    struct noted *noted;
    size_t count, room;
    double begin_s, begin_joules, waiting_w;
};

bool network_alone_note(struct network_alone *a, const struct net_node *node, size_t lines)
{
    struct noted *const grown = list_grow(a->noted, a->count, &a->room, sizeof *grown);
    if (!grown)
        return false;
    a->noted = grown;
    grown[a->count++] = (struct noted){node, lines, INFINITY, INFINITY};
    return true;
}

static bool is_of(const struct network_alone *a, const char *unit)
{
    return strcmp(unit, orch_part_name(a->part)) == 0 || (a->part == PART_AMX && strcmp(unit, orch_part_name(PART_CPU)) == 0);
}

/* A kernel that ran when the network was loaded takes no time, whoever ran it. */
static void add_line(const struct network_alone *a, const struct run_result *r, size_t line, struct noted *noted)
{
    const struct run_placement *const p = &r->placement.item[line];
    char name[60];
    if (strcmp(p->why, RUN_NETWORK_AT_LOAD) == 0 || strcmp(p->unit, RUN_NETWORK_VIEW) == 0)
        return;
    snprintf(name, sizeof name, RUN_NETWORK_SECONDS, line + 1);
    const double seconds = run_values_get(&r->counters, name);
    snprintf(name, sizeof name, RUN_NETWORK_JOULES, line + 1);
    const bool timed = is_of(a, p->unit) && !isnan(seconds);
    noted->seconds += timed ? seconds : INFINITY;
    noted->joules += timed ? run_values_get(&r->counters, name) : INFINITY;
}

static void read_lines(struct network_alone *a, const struct run_result *r)
{
    size_t line = 0;
    for (size_t i = 0; i < a->count; i++) {
        struct noted *const noted = &a->noted[i];
        noted->seconds = noted->joules = line < noted->lines ? 0 : INFINITY;
        for (; line < noted->lines; line++)
            add_line(a, r, line, noted);
    }
}

/* Of the chip while no unit has a clock. */
static double idle_watts(const struct run_request *q)
{
    struct energy_model model;
    struct energy_run e;
    struct energy_report report;
    if (!energy_model_open(&model, q->chip, NULL))
        return NAN;
    energy_run_start(&e, &model, 1, 1);
    energy_run_set_memory(&e, &model);
    energy_report(&e, &model, q->celsius != 0 ? q->celsius : energy_reference_celsius(&model), &report);
    return report.joules;
}

static void read_begin(struct network_alone *a, const struct run_network *apart)
{
    const bool gpu = a->part == PART_GPU;
    a->begin_s = 1e-9 * (gpu ? apart->overhead_ns : apart->request_ns);
    a->begin_joules = gpu ? apart->overhead_joules : apart->request_joules;
}

struct network_alone *network_alone_time(const struct run_network *network, enum orch_part part, bool e_core,
                                         struct orch_error *error)
{
    struct network_alone *const a = calloc(1, sizeof *a);
    struct net_array **const output = calloc(network->model->graph->outputs + 1, sizeof(*output));
    struct run_measure sum = {.soc = NULL};
    struct run_result result, operators;
    struct run_request request = *network->request;
    const bool cores = part == PART_CPU || part == PART_AMX; /* which are in f32 whatever the others are in */
    struct run_network apart = {.request = &request,
                                .part = part,
                                .e_core = e_core,
                                .model = network->model,
                                .input = network->input,
                                .mixed = cores ? NULL : network->mixed,
                                .sum = &sum,
                                .characteristics = true,
                                .result = &result,
                                .operators = &operators,
                                .alone = a};
    request.policy = NULL;
    request.watch = NULL;
    request.precision = cores ? NULL : request.precision;
    run_result_init(&result);
    run_result_init(&operators);
    const bool ok = (a && output) ? run_network(&apart, output, error) : orch_no_memory(error);
    if (ok) {
        a->part = part;
        read_lines(a, &result);
        read_begin(a, &apart);
        a->waiting_w = apart.waiting_w > 0 ? fmax(0, apart.waiting_w - idle_watts(&request)) : 0;
    }
    for (size_t k = 0; output && k < network->model->graph->outputs; k++)
        net_array_release(output[k]);
    free(output);
    run_result_free(&operators);
    run_result_free(&result);
    run_measure_release(&sum);
    if (ok)
        return a;
    network_alone_free(a);
    return NULL;
}

void network_alone_free(struct network_alone *a)
{
    if (a)
        free(a->noted);
    free(a);
}

static const struct noted *find(const struct network_alone *a, const struct net_node *node)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->noted[i].node == node)
            return &a->noted[i];
    return NULL;
}

double network_alone_seconds(const struct network_alone *a, const struct net_node *node)
{
    const struct noted *const noted = find(a, node);
    return noted ? noted->seconds : INFINITY;
}

double network_alone_joules(const struct network_alone *a, const struct net_node *node)
{
    const struct noted *const noted = find(a, node);
    return noted ? noted->joules : INFINITY;
}

double network_alone_begin_s(const struct network_alone *a)
{
    return a->begin_s;
}

double network_alone_begin_joules(const struct network_alone *a)
{
    return a->begin_joules;
}

double network_alone_waiting_w(const struct network_alone *a)
{
    return a->waiting_w;
}
