#include "sim/run/gpu/run_launch_list.h"

#include "sim/chip/chip_units.h"
#include "sim/run/gpu/run_launch.h"
#include "sim/workload/gpu/gpu_library.h"

#include <stdlib.h>
#include <string.h>

/* A launch as it was built, for any chip that runs this program. */
struct built_launch {
    struct gpu_program *program;
    struct gpu_launch launch;
};

struct built {
    char *workload, *precision; /* precision "" = the kernel's own */
    enum gpu_generation generation;
    uint32_t cores;
    unsigned count;
    struct built_launch launch[GPU_KERNEL_STEPS];
};

struct run_launch_lists {
    struct built **built;
    size_t count;
};

struct run_launch_lists *run_launch_lists_create(void)
{
    return calloc(1, sizeof(struct run_launch_lists));
}

static void free_built(struct built *b)
{
    for (unsigned i = 0; b && i < b->count; i++)
        gpu_program_free(b->launch[i].program);
    if (b) {
        free(b->workload);
        free(b->precision);
    }
    free(b);
}

void run_launch_lists_free(struct run_launch_lists *lists)
{
    for (size_t i = 0; lists && i < lists->count; i++)
        free_built(lists->built[i]);
    if (lists)
        free(lists->built);
    free(lists);
}

/* ---- building ---- */

static bool take_step(const struct abi_kernel *k, enum gpu_generation generation, struct built_launch *to)
{
    struct unit_fault fault = {0};
    const enum gpu_generation code = generation == GPU_G15 ? GPU_G14 : generation; /* as run_gpu_generation */
    to->program = gpu_program_create(k->code, k->code_bytes, k->main_offset, code, &fault);
    if (to->program)
        to->launch = gpu_setup_launch(k, to->program);
    return to->program != NULL;
}

static struct built *build(const struct run_request *q, enum gpu_generation generation, uint32_t cores, struct orch_error *error)
{
    struct gpu_library *const library = calloc(1, sizeof *library);
    struct built *const b = calloc(1, sizeof *b);
    bool ok = (library && b) || orch_no_memory(error);
    if (ok) {
        *b = (struct built){
            .workload = strdup(q->workload), .precision = strdup(q->precision ? q->precision : ""), generation, cores};
        ok = (b->workload && b->precision) || orch_no_memory(error);
        ok = ok && gpu_library_open(library, q->workload, q->precision, generation, cores, error);
    }
    for (unsigned i = ok ? library->kernel.loading_steps : 0; ok && i < library->kernel.steps; i++)
        ok = take_step(&library->step[i], generation, &b->launch[b->count++]) || orch_no_memory(error);
    if (library)
        gpu_library_close(library);
    free(library);
    if (ok)
        return b;
    free_built(b);
    return NULL;
}

static bool is_for(const struct built *b, const struct run_request *q, enum gpu_generation generation, uint32_t cores)
{
    return b->generation == generation && b->cores == cores && strcmp(b->workload, q->workload) == 0 &&
           strcmp(b->precision, q->precision ? q->precision : "") == 0;
}

static const struct built *built_for(struct run_launch_lists *lists, const struct run_request *q, enum gpu_generation generation,
                                     uint32_t cores, struct orch_error *error)
{
    for (size_t i = 0; i < lists->count; i++)
        if (is_for(lists->built[i], q, generation, cores))
            return lists->built[i];
    struct built **const grown = reallocarray(lists->built, lists->count + 1, sizeof *grown);
    if (grown)
        lists->built = grown;
    struct built *const b = grown ? build(q, generation, cores, error) : (orch_no_memory(error), NULL);
    if (b)
        lists->built[lists->count++] = b;
    return b;
}

/* ---- a chip ---- */

bool run_launch_list_of(struct run_launch_lists *lists, const struct run_request *q, struct run_launch_list *list,
                        struct orch_error *error)
{
    enum gpu_generation generation;
    struct abi_target target;
    struct gpu_params params;
    double cores = 1;
    *list = (struct run_launch_list){.count = 0};
    if (!q->unit || strcmp(q->unit, "gpu") != 0 || !gpu_library_has(q->workload))
        return true;
    chip_number(q->chip, "gpu_cores", &cores, NULL);
    if (!run_gpu_target(q->chip, &target, &generation, error) || !chip_gpu_params(q->chip, &params, error))
        return false;
    const struct built *const b = built_for(lists, q, generation, (uint32_t)cores, error);
    if (!b)
        return false;
    list->cores = params.cores;
    list->count = b->count;
    for (unsigned i = 0; i < b->count; i++) {
        const struct gpu_timing_launch launch = gpu_job_launch(&b->launch[i].launch);
        uint32_t groups[3];
        gpu_launch_groups(&b->launch[i].launch, groups);
        list->launch[i] = (struct run_launch_entry){(uint64_t)groups[0] * groups[1] * groups[2], launch.threads_per_group,
                                                    gpu_timing_occupancy(&params, &launch, NULL)};
    }
    return true;
}
