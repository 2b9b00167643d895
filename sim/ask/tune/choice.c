#include "sim/ask/tune/choice.h"

#include "isa/array_count.h"
#include "sim/workload/ane/ane_workload.h"
#include "sim/workload/cpu/cpu_kernel.h"
#include "sim/workload/cpu/cpu_library.h"
#include "sim/workload/gpu/gpu_library.h"
#include "sim/workload/amx/kernel.h"

#include <stdio.h>
#include <string.h>

static const struct tune_choice choices[] = {
    {"gpu", "gemm", "tile", {"32x32", "32x64", "64x32", "64x64"}, "rows and columns of the result that a threadgroup makes"},
    {"gpu", "gemm", "split", {"1", "2", "4", "8", "16"}, "parts of k that are summed at the end"},
    {"gpu", "conv2d", "algo", {"direct", "matrix", "winograd2", "winograd4", "winograd6"}, "method"},
    {"gpu", "attention", "variant", {"flash", "naive"}, "one pass, or two products with a softmax between them"},
    {"amx", "gemm", "bk", {"128", "512", "2048", "8192"}, "depth of the packed panels"},
    {"amx", "gemm", "bm", {"64", "256", "1024"}, "rows of A that are packed at a time"},
    {"amx", "gemm", "bn", {"64", "256", "1024"}, "columns of B that are packed at a time"},
    {"ane", "gemm", "weights", {"b", "a"}, "which operand is streamed as coefficients"},
    {"cpu", NULL, "cores", {"1", "2", "4", "8"}, "cores that share the work"},
};

size_t tune_choice_count(void)
{
    return ARRAY_COUNT(choices);
}

const struct tune_choice *tune_choice_at(size_t index)
{
    return &choices[index];
}

static bool cpu_has(const char *workload)
{
    return cpu_kernel_has(workload) || cpu_library_has(workload);
}

static bool unit_has(const char *unit, const char *workload)
{
    static const struct {
        const char *unit;
        bool (*has)(const char *workload);
    } libraries[] = {{"gpu", gpu_library_has}, {"amx", kernel_has}, {"ane", ane_workload_has}, {"cpu", cpu_has}};
    for (size_t i = 0; i < ARRAY_COUNT(libraries); i++)
        if (strcmp(libraries[i].unit, unit) == 0)
            return libraries[i].has(workload);
    return false;
}

/* Whether the choice belongs to this kernel and the text leaves it open. */
static bool is_open(const struct tune_choice *c, const char *workload, const char *unit)
{
    char option[32];
    const size_t length = strcspn(workload, ":");
    snprintf(option, sizeof option, "%s=", c->option);
    const char *const given = strstr(workload + length, option);
    return strcmp(c->unit, unit) == 0 &&
           (!c->kernel || (strlen(c->kernel) == length && memcmp(c->kernel, workload, length) == 0)) &&
           !(given && (given[-1] == ',' || given[-1] == ':'));
}

static size_t value_count(const struct tune_choice *c)
{
    size_t count = 0;
    while (count < TUNE_VALUES && c->value[count])
        count++;
    return count;
}

static void add_option(struct tune_variant *v, const struct tune_choice *c, const char *value)
{
    if (strcmp(c->option, "cores") == 0) {
        sscanf(value, "%u", &v->cores);
        return;
    }
    const size_t at = strlen(v->workload);
    snprintf(v->workload + at, sizeof v->workload - at, ",%s=%s", c->option, value);
}

/* A variant is a number with a digit for each open choice; digit 0 is the library's own rule. */
static void write_variant(const char *workload, const char *unit, size_t number, struct tune_variant *v)
{
    snprintf(v->workload, sizeof v->workload, "%.180s", workload);
    v->cores = 0;
    for (size_t i = 0; i < tune_choice_count(); i++) {
        const size_t values = 1 + value_count(&choices[i]);
        if (!is_open(&choices[i], workload, unit))
            continue;
        if (number % values)
            add_option(v, &choices[i], choices[i].value[number % values - 1]);
        number /= values;
    }
}

size_t tune_variants(const char *workload, const char *unit, struct tune_variant *variants, size_t room)
{
    size_t count = 1;
    if (!unit_has(unit, workload))
        return 0;
    for (size_t i = 0; i < tune_choice_count(); i++)
        if (is_open(&choices[i], workload, unit))
            count *= 1 + value_count(&choices[i]);
    for (size_t i = 0; i < count && i < room; i++)
        write_variant(workload, unit, i, &variants[i]);
    return count;
}
