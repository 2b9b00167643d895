#include "sim/prove/validate/launch_runner.h"

#include "sim/chip/chip_units.h"
#include "sim/run/interval.h"
#include "sim/prove/validate/launch_time.h"
#include "sim/prove/validate/memo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct machine {
    char key[96]; /* chip and the share of its system-level cache */
    struct chip *chip;
    struct launch_time time;
    struct gpu_params gpu;
    double clock_ghz, submit_ns;
    unsigned cores;
};

struct launch_runner {
    const struct chip_db *db;
    const struct chip_overrides *overrides;
    struct machine machine; /* the last one used */
    struct memo *memo;      /* holds struct launch_spent; owned by the caller */
};

struct launch_runner *launch_runner_create(const struct chip_db *db, const struct chip_overrides *overrides, struct memo *memo)
{
    struct launch_runner *const r = calloc(1, sizeof *r);
    if (r) {
        r->db = db;
        r->overrides = overrides;
        r->memo = memo;
    }
    return r;
}

static void close_machine(struct machine *m)
{
    soc_free(m->time.soc);
    chip_close(m->chip);
    *m = (struct machine){.chip = NULL};
}

void launch_runner_free(struct launch_runner *r)
{
    if (!r)
        return;
    close_machine(&r->machine);
    free(r);
}

/* ---- the chip ---- */

/* For a shape that stands for a larger one, the system-level cache shrinks in proportion, so that data that the whole operation
 * would have evicted are not found. */
static struct chip *open_chip(const struct launch_runner *r, const char *name, double share, struct orch_error *error)
{
    double slc = 0;
    char set[48];
    struct chip *chip = chip_open(r->db, name, r->overrides, error);
    if (!chip || share >= 1 || !chip_number(chip, "slc_MB", &slc, NULL))
        return chip;
    const size_t count = r->overrides ? r->overrides->count : 0;
    const char **sets = calloc(count + 1, sizeof *sets);
    chip_close(chip);
    if (!sets) {
        orch_no_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        sets[i] = r->overrides->text[i];
    snprintf(set, sizeof set, "slc_MB=%g", slc * share);
    sets[count] = set;
    const struct chip_overrides smaller = {sets, count + 1};
    chip = chip_open(r->db, name, &smaller, error);
    free(sets);
    return chip;
}

static bool measure(struct machine *m, struct orch_error *error)
{
    struct mem_params memory;
    struct gpu_params gpu;
    unsigned first = 0;
    if (!chip_mem_params(m->chip, NULL, &memory, error) || !chip_gpu_memory(m->chip, &memory, &first, error) ||
        !chip_gpu_params(m->chip, &gpu, error) || !chip_gpu_generation(m->chip, &m->time.generation, error))
        return false;
    /* Code of G15 is not published: these chips run code of the generation before at their own pace. */
    if (m->time.generation == GPU_G15)
        m->time.generation = GPU_G14;
    m->time.slc_bytes = 1024.0 * memory.slc.kib * memory.dies;
    for (unsigned c = first; c < memory.cluster_count; c++)
        m->time.l2_bytes += 1024.0 * memory.cluster[c].l2.kib;
    m->gpu = gpu;
    m->clock_ghz = gpu.clock_ghz;
    m->cores = gpu.cores;
    m->submit_ns = 1e3 * (gpu.submit_us + gpu.round_trip_us);
    return true;
}

static bool open_machine(struct launch_runner *r, const char *name, double share, struct orch_error *error)
{
    struct machine *const m = &r->machine;
    char key[sizeof m->key];
    snprintf(key, sizeof key, "%.64s %g", name, share);
    if (m->time.soc && strcmp(m->key, key) == 0)
        return true;
    close_machine(m);
    snprintf(m->key, sizeof m->key, "%s", key);
    m->chip = open_chip(r, name, share, error);
    if (m->chip && measure(m, error))
        m->time.soc = soc_create(m->chip, error);
    return m->time.soc != NULL;
}

/* ---- launches ---- */

/* Times a shape. `share` is how much of the operation it is, `times` how often the operation has the whole. */
static bool time_shape(struct launch_runner *r, const struct validate_program *p, const char *workload, const char *precision,
                       double share, double times, struct launch_spent *spent, struct orch_error *error)
{
    char key[256];
    struct gpu_library library = {.kernel.buffers = 0};
    snprintf(key, sizeof key, "%.64s %.128s %.8s %g %g %d", p->chip, workload, precision, share, times, p->beyond_caches);
    if (!gpu_library_has(workload))
        return orch_fail(error, ORCH_UNMODELLED, "the GPU library has no kernel '%.*s'", (int)strcspn(workload, ":"), workload);
    if (memo_recall(r->memo, key, spent))
        return true;
    bool ok = open_machine(r, p->chip, share, error) && gpu_library_open(&library, workload, *precision ? precision : NULL,
                                                                         r->machine.time.generation, r->machine.cores, error);
    if (ok) {
        const double whole = p->beyond_caches ? INFINITY : library.kernel.min_bytes * times;
        ok = launch_time_kernel(&r->machine.time, &library, whole, spent, error) && memo_remember(r->memo, key, spent, error);
    }
    if (!ok)
        memo_forget(r->memo, key);
    gpu_library_close(&library);
    return ok;
}

/* Times two smaller shapes: their pace is extrapolated to the whole, and the whole waits for what the larger one waits for. */
static bool time_launch(struct launch_runner *r, const struct validate_program *p, const struct validate_launch *l,
                        struct launch_spent *sum, struct orch_error *error)
{
    struct launch_spent part[2];
    if (!l->part[0][0]) {
        const bool ok = time_shape(r, p, l->workload, l->precision, 1, l->times, &part[0], error);
        launch_spent_add(sum, &part[0], ok ? l->times : 0);
        return ok;
    }
    for (unsigned i = 0; i < 2; i++)
        if (!time_shape(r, p, l->part[i], l->precision, l->part_of[i], l->times, &part[i], error))
            return false;
    const double pace =
        part[1].ns > part[0].ns ? (part[1].ns - part[0].ns) / (l->part_of[1] - l->part_of[0]) : part[1].ns / l->part_of[1];
    const double whole = part[1].ns + pace * (1 - l->part_of[1]);
    launch_spent_add(sum, &part[1], l->times * whole / part[1].ns);
    return true;
}

static void read_shares(const struct machine *m, const struct launch_spent *spent, double whole_ns,
                        struct validate_timing *result)
{
    struct interval_shares shares = {.count = 0};
    interval_add_launch(&shares, &m->gpu, 1 - spent->ns / whole_ns);
    const double ns = fmax(spent->ns, 1e-9);
    const struct interval_traffic traffic = {spent->read_bytes / ns, spent->write_bytes / ns};
    interval_add_gpu(&shares, m->chip, spent->stalls_ns, whole_ns, &traffic);
    result->parameters = interval_parameters(m->chip, &shares);
}

bool launch_runner_run(struct launch_runner *r, const struct validate_program *p, struct validate_timing *result,
                       struct orch_error *error)
{
    struct launch_spent sum = {.ns = 0};
    for (unsigned i = 0; i < p->launches; i++)
        if (!time_launch(r, p, &p->launch[i], &sum, error))
            return false;
    if (!open_machine(r, p->chip, 1, error))
        return false;
    const double submit_ns = p->submitted ? r->machine.submit_ns : 0, ns = sum.ns + submit_ns;
    result->threads = 1;
    result->seconds = result->thread_seconds[0] = ns * 1e-9;
    result->thread_cycles[0] = ns * r->machine.clock_ghz * r->machine.cores;
    result->overhead_seconds = submit_ns * 1e-9;
    read_shares(&r->machine, &sum, ns, result);
    return true;
}
