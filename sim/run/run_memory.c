/* The memory that a run needs: a run that cannot fit is refused, others report how much they took and how tight that was. */
#include "sim/run/run_internal.h"

#include "sim/chip/chip_units.h"
#include "units/mem/line_compress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GIB 1073741824.0

double run_memory_need(const struct run *run)
{
    return run->kind->bytes ? run->kind->bytes(run) : 0;
}

/* The smallest memory option of the chip that is large enough; 0 when none is. */
static double enough(const struct chip *chip, double bytes)
{
    const struct chip_value *v = chip_value(chip, "memory_options_GB");
    double best = 0;
    for (size_t i = 0; v && v->known && i < v->count; i++)
        if (v->list[i] * GIB >= bytes && (best <= 0 || v->list[i] < best))
            best = v->list[i];
    return best;
}

bool run_memory_fits(const struct chip *chip, unsigned gib, const char *what, double bytes, struct orch_error *error)
{
    struct mem_pool_params memory;
    char options[96], hint[64] = "";
    if (!chip_memory(chip, gib, &memory, error))
        return false;
    if (bytes <= (double)memory.capacity_bytes)
        return true;
    chip_memory_options(chip, options, sizeof options);
    if (enough(chip, bytes) > 0)
        snprintf(hint, sizeof hint, "; " ORCH_OPTION("memory") " %.0f is enough", enough(chip, bytes));
    return orch_fail(error, ORCH_USAGE, "%.120s needs %.1f GiB of memory, this %s has %.0f GiB (there are %s GiB)%s", what,
                     bytes / GIB, chip_id(chip), (double)memory.capacity_bytes / GIB, options, hint);
}

/* Addresses that suffice for workloads of so many bytes, and those beside the buffers: programs, guard pages. */
#define USUAL_BYTES (48 * GIB)
#define OTHER_BYTES (16 * GIB)

double run_host_memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (double)pages * (double)size : 0;
}

bool run_host_holds(const char *what, double bytes, const char *hint, struct orch_error *error)
{
    const double host = run_host_memory_bytes();
    return host <= 0 || bytes <= host ||
           orch_fail(error, ORCH_USAGE, "%.120s: contents of %.1f GiB do not fit this computer, which has %.1f GiB%s", what,
                     bytes / GIB, host / GIB, hint);
}

struct mem_space *run_space_create(const struct run *run, struct orch_error *error)
{
    struct mem_pool_params memory;
    const double need = run_memory_need(run);
    struct mem_space *space = mem_space_create(need > USUAL_BYTES ? (uint64_t)(need + OTHER_BYTES) : 0);
    if (!space) {
        orch_fail(error, ORCH_INTERNAL, "no address space for the simulated memory");
        return NULL;
    }
    if (chip_memory(run->request->chip, run->request->memory_gib, &memory, NULL))
        space->limit_bytes = memory.capacity_bytes;
    return space;
}

/* Number of lines that gives the mean to a fraction of a percent. */
#define COMPRESSION_LINES 65536

bool run_has_data(const struct run_request *request)
{
    return request->mode != RUN_TIMING && !request->inner;
}

void run_space_note(const struct mem_space *space, bool data, struct run_measure *m)
{
    m->memory_bytes += (double)space->mapped_peak_bytes;
    if (data)
        m->compressed_share = mem_space_compressed_share(space, COMPRESSION_LINES);
}

void run_space_free(struct mem_space *space, const struct run *run, struct run_measure *m)
{
    if (space)
        run_space_note(space, run_has_data(run->request), m);
    mem_space_free(space);
}

/* Runs for results first, without time, because the lines of results move as well. */
static bool measure_data(const struct run *run, double *share, struct orch_error *error)
{
    struct run_request request = *run->request;
    struct run_measure m = {0};
    struct run_result result;
    request.mode = RUN_FUNCTIONAL;
    request.inner = false;
    request.output_folder = NULL;
    request.program_output = NULL;
    run_result_init(&result);
    struct run *again = run_prepare(&request, error);
    const bool ok = again && run_simulate(again, &m, &result, error);
    *share = m.compressed_share > 0 ? m.compressed_share : 1;
    run_measure_release(&m);
    run_result_free(&result);
    run_free(again);
    return ok;
}

bool run_compression(const struct run *run, struct run_measure *m, struct orch_error *error)
{
    const struct chip *chip = run->request->chip;
    double on = 0;
    if (run->request->mode == RUN_FUNCTIONAL || !chip_number(chip, "mem.compression", &on, NULL) || on <= 0)
        return true;
    return run->request->mode == RUN_TIMING ? chip_number(chip, "mem.compression_assumed", &m->moved_share, error)
                                            : measure_data(run, &m->moved_share, error);
}

bool run_soc_open(const struct run *run, struct run_measure *m, struct orch_error *error)
{
    if (!m->soc)
        m->soc = soc_create(run->request->chip, error);
    if (m->soc && m->moved_share > 0)
        mem_system_set_compression(soc_memory(m->soc), m->moved_share);
    return m->soc != NULL;
}

static bool tell_compression(const struct run *run, const struct run_measure *m, struct run_result *r)
{
    char text[128];
    bool ok = m->compressed_share <= 0 || run_values_set(&r->counters, "memory.compressed_share", m->compressed_share);
    if (m->moved_share <= 0)
        return ok;
    snprintf(text, sizeof text, "compression moves %.0f %% of DRAM traffic, %s", 100 * m->moved_share,
             run->request->mode == RUN_TIMING ? "assumed: there are no data" : "estimated from the lines of all buffers");
    return ok && run_values_set(&r->counters, "memory.moved_share", m->moved_share) &&
           run_assumption_add(&r->assumptions, run->request->mode == RUN_TIMING ? "mem.compression_assumed" : "mem.compression",
                              run->request->mode == RUN_TIMING ? "guess" : "inferred", text);
}

bool run_add_memory_use(const struct run *run, const struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    struct mem_pool_params memory;
    char text[96];
    if (!chip_memory(run->request->chip, run->request->memory_gib, &memory, NULL))
        return true;
    const enum mem_pressure pressure = mem_pressure_of(&memory, (uint64_t)m->memory_bytes);
    bool ok = tell_compression(run, m, r) &&
              run_values_set(&r->counters, "memory.capacity_bytes", (double)memory.capacity_bytes) &&
              run_values_set(&r->counters, "memory.used_bytes", m->memory_bytes) &&
              run_values_set(&r->counters, "memory.pressure", pressure);
    if (ok && pressure != MEM_PRESSURE_NOMINAL) {
        snprintf(text, sizeof text, "memory pressure is %s: compression and paging by the system are not modelled",
                 mem_pressure_name(pressure));
        ok = run_assumption_add(&r->assumptions, "mem.pressure_warn", "guess", text);
    }
    return ok || orch_no_memory(error);
}
