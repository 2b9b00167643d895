/* What a kernel of somebody's own is made of: registers, spills, what a core holds of it, its instructions by class. */
#include "sim/base/format.h"
#include "sim/chip/chip_units.h"
#include "sim/run/gpu/kind_gpu_code.h"
#include "sim/run/gpu/run_launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where threadgroups of another size would leave less than this of a core's places empty, theirs is named as a limit. */
#define FILLED 0.75

/* ---- instructions by class ---- */

static const char *class_name(enum agx_class unit_class)
{
    switch (unit_class) {
    case AGX_CLASS_F32: return "f32";
    case AGX_CLASS_F16: return "f16";
    case AGX_CLASS_INT: return "integer";
    case AGX_CLASS_GET_SR: return "special registers";
    case AGX_CLASS_IMUL:
    case AGX_CLASS_IMUL64:
    case AGX_CLASS_SHIFT: return "multiply and shift";
    case AGX_CLASS_CONVERT:
    case AGX_CLASS_ROUND: return "convert and round";
    case AGX_CLASS_EXP2:
    case AGX_CLASS_LOG2:
    case AGX_CLASS_RCP:
    case AGX_CLASS_RSQRT:
    case AGX_CLASS_SIN: return "functions";
    case AGX_CLASS_SHUFFLE:
    case AGX_CLASS_BALLOT:
    case AGX_CLASS_REDUCE: return "across lanes";
    case AGX_CLASS_MATRIX_F32:
    case AGX_CLASS_MATRIX_F16: return "matrix";
    case AGX_CLASS_MASK:
    case AGX_CLASS_BRANCH: return "branches and masks";
    case AGX_CLASS_BARRIER:
    case AGX_CLASS_FENCE: return "barriers";
    case AGX_CLASS_WAIT: return "wait";
    case AGX_CLASS_DEVICE_LOAD: return "device loads";
    case AGX_CLASS_DEVICE_STORE: return "device stores";
    case AGX_CLASS_DEVICE_ATOMIC:
    case AGX_CLASS_GROUP_ATOMIC: return "atomics";
    case AGX_CLASS_GROUP_LOAD: return "threadgroup loads";
    case AGX_CLASS_GROUP_STORE: return "threadgroup stores";
    case AGX_CLASS_STACK_LOAD:
    case AGX_CLASS_STACK_STORE:
    case AGX_CLASS_STACK_ADJUST: return "stack";
    default: return "other";
    }
}

/* The class of the first instruction of a mnemonic; false when the program has none. */
static bool class_of(const struct abi_kernel *k, const char *mnemonic, enum agx_class *unit_class)
{
    struct agx_inst inst;
    for (size_t at = k->main_offset, length; at + 2 <= k->code_bytes; at += length ? length : 2) {
        struct agx_effect effect;
        length = agx_decode(k->code + at, k->code_bytes - at, &inst);
        if (!length || strcmp(agx_form_mnemonic(inst.form), mnemonic) != 0)
            continue;
        agx_effect_of(&inst, &effect);
        *unit_class = effect.unit_class;
        return true;
    }
    return false;
}

static int by_value(const void *a, const void *b)
{
    const struct run_named_value *const x = a, *const y = b;
    return x->value < y->value ? 1 : x->value > y->value ? -1 : strcmp(x->name, y->name);
}

static void print_mix(FILE *out, const struct abi_kernel *k, const struct run_result *r)
{
    struct run_values mix = {.count = 0};
    const double all = run_values_get(&r->counters, "gpu.simdgroup_instructions");
    char text[FORMAT_SIZE];
    bool ok = all > 0;
    for (size_t i = 0; ok && i < r->counters.count; i++) {
        const struct run_named_value *const c = &r->counters.item[i];
        enum agx_class unit_class;
        if (strncmp(c->name, "gpu.", 4) == 0 && class_of(k, c->name + 4, &unit_class))
            ok = run_values_add(&mix, class_name(unit_class), c->value);
    }
    if (mix.count)
        qsort(mix.item, mix.count, sizeof *mix.item, by_value);
    for (size_t i = 0; ok && i < mix.count; i++)
        fprintf(out, "%s%s %s",
                i == 0       ? "mix          "
                : i % 5 == 0 ? ",\n             "
                             : ", ",
                mix.item[i].name, format_share(text, mix.item[i].value / all));
    if (mix.count)
        fputc('\n', out);
    run_values_free(&mix);
}

/* ---- what a core holds ---- */

static void print_registers(FILE *out, const struct abi_kernel *k, const struct run_result *r)
{
    const double loads = run_values_get(&r->counters, "gpu.stack_load"), stores = run_values_get(&r->counters, "gpu.stack_store");
    char a[FORMAT_SIZE], b[FORMAT_SIZE];
    if (k->register_halves)
        fprintf(out, "registers    %u half registers a thread, %u bytes of threadgroup memory\n", k->register_halves,
                k->threadgroup_memory_bytes);
    if (!k->stack_words)
        return;
    fprintf(out, "spills       ");
    if (k->source)
        fprintf(out, "%u values, ", k->source->spills);
    fprintf(out, "%u bytes of stack a thread; %s loads and %s stores by simdgroups\n", 4 * k->stack_words,
            format_count(a, isnan(loads) ? 0 : loads), format_count(b, isnan(stores) ? 0 : stores));
}

static void print_occupancy(FILE *out, const struct run *run, const struct abi_kernel *k, const struct run_result *r)
{
    const unsigned threads = k->group[0] * k->group[1] * k->group[2], simdgroups = (threads + 31) / 32;
    struct gpu_params p;
    struct orch_error ignored = {0};
    const char *limit = "", *unused;
    if (!threads || !k->register_halves || !chip_gpu_params(run->request->chip, &p, &ignored))
        return;
    struct gpu_timing_launch launch = {.threads_per_group = threads,
                                       .simdgroups_per_group = simdgroups,
                                       .register_halves = k->register_halves,
                                       .holds_more = k->holds_more,
                                       .threadgroup_memory_bytes = k->threadgroup_memory_bytes};
    const double held = run_values_get(&r->counters, "gpu.threadgroups_per_core");
    const unsigned most = gpu_timing_occupancy(&p, &launch, &limit);
    const double groups = run_values_get(&r->counters, "gpu.threadgroups"), here = fmin(held, groups / p.cores);
    if (isnan(here))
        return;
    fprintf(out, "simdgroups   %.3g on a core at a time, in threadgroups of %u", here * simdgroups, simdgroups);
    if (groups < held * p.cores)
        fprintf(out, "; the launch is too small: %.0f threadgroups for %u cores that hold %.0f each\n", groups, p.cores, held);
    else
        fprintf(out, ", limited by %s", held == most ? limit : "registers");
    if (groups < held * p.cores)
        return;
    launch.simdgroups_per_group = 1;
    launch.threadgroup_memory_bytes = 0;
    const unsigned single = gpu_timing_occupancy(&p, &launch, &unused);
    if (strncmp(limit, "threadgroup", strlen("threadgroup")) != 0 && held * simdgroups < FILLED * single)
        fprintf(out, " and the size of the threadgroup (%u simdgroups would fit)", single);
    fputc('\n', out);
}

void run_gpu_code_explain(FILE *out, const struct run *run, const struct run_result *r)
{
    const struct abi_kernel *const k = run->work;
    run_gpu_explain(out, run, r);
    print_registers(out, k, r);
    print_occupancy(out, run, k, r);
    print_mix(out, k, r);
}
