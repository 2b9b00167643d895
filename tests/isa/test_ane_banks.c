/* The order of weights in coefficient banks, against what Apple's compiler made of known weights for M1: SHA-256 of whole
 * coefficient sections and some bytes, from the records of joshuaswarren/mil-hwx-compiler (research/oracles/h13). */
#include "isa/ane/ane_coefficients.h"
#include "isa/array_count.h"
#include "sim/base/content_hash.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record {
    const char *name, *sha256;
    size_t bytes;
    uint32_t in, out, kernel, stride, groups, group_log2; /* OCGSize */
    bool depthwise, small_source, bias;
    uint16_t value; /* of the weights behind the file's header */
};

/* SparseFmt is set in all records of stride 2. */
static const struct record records[] = {
    {"conv_known_k1_c64_n768_s16_st1_g1_bias1_same", "8c76843cbcd76b3b1b23faac151883af724de1b5f92df82cf05b8c4cd583b6e3", 100352,
     64, 768, 1, 1, 1, 4, false, false, true, 0x3801},
    {"conv_known_k1_c64_n1024_s16_st1_g1_bias0_same", "e31984cc3fe5c94bc7c0a718f3c05f2c0b52098b321f0dba12dd8e4bb91ee100", 131072,
     64, 1024, 1, 1, 1, 4, false, false, false, 0x3801},
    {"conv_probe_k3_c256_n256_s8_st1_g1_bias1_same", "a3f16e34344c26ed5268c53ba5da69a3c57b94405ae506f4cd410e0a712e6be1", 1180672,
     256, 256, 3, 1, 1, 4, false, true, true, 0x3800},
    {"conv_known_k1_c64_n64_s16_st1_g4_bias1_same", "f051c26a469403ea25c8f4918156335dbd3aff476592f7528f328d64cc5e6789", 4096, 64,
     64, 1, 1, 4, 0, false, false, true, 0x3801},
    {"conv_known_k3_c64_n256_s16_st1_g4_bias1_same", "88e8a57e8c6fb2f54cf94cfa6224e99edfc5cbbaa92269622a5fd59d3fcaeaf2", 77824,
     64, 256, 3, 1, 4, 2, false, false, true, 0x3801},
    {"conv_known_k3_c64_n64_s16_st1_g64_bias0_same", "76d3e6b8bcce2f46370af4f64642601d176ec96563c5070c99e9ff16139a471c", 2048, 64,
     64, 3, 1, 1, 0, true, false, false, 0x3801},
    {"conv_known_k1_c64_n64_s16_st2_g1_bias1_same", "10a7d8f63dfe288e5737cbe9c5a039532498ee30853a850f4518ecb6da15b105", 11136, 64,
     64, 1, 2, 1, 2, false, true, true, 0x3801},
    {"conv_known_k3_c64_n64_s16_st2_g1_bias1_same", "fc7b27a1273dbdc1e97d92d3c297cbb25becafb45dd280e5469b3220df057883", 82816, 64,
     64, 3, 2, 1, 2, false, true, true, 0x3801},
    {"conv_probe_k3_c64_n64_s64_st2_g1_bias1_same", "4c1355b2df33593cf7125a509a09c16e028f7244b4fb2d9ea500fe0a50dba3f5", 82816, 64,
     64, 3, 2, 1, 2, false, false, true, 0x3800},
    {"conv_probe_k3_c64_n256_s16_st2_g1_bias0_valid", "ada9e3373a32d7984a7c0fb9d6dfba53e4789c2a761fc4cb03bd0aa9561ae297", 328576,
     64, 256, 3, 2, 1, 4, false, true, false, 0x3800},
    {"conv_probe_k1_c64_n512_s16_st2_g1_bias0_same", "52a6aea46c29ef59afd89006a0d33e30c999ffb90ceff14f06797f246cc24864", 82816,
     64, 512, 1, 2, 1, 5, false, true, false, 0x3800},
    {"conv_probe_k1_c64_n1024_s16_st2_g1_bias0_same", "f37235e0f18573b4f337df7ad3e705cdaa1061f7a1fdc87cd3efa10c4bf78b9e", 164736,
     64, 1024, 1, 2, 1, 5, false, true, false, 0x3800},
    {"conv_known_k1_c64_n64_s16_st2_g4_bias1_same", "70851134dea5b7420ca4137b83ef00fd7a92f3781c9eff46483068e95492fb6f", 7936, 64,
     64, 1, 2, 4, 0, false, true, true, 0x3801},
    {"conv_probe_k3_c256_n256_s16_st2_g256_bias1_same", "093ff8ffd9d33825560ea30e4eb4e5649c7217627e800ddd23f2dba7886a30bd", 8192,
     256, 256, 3, 2, 1, 0, true, true, true, 0x3800},
};

static struct ane_task task_of(const struct record *r)
{
    return (struct ane_task){.engine = ANE_ENGINE_NE,
                             .ne_op = ANE_NE_CONVOLUTION,
                             .channels_in = r->in,
                             .channels_out = r->out,
                             .groups = r->groups,
                             .kernel_width = r->kernel,
                             .kernel_height = r->kernel,
                             .stride_x = r->stride,
                             .stride_y = r->stride,
                             .engines = 16,
                             .kernel_format = ANE_KERNEL_F16,
                             .depthwise = r->depthwise,
                             .channel_group_log2 = r->group_log2,
                             .small_source = r->small_source,
                             .sparse = r->stride == 2,
                             .bias = r->bias};
}

static size_t weight_count(const struct ane_task *task)
{
    return (size_t)task->channels_out * (task->depthwise ? 1 : task->channels_in / task->groups) * task->kernel_width *
           task->kernel_height;
}

/* The compiler took the weight file, from its first byte, for the weights and again for the biases. The header of the file is two
 * numbers at byte 0 and, at byte 64, a magic number, the size of the payload and its place (research/mint_oracles.py). */
static uint16_t *file_values(const struct record *r, size_t count)
{
    uint16_t *values = malloc(count * sizeof *values);
    const uint32_t bytes = 2 * (uint32_t)count;
    for (size_t i = 0; values && i < count; i++)
        values[i] = i < 64 ? 0 : r->value;
    if (values) {
        values[0] = 1;
        values[2] = 2;
        values[32] = 0xbeef;
        values[33] = 0xdead;
        values[34] = (uint16_t)bytes;
        values[35] = (uint16_t)(bytes >> 16);
        values[38] = 128;
    }
    return values;
}

static void hash_text(const void *bytes, size_t size, char text[2 * SHA256_BYTES + 1])
{
    struct content_hash hash;
    uint8_t digest[SHA256_BYTES];
    content_hash_begin(&hash);
    content_hash_add_bytes(&hash, bytes, size);
    content_hash_end_sha256(&hash, digest);
    for (unsigned i = 0; i < SHA256_BYTES; i++)
        snprintf(text + 2 * (size_t)i, 3, "%02x", digest[i]);
}

/* -0, which a sparse bank leaves out, comes back as 0. */
static bool same_weights(const uint16_t *back, const uint16_t *given, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (back[i] != given[i] && ((back[i] | given[i]) & 0x7fff))
            return false;
    return true;
}

static void check_record(const struct record *r)
{
    struct ane_task task = task_of(r);
    struct ane_pack pack = {.used = 0};
    struct ane_weights back = {.nonzero = 0};
    struct isa_error error = {.text = ""};
    char text[2 * SHA256_BYTES + 1] = "";
    const size_t count = weight_count(&task);
    uint16_t *values = file_values(r, count);
    CHECK(values && ane_weights_pack(&task, values, r->bias ? values : NULL, &pack, &error), "%s: %s", r->name, error.text);
    if (pack.bytes)
        hash_text(pack.bytes, pack.used, text);
    CHECK(pack.used == r->bytes && strcmp(text, r->sha256) == 0, "%s: %zu bytes, not %zu; %s", r->name, pack.used, r->bytes,
          text);
    if (values && pack.bytes && ane_weights_unpack(&task, pack.bytes, pack.used, &back, &error)) {
        CHECK(same_weights(back.weight, values, count), "%s: other weights", r->name);
        CU_ASSERT(!r->bias || memcmp(back.bias, values, r->out * sizeof *values) == 0);
    } else {
        CHECK(false, "%s: %s", r->name, error.text);
    }
    ane_weights_free(&back);
    free(pack.bytes);
    free(values);
}

static void test_bytes_of_the_compiler(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(records); i++)
        check_record(&records[i]);
}

/* Different bit patterns, so that each shows where it went. */
static struct ane_pack pack_numbers(struct ane_task *task, uint32_t first_bias)
{
    const size_t count = weight_count(task);
    uint16_t *weight = malloc(count * sizeof *weight), *bias = malloc(task->channels_out * sizeof *bias);
    struct ane_pack pack = {.used = 0};
    struct isa_error error = {.text = ""};
    for (size_t i = 0; weight && i < count; i++)
        weight[i] = (uint16_t)(i + 1);
    for (uint32_t i = 0; bias && i < task->channels_out; i++)
        bias[i] = (uint16_t)(first_bias + i);
    CHECK(weight && bias && ane_weights_pack(task, weight, first_bias ? bias : NULL, &pack, &error), "%s", error.text);
    free(weight);
    free(bias);
    return pack;
}

static uint16_t half_at(const struct ane_pack *pack, size_t index)
{
    return (uint16_t)(pack->bytes[2 * index] | pack->bytes[2 * index + 1] << 8);
}

/* The rule for products with a vector (research/h13-td-fields.md): with g rows side by side and p = n / g, W[n][k] is halfword
 * q K g + k g + n % g, where q = p % 16 * planes / 16 + p / 16. */
static void test_rule_of_products(void)
{
    enum { K = 24, N = 512, G = 16, PLANES = N / G };
    const struct record r = {.in = K, .out = N, .kernel = 1, .stride = 1, .groups = 1, .group_log2 = 4};
    struct ane_task task = task_of(&r);
    struct ane_pack pack = pack_numbers(&task, 0);
    CU_ASSERT_EQUAL(pack.used, 2 * K * N);
    for (size_t n = 0; pack.used == 2 * K * N && n < N; n++)
        for (size_t k = 0; k < K; k++) {
            const size_t p = n / G, q = p % 16 * (PLANES / 16) + p / 16;
            CU_ASSERT_EQUAL(half_at(&pack, q * K * G + k * G + n % G), (uint16_t)(n * K + k + 1));
        }
    free(pack.bytes);
}

/* 768 channels of 32 lanes are 512 that way and then 256 of 16. A bank with 5 weights per channel has 32 x 5 and 16 x 5
 * halfwords. */
static void test_rest_in_narrower_planes(void)
{
    const struct record r = {.in = 5, .out = 768, .kernel = 1, .stride = 1, .groups = 1, .group_log2 = 5, .small_source = true};
    struct ane_task task = task_of(&r);
    struct ane_pack pack = pack_numbers(&task, 0);
    CU_ASSERT_EQUAL(task.bank[3].bytes, 512); /* 480 of them used */
    const size_t base = task.bank[3].base / 2;
    CU_ASSERT_EQUAL(half_at(&pack, base + 2 * 32 + 7), (3 * 32 + 7) * 5 + 2 + 1);
    CU_ASSERT_EQUAL(half_at(&pack, base + 160 + 4 * 16 + 9), (512 + 3 * 16 + 9) * 5 + 4 + 1);
    CU_ASSERT_EQUAL(half_at(&pack, base + 240), 0);
    free(pack.bytes);
}

/* encoder_conv_idx_c256_n256_k3x3_s2_g256_bias1_same_x1500x64: weights 1 .. 2304, biases 2305 .. 2560. Channel 32 is the third
 * plane of bank 0: bias 0x921, 22 bytes, taps 0 2 6 8, 1 7, 3 5, 4, two slots to a place. */
static void test_depthwise_stride_2(void)
{
    static const uint8_t plane[] = {0x21, 0x09, 0x16, 0x00, 0x00, 0x55, 0x21, 0x01, 0x23, 0x01, 0x27, 0x01, 0x29, 0x01,
                                    0x11, 0x22, 0x01, 0x28, 0x01, 0x05, 0x24, 0x01, 0x26, 0x01, 0x01, 0x25, 0x01};
    const struct record r = {.in = 256, .out = 256, .kernel = 3, .stride = 2, .groups = 1, .depthwise = true, .bias = true};
    struct ane_task task = task_of(&r);
    struct ane_pack pack = pack_numbers(&task, 2305);
    CU_ASSERT_EQUAL(pack.used, 7168);
    CU_ASSERT(pack.bytes && memcmp(pack.bytes + 2 * sizeof plane, plane, sizeof plane) == 0);
    free(pack.bytes);
}

/* A mask bit for a place without a tap, and bytes that the masks do not use. */
static void test_sparse_refusals(void)
{
    const struct record r = {.in = 1, .out = 16, .kernel = 1, .stride = 2, .groups = 1};
    struct ane_task task = task_of(&r);
    struct ane_pack pack = pack_numbers(&task, 0);
    struct ane_weights weights;
    struct isa_error error = {.text = ""};
    CU_ASSERT(pack.bytes[0] == 3 && pack.bytes[3] == 1 && half_at(&pack, 2) == 1); /* one byte of mask for 4 places, one value */
    pack.bytes[3] = 4;
    CU_ASSERT(!ane_weights_unpack(&task, pack.bytes, pack.used, &weights, &error) && strstr(error.text, "masks"));
    pack.bytes[3] = 1;
    pack.bytes[0] = 5;
    CU_ASSERT(!ane_weights_unpack(&task, pack.bytes, pack.used, &weights, &error) && strstr(error.text, "masks"));
    pack.bytes[0] = 1;
    CU_ASSERT(!ane_weights_unpack(&task, pack.bytes, pack.used, &weights, &error));
    pack.bytes[0] = 3;
    CU_ASSERT(ane_weights_unpack(&task, pack.bytes, pack.used, &weights, &error) && weights.weight[0] == 1);
    ane_weights_free(&weights);
    free(pack.bytes);
}

/* The descriptor of conv_known_k1_c64_n64_s16_st2_g4_bias1_same: byte offsets and words that differ from those of a fresh one. */
static const struct {
    uint16_t byte;
    uint32_t value;
} four_groups[] = {
    {0x000, 0x02000000}, {0x004, 0x00000003}, {0x008, 0x0000042a}, {0x010, 0x00fff86a}, {0x018, 0x30009800}, {0x020, 0x05025024},
    {0x024, 0x00000021}, {0x02c, 0x00000060}, {0x128, 0x00100010}, {0x12c, 0x00000001}, {0x130, 0x00000022}, {0x134, 0x00000010},
    {0x138, 0x00000010}, {0x13c, 0x00080008}, {0x140, 0x00000001}, {0x144, 0x50014021}, {0x148, 0x00002041}, {0x14c, 0x00010004},
    {0x150, 0x00000008}, {0x15c, 0x00244405}, {0x160, 0x00100000}, {0x16c, 0x00033881}, {0x170, 0x00008880}, {0x178, 0x00000040},
    {0x17c, 0x00000400}, {0x180, 0x00010000}, {0x184, 0x00004000}, {0x1a4, 0x01002031}, {0x1ac, 0x00000100}, {0x1e4, 0x00500172},
    {0x1ec, 0x00000020}, {0x1f0, 0x00000220}, {0x1f4, 0x00000200}, {0x1f8, 0x00000200}, {0x210, 0x0050017a}, {0x214, 0x00002200},
    {0x240, 0x00000182}, {0x244, 0x00101c10}, {0x250, 0x00003c00}, {0x258, 0x040000c1}, {0x260, 0x00000040}, {0x264, 0x00000200},
    {0x268, 0x00008000}, {0x26c, 0x00002000}, {0x270, 0x01302031},
};

static void set_four_groups(struct ane_td *td)
{
    ane_td_init(td);
    for (size_t i = 0; i < ARRAY_COUNT(four_groups); i++)
        td->word[four_groups[i].byte / 4] = four_groups[i].value;
    for (uint32_t k = 0; k < ANE_BANKS; k++) { /* 0x1c0 bytes in each of the first four, 0x200 in the others */
        td->word[0x34 / 4 + k] = 0x81;
        td->word[0x74 / 4 + k] = k < 4 ? 0x1c0 * k : 0x700 + 0x200 * (k - 4);
        td->word[0xb4 / 4 + k] = k < 4 ? 0x1c0 : 0x200;
    }
    for (size_t i = 0; i < 4; i++) {
        td->word[0xf4 / 4 + i] = 0x80;
        td->word[0x114 / 4 + i] = 0x40;
    }
}

/* Cin and Cout of a descriptor are those of one group; its banks lie where ours do. */
static void test_descriptor_of_the_compiler(void)
{
    const struct record *r = &records[12];
    struct ane_td td, again;
    struct ane_task task, made = task_of(r);
    struct ane_pack pack = {.used = 0};
    struct isa_error error = {.text = ""};
    set_four_groups(&td);
    CHECK(ane_task_decode(&td, &task, &error), "%lu: %s", error.offset, error.text);
    CU_ASSERT(task.groups == 4 && task.channels_in == 64 && task.channels_out == 64 && task.channel_group_log2 == 0);
    CU_ASSERT(task.sparse && task.small_source && task.bias && !task.depthwise && task.stride_x == 2 && task.newer_compiler);
    CU_ASSERT(task.source.group == 16 * task.source.plane && task.result.group == 16 * task.result.plane);
    CHECK(ane_task_encode(&task, &again, &error) && memcmp(&again, &td, sizeof td) == 0, "%s", error.text);
    uint16_t *values = file_values(r, weight_count(&made));
    CU_ASSERT(values && ane_weights_pack(&made, values, values, &pack, &error));
    for (unsigned k = 0; k < ANE_BANKS; k++)
        CHECK(made.bank[k].base == task.bank[k].base && made.bank[k].bytes == task.bank[k].bytes, "bank %u: 0x%x bytes at 0x%x",
              k, made.bank[k].bytes, made.bank[k].base);
    free(pack.bytes);
    free(values);
}

static const struct suite_test tests[] = {
    {"the compiler's bytes", test_bytes_of_the_compiler},
    {"the rule of products with a vector", test_rule_of_products},
    {"channels that wide planes do not cover", test_rest_in_narrower_planes},
    {"a depthwise convolution of stride 2", test_depthwise_stride_2},
    {"a descriptor of the compiler", test_descriptor_of_the_compiler},
    {"masks that do not fit are refused", test_sparse_refusals},
};
SUITE_MAIN("ane_banks", tests)
