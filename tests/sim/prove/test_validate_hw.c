/* Rows of the wide table of measurements that are operations on the GPU: what `orchard validate` builds from kernels of the
 * library, what frameworks add to the time, and what it refuses.
 */
#include "isa/array_count.h"
#include "sim/prove/validate/fitted.h"
#include "sim/prove/validate/row_framework.h"
#include "sim/prove/validate/overhead.h"
#include "sim/prove/validate/request.h"
#include "sim/prove/validate/tables.h"
#include "tests/sim/validate_example.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADER                                                                                                                   \
    "id,family,chip,gpu_cores,unit,workload,precision,shape,metric,value,value_unit,power_W,condition,source,kind,flop,"         \
    "min_bytes,note,chip_id\n"
#define BENCH(id, workload, shape, value, condition, bytes, note)                                                                \
    id ",M1,M1,8,gpu," workload ",f32," shape ",time," value ",ms,,\"" condition                                                 \
       "\",github TristanBilot/mlx-benchmark,measured,," bytes "," note ",m1_4p4e_8g\n"
#define OLD "mlx 0.5.0; CPU 4P+4E"

static const char table[] = HEADER BENCH("RELU", "relu_mlx_gpu", "512x1024", "0.4", OLD, "4194304", "") BENCH(
    "RELU-MPS", "relu_mps", "512x1024", "0.5", OLD, "4194304",
    "") BENCH("RELU-NEW", "relu_mlx_gpu", "512x1024", "0.4", "mlx 99.0.0", "4194304",
              "") BENCH("CONCAT", "concat_mlx_gpu", "200000x64 * 200000x64 axis=0", "4", OLD, "204800000",
                        "") BENCH("LINEAR", "linear_mlx_gpu", "8x256x64 * 64x256 * 256", "0.5", OLD, "2687488", "")
    BENCH("LINEAR-TWO", "linear_mlx_gpu", "8x256x64 * 64x256 * 256", "0.5", OLD, "2687488",
          "product and bias add were two kernels in this harness version")
        BENCH("SUM", "sum_mps", "64x64x64 axis=1", "0.5", OLD, "1064960", "") BENCH("SOFTMAX", "softmax_mps",
                                                                                    "256x512 axis=-1", "0.5", OLD, "1048576", "")
            BENCH("SOFTMAX-ALL", "softmax_mlx_gpu", "256x512 axis=all", "0.5", OLD, "1048576",
                  "") BENCH("CONV", "conv2d_mps", "2x28x28x4 * 8x3x3x4", "0.5", OLD, "69408", "")
                BENCH("ATTENTION", "scaleddotproductattention_mps", "2x4x16x64 * 2x4x32x64 * 2x4x32x64", "0.5", OLD, "196608", "")
                    BENCH("STRANGE", "fftshift_mlx_gpu", "256x512", "0.5", OLD, "1048576", "") BENCH(
                        "UNREAD",
                        "relu_mlx_gpu",
                        "512 by 1024", "0.5",
                        OLD, "4194304",
                        "") "OPEN,M1,M1 Max,,gpu,relu_mlx_gpu,f32,512x1024,time,0.4,ms,,mlx 0.2.0,github "
                            "TristanBilot/mlx-benchmark,measured,,4194304,,\n"
                            "SQUARE,M1,M1,8,gpu,gemm_square,f32,256^3 "
                            "NT,throughput,900,GFLOPS,,,metal-flash-attention,measured,33554432,,,m1_4p4e_8g\n"
                            "L1,M1,M1,8,gpu,gpu_L1_latency,,OpenCL pointer chase,latency,43,ns,,,quoting "
                            "chipsandcheese,measured,,,,m1_4p4e_8g\n"
                            "LLAMA,M1,M1,8,gpu,llama7b_tg128,Q4_0,7B,throughput,14,tokens/s,,,llama.cpp,measured,,,,m1_4p4e_8g\n";

static void test_what_is_modelled(void)
{
    static const char *const refused[][2] = {
        {"STRANGE", "no kernel for the operation"}, {"UNREAD", "is not read"}, {"LLAMA", "a whole language model"}};
    struct validation *v = example_validation("hw.csv", table, NULL);
    size_t predicted = 0;
    for (size_t i = 0; i < v->rows; i++)
        predicted += v->row[i].state == VALIDATE_PREDICTED;
    for (size_t i = 0; i < 3; i++) {
        const struct validate_row *row = example_row(v, refused[i][0]);
        CHECK(row->state == VALIDATE_UNMODELLED && strstr(row->why, refused[i][1]), "%s: %s", row->id, row->why);
    }
    CHECK(predicted == v->rows - 3, "%zu of %zu rows", predicted, v->rows);
    for (size_t i = 0; i < v->rows; i++)
        CHECK(v->row[i].state == VALIDATE_PREDICTED || v->row[i].why[0], "%s has no reason", v->row[i].id);
    CHECK(strstr(example_row(v, "OPEN")->note, "the part that 'm1-max' names") != NULL, "%s", example_row(v, "OPEN")->note);
    validation_free(v);
}

/* A lattice is one of the library's where populations are stored as numbers that it has. */
static void test_lattices(void)
{
    struct validation *v = example_validation("hw.csv",
                                              HEADER "CUSTOM,M1,M1,8,gpu,lbm_d3q19,FP32/FP16C,256^3-class "
                                                     "box,throughput,900,MLUP/s,,,s,measured,1275,77,,m1_4p4e_8g\n"
                                                     "BOX,M1,M1,8,gpu,lbm_d3q19,FP32/FP32,512^3-class "
                                                     "box,throughput,900,MLUP/s,,,s,measured,363,153,,m1_4p4e_8g\n",
                                              NULL);
    CHECK(strstr(example_row(v, "CUSTOM")->why, "not 'FP32/FP16C'") != NULL, "%s", example_row(v, "CUSTOM")->why);
    CHECK(strstr(example_row(v, "BOX")->why, "shape '512^3") != NULL, "%s", example_row(v, "BOX")->why);
    validation_free(v);
}

/* Tokens of llama.cpp: the model, the month of the build, prompts apart from what follows, and a second for all tokens. */
static void test_language_models(void)
{
    static const char rows[] = HEADER
        "TG,M2,M2 Max,30,gpu,llama7b_tg128,Q4_0,7B,throughput,60,tokens/s,,,llama.cpp,measured,,,,m2_max_8p4e_30g\n"
        "PP,M4,M4,10,gpu,llama7b_pp512,f16,7B,throughput,200,tokens/s,,,llama.cpp,measured,,,,m4_4p6e_10g\n"
        "L3,M1,M1 Max,32,gpu,llama3_tg1024,Q4_K_M,LLaMA-3 70B Q4_K_M,throughput,4,tokens/s,,,llama.cpp,measured,,,,"
        "m1_max_8p2e_32g\n"
        "IQ,M1,M1 Max,32,gpu,llama3_tg1024,IQ2_XS,LLaMA-3 8B,throughput,4,tokens/s,,,llama.cpp,measured,,,,m1_max_8p2e_32g\n"
        "ONE,M1,M1 Pro,,gpu,llama_pp1,Q4_0,LLaMA 1B Q4_0,throughput,140,tokens/s,,,llama.cpp,measured,,,,\n"
        "BIG,M1,M1 Pro,,gpu,llama_pp1,Q8_0,LLaMA 13B Q8_0,throughput,12,tokens/s,,,llama.cpp,measured,,,,\n"
        "SMALL,M3,M3 Max,,gpu,llama1b_tg128,Q8_0,llama 1B,throughput,170,tokens/s,,,llama.cpp,measured,,,,\n"
        "TWO,M1,M1 Pro,,gpu,llama_pp2,Q4_0,LLaMA 1B Q4_0,throughput,205,tokens/s,,,llama.cpp,measured,,,,\n";
    static const struct {
        const char *id, *workload, *precision, *kernels, *command;
        unsigned tokens;
    } expected[] = {
        {"TG", "model:llama-7b", "q4_0", "ggml@2023-11", " --generate 128", 128},
        {"PP", "model:llama-7b", "f16", "ggml@2024-11", " --prompt 512 --generate 0", 512},
        {"L3", "model:llama-3-70b", "q4_k", "ggml@2024-05", " --generate 1024", 1024},
        {"ONE", "model:llama-3.2-1b", "q4_0", "ggml@2024-11", " --generate 1", 1},
        {"BIG", "model:llama-2-13b", "q8_0", "ggml@2024-11", " --generate 1", 1},
        {"SMALL", "model:llama-3.2-1b", "q8_0", "ggml@2024-11", " --generate 128", 128},
    };
    struct orch_error error = {0};
    struct validation *const v = validation_create();
    CU_ASSERT_TRUE_FATAL(v && validation_add_text(v, "hw.csv", rows, sizeof rows - 1, &error));
    validation_run_language(v);
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        struct validate_row *const row = (struct validate_row *)(uintptr_t)example_row(v, expected[i].id);
        struct validate_program p;
        CHECK(validate_plan(row, &p), "%s: %s", row->id, row->why);
        CU_ASSERT_STRING_EQUAL(p.launch[0].workload, expected[i].workload);
        CU_ASSERT_STRING_EQUAL(p.launch[0].precision, expected[i].precision);
        CU_ASSERT_STRING_EQUAL(p.launch[0].kernels, expected[i].kernels);
        const struct run_request q = validate_request(&p, 0);
        char *const command = validate_request_command(&q, p.chip, &(struct chip_overrides){NULL, 0});
        CHECK(strstr(command, expected[i].command) != NULL, "%s", command);
        free(command);
        const struct validate_timing one_s = {.seconds = 1, .threads = 1, .thread_seconds = {1}};
        CHECK(fabs(validate_value(&p, &one_s) - expected[i].tokens) < 1e-9, "%g", validate_value(&p, &one_s));
        validate_program_free(&p);
    }
    struct validate_program p;
    struct validate_row *const unknown = (struct validate_row *)(uintptr_t)example_row(v, "IQ");
    CHECK(!validate_plan(unknown, &p) && strstr(unknown->why, "'IQ2_XS' is not read"), "%s", unknown->why);
    struct validate_row *const two = (struct validate_row *)(uintptr_t)example_row(v, "TWO");
    CHECK(!validate_plan(two, &p) && strstr(two->why, "products of 2 to 8 vectors"), "%s", two->why);
    validation_free(v);
}

/* The bandwidth of LPDDR4X-4266 on 128 bits limits large operations, the time of clpeak's empty command buffer tiny ones. */
static void test_bounds(void)
{
    struct validation *v = example_validation("hw.csv", table, NULL);
    const double least_ms = 204.8e6 / 68.3e9 * 1e3, concat = example_row(v, "CONCAT")->bare, relu = example_row(v, "RELU")->bare;
    CHECK(concat > least_ms && concat < 1.6 * least_ms, "%.2f ms, memory alone takes %.2f", concat, least_ms);
    CHECK(relu > 0.187 && relu < 0.187 + 0.2, "%.3f ms", relu);
    CHECK(example_row(v, "LINEAR-TWO")->bare > example_row(v, "LINEAR")->bare + 1e-3, "the second kernel takes time");
    CHECK(example_row(v, "SOFTMAX-ALL")->bare > example_row(v, "SOFTMAX")->bare, "five kernels against one");
    /* 8 cores x 128 lanes x 1.278 GHz x 2. */
    const double peak = 8 * 128 * 1.278 * 2, square = example_row(v, "SQUARE")->predicted;
    CHECK(square < peak && square > 0.05 * peak, "%.0f of %.0f GFLOPS", square, peak);
    validation_free(v);
}

/* Neither products nor streams are faster than the hardware could be at its best: multiply-adds of all lanes in every cycle, and
 * the bytes that DRAM moves by its specification (LPDDR4X-4266 on 128 bits, LPDDR5-6400 on 512). Products of a few threadgroups
 * come nowhere near: a core without a threadgroup does nothing.
 */
static void test_limits(void)
{
    static const char rows[] =
        HEADER "P1,M1,M1,8,gpu,gemm_square,f32,512^3 NN,throughput,1,GFLOPS,,,s,measured,,,,m1_4p4e_8g\n"
               "P2,M1,M1,8,gpu,gemm_square,f32,768^3 TN,throughput,1,GFLOPS,,,s,measured,,,,m1_4p4e_8g\n"
               "P3,M1,M1,8,gpu,gemm_square,f16,512^3 NT,throughput,1,GFLOPS,,,s,measured,,,,m1_4p4e_8g\n"
               "P4,M1,M1,8,gpu,gemm_square,f32,8^3 NN,throughput,1,GFLOPS,,,s,measured,,,,m1_4p4e_8g\n"
               "P5,M1,M1 Max,32,gpu,gemm_square,f32,512^3 NN,throughput,1,GFLOPS,,,s,measured,,,,m1_max_8p2e_32g\n"
               "S1,M1,M1,8,mem,torch_copy_gpu,f32,,bandwidth,1,GB/s,,,s,measured,,,,m1_4p4e_8g\n"
               "S2,M1,M1,8,gpu,gemv_llama.cpp_new_kernel,q4_0,,bandwidth,1,GB/s,,,s,measured,,,,m1_4p4e_8g\n"
               "S3,M1,M1 Max,32,gpu,gemv_llama.cpp_new_kernel,q4_0,,bandwidth,1,GB/s,,,s,measured,,,,m1_max_8p2e_32g\n";
    static const struct {
        const char *id;
        double most, least;
    } limits[] = {
        {"P1", 8 * 128 * 1.278 * 2, 500},
        {"P2", 8 * 128 * 1.278 * 2, 1000},
        {"P3", 8 * 128 * 1.278 * 2, 500},
        {"P4", 128 * 1.278 * 2, 0},
        {"P5", 32 * 128 * 1.296 * 2, 500},
        {"S1", 4.266 * 16, 40},
        {"S2", 4.266 * 16, 30},
        {"S3", 6.4 * 64, 100},
    };
    struct validation *v = example_validation("hw.csv", rows, NULL);
    for (size_t i = 0; i < ARRAY_COUNT(limits); i++) {
        const struct validate_row *row = example_row(v, limits[i].id);
        CHECK(row->state == VALIDATE_PREDICTED, "%s: %s", row->id, row->why);
        CHECK(row->predicted <= limits[i].most && row->predicted >= limits[i].least, "%s: %g, between %g and %g", row->id,
              row->predicted, limits[i].least, limits[i].most);
    }
    validation_free(v);
}

/* A call takes what was measured for the version, around the time of the device: "orchard run" has the way of a command buffer
 * there. */
static void test_overheads(void)
{
    struct validation *v = example_validation("hw.csv", table, NULL);
    const struct validate_row *relu = example_row(v, "RELU"), *unknown = example_row(v, "RELU-NEW");
    const struct validate_overhead *h = validate_overhead_of("mlx 0.5.0");
    CU_ASSERT_FATAL(h != NULL && relu->overhead == h);
    CHECK(h->call_us > 0 && fabs(relu->predicted - (1e3 * relu->device_s + 1e-3 * h->call_us)) < 1e-12, "%g ms", relu->predicted);
    CHECK(fabs(relu->bare - 1e3 * (relu->device_s + relu->way_s)) < 1e-12 && relu->way_s > 100e-6, "%g ms", relu->bare);
    CHECK(!unknown->overhead && unknown->predicted == unknown->bare, "an unknown version has the simulated way");
    /* a version that is not known runs the newest kernels: two elements a thread in place of one */
    CHECK(fabs(unknown->bare - relu->bare) < 0.02, "%g and %g ms", unknown->bare, relu->bare);
    CHECK(!example_row(v, "SQUARE")->overhead, "no framework, nothing added");
    validation_free(v);
}

/* No overhead is below zero, each names rows, and these count as fitted. */
static void test_overhead_table(void)
{
    struct orch_error error = {0};
    struct validation *v = validation_create();
    CHECK(validation_add_shipped(v, &error) && validation_find_fitted(v, NULL, &error), "%s", error.text);
    for (size_t i = 0; i < validate_overhead_count(); i++) {
        const struct validate_overhead *o = validate_overhead_at(i);
        size_t rows = 0;
        CHECK(o->call_us >= 0 && o->ns_per_kib >= 0 && o->ns_per_kib_out >= 0, "%s", o->framework);
        CHECK((o->call_us > 0) + (o->ns_per_kib > 0) + (o->ns_per_kib_out > 0) <= 2, "%s: more than two numbers", o->framework);
        for (const char *at = o->rows; *at;) {
            char id[64];
            snprintf(id, sizeof id, "%.*s", (int)strcspn(at, " "), at);
            const struct validate_row *r = example_row(v, id);
            CHECK(fitted_list_key(v->fitted, r) != NULL && strcmp(r->source, o->source) == 0, "%s: %s", o->framework, id);
            rows++;
            at += strcspn(at, " ");
            at += *at == ' ';
        }
        CHECK(rows > 0, "%s: no row measures it", o->framework);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(validate_overhead_at(k)->framework, o->framework) != 0, "%s: two sets", o->framework);
    }
    validation_free(v);
}

/* The versions of tables that do not state them, or state a wrong one. */
static void test_versions(void)
{
    static const char rows[] = HEADER
        "A,M2,M2,,gpu,relu_mlx_gpu,f32,512,time,1,ms,,\"heading says mlx 0.2.0 but "
        "older\",TristanBilot/mlx-benchmark,measured,,4,,\n"
        "B,M4,M4 Max,40,gpu,relu_mps,f32,512,time,1,ms,,mlx 0.20.0; CPU,TristanBilot/mlx-benchmark,measured,,4,,\n"
        "C,M1,M1 Ultra,48,gpu,relu_mps,f32,512,time,1,ms,,mlx 0.29.3 torch 2.8.0; CPU,TristanBilot/mlx-benchmark,measured,,4,,\n"
        "D,M1,M1,7,gpu,relu_mps,f32,512,time,1,ms,,,somebody else,measured,,4,,\n";
    static const char *const expected[] = {"mlx 0.0.7, M2", "torch-mps 2.5.1, M4 Max 40", "torch-mps 2.8.0, M1 Ultra 48",
                                           "torch-mps, version not stated"};
    struct orch_error error = {0};
    struct validation *v = validation_create();
    CHECK(validation_add_text(v, "hw.csv", rows, strlen(rows), &error), "%s", error.text);
    for (size_t i = 0; i < v->rows && i < ARRAY_COUNT(expected); i++) {
        char name[FRAMEWORK_NAME_SIZE];
        row_framework(&v->row[i], strstr(v->row[i].what, "mlx") != NULL, name);
        CHECK(strcmp(name, expected[i]) == 0, "%s: %s", v->row[i].id, name);
        CHECK(strcmp(row_framework_set(&v->row[i]), i ? "mps" : "mlx") == 0, "%s: %s", v->row[i].id,
              row_framework_set(&v->row[i]));
    }
    validation_free(v);
}

static void test_report(void)
{
    struct orch_error error = {0};
    struct validation *v = example_validation("hw.csv", table, NULL), *again = example_validation("hw.csv", table, NULL);
    json_object *a = validation_json(v, "workload,chip", &error), *b = validation_json(again, "workload,chip", &error), *part,
                *count;
    CU_ASSERT_FATAL(a && b);
    CHECK(strcmp(json_object_to_json_string(a), json_object_to_json_string(b)) == 0, "two runs differ");
    CHECK(json_object_object_get_ex(a, "without_overhead", &part) && json_object_object_get_ex(part, "mape", &count),
          "no bare score");
    CHECK(json_object_object_get_ex(a, "overheads", &part) && json_object_array_length(part) > 0, "no list of overheads");
    CHECK(json_object_object_get_ex(a, "fitted", &part) && json_object_object_get_ex(part, "rows", &count) &&
              json_object_get_int(count) == 1,
          "one row gave a parameter");
    CHECK(strstr(example_row(v, "L1")->parameter, "gpu.l1_latency_cycles") != NULL, "fitted row");
    json_object_put(a);
    json_object_put(b);
    validation_free(v);
    validation_free(again);
}

/* Of six operations the two smallest decide: 150 us in the middle, whatever the slow and large ones lack. */
static void test_measured_calls(void)
{
    struct overhead_sample s[] = {{.missing_us = 100, .bytes = 4e6}, {.missing_us = 200, .bytes = 4e6},
                                  {.missing_us = 900, .bytes = 8e6}, {.missing_us = 5000, .bytes = 16e6},
                                  {.missing_us = -70, .bytes = 9e6}, {.missing_us = 1, .bytes = 5e6}};
    const struct overhead_measured m = overhead_measure(s, ARRAY_COUNT(s));
    CHECK(fabs(m.call_us - 150) < 1e-9 && m.rows == 2 && s[0].used && s[1].used && !s[2].used, "%g us", m.call_us);
    s[0].missing_us = s[1].missing_us = -50;
    CHECK(overhead_measure(s, ARRAY_COUNT(s)).call_us == 0, "below zero");
    for (size_t i = 0; i < ARRAY_COUNT(s); i++)
        s[i].bytes = 1e9;
    CHECK(overhead_measure(s, ARRAY_COUNT(s)).rows == 0, "large operations say nothing about a call");
}

/* Copies take 0.07 us per KiB in and 0.2 us per KiB out; one row is far off. */
static void test_measured_copies(void)
{
    enum { COUNT = 15 };
    struct overhead_sample s[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        s[i] = (struct overhead_sample){.in_kib = 100.0 * (i + 1), .out_kib = i % 3 ? 100.0 * (i + 1) : 0, .bytes = 1};
        s[i].missing_us = 0.07 * s[i].in_kib + 0.2 * s[i].out_kib + (i == 5 ? 1000 : 0);
    }
    const struct overhead_measured m = overhead_measure(s, COUNT);
    CHECK(fabs(m.ns_per_kib - 70) < 1e-9 && fabs(m.ns_per_kib_out - 200) < 1e-9, "%g ns in, %g ns out", m.ns_per_kib,
          m.ns_per_kib_out);
    CHECK(m.call_us == 0 && m.rows == COUNT, "%zu rows", m.rows);
}

static const struct suite_test tests[] = {
    {"rows are modelled or refused with a reason", test_what_is_modelled},
    {"lattices are modelled or refused with a reason", test_lattices},
    {"language models are runs of all their tokens", test_language_models},
    {"times respect the bandwidth and the peak", test_bounds},
    {"no product and no stream is faster than the hardware could be", test_limits},
    {"frameworks add their overhead", test_overheads},
    {"equal validations give equal reports", test_report},
    {"overheads name the rows that they were measured by", test_overhead_table},
    {"versions of tables that do not state them are inferred", test_versions},
    {"the smallest operations measure a call", test_measured_calls},
    {"streams measure copies in and out", test_measured_copies},
};
SUITE_MAIN("validate_hw", tests)
