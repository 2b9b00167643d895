#include "sim/run/kinds/session_internal.h"

#include "sim/chip/chip.h"
#include "sim/chip/chip_units.h"
#include "sim/run/run_version.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void session_hand_over(struct orchard_error *to, const struct orch_error *from)
{
    if (!to)
        return;
    *to = (struct orchard_error){.code = from->exit_code};
    snprintf(to->text, sizeof to->text, "%s", from->plain);
}

const char *orchard_version(void)
{
    return run_model_version();
}

struct orchard *orchard_open(const char *chip, const char *const *sets, size_t set_count, struct orchard_error *error)
{
    struct orch_error e = {0};
    struct orchard *o = calloc(1, sizeof *o);
    const struct chip_overrides overrides = {sets, set_count};
    if (!o)
        orch_no_memory(&e);
    if (o && (o->db = chip_db_open(NULL, &e)) && (o->chip = chip_open(o->db, chip, &overrides, &e)) &&
        (o->soc = soc_create(o->chip, &e))) {
        o->space = mem_space_create(0);
        if (!chip_memory(o->chip, 0, &o->memory, &e))
            o->memory = (struct mem_pool_params){0}; /* not known: no limit */
        o->pool = o->space ? mem_pool_create(o->space, &o->memory) : NULL;
        if (o->pool)
            return o;
        orch_fail(&e, ORCH_INTERNAL, "no address space for the simulated memory");
    }
    session_hand_over(error, &e);
    orchard_close(o);
    return NULL;
}

static void free_job(struct session_job *j)
{
    for (size_t i = 0; i < j->request.arg_count; i++)
        free(j->args[i]);
    free(j->args);
    free(j->workload);
    free(j->unit);
    free(j->precision);
    free(j->entry);
    session_free_kernel(j);
    run_result_free(&j->result);
    free(j);
}

void orchard_close(struct orchard *o)
{
    if (!o)
        return;
    for (int i = 0; i < o->jobs; i++)
        free_job(o->job[i]);
    free(o->job);
    free(o->block);
    mem_pool_free(o->pool);
    mem_space_free(o->space);
    soc_free(o->soc);
    if (o->chip)
        chip_close(o->chip);
    if (o->db)
        chip_db_close(o->db);
    free(o);
}

static bool note_block(struct orchard *o, uint64_t address, uint64_t bytes)
{
    if (o->blocks == o->block_room) {
        const size_t room = o->block_room ? 2 * o->block_room : 16;
        struct session_block *const grown = realloc(o->block, room * sizeof *grown);
        if (!grown)
            return false;
        o->block = grown;
        o->block_room = room;
    }
    o->block[o->blocks++] = (struct session_block){address, bytes};
    return true;
}

uint64_t orchard_alloc(struct orchard *o, uint64_t bytes, void **host, struct orchard_error *error)
{
    const uint64_t address = mem_pool_alloc(o->pool, bytes > MEM_PAGE_BYTES ? bytes : MEM_PAGE_BYTES);
    if (!address) {
        struct orch_error e = {0};
        struct mem_pool_stats now;
        mem_pool_stats(o->pool, &now);
        orch_fail(&e, ORCH_USAGE, "no room for %llu bytes: of %.0f GiB of memory %.1f are in use", (unsigned long long)bytes,
                  (double)o->memory.capacity_bytes * 0x1p-30, (double)now.used_bytes * 0x1p-30);
        session_hand_over(error, &e);
        return 0;
    }
    if (!note_block(o, address, bytes ? bytes : 1)) {
        mem_pool_release(o->pool, address);
        session_hand_over(error, &(struct orch_error){.exit_code = ORCH_INTERNAL, .plain = "out of memory"});
        return 0;
    }
    if (host)
        *host = mem_at(o->space, address, bytes ? bytes : 1, MEM_READ | MEM_WRITE);
    return address;
}

bool orchard_free(struct orchard *o, uint64_t address)
{
    for (size_t i = 0; i < o->blocks; i++)
        if (o->block[i].address == address) {
            o->block[i] = o->block[--o->blocks];
            break;
        }
    return mem_pool_release(o->pool, address);
}

void orchard_memory(const struct orchard *o, struct orchard_memory *memory)
{
    struct mem_pool_stats now;
    mem_pool_stats(o->pool, &now);
    *memory = (struct orchard_memory){o->memory.capacity_bytes, now.used_bytes, now.used_peak_bytes, (int)now.pressure};
}

/* Like strdup, but NULL stays NULL. */
static bool copy_text(char **to, const char *from)
{
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

struct session_job *session_new_job(struct orchard *o, const char *workload, struct orch_error *e)
{
    struct session_job **grown = realloc(o->job, (size_t)(o->jobs + 1) * sizeof *grown);
    if (grown)
        o->job = grown;
    struct session_job *j = grown ? calloc(1, sizeof *j) : NULL;
    if (!j || !copy_text(&j->workload, workload)) {
        free(j);
        orch_no_memory(e);
        return NULL;
    }
    run_result_init(&j->result);
    j->request.chip = o->chip;
    j->request.workload = j->workload;
    o->job[o->jobs++] = j;
    return j;
}

int session_accept(struct orchard *o, struct session_job *j, struct orch_error *e, struct orchard_error *error)
{
    struct run *run = j && !e->exit_code ? run_prepare(&j->request, e) : NULL;
    run_free(run);
    if (run)
        return o->jobs - 1;
    if (j) {
        free_job(j);
        o->jobs--;
    }
    session_hand_over(error, e);
    return -1;
}

int orchard_enqueue(struct orchard *o, const char *unit, const char *workload, const struct orchard_launch *launch,
                    struct orchard_error *error)
{
    struct orch_error e = {0};
    struct session_job *j = session_new_job(o, workload, &e);
    if (j && copy_text(&j->unit, unit) && copy_text(&j->precision, launch ? launch->precision : NULL)) {
        j->request.unit = j->unit;
        j->request.precision = j->precision;
        if (launch) {
            memcpy(j->buffer, launch->buffer, sizeof launch->buffer);
            j->request.seed = launch->seed;
            j->request.mode = launch->timing_only ? RUN_TIMING : RUN_FULL;
        }
    }
    return session_accept(o, j, &e, error);
}

int orchard_enqueue_program(struct orchard *o, const char *elf_path, const char *entry, const char *const *args, size_t arg_count,
                            struct orchard_error *error)
{
    struct orch_error e = {0};
    struct session_job *j = session_new_job(o, elf_path, &e);
    if (j && copy_text(&j->entry, entry)) {
        j->request.entry = j->entry;
        j->args = calloc(arg_count ? arg_count : 1, sizeof *j->args);
        for (size_t i = 0; j->args && i < arg_count && copy_text(&j->args[i], args[i]); i++)
            j->request.arg_count = i + 1;
        j->request.args = (const char *const *)j->args;
    }
    return session_accept(o, j, &e, error);
}

/* Programs bring their own address space. */
static bool check_buffers(const struct session_job *j, const struct run *run, struct orch_error *e)
{
    for (size_t i = 0; i < ABI_ARGS_MAX; i++)
        if (j->buffer[i] && !run->kind->takes_buffers)
            return orch_fail(e, ORCH_UNMODELLED, "%s on the %s has an address space of its own: no buffers of yours", j->workload,
                             orch_part_name(run_part(run)));
    return true;
}

/* Kernels share the session's memory and chip. */
static bool run_shared(struct orchard *o, struct session_job *j, struct run *run, struct orch_error *e)
{
    struct run_measure m = {.soc = o->soc};
    const struct run_given given = {o->space, j->buffer, j->kernel ? ABI_ARGS_MAX : ORCHARD_BUFFERS};
    const bool ok = run_time_given(run, &given, &m, &j->result, e);
    m.soc = NULL; /* it is the session's */
    run_measure_release(&m);
    return ok;
}

static bool run_job(struct orchard *o, struct session_job *j, struct orch_error *e)
{
    struct run *const run = run_prepare(&j->request, e);
    const bool ok = run && check_buffers(j, run, e) &&
                    (run->kind->takes_buffers ? run_shared(o, j, run, e) : run_execute(run, NULL, 1, &j->result, e));
    run_free(run);
    j->done = ok;
    return ok;
}

bool orchard_wait(struct orchard *o, struct orchard_error *error)
{
    struct orch_error e = {0};
    for (int i = 0; i < o->jobs; i++) {
        if (!o->job[i]->done && !run_job(o, o->job[i], &e)) {
            session_hand_over(error, &e);
            return false;
        }
    }
    return true;
}

static const struct session_job *finished(const struct orchard *o, int job)
{
    return job >= 0 && job < o->jobs && o->job[job]->done ? o->job[job] : NULL;
}

double orchard_seconds(const struct orchard *o, int job)
{
    const struct session_job *j = finished(o, job);
    return j ? j->result.seconds : NAN;
}

double orchard_joules(const struct orchard *o, int job)
{
    const struct session_job *j = finished(o, job);
    return j ? j->result.joules : NAN;
}

double orchard_counter(const struct orchard *o, int job, const char *name)
{
    const struct session_job *j = finished(o, job);
    return j ? run_values_get(&j->result.counters, name) : NAN;
}
