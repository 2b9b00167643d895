/* GPU launches as `orchard run` makes them: results do not depend on threads, detail or chip; times add up; faults are reported
 * with place and cause.
 */
#include "isa/array_count.h"
#include "tests/sim/agx_example.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char folder[] = "/tmp/orchard-gpu-XXXXXX";
static struct chip_db *db;

/* Writes NAME/abi.json with this code and description. Returns the path of the folder. */
static const char *make_kernel(const char *name, const char *code, const char *rest)
{
    static char path[256];
    char text[2048];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    mkdir(path, 0777);
    example_write(path, "code.s", code, strlen(code));
    const int size = snprintf(text, sizeof text, "{\"files\":{\"code\":\"code.s\"},%s}", rest);
    example_write(path, "abi.json", text, (size_t)size);
    return path;
}

static const char *scale(unsigned groups)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "\"launch\":{\"threadgroups\":[%u]},\"args\":[{\"name\":\"xs\",\"dtype\":\"f32\",\"count\":%u,\"initial\":"
        "\"f32 seed "
        "1\",\"expected\":\"unchanged\"},{\"name\":\"ys\",\"dtype\":\"f32\",\"count\":%u},{\"name\":\"factor\",\"value\":2}]",
        groups, 32 * groups, 32 * groups);
    return make_kernel("scale", example_scale, text);
}

static void test_threads(void)
{
    const struct run_request one = {.mode = RUN_FUNCTIONAL, .threads = 1}, many = {.mode = RUN_FUNCTIONAL, .threads = 7};
    const char *kernels[] = {"histogram", "sgemm_tiled", "stencil5"};
    for (size_t i = 0; i < 3; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", suite_golden("agx/kernels"), kernels[i]);
        struct outcome a = run_on(db, "m1", path, one), b = run_on(db, "m2-ultra", path, many);
        CHECK(a.ok && b.ok, "%s%s", a.error.text, b.error.text);
        CU_ASSERT_TRUE(a.result.checksum.count > 0 && a.result.checksum.count == b.result.checksum.count);
        for (size_t k = 0; k < a.result.checksum.count && k < b.result.checksum.count; k++)
            CU_ASSERT_EQUAL(a.result.checksum.item[k].fnv1a64, b.result.checksum.item[k].fnv1a64);
        CU_ASSERT_EQUAL(counter(&a, "gpu.simdgroup_instructions"), counter(&b, "gpu.simdgroup_instructions"));
        CU_ASSERT_EQUAL(counter(&a, "gpu.active_lane_instructions"), counter(&b, "gpu.active_lane_instructions"));
        CU_ASSERT_EQUAL(counter(&a, RUN_COUNTER_EXPECTED), counter(&a, RUN_COUNTER_AS_EXPECTED));
        CU_ASSERT_TRUE(isnan(a.result.seconds));
        run_result_free(&a.result);
        run_result_free(&b.result);
    }
}

static void test_adds_up(void)
{
    struct outcome o = run_on(db, "m1", scale(64), (struct run_request){.mode = RUN_FULL, .detail = "instr"});
    double sum = 0;
    CHECK(o.ok, "%s", o.error.text);
    for (size_t i = 0; i < o.result.stalls.count; i++)
        sum += o.result.stalls.item[i].value;
    CU_ASSERT_DOUBLE_EQUAL(sum, 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(o.result.seconds, o.result.device_seconds + o.result.overhead_seconds, 1e-12);
    CU_ASSERT_TRUE(o.result.device_seconds > 0 && o.result.overhead_seconds > 0);
    CU_ASSERT_TRUE(o.result.seconds_low <= o.result.seconds && o.result.seconds <= o.result.seconds_high);
    CU_ASSERT_EQUAL(o.result.flops, 64 * 32);
    CU_ASSERT_EQUAL(counter(&o, "gpu.simdgroup_instructions"), 64 * 6);
    CU_ASSERT_EQUAL(counter(&o, "gpu.fmul32"), 64);
    CU_ASSERT_STRING_EQUAL(o.result.unit, "gpu");
    CU_ASSERT_STRING_EQUAL(o.result.detail, "instr");
    CU_ASSERT_TRUE(o.result.utilisation[PART_GPU] >= 0 && o.result.utilisation[PART_GPU] <= 1);
    run_result_free(&o.result);
}

/* The modes agree on what they share, and passes follow one another. */
static void test_modes(void)
{
    struct outcome full = run_on(db, "m1", scale(64), (struct run_request){.mode = RUN_FULL, .detail = "instr"});
    struct outcome timing = run_on(db, "m1", scale(64), (struct run_request){.mode = RUN_TIMING, .detail = "instr"});
    struct outcome twice = run_on(db, "m1", scale(64), (struct run_request){.mode = RUN_FULL, .detail = "instr", .repeat = 2});
    struct outcome cold = run_on(db, "m1", scale(64), (struct run_request){.mode = RUN_FULL, .detail = "instr", .cold = true});
    CU_ASSERT_EQUAL(full.result.seconds, timing.result.seconds);
    CU_ASSERT_EQUAL(counter(&full, "gpu.simdgroup_instructions"), counter(&timing, "gpu.simdgroup_instructions"));
    CU_ASSERT_EQUAL(timing.result.checksum.count, 0);
    CU_ASSERT_DOUBLE_EQUAL(twice.result.seconds, 2 * full.result.seconds, 0.01 * full.result.seconds);
    CU_ASSERT_EQUAL(counter(&twice, "gpu.simdgroup_instructions"), 2 * counter(&full, "gpu.simdgroup_instructions"));
    CU_ASSERT_EQUAL(checksum(&twice, "ys"), checksum(&full, "ys"));
    CU_ASSERT_EQUAL(checksum(&cold, "ys"), checksum(&full, "ys"));
    CU_ASSERT_TRUE(cold.result.device_seconds > full.result.device_seconds);
    CU_ASSERT_TRUE(cold.result.dram_bytes >= 2 * 64 * 32 * 4 * 0.5);
    run_result_free(&full.result);
    run_result_free(&timing.result);
    run_result_free(&twice.result);
    run_result_free(&cold.result);
}

/* A loop of multiply-adds that is longer in every second threadgroup, with enough threadgroups for a sample. */
static const char uneven[] = ".arg ys u64\n.local_size 256 1 1\n"
                             "mov_imm r0l, 0\n"
                             "get_sr r1, sr0\n"
                             "and r2, r1, 1\n"
                             "bfi r2, 0, r2, 4\n"
                             "iadd r2, r2, 16\n"
                             "mov_imm r3, 1065353216\n"
                             "mov_imm r4, 0\n"
                             "top:\n"
                             "fmadd32 r3, r3, r3, r3\n"
                             "iadd r4, r4, 1\n"
                             "while_icmp r0l, ult, r4, r2, 1\n"
                             "jmp_exec_any top\n"
                             "pop_exec r0l, 1\n"
                             "get_sr r5, sr80\n"
                             "device_store 0, i32, x, r3, ys, r5, unsigned, 0\n"
                             "stop\n";

static void test_sample(void)
{
    const char *path = make_kernel("uneven", uneven,
                                   "\"launch\":{\"threadgroups\":[40000]},\"args\":[{\"name\":\"ys\",\"dtype\":\"f32\","
                                   "\"count\":10240000}]");
    struct outcome all = run_on(db, "m1-7", path, (struct run_request){.mode = RUN_FULL, .detail = "instr"});
    struct outcome some = run_on(db, "m1-7", path, (struct run_request){.mode = RUN_FULL, .detail = "sampled"});
    struct outcome timing = run_on(db, "m1-7", path, (struct run_request){.mode = RUN_TIMING, .detail = "sampled"});
    CHECK(all.ok && some.ok && timing.ok, "%s%s%s", all.error.text, some.error.text, timing.error.text);
    if (!some.ok)
        return;
    CU_ASSERT_STRING_EQUAL(some.result.detail, "sampled");
    CU_ASSERT_EQUAL(checksum(&some, "ys"), checksum(&all, "ys"));
    CU_ASSERT_EQUAL(counter(&some, "gpu.simdgroup_instructions"), counter(&all, "gpu.simdgroup_instructions"));
    CHECK(fabs(some.result.device_seconds / all.result.device_seconds - 1) < 0.05, "%g against %g", some.result.device_seconds,
          all.result.device_seconds);
    CHECK(fabs(timing.result.device_seconds / all.result.device_seconds - 1) < 0.05, "%g against %g",
          timing.result.device_seconds, all.result.device_seconds);
    CHECK(fabs(some.result.flops / all.result.flops - 1) < 0.02, "%g against %g", some.result.flops, all.result.flops);
    run_result_free(&all.result);
    run_result_free(&some.result);
    run_result_free(&timing.result);
}

/* Bound by DRAM: the data are twice the system-level cache of M1. */
static void test_streaming_sample(void)
{
    struct outcome all = run_on(db, "m1", scale(65536), (struct run_request){.mode = RUN_TIMING, .detail = "instr"});
    struct outcome some = run_on(db, "m1", scale(65536), (struct run_request){.mode = RUN_TIMING, .detail = "sampled"});
    CHECK(all.ok && some.ok, "%s%s", all.error.text, some.error.text);
    CHECK(fabs(some.result.device_seconds / all.result.device_seconds - 1) < 0.1, "%g against %g", some.result.device_seconds,
          all.result.device_seconds);
    CHECK(fabs(some.result.dram_bytes / all.result.dram_bytes - 1) < 0.1, "%g against %g", some.result.dram_bytes,
          all.result.dram_bytes);
    run_result_free(&all.result);
    run_result_free(&some.result);
}

static void test_outputs(void)
{
    char npy[300], input[320];
    const char *path =
        make_kernel("scale", example_scale,
                    "\"launch\":{\"threadgroups\":[1]},\"args\":[{\"name\":\"xs\",\"dtype\":\"f32\",\"count\":32,"
                    "\"initial\":\"index\"},{\"name\":\"ys\",\"dtype\":\"f32\",\"count\":32,\"expected\":\"3*index\"},"
                    "{\"name\":\"factor\",\"value\":2}]");
    struct outcome o = run_on(db, "m1", path, (struct run_request){.mode = RUN_FUNCTIONAL, .output_folder = folder});
    CHECK(o.ok, "%s", o.error.text);
    CU_ASSERT_EQUAL(counter(&o, RUN_COUNTER_EXPECTED), 1);
    CU_ASSERT_EQUAL(counter(&o, RUN_COUNTER_AS_EXPECTED), 0);
    CHECK(strstr(o.remark, "ys: 31 of 32 elements differ, first [1]: got 2") != NULL, "%s", o.remark);
    run_result_free(&o.result);
    snprintf(npy, sizeof npy, "%s/ys.npy", folder);
    struct npy_array array;
    CU_ASSERT_TRUE(npy_load(npy, &array, &o.error));
    CU_ASSERT_EQUAL(array.count, 32);
    float third;
    memcpy(&third, array.data + 12, sizeof third);
    CU_ASSERT_EQUAL(third, 6);
    npy_release(&array);
    snprintf(input, sizeof input, "xs=%s", npy);
    const char *const inputs[] = {input};
    o = run_on(db, "m1", path,
               (struct run_request){.mode = RUN_FUNCTIONAL, .output_folder = folder, .inputs = inputs, .input_count = 1});
    CHECK(o.ok, "%s", o.error.text);
    CU_ASSERT_TRUE(isnan(counter(&o, RUN_COUNTER_EXPECTED)));
    CU_ASSERT_TRUE(npy_load(npy, &array, &o.error));
    memcpy(&third, array.data + 12, sizeof third);
    CU_ASSERT_EQUAL(third, 12);
    npy_release(&array);
    run_result_free(&o.result);
}

#define ONE                                                                                                                      \
    "\"launch\":{\"threads_per_threadgroup\":[32],\"threadgroups\":[1]},\"args\":[{\"name\":\"xs\",\"dtype\":\"f32\",\"count\":" \
    "8192}]"
#define START ".arg xs u64\n"

static void test_faults(void)
{
    static const struct {
        const char *name, *code;
        int exit_code;
        bool sanitize;
        const char *says[3];
    } rows[] = {
        {"bounds",
         START
         "get_sr r0, sr80\nmov_imm r2, 100000\niadd r0, r0, r2\ndevice_load 0, i32, x, r1, xs, r0, unsigned\nwait 0\nstop\n",
         ORCH_FAULT,
         false,
         {"pc 0x", "device_load", "element 100000 of buffer xs, which has 8192"}},
        {"null",
         ".arg xs u64\n.uniform zero u100 u64\nget_sr r0, sr80\ndevice_store 0, i32, x, r1, zero, r0, unsigned, 0\nstop\n",
         ORCH_FAULT,
         false,
         {"pc 0x", "device_store", "writes 0x0, which is not mapped; threadgroup 0,0,0"}},
        {"texture", START "texture_sample r0, r0, 0, 0\nstop\n", ORCH_USAGE, false, {"files.code", "code.s:2", ""}},
        {"trap", START "trap\n", ORCH_FAULT, false, {"pc 0x", "trap", ""}},
        {"early",
         START "get_sr r0, sr80\ndevice_load 0, i32, x, r1, xs, r0, unsigned\nfadd32 r1, r1, r1\nwait 0\nstop\n",
         ORCH_FAULT,
         true,
         {"--sanitize found", "", ""}},
        {"endless",
         START "get_sr r0, sr80\nmov_imm r2, 0\ntop: iadd r2, r2, r0\njmp_exec_any top\nstop\n",
         ORCH_FAULT,
         false,
         {"pc 0x", "iadd r2, r2, r0", "the limit of 100000 instructions of a simdgroup is reached"}},
    };
    for (size_t i = 0; i < 2 * ARRAY_COUNT(rows); i++) {
        const size_t row = i / 2;
        const struct run_request request = {
            .mode = i % 2 ? RUN_TIMING : RUN_FULL, .sanitize = rows[row].sanitize, .max_instructions = 100000};
        if (request.mode == RUN_TIMING && request.sanitize)
            continue; /* looks at values */
        const char *path = make_kernel(rows[row].name, rows[row].code, ONE);
        struct outcome o = run_on(db, "m1", path, request);
        CHECK(!o.ok && o.error.exit_code == rows[row].exit_code, "%s: exit code %d, %s", rows[row].name, o.error.exit_code,
              o.error.text);
        CHECK(!rows[row].sanitize || strstr(o.remark, "r1l is read before wait 0"), "%s", o.remark);
        for (int k = 0; k < 3; k++)
            CHECK(strstr(o.error.text, rows[row].says[k]) != NULL, "%s: %s", rows[row].name, o.error.text);
        CHECK(!strchr(o.error.text, '\n'), "%s", rows[row].name);
        run_result_free(&o.result);
    }
}

static void test_raw_code(void)
{
    static const struct {
        const char *hex_name;
        uint8_t code[10];
        size_t size;
        int exit_code;
        const char *says;
    } rows[] = {
        {"none", {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 8, ORCH_USAGE, "pc 0x0"},
        {"open", {0x62, 0, 0, 0}, 4, ORCH_USAGE, "leave the code"},
        {"doorbell", {0x20, 0xc0, 0, 0, 0, 0, 0x88, 0}, 8, ORCH_USAGE, ""},
    };
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/raw", folder);
        mkdir(path, 0777);
        example_write(path, "code.bin", rows[i].code, rows[i].size);
        static const char text[] =
            "{\"files\":{\"code\":\"code.bin\"},\"launch\":{\"threads_per_threadgroup\":[1],\"threadgroups\":[1]}}";
        example_write(path, "abi.json", text, sizeof text - 1);
        struct outcome o = run_on(db, "m1", path, (struct run_request){.mode = RUN_FULL});
        CHECK(!o.ok && o.error.exit_code == rows[i].exit_code && strstr(o.error.text, rows[i].says), "%s: %d %s",
              rows[i].hex_name, o.error.exit_code, o.error.text);
        run_result_free(&o.result);
    }
}

static void test_choices(void)
{
    static const struct {
        struct run_request request;
        int exit_code;
    } rows[] = {
        {{.unit = "amx"}, ORCH_USAGE},      {{.unit = "gpu"}, 0},       {{.detail = "op"}, ORCH_UNMODELLED},
        {{.precision = "f16"}, ORCH_USAGE}, {{.cores = 2}, ORCH_USAGE}, {{.entry = "main"}, ORCH_USAGE},
        {{.detail = "sampled"}, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct outcome o = run_on(db, "m1", scale(1), rows[i].request);
        CHECK(o.error.exit_code == rows[i].exit_code, "row %zu: %d %s", i, o.error.exit_code, o.error.text);
        run_result_free(&o.result);
    }
}

static void test_no_room(void)
{
    struct outcome o = run_on_set(db, "m1", "gpu_register_file_kB_per_core=8", "gemm:64x64x64",
                                  (struct run_request){.unit = "gpu", .mode = RUN_TIMING});
    CHECK(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, "fits a core: registers"), "%s", o.error.text);
    run_result_free(&o.result);
}

/* Operands with more elements than 31 bits count: their launches add up, and the host holds none of the contents. */
static void test_far_operands(void)
{
    const struct run_request request = {.unit = "gpu", .mode = RUN_TIMING};
    struct outcome small = run_on(db, "m1", "stream-triad:256M", request), large = run_on(db, "m1", "stream-triad:5G", request);
    struct rusage usage;
    CHECK(small.ok && large.ok, "%s%s", small.error.text, large.error.text);
    CHECK(fabs(large.result.device_seconds / small.result.device_seconds / 20 - 1) < 0.05, "20 x %g s became %g s",
          small.result.device_seconds, large.result.device_seconds);
    CHECK(fabs(large.result.dram_bytes / (15 * 0x1p30) - 1) < 0.05, "%g bytes of 15 GiB", large.result.dram_bytes);
    getrusage(RUSAGE_SELF, &usage);
    CHECK(usage.ru_maxrss < 1 << 20, "%ld KiB of the host's memory for buffers of 15 GiB", usage.ru_maxrss);
    run_result_free(&small.result);
    run_result_free(&large.result);
}

static void test_shapes_end_with_memory(void)
{
    static const char *const cases[][3] = {
        {"gemm:102400x102400x64", "needs 39.1 GiB of memory", "has 16 GiB"},
        {"stream-triad:6G", "needs 18.0 GiB of memory", "has 16 GiB"},
        {"softmax:3000000x2048", "needs 45.8 GiB of memory", "has 16 GiB"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct outcome o = run_on(db, "m1", cases[i][0], (struct run_request){.unit = "gpu", .mode = RUN_TIMING});
        CHECK(!o.ok && strstr(o.error.text, cases[i][1]) && strstr(o.error.text, cases[i][2]), "%s: %s", cases[i][0],
              o.error.text);
        run_result_free(&o.result);
    }
}

/* The library's longest list of arguments: heads whose parts of threadgroup memory all have addresses of their own. */
static void test_long_heads(void)
{
    static const char *const precisions[] = {"f32", "f16"};
    static const unsigned depths[] = {32, 80, 96, 128, 256};
    for (size_t i = 0; i < 2 * ARRAY_COUNT(depths); i++) {
        char workload[64];
        snprintf(workload, sizeof workload, "attention:h=4,s=70,d=%u,causal=1,kvh=2", depths[i / 2]);
        struct outcome o =
            run_on(db, "m1", workload, (struct run_request){.unit = "gpu", .precision = precisions[i % 2], .seed = 1});
        CHECK(o.ok, "%s: %s", workload, o.error.text);
        CU_ASSERT_TRUE(o.ok && o.result.device_seconds > 0 && o.result.checksum.count == 1);
        run_result_free(&o.result);
    }
}

/* Launches of which every threadgroup is timed play threadgroups that are alike; where every instruction is asked for, all are
 * executed. Both give the same to the last bit. */
static void test_played(void)
{
    static const struct {
        const char *workload, *precision;
        bool cold;
    } launch[] = {
        {"gemv:4096x256", "q8_0", true},              /* one axis */
        {"transpose:704x480", "f32", true},           /* two */
        {"elementwise:600000,op=gelu", "f32", false}, /* the last threadgroup is cut off */
    };
    for (size_t i = 0; i < ARRAY_COUNT(launch); i++) {
        struct run_request request = {
            .mode = RUN_TIMING, .precision = launch[i].precision, .cold = launch[i].cold, .unit = "gpu"};
        struct outcome played = run_on(db, "m1", launch[i].workload, request);
        request.detail = "instr";
        struct outcome executed = run_on(db, "m1", launch[i].workload, request);
        CHECK(played.ok && executed.ok, "%s: %s", launch[i].workload, played.error.text);
        CHECK(played.result.device_seconds == executed.result.device_seconds, "%s", launch[i].workload);
        static const char *const exact[] = {"gpu.simdgroup_instructions", "gpu.active_lane_instructions"};
        for (size_t k = 0; k < ARRAY_COUNT(exact); k++)
            CHECK(counter(&played, exact[k]) == counter(&executed, exact[k]), "%s: %s", launch[i].workload, exact[k]);
        run_result_free(&played.result);
        run_result_free(&executed.result);
    }
}

/* Launches of an operator: each with its time, all of them its own. */
static void test_times_of_launches(void)
{
    struct outcome o = run_on(db, "m1", "conv2d:n=1,c=3,h=16,w=16,k=8,r=3,s=3",
                              (struct run_request){.unit = "gpu", .kernels = "mlx@0.0.7", .mode = RUN_TIMING});
    double sum = 0;
    CHECK(o.ok && o.result.placement.count == 4, "%zu launches %s", o.result.placement.count, o.error.text);
    for (unsigned i = 0; o.ok && i < o.result.placement.count; i++) {
        char name[48];
        snprintf(name, sizeof name, RUN_COUNTER_STEP, i + 1);
        const double seconds = run_values_get(&o.result.counters, name);
        CHECK(seconds > 0, "%s: %g s", name, seconds);
        sum += seconds;
    }
    CHECK(fabs(sum / o.result.device_seconds - 1) < 1e-9, "%g s of %g", sum, o.result.device_seconds);
    run_result_free(&o.result);
}

static const struct suite_test tests[] = {
    {"launches of an operator have their times", test_times_of_launches},
    {"results and counts do not depend on threads or chip", test_threads},
    {"times, stalls and counts add up", test_adds_up},
    {"modes agree, repeats add up, cold caches cost time", test_modes},
    {"a sample of threadgroups stands for the whole", test_sample},
    {"a sample stands for the whole when DRAM is the limit", test_streaming_sample},
    {"outputs are compared, written and read", test_outputs},
    {"faults are reported with place and cause", test_faults},
    {"images that hold no code are refused", test_raw_code},
    {"options of other units are refused", test_choices},
    {"a launch that no core has room for is refused", test_no_room},
    {"operands beyond 2^31 elements are timed", test_far_operands},
    {"shapes end where the memory of the chip ends", test_shapes_end_with_memory},
    {"heads from 32 to 256 elements run", test_long_heads},
    {"threadgroups that are played take the time of those that are executed", test_played},
};

int main(void)
{
    struct orch_error error = {0};
    db = chip_db_open(NULL, &error);
    if (!db || !mkdtemp(folder))
        return 70;
    const int code = suite_run("gpu_run", tests, ARRAY_COUNT(tests));
    chip_db_close(db);
    return suite_remove(folder) ? code : 1;
}
