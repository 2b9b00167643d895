/* Numbers of a run of a network: those of CPU cores and AMX blocks, those of the GPU, or both behind one another. */
#include "sim/run/run_internal.h"
#include "sim/run/gpu/run_launch.h"
#include "sim/run/network/run_network.h"
#include "sim/run/cpu/run_programs.h"

#include "sim/base/format.h"
#include "sim/chip/chip_units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void run_network_energy(const struct energy_model *model, const struct run_measure *m, struct energy_run *e)
{
    const struct run_gpu *const g = &m->gpu;
    const double slices = model->slices[POWER_GPU], device_s = 1e-9 * g->device_ns;
    const bool cores = m->busy.slices[POWER_P_CPU] || m->busy.slices[POWER_E_CPU];
    if (cores)
        run_energy_of_cores(model, m, e);
    if (m->ane.timed.device_ns > 0) {
        if (!cores)
            energy_run_add_activity(e, model, &m->by[POWER_ANE], POWER_ANE);
        energy_run_set_slices(e, model, POWER_ANE, model->slices[POWER_ANE],
                              1e-9 * model->slices[POWER_ANE] * m->ane.timed.device_ns, m->ane.timed.params.clock_ghz * 1e3);
        if (!cores || 1e-9 * m->ane.timed.device_ns > 0.5 * e->profile.seconds)
            e->profile.driver = POWER_ANE;
    }
    if (g->groups == 0)
        return;
    if (!cores)
        energy_run_add_activity(e, model, &m->by[POWER_GPU], POWER_GPU);
    const double share = (double)g->groups < slices ? (double)g->groups / slices : 1;
    energy_run_set_slices(e, model, POWER_GPU, model->slices[POWER_GPU], share * slices * device_s, g->params.clock_ghz * 1e3);
    e->profile.shared_running_s[POWER_GPU] = device_s;
    e->profile.shared_waiting_s[POWER_GPU] = e->profile.seconds - device_s;
    if (device_s > 0.5 * e->profile.seconds || !cores)
        e->profile.driver = POWER_GPU;
}

/* ---- cores and GPU ---- */

static bool add_values(struct run_values *to, const struct run_values *from, double scale)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->count; i++)
        ok = run_values_add(to, from->item[i].name, scale * from->item[i].value);
    return ok;
}

static bool add_assumptions(struct run_assumptions *to, const struct run_assumptions *from)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->count; i++)
        ok = run_assumption_add(to, from->item[i].key, from->item[i].kind, from->item[i].effect);
    return ok;
}

/* Adds a part to the whole, of which it took that share of the time. */
static bool add_part(struct run_result *whole, const struct run_result *part, double share)
{
    const bool first = isnan(whole->seconds);
#define ADD(number) whole->number = first ? part->number : whole->number + part->number
    ADD(seconds);
    ADD(seconds_low);
    ADD(seconds_high);
    ADD(device_seconds);
    ADD(overhead_seconds);
    ADD(dram_bytes);
#undef ADD
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        if (!isnan(part->utilisation[i]))
            whole->utilisation[i] = (isnan(whole->utilisation[i]) ? 0 : whole->utilisation[i]) + share * part->utilisation[i];
    return add_values(&whole->counters, &part->counters, 1) && add_values(&whole->stalls, &part->stalls, share) &&
           add_assumptions(&whole->assumptions, &part->assumptions);
}

static bool set_limit(struct run_result *r)
{
    const struct run_named_value *largest = NULL;
    for (size_t i = 0; i < r->stalls.count; i++)
        if (!largest || r->stalls.item[i].value > largest->value)
            largest = &r->stalls.item[i];
    return !largest || run_result_set_text(&r->bound_by, largest->name);
}

static bool account_both(struct run *run, const struct run_network *n, const struct run_measure *m, struct run_result *r,
                         struct orch_error *error)
{
    struct run_result cores, gpu;
    const double whole_ns = m->end_ns;
    run_result_init(&cores);
    run_result_init(&gpu);
    bool ok = run_account(run, &n->cores, &cores, error) && run_gpu_account(run, &n->gpu, &gpu, error);
    if (ok && run->request->mode != RUN_FUNCTIONAL) {
        ok = (add_part(r, &cores, n->cores.end_ns / whole_ns) && add_part(r, &gpu, n->gpu.end_ns / whole_ns) && set_limit(r) &&
              run_result_set_text(&r->detail, run->detail)) ||
             orch_no_memory(error);
        r->flops = n->flops;
        r->gflops = r->flops / r->seconds * 1e-9;
        r->dram_gbps = r->dram_bytes / r->seconds * 1e-9;
    }
    r->host_seconds = m->host_seconds;
    run_result_free(&cores);
    run_result_free(&gpu);
    return ok;
}

/* ---- characteristics ---- */

/* Sums are of what takes time on the units: numbers of a kernel that has a command buffer of its own are made those of the time
 * in which the device is busy. Stalls and utilisation are times until the end. */
bool run_network_add_operator(struct run_network *n, enum orch_part by, const struct run_result *k)
{
    struct run_result *const sum = n->operators;
    struct run_result part;
    const bool buffer = by == PART_GPU || by == PART_ANE; /* whose costs are the network's */
    const double seconds = buffer ? k->device_seconds : k->seconds, share = k->seconds > 0 ? seconds / k->seconds : 1;
    run_result_init(&part);
    part.seconds = seconds;
    part.device_seconds = k->device_seconds;
    part.seconds_low = share * k->seconds_low;
    part.seconds_high = share * k->seconds_high;
    part.overhead_seconds = buffer ? 0 : k->overhead_seconds;
    part.dram_bytes = k->dram_bytes;
    memcpy(part.utilisation, k->utilisation, sizeof part.utilisation);
    bool ok = add_part(sum, &part, k->seconds);
    for (size_t i = 0; ok && i < k->counters.count; i++)
        if (strcmp(k->counters.item[i].name, "gpu.threadgroups_per_core") != 0 &&
            strncmp(k->counters.item[i].name, "energy.", 7) != 0) /* the network's are worked out from the sums of activity */
            ok = run_values_add(&sum->counters, k->counters.item[i].name, k->counters.item[i].value);
    for (size_t i = 0; ok && i < k->stalls.count; i++)
        if (!run_is_of_buffer(k->stalls.item[i].name))
            ok = run_values_add(&sum->stalls, k->stalls.item[i].name, k->seconds * k->stalls.item[i].value);
    run_result_free(&part);
    return ok;
}

static void scale_stalls(struct run_result *r, double scale)
{
    for (size_t i = 0; i < r->stalls.count; i++)
        r->stalls.item[i].value *= scale;
}

static bool tell_requests(const struct run_network *n, struct run_result *r)
{
    char text[300];
    snprintf(
        text, sizeof text,
        "%u to the Neural Engine, %.3g us each: kernels that follow one another are one program, %u of whose %u tensors stay in "
        "tile memory; each kernel is taken to read the layout in which the one before it writes",
        n->requests, 1e-3 * n->request_ns, n->tensors_inside, n->tensors);
    return run_assumption_add(&r->assumptions, "requests", "inferred", text) &&
           run_values_add(&r->counters, "network.requests", n->requests) &&
           run_values_add(&r->counters, "network.tensors", n->tensors) &&
           run_values_add(&r->counters, "network.tensors_inside", n->tensors_inside);
}

static bool account_operators(const struct run_network *n, const struct run_measure *m, struct run_result *r)
{
    const struct run_result *const sum = n->operators;
    const double buffers_s = 1e-9 * n->command_buffers * n->overhead_ns, requests_s = 1e-9 * n->requests * n->request_ns;
    const double idle_s = 1e-9 * (m->end_ns - n->busy_ns); /* no unit works: it waits for a command buffer */
    const double overhead_s = n->overlaps ? idle_s : buffers_s + requests_s;
    const double seconds = n->overlaps ? 1e-9 * m->end_ns : sum->seconds + overhead_s;
    const double longer = seconds / sum->seconds;
    bool ok = add_part(r, sum, 1 / seconds);
    if (n->overlaps) /* stalls are shares of what units do, who does it at the same time or not */
        scale_stalls(r, seconds / (sum->seconds + overhead_s));
    r->seconds = seconds;
    if (n->overlaps) /* two units that work at the same time are busy once */
        r->device_seconds = 1e-9 * n->busy_ns;
    r->seconds_low *= longer;
    r->seconds_high *= longer;
    r->overhead_seconds += overhead_s;
    r->flops = n->flops;
    r->gflops = r->flops / seconds * 1e-9;
    r->dram_gbps = r->dram_bytes / seconds * 1e-9;
    r->host_seconds = m->host_seconds;
    const double idle = idle_s / (sum->seconds + idle_s); /* of command buffers, or of requests where there are none */
    const double launches = !n->overlaps ? buffers_s / seconds : buffers_s > 0 ? idle : 0;
    const double requests = !n->overlaps ? requests_s / seconds : buffers_s > 0 ? 0 : idle;
    return ok && (buffers_s == 0 || run_values_add(&r->stalls, RUN_STALL_LAUNCH, launches)) &&
           (requests_s == 0 || requests == 0 || run_values_add(&r->stalls, RUN_STALL_REQUEST, requests)) && set_limit(r) &&
           (!n->characteristics ||
            (run_result_set_text(&r->detail, "op") && run_result_set_text(&r->mode, "timing") &&
             run_assumption_add(&r->assumptions, "detail", "inferred",
                                "the network is the sum of its kernels' characteristics, without values"))) &&
           (!n->requests || tell_requests(n, r));
}

/* What cores do around the network has its share of the time; what the units' measures say of stalls is of the rest. */
static bool add_around(const struct run_values *around, struct run_result *r)
{
    double before_and_after_s = 0, said = 0;
    for (size_t i = 0; i < around->count; i++)
        before_and_after_s += around->item[i].value;
    for (size_t i = 0; i < r->stalls.count; i++)
        said += r->stalls.item[i].value;
    if (before_and_after_s <= 0 || said <= 0)
        return true;
    scale_stalls(r, (1 - before_and_after_s / r->seconds) / said);
    return add_values(&r->stalls, around, 1 / r->seconds) && set_limit(r);
}

/* ---- any ---- */

static bool tell(struct run_result *r, const struct run_network *n)
{
    char text[300];
    bool ok = true;
    if (n->left) {
        snprintf(text, sizeof text, "%u operators were computed by the reference: they have no time and no energy", n->left);
        ok = run_assumption_add(&r->assumptions, "fallback", "inferred", text);
    }
    if (ok && n->elsewhere) {
        snprintf(text, sizeof text, "%u kernels ran on the cpu because the library of their unit lacks them%s", n->elsewhere,
                 n->mixed && n->part == PART_ANE ? " or their precision" : "");
        ok = run_assumption_add(&r->assumptions, "elsewhere", "inferred", text);
    }
    if (ok && n->at_load) {
        snprintf(text, sizeof text,
                 "%u kernels hang on constants alone: they ran once, when the network was loaded, and are no part of the run",
                 n->at_load);
        ok = run_assumption_add(&r->assumptions, "loading", "inferred", text);
    }
    if (ok && n->overlaps && n->request->mode != RUN_FUNCTIONAL) {
        char times[4][FORMAT_SIZE];
        snprintf(text, sizeof text,
                 "units work at the same time: one after another kernels take %s, the longest chain that waits for itself %s; "
                 "sharing memory costs kernels %s, and for %s no unit works",
                 format_quantity(times[0], 1e-9 * (n->work_ns), "s"), format_quantity(times[1], 1e-9 * n->chain_ns, "s"),
                 format_quantity(times[2], 1e-9 * n->lost_ns, "s"),
                 format_quantity(times[3], r->seconds - 1e-9 * n->busy_ns, "s"));
        ok = run_assumption_add(&r->assumptions, "schedule", "inferred", text) &&
             run_values_add(&r->counters, "network.one_after_another_seconds", 1e-9 * n->work_ns);
    }
    if (ok && n->command_buffers && n->request->mode != RUN_FUNCTIONAL) {
        snprintf(
            text, sizeof text,
            "%u of the GPU, %.3g us each for submission and completion; handing tensors over between units costs nothing else",
            n->command_buffers, 1e-3 * n->overhead_ns);
        ok = run_assumption_add(&r->assumptions, "command buffers", "inferred", text) &&
             run_values_add(&r->counters, "network.command_buffers", n->command_buffers);
    }
    return ok && (n->request->mode == RUN_FUNCTIONAL || run_tell_packed(r));
}

bool run_network_account(struct run *run, const struct run_network *n, const struct run_measure *m, struct run_result *r,
                         struct orch_error *error)
{
    const bool cores = n->cores.core_count > 0, gpu = n->gpu.gpu.groups > 0;
    if (n->kernels == 0)
        return orch_fail(error, ORCH_UNMODELLED, "%s: the %s's library has no kernel for any of its operators",
                         run->request->workload, orch_part_name(n->part));
    const bool ok = n->operators && run->request->mode != RUN_FUNCTIONAL ? account_operators(n, m, r) || orch_no_memory(error)
                    : cores && gpu                                       ? account_both(run, n, m, r, error)
                    : gpu                                                ? run_gpu_account(run, m, r, error)
                                                                         : run_account(run, m, r, error);
    const bool apart = !n->operators && run->request->mode != RUN_FUNCTIONAL;
    if (!ok || (apart && n->around && !add_around(n->around, r)))
        return ok && orch_no_memory(error);
    r->macs = n->macs;
    r->native_mac_share = n->macs > 0 ? n->macs_here / n->macs : NAN;
    return tell(r, n) || orch_no_memory(error);
}
