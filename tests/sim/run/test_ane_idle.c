/* Idle time before a request to the Neural Engine, and who may ask for it. */
#include "tests/sim/chip_example.h"
#include "tests/sim/run_example.h"

#include <math.h>

static struct outcome after_idle(const struct chip_db *db, const char *unit, double idle_s)
{
    return run_on(db, "m1-max", "elementwise:64,op=relu",
                  (struct run_request){.unit = unit, .mode = RUN_TIMING, .idle_s = idle_s});
}

/* The engine has to wake up: 260 ms after 5 s of idle time on M1 Max (sbryngelson/ane-guide). The work itself takes as long as
 * before. */
static void test_waking_up(void)
{
    struct chip_db *db = example_chips();
    struct outcome busy = after_idle(db, "ane", 0), rested = after_idle(db, "ane", 0.1), asleep = after_idle(db, "ane", 5);
    CHECK(busy.ok && rested.ok && asleep.ok, "%s%s%s", busy.error.text, rested.error.text, asleep.error.text);
    CHECK(fabs(asleep.result.seconds / 0.26 - 1) < 0.05, "%g s after 5 s", asleep.result.seconds);
    CHECK(busy.result.seconds < rested.result.seconds && rested.result.seconds < asleep.result.seconds, "%g s, %g s, %g s",
          busy.result.seconds, rested.result.seconds, asleep.result.seconds);
    CU_ASSERT_EQUAL(asleep.result.device_seconds, busy.result.device_seconds);
    run_result_free(&busy.result);
    run_result_free(&rested.result);
    run_result_free(&asleep.result);
    chip_db_close(db);
}

static void test_other_units(void)
{
    struct chip_db *db = example_chips();
    struct outcome cpu = after_idle(db, "cpu", 1);
    CHECK(!cpu.ok && cpu.error.exit_code == ORCH_USAGE && strstr(cpu.error.text, "--idle"), "%s", cpu.error.text);
    run_result_free(&cpu.result);
    chip_db_close(db);
}

static const struct suite_test tests[] = {
    {"an idle engine has to wake up", test_waking_up},
    {"other units do not fall asleep", test_other_units},
};
SUITE_MAIN("ane_idle", tests)
