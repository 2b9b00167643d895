#include "sim/prove/validate/soc_runner.h"

#include "sim/run/interval.h"
#include "sim/workload/cpu/program_set.h"
#include "sim/prove/validate/ane_runner.h"
#include "sim/prove/validate/gpu_runner.h"
#include "sim/prove/validate/launch_runner.h"
#include "sim/prove/validate/power_runner.h"

#include <stdlib.h>
#include <string.h>

struct soc_runner {
    const struct chip_db *db;
    const struct chip_overrides *overrides;
    struct validate_runner kernel;
    struct launch_runner *launches;
    struct ane_runner *requests;
    struct power_runner *power;
    struct soc_runner_memory *own; /* memory of this runner alone; NULL when it is shared */
    struct chip *chip;             /* the last one used; tables list their rows chip by chip */
    char name[192];
};

struct soc_runner_memory {
    struct memo *launches, *requests, *power;
};

struct soc_runner_memory *soc_runner_memory_create(void)
{
    struct soc_runner_memory *const memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    memory->launches = memo_create(sizeof(struct launch_spent));
    memory->requests = memo_create(sizeof(struct ane_spent));
    memory->power = memo_create(sizeof(struct energy_run));
    if (memory->launches && memory->requests && memory->power)
        return memory;
    soc_runner_memory_free(memory);
    return NULL;
}

void soc_runner_memory_free(struct soc_runner_memory *memory)
{
    if (!memory)
        return;
    memo_free(memory->launches);
    memo_free(memory->requests);
    memo_free(memory->power);
    free(memory);
}

struct soc_runner *soc_runner_create(const struct chip_db *db, const struct chip_overrides *overrides,
                                     const struct validate_runner *kernel, struct soc_runner_memory *memory)
{
    struct soc_runner *const runner = calloc(1, sizeof *runner);
    if (!runner)
        return NULL;
    runner->own = memory ? NULL : soc_runner_memory_create();
    memory = memory ? memory : runner->own;
    if (!memory) {
        free(runner);
        return NULL;
    }
    runner->db = db;
    runner->overrides = overrides;
    if (kernel)
        runner->kernel = *kernel;
    runner->launches = launch_runner_create(db, overrides, memory->launches);
    runner->requests = ane_runner_create(db, overrides, memory->requests);
    runner->power = power_runner_create(db, overrides, memory->power);
    if (!runner->launches || !runner->requests || !runner->power) {
        soc_runner_free(runner);
        return NULL;
    }
    return runner;
}

static void close_chip(struct soc_runner *runner)
{
    chip_close(runner->chip);
    runner->chip = NULL;
}

void soc_runner_free(struct soc_runner *runner)
{
    if (!runner)
        return;
    close_chip(runner);
    launch_runner_free(runner->launches);
    ane_runner_free(runner->requests);
    power_runner_free(runner->power);
    soc_runner_memory_free(runner->own);
    free(runner);
}

/* Opens a chip with overrides of the row, then those of the user, which win. */
static struct chip *chip_with(const struct soc_runner *runner, const struct validate_program *program, struct orch_error *error)
{
    const size_t count = runner->overrides ? runner->overrides->count : 0;
    size_t sets = 0;
    const char **text = calloc(count + 2, sizeof *text);
    if (!text) {
        orch_no_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < 2; i++)
        if (*program->set[i])
            text[sets++] = program->set[i];
    for (size_t i = 0; i < count; i++)
        text[sets++] = runner->overrides->text[i];
    const struct chip_overrides all = {text, sets};
    struct chip *const chip = chip_open(runner->db, program->chip, &all, error);
    free(text);
    return chip;
}

static bool open_chip(struct soc_runner *runner, const struct validate_program *program, struct orch_error *error)
{
    char name[sizeof runner->name];
    snprintf(name, sizeof name, "%.64s %.48s %.48s", program->chip, program->set[0], program->set[1]);
    if (runner->chip && strcmp(runner->name, name) == 0)
        return true;
    close_chip(runner);
    snprintf(runner->name, sizeof runner->name, "%s", name);
    runner->chip = chip_with(runner, program, error);
    return runner->chip != NULL;
}

static unsigned cores_wanted(const struct soc *soc, const struct validate_program *program)
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

/* Runs on a fresh machine, so that the answer does not depend on other rows. */
static bool run_code(const struct soc_runner *runner, const struct validate_program *program, struct validate_timing *result,
                     struct orch_error *error)
{
    static const enum soc_core_choice choices[] = {
        [VALIDATE_ANY_CORE] = SOC_ANY_CORE, [VALIDATE_P_CORE] = SOC_P_CORE, [VALIDATE_E_CORE] = SOC_E_CORE};
    struct run run = {.program = program, .soc = soc_create(runner->chip, error)};
    if (!run.soc)
        return false;
    run.count = cores_wanted(run.soc, program);
    bool ok = run.count <= VALIDATE_MAX_THREADS || orch_fail(error, ORCH_UNMODELLED, "%u threads", run.count);
    ok = ok && soc_place(run.soc, run.count, choices[program->core], run.cores, error);
    uint8_t *const file = ok ? validate_program_elf(program, false, &run.bytes, error) : NULL;
    run.file = file;
    ok = file && (!program->warm || pass(&run, true, NULL, error)) && pass(&run, false, result, error);
    free(file);
    soc_free(run.soc);
    return ok;
}

static bool run_program(void *context, const struct validate_program *program, struct validate_timing *result,
                        struct orch_error *error)
{
    struct soc_runner *const runner = context;
    if (program->power && !program->code)
        return power_runner_run(runner->power, program, result, error);
    if (program->ane)
        return ane_runner_run(runner->requests, program, result, error);
    if (program->launches)
        return launch_runner_run(runner->launches, program, result, error);
    if (program->workload[0])
        return runner->kernel.run ? runner->kernel.run(runner->kernel.context, program, result, error)
                                  : orch_fail(error, ORCH_UNMODELLED, "kernels of the library are not run here");
    if (!open_chip(runner, program, error))
        return false;
    return program->gpu.text ? gpu_runner_run(runner->chip, program, result, error) : run_code(runner, program, result, error);
}

struct validate_runner soc_runner_hook(struct soc_runner *runner)
{
    return (struct validate_runner){run_program, runner};
}
