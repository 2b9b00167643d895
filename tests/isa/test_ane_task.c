/* Descriptors and tasks: the task explains every bit of the public programs, single programs read as they were read by hand, and
 * what is no descriptor of H13 is refused with the place. */
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_task.h"
#include "isa/array_count.h"
#include "tests/isa/ane_golden.h"

#include <string.h>

/* ---- the public programs ---- */

typedef void td_visitor(const char *file, unsigned index, const struct ane_td *td);

static void each_descriptor(td_visitor *visit)
{
    for (size_t i = 0; i < ANE_GOLDENS; i++) {
        size_t size = 0, at = 0;
        uint8_t *bytes = ane_golden_read(ane_goldens[i].file, &size);
        const size_t text = strstr(ane_goldens[i].file, ".hwx") ? ANE_GOLDEN_HWX_TEXT : 0;
        unsigned index = 0;
        do {
            struct ane_td td;
            ane_td_load(&td, bytes + text + at);
            visit(ane_goldens[i].file, index++, &td);
            at = td.word[7];
        } while (at && text + at + ANE_TD_BYTES <= size);
        free(bytes);
    }
}

static void check_round(const char *file, unsigned index, const struct ane_td *td)
{
    struct ane_task task;
    struct ane_td fresh, back;
    struct isa_error error = {0};
    uint8_t bytes[ANE_TD_BYTES];
    CHECK(ane_task_decode(td, &task, &error), "%s %u: +0x%lx %s", file, index, error.offset, error.text);
    ane_td_init(&fresh);
    for (unsigned i = 0; i < ANE_TD_WORDS; i++)
        CHECK((td->word[i] & fresh.word[i]) == fresh.word[i], "%s %u: bits that are always set, word 0x%x", file, index, 4 * i);
    CHECK(ane_task_encode(&task, &fresh, &error), "%s %u: %s", file, index, error.text);
    for (unsigned i = 0; i < ANE_TD_WORDS; i++)
        CHECK(td->word[i] == fresh.word[i], "%s %u: word 0x%x is %08x, encoded %08x", file, index, 4 * i, td->word[i],
              fresh.word[i]);
    ane_td_store(td, bytes);
    ane_td_load(&back, bytes);
    CHECK(memcmp(&back, td, sizeof back) == 0, "%s: to bytes and back", file);
}

static void test_every_bit(void)
{
    each_descriptor(check_round);
}

/* A changed bit makes another task that encodes to exactly these words, or is refused at a place in the descriptor. */
static void check_flips(const char *file, unsigned index, const struct ane_td *td)
{
    unsigned understood = 0;
    for (unsigned bit = 0; bit < ANE_TD_WORDS * 32; bit++) {
        struct ane_td flipped = *td, back;
        struct ane_task task;
        struct isa_error error = {0};
        flipped.word[bit / 32] ^= UINT32_C(1) << bit % 32;
        if (ane_task_decode(&flipped, &task, &error)) {
            understood++;
            CHECK(ane_task_encode(&task, &back, &error) && memcmp(&back, &flipped, sizeof back) == 0,
                  "%s %u: bit %u of 0x%x is lost", file, index, bit % 32, bit / 32 * 4);
        } else {
            CHECK(error.offset < ANE_TD_BYTES && error.text[0] && !strchr(error.text, '\n'), "%s %u: bit %u of 0x%x: %s", file,
                  index, bit % 32, bit / 32 * 4, error.text);
        }
    }
    CHECK(understood > 300, "%s %u: only %u single bits have a meaning", file, index, understood);
}

static void test_flips(void)
{
    each_descriptor(check_flips);
}

static bool decode_golden(const char *file, unsigned index, struct ane_task *task)
{
    size_t size = 0;
    uint8_t *bytes = ane_golden_read(file, &size);
    struct ane_td td;
    struct isa_error error = {0};
    ane_td_load(&td, bytes + (strstr(file, ".hwx") ? ANE_GOLDEN_HWX_TEXT : 0) + index * ANE_TD_PITCH);
    free(bytes);
    const bool ok = ane_task_decode(&td, task, &error);
    CHECK(ok, "%s: %s", file, error.text);
    return ok;
}

/* The words of tinygrad's convolution, read by hand: 3 channels of 1 x 1 to 3. */
static void test_convolution(void)
{
    struct ane_task t;
    if (!decode_golden("tinygrad/conv.ff52f832dc.hwx.gz", 0, &t))
        return;
    CHECK(t.engine == ANE_ENGINE_NE && t.ne_op == ANE_NE_CONVOLUTION && t.last && t.next == 0, "one convolution");
    CHECK(t.width_in == 1 && t.height_in == 1 && t.channels_in == 3 && t.channels_out == 3, "shape");
    CHECK(t.kernel_width == 1 && t.kernel_height == 1 && t.stride_x == 1 && t.pad_left == 0 && t.step_x == 1 && t.groups == 1,
          "kernel");
    CHECK(t.engines == 4 && t.small_source && t.double_buffer && t.kernel_format == ANE_KERNEL_F16 && !t.bias, "engines");
    CHECK(t.source.place == ANE_PLACE_DRAM && t.source.bar == 5 && t.source.row == 0x40 && t.source.plane == 0x40 &&
              t.source.depth == 0xc0 && t.source.other.row == 0x30,
          "source");
    CHECK(t.result.place == ANE_PLACE_DRAM && t.result.bar == 4 && t.result.base == 0 && t.result.depth == 0xc0, "result");
    CHECK(t.bank[2].enabled && t.bank[2].base == 0x80 && t.bank[2].bytes == 0x40 && !t.bank[3].enabled, "banks");
    CHECK(t.post_scale == 1.0f && t.nonlinear == ANE_LINEAR && t.source.format == ANE_F16, "values");
    if (decode_golden("tinygrad/golden.1dcaecacc4.hwx.gz", 0, &t))
        CHECK(t.bias && t.channels_out == 2 && t.engines == 2, "with bias");
}

/* The softmax of eiln is maximum of rows, (x - max) log2 e, exp2, 1 / sum of rows, product. */
static void test_softmax(void)
{
    struct ane_task t[5];
    for (unsigned i = 0; i < 5; i++)
        if (!decode_golden("eiln/activation_softmax.bin.gz", i, &t[i]))
            return;
    CHECK(t[0].engine == ANE_ENGINE_PE && t[0].pe_reduce == ANE_REDUCE_MAX && t[0].groups == 2560 && t[0].width_in == 1600 &&
              t[0].source.group == 0xc80 && t[0].result.place == ANE_PLACE_L2 && t[0].result.group == 0x10,
          "maximum of rows");
    CHECK(t[1].pe_subtract_second && t[1].second.place == ANE_PLACE_L2 && t[1].second.broadcast_width &&
              t[1].second.row == 0x10 && ane_half_bits((double)t[1].pe_scale) == 0x3dc5 && t[1].result.place == ANE_PLACE_CHAIN,
          "difference");
    CHECK(t[2].engine == ANE_ENGINE_NE && t[2].ne_op == ANE_NE_ELEMENT && t[2].nonlinear == ANE_TABLE &&
              t[2].source.place == ANE_PLACE_CHAIN && t[2].source.base == t[1].result.base && t[2].result.bar == 3,
          "exp2");
    CHECK(t[3].pe_reduce == ANE_REDUCE_SUM && t[3].pe_reciprocal && t[3].source.bar == 3, "sum");
    CHECK(t[4].pe_op == ANE_PE_MUL && t[4].source.place == ANE_PLACE_L2 && t[4].source.broadcast_width &&
              t[4].second.place == ANE_PLACE_DRAM && t[4].second.bar == 3 && !t[4].pe_subtract_second && t[4].last,
          "product");
    CHECK(t[0].next == 0x300 && t[3].next == 0xc00 && t[4].next == 0 && t[4].id == 4, "chain");
}

static void test_operations(void)
{
    struct ane_task t;
    if (decode_golden("tinygrad/sum.6ca449afd2.hwx.gz", 0, &t))
        CHECK(t.pe_op == ANE_PE_ADD && t.source.bar == 6 && t.second.bar == 5 && t.channels_in == 64 && t.result.keep_padding &&
                  t.second.depth == 0x1000,
              "sum of two buffers");
    if (decode_golden("eiln/binary_max.bin.gz", 0, &t))
        CHECK(t.pe_op == ANE_PE_MAX && t.tile_height == 32 && t.planar_tile == 0x59, "maximum of two buffers");
    if (decode_golden("eiln/unary_abs.bin.gz", 0, &t))
        CHECK(t.pe_absolute && t.second.place == ANE_PLACE_NONE && t.pe_scale == 1.0f, "absolute value");
    if (decode_golden("eiln/unary_sigmoid.bin.gz", 1, &t))
        CHECK(t.pe_bias == 0.5f && t.source.place == ANE_PLACE_CHAIN && t.result.place == ANE_PLACE_DRAM, "sigmoid's last step");
    if (decode_golden("tinygrad/relu.da873cd556.hwx.gz", 0, &t))
        CHECK(t.nonlinear == ANE_RELU && t.ne_op == ANE_NE_ELEMENT && !t.bank[0].enabled && t.width_in == 16, "ReLU");
}

/* ---- tasks of our own ---- */

static struct ane_task own_convolution(void)
{
    struct ane_task t = {.engine = ANE_ENGINE_NE,
                         .last = true,
                         .width_in = 56,
                         .height_in = 56,
                         .channels_in = 64,
                         .width_out = 28,
                         .height_out = 28,
                         .channels_out = 32,
                         .groups = 2,
                         .tile_height = 14,
                         .engines = 16,
                         .kernel_width = 3,
                         .kernel_height = 5,
                         .stride_x = 2,
                         .stride_y = 2,
                         .pad_left = 1,
                         .pad_top = 2,
                         .step_x = 1,
                         .step_y = 1,
                         .channel_group_log2 = 1,
                         .kernel_format = ANE_KERNEL_I8,
                         .post_scale = 0.25f,
                         .nonlinear = ANE_RELU};
    t.source =
        (struct ane_operand){.place = ANE_PLACE_DRAM, .format = ANE_F16, .bar = 5, .row = 128, .plane = 7168, .depth = 7168 * 64};
    t.result = (struct ane_operand){
        .place = ANE_PLACE_L2, .format = ANE_F16, .base = 0x8000, .row = 64, .plane = 64 * 28, .depth = 64 * 28 * 32};
    for (unsigned i = 0; i < ANE_BANKS; i++)
        t.bank[i] = (struct ane_bank){true, i * 0x400, 0x400};
    return t;
}

static void test_own(void)
{
    struct ane_task given = own_convolution(), task, again;
    struct ane_td td, back;
    struct isa_error error = {0};
    CHECK(ane_task_encode(&given, &td, &error) && ane_task_decode(&td, &task, &error), "%s", error.text);
    CHECK(task.source.cache_hint == 2 && task.source.cache_reuse == 14 && task.coefficient_bar == 1 &&
              task.shape_preferred == 1 && task.source.interleave == 1 && task.debug_log_events == 0xfff86a,
          "what was left 0 is filled in");
    CHECK(task.groups == 2 && task.kernel_height == 5 && task.pad_top == 2 && task.engines == 16 && task.post_scale == 0.25f &&
              task.bank[15].base == 0x3c00 && task.result.base == 0x8000 && task.kernel_format == ANE_KERNEL_I8,
          "values");
    CHECK(ane_task_encode(&task, &back, &error) && memcmp(&td, &back, sizeof td) == 0, "the same words");
    CHECK(ane_task_decode(&back, &again, &error) && memcmp(&task, &again, sizeof task) == 0, "the same task");
}

struct refusal {
    const char *what;
    void (*spoil)(struct ane_task *task);
    unsigned offset; /* of the register */
    const char *says;
};
static void spoil_width(struct ane_task *t)
{
    t->width_in = 40000;
}
static void spoil_height(struct ane_task *t)
{
    t->height_out = 0;
}
static void spoil_stride(struct ane_task *t)
{
    t->source.row = 100;
}
static void spoil_reach(struct ane_task *t)
{
    t->source.plane = 0x40000000;
}
static void spoil_l2(struct ane_task *t)
{
    t->result.base = 0x1ffff0;
}
static void spoil_scale(struct ane_task *t)
{
    t->post_scale = 1.4426950408889634f;
}
static void spoil_engines(struct ane_task *t)
{
    t->engines = 12;
}
static void spoil_groups(struct ane_task *t)
{
    t->groups = 3;
}
static void spoil_kernel(struct ane_task *t)
{
    t->kernel_width = 32;
}
static void spoil_window(struct ane_task *t)
{
    t->width_out = 56;
}
static void spoil_bank(struct ane_task *t)
{
    t->bank[3].base = 0x20;
}
static void spoil_banks(struct ane_task *t)
{
    memset(t->bank, 0, sizeof t->bank);
}
static void spoil_second(struct ane_task *t)
{
    t->second = t->source;
}
static void spoil_source(struct ane_task *t)
{
    t->source.place = ANE_PLACE_NONE;
}

static void test_refusals(void)
{
    static const struct refusal refusals[] = {
        {"width", spoil_width, 0x128, "at most 32767"},    {"height", spoil_height, 0x13e, "at least 1"},
        {"stride", spoil_stride, 0x178, "multiple of 64"}, {"reach", spoil_reach, 0x174, "4 GB"},
        {"tile memory", spoil_l2, 0x214, "2 MB"},          {"scale", spoil_scale, 0x250, "nearest is 1.44238281"},
        {"engines", spoil_engines, 0x15e, "12 engines"},   {"groups", spoil_groups, 0x14c, "3 groups"},
        {"kernel", spoil_kernel, 0x144, "at most 31"},     {"window", spoil_window, 0x13c, "56 output columns"},
        {"bank", spoil_bank, 0x80, "multiple of 64"},      {"banks", spoil_banks, 0x34, "without coefficient banks"},
        {"second", spoil_second, 0x1e4, "second source"},  {"source", spoil_source, 0x1e4, "no source"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(refusals); i++) {
        struct ane_task task = own_convolution();
        struct ane_td td, untouched;
        struct isa_error error = {0};
        memset(&td, 0x5a, sizeof td);
        untouched = td;
        refusals[i].spoil(&task);
        CHECK(!ane_task_encode(&task, &td, &error), "%s is taken", refusals[i].what);
        CHECK(error.offset == refusals[i].offset && strstr(error.text, refusals[i].says), "%s: +0x%lx %s", refusals[i].what,
              error.offset, error.text);
        CHECK(memcmp(&td, &untouched, sizeof td) == 0, "%s: the descriptor is as it was", refusals[i].what);
    }
}

static void check_foreign(unsigned offset, uint32_t word, unsigned place, const char *says)
{
    struct ane_task task = own_convolution();
    struct ane_td td;
    struct isa_error error = {0};
    CHECK(ane_task_encode(&task, &td, &error), "%s", error.text);
    td.word[offset / 4] = word;
    CHECK(!ane_task_decode(&td, &task, &error) && error.offset == place && strstr(error.text, says), "word 0x%x: +0x%lx %s",
          offset, error.offset, error.text);
}

static void test_foreign(void)
{
    check_foreign(0x28, 0xf4011000, 0x28, "packet word");
    check_foreign(0x1dc, 0, 0x1dc, "packet word");
    check_foreign(0x130, 0x23, 0x130, "no such format");
    check_foreign(0x104, 1, 0x104, "without a known meaning");
    check_foreign(0x1c8, 7, 0x1c8, "PixelOffset");
    check_foreign(0x1e4, 0x141, 0x1e4, "no source");
    check_foreign(0x128, 0, 0x128, "Win is 0");
    check_foreign(0x024, 0, 0x024, "KBase0");
}

/* Random words behind correct packet words are refused or understood to the last bit. */
static void test_random(void)
{
    uint64_t seed = 7;
    struct ane_task task = own_convolution(), read;
    struct ane_td good, td, back;
    struct isa_error error = {0};
    unsigned understood = 0;
    CHECK(ane_task_encode(&task, &good, &error), "%s", error.text);
    for (unsigned n = 0; n < 20000; n++) {
        td = good;
        for (unsigned k = 0; k < 1 + n % 3; k++) {
            const uint64_t r = suite_random(&seed);
            td.word[r % ANE_TD_WORDS] ^= (uint32_t)(r >> 32) & (uint32_t)(r >> 12) & (uint32_t)suite_random(&seed);
        }
        if (!ane_task_decode(&td, &read, &error))
            continue;
        understood++;
        CHECK(ane_task_encode(&read, &back, &error) && memcmp(&td, &back, sizeof td) == 0,
              "words that were understood come back");
    }
    CHECK(understood > 200, "%u understood", understood);
}

static const struct suite_test tests[] = {
    {"every bit of the public programs is explained", test_every_bit},
    {"changed bits are understood or refused", test_flips},
    {"a convolution read by hand", test_convolution},
    {"a chain read by hand", test_softmax},
    {"single operations", test_operations},
    {"a task of our own", test_own},
    {"tasks without encoding name the register", test_refusals},
    {"descriptors that are none", test_foreign},
    {"random changes", test_random},
};
SUITE_MAIN("ane_task", tests)
