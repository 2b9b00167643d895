/* The options of one workload among several, as typed in brackets and as launch records carry them. */
#include "isa/array_count.h"
#include "sim/trace/launch_settings.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static void test_round_trip(void)
{
    static const char *const texts[] = {
        "",       "repeat=3,buffers=one", "repeat=3,evict=1,cold=1", "buffers=one,evict=1,cold=1",
        "cold=1", "cores=4,home=elf",     "mode=timing,seed=7",
    };
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        struct launch_request once, again;
        struct orch_error error = {0};
        CHECK(launch_settings_read(texts[i], &once, &error), "%s: %s", texts[i], error.text);
        char *written = launch_settings_write(&once.part);
        CHECK(written && launch_settings_read(written, &again, &error), "%s: %s", texts[i], error.text);
        const struct run_request *a = &once.part.request, *b = &again.part.request;
        CU_ASSERT_TRUE(a->evict == b->evict && a->cold == b->cold && a->one_buffer == b->one_buffer);
        CU_ASSERT_TRUE(a->repeat == b->repeat && a->seed == b->seed && a->mode == b->mode);
        CU_ASSERT_EQUAL(a->one_buffer, strstr(texts[i], "buffers=one") != NULL);
        CU_ASSERT_EQUAL(a->evict, strstr(texts[i], "evict") != NULL);
        launch_request_free(&once);
        launch_request_free(&again);
        free(written);
    }
}

static void test_evict_includes_cold(void)
{
    static const char *const texts[] = {"evict=1", "evict=1,cold=0", "cold=0,evict=1"};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        struct launch_request r;
        struct orch_error error = {0};
        CHECK(launch_settings_read(texts[i], &r, &error), "%s: %s", texts[i], error.text);
        CU_ASSERT_TRUE(r.part.request.evict && r.part.request.cold);
        launch_request_free(&r);
    }
}

static void test_refused(void)
{
    static const char *const texts[] = {"buffers=two", "buffers=", "evict=x", "evct=1"};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        struct launch_request r;
        struct orch_error error = {0};
        CHECK(!launch_settings_read(texts[i], &r, &error), "%s is taken", texts[i]);
        CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
        launch_request_free(&r);
    }
}

static void test_brackets(void)
{
    const struct run_request common = {.seed = 1};
    struct together_part part[8] = {0};
    struct orch_error error = {0};
    unsigned count = 0;
    char *storage = NULL;
    CHECK(together_parse("gemm:8x8x8[unit=gpu,repeat=2,evict] + gemm:8x8x8[unit=gpu,repeat=3,buffers=one] + copy:64", &common,
                         part, &count, &storage, &error),
          "%s", error.text);
    CU_ASSERT_EQUAL(count, 3);
    CU_ASSERT_TRUE(part[0].request.evict && part[0].request.cold && !part[0].request.one_buffer);
    CU_ASSERT_TRUE(!part[1].request.evict && !part[1].request.cold && part[1].request.one_buffer);
    CU_ASSERT_TRUE(!part[2].request.evict && !part[2].request.one_buffer);
    free(storage);
    storage = NULL;
    CU_ASSERT_FALSE(together_parse("copy:64[buffers=some] + copy:64", &common, part, &count, &storage, &error));
    free(storage);
}

static const struct suite_test tests[] = {
    {"what is written is read back", test_round_trip},
    {"evict includes cold", test_evict_includes_cold},
    {"unknown words are refused", test_refused},
    {"brackets take both options", test_brackets},
};
SUITE_MAIN("launch_settings", tests)
