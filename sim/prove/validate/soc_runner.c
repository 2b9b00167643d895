#include "sim/prove/validate/soc_runner.h"

#include "sim/prove/validate/fitted.h"
#include "sim/run/interval.h"
#include "sim/workload/cpu/program_set.h"
#include "sim/prove/validate/gpu_runner.h"
#include "sim/prove/validate/power_runner.h"
#include "sim/prove/validate/request.h"
#include "sim/prove/validate/run_runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct soc_runner {
    struct row_chip *chips;
    struct soc_runner_memory *memory, *own; /* own: of this runner alone; NULL when it is shared */
};

struct soc_runner_memory {
    struct memo *answers; /* holds struct run_answer */
};

struct soc_runner_memory *soc_runner_memory_create(void)
{
    struct soc_runner_memory *const memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    memory->answers = memo_create(sizeof(struct run_answer));
    if (memory->answers)
        return memory;
    free(memory);
    return NULL;
}

void soc_runner_memory_free(struct soc_runner_memory *memory)
{
    if (!memory)
        return;
    memo_free(memory->answers);
    free(memory);
}

struct soc_runner *soc_runner_create(const struct chip_db *db, const struct chip_overrides *overrides,
                                     struct soc_runner_memory *memory)
{
    struct soc_runner *const runner = calloc(1, sizeof *runner);
    if (!runner)
        return NULL;
    runner->own = memory ? NULL : soc_runner_memory_create();
    runner->memory = memory ? memory : runner->own;
    runner->chips = row_chip_create(db, overrides);
    if (runner->memory && runner->chips)
        return runner;
    soc_runner_free(runner);
    return NULL;
}

void soc_runner_free(struct soc_runner *runner)
{
    if (!runner)
        return;
    row_chip_free(runner->chips);
    soc_runner_memory_free(runner->own);
    free(runner);
}

unsigned soc_runner_cores(const struct soc *soc, const struct validate_program *program)
{
    const unsigned p = soc_core_count(soc, true), e = soc_core_count(soc, false);
    if (program->threads)
        return program->threads;
    return program->core == VALIDATE_P_CORE ? p : program->core == VALIDATE_E_CORE ? e : p + e;
}

static bool patch(void *context, unsigned number, struct program *program, struct orch_error *error)
{
    (void)number;
    return validate_program_patch(context, program_space(program)) ||
           orch_fail(error, ORCH_INTERNAL, "its data do not fit the simulated memory");
}

struct run {
    const struct validate_program *program;
    const uint8_t *file;
    size_t bytes;
    struct soc *soc;
    struct soc_core *cores[VALIDATE_MAX_THREADS];
    unsigned count;
};

static void read_times(const struct run *run, struct validate_timing *result)
{
    result->threads = run->count;
    for (unsigned i = 0; i < run->count; i++) {
        const double ns = soc_core_done_at(run->cores[i]);
        result->thread_seconds[i] = ns * 1e-9;
        result->thread_cycles[i] = ns * run->cores[i]->clock_ghz;
        if (ns * 1e-9 > result->seconds)
            result->seconds = ns * 1e-9;
    }
}

/* Has to run before the timing models forget. */
static bool read_joules(const struct run *run, struct validate_timing *result, struct orch_error *error)
{
    struct activity by[POWER_DOMAIN_COUNT] = {{{0}}};
    struct energy_cores cores;
    struct energy_model model;
    struct energy_run energy;
    if (!energy_model_open(&model, soc_chip(run->soc), error))
        return false;
    soc_take_activity_by(run->soc, by);
    energy_cores_add(&cores, run->cores, run->count);
    energy_run_start(&energy, &model, result->seconds, result->seconds);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        energy_run_add_activity(&energy, &model, &by[d], d);
    energy_run_set_cores(&energy, &model, &cores);
    energy_run_set_memory(&energy, &model);
    power_runner_report(&energy, &model, run->program, result);
    return true;
}

static void drop_activity(struct soc *soc)
{
    struct activity unused = {{0}};
    soc_take_activity(soc, &unused);
}

/* Runs the program once. Timing models know blocks of the programs' cores, so they are reset before the programs are closed. */
static bool pass(const struct run *run, bool keep_caches, struct validate_timing *result, struct orch_error *error)
{
    struct program_set set;
    const struct program_options options = {.path = "row"};
    struct validate_program program = *run->program;
    struct soc_core *cores[VALIDATE_MAX_THREADS];
    memcpy(cores, run->cores, sizeof cores);
    bool ok =
        program_set_open(&set, run->count, run->file, run->bytes, &options, soc_amx_gen(run->soc), cores, patch, &program, error);
    ok = ok && program_set_run(&set, error);
    if (ok && result)
        read_times(run, result);
    if (ok && result && run->program->power)
        ok = read_joules(run, result, error);
    else if (ok && result)
        result->parameters = interval_of_cores(run->soc, run->cores, run->count, result->seconds * 1e9);
    drop_activity(run->soc);
    soc_restart(run->soc, keep_caches);
    program_set_close(&set);
    return ok;
}

/* Threads that go on when those of all other clusters are done, and that macOS then moves. */
struct left_over {
    unsigned threads;           /* 0 = none */
    double after_seconds, work; /* when, and which part of their work is left */
};

/* Cores of an efficiency cluster give their threads to performance cores that fall idle. Of a performance cluster, three threads
 * and more spread; two stay (FITTED_THREADS_THAT_STAY). */
static struct left_over left_over(const struct run *run, const struct validate_timing *timing)
{
    const struct soc_core *last = run->cores[0];
    double others = 0;
    unsigned threads = 0;
    for (unsigned i = 0; i < run->count; i++)
        if (timing->thread_seconds[i] >= timing->seconds)
            last = run->cores[i];
    for (unsigned i = 0; i < run->count; i++) {
        if (run->cores[i]->cluster == last->cluster)
            threads++;
        else
            others = fmax(others, timing->thread_seconds[i]);
    }
    const double work = 1 - others / timing->seconds;
    if (threads == run->count || work < 0.01 || (last->performance && threads <= FITTED_THREADS_THAT_STAY))
        return (struct left_over){0};
    return (struct left_over){threads, others, work};
}

/* Runs on a fresh machine, so that the answer does not depend on other rows. `left` is set for a program that moves. */
static bool run_once(const struct chip *chip, const struct validate_program *program, struct validate_timing *result,
                     struct left_over *left, struct orch_error *error)
{
    struct run run = {.program = program, .soc = soc_create(chip, error)};
    if (!run.soc)
        return false;
    run.count = soc_runner_cores(run.soc, program);
    bool ok = run.count <= VALIDATE_MAX_THREADS || orch_fail(error, ORCH_UNMODELLED, "%u threads", run.count);
    ok = ok && soc_place(run.soc, run.count, validate_core_choice(program->core), run.cores, error);
    uint8_t *const file = ok ? validate_program_elf(program, false, &run.bytes, error) : NULL;
    run.file = file;
    ok = file && (!program->warm || pass(&run, true, NULL, error)) && pass(&run, false, result, error);
    if (ok && program->moves)
        *left = left_over(&run, result);
    free(file);
    soc_free(run.soc);
    return ok;
}

static bool run_code(const struct chip *chip, const struct validate_program *program, struct validate_timing *result,
                     struct orch_error *error)
{
    struct left_over left = {0};
    if (!run_once(chip, program, result, &left, error))
        return false;
    if (!left.threads)
        return true;
    struct validate_program rest = *program;
    struct validate_timing after = {0};
    rest.threads = left.threads;
    if (!run_code(chip, &rest, &after, error))
        return false;
    result->seconds = left.after_seconds + left.work * after.seconds;
    for (unsigned i = 0; i < result->threads; i++)
        result->thread_seconds[i] = fmin(result->thread_seconds[i], result->seconds);
    return true;
}

/* ---- sizes that are looked for ---- */

/* The time of a piece of work of the program of that size. */
static bool time_of_size(const struct chip *chip, const struct validate_program *program, unsigned size, double *each_s,
                         struct validate_timing *result, struct orch_error *error)
{
    struct validate_program sized = *program;
    sized.code = NULL;
    *result = (struct validate_timing){0};
    sized.patch = malloc((program->patches + 1) * sizeof *sized.patch);
    if (sized.patch && program->patches)
        memcpy(sized.patch, program->patch, program->patches * sizeof *sized.patch);
    const bool ok = (sized.patch && program->search.build(&sized, size)) || orch_no_memory(error);
    const bool ran = ok && run_code(chip, &sized, result, error);
    *each_s = ran ? result->seconds / sized.work : 0;
    free(sized.code);
    free(sized.patch);
    return ran;
}

static bool run_search(const struct chip *chip, const struct validate_program *program, struct validate_timing *result,
                       struct orch_error *error)
{
    const struct validate_search *const s = &program->search;
    unsigned fits = 0, slower = (s->high - s->low) / s->step;
    double least_s, each_s;
    if (!time_of_size(chip, program, s->low, &least_s, result, error) ||
        !time_of_size(chip, program, s->low + slower * s->step, &each_s, result, error))
        return false;
    if (each_s <= s->rise * least_s)
        return orch_fail(error, ORCH_UNMODELLED, "no limit shows up to %u", s->high);
    while (slower - fits > 1) {
        const unsigned middle = (fits + slower) / 2;
        if (!time_of_size(chip, program, s->low + middle * s->step, &each_s, result, error))
            return false;
        *(each_s <= s->rise * least_s ? &fits : &slower) = middle;
    }
    result->found = s->low + fits * s->step;
    return true;
}

/* ---- any program ---- */

static bool run_alone(struct soc_runner *runner, const struct validate_program *program, struct validate_timing *result,
                      struct orch_error *error)
{
    if (program->power && !program->code)
        return power_runner_run(runner->chips, runner->memory->answers, program, result, error);
    if (validate_request_count(program))
        return run_runner_run(runner->chips, runner->memory->answers, program, result, error);
    const struct chip *const chip = row_chip_open(runner->chips, program, error);
    if (!chip)
        return false;
    if (program->search.build)
        return run_search(chip, program, result, error);
    return program->gpu.text ? gpu_runner_run(chip, program, result, error) : run_code(chip, program, result, error);
}

static bool run_program(void *context, const struct validate_program *program, struct validate_timing *result,
                        struct orch_error *error)
{
    struct validate_timing other = {0};
    if (program->less && !run_alone(context, program->less, &other, error))
        return false;
    if (!run_alone(context, program, result, error))
        return false;
    result->less = program->less ? validate_value(program->less, &other) : 0;
    return true;
}

static const struct chip *chip_of(void *context, const struct validate_program *program)
{
    struct soc_runner *const runner = context;
    struct orch_error unused = {0};
    return row_chip_open(runner->chips, program, &unused);
}

struct validate_runner soc_runner_hook(struct soc_runner *runner)
{
    return (struct validate_runner){run_program, runner, chip_of};
}
