#include "sim/prove/check/gpu_kernels.h"

#include "sim/workload/gpu/gpu_functional.h"
#include "sim/prove/check/case_folders.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CORES = 8, TEXT_BYTES = 640 };

/* The name under which the reference counts the instruction: its printed mnemonic up to the first blank. */
static void printed_name(const struct agx_inst *inst, char *name, size_t size)
{
    char text[AGX_TEXT_BYTES];
    agx_disasm(inst, text, sizeof text);
    snprintf(name, size, "%.*s", (int)strcspn(text, " "), text);
}

static uint64_t count_of(const struct gpu_setup *s, const struct gpu_totals *t, const char *mnemonic)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < gpu_program_count(s->program); i++) {
        char name[AGX_TEXT_BYTES];
        printed_name(gpu_program_inst(s->program, i), name, sizeof name);
        count += strcmp(name, mnemonic) == 0 ? t->issues[i] : 0;
    }
    return count;
}

/* Describes counts that differ; "" when all are exact. */
static void compare_counts(const struct gpu_setup *s, const struct gpu_totals *t, char *text, size_t size)
{
    const struct abi_kernel *const k = s->kernel;
    uint64_t listed = 0;
    text[0] = 0;
    if (!k->has_reference)
        return;
    if (t->instructions != k->simdgroup_instructions) {
        snprintf(text, size, "simdgroup_instructions: got %" PRIu64 ", expected %" PRIu64, t->instructions,
                 k->simdgroup_instructions);
        return;
    }
    if (t->active_lanes != k->active_lane_instructions) {
        snprintf(text, size, "active_lane_instructions: got %" PRIu64 ", expected %" PRIu64, t->active_lanes,
                 k->active_lane_instructions);
        return;
    }
    for (unsigned i = 0; i < k->mnemonics; i++) {
        const uint64_t got = count_of(s, t, k->mnemonic[i].name);
        listed += k->mnemonic[i].count;
        if (got != k->mnemonic[i].count) {
            snprintf(text, size, "%s: issued %" PRIu64 " times, expected %" PRIu64, k->mnemonic[i].name, got,
                     k->mnemonic[i].count);
            return;
        }
    }
    if (k->mnemonics && listed != t->instructions)
        snprintf(text, size, "%" PRIu64 " instructions have a mnemonic that by_mnemonic does not list", t->instructions - listed);
}

bool check_gpu_execute(const struct gpu_setup *s, const struct check_gpu_options *o, struct gpu_totals *totals,
                       struct gpu_findings *found, struct orch_error *error)
{
    const struct gpu_functional functional = {.threads = o->threads,
                                              .cores = CORES,
                                              .findings = found,
                                              .checks = {.reference = o->reference, .sanitize = o->sanitize, .poison = true}};
    return gpu_totals_init(totals, s->program, error) && gpu_functional_run(s, &functional, totals, error);
}

static void judge(const struct abi_kernel *k, const char *title, const struct gpu_setup *s, const struct gpu_totals *t,
                  const struct gpu_findings *found, struct check_report *report)
{
    unsigned expected, right;
    char outputs[TEXT_BYTES / 2], counts[TEXT_BYTES / 4];
    gpu_setup_compare(s, &expected, &right, outputs, sizeof outputs);
    compare_counts(s, t, counts, sizeof counts);
    if (found->count)
        check_fail(report, "%s: %s", title, found->text[0]);
    else if (outputs[0] || counts[0])
        check_fail(report, "%s: %s%s%s", title, outputs, outputs[0] && counts[0] ? "; " : "", counts);
    else if (!expected && !k->has_reference)
        check_skip(report, "%s: neither expected outputs nor reference counts", title);
    else
        check_pass(report);
}

static void check_image(const struct abi_kernel *k, const struct check_gpu_options *o, struct check_report *report)
{
    struct orch_error why = {0};
    struct gpu_setup setup = {.program = NULL};
    struct gpu_totals totals = {0};
    struct gpu_findings found = {.text = NULL};
    char title[256];
    struct mem_space *const space = mem_space_create(0);
    snprintf(title, sizeof title, "%s (%s)", k->name, k->code_name);
    if (!space)
        orch_fail(&why, ORCH_INTERNAL, "no address space for the simulated memory");
    else if (gpu_setup_open(&setup, k, GPU_G14, space, NULL, &why) && check_gpu_execute(&setup, o, &totals, &found, &why))
        judge(k, title, &setup, &totals, &found, report);
    if (why.exit_code)
        check_fail(report, "%s: %s", title, why.text);
    gpu_findings_free(&found);
    gpu_totals_free(&totals);
    gpu_setup_close(&setup);
    if (space)
        mem_space_free(space);
}

/* Checks the plain image, and the image for parts with several clusters or dies if that is another. */
static void check_kernel(const char *path, const struct check_gpu_options *o, struct check_report *report)
{
    char plain[sizeof((struct abi_kernel *)NULL)->code_name] = "";
    for (int coherent = 0; coherent < 2; coherent++) {
        const struct abi_target target = {coherent ? "g13x" : "g13g", coherent};
        struct abi_kernel kernel;
        struct orch_error why = {0};
        if (!abi_kernel_open(&kernel, path, &target, &why)) {
            check_fail(report, "%s", why.text);
            abi_kernel_free(&kernel);
            return;
        }
        if (strcmp(plain, kernel.code_name) != 0)
            check_image(&kernel, o, report);
        memcpy(plain, kernel.code_name, sizeof plain);
        abi_kernel_free(&kernel);
    }
}

struct kernel_check {
    const struct check_gpu_options *options;
    struct check_report *report;
};

static void check_folder(void *context, const char *path)
{
    const struct kernel_check *const check = context;
    check_kernel(path, check->options, check->report);
}

bool check_gpu_kernels(const char *folder, const char *const *names, size_t name_count, const struct check_gpu_options *options,
                       struct check_report *report, struct orch_error *error)
{
    struct kernel_check check = {options, report};
    const struct case_kind kind = {.noun = "kernel", .marker = "abi.json", .check = check_folder, .context = &check};
    return case_folders_run(folder, names, name_count, &kind, error);
}
