/* The Neural Engine in a chip: parameters of every chip, and its path to SLC and DRAM. */
#include "isa/array_count.h"
#include "sim/chip/chip_peaks.h"
#include "sim/chip/chip_units.h"
#include "sim/soc/soc.h"
#include "tests/sim/chip_example.h"
#include "tests/units/ane_timing_example.h"

#include <math.h>
#include <string.h>

static double plain_number(const struct chip *chip, const char *key)
{
    struct orch_error error = {0};
    double value = NAN;
    chip_number(chip, key, &value, &error);
    return value;
}

static void test_all_chips_have_a_neural_engine(void)
{
    struct chip_db *db = example_chips();
    for (size_t i = 0; i < chip_db_count(db); i++) {
        struct chip *chip = example_chip(db, chip_db_id(db, i), NULL);
        struct orch_error error = {0};
        struct ane_params params;
        struct ane_limits limits;
        struct ane_numeric numeric;
        enum ane_generation generation;
        CHECK(chip_ane_params(chip, &params, &error), "%s", error.text);
        CHECK(chip_ane_limits(chip, &limits, &error) && chip_ane_numeric(chip, &numeric, &error), "%s", error.text);
        CHECK(chip_ane_generation(chip, &generation, &error) && limits.generation == generation, "%s", error.text);
        struct ane_timing *timing = ane_timing_create(&params, NULL);
        CHECK(timing != NULL, "%s", chip_id(chip));
        ane_timing_free(timing);
        /* Apple's advertised figure is the product of the parts. M4's figure counts 8-bit operations. */
        const double tops = 2e-3 * params.units * params.engines * params.macs_per_engine * params.int8_rate * params.clock_ghz;
        const double said = plain_number(chip, "ane_tops");
        CHECK(fabs(tops / said - 1) < 0.1, "%s: %g TOPS, advertised %g", chip_id(chip), tops, said);
        CHECK(params.units * params.engines == (unsigned)plain_number(chip, "ane_cores"), "%s: %u engines", chip_id(chip),
              params.units);
        CHECK(numeric.mac_overflow == 32768 && numeric.width_crop_gain == (generation >= ANE_H15 ? 1 : 16), "%s", chip_id(chip));
        CHECK(limits.int8_weights == (generation >= ANE_H14) && limits.sin_cos == (generation >= ANE_H15) &&
                  limits.kernel_max == (generation >= ANE_H15 ? 32 : 29) && limits.l2_bytes == params.l2_bytes,
              "%s", chip_id(chip));
        chip_close(chip);
    }
    chip_db_close(db);
}

static void test_peaks_are_products(void)
{
    struct chip_db *db = example_chips();
    struct chip *chip = example_chip(db, "m4", NULL);
    struct chip_peaks peaks;
    chip_peaks(chip, &peaks);
    double f16 = 0, i8 = 0, stream = 0;
    for (size_t i = 0; i < peaks.count; i++)
        if (strcmp(peaks.peak[i].unit, "ane") == 0)
            *(strcmp(peaks.peak[i].precision, "f16") == 0  ? &f16
              : strcmp(peaks.peak[i].precision, "i8") == 0 ? &i8
                                                           : &stream) += peaks.peak[i].value;
    CU_ASSERT_DOUBLE_EQUAL(f16, 19.366e12, 0.001e12);
    CU_ASSERT_DOUBLE_EQUAL(i8, 2 * f16, 1);
    CU_ASSERT_DOUBLE_EQUAL(stream, 64e9, 1);
    chip_close(chip);
    chip_db_close(db);
}

static void test_values_set_by_a_user_take_effect(void)
{
    struct chip_db *db = example_chips();
    struct chip *chip = example_chip(db, "m1", "ane_cores=32");
    struct orch_error error = {0};
    struct ane_params params;
    CHECK(chip_ane_params(chip, &params, &error) && params.units == 2, "%s: %u", error.text, params.units);
    chip_close(chip);
    chip = example_chip(db, "m1", "ane.dma_GBps=11");
    CHECK(chip_ane_params(chip, &params, &error) && params.dma_GBps == 11, "%s", error.text);
    chip_close(chip);
    chip_db_close(db);
}

static void take(struct soc *soc, struct activity *into)
{
    memset(into, 0, sizeof *into);
    soc_take_activity(soc, into);
}

static void test_traffic_reaches_slc_and_dram(void)
{
    struct chip_db *db = example_chips();
    struct chip *chip = example_chip(db, "m1", NULL);
    struct orch_error error = {0};
    struct soc *soc = soc_create(chip, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(soc);
    struct soc_ane *ane = soc_ane(soc, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(ane);
    CU_ASSERT_PTR_EQUAL(soc_ane(soc, &error), ane);
    struct ane_task conv = example_conv(512, 32, 32, 1);
    const uint64_t image = 512 * 32 * 64, weights = 512 * 512 * 2;
    struct activity a;
    const double first = ane_timing_tasks(ane->timing, &conv, 1, 0, 0, NULL, NULL);
    take(soc, &a);
    CU_ASSERT_EQUAL(a.count[ACT_DRAM_READ_BYTES], image + weights);
    CU_ASSERT_EQUAL(a.count[ACT_ANE_DMA_BYTES], 2 * image + weights);
    /* All of it fits the SLC of 8 MB, where the next request finds it. */
    const double again = ane_timing_tasks(ane->timing, &conv, 1, 0, first, NULL, NULL) - first;
    take(soc, &a);
    CU_ASSERT_EQUAL(a.count[ACT_DRAM_READ_BYTES], 0);
    CU_ASSERT_EQUAL(a.count[ACT_SLC_READ_BYTES], image + weights);
    CHECK(again <= first, "%g after %g", again, first);
    /* Other buffers lie elsewhere. */
    ane->address[5] = 0x123400000;
    ane_timing_tasks(ane->timing, &conv, 1, 0, 2 * first, NULL, NULL);
    take(soc, &a);
    CU_ASSERT_EQUAL(a.count[ACT_DRAM_READ_BYTES], image);
    soc_restart(soc, false);
    const double fresh = ane_timing_tasks(ane->timing, &conv, 1, 0, 0, NULL, NULL);
    take(soc, &a);
    CU_ASSERT_EQUAL(a.count[ACT_DRAM_READ_BYTES], image + weights);
    CU_ASSERT_DOUBLE_EQUAL(fresh, first, 1e-6 * first);
    soc_free(soc);
    chip_close(chip);
    chip_db_close(db);
}

/* Anemll/anemll-bench: 1050 MB of weights at 60.4 GB/s on M2, 120.2 on M3 Max, 126.4 on M4 Pro, without the time of requests. */
static void test_weight_streams_run_as_measured(void)
{
    static const struct {
        const char *chip;
        double gbps;
    } rows[] = {{"m2", 60.45}, {"m2-max", 62.01}, {"m3", 63.1}, {"m3-max", 120.22}, {"m4", 64.18}, {"m4-pro", 126.36}};
    struct chip_db *db = example_chips();
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct chip *chip = example_chip(db, rows[i].chip, "ane.request_us=0");
        struct orch_error error = {0};
        struct soc *soc = soc_create(chip, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(soc);
        struct soc_ane *ane = soc_ane(soc, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(ane);
        struct ane_task head = example_conv(4096, 1, 1, 1);
        head.small_source = true;
        const uint32_t part = 1050670000 / 8 / 16; /* eight parts, as Core ML splits it */
        struct ane_task task[8];
        for (unsigned k = 0; k < 8; k++) {
            task[k] = head;
            task[k].channels_out = part * 16 / 4096 / 2;
            for (unsigned b = 0; b < ANE_BANKS; b++)
                task[k].bank[b] = (struct ane_bank){true, (k * 16 + b) * part, part};
        }
        const double ns = ane_timing_tasks(ane->timing, task, 8, 0, 0, NULL, NULL);
        CHECK(fabs(1050.67e6 / ns / rows[i].gbps - 1) < 0.03, "%s: %g GB/s, measured %g", rows[i].chip, 1050.67e6 / ns,
              rows[i].gbps);
        soc_free(soc);
        chip_close(chip);
    }
    chip_db_close(db);
}

static const struct suite_test tests[] = {
    {"all chips have a Neural Engine", test_all_chips_have_a_neural_engine},
    {"advertised peaks are products of the parts", test_peaks_are_products},
    {"values set by a user take effect", test_values_set_by_a_user_take_effect},
    {"traffic reaches SLC and DRAM", test_traffic_reaches_slc_and_dram},
    {"weight streams run as measured", test_weight_streams_run_as_measured},
};
SUITE_MAIN("soc ane", tests)
