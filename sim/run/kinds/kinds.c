/* The table of kinds. */
#include "isa/array_count.h"
#include "sim/network/zoo/zoo.h"
#include "sim/run/kind.h"
#include "sim/run/language/language_model.h"
#include "sim/run/residual.h"
#include "sim/run/run_internal.h"
#include "sim/run/network/run_network_product.h"
#include "sim/run/workload_hint.h"
#include "sim/workload/amx/kernel.h"
#include "sim/workload/cpu/program_world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Files are tried from top to bottom. So are kernels, unless a unit is asked for: AMX has its products, then comes the GPU; AMX
 * has the others only when it is asked for. */
static const struct run_kind *const kinds[] = {
    &run_kind_amx,
    &run_kind_amx_product,
    &run_kind_amx_program,
    &run_kind_gpu_kernel,
    &run_kind_ane_kernel,
    &run_kind_cpu_kernel,
    &run_kind_cpu_library,
    &run_kind_gpu_row,
    &run_kind_gpu_code,
    &run_kind_gpu_source,
    &run_kind_ane_program,
    &run_kind_elf,
    &run_kind_amx_library,
    &run_kind_network_auto,
    &run_kind_network_hybrid,
    &run_kind_network,
    &run_kind_network_gpu,
    &run_kind_network_amx,
    &run_kind_network_ane,
    &run_kind_language,
    &run_kind_language_amx,
    &run_kind_language_gpu,
    &run_kind_language_ane,
    &run_kind_language_hybrid,
    &run_kind_language_combined,
    &run_kind_decoder,
    &run_kind_decoder_cpu,
    &run_kind_decoder_amx,
    &run_kind_decoder_gpu,
    &run_kind_decoder_ane,
};

const struct run_kind *run_kind_named(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_COUNT(kinds); i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

const char *run_kind_unit(const struct run_kind *kind)
{
    return kind->unit ? kind->unit : orch_part_name(kind->part);
}

/* `unit` NULL = any. */
static const struct run_kind *library_kind(const struct run_request *q, const char *unit)
{
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (kinds[i]->has && (!unit || strcmp(unit, orch_part_name(kinds[i]->part)) == 0) && kinds[i]->has(q))
            return kinds[i];
    return NULL;
}

static const char *asked_unit(const struct run_request *q)
{
    const bool stated = q->unit && strcmp(q->unit, "auto") != 0;
    return stated ? q->unit : q->own_count || q->kernels ? "gpu" : NULL;
}

const struct run_kind *run_kind_on_unit(const struct run_request *q)
{
    return kernel_is_workload(q->workload) ? library_kind(q, q->unit) : NULL;
}

const struct run_kind *run_kind_of_kernel(const struct run_request *q)
{
    const struct run_kind *const asked = library_kind(q, asked_unit(q));
    return asked ? asked : library_kind(q, NULL);
}

/* The units with the kernel, but for one: "gpu, ane"; "" when there are none. `without` PART_COUNT: all of them. */
static void units_with(const struct run_request *q, enum orch_part without, char *text, size_t size)
{
    bool named[PART_COUNT + 1] = {false};
    size_t used = 0;
    named[without] = true;
    text[0] = 0;
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (!kinds[i]->has || named[kinds[i]->part] || !kinds[i]->has(q))
            continue;
        named[kinds[i]->part] = true;
        used += (size_t)snprintf(text + used, used < size ? size - used : 0, "%s%s", used ? ", " : "",
                                 orch_part_name(kinds[i]->part));
    }
}

/* What no library has is left to the parser of the first one, which knows what is near. */
static const struct run_kind *kernel_kind(const struct run_request *q, struct orch_error *error)
{
    const struct run_kind *const asked = library_kind(q, asked_unit(q)), *const any = library_kind(q, NULL);
    char units[32];
    if (asked)
        return asked;
    if (!any && !workload_has_kernel(q->workload)) {
        workload_unknown_kernel(q->workload, error);
        return NULL;
    }
    if (!any)
        return kinds[0];
    units_with(q, PART_COUNT, units, sizeof units);
    orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("unit") " %s: %s has no version for this unit; the %s %s", asked_unit(q),
              q->workload, units, strchr(units, ',') ? "have" : "has");
    return NULL;
}

/* Files of language models are mapped where they are opened, however large. */
static const struct run_kind *language_kind(const struct run_request *q)
{
    const char *const unit = q->unit ? q->unit : "cpu";
    return strcmp(unit, "gpu") == 0        ? &run_kind_language_gpu
           : strcmp(unit, "amx") == 0      ? &run_kind_language_amx
           : strcmp(unit, "ane") == 0      ? &run_kind_language_ane
           : strcmp(unit, "hybrid") == 0   ? &run_kind_language_hybrid
           : strcmp(unit, "combined") == 0 ? &run_kind_language_combined
                                           : &run_kind_language;
}

static const struct run_kind *decoder_kind(const struct run_request *q, struct orch_error *error)
{
    const char *const unit = q->unit ? q->unit : "auto";
    const struct run_kind *const kind = strcmp(unit, "auto") == 0  ? &run_kind_decoder
                                        : strcmp(unit, "cpu") == 0 ? &run_kind_decoder_cpu
                                        : strcmp(unit, "amx") == 0 ? &run_kind_decoder_amx
                                        : strcmp(unit, "gpu") == 0 ? &run_kind_decoder_gpu
                                        : strcmp(unit, "ane") == 0 ? &run_kind_decoder_ane
                                                                   : NULL;
    if (!kind)
        orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("unit") " %s: decoders in ONNX run on auto, cpu, amx, gpu and ane", unit);
    return kind;
}

/* Of several kinds for the same files, one for each unit, the asked unit's. */
static const struct run_kind *file_kind(const struct run *run)
{
    const char *const unit = run->request->unit;
    const struct run_kind *first = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (!kinds[i]->recognise || !kinds[i]->recognise(&run->file))
            continue;
        if (!first)
            first = kinds[i];
        if (unit && strcmp(kinds[i]->program_kind, first->program_kind) == 0 && strcmp(unit, run_kind_unit(kinds[i])) == 0)
            return kinds[i];
    }
    return first;
}

const struct run_kind *run_kind_of(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    if (q->steps || q->kernel)
        return &run_kind_gpu_row;
    if (run_network_are_joint(q->workload, q->unit))
        return &run_kind_network_hybrid;
    if (language_model_is(q->workload) || (q->language && language_model_generates(q->workload)))
        return language_kind(q);
    if (run_is_decoder(q))
        return decoder_kind(q, error);
    if (run_network_is_product(q))
        return &run_kind_network_auto;
    if (kernel_is_workload(q->workload) && !run_is_network(q->workload))
        return kernel_kind(q, error);
    const bool published = strncmp(q->workload, NET_ZOO, sizeof NET_ZOO - 1) == 0;
    run->file.path = q->workload;
    if (!published && !run_file_read(q->workload, &run->file, error))
        return NULL;
    const struct run_kind *const kind = file_kind(run);
    if (!kind)
        run_file_refuse(&run->file, error);
    return kind;
}

void run_kind_why(const struct run *run, char *text, size_t size)
{
    char others[32];
    units_with(run->request, run->kind->part, others, sizeof others);
    if (run->request->unit_why)
        snprintf(text, size, "%s", run->request->unit_why);
    else if (others[0])
        snprintf(text, size, "%s %s this kernel, too", others, strchr(others, ',') ? "have" : "has");
    else
        snprintf(text, size, "the only unit with this kernel");
}

/* ---- what kinds share ---- */

bool run_check_no_program_options(const struct run_request *q, const char *is, struct orch_error *error)
{
    const char *const option = q->entry              ? "entry"
                               : q->arg_count        ? "args"
                               : q->home             ? "home"
                               : q->cores > 1        ? "cores"
                               : q->world            ? q->world->mounts ? "mount"
                                                       : q->world->envs ? "env"
                                                                        : "stdin"
                               : q->max_instructions ? "max-instructions"
                               : q->thread_cores     ? "thread-cores"
                               : q->returns          ? "returns"
                               : q->link_count       ? "link"
                                                     : NULL;
    return !option || orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to CPU programs; %s %s", option, q->workload, is);
}

bool run_check_cpu_options(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const char *const option = q->input_count ? "input" : q->output_folder ? "output" : q->sanitize ? "sanitize" : NULL;
    if (option)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to GPU launches (abi.json) and the Neural Engine%s",
                         option, q->output_folder ? "; a page is made by orchard report last -o FILE.html" : "");
    if (q->unit && (strcmp(q->unit, "gpu") == 0 || strcmp(q->unit, "ane") == 0 || strcmp(q->unit, "hybrid") == 0 ||
                    strcmp(q->unit, "combined") == 0))
        return orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("unit") " %s: %s has no version for this unit; cpu and amx have",
                         q->unit, q->workload);
    return true;
}

bool run_check_kernel_options(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const char *const option = q->entry ? "entry" : q->arg_count ? "args" : NULL;
    return run_check_cpu_options(run, error) &&
           (!option ||
            orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to program files; %s is a kernel", option, q->workload));
}

bool run_check_cpu_kernel_options(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const char *const option = q->entry ? "entry" : q->arg_count ? "args" : q->home ? "home" : NULL;
    if (!run_check_cpu_options(run, error))
        return false;
    if (option)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to %s; %s is a kernel of the CPU", option,
                         q->home ? "kernels of the amx" : "program files", q->workload);
    return true;
}

const char *run_work_named(const struct run *run, const struct run_result *result)
{
    (void)result;
    return residual_work(run->request->workload);
}

const char *run_work_by_stalls(const struct run *run, const struct run_result *r)
{
    const double cpu = run_values_get(&r->stalls, "cpu.dram"), gpu = run_values_get(&r->stalls, "gpu.memory");
    (void)run;
    return fmax(isnan(cpu) ? 0 : cpu, isnan(gpu) ? 0 : gpu) > 0.5 ? "stream" : "instruction";
}

const char *run_work_any(const struct run *run, const struct run_result *result)
{
    (void)run;
    (void)result;
    return "";
}
