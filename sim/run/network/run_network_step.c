#include "sim/run/network/run_network_step.h"

#include "sim/run/run_internal.h"
#include "sim/run/ane/run_ane.h"
#include "sim/run/network/run_network_memory.h"
#include "sim/run/network/run_network_request.h"
#include "sim/run/network/run_network_residency.h"
#include "sim/run/network/run_network_schedule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- opening ---- */

void network_step_ask(const struct run_network *n, const char *workload, const char *precision, enum orch_part part,
                      struct run_request *q)
{
    const bool cores = part == PART_CPU;
    const char *const network = n->automatic && part == PART_AMX ? NULL : n->mixed ? "f16" : n->request->precision;
    *q = *n->request;
    q->workload = workload;
    q->unit = orch_part_name(part);
    q->precision = precision ? precision : cores ? "f32" : network ? network : part == PART_ANE ? "f16" : "f32";
    q->operands = NULL;
    q->language = NULL;
    q->inputs = NULL;
    q->input_count = 0;
    q->output_folder = NULL;
    q->uncertainty = NULL;
    q->passes = NULL;
    q->dim_count = 0;
    q->policy = NULL;
    q->images = NULL;
    q->build = NULL;
    q->cores = cores ? q->cores : 0;
    q->core_choice = cores && n->e_core ? SOC_E_CORE : q->core_choice;
    if (n->asks && part == PART_ANE && q->mode == RUN_FULL)
        q->mode = RUN_FUNCTIONAL; /* its request is timed in the end */
    if (n->characteristics) {
        q->mode = RUN_TIMING;
        q->detail = q->detail && strcmp(q->detail, "auto") != 0 ? q->detail : "op";
    }
    if (part == PART_ANE && q->detail && strcmp(q->detail, "sampled") == 0)
        q->detail = NULL; /* it works descriptor by descriptor: there is nothing to take samples of */
    q->progress = n->waits ? &n->told : NULL;
    q->evict = q->cold && part != PART_GPU; /* programs have equal addresses: what one left would be found by the next */
    q->inner = true;
}

bool network_step_prepare(const struct run_request *request, struct network_step *step, struct orch_error *error)
{
    /* Eight bits mean exact sums of integers on cores and AMX alone. */
    const bool exact =
        strcmp(request->unit, orch_part_name(PART_CPU)) == 0 || strcmp(request->unit, orch_part_name(PART_AMX)) == 0;
    const bool knows = exact || strcmp(request->precision, "i8") != 0;
    step->request = *request;
    if (knows && run_kind_on_unit(&step->request))
        step->run = run_prepare(&step->request, error);
    else
        orch_fail(error, ORCH_USAGE, "the library has no %.150s", request->workload);
    return step->run != NULL;
}

static bool open_on(const struct run_network *n, const struct lowered_step *lowered, enum orch_part part,
                    struct network_step *step, struct orch_error *error)
{
    struct run_request q;
    network_step_ask(n, lowered->workload, lowered->precision, part, &q);
    network_residency_ask(n->residency, step->present, &q);
    q.operands = &lowered->operands;
    if (step->at_load && q.mode == RUN_FULL)
        q.mode = RUN_FUNCTIONAL;
    return network_step_prepare(&q, step, error);
}

bool network_step_open(const struct run_network *n, enum orch_part asked, struct lowered_step *lowered, struct network_step *step,
                       struct orch_error *error)
{
    step->asked = asked;
    step->at_load = lowered->at_load;
    step->present = network_residency_use(n->residency, lowered);
    step->whole = lowered->precision && strcmp(lowered->precision, "f32") == 0;
    step->elsewhere = false;
    if (open_on(n, lowered, asked, step, error) || asked == PART_CPU || error->exit_code == ORCH_INTERNAL)
        return step->run != NULL;
    *error = (struct orch_error){0};
    step->elsewhere = true;
    lowered->workload[lowered->common] = 0;
    return open_on(n, lowered, PART_CPU, step, error);
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

static bool note_costs(const struct run_network *n, size_t place, double seconds, double joules)
{
    char name[60];
    snprintf(name, sizeof name, RUN_NETWORK_SECONDS, place + 1);
    if (!run_values_add(&n->result->counters, name, seconds))
        return false;
    snprintf(name, sizeof name, RUN_NETWORK_JOULES, place + 1);
    return isnan(joules) || run_values_add(&n->result->counters, name, joules);
}

/* What the work is dealt out in, for those who show the cores at it. */
static bool note_crew(const struct run_network *n, size_t place, const struct run_result *r)
{
    const double groups = run_values_get(&r->counters, "gpu.threadgroups"), cores = run_values_get(&r->counters, "program.cores");
    char name[60];
    snprintf(name, sizeof name, RUN_NETWORK_GROUPS, place + 1);
    if (groups > 0 && !run_values_add(&n->result->counters, name, groups))
        return false;
    snprintf(name, sizeof name, RUN_NETWORK_CORES, place + 1);
    return !(cores > 0) || run_values_set(&n->result->counters, name, cores);
}

bool network_step_complete(const struct run_network *n, size_t place, const char *kernel, const char *why, double seconds,
                           double joules)
{
    struct run_placement *const line = &n->result->placement.item[place];
    return run_result_set_text(&line->kernel, kernel) && run_result_set_text(&line->why, why) &&
           note_costs(n, place, seconds, joules);
}

/* A kernel that was timed with a command buffer of its own, of which the network has one for all. */
static bool has_own_buffer(const struct run_network *n, const struct run_kind *kind)
{
    return n->characteristics && kind->part == PART_GPU;
}

static double kernel_seconds(const struct run_network *n, const struct run_kind *kind, const struct run_result *r)
{
    return has_own_buffer(n, kind) ? r->device_seconds : r->seconds;
}

/* Completes a line of the placement, of which the operator is known. */
static bool note(const struct run_network *n, const struct network_step *step, const struct run_kind *kind,
                 const struct run_result *r, size_t place)
{
    struct run_placement *const line = &n->result->placement.item[place];
    const char *const limit = has_own_buffer(n, kind) ? run_kernel_limit(r) : r->bound_by;
    char kernel[400], why[160], lacks[80] = "";
    name_kernel(r, step->request.workload, kernel, sizeof kernel);
    if (step->elsewhere)
        snprintf(lacks, sizeof lacks, "the library of the %s lacks it; ", orch_part_name(step->asked));
    else if (step->request.core_choice == SOC_E_CORE && n->request->core_choice != SOC_E_CORE)
        snprintf(lacks, sizeof lacks, "on an E core; ");
    else if (step->whole)
        snprintf(lacks, sizeof lacks, "in f32, because f16 would cost too much of the outputs; ");
    if (limit)
        snprintf(why, sizeof why, "%sbound by %s", lacks, limit);
    else
        snprintf(why, sizeof why, "%sthe library's kernel for it", lacks);
    if (!run_result_set_text(&line->kernel, kernel) || !run_result_set_text(&line->why, why))
        return false;
    return n->request->mode == RUN_FUNCTIONAL ||
           (note_costs(n, place, kernel_seconds(n, kind, r), r->joules) && note_crew(n, place, r));
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
}

bool network_step_add_measure(struct run_network *n, struct run_measure *pass, enum orch_part part, const struct run_result *r)
{
    add_measure(n, pass, part);
    return !n->operators || run_network_add_operator(n, part, r);
}

void network_step_count_buffer(struct run_network *n, enum orch_part part)
{
    const bool gpu = part == PART_GPU, engine = part == PART_ANE;
    n->command_buffers += gpu && !n->in_command_buffer;
    n->requests += engine && !n->in_request;
    n->in_command_buffer = gpu;
    n->in_request = engine;
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

/* What of the joules is left without the time of the command buffer. */
static double joules_share(const struct run_network *n, const struct run_request *request, const struct run_kind *kind,
                           const struct run_measure *pass, const struct run_result *r)
{
    struct energy_model model;
    const double celsius = n->request->celsius;
    if (!energy_model_open(&model, request->chip, NULL))
        return 1;
    return run_joules_of(kind, &model, pass, celsius, r->device_seconds, r->device_seconds) /
           run_joules_of(kind, &model, pass, celsius, r->seconds, r->device_seconds);
}

void network_step_without_buffer(struct run_network *n, const struct run_request *request, const struct run_kind *kind,
                                 struct run_measure *pass, struct run_result *r)
{
    double *const most_ns = kind->part == PART_GPU ? &n->overhead_ns : &n->request_ns;
    double *const most_joules = kind->part == PART_GPU ? &n->overhead_joules : &n->request_joules;
    if (kind->part != PART_GPU && kind->part != PART_ANE)
        return;
    *most_ns = fmax(*most_ns, 1e9 * r->overhead_seconds);
    pass->end_ns = 1e9 * r->device_seconds;
    *(kind->part == PART_GPU ? &pass->gpu.device_ns : &pass->ane.timed.device_ns) = pass->end_ns;
    if (isnan(r->joules))
        return;
    const double whole = r->joules;
    r->joules *= joules_share(n, request, kind, pass, r);
    *most_joules = fmax(*most_joules, whole - r->joules);
}

void network_step_note_waiting(struct run_network *n, const struct run_kind *kind, const struct run_measure *pass,
                               const struct run_result *r)
{
    struct energy_model model;
    const double celsius = n->request->celsius, seconds = 1e-9 * pass->end_ns;
    if (!n->alone || isnan(r->joules) || !energy_model_open(&model, n->request->chip, NULL))
        return;
    const double watts = run_joules_of(kind, &model, pass, celsius, seconds + 1, seconds) -
                         run_joules_of(kind, &model, pass, celsius, seconds, seconds);
    n->waiting_w = fmax(n->waiting_w, watts);
}

/* The costs of the command buffer and of the request are the network's, not the kernel's. */
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
    if (!run->kind->account(run, pass, r, error) || !run_joules(run, pass, r, error))
        return false;
    const double packed = run_values_get(&r->counters, RUN_COUNTER_CORE_PACKED);
    return isnan(packed) || run_values_add(&n->result->counters, RUN_COUNTER_CORE_PACKED, packed) || orch_no_memory(error);
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

bool network_step_add(struct run_network *n, const struct network_step *step, const struct run_kind *kind,
                      struct run_measure *pass, const struct run_result *r, size_t placement)
{
    network_step_note_waiting(n, kind, pass, r);
    add_measure(n, pass, kind->part);
    n->kernels++;
    network_schedule_took(n->schedule, placement, kernel_seconds(n, kind, r), &pass->activity);
    n->elsewhere += step->elsewhere || (step->whole && kind->part != n->part);
    return note(n, step, kind, r, placement) && (!n->operators || run_network_add_operator(n, kind->part, r));
}

/* What the kernel reads is read by somebody else than the Neural Engine. */
static void keep_operands(const struct run_network *n, const struct lowered_step *lowered)
{
    for (unsigned i = 0; i < lowered->operands.inputs; i++)
        network_requests_keep(n->asks, lowered->input[i].data);
    network_requests_begin(n->asks, lowered->operands.result);
}

/* The kernel is executed and becomes a part of a request. */
static bool run_in_request(struct run_network *n, const struct lowered_step *lowered, const struct network_step *step,
                           struct run_measure *pass, struct run_result *r, struct orch_error *error)
{
    size_t program;
    if (step->request.mode != RUN_TIMING && !run_on_buffers(n, lowered, step, pass, r, error))
        return false;
    network_step_count_buffer(n, PART_ANE);
    add_measure(n, pass, PART_ANE);
    n->kernels++;
    return (network_requests_program(n->asks, run_ane_workload(step->run), &program) &&
            network_requests_add(n->asks, n, program, lowered, n->result->placement.count - 1)) ||
           orch_no_memory(error);
}

static bool run_alone(struct run_network *n, const struct lowered_step *lowered, const struct network_step *step,
                      struct run_measure *pass, struct run_result *r, struct orch_error *error)
{
    const struct run_kind *const kind = step->run->kind;
    if (!(kind->buffers ? run_on_buffers(n, lowered, step, pass, r, error) : simulate(n, step, NULL, pass, r, error)))
        return false;
    network_step_count_buffer(n, kind->part);
    keep_operands(n, lowered);
    return (network_schedule_add(n->schedule, kind->part, n->result->placement.count - 1, lowered) &&
            network_schedule_core(n->schedule, step->request.core_choice) &&
            network_step_add(n, step, kind, pass, r, n->result->placement.count - 1)) ||
           orch_no_memory(error);
}

/* Its values alone; the run has no part of it. */
static bool run_at_load(struct run_network *n, const struct lowered_step *lowered, const struct network_step *step,
                        struct orch_error *error)
{
    struct run_measure pass = {.soc = NULL}, sum = {.soc = NULL};
    struct run_result r;
    struct run_network apart = *n;
    apart.sum = &sum;
    run_result_init(&r);
    apart.result = &r;
    apart.operators = NULL;
    const bool ok = step->run->kind->buffers ? run_on_buffers(&apart, lowered, step, &pass, &r, error)
                                             : simulate(&apart, step, NULL, &pass, &r, error);
    run_measure_release(&pass);
    run_result_free(&r);
    keep_operands(n, lowered);
    return ok;
}

bool network_step_note_load(struct run_network *n, const char *title, const struct lowered_step *lowered, enum orch_part part)
{
    n->at_load++;
    return run_placement_add(&n->result->placement, title, orch_part_name(part), lowered->workload, RUN_NETWORK_AT_LOAD);
}

bool network_step_run(struct run_network *n, const char *title, const struct lowered_step *lowered, struct network_step *step,
                      struct orch_error *error)
{
    if (step->at_load)
        return ((n->request->mode == RUN_TIMING || run_at_load(n, lowered, step, error)) &&
                (network_step_note_load(n, title, lowered, step->run->kind->part) || orch_no_memory(error))) ||
               orch_fail_in(error, "%s", title);
    struct run_measure pass = {.soc = n->sum->soc};
    struct run_result r;
    const struct run_kind *const kind = step->run->kind;
    run_result_init(&r);
    const bool ok =
        (run_placement_add(&n->result->placement, title, orch_part_name(kind->part), "", "") || orch_no_memory(error)) &&
        (n->asks && kind->part == PART_ANE ? run_in_request : run_alone)(n, lowered, step, &pass, &r, error);
    n->flops += ok ? kind->operation(step->run).flops : 0;
    if (n->sum->soc)
        pass.soc = NULL;
    run_measure_release(&pass);
    run_result_free(&r);
    return ok || orch_fail_in(error, "%s", title);
}
