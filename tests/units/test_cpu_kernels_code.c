/* The NEON code that is checked in (units/cpu/kernels/cpu_kernels_code.inc). */
#include "tests/units/kernels_code_example.h"
#include "units/cpu/kernels/cpu_kernels.h"

static void test_code_is_that_of_the_sources(void)
{
    kernels_code_compare(ORCHARD_SOURCE_DIR "/units/cpu/kernels/cpu_kernels_code.inc",
                         ORCHARD_BUILD_DIR "/neon/cpu_kernels_code.inc", "make neon-kernels");
}

static void test_code_stands_alone(void)
{
    size_t bytes;
    const void *const code = cpu_kernels_code(&bytes);
    kernels_code_alone(code, bytes);
}

static const struct suite_test tests[] = {
    {"the code is that of the sources", test_code_is_that_of_the_sources},
    {"the code stands alone", test_code_stands_alone},
};
SUITE_MAIN("neon code", tests)
