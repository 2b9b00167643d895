/* Where rows about AMX run: E cores at the clock of background threads, and threads that macOS moves. The figures are rows of
 * sim/prove/tables/amx-timing.csv (eugenehp/amx-rs, corsix/amx).
 */
#include "isa/array_count.h"
#include "sim/prove/validate/csv.h"
#include "sim/prove/validate/soc_runner.h"
#include "sim/prove/validate/validation.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

#define HEAD    "chip,instruction_or_kernel,condition,value,unit,kind,source,chip_id\n"
#define M1_MAX  ",measured,github eugenehp/amx-rs x,m1_max_8p2e_32g\n"
#define M4_PRO  ",measured,github eugenehp/amx-rs x,m4_pro_10p4e_20g\n"
#define F64     "fma64 in matrix mode Z=f64[8][8]"
#define CORSIX  ",GFLOPS,measured,github corsix/amx fma.md,m1_max_8p2e_32g\n"
#define CORSIX2 ",GFLOPS,measured,github corsix/amx issue 6,m2_4p4e_10g\n"

static struct validation *predicted(const char *text)
{
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    struct soc_runner *runner = db ? soc_runner_create(db, NULL, NULL) : NULL;
    struct validation *v = validation_create();

    CU_ASSERT_PTR_NOT_NULL_FATAL(runner);
    CHECK(validation_add_text(v, "amx.csv", text, strlen(text), &error), "%s", error.text);
    const struct validate_runner hook = soc_runner_hook(runner);
    CHECK(validation_run(v, &hook, &error), "%s", error.text);
    soc_runner_free(runner);
    chip_db_close(db);
    return v;
}

static void check_rows(const char *text, double tolerance)
{
    struct validation *v = predicted(text);
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_row *r = &v->row[i];
        CHECK(r->state == VALIDATE_PREDICTED, "%s: %s", r->id, r->why);
        CHECK(fabs(r->predicted / r->measured - 1) <= tolerance, "%s %s: %g, measured %g", r->chip, r->condition, r->predicted,
              r->measured);
    }
    validation_free(v);
}

/* Dependent instructions take 4, 8 and 16 cycles: at 972 MHz with one background thread on M1 Max and 2064 with two, at 1020 on
 * M4 Pro with any number. */
static void test_background_clock(void)
{
    check_rows(HEAD "M1 Max,fma16 matrix (32×32),Single E-core,8.71,ns per instruction" M1_MAX
                    "M1 Max,mac16 matrix (32×32),Single E-core,16.73,ns per instruction" M1_MAX
                    "M1 Max,fma64 vector (8 f64),All E-cores parallel (2 threads),1.95,ns per instruction per thread" M1_MAX
                    "M1 Max,mac16 matrix (32×32),All E-cores parallel (2 threads),15.69,ns per instruction per thread" M1_MAX
                    "M4 Pro,fma16 matrix (32×32),Single E-core,7.86,ns per instruction" M4_PRO
                    "M4 Pro,fma64 matrix (8×8),All E-cores parallel (4 threads),15.66,ns per instruction per thread" M4_PRO
                    "M4 Pro,mac16 vector (32 i16),All E-cores parallel (4 threads),7.85,ns per instruction per thread" M4_PRO,
               0.06);
}

/* Other rows of E cores, and P cores beside them, keep their clocks. */
static void test_clock_of_others(void)
{
    check_rows(HEAD "M1 Max,fma32 matrix (16×16),Single P-core,1.39,ns per instruction" M1_MAX
                    "M1 Max,fma32 matrix (16×16),All P-cores parallel (8 threads),1.5,ns per instruction per thread" M1_MAX,
               0.1);
}

/* Five threads on two clusters are as fast together as four or six: of the three that are left, one moves. Two stay together.
 * Threads on E cores of M2 move to P cores that fall idle. */
static void test_threads_move(void)
{
    check_rows(HEAD "M1 Max," F64 ",\"3 thread(s), 8 Z accumulators\",602.7" CORSIX "M1 Max," F64
                    ",\"4 thread(s), 8 Z accumulators\",733.3" CORSIX "M1 Max," F64
                    ",\"5 thread(s), 8 Z accumulators\",742.5" CORSIX "M1 Max," F64
                    ",\"6 thread(s), 8 Z accumulators\",768.9" CORSIX
                    "M2,matfp XY=f64[8] Z=f64[8][8],\"6 thread(s), 1 Z accumulators\",318.3" CORSIX2
                    "M2,matfp XY=f64[8] Z=f64[8][8],\"6 thread(s), 2 Z accumulators\",436.2" CORSIX2,
               0.11);
}

static const struct suite_test tests[] = {
    {"background threads run at their clock", test_background_clock},
    {"other threads run at theirs", test_clock_of_others},
    {"threads move to idle clusters", test_threads_move},
};
SUITE_MAIN("validate amx cores", tests)
