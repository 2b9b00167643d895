#include "sim/run/validate_run.h"

#include "sim/run/core_job.h"
#include "sim/run/run.h"
#include "units/cpu/cpu_system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last chip is kept: tables come in runs of rows of one chip. */
struct validate_host {
    const struct chip_db *db;
    const struct chip_overrides *overrides;
    struct chip *chip;
    struct soc *soc;
    char name[64];
};

struct validate_host *validate_host_create(const struct chip_db *db, const struct chip_overrides *overrides)
{
    struct validate_host *h = calloc(1, sizeof *h);
    if (h) {
        h->db = db;
        h->overrides = overrides;
    }
    return h;
}

static void forget_chip(struct validate_host *h)
{
    soc_free(h->soc);
    if (h->chip)
        chip_close(h->chip);
    h->soc = NULL;
    h->chip = NULL;
    h->name[0] = 0;
}

void validate_host_free(struct validate_host *h)
{
    if (!h)
        return;
    forget_chip(h);
    free(h);
}

static bool use_chip(struct validate_host *h, const char *name, struct orch_error *error)
{
    if (h->soc && strcmp(h->name, name) == 0)
        return true;
    forget_chip(h);
    h->chip = chip_open(h->db, name, h->overrides, error);
    h->soc = h->chip ? soc_create(h->chip, error) : NULL;
    if (h->soc)
        snprintf(h->name, sizeof h->name, "%s", name);
    return h->soc != NULL;
}

/* ---- a copy of the program on each core ---- */

struct thread {
    struct mem_space *space;
    struct cpu_core *cpu;
    struct cpu_linux *system;
    struct core_job *job;
};

static bool load(struct mem_space *space, const struct validate_program *p)
{
    const uint64_t bytes = p->words * sizeof *p->code;
    if (!mem_space_map(space, VALIDATE_CODE_ADDR, bytes, MEM_READ | MEM_WRITE | MEM_EXEC))
        return false;
    memcpy(mem_at(space, VALIDATE_CODE_ADDR, bytes, MEM_WRITE), p->code, bytes);
    if (!mem_space_protect(space, VALIDATE_CODE_ADDR, bytes, MEM_READ | MEM_EXEC))
        return false;
    if (p->data_bytes && !mem_space_map(space, VALIDATE_DATA_ADDR, p->data_bytes, MEM_READ | MEM_WRITE))
        return false;
    for (size_t i = 0; i < p->patches; i++) {
        uint8_t *at = mem_at(space, VALIDATE_DATA_ADDR + p->patch[i].offset, sizeof p->patch[i].value, MEM_WRITE);
        if (!at)
            return false;
        memcpy(at, &p->patch[i].value, sizeof p->patch[i].value);
    }
    return true;
}

static bool open_thread(struct thread *t, const struct validate_program *p, struct soc_core *core, struct orch_error *error)
{
    const struct cpu_linux_params params = {.heap_start = UINT64_C(1) << 34, .page_bytes = MEM_PAGE_BYTES, .seed = 1};
    t->space = mem_space_create(0);
    t->cpu = t->space ? cpu_core_create(t->space) : NULL;
    t->system = t->cpu ? cpu_linux_create(t->space, &params) : NULL;
    if (!t->system || !load(t->space, p))
        return orch_fail(error, ORCH_INTERNAL, "out of memory for a microbenchmark");
    cpu_core_set_system(t->cpu, cpu_linux_hook(t->system));
    cpu_core_set_pc(t->cpu, VALIDATE_CODE_ADDR);
    t->job = core_job_create(t->cpu, t->space, core->gen, core, 0, error);
    return t->job != NULL;
}

static void close_thread(struct thread *t)
{
    core_job_free(t->job);
    cpu_linux_free(t->system);
    cpu_core_free(t->cpu);
    mem_space_free(t->space);
}

static bool ended_well(const struct thread *t, struct orch_error *error)
{
    if (core_job_stop(t->job) == CPU_STOP_EXIT)
        return true;
    return orch_fail(error, ORCH_INTERNAL, "a microbenchmark did not end: %s", core_job_fault(t->job)->text);
}

/* One pass of all threads from time 0; *end_ns[i] of each. Caches keep what they hold afterwards. */
static bool one_pass(struct soc *soc, const struct validate_program *p, struct soc_core **cores, unsigned count,
                     double *end_ns, struct orch_error *error)
{
    struct thread thread[VALIDATE_MAX_THREADS];
    struct engine *engine = engine_create();
    double all_ns;
    bool ok = engine || orch_fail(error, ORCH_INTERNAL, "out of memory for the engine");
    memset(thread, 0, sizeof thread);
    for (unsigned i = 0; ok && i < count; i++) {
        ok = open_thread(&thread[i], p, cores[i], error);
        if (ok) {
            const struct engine_task task = core_job_task(thread[i].job);
            ok = engine_add(engine, &task, NULL, 0) >= 0 || orch_fail(error, ORCH_INTERNAL, "out of memory");
        }
    }
    ok = ok && engine_run(engine, &all_ns, error);
    for (unsigned i = 0; ok && i < count; i++) {
        ok = ended_well(&thread[i], error);
        end_ns[i] = engine_done_at(engine, (int)i);
    }
    soc_restart(soc, true); /* forgets the programs' blocks before they go */
    for (unsigned i = 0; i < count; i++)
        close_thread(&thread[i]);
    engine_free(engine);
    return ok;
}

static bool run_code(struct validate_host *h, const struct validate_program *p, struct validate_timing *t,
                     struct orch_error *error)
{
    struct soc_core *cores[VALIDATE_MAX_THREADS];
    double end_ns[VALIDATE_MAX_THREADS];
    const enum soc_core_choice choice = p->core == VALIDATE_P_CORE ? SOC_P_CORE : p->core == VALIDATE_E_CORE ? SOC_E_CORE
                                                                                                            : SOC_ANY_CORE;
    const unsigned all = (choice != SOC_E_CORE ? soc_core_count(h->soc, true) : 0) +
                         (choice != SOC_P_CORE ? soc_core_count(h->soc, false) : 0);
    const unsigned count = p->threads ? p->threads : all;
    if (count > VALIDATE_MAX_THREADS || !soc_place(h->soc, count, choice, cores, error))
        return false;
    soc_restart(h->soc, false);
    if (p->warm && !one_pass(h->soc, p, cores, count, end_ns, error))
        return false;
    if (!one_pass(h->soc, p, cores, count, end_ns, error))
        return false;
    t->threads = count;
    for (unsigned i = 0; i < count; i++) {
        t->thread_seconds[i] = end_ns[i] * 1e-9;
        t->thread_cycles[i] = end_ns[i] * cores[i]->clock_ghz;
        t->seconds = fmax(t->seconds, t->thread_seconds[i]);
    }
    return true;
}

static bool run_library_kernel(struct validate_host *h, const struct validate_program *p, struct validate_timing *t,
                               struct orch_error *error)
{
    const struct run_request request = {.chip = h->chip, .workload = p->workload, .mode = RUN_TIMING, .seed = 1,
                                        .precision = p->precision[0] ? p->precision : NULL,
                                        .core_choice = p->core == VALIDATE_E_CORE ? SOC_E_CORE : SOC_P_CORE};
    struct run_result result;
    if (p->threads != 1)
        return orch_fail(error, ORCH_UNMODELLED, "library kernels run on one core; this row used more");
    struct run *run = run_prepare(&request, error);
    run_result_init(&result);
    const bool ok = run && run_execute(run, NULL, 1, &result, error);
    if (ok) {
        t->threads = 1;
        t->seconds = t->thread_seconds[0] = result.seconds;
        t->low_factor = result.seconds_low / result.seconds;
        t->high_factor = result.seconds_high / result.seconds;
    }
    run_result_free(&result);
    run_free(run);
    return ok;
}

static bool run_row(void *context, const struct validate_program *p, struct validate_timing *t, struct orch_error *error)
{
    struct validate_host *h = context;
    memset(t, 0, sizeof *t);
    if (!use_chip(h, p->chip, error))
        return false;
    return p->workload[0] ? run_library_kernel(h, p, t, error) : run_code(h, p, t, error);
}

struct validate_runner validate_host_runner(struct validate_host *host)
{
    return (struct validate_runner){run_row, host};
}
