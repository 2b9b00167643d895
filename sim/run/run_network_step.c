#include "sim/run/run_network_step.h"

#include "sim/run/run_internal.h"
#include "sim/run/run_network_memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- opening ---- */

static void ask(const struct run_network *n, const struct lowered_step *lowered, enum orch_part part, struct run_request *q)
{
    const bool cores = part == PART_CPU;
    *q = *n->request;
    q->workload = lowered->workload;
    q->unit = orch_part_name(part);
    q->precision = lowered->precision      ? lowered->precision
                   : cores                 ? "f32"
                   : n->request->precision ? n->request->precision
                   : part == PART_ANE      ? "f16"
                                           : "f32";
    q->operands = &lowered->operands;
    q->inputs = NULL;
    q->input_count = 0;
    q->output_folder = NULL;
    q->uncertainty = NULL;
    q->passes = NULL;
    q->dim_count = 0;
    q->images = NULL;
    q->cores = cores ? q->cores : 0;
    if (n->characteristics)
        q->mode = RUN_TIMING;
    else if (cores && q->mode == RUN_TIMING)
        q->mode = RUN_FULL;                 /* programs are timed while they execute */
    q->evict = q->cold && part != PART_GPU; /* programs have equal addresses: what one left would be found by the next */
}

bool network_step_open(const struct run_network *n, enum orch_part asked, const struct lowered_step *lowered,
                       struct network_step *step, struct orch_error *error)
{
    step->asked = asked;
    step->elsewhere = false;
    ask(n, lowered, asked, &step->request);
    /* Eight bits mean exact sums of integers on cores and AMX alone. */
    const bool knows = !lowered->precision || asked == PART_CPU || asked == PART_AMX;
    if (knows && run_kind_on_unit(&step->request))
        step->run = run_prepare(&step->request, error);
    else
        orch_fail(error, ORCH_USAGE, "the library has no %.150s", lowered->workload);
    if (step->run || asked == PART_CPU || error->exit_code == ORCH_INTERNAL)
        return step->run != NULL;
    *error = (struct orch_error){0};
    step->elsewhere = true;
    ask(n, lowered, PART_CPU, &step->request);
    step->run = run_prepare(&step->request, error);
    return step->run != NULL;
}

void network_step_close(struct network_step *step)
{
    run_free(step->run);
    step->run = NULL;
}

/* ---- the placement ---- */

/* The programs of the kernel, behind one another, and what was asked for. */
static void name_kernel(const struct run_result *r, const char *workload, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < r->placement.count && used < size; i++)
        if (i == 0 || strcmp(r->placement.item[i].kernel, r->placement.item[i - 1].kernel) != 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "+" : "", r->placement.item[i].kernel);
    if (used < size)
        snprintf(text + used, size - used, " %s", workload);
}

static bool note_costs(const struct run_network *n, const struct network_step *step, const struct run_result *r)
{
    char seconds[60], joules[60];
    snprintf(seconds, sizeof seconds, RUN_NETWORK_SECONDS, n->result->placement.count);
    snprintf(joules, sizeof joules, RUN_NETWORK_JOULES, n->result->placement.count);
    return run_values_add(&n->result->counters, seconds,
                          n->characteristics && step->run->kind->part == PART_GPU ? r->device_seconds : r->seconds) &&
           (isnan(r->joules) || run_values_add(&n->result->counters, joules, r->joules));
}

static bool note(const struct run_network *n, const char *title, const struct network_step *step, const struct run_result *r)
{
    char kernel[400], why[160], lacks[80] = "";
    name_kernel(r, step->request.workload, kernel, sizeof kernel);
    if (step->elsewhere)
        snprintf(lacks, sizeof lacks, "the library of the %s lacks it; ", orch_part_name(step->asked));
    if (r->bound_by)
        snprintf(why, sizeof why, "%sbound by %s", lacks, r->bound_by);
    else
        snprintf(why, sizeof why, "%sthe library's kernel for it", lacks);
    if (!run_placement_add(&n->result->placement, title, orch_part_name(step->run->kind->part), kernel, why))
        return false;
    return n->request->mode == RUN_FUNCTIONAL || note_costs(n, step, r);
}

/* ---- sums ---- */

static void add_to(struct run_measure *sum, const struct run_measure *pass, enum orch_part part)
{
    run_measure_add(sum, pass);
    if (part == PART_GPU) {
        activity_add(&sum->by[POWER_GPU], &pass->activity);
        run_gpu_add(&sum->gpu, &pass->gpu);
    } else if (part == PART_ANE) {
        activity_add(&sum->by[POWER_ANE], &pass->activity);
        sum->ane.timed.device_ns += pass->ane.timed.device_ns;
        sum->ane.timed.params = pass->ane.timed.params;
    } else {
        sum->core_count = pass->core_count;
        memcpy(sum->cores, pass->cores, sizeof sum->cores);
        sum->shared |= pass->shared;
    }
}

/* The chip is the network's: whoever comes first opens it. */
static void add_measure(struct run_network *n, struct run_measure *pass, enum orch_part part)
{
    const bool gpu = part == PART_GPU;
    n->sum->soc = pass->soc;
    add_to(n->sum, pass, part);
    add_to(gpu ? &n->gpu : &n->cores, pass, part);
    if (gpu && !n->in_command_buffer)
        n->command_buffers++;
    n->in_command_buffer = gpu;
}

/* Instructions and threadgroups of launches, which no measure has. */
static bool add_launch_counters(const struct run_network *n, const struct run_result *r)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->counters.count; i++)
        if (strncmp(r->counters.item[i].name, "gpu.", 4) == 0)
            ok = run_values_add(&n->result->counters, r->counters.item[i].name, r->counters.item[i].value);
    return ok;
}

/* ---- running ---- */

/* The costs of the command buffer are the network's, not the kernel's. */
static bool simulate(struct run_network *n, const struct network_step *step, const struct run_given *given,
                     struct run_measure *pass, struct run_result *r, struct orch_error *error)
{
    struct run *const run = step->run;
    if (!run->kind->time_in(run, given, pass, r, error) || !(add_launch_counters(n, r) || orch_no_memory(error)))
        return false;
    pass->end_ns -= pass->gpu.overhead_ns;
    n->overhead_ns = fmax(n->overhead_ns, pass->gpu.overhead_ns);
    pass->gpu.overhead_ns = 0;
    n->sampled |= run->detail && strcmp(run->detail, "sampled") == 0;
    return run->kind->account(run, pass, r, error) && run_joules(run, pass, r, error);
}

static bool run_on_buffers(struct run_network *n, const struct lowered_step *lowered, const struct network_step *step,
                           struct run_measure *pass, struct run_result *r, struct orch_error *error)
{
    struct run_buffer buffer[RUN_BUFFERS];
    uint64_t address[RUN_BUFFERS] = {0};
    const unsigned buffers = step->run->kind->buffers(step->run, buffer);
    const struct run_given given = {network_memory_space(n->memory), address, buffers};
    const bool values = step->request.mode != RUN_TIMING;
    return network_memory_give(n->memory, buffer, buffers, &lowered->operands, values, address, error) &&
           simulate(n, step, &given, pass, r, error) &&
           (!values || network_memory_take(n->memory, buffer, buffers, &lowered->operands, address, error));
}

/* What of the joules is left without the time of the command buffer. */
static double joules_share(const struct run_network *n, const struct network_step *step, const struct run_measure *pass,
                           const struct run_result *r)
{
    struct energy_model model;
    const double celsius = n->request->celsius;
    if (!energy_model_open(&model, n->request->chip, NULL))
        return 1;
    return run_joules_of(step->run->kind, &model, pass, celsius, r->device_seconds, r->device_seconds) /
           run_joules_of(step->run->kind, &model, pass, celsius, r->seconds, r->device_seconds);
}

/* From the characteristic of the kernel, which has the costs of a command buffer of its own. */
static bool compose(struct run_network *n, const struct network_step *step, struct run_measure *pass, struct run_result *r,
                    struct orch_error *error)
{
    const bool gpu = step->run->kind->part == PART_GPU;
    if (!run_operator(step->run, pass, r, error))
        return false;
    if (gpu) {
        n->overhead_ns = fmax(n->overhead_ns, 1e9 * r->overhead_seconds);
        pass->gpu.device_ns = pass->end_ns = 1e9 * r->device_seconds;
        if (!isnan(r->joules))
            r->joules *= joules_share(n, step, pass, r);
    }
    if (step->run->kind->part == PART_ANE)
        pass->ane.timed.device_ns = 1e9 * r->device_seconds;
    return true;
}

bool network_step_run(struct run_network *n, const char *title, const struct lowered_step *lowered, struct network_step *step,
                      struct orch_error *error)
{
    struct run_measure pass = {.soc = n->sum->soc};
    struct run_result r;
    run_result_init(&r);
    bool ok = n->characteristics         ? compose(n, step, &pass, &r, error)
              : step->run->kind->buffers ? run_on_buffers(n, lowered, step, &pass, &r, error)
                                         : simulate(n, step, NULL, &pass, &r, error);
    if (ok) {
        add_measure(n, &pass, step->run->kind->part);
        n->flops += step->run->kind->operation(step->run).flops;
        n->kernels++;
        n->elsewhere += step->elsewhere;
        ok = (note(n, title, step, &r) && (!n->operators || run_network_add_operator(n, step->run->kind->part, &r))) ||
             orch_no_memory(error);
    }
    if (n->sum->soc)
        pass.soc = NULL;
    run_measure_release(&pass);
    run_result_free(&r);
    return ok || orch_fail_in(error, "%s", title);
}
