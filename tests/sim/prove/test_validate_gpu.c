/* Published GPU figures (philipturner/metal-benchmarks, M1 Max; Chips and Cheese, M1; krrishnarraj/clpeak, M1 Pro) against the
 * programs that `orchard validate` makes of them, executed and timed on the chips of the database. */
#include "isa/agx/agx_asm.h"
#include "tests/sim/validate_example.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADER                                                                                                                   \
    "category,item,scope,value,unit,raw_latency_min_cycles,raw_latency_max_cycles,adjusted_latency_cycles,kind,source,note,"     \
    "chip_id\n"
#define CPI "cycles per SIMD instruction per scheduler,,,,measured,metal-benchmarks,"
#define MAX ",M1 Max,"
#define ID  ",m1_max_8p2e_32g\n"

static const char table[] = HEADER
    "fp,FADD16" MAX "1," CPI ID "fp,FFMA32" MAX "1," CPI ID "fp,RECIP32" MAX "6," CPI ID "fp,RSQRT16" MAX "8," CPI ID
    "fp,EXP2_32" MAX "4," CPI ID "fp,FMAX32" MAX "1," CPI ID "fp,DIV32" MAX "6.01," CPI ID "fp,SIN32" MAX "14.28," CPI ID
    "int,IADD32" MAX "1," CPI ID "int,IMAD32" MAX "4," CPI ID "int,IMUL(32x32=64)" MAX "8.01," CPI ID "int,IMUL(64x64=64)" MAX
    "16.06," CPI ID "int,LSHIFT32" MAX "4.01," CPI ID "mix,4 FADD/FFMA/IADD32" MAX "4.12," CPI ID
    "mix,2 FADD/FFMA32 + 2 FADD/FFMA16" MAX "4.16," CPI ID "mix,IMUL32 + 2 IADD32" MAX "4.12," CPI ID "mix,IMUL32 + 3 IADD32" MAX
    "5.36," CPI ID "mix,3 IMAD32 + IADD32" MAX "12.08," CPI ID "mix,Fast RECIP32 + 3 FMUL32" MAX "6.16," CPI ID
    "mix,IMAD32 + POPCOUNT32" MAX "8.00," CPI ID "simd,BROADCAST32" MAX "2.04," CPI ID "simd,SUM<F32>" MAX "14.54," CPI ID
    "simd,PREFIX_ISUM<F32>" MAX "12.60," CPI ID "simd,MATMUL<8x8xF16>" MAX "17," CPI ID "simd,MATMUL<8x8xF32>" MAX "18," CPI ID
    "quad,SUM<F16>" MAX "9.04," CPI ID "memory,L1 latency,M1,43,ns,,,,measured,Chips and Cheese,,m1_4p4e_8g\n"
    "memory,L2 latency,M1,76.3,ns,,,,measured,Chips and Cheese,,m1_4p4e_8g\n"
    "memory,SLC latency,M1,266,ns,,,,measured,Chips and Cheese,,m1_4p4e_8g\n"
    "memory,DRAM latency,M1,311,ns,,,,measured,Chips and Cheese,,m1_4p4e_8g\n"
    "memory,L1 bandwidth,M1,671,GB/s,,,,measured,Chips and Cheese,,m1_4p4e_8g\n"
    "memory,L2 bandwidth,M1,384,GB/s,,,,measured,Chips and Cheese,,m1_4p4e_8g\n"
    "memory,SLC bandwidth,M1,134,GB/s,,,,measured,Chips and Cheese,,m1_4p4e_8g\n"
    "memory,\"global memory read (Metal float2, best)\",M1 Pro,184.0,GB/s,,,,measured,clpeak,,m1_pro_8p2e_16g\n"
    "rate,f32 FMA float8 (Metal),M1 Pro,5123.2,GFLOPS,,,,measured,clpeak,,m1_pro_8p2e_16g\n"
    "rate,int32 multiply-add (OpenCL),M1 Pro,1324.3,GOPS,,,,measured,clpeak,,m1_pro_8p2e_16g\n";

static double error_of(const struct validate_row *row)
{
    return fabs(row->predicted / row->measured - 1);
}

static void test_rows(void)
{
    struct validation *v = example_validation("gpu.csv", table, NULL);
    double sum = 0;
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_row *row = &v->row[i];
        CHECK(row->state == VALIDATE_PREDICTED, "%s: %s", row->what, row->why);
        if (row->state != VALIDATE_PREDICTED)
            continue;
        CHECK(error_of(row) < 0.1, "%s: %.2f, measured %.2f", row->what, row->predicted, row->measured);
        sum += error_of(row);
    }
    CHECK(sum / (double)v->rows < 0.05, "mean error %.1f %%", 100 * sum / (double)v->rows);
    validation_free(v);
}

/* A slower matrix unit moves the matrix rows in proportion, and no others. */
static void test_one_parameter(void)
{
    static const char text[] =
        HEADER "simd,MATMUL<8x8xF16>" MAX "17," CPI ID "simd,MATMUL<8x8xF32>" MAX "18," CPI ID "fp,FFMA32" MAX "1," CPI ID
               "fp,RECIP32" MAX "6," CPI ID "simd,SUM<F32>" MAX "14.54," CPI ID;
    struct validation *plain = example_validation("gpu.csv", text, NULL);
    struct validation *slower = example_validation("gpu.csv", text, "gpu.matrix_f32.pipe_cycles=24");
    for (size_t i = 0; i < plain->rows; i++) {
        const struct validate_row *a = &plain->row[i], *b = &slower->row[i];
        const double expected = strcmp(a->what, "MATMUL<8x8xF32>") == 0 ? 24.0 / 18 : 1;
        CHECK(fabs(b->predicted / a->predicted - expected) < 0.01, "%s: %.3f after %.3f", a->what, b->predicted, a->predicted);
    }
    validation_free(plain);
    validation_free(slower);
}

/* The text of a row's program can be written, and assembles. */
static void test_dump(void)
{
    static const char text[] = HEADER "fp,FFMA32" MAX "1," CPI ID;
    struct orch_error error = {0};
    struct isa_error why = {0};
    struct agx_assembly assembly;
    struct validation *v = validation_create();
    size_t bytes = 0;
    CHECK(validation_add_text(v, "gpu.csv", text, sizeof text - 1, &error), "%s", error.text);
    uint8_t *file = validation_dump(v, "gpu:2", NULL, NULL, &bytes, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CHECK(agx_assemble((const char *)file, bytes, &assembly, &why), "line %lu: %s", why.line, why.text);
    CU_ASSERT_EQUAL(assembly.argument_count, 2);
    agx_assembly_free(&assembly);
    free(file);
    validation_free(v);
}

/* Rows that are not the speed of one program are refused with a reason. */
static void test_refusals(void)
{
    static const char text[] =
        HEADER "memory,texture read rgba8,M1 Pro,96.6,GB/s,,,,measured,clpeak,,m1_pro_8p2e_16g\n"
               "fp,SIN_PT_1" MAX "10," CPI "upper bound in the source (<10)" ID "fp,Precise SIN32" MAX "24.39," CPI ID;
    struct validation *v = example_validation("gpu.csv", text, NULL);
    static const char *const reasons[] = {"textures", "upper bound", "not published"};
    for (size_t i = 0; i < v->rows; i++)
        CHECK(v->row[i].state == VALIDATE_UNMODELLED && strstr(v->row[i].why, reasons[i]), "%s: %s", v->row[i].what,
              v->row[i].why);
    validation_free(v);
}

static const struct suite_test tests[] = {
    {"rows of every kind are close to the published figure", test_rows},
    {"one parameter moves what depends on it", test_one_parameter},
    {"the program of a row can be written", test_dump},
    {"refused rows have a reason", test_refusals},
};
SUITE_MAIN("validate_gpu", tests)
