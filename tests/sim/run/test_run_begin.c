/* What decides the answer of a run: the text of its options, by which databases find runs again. Older files hold these bytes. */
#include "isa/array_count.h"
#include "sim/run/run.h"
#include "tests/support/suite.h"

#include <json-c/json.h>
#include <string.h>

static void check_options(struct run_request q, const char *expected)
{
    struct orch_error error = {0};
    struct run *const run = run_prepare(&q, &error);
    CHECK(run != NULL, "%s", error.text);
    if (run)
        CHECK(strcmp(run_begin_event(run)->options, expected) == 0, "%s", run_begin_event(run)->options);
    run_free(run);
}

static struct chip *open_m1(struct chip_db **chips)
{
    struct orch_error error = {0};
    *chips = chip_db_open(NULL, &error);
    struct chip *const chip = *chips ? chip_open(*chips, "m1", NULL, &error) : NULL;
    CHECK(chip != NULL, "%s", error.text);
    return chip;
}

#define NO_ARGS "{\"args\":\"cbf29ce484222325\","

static void test_bytes(void)
{
    struct chip_db *chips;
    struct chip *const chip = open_m1(&chips);
    const struct run_uncertainty uncertainty = {.runs = 8};
    if (chip) {
        check_options((struct run_request){.chip = chip, .workload = "gemm:64x64x64", .unit = "amx"},
                      NO_ARGS "\"cold\":false,\"core\":0,\"cores\":1,\"entry\":\"\",\"home\":\"process\",\"memory\":0,"
                              "\"repeat\":1,\"sanitize\":false,\"skip\":0,\"others\":0}");
        check_options((struct run_request){.chip = chip,
                                           .workload = "gemm:64x64x64",
                                           .unit = "gpu",
                                           .cold = true,
                                           .repeat = 3,
                                           .sanitize = true,
                                           .memory_gib = 16,
                                           .fitted = "tuned a/b \"c\" 0123",
                                           .uncertainty = &uncertainty},
                      NO_ARGS "\"cold\":true,\"core\":0,\"cores\":1,\"entry\":\"\",\"home\":\"process\",\"memory\":16,"
                              "\"repeat\":3,\"sanitize\":true,\"skip\":0,\"others\":0,"
                              "\"fitted\":\"tuned a/b \\\"c\\\" 0123\",\"uncertainty\":8}");
    }
    chip_close(chip);
    chip_db_close(chips);
}

/* Names that begin alike are different names, however long they are. */
static void test_long_names(void)
{
    struct chip_db *chips;
    struct chip *const chip = open_m1(&chips);
    char name[2][601];
    struct orch_error error = {0};
    memset(name, 'n', sizeof name);
    name[0][600] = name[1][600] = 0;
    name[1][599] = 'm';
    for (int i = 0; chip && i < 2; i++) {
        const struct run_request q = {.chip = chip, .workload = "gemm:64x64x64", .unit = "amx", .fitted = name[i]};
        struct run *const run = run_prepare(&q, &error);
        json_object *const options = run ? json_tokener_parse(run_begin_event(run)->options) : NULL;
        json_object *fitted = NULL;
        CHECK(options && json_object_object_get_ex(options, "fitted", &fitted), "%s", error.text);
        CU_ASSERT(fitted && strcmp(json_object_get_string(fitted), name[i]) == 0);
        json_object_put(options);
        run_free(run);
    }
    chip_close(chip);
    chip_db_close(chips);
}

static const struct suite_test tests[] = {
    {"the bytes of the options", test_bytes},
    {"long names are kept whole", test_long_names},
};
SUITE_MAIN("run begin", tests)
