#include "sim/run/language/language_unit_internal.h"

#include "sim/base/host_time.h"
#include "sim/chip/chip_units.h"
#include "sim/workload/gpu/frameworks/framework.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the framework whose kernels run adds to a launch. */
static double added_us(const struct run_request *request)
{
    struct framework_choice choice;
    return request->kernels && framework_choose(request->kernels, chip_name(request->chip), &choice, NULL)
               ? framework_launch_us(&choice)
               : 0;
}

struct language_unit *language_unit_create(const struct run_request *request, struct run_result *result, struct orch_error *error)
{
    struct language_unit *const u = calloc(1, sizeof *u);
    struct mem_pool_params memory;
    if (!u) {
        orch_no_memory(error);
        return NULL;
    }
    *u = (struct language_unit){.request = request, .result = result};
    if (!chip_memory(request->chip, request->memory_gib, &memory, NULL))
        memory = (struct mem_pool_params){0}; /* not known: no limit */
    u->home = library_home_create(memory.capacity_bytes, error);
    if (!u->home) {
        free(u);
        return NULL;
    }
    u->space = library_home_space(u->home);
    if (chip_number(request->chip, "gpu.between_us", &u->between_s, NULL))
        u->between_s = 1e-6 * (u->between_s + added_us(request));
    u->has_energy = energy_model_open(&u->model, request->chip, NULL);
    return u;
}

/* Averages over time become shares. */
static void finish_shares(struct language_unit *u)
{
    struct run_result *const r = u->result;
    double largest = 0;
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        r->utilisation[i] = u->seconds > 0 ? r->utilisation[i] / u->seconds : NAN;
    for (size_t i = 0; i < r->stalls.count; i++) {
        r->stalls.item[i].value /= u->stall_seconds > 0 ? u->stall_seconds : 1;
        if (r->stalls.item[i].value <= largest)
            continue;
        largest = r->stalls.item[i].value;
        run_result_set_text(&r->bound_by, r->stalls.item[i].name);
    }
    for (int p = 0; p < PART_COUNT; p++) {
        char name[32];
        snprintf(name, sizeof name, RUN_COUNTER_BUSY, orch_part_name((enum orch_part)p));
        if (u->seconds > 0 && u->seconds_on[p] > 0)
            run_values_add(&r->counters, name, u->seconds_on[p] / u->seconds);
    }
}

void language_unit_free(struct language_unit *u, struct run_measure *m)
{
    if (!u)
        return;
    if (m) {
        m->memory_bytes = (double)u->space->mapped_peak_bytes;
        m->activity = u->activity;
        m->cpu_instructions = u->instructions + library_home_instructions(u->home);
        m->host_seconds = u->host_seconds;
        m->end_ns = 1e9 * u->seconds;
        finish_shares(u);
    }
    for (size_t i = 0; i < u->count; i++)
        run_result_free(&u->known[i].result);
    free(u->known);
    language_foresee_end(u);
    for (int i = 0; i < KEPT_RUNS + KEPT_PROGRAMS; i++)
        language_forget(u->kept[i]);
    library_home_free(u->home);
    soc_free(u->soc);
    free(u);
}

/* ---- memory ---- */

bool language_unit_place(struct language_unit *u, const void *from, uint64_t bytes, struct language_buffer *buffer,
                         struct orch_error *error)
{
    *buffer = (struct language_buffer){mem_space_alloc(u->space, bytes, MEM_PAGE_BYTES), bytes, NULL};
    buffer->host = buffer->address ? mem_at(u->space, buffer->address, bytes, MEM_READ | MEM_WRITE) : NULL;
    if (!buffer->host)
        return orch_fail(error, ORCH_USAGE,
                         "the model, its cache and its values need more than the memory of the machine, %.1f GiB",
                         (double)u->space->limit_bytes / 0x1p30);
    if (from)
        memcpy(buffer->host, from, bytes);
    return true;
}

struct language_buffer language_part(const struct language_buffer *buffer, uint64_t first_byte, uint64_t bytes)
{
    return (struct language_buffer){buffer->address + first_byte, bytes, (uint8_t *)buffer->host + first_byte};
}

/* ---- a kernel on values ---- */

static struct run_request request_of(const struct language_unit *u, const struct language_call *call, const char *workload)
{
    struct run_request q = *u->request;
    q.workload = workload;
    q.unit = orch_part_name(call->part);
    q.unit_why = NULL;
    q.precision = call->precision ? call->precision : "f32";
    q.language = NULL;
    q.kernels = call->part == PART_GPU ? q.kernels : NULL;
    q.cores = call->part == PART_CPU ? q.cores : 1;
    q.threads = call->part == PART_ANE ? 1 : q.threads; /* its products are too small to be shared by threads of the host */
    q.program_output = NULL;
    q.input_count = 0;
    q.operands = NULL;
    q.uncertainty = NULL;
    q.progress = NULL;
    q.inner = true;
    q.cold |= call->cold;
    q.evict = q.cold && call->part != PART_GPU; /* programs have equal addresses: what one left would be found by the next */
    return q;
}

/* Names a kernel the first time that it does this; attention over longer caches is the same one. */
static bool show(struct language_unit *u, const struct language_call *call, const char *workload, const char *name,
                 const char *bound_by)
{
    char kernel[240], why[96] = "the library's kernel for it";
    const struct run_placements *const list = &u->result->placement;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i].op, call->title) == 0 && strncmp(list->item[i].kernel, name, strlen(name)) == 0)
            return true;
    snprintf(kernel, sizeof kernel, "%s %s", name, workload);
    if (bound_by)
        snprintf(why, sizeof why, "bound by %s", bound_by);
    return run_placement_add(&u->result->placement, call->title, orch_part_name(call->part), kernel, why);
}

/* One run of a kernel, on values unless only its time is asked for. */
static bool run_kernel(struct language_unit *u, const struct language_call *call, struct run_request *q, const char *key,
                       struct orch_error *error)
{
    struct run_measure m = {.soc = u->soc};
    struct run_result r;
    struct known_shape *k = NULL;
    run_result_init(&r);
    struct run *const foreseen = call->result ? NULL : language_foreseen(u, key), *const run = foreseen
                                                                                                   ? foreseen
                                                                                                   : language_prepare(q, error);
    const double begun_s = host_seconds();
    bool ok = run && (call->result ? language_run_on(u, run, call, &m, &r, error) : run_simulate(run, &m, &r, error));
    u->host_seconds += host_seconds() - begun_s;
    u->instructions += m.cpu_instructions;
    u->soc = m.soc;
    if (ok && key) {
        k = language_remember(u, key, error);
        const char *const limit = call->part == PART_GPU ? run_kernel_limit(&r) : r.bound_by;
        ok = k != NULL &&
             (show(u, call, q->workload, r.placement.count ? r.placement.item[0].kernel : "", limit) || orch_no_memory(error));
    }
    if (ok && key) {
        k->result = r;
        k->activity = m.activity;
        k->operation = run->kind->operation ? run->kind->operation(run) : (struct run_operation){0, 0};
        if (call->part == PART_AMX) /* it counts flops alone */
            k->operation.macs = k->operation.flops / 2;
        language_price(u, run, &m, &r, k);
        u->has_driver[call->part] = true;
        u->driver[call->part] = k->profile.driver;
        u->driver_mhz[call->part] = k->profile.mhz;
    }
    if (!k)
        run_result_free(&r);
    m.soc = NULL;
    run_measure_release(&m);
    run_free(run);
    return ok || orch_fail_in(error, "%s", call->title);
}

/* What has no time at all needs no run of its own either. */
static bool execute(struct language_unit *u, const struct language_call *call, struct run_request *q, const char *key, bool known,
                    struct orch_error *error)
{
    if (call->part != PART_CPU)
        return known ? language_execute_there(u, call, q, key, error) : run_kernel(u, call, q, key, error);
    if (!language_execute_here(u, call, q, error))
        return false;
    const struct cpu_library *const l = library_home_kernel(u->home);
    struct known_shape *const k = known ? NULL : language_remember(u, key, error);
    if (k)
        k->operation = (struct run_operation){l->work.flops, l->work.macs};
    return known || (k && (show(u, call, q->workload, l->work.variant, NULL) || orch_no_memory(error)));
}

/* How long a rotation takes does not depend on the position. */
static void write_key(const struct language_call *call, const char *precision, const char *workload, char *key, size_t size)
{
    const char *const offset = strstr(workload, ",offset=");
    const int before = offset ? (int)(offset - workload) : (int)strlen(workload);
    const char *const rest = offset ? offset + 1 + strcspn(offset + 1, ",") : "";
    snprintf(key, size, "%s%s %s %.*s%s", call->cold ? "cold " : "", orch_part_name(call->part), precision, before, workload,
             rest);
}

/* Kernels with values are executed each time; their time is found once for each shape. */
static bool call_shape(struct language_unit *u, const struct language_call *call, const char *workload, double times,
                       struct language_sum *sum, struct orch_error *error)
{
    struct run_request q = request_of(u, call, workload);
    struct run_operand operand[LANGUAGE_INPUTS];
    struct run_operands operands = {.input = operand, .inputs = call->inputs};
    char key[160];
    write_key(call, q.precision, workload, key, sizeof key);
    struct known_shape *const known = language_find(u, key);
    for (unsigned i = 0; i < call->inputs; i++)
        operand[i] = (struct run_operand){call->input[i]->host, call->input[i]->bytes};
    if (!call->result) {
        q.mode =
            call->part == PART_GPU || call->part == PART_ANE ? RUN_TIMING : RUN_FULL; /* cores are timed while they execute */
    } else {
        operands.result = call->result->host;
        operands.result_bytes = call->result->bytes;
        q.operands = &operands;
        q.mode = known ? RUN_FUNCTIONAL : q.mode;
    }
    if (u->foresees && !call->result)
        return language_foresee(u, call, &q, key, error);
    const bool values_alone = call->result && (known || q.mode == RUN_FUNCTIONAL);
    if (values_alone ? !execute(u, call, &q, key, known != NULL, error) : !known && !run_kernel(u, call, &q, key, error))
        return false;
    const struct known_shape *const shape = known ? known : language_find(u, key);
    u->macs += times * shape->operation.macs;
    u->macs_on[call->part] += times * shape->operation.macs;
    u->seconds_on[call->part] += times * shape->device_seconds;
    if (u->request->mode != RUN_FUNCTIONAL)
        return language_add(u, shape, times, sum) || orch_no_memory(error);
    sum->kernels += (uint64_t)times;
    sum->flops += times * shape->operation.flops;
    sum->macs += times * shape->operation.macs;
    return true;
}

bool language_unit_call(struct language_unit *unit, const struct language_call *call, struct language_sum *sum,
                        struct orch_error *error, const char *format, ...)
{
    char workload[160];
    va_list args;
    va_start(args, format);
    vsnprintf(workload, sizeof workload, format, args);
    va_end(args);
    return call_shape(unit, call, workload, 1, sum, error);
}

bool language_unit_time(struct language_unit *unit, const struct language_call *call, const char *workload, double times,
                        struct language_sum *sum, struct orch_error *error)
{
    return call_shape(unit, call, workload, times, sum, error);
}
