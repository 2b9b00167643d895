/* orchard model check on what exporters write: kernels of cores and AMX compute it, and no product is left to the reference. */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <string.h>

static struct cli_home home = {.name = "exporters", .options = "--quiet"};

static void test_kernels(void)
{
    static const char *const cases[] = {"einsum_forms",    "gru_both_ways", "lstm_torch",      "matmul_batch",
                                        "ms_fused_scores", "ms_gqa",        "ms_matmul_nbits", "dynamic_quant"};
    cli_home_open(&home);
    for (size_t k = 0; k < ARRAY_COUNT(cases); k++) {
        if (!cli_ask(&home, "model check " ORCHARD_SOURCE_DIR "/tests/golden/exporters/%s --unit %s", cases[k],
                     k % 2 ? "amx" : "cpu"))
            break;
        CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "100.0 % of the MACs it has kernels for") &&
                  strstr(home.outcome.out, "1 passed, 0 failed"),
              "%s: %s", cases[k], home.outcome.out);
    }
    cli_home_remove(&home);
}

static const struct suite_test tests[] = {{"kernels", test_kernels}};
SUITE_MAIN("exporters_cli", tests)
