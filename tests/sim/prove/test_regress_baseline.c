/* The committed baseline: all chips under MODE=opt, where the GPUs of one chip of each die stand for those with fewer cores; two
 * chips under the sanitizers, where all would take too long. */
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <string.h>

#define DIES "m1,m1-max,m1-ultra,m2,m2-max,m2-ultra,m3,m3-pro,m3-max,m4,m4-pro,m4-max"

static struct cli_home home = {.name = "regress-baseline", .options = "-q"};

static void check(const char *options)
{
    if (cli_ask(&home, "regress check " ORCHARD_SOURCE_DIR "/sim/prove/regress/default.baseline %s", options))
        CHECK(home.outcome.code == 0, "%s%s", home.outcome.out, home.outcome.err);
}

static void test_recorded_characteristics(void)
{
    if (strcmp(TEST_MODE, "opt") == 0) {
        check("--only amx.,cpu,ane.,mem.,device.");
        check("--only gpu. --chip " DIES);
    } else {
        check("--chip m1,m3-max --only amx.,cpu,ane.,mem.l,gpu.fma,gpu.gemm");
    }
    CU_ASSERT(cli_home_remove(&home));
}

static const struct suite_test tests[] = {{"all chips have their recorded characteristics", test_recorded_characteristics}};
SUITE_MAIN("regress baseline", tests)
