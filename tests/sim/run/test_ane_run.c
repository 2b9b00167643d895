/* Requests to the Neural Engine as `orchard run` makes them: results against sums in double precision, files in every shape,
 * times that add up, exit codes of what cannot run.
 */
#include "isa/array_count.h"
#include "sim/base/npy.h"
#include "tests/sim/run_example.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/orchard-ane-XXXXXX";
static struct chip_db *db;

static const char *in_folder(const char *name)
{
    static char path[4][128];
    static unsigned turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

/* Multiples of 1/256 in [-1, 1): exact in fp16. */
static double next_value(uint64_t *state)
{
    return (double)(suite_random(state) % 512) / 256 - 1;
}

static void save_floats(const char *name, const float *values, unsigned dims, const uint64_t *shape, bool fortran)
{
    struct orch_error error = {0};
    struct npy_array a = {.type = NPY_F32, .dims = dims, .fortran_order = fortran, .data = (const uint8_t *)values};
    memcpy(a.shape, shape, dims * sizeof *shape);
    CHECK(npy_measure(&a) && npy_save(in_folder(name), &a, &error), "%s", error.text);
}

static double half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023, sign = bits >> 15 ? -1 : 1;
    return exponent == 31 ? NAN : sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

/* ---- a convolution: 24 channels of 9 x 11 pixels to 20 channels, 3 x 3 weights ---- */

enum { C = 24, H = 9, W = 11, K = 20, TAPS = 9 };
#define CONV "conv2d:c=24,h=9,w=11,k=20,pad=1"
static float image[C * H * W], weights[K * C * TAPS];

static void make_convolution(void)
{
    const uint64_t shape[4] = {1, C, H, W}, weight_shape[4] = {K, C, 3, 3};
    uint64_t state = 7;
    for (size_t i = 0; i < C * H * W; i++)
        image[i] = (float)next_value(&state);
    for (size_t i = 0; i < K * C * TAPS; i++)
        weights[i] = (float)(next_value(&state) / 8);
    save_floats("x.npy", image, 4, shape, false);
    save_floats("w.npy", weights, 4, weight_shape, false);
}

static double convolved(unsigned k, unsigned y, unsigned x, double *magnitude)
{
    double sum = 0;
    *magnitude = 0;
    for (unsigned c = 0; c < C; c++)
        for (unsigned tap = 0; tap < TAPS; tap++) {
            const unsigned row = y + tap / 3 - 1, column = x + tap % 3 - 1;
            if (row >= H || column >= W)
                continue;
            const double product = (double)image[(c * H + row) * W + column] * (double)weights[(k * C + c) * TAPS + tap];
            sum += product;
            *magnitude += fabs(product);
        }
    return sum;
}

static void test_convolution(void)
{
    char x[160], w[160];
    struct orch_error error = {0};
    struct npy_array out;
    make_convolution();
    snprintf(x, sizeof x, "x=%s", in_folder("x.npy"));
    snprintf(w, sizeof w, "weights=%s", in_folder("w.npy"));
    const char *const inputs[] = {x, w};
    const struct run_request q = {
        .unit = "ane", .inputs = inputs, .input_count = 2, .output_folder = in_folder("out"), .threads = 2};
    struct outcome o = run_on(db, "m1", CONV, q);
    CHECK(o.ok, "%s", o.error.text);
    CHECK(npy_load(in_folder("out/out.npy"), &out, &error), "%s", error.text);
    CU_ASSERT_EQUAL(out.type, NPY_F16);
    CU_ASSERT(out.dims == 4 && out.shape[0] == 1 && out.shape[1] == K && out.shape[2] == H && out.shape[3] == W);
    for (unsigned i = 0; error.exit_code == 0 && i < K * H * W; i++) {
        double magnitude;
        uint16_t bits;
        const double want = convolved(i / (H * W), i / W % H, i % W, &magnitude);
        memcpy(&bits, out.data + 2 * i, 2);
        /* Twelve bits of the largest of four products, then one rounding. */
        if (!(fabs(half(bits) - want) <= 0x1p-10 * magnitude + 0x1p-11 * fabs(want)))
            CHECK(false, "element %u is %g, must be %g", i, half(bits), want);
    }
    CU_ASSERT_EQUAL(counter(&o, "ane.macs"), (double)K * C * TAPS * H * W);
    CU_ASSERT_EQUAL(o.result.macs, (double)K * C * TAPS * H * W);
    npy_release(&out);
    run_result_free(&o.result);
}

/* ---- a stack: three layers of 8 channels, 7 x 5 pixels, each followed by relu; two images take turns in tile memory ---- */

enum { LAYERS = 3, SC = 8, SH = 7, SW = 5 };
static float stack_weights[LAYERS * SC * SC * TAPS];

static void one_layer(const double *in, double *out, double *off, const float *w)
{
    for (unsigned i = 0; i < SC * SH * SW; i++) {
        const unsigned k = i / (SH * SW), y = i / SW % SH, x = i % SW;
        double sum = 0, magnitude = 0;
        for (unsigned c = 0; c < SC; c++)
            for (unsigned tap = 0; tap < TAPS; tap++) {
                const unsigned row = y + tap / 3 - 1, column = x + tap % 3 - 1;
                if (row >= SH || column >= SW)
                    continue;
                const double product = in[(c * SH + row) * SW + column] * (double)w[(k * SC + c) * TAPS + tap];
                sum += product;
                magnitude += fabs(product);
            }
        out[i] = fmax(sum, 0);
        *off = fmax(*off, 0x1p-10 * magnitude);
    }
}

static void test_stack(void)
{
    static float start[SC * SH * SW];
    static double image_of[2][SC * SH * SW];
    char x[160], w[160];
    struct orch_error error = {0};
    struct npy_array out;
    const uint64_t shape[3] = {SC, SH, SW}, weight_shape[5] = {LAYERS, SC, SC, 3, 3};
    uint64_t state = 9;
    double off = 0;
    for (size_t i = 0; i < SC * SH * SW; i++)
        image_of[0][i] = (double)(start[i] = (float)next_value(&state));
    for (size_t i = 0; i < LAYERS * SC * SC * TAPS; i++)
        stack_weights[i] = (float)(next_value(&state) / 8);
    save_floats("sx.npy", start, 3, shape, false);
    save_floats("sw.npy", stack_weights, 5, weight_shape, false);
    for (unsigned l = 0; l < LAYERS; l++)
        one_layer(image_of[l % 2], image_of[(l + 1) % 2], &off, stack_weights + l * SC * SC * TAPS);
    snprintf(x, sizeof x, "x=%s", in_folder("sx.npy"));
    snprintf(w, sizeof w, "weights=%s", in_folder("sw.npy"));
    const char *const inputs[] = {x, w};
    struct outcome o = run_on(db, "m1", "conv-stack:layers=3,c=8,h=7,w=5,act=relu",
                              (struct run_request){.inputs = inputs, .input_count = 2, .output_folder = in_folder("stack")});
    CHECK(o.ok, "%s", o.error.text);
    CHECK(npy_load(in_folder("stack/out.npy"), &out, &error), "%s", error.text);
    for (unsigned i = 0; error.exit_code == 0 && i < SC * SH * SW; i++) {
        uint16_t bits;
        memcpy(&bits, out.data + 2 * i, 2);
        /* Each layer adds the error of its sums. Weights of 1/16 on average carry earlier errors on. */
        if (!(fabs(half(bits) - image_of[LAYERS % 2][i]) <= 6 * off))
            CHECK(false, "element %u is %g, must be %g", i, half(bits), image_of[LAYERS % 2][i]);
    }
    CU_ASSERT_EQUAL(counter(&o, "ane.descriptors"), LAYERS);
    CU_ASSERT_EQUAL(o.result.macs, (double)LAYERS * SC * SC * TAPS * SH * SW);
    npy_release(&out);
    run_result_free(&o.result);
}

/* A flat array, three dimensions instead of four and Fortran order all give the same input. */
static void test_shapes_of_files(void)
{
    static float turned[C * H * W];
    char flat[160], bare[160], fortran[160], w[160], wrong[160];
    const uint64_t row[1] = {C * H * W}, three[3] = {C, H, W}, other[3] = {C, W, H};
    make_convolution();
    for (unsigned c = 0; c < C; c++)
        for (unsigned y = 0; y < H; y++)
            for (unsigned x = 0; x < W; x++)
                turned[c + C * (y + H * x)] = image[(c * H + y) * W + x];
    save_floats("flat.npy", image, 1, row, false);
    save_floats("bare.npy", image, 3, three, false);
    save_floats("fortran.npy", turned, 3, three, true);
    save_floats("wrong.npy", image, 3, other, false);
    snprintf(flat, sizeof flat, "x=%s", in_folder("flat.npy"));
    snprintf(bare, sizeof bare, "x=%s", in_folder("bare.npy"));
    snprintf(fortran, sizeof fortran, "x=%s", in_folder("fortran.npy"));
    snprintf(wrong, sizeof wrong, "x=%s", in_folder("wrong.npy"));
    snprintf(w, sizeof w, "weights=%s", in_folder("w.npy"));
    const char *const files[] = {flat, bare, fortran};
    uint64_t first = 0;
    for (size_t i = 0; i < 3; i++) {
        const char *const inputs[] = {files[i], w};
        struct outcome o = run_on(db, "m1", CONV, (struct run_request){.unit = "ane", .inputs = inputs, .input_count = 2});
        CHECK(o.ok, "%s: %s", files[i], o.error.text);
        first = i ? first : checksum(&o, "out");
        CU_ASSERT(first != 0 && checksum(&o, "out") == first);
        run_result_free(&o.result);
    }
    const char *const inputs[] = {wrong, w};
    struct outcome o = run_on(db, "m1", CONV, (struct run_request){.unit = "ane", .inputs = inputs, .input_count = 2});
    CU_ASSERT(!o.ok && o.error.exit_code == ORCH_USAGE);
    CHECK(strstr(o.error.text, "24x11x9") && strstr(o.error.text, "1x24x9x11"), "%s", o.error.text);
    run_result_free(&o.result);
}

/* ---- program files ---- */

/* The program uses two of three channels, weights 3, bias 1 (tests/golden/ane/README.md): 1 + 3 (a + b + c). */
static void test_program_file(void)
{
    const float values[3] = {0.5f, -2, 0.25f};
    const uint64_t shape[1] = {3};
    struct orch_error error = {0};
    struct npy_array out;
    char input[160];
    save_floats("image.npy", values, 1, shape, false);
    snprintf(input, sizeof input, "image=%s", in_folder("image.npy"));
    const char *const inputs[] = {input};
    struct outcome o = run_on(db, "m1", suite_golden("ane/tinygrad/golden.1dcaecacc4.hwx.gz"),
                              (struct run_request){.inputs = inputs, .input_count = 1, .output_folder = in_folder("ports")});
    CHECK(o.ok, "%s", o.error.text);
    CHECK(npy_load(in_folder("ports/probs@output.npy"), &out, &error), "%s", error.text);
    CU_ASSERT(out.count == 2 && out.dims == 3 && out.shape[0] == 2);
    for (unsigned i = 0; error.exit_code == 0 && i < 2; i++) {
        uint16_t bits;
        memcpy(&bits, out.data + 2 * i, 2);
        CU_ASSERT_EQUAL(half(bits), 1 + 3 * (0.5 - 2 + 0.25));
    }
    CU_ASSERT_STRING_EQUAL(o.result.unit, "ane");
    CU_ASSERT_STRING_EQUAL(o.result.placement.item[0].unit, "ane");
    CU_ASSERT_STRING_EQUAL(o.result.placement.item[0].op, "conv2d");
    npy_release(&out);
    run_result_free(&o.result);
}

/* A later chip runs the same program at its own pace, and says so. */
static void test_other_generation(void)
{
    struct outcome m1 =
        run_on(db, "m1", suite_golden("ane/eiln/activation_relu.bin.gz"), (struct run_request){.mode = RUN_TIMING});
    struct outcome m2 =
        run_on(db, "m2", suite_golden("ane/eiln/activation_relu.bin.gz"), (struct run_request){.mode = RUN_TIMING});
    bool told = false;
    CHECK(m1.ok && m2.ok, "%s%s", m1.error.text, m2.error.text);
    for (size_t i = 0; i < m2.result.assumptions.count; i++)
        told |= strcmp(m2.result.assumptions.item[i].key, "ane.generation") == 0;
    for (size_t i = 0; i < m1.result.assumptions.count; i++)
        CU_ASSERT_STRING_NOT_EQUAL(m1.result.assumptions.item[i].key, "ane.generation");
    CU_ASSERT(told && m2.result.seconds < m1.result.seconds);
    CU_ASSERT_EQUAL(counter(&m1, "ane.source_bytes"), 2560.0 * 1600 * 2);
    CU_ASSERT_EQUAL(counter(&m1, "ane.result_bytes"), 2560.0 * 1600 * 2);
    run_result_free(&m1.result);
    run_result_free(&m2.result);
}

/* ---- modes and time ---- */

static void test_results_do_not_depend(void)
{
    static const char *const kernels[] = {"gemm:70x50x90", "softmax:30x50", CONV, "conv-stack:layers=3,c=32,h=8,w=8",
                                          "elementwise:1000,op=tanh"};
    for (size_t i = 0; i < ARRAY_COUNT(kernels); i++) {
        struct outcome full = run_on(db, "m1", kernels[i], (struct run_request){.unit = "ane", .seed = 5});
        struct outcome bare = run_on(db, "m1-max", kernels[i],
                                     (struct run_request){.unit = "ane", .seed = 5, .mode = RUN_FUNCTIONAL, .threads = 5});
        struct outcome seed = run_on(db, "m1", kernels[i], (struct run_request){.unit = "ane", .seed = 6});
        CHECK(full.ok && bare.ok && seed.ok, "%s%s%s", full.error.text, bare.error.text, seed.error.text);
        CU_ASSERT(checksum(&full, "out") != 0);
        CU_ASSERT_EQUAL(checksum(&full, "out"), checksum(&bare, "out"));
        CU_ASSERT_NOT_EQUAL(checksum(&full, "out"), checksum(&seed, "out"));
        CU_ASSERT(isnan(bare.result.seconds) && full.result.seconds > 0);
        run_result_free(&full.result);
        run_result_free(&bare.result);
        run_result_free(&seed.result);
    }
}

static void test_adds_up(void)
{
    struct outcome once = run_on(db, "m1", CONV, (struct run_request){.unit = "ane", .mode = RUN_TIMING});
    struct outcome thrice = run_on(db, "m1", CONV, (struct run_request){.unit = "ane", .mode = RUN_TIMING, .repeat = 3});
    const struct run_result *r = &once.result;
    double sum = 0;
    CHECK(once.ok && thrice.ok, "%s%s", once.error.text, thrice.error.text);
    for (size_t i = 0; i < r->stalls.count; i++)
        sum += r->stalls.item[i].value;
    CU_ASSERT_DOUBLE_EQUAL(sum, 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(r->seconds, r->device_seconds + r->overhead_seconds, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r->overhead_seconds, 190e-6, 1e-9); /* ane.request_us */
    CU_ASSERT_DOUBLE_EQUAL(thrice.result.seconds, 3 * r->seconds, 1e-9 + 0.01 * r->device_seconds);
    CU_ASSERT_EQUAL(thrice.result.macs, 3 * r->macs);
    CU_ASSERT_EQUAL(r->native_mac_share, 1);
    CU_ASSERT(r->utilisation[PART_ANE] > 0 && r->utilisation[PART_ANE] < 1);
    CU_ASSERT(r->seconds_low < r->seconds && r->seconds < r->seconds_high);
    CU_ASSERT_EQUAL(r->checksum.count, 0);
    CU_ASSERT_STRING_EQUAL(r->bound_by, "ane.request");
    CU_ASSERT_EQUAL(counter(&once, "ane.coefficient_bytes"),
                    4 * 896 + 12 * 448); /* 432 bytes per channel in units of 64; four banks hold two channels each */
    run_result_free(&once.result);
    run_result_free(&thrice.result);
}

/* Smaller weights take less time where weights are the limit. Wide products are bound by the MAC engines. */
static void test_what_binds(void)
{
    struct outcome f16 =
        run_on(db, "m1", "gemv:2048x2048", (struct run_request){.unit = "ane", .mode = RUN_TIMING, .cold = true});
    struct outcome i4 = run_on(db, "m1", "gemv:2048x2048",
                               (struct run_request){.unit = "ane", .mode = RUN_TIMING, .cold = true, .precision = "i4"});
    struct outcome wide =
        run_on(db, "m1", "conv-stack:layers=8,c=256,h=64,w=64", (struct run_request){.unit = "ane", .mode = RUN_TIMING});
    CHECK(f16.ok && i4.ok && wide.ok, "%s%s%s", f16.error.text, i4.error.text, wide.error.text);
    CU_ASSERT_STRING_EQUAL(i4.result.precision, "i4");
    CU_ASSERT(i4.result.device_seconds < 0.4 * f16.result.device_seconds);
    CU_ASSERT_STRING_EQUAL(wide.result.bound_by, "ane.mac");
    CU_ASSERT(wide.result.gflops < 11698); /* 16 x 256 x 2 x 1.428 GHz */
    CU_ASSERT(wide.result.gflops > 5000);
    run_result_free(&f16.result);
    run_result_free(&i4.result);
    run_result_free(&wide.result);
}

/* ---- what cannot run ---- */

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *f = fopen(in_folder(name), "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static size_t read_golden(const char *name, uint8_t *bytes, size_t room)
{
    gzFile f = gzopen(suite_golden(name), "rb");
    const int size = f ? gzread(f, bytes, (unsigned)room) : -1;
    CU_ASSERT_FATAL(size > 0);
    gzclose(f);
    return (size_t)size;
}

static void refused(const char *workload, struct run_request q, int code, const char *text)
{
    struct outcome o = run_on(db, "m1", workload, q);
    CHECK(!o.ok && o.error.exit_code == code && strstr(o.error.text, text), "%s: exit %d: %s", workload, o.error.exit_code,
          o.error.text);
    run_result_free(&o.result);
}

static void test_bad_files(void)
{
    static uint8_t bytes[1 << 16], changed[1 << 16];
    const size_t size = read_golden("ane/tinygrad/golden.1dcaecacc4.hwx.gz", bytes, sizeof bytes);
    const struct run_request q = {.unit = "ane"};
    write_bytes("short.hwx", bytes, 0x4100);
    refused(in_folder("short.hwx"), q, ORCH_USAGE, "short.hwx");
    write_bytes("header.hwx", bytes, 40);
    refused(in_folder("header.hwx"), q, ORCH_USAGE, "header.hwx");
    memcpy(changed, bytes, size);
    changed[0x4000 + 0x28 + 3] ^= 0x40; /* the first packet's number of words */
    write_bytes("packet.hwx", changed, size);
    refused(in_folder("packet.hwx"), q, ORCH_USAGE, "packet.hwx");
    changed[8] = 5; /* the same in a container of H14, whose descriptors have another layout */
    write_bytes("h14.hwx", changed, size);
    refused(in_folder("h14.hwx"), q, ORCH_UNMODELLED, "h14.hwx");
    const uint8_t gzip[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b};
    write_bytes("cut.gz", gzip, sizeof gzip);
    refused(in_folder("cut.gz"), q, ORCH_USAGE, "gzip");
    refused(in_folder("nothing.hwx"), q, ORCH_USAGE, "nothing.hwx");
}

/* Five descriptors, of which the last but one leads back to the first. */
static void test_loop(void)
{
    static uint8_t bytes[1 << 16];
    const size_t size = read_golden("ane/eiln/activation_softmax.bin.gz", bytes, sizeof bytes);
    const uint32_t back = 0x300;
    memcpy(bytes + 3 * 0x300 + 0x1c, &back, 4);
    write_bytes("loop.bin", bytes, size);
    refused(in_folder("loop.bin"), (struct run_request){.unit = "ane"}, ORCH_USAGE, "loop.bin");
}

static void test_exit_codes(void)
{
    const char *const nothing[] = {"x=/nowhere/x.npy"}, *const unknown[] = {"y=/nowhere/y.npy"}, *const malformed[] = {"x"};
    const char *softmax = suite_golden("ane/eiln/activation_softmax.bin.gz");
    const struct run_request ane = {.unit = "ane"};
    refused(CONV, (struct run_request){.unit = "ane", .inputs = nothing, .input_count = 1}, ORCH_USAGE, "/nowhere/x.npy");
    refused(CONV, (struct run_request){.unit = "ane", .inputs = unknown, .input_count = 1}, ORCH_USAGE, "x, weights");
    refused(CONV, (struct run_request){.unit = "ane", .inputs = malformed, .input_count = 1}, ORCH_USAGE, "NAME=FILE");
    refused("conv2d:c=4,h=64,w=64,k=4,r=31,s=31", ane, ORCH_UNMODELLED, "29x29");
    refused("conv2d:c=4,h=64,w=64,k=4,r=0", ane, ORCH_USAGE, "r");
    refused("conv2d:c=4,h=64,w=64,kk=4", ane, ORCH_USAGE, "no option 'kk'");
    refused("gemm:64x64x64", (struct run_request){.unit = "ane", .precision = "f32"}, ORCH_USAGE, "f32");
    refused("conv-stack:layers=2,c=4,h=4,w=4", (struct run_request){.unit = "amx"}, ORCH_UNMODELLED, "the ane has");
    refused("gemm:64x64x64", (struct run_request){.unit = "ane", .cores = 2}, ORCH_USAGE, "--cores");
    refused("gemm:64x64x64", (struct run_request){.unit = "ane", .detail = "sampled"}, ORCH_UNMODELLED, "--detail");
    refused(softmax, (struct run_request){.unit = "gpu"}, ORCH_USAGE, "runs on the ane");
    refused(softmax, (struct run_request){.precision = "f16"}, ORCH_USAGE, "its own element types");
}

/* Without the second descriptor nothing fills the ring that the third one reads. */
static void test_fault(void)
{
    static uint8_t bytes[1 << 16];
    const size_t size = read_golden("ane/eiln/activation_softmax.bin.gz", bytes, sizeof bytes);
    const uint32_t third = 2 * 0x300;
    memcpy(bytes + 0x1c, &third, 4);
    write_bytes("fault.bin", bytes, size);
    refused(in_folder("fault.bin"), (struct run_request){.unit = "ane"}, ORCH_FAULT, "descriptor 2 of 4 (at 0x600)");
}

int main(void)
{
    static const struct suite_test tests[] = {
        {"a convolution with given weights is exact up to its rounding", test_convolution},
        {"a stack of layers is exact up to its rounding", test_stack},
        {"input files may have any shape and order", test_shapes_of_files},
        {"a program file has named ports", test_program_file},
        {"a program of another generation runs", test_other_generation},
        {"results depend on the seed alone", test_results_do_not_depend},
        {"times add up", test_adds_up},
        {"the limit is weights or MAC engines", test_what_binds},
        {"bad files are refused", test_bad_files},
        {"a chain that loops is refused", test_loop},
        {"a fault names its descriptor", test_fault},
        {"wrong requests have exit codes", test_exit_codes},
    };
    struct orch_error error = {0};
    db = mkdtemp(folder) ? chip_db_open(ORCHARD_SOURCE_DIR "/sim/chips", &error) : NULL;
    if (!db)
        printf("%s\n", error.text);
    const int code = db ? suite_run("ane_run", tests, ARRAY_COUNT(tests)) : 1;
    chip_db_close(db);
    return suite_remove(folder) ? code : 1;
}
