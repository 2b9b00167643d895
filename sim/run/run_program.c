#include "sim/base/checksum.h"
#include "sim/chip/chip_units.h"
#include "sim/workload/cpu/program_set.h"
#include "sim/run/run_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the copies run: the user's file, or a kernel of the library compiled for AArch64. */
struct source {
    const struct run *run;
    const void *file;
    size_t bytes;
    struct program_options options;
    enum amx_gen gen;
    struct kernel_data data; /* of copy 0 */
    bool is_kernel;
    struct cpu_kernel_part *part; /* of each core; NULL = no such kernel */
    uint8_t *own_file;
    char path[4096];
};

/* A kernel's data go into the program's memory and the address of its arguments into x0. */
static bool prepare_kernel(void *context, unsigned number, struct program *program, struct orch_error *error)
{
    struct source *s = context;
    struct mem_space *space = program_space(program);
    struct kernel_data data;
    const uint64_t args = mem_space_alloc(space, sizeof data.args, 128);
    if (!args || !kernel_data_create(&s->run->call, s->gen, space, NULL, s->run->request->seed, &data, error))
        return args ? false : orch_fail(error, ORCH_USAGE, "the simulated memory is full");
    memcpy(mem_at(space, args, sizeof data.args, MEM_WRITE), &data.args, sizeof data.args);
    cpu_core_set_x(program_core(program), 0, args);
    if (number == 0)
        s->data = data;
    return true;
}

static bool prepare_part(void *context, unsigned number, struct program *program, struct orch_error *error)
{
    struct source *s = context;
    const struct run_request *q = s->run->request;
    return cpu_kernel_prepare(&s->run->cpu_kernel, number, q->cores ? q->cores : 1, program_space(program), program_core(program),
                              q->seed, &s->part[number], error);
}

static bool open_set(struct source *s, struct program_set *set, struct soc_core **cores, struct orch_error *error)
{
    const unsigned count = s->run->request->cores ? s->run->request->cores : 1;
    return program_set_open(set, count, s->file, s->bytes, &s->options, s->gen, cores,
                            s->is_kernel ? prepare_kernel
                            : s->part    ? prepare_part
                                         : NULL,
                            s, error);
}

/* Shown as it is written: a long run's user sees it go on. */
static void show_output(void *context, const void *bytes, size_t count)
{
    FILE *out = context;
    fwrite(bytes, 1, count, out);
    fflush(out);
}

/* What the program did to the world outside; nothing leaves no counter. */
static bool add_effects(const struct program *p, struct run_result *r)
{
    size_t bytes[2], files = 0;
    struct program_result out;
    program_text(p, 1, &bytes[0]);
    program_text(p, 2, &bytes[1]);
    for (size_t i = 0; i < program_result_count(p); i++)
        files += program_result(p, i, &out) && out.save_path;
    return (bytes[0] + bytes[1] == 0 || run_values_add(&r->counters, RUN_COUNTER_OUTPUT, (double)(bytes[0] + bytes[1]))) &&
           (files == 0 || run_values_add(&r->counters, RUN_COUNTER_FILES, (double)files));
}

/* The results of all cores are one array. */
static uint64_t parts_checksum(const struct source *s, const struct program_set *set)
{
    uint64_t checksum = CHECKSUM_START;
    for (unsigned i = 0; i < set->count; i++)
        checksum = cpu_kernel_checksum(&s->run->cpu_kernel, &s->part[i], program_space(set->program[i]), checksum);
    return checksum;
}

/* Buffers, exit code and x0 of the first copy. */
static bool collect_results(const struct source *s, const struct program_set *set, struct run_result *r, struct orch_error *error)
{
    const struct program *p = set->program[0];
    bool ok = true;
    if (s->is_kernel)
        ok = run_checksum_add(&r->checksum, "c", kernel_data_checksum(&s->run->call, &s->data, program_space(p)));
    if (s->part)
        ok = run_checksum_add(&r->checksum, "out", parts_checksum(s, set));
    for (size_t i = 0; ok && !s->part && i < program_result_count(p); i++) {
        struct program_result out;
        ok = program_result(p, i, &out) && run_checksum_add(&r->checksum, out.name, out.checksum);
    }
    if (core_job_stop(set->job[0]) == CPU_STOP_EXIT)
        ok = ok && run_values_add(&r->counters, "program.exit_code", cpu_core_exit_code(program_core(p)));
    ok = ok && add_effects(p, r);
    return (ok || orch_no_memory(error)) && program_save_results(p, error);
}

/* Timing keeps what it learned of a program's blocks until it is restarted: always before the program is closed. */
static bool warm_up(struct source *s, struct soc *soc, struct soc_core **cores, struct orch_error *error)
{
    struct program_set set;
    const bool ok = open_set(s, &set, cores, error) && program_set_run(&set, error);
    soc_restart(soc, true);
    program_set_close(&set);
    return ok;
}

static void measure_set(const struct program_set *set, enum run_mode mode, struct run_measure *m)
{
    for (unsigned i = 0; i < set->count; i++)
        run_space_note(program_space(set->program[i]), mode, m);
    m->end_ns = set->end_ns;
    for (unsigned i = 0; i < set->count; i++) {
        m->cpu_instructions += core_job_instructions(set->job[i]);
        m->amx_instructions += core_job_amx_instructions(set->job[i]);
        for (unsigned op = 0; op < 32; op++)
            m->amx_counts[op] += core_job_amx_counts(set->job[i])[op];
    }
    if (m->soc)
        run_measure_finish(m);
}

/* One run from start to end, added to *sum; `last` hands the results over. */
static bool measured_pass(struct source *s, bool last, struct run_measure *sum, struct run_result *r, struct orch_error *error)
{
    struct run_measure pass = {.soc = sum->soc, .core_count = sum->core_count};
    struct program_set set;
    memcpy(pass.cores, sum->cores, sizeof pass.cores);
    bool ok = open_set(s, &set, sum->soc ? pass.cores : NULL, error);
    if (ok && s->run->request->program_output)
        program_set_sink(set.program[0], &(struct program_sink){show_output, s->run->request->program_output});
    const double begin = run_host_seconds();
    ok = ok && program_set_run(&set, error);
    pass.host_seconds = run_host_seconds() - begin;
    if (ok) {
        measure_set(&set, s->run->request->mode, &pass);
        run_measure_add(sum, &pass);
    }
    ok = ok && (!last || collect_results(s, &set, r, error));
    if (sum->soc)
        soc_restart(sum->soc, true);
    program_set_close(&set);
    return ok;
}

/* Back to back: a pass finds the caches as the one before left them. */
static bool measured_passes(struct source *s, struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    const unsigned repeat = s->run->request->repeat ? s->run->request->repeat : 1;
    bool ok = true;
    for (unsigned i = 0; ok && i < repeat; i++)
        ok = measured_pass(s, i + 1 == repeat, m, r, error);
    return ok;
}

static bool run_source(struct source *s, struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    const struct run_request *q = s->run->request;
    const unsigned count = q->cores ? q->cores : 1;
    if (q->mode == RUN_FUNCTIONAL)
        return measured_passes(s, m, r, error);
    if (!run_place(s->run, count, m, error))
        return false;
    if (!q->cold && !warm_up(s, m->soc, m->cores, error))
        return false;
    run_watch(s->run, m);
    return measured_passes(s, m, r, error);
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

static bool open_kernel_file(struct source *s, struct orch_error *error)
{
    const struct run *run = s->run;
    if (!kernel_check_generation(&run->call, s->gen, error) ||
        !read_kernels(run->request, &s->own_file, &s->bytes, s->path, sizeof s->path, error))
        return false;
    s->file = s->own_file;
    s->options.path = s->path;
    s->options.entry = strcmp(run->call.info->name, "gemv") == 0 ? "gemv_entry" : "gemm_entry";
    s->options.arg_count = 0;
    return true;
}

static bool open_parts(struct source *s, struct orch_error *error)
{
    const struct run_request *q = s->run->request;
    s->part = calloc(q->cores ? q->cores : 1, sizeof *s->part);
    if (!s->part)
        return orch_no_memory(error);
    s->own_file = cpu_kernel_elf(&s->run->cpu_kernel, &s->bytes, error);
    s->file = s->own_file;
    s->options.entry = CPU_KERNEL_ENTRY;
    return s->file != NULL;
}

static bool open_source(struct source *s, const struct run *run, struct orch_error *error)
{
    const struct run_request *q = run->request;
    struct mem_pool_params memory;
    *s = (struct source){.run = run, .file = run->file, .bytes = run->file_bytes, .is_kernel = run->kind == RUN_KERNEL};
    s->options = (struct program_options){
        .path = q->workload, .entry = q->entry, .args = q->args, .arg_count = q->arg_count, .seed = q->seed};
    if (chip_memory(q->chip, q->memory_gib, &memory, NULL))
        s->options.memory_bytes = memory.capacity_bytes / (q->cores ? q->cores : 1);
    return chip_amx_gen(q->chip, &s->gen, error) &&
           (run->kind == RUN_KERNEL ? open_kernel_file(s, error) : run->kind != RUN_CPU_KERNEL || open_parts(s, error));
}

static void close_source(struct source *s)
{
    free(s->part);
    free(s->own_file);
}

bool run_program(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    struct source s;
    const char *variant = "program";
    const bool ok = open_source(&s, run, error) && run_source(&s, m, result, error);
    if (ok && run->kind == RUN_KERNEL)
        variant = kernel_variant(&run->call, s.gen);
    if (ok && run->kind == RUN_CPU_KERNEL)
        variant = run->cpu_kernel.is_f64 ? "neon_2xf64" : "neon_4xf32";
    close_source(&s);
    return ok && run_placement_add(&result->placement, run->program_name, m->amx_instructions ? "cpu+amx" : "cpu", variant,
                                   "an AArch64 program runs where its instructions say");
}

/* ---- several workloads on one chip ---- */

bool run_is_program(const struct run *run)
{
    const struct run_request *q = run->request;
    return run->kind == RUN_ELF || run->kind == RUN_CPU_KERNEL ||
           (run->kind == RUN_KERNEL && q->home && strcmp(q->home, "elf") == 0);
}

struct crew {
    struct source source;
    struct program_set set;
};

/* One pass of all of them on one time line; the measures get their ends when it counts. */
static bool pass_together(struct crew *crew, unsigned count, struct run_measure *const *m, bool counts, struct orch_error *error)
{
    struct engine *engine = engine_create();
    double end_ns;
    bool ok = engine || orch_no_memory(error);
    for (unsigned i = 0; i < count; i++)
        ok = ok && open_set(&crew[i].source, &crew[i].set, m[i]->cores, error) && program_set_add(&crew[i].set, engine, error);
    ok = ok && engine_run(engine, &end_ns, error);
    for (unsigned i = 0; i < count; i++) {
        ok = ok && program_set_finish(&crew[i].set, engine, error);
        if (ok && counts)
            measure_set(&crew[i].set, RUN_TIMING, m[i]);
    }
    soc_restart(m[0]->soc, true); /* before the programs go: timing knows their blocks */
    for (unsigned i = 0; i < count; i++)
        program_set_close(&crew[i].set);
    engine_free(engine);
    return ok;
}

bool run_programs_together(struct run *const *run, unsigned count, struct run_measure *const *m, struct orch_error *error)
{
    struct crew *crew = calloc(count, sizeof *crew);
    bool ok = crew || orch_no_memory(error);
    for (unsigned i = 0; i < count; i++) {
        const unsigned cores = run[i]->request->cores ? run[i]->request->cores : 1;
        m[i]->soc = m[0]->soc;
        ok = ok && open_source(&crew[i].source, run[i], error) && run_place(run[i], cores, m[i], error);
    }
    ok = ok && (run[0]->request->cold || pass_together(crew, count, m, false, error)) &&
         pass_together(crew, count, m, true, error);
    for (unsigned i = 0; crew && i < count; i++)
        close_source(&crew[i].source);
    free(crew);
    return ok;
}
