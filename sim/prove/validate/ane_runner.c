#include "sim/prove/validate/ane_runner.h"

#include "sim/workload/ane/ane_time.h"
#include "sim/run/interval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ane_runner {
    const struct chip_db *db;
    const struct chip_overrides *overrides;
    char name[64]; /* name of the open chip */
    struct chip *chip;
    struct soc *soc;
    struct memo *memo; /* holds struct ane_spent; owned by the caller */
};

struct ane_runner *ane_runner_create(const struct chip_db *db, const struct chip_overrides *overrides, struct memo *memo)
{
    struct ane_runner *const r = calloc(1, sizeof *r);
    if (r) {
        r->db = db;
        r->overrides = overrides;
        r->memo = memo;
    }
    return r;
}

static void close_chip(struct ane_runner *r)
{
    soc_free(r->soc);
    chip_close(r->chip);
    r->soc = NULL;
    r->chip = NULL;
}

void ane_runner_free(struct ane_runner *r)
{
    if (!r)
        return;
    close_chip(r);
    free(r);
}

static bool open_chip(struct ane_runner *r, const char *name, struct orch_error *error)
{
    if (r->soc && strcmp(r->name, name) == 0)
        return true;
    close_chip(r);
    snprintf(r->name, sizeof r->name, "%s", name);
    r->chip = chip_open(r->db, name, r->overrides, error);
    r->soc = r->chip ? soc_create(r->chip, error) : NULL;
    return r->soc != NULL;
}

/* ---- one program ---- */

static bool time_workload(struct ane_runner *r, const struct validate_program *p, const char *text, const char *precision,
                          struct ane_spent *out, struct orch_error *error)
{
    const struct ane_time_options options = {.cold = p->beyond_caches, .idle_ns = p->idle_seconds * 1e9};
    struct ane_workload workload = {.arrays = 0};
    struct ane_buffers buffers;
    struct ane_timed timed = {.task = NULL};
    struct mem_space *const space = mem_space_create(0);
    bool ok = (space || orch_fail(error, ORCH_INTERNAL, "no address space for the simulated memory")) &&
              ane_workload_open_kernel(&workload, text, *precision ? precision : NULL, r->chip, 1, NULL, 0, error);
    ok = ok && ane_buffers_open(&buffers, &workload, space, error) && ane_time_run(&buffers, r->soc, &options, &timed, error);
    ane_workload_close(&workload);
    out->device_ns = timed.device_ns;
    out->overhead_ns = timed.overhead_ns;
    memcpy(out->stalls, timed.cycles_by, sizeof out->stalls);
    ane_timed_free(&timed);
    mem_space_free(space);
    return ok;
}

static bool time_shape(struct ane_runner *r, const struct validate_program *p, const char *text, const char *precision,
                       struct ane_spent *out, struct orch_error *error)
{
    char key[320];
    snprintf(key, sizeof key, "%.64s %.128s %.8s %d %g", p->chip, text, precision, p->beyond_caches, p->idle_seconds);
    if (memo_recall(r->memo, key, out))
        return true;
    if (open_chip(r, p->chip, error) && time_workload(r, p, text, precision, out, error) &&
        memo_remember(r->memo, key, out, error))
        return true;
    memo_forget(r->memo, key);
    return false;
}

/* ---- a row ---- */

/* Sums over the parts of a request. */
struct sums {
    double stalls[ANE_STALL_COUNT], cycles;
};

static void add_stalls(struct sums *to, const struct ane_spent *k, double times)
{
    for (int i = 0; i < ANE_STALL_COUNT; i++) {
        to->stalls[i] += times * k->stalls[i];
        to->cycles += times * k->stalls[i];
    }
}

static void read_shares(const struct ane_runner *r, const struct sums *sums, struct validate_timing *result)
{
    struct interval_shares shares = {.count = 0};
    interval_add_ane(&shares, sums->stalls, sums->cycles);
    result->parameters = r->chip ? interval_parameters(r->chip, &shares) : 0;
}

static bool time_slope(struct ane_runner *r, const struct validate_program *p, struct sums *sums, double *ns,
                       struct orch_error *error)
{
    struct ane_spent part[2];
    const struct validate_launch *const l = &p->launch[0];
    for (unsigned i = 0; i < 2; i++)
        if (!time_shape(r, p, l->part[i], l->precision, &part[i], error))
            return false;
    add_stalls(sums, &part[1], 1);
    sums->cycles -= sums->stalls[ANE_STALL_REQUEST] + sums->stalls[ANE_STALL_WAKE];
    sums->stalls[ANE_STALL_REQUEST] = sums->stalls[ANE_STALL_WAKE] = 0; /* both parts contain them */
    *ns = part[1].device_ns - part[0].device_ns;
    return true;
}

/* Launches are parts of one request, whose overhead counts once. */
static bool time_request(struct ane_runner *r, const struct validate_program *p, struct sums *sums, double *ns,
                         double *overhead_ns, struct orch_error *error)
{
    *ns = 0;
    for (unsigned i = 0; i < p->launches; i++) {
        struct ane_spent k;
        if (!time_shape(r, p, p->launch[i].workload, p->launch[i].precision, &k, error))
            return false;
        add_stalls(sums, &k, p->launch[i].times);
        *ns += k.device_ns * p->launch[i].times;
        *overhead_ns = k.overhead_ns > *overhead_ns ? k.overhead_ns : *overhead_ns;
    }
    *ns += *overhead_ns;
    return true;
}

/* Times two requests; their ratio counts. */
static bool time_pair(struct ane_runner *r, const struct validate_program *p, struct sums *sums, struct validate_timing *result,
                      struct orch_error *error)
{
    for (unsigned i = 0; i < 2; i++) {
        struct ane_spent k;
        if (!time_shape(r, p, p->launch[i].workload, p->launch[i].precision, &k, error))
            return false;
        add_stalls(sums, &k, 1);
        result->thread_seconds[i] = (k.device_ns + k.overhead_ns) * 1e-9;
    }
    result->seconds = result->thread_seconds[0];
    return true;
}

bool ane_runner_run(struct ane_runner *r, const struct validate_program *p, struct validate_timing *result,
                    struct orch_error *error)
{
    double ns = 0, overhead_ns = 0;
    struct sums sums = {.cycles = 0};
    result->threads = 1;
    if (!open_chip(r, p->chip, error))
        return false;
    if (p->measure == VALIDATE_RATIO) {
        if (!time_pair(r, p, &sums, result, error))
            return false;
    } else {
        if (!(p->slope ? time_slope(r, p, &sums, &ns, error) : time_request(r, p, &sums, &ns, &overhead_ns, error)))
            return false;
        result->seconds = result->thread_seconds[0] = ns * 1e-9;
        result->overhead_seconds = overhead_ns * 1e-9;
    }
    read_shares(r, &sums, result);
    return true;
}

uint8_t *ane_runner_dump(const struct validate_program *p, size_t *bytes, struct orch_error *error)
{
    const struct validate_launch *const l = &p->launch[0];
    struct ane_workload workload = {.arrays = 0};
    uint8_t *copy = NULL;
    struct chip_db *const db = chip_db_open(NULL, error);
    struct chip *const chip = db ? chip_open(db, p->chip, NULL, error) : NULL;
    if (chip && ane_workload_open_kernel(&workload, p->slope ? l->part[1] : l->workload, *l->precision ? l->precision : NULL,
                                         chip, 1, NULL, 0, error)) {
        *bytes = workload.kernel.program.size;
        copy = malloc(*bytes);
        if (copy)
            memcpy(copy, workload.kernel.program.bytes, *bytes);
        else
            orch_no_memory(error);
    }
    ane_workload_close(&workload);
    if (chip)
        chip_close(chip);
    if (db)
        chip_db_close(db);
    return copy;
}
