#include "sim/run/run_network_engine.h"

#include "isa/list_grow.h"
#include "sim/run/run_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct noted {
    const struct net_node *node;
    size_t lines; /* of the placement, when it was done */
    double seconds;
};

struct network_engine {
    struct noted *noted;
    size_t count, room;
    double request_s;
};

bool network_engine_note(struct network_engine *e, const struct net_node *node, size_t lines)
{
    struct noted *const grown = list_grow(e->noted, e->count, &e->room, sizeof *grown);
    if (!grown)
        return false;
    e->noted = grown;
    grown[e->count++] = (struct noted){node, lines, INFINITY};
    return true;
}

/* A kernel that ran when the network was loaded takes no time, whoever ran it. */
static double line_seconds(const struct run_result *r, size_t line)
{
    const struct run_placement *const p = &r->placement.item[line];
    char name[60];
    if (strcmp(p->why, RUN_NETWORK_AT_LOAD) == 0 || strcmp(p->unit, RUN_NETWORK_VIEW) == 0)
        return 0;
    if (strcmp(p->unit, orch_part_name(PART_ANE)) != 0)
        return INFINITY;
    snprintf(name, sizeof name, RUN_NETWORK_SECONDS, line + 1);
    const double seconds = run_values_get(&r->counters, name);
    return isnan(seconds) ? INFINITY : seconds;
}

static void read_lines(struct network_engine *e, const struct run_result *r)
{
    size_t line = 0;
    for (size_t i = 0; i < e->count; i++) {
        struct noted *const noted = &e->noted[i];
        noted->seconds = line < noted->lines ? 0 : INFINITY;
        for (; line < noted->lines; line++)
            noted->seconds += line_seconds(r, line);
    }
}

struct network_engine *network_engine_time(const struct run_network *network, struct orch_error *error)
{
    struct network_engine *const e = calloc(1, sizeof *e);
    struct net_array **const output = calloc(network->model->graph->outputs + 1, sizeof(*output));
    struct run_measure sum = {.soc = NULL};
    struct run_result result, operators;
    struct run_request request = *network->request;
    struct run_network apart = {.request = &request,
                                .part = PART_ANE,
                                .model = network->model,
                                .input = network->input,
                                .mixed = network->mixed,
                                .sum = &sum,
                                .characteristics = true,
                                .result = &result,
                                .operators = &operators,
                                .engine = e};
    request.policy = NULL;
    request.watch = NULL;
    run_result_init(&result);
    run_result_init(&operators);
    const bool ok = (e && output) ? run_network(&apart, output, error) : orch_no_memory(error);
    if (ok) {
        read_lines(e, &result);
        e->request_s = 1e-9 * apart.request_ns;
    }
    for (size_t k = 0; output && k < network->model->graph->outputs; k++)
        net_array_release(output[k]);
    free(output);
    run_result_free(&operators);
    run_result_free(&result);
    run_measure_release(&sum);
    if (ok)
        return e;
    network_engine_free(e);
    return NULL;
}

void network_engine_free(struct network_engine *e)
{
    if (e)
        free(e->noted);
    free(e);
}

double network_engine_seconds(const struct network_engine *e, const struct net_node *node)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->noted[i].node == node)
            return e->noted[i].seconds;
    return INFINITY;
}

double network_engine_request_s(const struct network_engine *e)
{
    return e->request_s;
}
