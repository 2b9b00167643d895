/* Chrome traces: json-c parses them, every name is declared, slices of a track follow one another, arrows are inside slices. */
#include "reports/perfetto.h"
#include "tests/reports/trace_check.h"
#include "tests/support/suite.h"

#include <stdlib.h>

static json_object *finished(struct perfetto *p, FILE *f, char **text, size_t *size)
{
    CU_ASSERT(perfetto_end(p));
    fclose(f);
    json_object *const d = json_tokener_parse(*text);
    CHECK(d != NULL, "no JSON: %.200s", *text);
    CHECK(*size > 0, "empty");
    return d;
}

static void test_overlapping_slices_get_lanes(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const f = open_memstream(&text, &size);
    struct perfetto *const p = perfetto_begin(f);
    uint64_t state = 5;
    double begin = 0;
    perfetto_process(p, 1, "gpu <m1> \"quoted\"");
    perfetto_process(p, 2, "host");
    perfetto_track(p, 1, 0, "gpu 0");
    perfetto_track(p, 2, 0, "submit");
    for (int i = 0; i < 2000; i++) {
        begin += (double)(suite_random(&state) % 100);
        const struct perfetto_place from = perfetto_slice(p, 2, 0, "submit", begin, 5, NULL);
        const struct perfetto_place to =
            perfetto_slice(p, 1, 0, "op \\ \"x\"", begin + 10, (double)(suite_random(&state) % 400), NULL);
        perfetto_arrow(p, "launch", from, begin, to, begin + 10);
        perfetto_counter(p, 1, "power", "W", begin, (double)i);
    }
    json_object *const d = finished(p, f, &text, &size);
    struct trace_sums sums = {0};
    trace_check(d, &sums);
    CU_ASSERT_EQUAL(sums.slices, 4000);
    CU_ASSERT_EQUAL(sums.counters, 2000);
    CU_ASSERT_EQUAL(sums.arrows, 2000);
    json_object_put(d);
    free(text);
}

static void test_long_traces_are_sampled_down_and_say_so(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const f = open_memstream(&text, &size);
    struct perfetto *const p = perfetto_begin(f);
    perfetto_set_keep(p, 100);
    perfetto_process(p, 1, "gpu");
    perfetto_track(p, 1, 0, "gpu 0");
    for (int i = 0; i < 100000; i++) {
        perfetto_slice(p, 1, 0, "op", i * 10.0, 5, NULL);
        perfetto_counter(p, 1, "power", "W", i * 10.0, 1);
    }
    json_object *const d = finished(p, f, &text, &size), *other = NULL;
    struct trace_sums sums = {0};
    trace_check(d, &sums);
    /* Of 100 000 events 100 are kept at each of the strides 1, 2, 4 ... 512. */
    CHECK(sums.slices >= 900 && sums.slices <= 1100, "%zu slices", sums.slices);
    CHECK(sums.counters > 50 && sums.counters < 300, "%zu counters", sums.counters);
    json_object_object_get_ex(d, "otherData", &other);
    CHECK(json_object_object_get_ex(other, "sampled down: slices", NULL), "no note: %s", json_object_to_json_string(other));
    CHECK(json_object_object_get_ex(other, "sampled down: counter points", NULL), "no note");
    json_object_put(d);
    free(text);
}

static void test_times_keep_their_decimals(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const f = open_memstream(&text, &size);
    struct perfetto *const p = perfetto_begin(f);
    perfetto_process(p, 1, "amx");
    perfetto_track(p, 1, 0, "amx 0");
    perfetto_slice(p, 1, 0, "a", 0.3125, 3.6e12 + 0.25, NULL); /* an hour, and a quarter of a nanosecond */
    json_object *const d = finished(p, f, &text, &size);
    CHECK(strstr(text, "\"ts\":0.000313") || strstr(text, "\"ts\":0.000312"), "%s", text);
    CHECK(strstr(text, "\"dur\":3600000000.000250") != NULL, "%s", text);
    json_object_put(d);
    free(text);
}

static const struct suite_test tests[] = {
    {"overlapping slices get lanes of their own", test_overlapping_slices_get_lanes},
    {"long traces are sampled down and say so", test_long_traces_are_sampled_down_and_say_so},
    {"times keep their decimals", test_times_keep_their_decimals},
};
SUITE_MAIN("Chrome traces", tests)
