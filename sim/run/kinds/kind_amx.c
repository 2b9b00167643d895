/* Kinds "amx" and "amx-program": a kernel of the AMX library. It runs in-process, where scalar code between tiles takes no time,
 * or with --home elf as the same source compiled for AArch64. */
#include "sim/chip/chip_units.h"
#include "sim/base/host_time.h"
#include "sim/base/checksum.h"
#include "sim/base/format.h"
#include "isa/array_count.h"
#include "sim/run/run_internal.h"
#include "sim/run/gpu/run_launch.h"
#include "sim/run/cpu/run_programs.h"
#include "sim/workload/amx/amx_job.h"
#include "sim/workload/amx/kernel.h"
#include "units/amx/kernels/amx_kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool in_program(const struct run_request *q)
{
    return q->home && strcmp(q->home, "elf") == 0;
}

/* Products that several cores share are of kind "amx-product". */
static bool has_in_process(const struct run_request *q)
{
    return kernel_has(q->workload) && !in_program(q) && !(q->cores > 1 && !q->home && routine_find(&amx_products, q->workload));
}

static bool has_in_program(const struct run_request *q)
{
    return kernel_has(q->workload) && in_program(q);
}

static bool open_workload(struct run *run, struct orch_error *error)
{
    struct kernel_call *const call = run->work = calloc(1, sizeof *call);
    if (!call)
        return orch_no_memory(error);
    if (!kernel_parse(run->request->workload, run->request->precision, call, error))
        return false;
    snprintf(run->program_name, sizeof run->program_name, "%s", call->info->name);
    return true;
}

static bool check(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    if (!run_check_kernel_options(run, error))
        return false;
    if (q->cores > 1 && !in_program(q))
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("cores") " %u: a kernel runs on one core; " ORCH_OPTION("home") " elf runs a copy on each",
                         q->cores);
    if (in_program(q) && ((const struct kernel_call *)run->work)->blocks.loaded)
        return orch_fail(error, ORCH_UNMODELLED,
                         ORCH_OPTION("home") " elf: the program packs its operands itself; leave out packed=1");
    return true;
}

static uint64_t hash(const struct run *run)
{
    char text[256];
    kernel_describe(run->work, text, sizeof text);
    return checksum_add(CHECKSUM_START, text, strlen(text));
}

static const char *precision(const struct run *run)
{
    const struct kernel_call *const call = run->work;
    return call->precision;
}

static double bytes(const struct run *run)
{
    return (double)kernel_data_bytes(run->work);
}

static unsigned buffers(const struct run *run, struct run_buffer buffer[RUN_BUFFERS])
{
    const struct kernel_call *const call = run->work;
    const bool vector = strcmp(call->info->name, "gemv") == 0;
    const uint64_t batch = call->batch ? call->batch : 1;
    const enum element_type in = element_type_find(call->precision), out = element_type_find(call->accumulate);
    if (vector || in == ELEMENT_TYPE_COUNT || out == ELEMENT_TYPE_COUNT)
        return 0;
    buffer[0] = (struct run_buffer){.type = in, .count = batch * call->m * call->k, .read = true};
    buffer[1] = (struct run_buffer){.type = in, .count = batch * call->k * call->n, .read = true};
    buffer[2] = (struct run_buffer){.type = out, .count = batch * call->m * call->n, .read = call->beta != 0, .written = true};
    return 3;
}

static struct run_operation operation(const struct run *run)
{
    return (struct run_operation){kernel_flops(run->work), 0};
}

/* ---- in-process ---- */

/* An observer is called from the thread that started the run. */
static unsigned threads_of(const struct run *run)
{
    return run->request->watch ? 1 : run->request->threads;
}

struct pass {
    const char *doing;
    struct core_sample_shape shape; /* where a sample is enough */
};

static struct pass warming(const struct run *run)
{
    return (struct pass){"warming up for", run_sample_shape(run, RUN_SAMPLE_KERNEL, true, 0)};
}

/* `expected`: work of a warm-up that was sampled; 0 = not known. */
static struct pass timing(const struct run *run, double expected)
{
    return (struct pass){"timing", run_sample_shape(run, RUN_SAMPLE_KERNEL, false, expected)};
}

/* One pass over the kernel on one core; with time unless mode is FUNCTIONAL. */
static bool one_pass(const struct run *run, const struct kernel_data *data, struct mem_space *space, enum amx_gen gen,
                     struct soc_core *core, enum amx_job_mode mode, unsigned repeat, const struct pass *pass,
                     struct run_measure *m, struct orch_error *error)
{
    struct engine *engine = engine_create();
    struct amx_job *job = amx_job_create(run->work, data, space, gen, core, mode, threads_of(run), error);
    bool ok = engine && job;
    if (job && !engine)
        orch_no_memory(error);
    if (job)
        amx_job_tell(job, run->progress, pass->doing);
    if (job && (pass->shape.blind || run_samples(run, run_copies(run) > 1)))
        amx_job_sample(job, &pass->shape);
    for (unsigned i = 0; ok && i < repeat; i++) {
        const struct engine_task task = amx_job_task(job);
        const int before = (int)i - 1;
        ok = engine_add(engine, &task, &before, i > 0) >= 0;
    }
    ok = ok && engine_run(engine, &m->end_ns, error);
    if (ok) {
        m->sampled = amx_job_sampled(job);
        m->end_ns += m->sampled.extra_ns;
        m->amx_instructions = amx_job_instructions(job);
        memcpy(m->amx_counts, amx_job_op_counts(job), sizeof m->amx_counts);
    }
    amx_job_free(job);
    engine_free(engine);
    return ok;
}

/* A pass that only fills the caches. The scalar part of kernels does move bytes, so the old C is kept for the real pass. */
static bool warm_up(const struct run *run, const struct kernel_data *data, struct mem_space *space, struct soc_core *core,
                    struct run_measure *m, struct orch_error *error)
{
    const struct kernel_call *const call = run->work;
    const struct pass pass = warming(run);
    uint8_t *c = mem_at(space, data->c, data->c_bytes, MEM_READ | MEM_WRITE);
    uint8_t *kept = call->beta != 0 ? malloc(data->c_bytes) : NULL;
    if (call->beta != 0 && !kept)
        return orch_no_memory(error);
    if (kept)
        memcpy(kept, c, data->c_bytes);
    const bool ok = one_pass(run, data, space, core->gen, core, AMX_JOB_TIMING, 1, &pass, m, error);
    if (kept)
        memcpy(c, kept, data->c_bytes);
    free(kept);
    return ok;
}

/* The border before a pass that finds nothing in the caches but what a kernel before has left there. */
static void empty_caches(const struct run *run, const struct kernel_data *data, struct soc *soc, const struct soc_core *core)
{
    const uint64_t address[] = {data->a, data->b, data->c}, bytes[] = {data->a_bytes, data->b_bytes, data->c_bytes};
    const uint32_t present = run->request->present;
    soc_restart(soc, false);
    for (unsigned i = 0; i < ARRAY_COUNT(address); i++)
        if (present >> i & 1)
            cpu_timing_touch(core->timing, address[i], bytes[i]);
    if (present)
        soc_restart(soc, true);
}

/* Passes that each begin with empty caches. */
static bool evicted_passes(const struct run *run, const struct kernel_data *data, struct mem_space *space, struct soc_core *core,
                           enum amx_job_mode mode, struct run_measure *m, struct orch_error *error)
{
    const struct pass how = timing(run, 0);
    for (unsigned i = 0; i < run_repeats(run); i++) {
        struct run_measure pass = {.soc = m->soc, .core_count = m->core_count};
        memcpy(pass.cores, m->cores, sizeof pass.cores);
        empty_caches(run, data, m->soc, core);
        if (!one_pass(run, data, space, core->gen, core, mode, 1, &how, &pass, error))
            return false;
        pass.cpu_instructions = cpu_timing_instructions(core->timing);
        run_measure_finish(&pass);
        run_measure_add(m, &pass);
    }
    return true;
}

static bool timed(const struct run *run, const struct kernel_data *data, struct mem_space *space, struct run_measure *m,
                  struct orch_error *error)
{
    const struct run_request *q = run->request;
    const unsigned repeat = run_repeats(run);
    if (!run_place(run, 1, m, error))
        return false;
    struct soc_core *const core = m->cores[0];
    const enum amx_gen gen = soc_amx_gen(m->soc);
    if (!core->amx)
        return orch_fail(error, ORCH_UNMODELLED, "%s has no AMX block in this cluster", chip_id(q->chip));
    if (!q->cold && !warm_up(run, data, space, core, m, error))
        return false;
    const struct pass how = timing(run, q->cold ? 0 : repeat * m->sampled.work);
    if (q->cold)
        empty_caches(run, data, m->soc, core);
    else
        soc_restart(m->soc, true);
    run_watch(run, m);
    const double begin = host_seconds();
    const enum amx_job_mode mode = q->mode == RUN_TIMING ? AMX_JOB_TIMING : AMX_JOB_FULL;
    if (q->evict) {
        const bool ok = evicted_passes(run, data, space, core, mode, m, error);
        m->host_seconds = host_seconds() - begin;
        return ok;
    }
    if (!one_pass(run, data, space, gen, core, mode, repeat, &how, m, error))
        return false;
    m->host_seconds = host_seconds() - begin;
    m->cpu_instructions = cpu_timing_instructions(core->timing);
    run_measure_finish(m);
    return true;
}

static bool functional(const struct run *run, const struct kernel_data *data, struct mem_space *space, enum amx_gen gen,
                       struct run_measure *m, struct orch_error *error)
{
    const unsigned repeat = run_repeats(run);
    const double begin = host_seconds();
    const struct pass how = {.doing = "executing"};
    const bool ok = one_pass(run, data, space, gen, NULL, AMX_JOB_FUNCTIONAL, repeat, &how, m, error);
    m->host_seconds = host_seconds() - begin;
    return ok;
}

/* Panels of constant weights; where nothing has values there is nothing to write. */
static bool load_weights(const struct run *run, const struct kernel_data *data, struct mem_space *space, enum amx_gen gen,
                         struct run_result *r, struct orch_error *error)
{
    const struct kernel_call *const call = run->work;
    if (!call->blocks.loaded)
        return true;
    if (run->request->mode != RUN_TIMING) {
        struct amx_job *const job = amx_job_create(call, data, space, gen, NULL, AMX_JOB_FUNCTIONAL, 1, error);
        if (!job)
            return false;
        amx_job_load(job);
        amx_job_free(job);
    }
    return (run_values_add(&r->counters, RUN_COUNTER_CORE_PACKED, (double)data->b_bytes) && run_tell_packed(r)) ||
           orch_no_memory(error);
}

static bool time_at(struct run *run, struct mem_space *space, const uint64_t *given, struct run_measure *m,
                    struct run_result *result, struct orch_error *error)
{
    const struct run_request *q = run->request;
    struct kernel_data data;
    enum amx_gen gen;
    char why[512];
    bool ok = chip_amx_gen(q->chip, &gen, error) && kernel_check_generation(run->work, gen, error) &&
              kernel_data_create(run->work, gen, space, given, q->seed, &data, error) &&
              load_weights(run, &data, space, gen, result, error);
    if (ok)
        ok = q->mode == RUN_FUNCTIONAL ? functional(run, &data, space, gen, m, error) : timed(run, &data, space, m, error);
    if (ok && q->mode != RUN_FUNCTIONAL && !kernel_in_process_is_close(run->work))
        ok = run_values_set(&result->counters, "run.approximate", 1) &&
             run_assumption_add(&result->assumptions, "home", "inferred",
                                "approximate: scalar code between tiles is left out in-process; --home elf runs it");
    if (ok && q->mode != RUN_TIMING)
        ok = run_checksum_add(&result->checksum, "c", kernel_data_checksum(run->work, &data, space));
    run_kind_why(run, why, sizeof why);
    if (ok)
        ok = run_placement_add(&result->placement, run->program_name, "amx", kernel_variant(run->work, gen), why);
    return ok;
}

static bool time_in(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                    struct orch_error *error)
{
    if (given)
        return time_at(run, given->space, given->address, m, result, error);
    struct mem_space *const space = run_space_create(run, error);
    const bool ok = space && (run->request->mode == RUN_FUNCTIONAL || run_soc_open(run, m, error)) &&
                    time_at(run, space, NULL, m, result, error);
    run_space_free(space, run, m);
    return ok;
}

/* ---- as a program ---- */

/* The kernel's data go into the program's memory and the address of its arguments into x0. `own` keeps the data of copy 0. */
static bool prepare_copy(void *context, unsigned number, struct program *program, struct orch_error *error)
{
    const struct run_programs *const p = context;
    struct mem_space *const space = program_space(program);
    struct kernel_data data;
    const uint64_t args = mem_space_alloc(space, sizeof data.args, 128);
    if (!args)
        return orch_fail(error, ORCH_USAGE, "the simulated memory is full");
    if (!kernel_data_create(p->run->work, p->gen, space, NULL, p->run->request->seed, &data, error))
        return false;
    memcpy(mem_at(space, args, sizeof data.args, MEM_WRITE), &data.args, sizeof data.args);
    cpu_core_set_x(program_core(program), 0, args);
    if (number == 0)
        memcpy(p->own, &data, sizeof data);
    return true;
}

static bool checksum_c(const struct run_programs *p, const struct program_set *set, struct run_result *r)
{
    return run_checksum_add(&r->checksum, "c", kernel_data_checksum(p->run->work, p->own, program_space(set->program[0])));
}

/* The asked folder, else beside the build, else installed. */
static FILE *open_kernels(const struct run_request *q, char *path, size_t size)
{
    const char *const folders[] = {q->programs, ORCHARD_BUILD_DIR "/programs", ORCHARD_DATA_DIR "/programs"};
    FILE *f = NULL;
    for (size_t i = 0; !f && i < (q->programs ? 1 : 3); i++) {
        if (!folders[i])
            continue;
        snprintf(path, size, "%s/amx_kernels.elf", folders[i]);
        f = fopen(path, "rb");
    }
    return f;
}

#define KERNEL_FILE_MAX (1 << 20)

static bool read_kernels(const struct run_request *q, uint8_t **bytes, size_t *size, char *path, size_t path_size,
                         struct orch_error *error)
{
    FILE *f = open_kernels(q, path, path_size);
    if (!f)
        return orch_fail(error, ORCH_USAGE, "%s: the compiled kernels are not there; `make programs` builds them", path);
    *bytes = malloc(KERNEL_FILE_MAX);
    *size = *bytes ? fread(*bytes, 1, KERNEL_FILE_MAX, f) : 0;
    fclose(f);
    return *size > 0 || orch_fail(error, ORCH_USAGE, "%s: cannot be read", path);
}

static bool programs(const struct run *run, struct run_programs *p, struct orch_error *error)
{
    const struct kernel_call *const call = run->work;
    if (!kernel_check_generation(call, p->gen, error) ||
        !read_kernels(run->request, &p->own_file, &p->bytes, p->path, sizeof p->path, error))
        return false;
    p->own = calloc(1, sizeof(struct kernel_data));
    if (!p->own)
        return orch_no_memory(error);
    p->file = p->own_file;
    p->options.path = p->path;
    p->options.entry = strcmp(call->info->name, "gemv") == 0 ? "gemv_entry" : "gemm_entry";
    p->options.arg_count = 0;
    p->variant = kernel_variant(call, p->gen);
    p->prepare = prepare_copy;
    p->checksum = checksum_c;
    return true;
}

/* ---- the roofline ---- */

/* Array cycles of one full matrix instruction of the kind, and its multiply-accumulates. */
static double peak_gflops(const struct kernel_call *call, const struct amx_params *p, double ghz)
{
    switch (call->kind) {
    case GEMM_F64: return 2 * 64 / p->array_f64_cycles * ghz;
    case GEMM_F32: return 2 * 256 / p->array_f32_cycles * ghz;
    case GEMM_F16: return 2 * 1024 / p->array_f16_cycles * ghz;
    case GEMM_F16_F32:
    case GEMM_BF16_F32: return 2 * 1024 / p->array_f16_f32_cycles * ghz;
    default: return 2 * 1024 / p->array_i16_cycles * ghz;
    }
}

static void explain(FILE *out, const struct run *run, const struct run_result *r)
{
    const struct chip *chip = run->request->chip;
    const struct kernel_call *const call = run->work;
    struct amx_params amx;
    double ghz, bandwidth;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    if (!chip_amx_params(chip, CHIP_P_CORE, 1, &amx, NULL) || !chip_amx_clock_ghz(chip, CHIP_P_CORE, 1, &ghz, NULL) ||
        !chip_number(chip, "memory_peak_GBps", &bandwidth, NULL))
        return;
    const double peak = peak_gflops(call, &amx, ghz), intensity = kernel_flops(call) / kernel_min_bytes(call);
    const double roof = fmin(peak, intensity * bandwidth);
    fprintf(out, "roofline     %s at most: array peak %s (one block, %.4g GHz), DRAM %s x %.4g flop/byte\n",
            format_si(a, roof * 1e9, "FLOPS"), format_si(b, peak * 1e9, "FLOPS"), ghz, format_si(c, bandwidth * 1e9, "B/s"),
            intensity);
    fprintf(out, "             this run reaches %.1f %% of it\n", 100 * r->gflops / roof);
}

const struct run_kind run_kind_amx = {
    .name = "amx",
    .program_kind = "kernel",
    .part = PART_AMX,
    .may_sample = true,
    .takes_buffers = true,
    .has = has_in_process,
    .open = open_workload,
    .check = check,
    .hash = hash,
    .precision = precision,
    .bytes = bytes,
    .buffers = buffers,
    .operation = operation,
    .work = run_work_named,
    .time_in = time_in,
    .account = run_account,
    .energy = run_energy_of_cores,
    .explain = explain,
};

const struct run_kind run_kind_amx_program = {
    .name = "amx-program",
    .program_kind = "kernel",
    .part = PART_AMX,
    .may_sample = true,
    .has = has_in_program,
    .open = open_workload,
    .check = check,
    .hash = hash,
    .precision = precision,
    .bytes = bytes,
    .operation = operation,
    .work = run_work_named,
    .programs = programs,
    .time_in = run_programs,
    .account = run_account,
    .energy = run_energy_of_cores,
    .explain = explain,
};
