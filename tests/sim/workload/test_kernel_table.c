/* The table of what is known of library kernels beside their builders, against the libraries themselves. */
#include "isa/array_count.h"
#include "sim/run/residual.h"
#include "sim/workload/amx/kernel.h"
#include "sim/workload/cpu/cpu_kernel.h"
#include "tests/support/suite.h"
#include "units/amx/kernels/amx_kernels.h"
#include "units/ane/kernels/ane_kernels.h"
#include "units/cpu/kernels/cpu_kernels.h"
#include "units/gpu/kernels/gpu_kernels.h"

#include <string.h>

/* The rows of the table in its order. */
static const struct row {
    enum { ROW_KERNEL, ROW_IMPORT, ROW_OPERATION, ROW_METRIC } what;
    const char *name, *workload; /* of metrics */
    const char *unit;
} rows[] = {
#define KERNEL(name, work)                                    {ROW_KERNEL, name, NULL, NULL},
#define IMPORT(name, mapper, argument)                        {ROW_IMPORT, name, NULL, NULL},
#define OPERATION(name, plan)                                 {ROW_OPERATION, name, NULL, NULL},
#define METRIC(place, name, workload, unit, ...)              {ROW_METRIC, name, workload, unit},
#define METRIC_STREAM(place, name, workload, unit, ...)       {ROW_METRIC, name, workload, unit},
#define METRIC_DEVICE(place, name, workload, unit, precision) {ROW_METRIC, name, workload, unit},
#include "sim/workload/kernels.inc"
};

static bool has_row(const char *kernel)
{
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (rows[i].what == ROW_KERNEL && strcmp(rows[i].name, kernel) == 0)
            return true;
    return false;
}

static void test_every_kernel_has_a_row(void)
{
    for (size_t i = 0; i < kernel_count(); i++)
        CHECK(has_row(kernel_at(i)->name), "AMX has %s, the table does not", kernel_at(i)->name);
    for (size_t i = 0; i < gpu_kernel_count(); i++)
        CHECK(has_row(gpu_kernel_at(i)->name), "the GPU has %s, the table does not", gpu_kernel_at(i)->name);
    for (size_t i = 0; i < ane_kernel_count(); i++)
        CHECK(has_row(ane_kernel_at(i)->name), "the Neural Engine has %s, the table does not", ane_kernel_at(i)->name);
    for (size_t i = 0; i < cpu_kernel_count(); i++)
        CHECK(has_row(cpu_kernel_at(i)->name), "the CPU has %s, the table does not", cpu_kernel_at(i)->name);
    for (size_t i = 0; i < cpu_kernels.count; i++)
        CHECK(has_row(cpu_kernels.row[i]->operation->name), "NEON has %s, the table does not",
              cpu_kernels.row[i]->operation->name);
    for (size_t i = 0; i < amx_kernels.count; i++)
        CHECK(has_row(amx_kernels.row[i]->operation->name), "AMX has %s, the table does not",
              amx_kernels.row[i]->operation->name);
}

/* What cores do of a framework that the GPU does otherwise, a bias that is copied element by element; and boxes, of which each is
 * compared with those that stayed before it. */
static bool is_only_on_cores(const char *name)
{
    return strcmp(name, "broadcast") == 0 || strcmp(name, "nms") == 0;
}

/* Requests for one kernel differ only by the unit: what the GPU and NEON both have takes the same parameters in the same way,
 * apart from those that choose a method. */
static void test_forms_are_those_of_the_gpu(void)
{
    for (size_t i = 0; i < cpu_kernels.count; i++) {
        const struct routine *const row = cpu_kernels.row[i];
        const struct gpu_kernel_info *const gpu = gpu_kernel_find(row->operation->name, strlen(row->operation->name));
        CHECK(gpu ? gpu->positional == row->operation->positional : is_only_on_cores(row->operation->name), "%s",
              row->operation->name);
        for (const struct kernel_parameter *p = row->parameter; gpu && p->name; p++) {
            const struct kernel_parameter *q = gpu->parameter;
            if (strcmp(p->name, "acc") == 0 || strcmp(p->name, "algo") == 0)
                continue;
            while (q->name && strcmp(q->name, p->name) != 0)
                q++;
            /* Products of the GPU read their operands as they are, and its rows run in as many lanes as a simdgroup has. */
            if (!q->name && (strcmp(p->name, "packed") == 0 || strcmp(p->name, "lanes") == 0))
                continue;
            CHECK(q->name && q->missing == p->missing && q->required == p->required && q->decimal == p->decimal &&
                      q->usual == p->usual && q->chain == p->chain && (!q->words || strcmp(q->words, p->words) == 0),
                  "%s: %s", row->operation->name, p->name);
        }
    }
}

static bool unit_has(const char *unit, const char *workload)
{
    const size_t length = strcspn(workload, ":");
    return strcmp(unit, "amx") == 0   ? kernel_has(workload) || routine_find(&amx_kernels, workload) != NULL
           : strcmp(unit, "gpu") == 0 ? gpu_kernel_find(workload, length) != NULL
           : strcmp(unit, "ane") == 0 ? ane_kernel_find(workload, length) != NULL
                                      : cpu_kernel_has(workload) || routine_find(&cpu_kernels, workload) != NULL;
}

static void test_every_row_is_a_kernel(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (rows[i].what == ROW_KERNEL)
            CHECK(unit_has("amx", rows[i].name) || unit_has("gpu", rows[i].name) || unit_has("ane", rows[i].name) ||
                      unit_has("cpu", rows[i].name),
                  "no library has %s", rows[i].name);
}

/* Tables are searched from their start, so a name that stands twice would hide its second row. */
static void test_names_are_unique(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        for (size_t j = 0; j < i; j++) {
            const bool begins = rows[i].what == ROW_OPERATION && strncmp(rows[i].name, rows[j].name, strlen(rows[j].name)) == 0;
            CHECK(rows[i].what != rows[j].what || (!begins && strcmp(rows[i].name, rows[j].name) != 0), "%s and %s", rows[j].name,
                  rows[i].name);
        }
}

static void test_metrics_run_the_kernel_of_their_row(void)
{
    const char *kernel = "";
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (rows[i].what == ROW_KERNEL)
            kernel = rows[i].name;
        if (rows[i].what != ROW_METRIC)
            continue;
        const size_t length = strcspn(rows[i].workload, ":");
        CHECK(strlen(kernel) == length && memcmp(kernel, rows[i].workload, length) == 0, "%s stands at %s and runs %s",
              rows[i].name, kernel, rows[i].workload);
        CHECK(unit_has(rows[i].unit, rows[i].workload), "%s: %s is not on %s", rows[i].name, rows[i].workload, rows[i].unit);
    }
}

/* A kind of work that no group of residuals has would be taken for the unit's own spread without a word. */
static void test_kinds_of_work(void)
{
    static const char *const kinds[] = {"", "gemm", "gemv", "conv", "attention", "reduce", "stream"};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        bool known = rows[i].what != ROW_KERNEL;
        for (size_t k = 0; k < ARRAY_COUNT(kinds) && !known; k++)
            known = strcmp(residual_work(rows[i].name), kinds[k]) == 0;
        CHECK(known, "%s is %s", rows[i].name, residual_work(rows[i].name));
    }
    CU_ASSERT_STRING_EQUAL(residual_work("conv-stack:c=1"), "conv");
    CU_ASSERT_STRING_EQUAL(residual_work("sort:1x1"), "");
    CU_ASSERT_STRING_EQUAL(residual_work("gem:1x1x1"), "");
}

static const struct suite_test tests[] = {
    {"every kernel of a library has a row", test_every_kernel_has_a_row},
    {"NEON kernels are asked for like those of the GPU", test_forms_are_those_of_the_gpu},
    {"every row is a kernel", test_every_row_is_a_kernel},
    {"no name stands twice", test_names_are_unique},
    {"metrics run the kernel at whose row they stand", test_metrics_run_the_kernel_of_their_row},
    {"kinds of work are those of the residuals", test_kinds_of_work},
};
SUITE_MAIN("kernel table", tests)
