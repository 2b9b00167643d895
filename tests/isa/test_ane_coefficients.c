/* Coefficient banks: the weights of public programs, and every format packed and unpacked. */
#include "isa/ane/ane_coefficients.h"
#include "isa/ane/ane_bank.h"
#include "isa/ane/ane_half.h"
#include "isa/array_count.h"
#include "tests/isa/ane_golden.h"

#include <math.h>
#include <string.h>

enum { CONST_OFFSET = ANE_GOLDEN_HWX_TEXT + 0x280 };

static struct ane_task convolution(uint32_t in, uint32_t out, uint32_t kernel, uint32_t engines)
{
    return (struct ane_task){.engine = ANE_ENGINE_NE,
                             .ne_op = ANE_NE_CONVOLUTION,
                             .channels_in = in,
                             .channels_out = out,
                             .groups = 1,
                             .kernel_width = kernel,
                             .kernel_height = kernel,
                             .engines = engines,
                             .kernel_format = ANE_KERNEL_F16};
}

/* Banks as the descriptor at the start of a public container names them. */
static void read_banks(const uint8_t *bytes, struct ane_task *task)
{
    for (unsigned k = 0; k < ANE_BANKS; k++)
        task->bank[k] = (struct ane_bank){.enabled = ane_golden_word(bytes, ANE_GOLDEN_HWX_TEXT + 0x34 + 4 * k) & 1,
                                          .base = ane_golden_word(bytes, ANE_GOLDEN_HWX_TEXT + 0x74 + 4 * k),
                                          .bytes = ane_golden_word(bytes, ANE_GOLDEN_HWX_TEXT + 0xb4 + 4 * k)};
}

static bool unpack_golden(const char *file, struct ane_task *task, struct ane_weights *weights)
{
    struct isa_error error = {.text = ""};
    size_t size;
    uint8_t *bytes = ane_golden_read(file, &size);
    if (!bytes)
        return false;
    read_banks(bytes, task);
    const bool ok = ane_weights_unpack(task, bytes + CONST_OFFSET, size - CONST_OFFSET, weights, &error);
    CHECK(ok, "%s: %s", file, error.text);
    free(bytes);
    return ok;
}

static void test_public_weights(void)
{
    struct ane_task task = convolution(3, 3, 1, 4);
    struct ane_weights weights;
    if (unpack_golden("tinygrad/conv.ff52f832dc.hwx.gz", &task, &weights)) {
        for (uint16_t i = 0; i < 9; i++) /* bit patterns 0..8 */
            CU_ASSERT_EQUAL(weights.weight[i], i);
        CU_ASSERT(weights.nonzero == 8 && weights.bias == NULL && weights.channels == 3 && weights.per_channel == 3);
        ane_weights_free(&weights);
    }
    task = convolution(64, 64, 1, 16);
    if (unpack_golden("tinygrad/gemm.73ae6d7821.hwx.gz", &task, &weights)) {
        CU_ASSERT(weights.nonzero == 0 && weights.channels == 64 && weights.per_channel == 64);
        ane_weights_free(&weights);
    }
}

static void test_public_bias(void)
{
    struct ane_task task = convolution(3, 2, 1, 2);
    struct ane_weights weights;
    task.bias = true;
    if (!unpack_golden("tinygrad/golden.1dcaecacc4.hwx.gz", &task, &weights))
        return;
    for (unsigned i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(ane_half_value(weights.weight[i]), 3);
    CU_ASSERT(ane_half_value(weights.bias[0]) == 1 && ane_half_value(weights.bias[1]) == 1);
    ane_weights_free(&weights);
}

/* A public program's weights pack into the bytes that Apple's compiler wrote. */
static void check_packs_as_public(const char *file, struct ane_task task)
{
    struct ane_weights weights;
    struct ane_pack pack = {.used = 0};
    struct isa_error error = {.text = ""};
    size_t size;
    if (!unpack_golden(file, &task, &weights))
        return;
    uint8_t *bytes = ane_golden_read(file, &size);
    const struct ane_task apple = task;
    CHECK(ane_weights_pack(&task, weights.weight, weights.bias, &pack, &error), "%s: %s", file, error.text);
    if (bytes && pack.bytes)
        CHECK(memcmp(bytes + CONST_OFFSET, pack.bytes, pack.used) == 0, "%s: other bytes", file);
    for (unsigned k = 0; k < ANE_BANKS; k++)
        CHECK(
            task.bank[k].enabled == apple.bank[k].enabled &&
                (!task.bank[k].enabled || (task.bank[k].base == apple.bank[k].base && task.bank[k].bytes == apple.bank[k].bytes)),
            "%s: bank %u", file, k);
    free(bytes);
    free(pack.bytes);
    ane_weights_free(&weights);
}

static void test_packs_as_the_compiler(void)
{
    struct ane_task with_bias = convolution(3, 2, 1, 2);
    with_bias.bias = true;
    check_packs_as_public("tinygrad/conv.ff52f832dc.hwx.gz", convolution(3, 3, 1, 4));
    check_packs_as_public("tinygrad/gemm.73ae6d7821.hwx.gz", convolution(64, 64, 1, 16));
    check_packs_as_public("tinygrad/golden.1dcaecacc4.hwx.gz", with_bias);
}

/* Weights that the format can hold: few values for palettes, whole numbers for 8 bits, some zeros. */
static uint16_t some_weight(const struct ane_task *task, uint64_t *seed)
{
    const uint64_t r = suite_random(seed);
    if (task->sparse && r % 3)
        return 0;
    if (task->palette_bits) {
        const uint64_t values = UINT64_C(1) << task->palette_bits; /* zeros that are left out need no value */
        return ane_half_bits(0.25 * (double)(1 + (r >> 8) % values));
    }
    if (task->kernel_format == ANE_KERNEL_I8)
        return ane_half_bits((double)((int)(r >> 8 & 255) - 128));
    if (task->kernel_format == ANE_KERNEL_U8)
        return ane_half_bits((double)(r >> 8 & 255));
    const uint16_t bits = (uint16_t)(r >> 8);
    return task->sparse && (bits & 0x7fff) == 0 ? 1 : bits;
}

static size_t weight_count(const struct ane_task *task)
{
    const size_t inputs = task->depthwise ? 1 : task->channels_in / task->groups;
    return task->channels_out * inputs * task->kernel_width * task->kernel_height;
}

/* Weights without values have the banks that weights with values have. */
static void check_reserves_the_same(const struct ane_task *packed, bool with_bias, size_t used)
{
    struct ane_task task = *packed;
    struct ane_pack pack = {.used = 0};
    struct isa_error error = {.text = ""};
    memset(task.bank, 0, sizeof task.bank);
    task.bias = with_bias;
    CHECK(ane_weights_reserve(&task, &pack, &error), "%s", error.text);
    CU_ASSERT(pack.used == used && memcmp(task.bank, packed->bank, sizeof task.bank) == 0);
    free(pack.bytes);
}

static void check_round_trip(struct ane_task task, bool with_bias, uint64_t seed)
{
    const size_t count = weight_count(&task);
    uint16_t *weight = malloc(count * sizeof *weight), *bias = malloc(task.channels_out * sizeof *bias);
    struct ane_pack pack = {.used = 0};
    struct ane_weights back = {.nonzero = 0};
    struct isa_error error = {.text = ""};
    for (size_t i = 0; i < count; i++)
        weight[i] = some_weight(&task, &seed);
    for (size_t i = 0; i < task.channels_out; i++)
        bias[i] = (uint16_t)suite_random(&seed);
    const bool packed = ane_weights_pack(&task, weight, with_bias ? bias : NULL, &pack, &error);
    const bool ok = packed && ane_weights_unpack(&task, pack.bytes, pack.used, &back, &error);
    CHECK(ok, "%u to %u, %u bits: %s", task.channels_in, task.channels_out, task.palette_bits, error.text);
    if (ok) {
        CHECK(memcmp(back.weight, weight, count * sizeof *weight) == 0, "%u to %u channels, palette %u, format %d, sparse %d",
              task.channels_in, task.channels_out, task.palette_bits, (int)task.kernel_format, task.sparse);
        CU_ASSERT((back.bias != NULL) == with_bias && (!with_bias || memcmp(back.bias, bias, 2 * task.channels_out) == 0));
        CU_ASSERT(pack.used % 64 == 0 && back.per_channel * back.channels == count);
        if (!task.sparse)
            check_reserves_the_same(&task, with_bias, pack.used);
    }
    ane_weights_free(&back);
    free(pack.bytes);
    free(weight);
    free(bias);
}

static void each_shape(struct ane_task format)
{
    static const struct {
        uint32_t in, out, kernel, groups, engines;
        bool depthwise;
        uint32_t group_log2, stride;
    } shapes[] = {{3, 3, 1, 1, 4, false, 0, 1},     {5, 40, 3, 1, 16, false, 1, 2}, {64, 64, 1, 1, 16, false, 2, 2},
                  {24, 36, 3, 4, 8, false, 3, 3},   {32, 32, 5, 1, 16, true, 5, 1}, {7, 7, 3, 7, 1, false, 0, 2},
                  {512, 16, 1, 1, 16, false, 7, 1}, {3, 100, 4, 1, 4, false, 4, 2}};
    for (unsigned i = 0; i < ARRAY_COUNT(shapes); i++) {
        struct ane_task task = convolution(shapes[i].in, shapes[i].out, shapes[i].kernel, shapes[i].engines);
        task.groups = shapes[i].groups;
        task.depthwise = shapes[i].depthwise;
        task.channel_group_log2 = shapes[i].group_log2;
        task.stride_x = shapes[i].stride;
        task.stride_y = 1 + i % 3;
        task.small_source = i % 2;
        task.kernel_format = format.kernel_format;
        task.palette_bits = format.palette_bits;
        task.sparse = format.sparse;
        check_round_trip(task, false, i + 1);
        check_round_trip(task, true, i + 100);
    }
}

static void test_dense(void)
{
    each_shape((struct ane_task){.kernel_format = ANE_KERNEL_F16});
    each_shape((struct ane_task){.kernel_format = ANE_KERNEL_I8});
    each_shape((struct ane_task){.kernel_format = ANE_KERNEL_U8});
}

/* Every fp16 value finds the nearest of the codebook, as comparing it with each entry does. */
static void test_nearest_of_palette(void)
{
    static const uint32_t bits[] = {1, 2, 4, 6, 8};
    uint16_t weight[3000], codebook[256];
    struct ane_palette palette;
    uint64_t seed = 11;
    for (size_t i = 0; i < ARRAY_COUNT(weight); i++)
        weight[i] = ane_half_bits((double)(int)(suite_random(&seed) >> 44 & 0xfffff) * 0x1p-16 - 8);
    for (unsigned b = 0; b < 2 * ARRAY_COUNT(bits); b++) {
        const unsigned n = bits[b / 2], count = b % 2 ? ARRAY_COUNT(weight) : 3; /* with few weights, values repeat */
        CU_ASSERT_FATAL(ane_palette_choose(weight, count, true, n, codebook));
        ane_palette_prepare(&palette, codebook, n);
        unsigned wrong = 0;
        for (uint32_t w = 0; w < 0x10000; w++) {
            const double value = ane_half_value((uint16_t)w);
            if (!isfinite(value))
                continue;
            double nearest = ane_half_value(codebook[0]);
            for (unsigned i = 1; i < 1u << n; i++) {
                const double other = ane_half_value(codebook[i]), far = fabs(nearest - value);
                if (fabs(other - value) < far || (fabs(other - value) == far && other > nearest))
                    nearest = other;
            }
            const unsigned at = ane_palette_index(&palette, (uint16_t)w);
            wrong += at >> n != 0 || ane_half_value(codebook[at]) != nearest;
        }
        CHECK(wrong == 0, "%u bits, %u weights: %u wrong", n, count, wrong);
    }
}

static void test_palette(void)
{
    static const uint32_t bits[] = {1, 2, 4, 6, 8};
    for (unsigned i = 0; i < 5; i++) {
        each_shape((struct ane_task){.kernel_format = ANE_KERNEL_F16, .palette_bits = bits[i]});
        each_shape((struct ane_task){.kernel_format = ANE_KERNEL_F16, .palette_bits = bits[i], .sparse = true});
    }
}

static void test_sparse(void)
{
    each_shape((struct ane_task){.kernel_format = ANE_KERNEL_F16, .sparse = true});
    each_shape((struct ane_task){.kernel_format = ANE_KERNEL_I8, .sparse = true});
}

/* The sizes of the formats, counted by hand. With 512 inputs and 16 outputs there is one channel in each bank. */
static void check_bank_bytes(struct ane_task task, uint32_t expected)
{
    static uint16_t weight[512 * 16];
    struct ane_pack pack = {.used = 0};
    struct isa_error error = {.text = ""};
    uint64_t seed = 5;
    for (size_t i = 0; i < 512 * 16; i++)
        weight[i] = i % 4 ? 0 : some_weight(&task, &seed) | 1;
    CHECK(ane_weights_pack(&task, weight, NULL, &pack, &error), "%s", error.text);
    CHECK(task.bank[0].bytes == expected && task.bank[1].base == expected, "%u bytes, not %u", task.bank[0].bytes, expected);
    free(pack.bytes);
}

static void test_bank_sizes(void)
{
    struct ane_task task = convolution(512, 16, 1, 16);
    check_bank_bytes(task, 1024);
    task.sparse = true;
    check_bank_bytes(task, 448); /* 3 bytes of length, two bits for each of 512, 128 values: 387 */
    task.sparse = false;
    task.palette_bits = 4;
    check_bank_bytes(task, 32 + 256 + 32); /* codebook and indices, rounded up to 64 */
    task.palette_bits = 8;
    check_bank_bytes(task, 512 + 512);
}

/* More values than a codebook holds: every weight comes back as the nearest centre, and the error is near the optimum for evenly
 * spread weights (1 / (2 * 16) of the range at most, 1 / (4 * 16) on average). */
static void test_clusters(void)
{
    enum { COUNT = 64 * 64 };
    static uint16_t weight[COUNT];
    struct ane_task task = convolution(64, 64, 1, 16);
    struct ane_pack pack = {.used = 0};
    struct ane_weights back = {.nonzero = 0};
    struct isa_error error = {.text = ""};
    double sum = 0, worst = 0;
    uint64_t seed = 3;
    task.palette_bits = 4;
    for (unsigned i = 0; i < COUNT; i++)
        weight[i] = ane_half_bits((double)(suite_random(&seed) >> 11) * 0x1p-53);
    CU_ASSERT(ane_weights_pack(&task, weight, NULL, &pack, &error));
    CU_ASSERT(ane_weights_unpack(&task, pack.bytes, pack.used, &back, &error));
    for (unsigned i = 0; back.weight && i < COUNT; i++) {
        const double apart = fabs(ane_half_value(weight[i]) - ane_half_value(back.weight[i]));
        worst = fmax(worst, apart);
        sum += apart;
    }
    CHECK(worst < 0.045 && sum / COUNT < 0.018 && sum > 0, "worst %g, mean %g", worst, sum / COUNT);
    ane_weights_free(&back);
    free(pack.bytes);
}

static void refused(struct ane_task task, const uint8_t *bytes, size_t size, const char *why)
{
    struct ane_weights weights;
    struct isa_error error = {.text = ""};
    CHECK(!ane_weights_unpack(&task, bytes, size, &weights, &error) && strstr(error.text, why), "%s: %s", why, error.text);
    CU_ASSERT(weights.weight == NULL && weights.bias == NULL);
}

static void test_refusals(void)
{
    static const uint8_t bytes[128] = {0xff, 0xff, 0xff, 0xff};
    struct ane_task task = convolution(32, 1, 1, 1);
    refused(task, bytes, sizeof bytes, "off");
    task.bank[0] = (struct ane_bank){true, 0, 64};
    refused(task, bytes, 32, "shorter");
    task.channels_in = 33;
    refused(task, bytes, sizeof bytes, "shorter");
    task.sparse = true; /* 0xffffff bytes of masks and values */
    refused(task, bytes, sizeof bytes, "masks");
    task.channels_in = 32 * 8; /* two bits for each */
    refused(task, bytes, sizeof bytes, "67 bytes");
    task.channels_in = 33;
    task.bank[0].base = 0x80000000u;
    refused(task, bytes, sizeof bytes, "shorter");
    task.palette_bits = 3;
    refused(task, bytes, sizeof bytes, "palette of 3 bits");
    task.palette_bits = 0;
    task.groups = 2;
    refused(task, bytes, sizeof bytes, "groups");
    task.ne_op = ANE_NE_ELEMENT;
    refused(task, bytes, sizeof bytes, "no convolution");
}

static void test_weights_beyond_the_format(void)
{
    struct ane_task task = convolution(1, 1, 1, 1);
    struct ane_pack pack = {.used = 0};
    struct isa_error error = {.text = ""};
    const uint16_t half = 0x3800, infinite = 0x7c00;
    task.kernel_format = ANE_KERNEL_I8;
    CU_ASSERT(!ane_weights_pack(&task, &half, NULL, &pack, &error) && strstr(error.text, "0.5"));
    task.kernel_format = ANE_KERNEL_F16;
    task.palette_bits = 4;
    CU_ASSERT(!ane_weights_pack(&task, &infinite, NULL, &pack, &error) && strstr(error.text, "palette"));
    CU_ASSERT_PTR_NULL(pack.bytes);
}

static const struct suite_test tests[] = {
    {"weights of public programs", test_public_weights},
    {"bias of a public program", test_public_bias},
    {"packs the compiler's bytes", test_packs_as_the_compiler},
    {"dense formats there and back", test_dense},
    {"the nearest value of a palette", test_nearest_of_palette},
    {"palettes there and back", test_palette},
    {"sparse weights there and back", test_sparse},
    {"sizes of banks", test_bank_sizes},
    {"too many values become clusters", test_clusters},
    {"banks that are too short are refused", test_refusals},
    {"weights that a format cannot hold are refused", test_weights_beyond_the_format},
};
SUITE_MAIN("ane_coefficients", tests)
