#include "sim/prove/validate/gpu_runner.h"

#include "sim/base/json_out.h"
#include "sim/workload/gpu/gpu_job.h"
#include "sim/chip/chip_units.h"
#include "sim/run/interval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the machine: the chip's memory system and some of its GPU cores ---- */

struct machine {
    struct gpu_params params;
    enum gpu_generation generation;
    unsigned chip_cores;
    struct mem_system *memory;
    struct gpu_timing *timing;
};

static bool open_timing(struct machine *m, const struct chip *chip, unsigned first_cluster, struct orch_error *error)
{
    struct mem_port **ports = calloc(m->params.cores, sizeof *ports);
    bool ok = ports != NULL || orch_no_memory(error);
    for (unsigned i = 0; ok && i < m->params.cores; i++) {
        struct mem_port_params port;
        ok = chip_gpu_port(chip, first_cluster, i, &port, error);
        ports[i] = ok ? mem_port_open(m->memory, &port, NULL) : NULL;
        ok = ok && (ports[i] || orch_no_memory(error));
    }
    m->timing = ok ? gpu_timing_create(&m->params, ports) : NULL;
    free(ports);
    return m->timing || (ok && orch_no_memory(error));
}

static bool open_machine(struct machine *m, const struct chip *chip, unsigned cores, struct orch_error *error)
{
    struct mem_params memory;
    unsigned first_cluster;
    if (!chip_gpu_params(chip, &m->params, error) || !chip_gpu_generation(chip, &m->generation, error) ||
        !chip_mem_params(chip, NULL, &memory, error) || !chip_gpu_memory(chip, &memory, &first_cluster, error))
        return false;
    m->chip_cores = m->params.cores;
    if (cores && cores < m->params.cores)
        m->params.cores = cores;
    m->memory = mem_system_create(&memory);
    if (!m->memory)
        return orch_no_memory(error);
    return open_timing(m, chip, first_cluster, error);
}

static void close_machine(struct machine *m)
{
    gpu_timing_free(m->timing);
    mem_system_free(m->memory);
}

/* ---- one run ---- */

static bool give_text(void *context, const char *name, uint8_t **bytes, size_t *size, struct orch_error *error)
{
    (void)name;
    *bytes = (uint8_t *)strdup(context);
    *size = strlen(context);
    return *bytes || orch_no_memory(error);
}

/* Adds an argument with a "count" or a "value". */
static void add_argument(json_object *args, const char *name, const char *kind, const char *member, uint64_t number)
{
    json_object *const arg = json_object_new_object();
    json_add_text(arg, "name", name);
    json_add_text(arg, "kind", kind);
    json_add_text(arg, "dtype", "u32");
    json_add_count(arg, member, number);
    json_object_array_add(args, arg);
}

static json_object *list_of(uint64_t number)
{
    json_object *const list = json_object_new_array();
    json_object_array_add(list, json_object_new_uint64(number));
    return list;
}

/* Makes a launch description of the row: the program, and those of the arguments data, turns and threads that it takes. */
static char *description(const struct validate_gpu *gpu, uint64_t groups, uint32_t turns)
{
    json_object *const top = json_object_new_object();
    json_object *const files = json_object_new_object();
    json_object *const launch = json_object_new_object();
    json_object *const args = json_object_new_array();
    json_add_text(files, "code", "row.s");
    json_object_object_add(launch, "threads_per_threadgroup", list_of(gpu->threads_per_group));
    json_object_object_add(launch, "threadgroups", list_of(groups));
    add_argument(args, "data", "buffer", "count", gpu->data_bytes / 4);
    add_argument(args, "turns", "scalar", "value", turns);
    if (strstr(gpu->text, ".arg threads"))
        add_argument(args, "threads", "scalar", "value", groups * gpu->threads_per_group);
    json_object_object_add(top, "files", files);
    json_object_object_add(top, "launch", launch);
    json_object_object_add(top, "args", args);
    return json_line(top);
}

static bool open_kernel(struct abi_kernel *kernel, const struct validate_gpu *gpu, unsigned cores, uint32_t turns,
                        struct orch_error *error)
{
    const struct abi_files files = {give_text, gpu->text};
    const struct abi_target target = {.name = "g13g"};
    char *const json = description(gpu, (uint64_t)gpu->groups * cores, turns);
    *kernel = (struct abi_kernel){.path = NULL};
    const bool ok = json ? abi_kernel_parse(kernel, "row", json, strlen(json), &files, &target, error) : orch_no_memory(error);
    free(json);
    return ok;
}

static bool patch(const struct validate_program *program, const struct gpu_setup *setup, struct orch_error *error)
{
    uint8_t *const data = mem_at(setup->space, setup->address[0], program->gpu.data_bytes, MEM_WRITE);
    for (size_t i = 0; data && i < program->patches; i++)
        if (program->patch[i].offset + 8 <= program->gpu.data_bytes)
            memcpy(data + program->patch[i].offset, &program->patch[i].value, 8);
    return data || orch_fail(error, ORCH_INTERNAL, "its data do not fit the simulated memory");
}

static bool run_job(struct machine *m, const struct gpu_setup *setup, double *ns, struct orch_error *error)
{
    const struct gpu_selection all = {0};
    double end_ns;
    struct engine *const engine = engine_create();
    struct gpu_job *const job = gpu_job_create(setup, &m->params, m->timing, &all, error);
    bool ok = job != NULL;
    if (ok) {
        const struct engine_task task = gpu_job_task(job);
        ok = (engine && engine_add(engine, &task, NULL, 0) >= 0) || orch_no_memory(error);
        ok = ok && engine_run(engine, &end_ns, error);
    }
    if (ok)
        *ns = gpu_job_end_ns(job) - gpu_job_begin_ns(job);
    gpu_job_free(job);
    engine_free(engine);
    return ok;
}

/* Runs once, starting with empty caches. */
static bool run_once(struct machine *m, const struct validate_program *program, uint32_t turns, double *ns,
                     struct orch_error *error)
{
    struct abi_kernel kernel = {0};
    struct gpu_setup setup = {0};
    struct mem_space *const space = mem_space_create(UINT64_C(1) << 30);
    mem_system_flush(m->memory);
    mem_system_restart(m->memory, 0);
    bool ok = space != NULL || orch_no_memory(error);
    ok = ok && open_kernel(&kernel, &program->gpu, m->params.cores, turns, error);
    if (ok) {
        ok = gpu_setup_open(&setup, &kernel, m->generation, space, NULL, error) && patch(program, &setup, error) &&
             run_job(m, &setup, ns, error);
        gpu_setup_close(&setup);
    }
    abi_kernel_free(&kernel);
    mem_space_free(space);
    return ok;
}

bool gpu_runner_run(const struct chip *chip, const struct validate_program *program, struct validate_timing *result,
                    struct orch_error *error)
{
    const struct validate_gpu *const gpu = &program->gpu;
    struct machine m = {0};
    double ns[2] = {0, 0};
    bool ok = open_machine(&m, chip, gpu->cores, error);
    for (unsigned i = 0; ok && i < 2; i++)
        ok = run_once(&m, program, gpu->turns[i], &ns[i], error);
    if (ok) {
        double cycles[GPU_STALL_COUNT], all = 0;
        struct interval_shares shares = {.count = 0};
        const struct interval_traffic no_traffic = {0, 0}; /* these loops run in registers or in caches */
        interval_gpu_stalls(m.timing, m.params.cores, cycles);
        for (int i = 0; i < GPU_STALL_COUNT; i++)
            all += cycles[i];
        interval_add_gpu(&shares, chip, cycles, all, &no_traffic);
        result->parameters = interval_parameters(chip, &shares);
        double seconds = (ns[1] - ns[0]) * 1e-9;
        if (gpu->stands_for_all)
            seconds *= (double)m.params.cores / m.chip_cores;
        if (gpu->counts_all_threads)
            seconds /= (double)gpu->groups * gpu->threads_per_group * m.params.cores;
        result->threads = 1;
        result->seconds = result->thread_seconds[0] = seconds;
        result->thread_cycles[0] = seconds * 1e9 * m.params.clock_ghz;
    }
    close_machine(&m);
    return ok;
}
