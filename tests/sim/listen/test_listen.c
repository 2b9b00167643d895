/* What people and programs see of a run: the JSON document, the summary, quantities, the progress bar. */
#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/listen/profile_text.h"
#include "sim/listen/run_json.h"
#include "sim/listen/summary.h"
#include "tests/sim/db_example.h"
#include "tests/sim/document_keys.h"

#include <math.h>

static void expect_contract_keys(struct json_object *document)
{
    const size_t count = ARRAY_COUNT(document_keys);
    CU_ASSERT_EQUAL(json_object_object_length(document), (int)count);
    for (size_t i = 0; i < count; i++)
        CHECK(json_object_object_get_ex(document, document_keys[i], NULL), "%s is missing", document_keys[i]);
}

static struct json_object *member(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    CHECK(json_object_object_get_ex(object, key, &value), "%s is missing", key);
    return value;
}

/* A run about which nothing is known has every key as well. */
static void test_empty_document(void)
{
    static const char *const containers[] = {"joules_by", "utilisation", "issue_share", "peak_share", "stalls",
                                             "placement", "assumptions", "checksum",    "counters"};
    struct run_result r;
    run_result_init(&r);
    struct json_object *d = run_json(&r, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    expect_contract_keys(d);
    unsigned not_null = 0;
    json_object_object_foreach(d, key, value)
    {
        not_null += value != NULL;
        (void)key;
    }
    CU_ASSERT_EQUAL(not_null, ARRAY_COUNT(containers));
    CU_ASSERT_TRUE(json_object_is_type(member(d, "placement"), json_type_array));
    CU_ASSERT_TRUE(json_object_is_type(member(d, "assumptions"), json_type_array));
    CU_ASSERT_EQUAL(json_object_object_length(member(d, "utilisation")), 5);
    CU_ASSERT_PTR_NULL(member(member(d, "utilisation"), "gpu"));
    json_object_put(d);
    run_result_free(&r);
}

static void expect_profile(struct json_object *profile)
{
    struct json_object *const kernel = json_object_array_get_idx(member(profile, "kernels"), 0);
    struct json_object *const line = json_object_array_get_idx(member(kernel, "lines"), 1);
    CU_ASSERT_EQUAL(json_object_get_double(member(kernel, "idle_cycles")), 1234.5);
    CU_ASSERT_TRUE(json_object_get_boolean(member(kernel, "scaled")));
    CU_ASSERT_EQUAL(json_object_get_int(member(kernel, "instructions")), 77);
    CU_ASSERT_EQUAL(json_object_get_int(member(line, "line")), 3);
    CU_ASSERT_STRING_EQUAL(json_object_get_string(member(line, "file")), "a.metal");
    CU_ASSERT_STRING_EQUAL(json_object_get_string(member(line, "text")), "\tx = a[i];");
    CU_ASSERT_EQUAL(json_object_get_double(member(line, "cycles")), 109.75);
    CU_ASSERT_EQUAL(json_object_get_double(member(member(line, "stalls"), "memory")), 99.5);
    CU_ASSERT_EQUAL(json_object_array_length(member(kernel, "code")), 2);
    struct json_object *const warning = json_object_array_get_idx(member(profile, "warnings"), 0);
    CU_ASSERT_STRING_EQUAL(json_object_get_string(member(warning, "place")), "a.metal:3");
    CU_ASSERT_STRING_EQUAL(json_object_get_string(member(warning, "kernel")), "first");
}

static void test_full_document(void)
{
    struct run_result r;
    example_result(&r);
    r.run_id = 42;
    r.watts_peak = (double)INFINITY;
    struct json_object *d = run_json(&r, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    expect_profile(member(d, "profile"));
    json_object_object_del(d, "profile"); /* there when it was asked for */
    expect_contract_keys(d);
    struct json_object *again = json_tokener_parse(json_object_to_json_string(d)); /* valid JSON, even with infinities */
    CU_ASSERT_PTR_NOT_NULL_FATAL(again);
    CU_ASSERT_EQUAL(json_object_get_int64(member(again, "run_id")), 42);
    CU_ASSERT_EQUAL(json_object_get_double(member(again, "seconds")), 0.25);
    CU_ASSERT_PTR_NULL(member(again, "watts_peak"));
    CU_ASSERT_PTR_NULL(member(again, "device"));
    CU_ASSERT_EQUAL(json_object_get_int64(member(again, "flops")), 524288);
    CU_ASSERT_TRUE(json_object_is_type(member(again, "flops"), json_type_int));
    CU_ASSERT_EQUAL(json_object_get_int64(member(member(again, "counters"), "cpu.instructions")), INT64_C(4503599627370497));
    CU_ASSERT_EQUAL(json_object_get_double(member(member(again, "utilisation"), "amx")), 0.75);
    CU_ASSERT_EQUAL(json_object_get_double(member(member(again, "stalls"), "amx.array")), 0.625);
    CU_ASSERT_STRING_EQUAL(json_object_get_string(member(member(again, "checksum"), "c")), "0xfedcba9876543210");
    struct json_object *placement = member(again, "placement");
    CU_ASSERT_EQUAL(json_object_array_length(placement), 2);
    CU_ASSERT_STRING_EQUAL(json_object_get_string(member(json_object_array_get_idx(placement, 1), "why")), "not on amx");
    CU_ASSERT_EQUAL(json_object_object_length(json_object_array_get_idx(placement, 1)), 4);
    struct json_object *assumption = json_object_array_get_idx(member(again, "assumptions"), 0);
    CU_ASSERT_EQUAL(json_object_object_length(assumption), 3);
    CU_ASSERT_STRING_EQUAL(json_object_get_string(member(assumption, "effect")), "3 % of the time");
    json_object_put(again);
    json_object_put(d);
    run_result_free(&r);
}

/* Every number of a run is a key of the document, with a definition and a unit. */
static void test_tables_agree_with_contract(void)
{
    for (size_t i = 0; i < run_number_field_count(); i++) {
        bool found = false;
        for (size_t k = 0; k < ARRAY_COUNT(document_keys); k++)
            found = found || strcmp(document_keys[k], run_number_field(i)->name) == 0;
        CHECK(found, "%s", run_number_field(i)->name);
        CHECK(run_number_field(i)->definition[0] && run_number_field(i)->unit[0], "%s", run_number_field(i)->name);
    }
    CU_ASSERT_PTR_NULL(run_number_field(run_number_field_count()));
}

static void test_quantities(void)
{
    static const struct {
        double value;
        const char *unit, *text;
    } cases[] = {
        {0.0027, "s", "2.70 ms"},  {0, "s", "0 s"},           {1, "s", "1.00 s"},
        {999.4, "W", "999 W"},     {999.6, "W", "1.00 kW"},   {1.5e12, "flop/s", "1.50 Tflop/s"},
        {12.34, "J", "12.3 J"},    {9.996, "J", "10.0 J"},    {4.2e-6, "s", "4.20 µs"},
        {-0.05, "s", "-50.0 ms"},  {3e-14, "s", "0.0300 ps"}, {(double)NAN, "s", "-"},
        {99.96e-9, "s", "100 ns"},
    };
    char text[FORMAT_SIZE];
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        format_quantity(text, cases[i].value, cases[i].unit);
        CHECK(strcmp(text, cases[i].text) == 0, "%g: '%s', not '%s'", cases[i].value, text, cases[i].text);
    }
    CU_ASSERT_STRING_EQUAL(format_interval(text, 0.0027, 0.0024, 0.0031, "s"), "2.70 ms (2.4–3.1)");
    CU_ASSERT_STRING_EQUAL(format_interval(text, 0.0027, (double)NAN, 0.0031, "s"), "2.70 ms");
    CU_ASSERT_STRING_EQUAL(format_interval(text, 123e-6, 99e-6, 180e-6, "s"), "123 µs (99–180)");
    CU_ASSERT_STRING_EQUAL(format_volume(text, 16384), "16.0 KiB");
    CU_ASSERT_STRING_EQUAL(format_volume(text, 1000), "1000 bytes");
    CU_ASSERT_STRING_EQUAL(format_volume(text, 3.5 * 1073741824), "3.50 GiB");
    CU_ASSERT_STRING_EQUAL(format_count(text, 1234567), "1,234,567");
    CU_ASSERT_STRING_EQUAL(format_count(text, -123456), "-123,456");
    CU_ASSERT_STRING_EQUAL(format_count(text, 12), "12");
    CU_ASSERT_STRING_EQUAL(format_count(text, 0.5), "0.5");
    CU_ASSERT_STRING_EQUAL(format_share(text, 0.125), "12.5 %");
}

static void summary_of(const struct run_result *r, const struct summary_options *options, char *text, size_t size)
{
    FILE *out = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_TRUE(summary_print(out, r, options));
    rewind(out);
    text[fread(text, 1, size - 1, out)] = 0;
    fclose(out);
}

static void test_summary(void)
{
    static const char *const expected[] = {"gemm:64x64x64 f32 on m1_4p4e_8g amx (instr, full)\n",
                                           "250 ms (200–300)",
                                           "[simulated]",
                                           "bound by  amx.array\n",
                                           "amx.array          62.5 %  ###################\n",
                                           "amx.load_data      25.0 %  ########\n",
                                           "amx 500 mJ, dram 250 mJ",
                                           "amx 75.0 %",
                                           "mem.l2_hits                      12,345\n",
                                           "amx.clock_ghz (inferred): 3 % of the time\n",
                                           "c fedcba9876543210\n",
                                           "42 (see why: orchard explain 42)\n"};
    char text[8000];
    struct run_result r;
    example_result(&r);
    r.run_id = 42;
    summary_of(&r, &(struct summary_options){false, 10, 10}, text, sizeof text);
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++)
        CHECK(strstr(text, expected[i]) != NULL, "'%s' is not in\n%s", expected[i], text);
    CU_ASSERT_PTR_NULL(strchr(text, '\033'));
    summary_of(&r, &(struct summary_options){false, 1, 1}, text, sizeof text);
    CU_ASSERT_TRUE(strstr(text, "and 1 more\n") && !strstr(text, "12,345"));
    run_result_free(&r);
    run_result_init(&r);
    summary_of(&r, &(struct summary_options){true, 5, 5}, text, sizeof text);
    CU_ASSERT_TRUE(strstr(text, "not recorded\n") && strchr(text, '\033'));
    CU_ASSERT_PTR_NULL(strstr(text, "nan"));
}

static void test_profile(void)
{
    struct line_profile *const p = example_profile();
    char *text = NULL, why[PROFILE_WHY_BYTES];
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    CU_ASSERT_FATAL(out && profile_print(out, p, "m9", true));
    fclose(out);
    CHECK(strstr(text, "first on m9: 77 instructions") && strstr(text, "25 % of the instructions were timed"), "%s", text);
    CHECK(strstr(text, "8.2 %  memory 91 %, issue 9 %") && strstr(text, "3  \tx = a[i];"), "%s", text);
    CHECK(strstr(text, "0x0004  device_load 0") && strstr(text, "(of no line)") && strstr(text, "  a.metal\n"), "%s", text);
    CHECK(strstr(text, "91.8 %  threadgroups are being started") != NULL, "%s", text);
    CHECK(strstr(text, "second on m9") && strstr(text, "a.metal:3: uncoalesced: 32 lines\n             turn it"), "%s", text);
    free(text);
    CU_ASSERT_STRING_EQUAL(profile_why(p, (double[]){3, 1}, why), "issue 75 %, memory 25 %");
    CU_ASSERT_STRING_EQUAL(profile_why(p, (double[]){0, 0}, why), "");
    line_profile_free(p);
}

static const struct suite_test tests[] = {
    {"a profile in words", test_profile},
    {"an empty run has every key with null", test_empty_document},
    {"a full run has its values in the document", test_full_document},
    {"field tables name keys of the contract", test_tables_agree_with_contract},
    {"quantities are readable", test_quantities},
    {"the summary names what matters", test_summary},
};
SUITE_MAIN("listen", tests)
