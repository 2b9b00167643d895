#include "sim/run/cpu/run_programs.h"

#include "isa/array_count.h"
#include "sim/base/host_time.h"
#include "sim/base/returned.h"
#include "sim/chip/chip_units.h"
#include "sim/run/run_internal.h"
#include "sim/workload/cpu/program_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned copies(const struct run_programs *s)
{
    return s->threads ? 1 : run_copies(s->run);
}

static bool open_set(struct run_programs *s, struct program_set *set, struct soc *soc, struct soc_core **cores, const char *doing,
                     uint64_t max_instructions, struct orch_error *error)
{
    const struct run_request *const q = s->run->request;
    const struct crew_cores more = {.most = s->thread_cores,
                                    .steers = s->steers,
                                    .soc = soc,
                                    .choice = q->core_choice,
                                    .watch = q->watch,
                                    .stay = s->threads};
    if (!program_set_open_with(set, copies(s), s->file, s->bytes, &s->options, s->gen, cores, &more, max_instructions, s->prepare,
                               s, error))
        return false;
    program_set_tell(set, s->run->progress, doing);
    return true;
}

/* Cores that the threads of a program may use: all of the chip that nobody else has. */
static unsigned thread_cores(const struct run *run)
{
    const struct run_request *const q = run->request;
    struct chip_clusters clusters;
    unsigned count = 0;
    if (run_copies(run) > 1 || q->skip_cores || q->other_cores || !chip_clusters(q->chip, &clusters, NULL))
        return 1;
    for (unsigned i = 0; i < clusters.count; i++)
        if (q->core_choice == SOC_ANY_CORE || (q->core_choice == SOC_P_CORE) == (clusters.cluster[i].kind == CHIP_P_CORE))
            count += clusters.cluster[i].cores;
    count = count < CPU_LINUX_CORES ? count : CPU_LINUX_CORES;
    return q->thread_cores && q->thread_cores < count ? q->thread_cores : count ? count : 1;
}

/* Remembers the first file that a program misses. */
static void note_missing(struct run_programs *s, const struct program_set *set)
{
    for (unsigned i = 0; set->program && i < set->count && !s->missing[0]; i++) {
        const char *const path = set->program[i] ? program_missing(set->program[i]) : NULL;
        if (path)
            snprintf(s->missing, sizeof s->missing, "%s", path);
    }
}

/* Output is shown as it is written, so that the user of a long run sees progress. */
static void show_output(void *context, const void *bytes, size_t count)
{
    FILE *out = context;
    fwrite(bytes, 1, count, out);
    fflush(out);
}

/* Counts what the program did to the outside world; zeros get no counter. */
static bool add_effects(const struct program *p, const struct crew_job *job, struct run_result *r)
{
    size_t bytes[2], files = 0;
    struct program_result out;
    program_text(p, 1, &bytes[0]);
    program_text(p, 2, &bytes[1]);
    for (size_t i = 0; i < program_result_count(p); i++)
        files += program_result(p, i, &out) && out.save_path;
    const unsigned threads = cpu_linux_started(program_system(p));
    if (threads > 1 && (!run_values_add(&r->counters, "program.threads", threads) ||
                        !run_values_add(&r->counters, "program.cores", crew_job_cores(job))))
        return false;
    return (bytes[0] + bytes[1] == 0 || run_values_add(&r->counters, RUN_COUNTER_OUTPUT, (double)(bytes[0] + bytes[1]))) &&
           (files == 0 || run_values_add(&r->counters, RUN_COUNTER_FILES, (double)files));
}

/* What the first copy wrote, as far as a document should hold it, and what a function returned. */
static bool keep_end(const struct run_programs *s, const struct crew_job *job, const struct program *p, struct run_result *r)
{
    enum { OUTPUT_MOST = 16 << 20 };
    const struct cpu_core *const cpu = crew_job_cpu(job);
    const char *const asked = s->run->request->returns;
    struct returned_registers registers = {.x = {cpu_core_x(cpu, 0), cpu_core_x(cpu, 1)}};
    size_t bytes;
    const char *const text = program_text(p, 1, &bytes);
    free(r->program_output);
    r->program_output = strndup(text, bytes < OUTPUT_MOST ? bytes : OUTPUT_MOST);
    for (unsigned i = 0; i < 4; i++)
        cpu_core_v(cpu, i, registers.v[i]);
    const bool called = crew_job_stop(job) == CPU_STOP_RETURN && !s->prepare;
    return r->program_output && (!called || returned_add(r, asked ? asked : RETURNED_REGISTERS, &registers));
}

/* Buffers and exit code of the first copy. */
static bool collect_results(const struct run_programs *s, const struct program_set *set, struct run_result *r,
                            struct orch_error *error)
{
    const struct program *p = set->program[0];
    bool ok = !s->checksum || s->run->request->mode == RUN_TIMING || s->checksum(s, set, r);
    for (size_t i = 0; ok && i < program_result_count(p); i++) {
        struct program_result out;
        ok = program_result(p, i, &out) && run_checksum_add(&r->checksum, out.name, out.checksum);
    }
    if (crew_job_stop(set->job[0]) == CPU_STOP_EXIT)
        ok = ok && run_values_add(&r->counters, "program.exit_code", crew_job_exit_code(set->job[0]));
    ok = ok && add_effects(p, set->job[0], r) && keep_end(s, set->job[0], p, r);
    return (ok || orch_no_memory(error)) && program_save_results(p, error);
}

/* Of a program that has the chip to itself, a sample may be enough; a warm-up is never timed. */
static void sample_set(const struct run_programs *s, const struct program_set *set, bool blind)
{
    const struct core_sample_shape shape = run_sample_shape(s->run, s->sample, blind, s->expected);
    const struct core_sample_shape with_amx = run_sample_shape(s->run, RUN_SAMPLE_AMX_PROGRAM, blind, s->expected);
    const struct core_sample_shape several = run_crew_shape(s->run, s->sample, blind, s->expected);
    if (set->count == 1 && (blind || run_samples(s->run, false)))
        crew_job_sample(set->job[0], &shape, &with_amx, &several);
}

/* What a program writes in a warm-up is shown only if it does not get further than that. */
struct kept {
    char *bytes;
    size_t used, room;
};

static void keep_output(void *context, const void *bytes, size_t count)
{
    struct kept *const k = context;
    if (k->used + count > k->room) {
        char *const grown = realloc(k->bytes, 2 * (k->used + count));
        if (!grown)
            return;
        k->bytes = grown;
        k->room = 2 * (k->used + count);
    }
    memcpy(k->bytes + k->used, bytes, count);
    k->used += count;
}

/* What a warm-up runs at most of a whole program, which starts once and then goes on by itself: after so many instructions it has
 * filled the caches as often as its beginning can, and what an earlier run left does not matter to the rest. A function is warmed
 * up whole, because its caller's next call finds what the last one left. */
#define WARM_MOST (UINT64_C(1) << 24)

static uint64_t warm_most(const struct run_programs *s)
{
    const struct run_request *const q = s->run->request;
    const bool whole = !q->entry && !s->prepare;
    return !whole || (q->max_instructions && q->max_instructions < WARM_MOST) ? q->max_instructions : WARM_MOST;
}

/* Whether all copies ended, or were ended because that was enough of them. */
static bool warmed(const struct run_programs *s, const struct program_set *set)
{
    for (unsigned i = 0; i < set->count; i++)
        if (crew_job_stop(set->job[i]) == CPU_STOP_FAULT || crew_job_interrupted(set->job[i]))
            return false;
    return warm_most(s) == WARM_MOST;
}

static void show_kept(const struct run_programs *s, const struct kept *kept)
{
    if (s->run->request->program_output && kept->used)
        show_output(s->run->request->program_output, kept->bytes, kept->used);
}

static void note_strayed(struct run_programs *s, const struct program_set *set)
{
    for (unsigned i = 0; s->steers && set->job && i < set->count; i++)
        s->strayed |= set->job[i] && crew_job_strayed(set->job[i]);
}

/* Timing keeps what it learned about a program's blocks until it is restarted, so the restart comes before the program is closed.
 */
static bool warm_up(struct run_programs *s, struct soc *soc, struct soc_core **cores, struct orch_error *error)
{
    struct program_set set;
    struct kept kept = {.bytes = NULL};
    struct orch_error ended = {0};
    bool ok = open_set(s, &set, soc, cores, "warming up for", warm_most(s), error);
    if (ok) {
        sample_set(s, &set, true);
        program_set_sink(set.program[0], &(struct program_sink){keep_output, &kept});
    }
    const bool whole = ok && program_set_run(&set, &ended);
    note_strayed(s, &set);
    if (ok && !whole && !warmed(s, &set)) {
        *error = ended;
        ok = false;
    }
    if (!ok)
        show_kept(s, &kept);
    free(kept.bytes);
    note_missing(s, &set);
    if (whole)
        s->expected = (double)crew_job_instructions(set.job[0]);
    soc_restart(soc, true);
    program_set_close(&set);
    return ok;
}

static void measure_set(const struct program_set *set, bool data, struct run_measure *m)
{
    for (unsigned i = 0; i < set->count; i++)
        run_space_note(program_space(set->program[i]), data, m);
    m->sampled = crew_job_sampled(set->job[0]);
    m->end_ns = set->end_ns + m->sampled.extra_ns;
    for (unsigned i = 0; i < set->count; i++) {
        m->cpu_instructions += crew_job_instructions(set->job[i]);
        m->amx_instructions += crew_job_amx_instructions(set->job[i]);
        crew_job_amx_counts(set->job[i], m->amx_counts);
        const double slept_ns = m->soc ? crew_job_slept_ns(set->job[i]) : 0;
        m->slept_ns = i ? fmin(m->slept_ns, slept_ns) : slept_ns;
    }
    if (m->soc && set->count == 1) {
        m->core_count = crew_job_cores(set->job[0]);
        for (unsigned i = 0; i < m->core_count && i < ARRAY_COUNT(m->cores); i++)
            m->cores[i] = crew_job_core(set->job[0], i, &m->joined_ns[i]);
        m->shared = m->core_count > 1;
    }
    if (m->soc)
        run_measure_finish(m);
}

/* Puts operands into the caches that a kernel before has left there. */
static void touch_present(const struct run_programs *s, const struct run_measure *m)
{
    const uint32_t present = s->run->request->present;
    uint64_t address, bytes;
    for (unsigned i = 0; s->operand && i < 32; i++)
        if (present >> i & 1 && s->operand(s, i, &address, &bytes))
            cpu_timing_touch(m->cores[0]->timing, address, bytes);
    soc_restart(m->soc, true);
}

/* Runs once from start to end and adds to *sum; the last pass hands the results over. */
static bool measured_pass(struct run_programs *s, bool last, struct run_measure *sum, struct run_result *r,
                          struct orch_error *error)
{
    struct run_measure pass = {.soc = sum->soc, .core_count = copies(s)};
    struct program_set set;
    memcpy(pass.cores, sum->cores, sizeof pass.cores);
    bool ok = open_set(s, &set, sum->soc, sum->soc ? pass.cores : NULL, sum->soc ? "timing" : "executing",
                       s->run->request->max_instructions, error);
    if (ok && s->run->request->program_output)
        program_set_sink(set.program[0], &(struct program_sink){show_output, s->run->request->program_output});
    if (ok && sum->soc && s->run->request->present)
        touch_present(s, sum);
    if (ok && sum->soc)
        sample_set(s, &set, false);
    const double begin = host_seconds();
    ok = ok && program_set_run(&set, error);
    note_strayed(s, &set);
    pass.host_seconds = host_seconds() - begin;
    note_missing(s, &set);
    if (ok) {
        measure_set(&set, run_has_data(s->run->request), &pass);
        run_measure_add(sum, &pass);
        sum->core_count = pass.core_count;
        memcpy(sum->cores, pass.cores, sizeof sum->cores);
    }
    ok = ok && (!last || collect_results(s, &set, r, error));
    if (sum->soc)
        soc_restart(sum->soc, !s->run->request->evict);
    program_set_close(&set);
    return ok;
}

/* Passes run back to back: each finds the caches as the one before left them, or empty. */
static bool measured_passes(struct run_programs *s, struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    const unsigned repeat = run_repeats(s->run);
    bool ok = true;
    for (unsigned i = 0; ok && i < repeat; i++)
        ok = measured_pass(s, i + 1 == repeat, m, r, error);
    return ok;
}

static bool run_once(struct run_programs *s, struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    const struct run_request *q = s->run->request;
    if (q->mode == RUN_FUNCTIONAL)
        return measured_passes(s, m, r, error);
    if (!run_place(s->run, copies(s), m, error))
        return false;
    if (!q->cold && !program_world_writes(q->world) && !warm_up(s, m->soc, m->cores, error))
        return false;
    run_watch(s->run, m);
    return measured_passes(s, m, r, error);
}

/* Kernels of the libraries do without values where only time is asked for, unless a core finds that these steer: then everything
 * is done again with values. */
static bool run_set(struct run_programs *s, struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    struct orch_error stray = {0};
    s->steers = s->run->request->mode == RUN_TIMING && s->may_steer;
    if (run_once(s, m, r, s->steers ? &stray : error))
        return true;
    if (!s->strayed) {
        *error = s->steers ? stray : *error;
        return false;
    }
    s->steers = false;
    run_measure_release(m);
    *m = (struct run_measure){.soc = NULL};
    return run_once(s, m, r, error);
}

static bool open_programs(struct run_programs *s, const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct mem_pool_params memory;
    *s = (struct run_programs){.run = run, .file = run->file.bytes, .bytes = run->file.size};
    s->options = (struct program_options){
        .path = q->workload, .entry = q->entry, .args = q->args, .arg_count = q->arg_count, .seed = q->seed};
    s->thread_cores = thread_cores(run);
    s->options.cores = s->thread_cores;
    if (q->world) {
        s->options.mounts = q->world->mount;
        s->options.mount_count = q->world->mounts;
        s->options.envp = q->world->env;
        s->options.env_count = q->world->envs;
        s->options.input = q->world->input;
        s->options.input_bytes = q->world->input_bytes;
    }
    if ((q->returns && !returned_check(q->returns, error)) || !chip_amx_gen(q->chip, &s->gen, error) ||
        !run->kind->programs(run, s, error))
        return false;
    if (chip_memory(q->chip, q->memory_gib, &memory, NULL))
        s->options.memory_bytes = memory.capacity_bytes / copies(s);
    if (s->threads)
        s->options.cores = s->thread_cores = s->threads;
    return true;
}

static void close_programs(struct run_programs *s)
{
    free(s->own);
    free(s->own_file);
}

/* A warm-up would change files a first time. */
static bool say_cold(const struct run *run, struct run_result *result, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    if (q->cold || q->mode == RUN_FUNCTIONAL || !program_world_writes(q->world))
        return true;
    return run_assumption_add(&result->assumptions, "cold", "inferred",
                              "caches start empty: a program that may write files is not run to warm them") ||
           orch_no_memory(error);
}

bool run_programs(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                  struct orch_error *error)
{
    struct run_programs s;
    char why[512] = "an AArch64 program runs where its instructions say";
    (void)given;
    if (run->kind->has)
        run_kind_why(run, why, sizeof why);
    const bool ok = open_programs(&s, run, error) && run_set(&s, m, result, error) &&
                    run_placement_add(&result->placement, run->program_name, m->amx_instructions ? "cpu+amx" : "cpu",
                                      s.variant ? s.variant : "program", why);
    if (s.missing[0]) {
        char text[RUN_REMARK_BYTES];
        snprintf(text, sizeof text, "%.100s asked for %.200s, which is not mounted (" ORCH_OPTION("mount") " HOST:GUEST)",
                 run->program_name, s.missing);
        run_add_remark(run, text, NULL);
    }
    close_programs(&s);
    return ok && say_cold(run, result, error);
}

/* ---- several workloads on one chip ---- */

bool run_is_program(const struct run *run)
{
    return run->kind->programs != NULL;
}

struct crew {
    struct run_programs programs;
    struct program_set set;
};

/* Runs all of them once on one time line; a pass that counts fills the measures. */
static bool pass_together(struct crew *crew, unsigned count, struct run_measure *const *m, bool counts, struct orch_error *error)
{
    struct engine *engine = engine_create();
    double end_ns;
    bool ok = engine || orch_no_memory(error);
    for (unsigned i = 0; i < count; i++)
        ok = ok &&
             open_set(&crew[i].programs, &crew[i].set, m[i]->soc, m[i]->cores, counts ? "timing" : "warming up for",
                      crew[i].programs.run->request->max_instructions, error) &&
             program_set_add(&crew[i].set, engine, error);
    ok = ok && engine_run(engine, &end_ns, error);
    for (unsigned i = 0; i < count; i++) {
        ok = ok && program_set_finish(&crew[i].set, engine, error);
        if (ok && counts)
            measure_set(&crew[i].set, false, m[i]);
    }
    soc_restart(m[0]->soc, true); /* before the programs are closed: timing knows their blocks */
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
        m[i]->soc = m[0]->soc;
        ok = ok && open_programs(&crew[i].programs, run[i], error) && run_place(run[i], copies(&crew[i].programs), m[i], error);
    }
    ok = ok && (run[0]->request->cold || pass_together(crew, count, m, false, error)) &&
         pass_together(crew, count, m, true, error);
    for (unsigned i = 0; crew && i < count; i++)
        close_programs(&crew[i].programs);
    free(crew);
    return ok;
}
