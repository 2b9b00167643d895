/* The committed baseline: all chips under MODE=opt, two of them under the sanitizers, where all of them would take too long. */
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <string.h>

static struct cli_home home = {.name = "regress-baseline", .options = "-q"};

static void test_recorded_characteristics(void)
{
    const char *chips = strcmp(TEST_MODE, "opt") == 0 ? "" : " --chip m1,m3-max --only amx.,cpu,ane.,mem.l,gpu.fma,gpu.gemm";
    if (cli_ask(&home, "regress check " ORCHARD_SOURCE_DIR "/sim/prove/regress/default.baseline%s", chips))
        CHECK(home.outcome.code == 0, "%s%s", home.outcome.out, home.outcome.err);
    CU_ASSERT(cli_home_remove(&home));
}

static const struct suite_test tests[] = {{"all chips have their recorded characteristics", test_recorded_characteristics}};
SUITE_MAIN("regress baseline", tests)
