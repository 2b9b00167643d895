#include "sim/run/network/run_network_around.h"

#include "sim/run/run_internal.h"
#include "sim/run/network/run_network_image.h"
#include "sim/run/network/run_network_schedule.h"
#include "sim/run/network/run_network_step.h"
#include "sim/run/run_timing.h"

#include <stdarg.h>
#include <stdio.h>

/* By the performance database, or by a simulation whose timing is the caller's to free. */
static const struct run_timing *time_of(const struct run_network *n, const struct run_request *q, struct run_timing *own,
                                        struct orch_error *error)
{
    const struct run_known *const known = n->request->known;
    bool was_known;
    if (known)
        return known->timing(known->context, q, &was_known, error);
    return run_timing_simulate(q, own, error) ? own : NULL;
}

/* A timing has no cores of its own: those that computed the network's kernels stay what its sum is asked about. */
static bool add_timing(struct run_network *n, const struct network_step *step, const struct run_timing *timing,
                       struct run_measure *pass, const struct run_result *r, size_t place)
{
    const struct run_measure sum = *n->sum, cores = n->cores;
    const bool ok = network_step_add(n, step, timing->kind, pass, r, place);
    n->sum->soc = sum.soc;
    n->sum->critical = sum.critical;
    n->cores.critical = cores.critical;
    return ok;
}

static bool add_line(struct run_network *n, const struct lowered_step *lowered, const struct run_request *q, const char *title,
                     const struct run_timing *timing, struct orch_error *error)
{
    const struct network_step step = {.request = *q, .asked = PART_CPU};
    struct run_measure pass = {.soc = NULL};
    struct run_result r;
    run_result_init(&r);
    const bool timed = run_timing_measure(timing, q, &pass, &r, error);
    const bool ok = timed && run_placement_add(&n->result->placement, title, orch_part_name(PART_CPU), "", "");
    const size_t place = n->result->placement.count - 1;
    network_step_count_buffer(n, PART_CPU);
    for (size_t i = 0; n->around && i < r.stalls.count; i++)
        (void)!run_values_add(n->around, r.stalls.item[i].name, r.seconds * r.stalls.item[i].value);
    const bool added = ok && network_schedule_add(n->schedule, PART_CPU, place, lowered) &&
                       network_schedule_core(n->schedule, SOC_E_CORE) && add_timing(n, &step, timing, &pass, &r, place);
    run_measure_release(&pass);
    run_result_free(&r);
    return added || (timed && orch_no_memory(error));
}

/* A kernel on an E core that reads one array and writes another, which may be the same. */
static bool add_kernel(struct run_network *n, const struct net_array *from, const struct net_array *to, const char *title,
                       struct orch_error *error, const char *format, ...) __attribute__((format(printf, 6, 7)));
static bool add_kernel(struct run_network *n, const struct net_array *from, const struct net_array *to, const char *title,
                       struct orch_error *error, const char *format, ...)
{
    struct lowered_step lowered = {.part = PART_CPU};
    struct run_network apart = *n;
    struct run_timing own;
    struct run_request q;
    va_list args;
    va_start(args, format);
    vsnprintf(lowered.workload, sizeof lowered.workload, format, args);
    va_end(args);
    if (from)
        lowered.input[lowered.operands.inputs++] = (struct run_operand){from->data, net_array_bytes(from)};
    lowered.operands.input = lowered.input;
    lowered.operands.result = to ? to->data : NULL;
    lowered.operands.result_bytes = to ? net_array_bytes(to) : 0;
    apart.characteristics = true;
    apart.e_core = true;
    network_step_ask(&apart, lowered.workload, "f32", PART_CPU, &q);
    q.cores = 1;
    run_timing_init(&own);
    const struct run_timing *const timing = time_of(n, &q, &own, error);
    const bool ok = timing && add_line(n, &lowered, &q, title, timing, error);
    run_timing_free(&own);
    return ok || orch_fail_in(error, "%s", title);
}

/* A large image is averaged by whole factors first, then each pixel lies between four others. */
static bool add_resize(struct run_network *n, const struct run_network_picture *p, struct orch_error *error)
{
    unsigned width = p->width, height = p->height;
    const unsigned across = p->columns < width ? width / (unsigned)p->columns : 1;
    const unsigned down = p->rows < height ? height / (unsigned)p->rows : 1, factor = across < down ? across : down;
    if (factor > 1 && !add_kernel(n, NULL, p->input, "Image averaged", error, "pool:c=%u,h=%u,w=%u,r=%u,s=%u,stride=%u,op=avg",
                                  p->colours, height / factor * factor, width / factor * factor, factor, factor, factor))
        return false;
    width /= factor;
    height /= factor;
    return (width == p->columns && height == p->rows) ||
           add_kernel(n, p->input, p->input, "Image resized", error, "resize:c=%u,h=%u,w=%u,oh=%lld,ow=%lld,mode=bilinear",
                      p->colours, height, width, (long long)p->rows, (long long)p->columns);
}

static bool add_picture(struct run_network *n, const struct run_network_picture *p, struct orch_error *error)
{
    const long long pixels = (long long)(p->rows * p->columns);
    return add_resize(n, p, error) &&
           (p->colours == 1 ||
            add_kernel(n, p->input, p->input, "Image by colours", error, "transpose:%lldx%u", pixels, p->colours)) &&
           (!p->scaled || add_kernel(n, p->input, p->input, "Image normalised", error, "batchnorm:n=1,c=%u,h=%lld,w=%lld,eps=0",
                                     p->colours, (long long)p->rows, (long long)p->columns));
}

static bool is_timed(const struct run_network *n)
{
    return !n->alone && !n->request->build && n->request->mode != RUN_FUNCTIONAL;
}

bool run_network_time_pictures(struct run_network *n, const struct run_network_picture *picture, size_t count,
                               struct orch_error *error)
{
    for (size_t k = 0; k < count && is_timed(n); k++)
        if (!add_picture(n, &picture[k], error))
            return false;
    return true;
}

bool run_network_time_classes(struct run_network *n, struct net_array *const *output, struct orch_error *error)
{
    enum { BEST = 5 };
    const struct net_array *found = NULL;
    for (size_t k = 0; n->model->labels && k < n->model->graph->outputs && !found; k++)
        found = output[k] && (size_t)output[k]->count == n->model->labels ? output[k] : NULL;
    for (unsigned k = 0; found && k < BEST && is_timed(n); k++)
        if (!add_kernel(n, found, NULL, "Classes: the next best", error, "reduce:1x%lld,op=argmax", (long long)found->count))
            return false;
    return true;
}
