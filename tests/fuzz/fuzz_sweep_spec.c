/* Arbitrary bytes as SPEC.json, as -L text and as a list of workloads. They are refused with a reason, or make a specification
 * whose written form reads back unchanged and whose design gives a setting for its first and last points.
 */
#include "isa/array_count.h"
#include "sim/ask/sweep/sweep_design.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_design(const struct sweep_spec *spec)
{
    struct sweep_design *const design = sweep_design_create(spec);
    if (!design)
        return;
    const uint64_t at[] = {0, spec->points / 2, spec->points - 1, spec->points, sweep_design_points(design) - 1};
    for (size_t i = 0; i < ARRAY_COUNT(at); i++) {
        struct study_setting setting = {0};
        if (!sweep_design_setting(design, at[i], &setting) || !study_setting_get(&setting, "workload"))
            abort();
        study_setting_free(&setting);
    }
    sweep_design_free(design);
}

static void check_whole(const struct sweep_spec *spec)
{
    struct orch_error error = {0};
    char *const json = sweep_spec_json(spec);
    struct sweep_spec *const again = sweep_spec_parse("again", json, strlen(json), &error);
    if (!again || again->points != spec->points)
        abort();
    char *const json_again = sweep_spec_json(again);
    if (strcmp(json, json_again) != 0)
        abort();
    if (spec->points <= 100000)
        use_design(spec);
    free(json);
    free(json_again);
    sweep_spec_free(again);
}

static void as_file(const char *text, size_t size)
{
    struct orch_error error = {0};
    struct sweep_spec *const spec = sweep_spec_parse("fuzz.json", text, size, &error);
    if (!spec && (error.exit_code == 0 || !*error.text))
        abort();
    if (spec)
        check_whole(spec);
    sweep_spec_free(spec);
}

/* Most texts follow the name of a key, so that the values behind it are what is tried. */
static char *with_key(const char *text, unsigned choice)
{
    static const char *const keys[] = {
        "gpu_cores=", "chip=", "memory_peak_GBps=", "", "precision=", "amx.clock_ghz=", "cores=", "unit="};
    const char *const key = keys[choice % ARRAY_COUNT(keys)];
    char *const varied = malloc(strlen(key) + strlen(text) + 1);
    if (varied)
        strcat(strcpy(varied, key), text);
    return varied;
}

static void as_words(const char *text, const char *varied)
{
    struct orch_error error = {0};
    struct sweep_spec *const spec = sweep_spec_create();
    bool ok = spec && sweep_spec_workloads(spec, text, &error);
    if (!ok && error.exit_code == 0)
        abort();
    if (!ok)
        ok = spec && spec->workload_count == 0 && sweep_spec_add_workload(spec, "gemm:8x8x8", 10, &error);
    if (ok && sweep_spec_vary(spec, varied, &error) && sweep_spec_finish(spec, &error) && spec->points <= 100000)
        use_design(spec);
    sweep_spec_free(spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    as_file(text, size);
    char *const varied = with_key(text, size ? data[size - 1] : 0);
    if (varied)
        as_words(text, varied);
    free(varied);
    free(text);
    return 0;
}
