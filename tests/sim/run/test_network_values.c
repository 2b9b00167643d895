/* What kernels of a network take without values, against a run on values: no kernel of the library may hang on what it reads. */
#include "sim/run/network/run_network.h"
#include "tests/sim/run_example.h"

#include <math.h>

static struct chip_db *db;

static struct outcome run_digits(const char *unit, enum run_mode mode, const char *detail)
{
    static const char *const batch[] = {"batch=1"};
    return run_on(db, "m2-max", "tests/examples/networks/digits/model.onnx",
                  (struct run_request){.unit = unit, .mode = mode, .detail = detail, .dims = batch, .dim_count = 1, .seed = 1});
}

/* Rectified images, whose windows are mostly zeros, and those that are generated: kernel by kernel. */
static void test_kernels(void)
{
    struct outcome timed = run_digits("cpu", RUN_TIMING, "op"), run = run_digits("cpu", RUN_FULL, "instr");
    CHECK(timed.ok && run.ok && timed.result.placement.count == run.result.placement.count, "%s%s", timed.error.text,
          run.error.text);
    unsigned kernels = 0;
    for (size_t k = 0; timed.ok && k < timed.result.placement.count; k++) {
        char name[60];
        snprintf(name, sizeof name, RUN_NETWORK_SECONDS, k + 1);
        const double with = counter(&run, name), without = counter(&timed, name);
        kernels += with > 0;
        CHECK(!(with > 0) || fabs(without / with - 1) < 0.01, "%s: %g s, on values %g", timed.result.placement.item[k].op,
              without, with);
    }
    CHECK(kernels >= 5, "%u kernels", kernels);
    run_result_free(&timed.result);
    run_result_free(&run.result);
}

static const struct suite_test tests[] = {{"kernel by kernel", test_kernels}};

int main(void)
{
    return example_chips_run("network_values", tests, ARRAY_COUNT(tests), &db);
}
