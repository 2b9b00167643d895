/* The escapes and numbers of the writers: whatever goes in, markup and JSON remain well-formed. */
#include "isa/array_count.h"
#include "reports/number_text.h"
#include "reports/scale.h"
#include "reports/text.h"
#include "tests/support/suite.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Random bytes with much markup among them, never 0. */
static void random_bytes(uint64_t *state, char *bytes, size_t size)
{
    static const char pool[] = "<>&\"'\\]/-!;#x\n\t\r\x01\x1f\x7f";
    for (size_t i = 0; i < size; i++) {
        const uint64_t r = suite_random(state);
        bytes[i] = r % 3 ? pool[(r >> 8) % (sizeof pool - 1)] : (char)(1 + (r >> 8) % 255);
    }
    bytes[size] = 0;
}

/* Undoes text_xml. Only the five references are known; -1 for anything else that begins with '&', and for bare markup. */
static int unescape(const char *from, char *to)
{
    static const struct {
        const char *name;
        char c;
    } table[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}};
    while (*from) {
        size_t i = 0, length = 1;
        if (strchr("<>\"'", *from))
            return -1;
        *to = *from;
        if (*from == '&') {
            while (i < 5 && strncmp(from, table[i].name, strlen(table[i].name)) != 0)
                i++;
            if (i == 5)
                return -1;
            *to = table[i].c;
            length = strlen(table[i].name);
        }
        to++;
        from += length;
    }
    *to = 0;
    return 0;
}

static bool plain(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s >= 0x7f || ((unsigned char)*s < 0x20 && !strchr("\t\n\r", *s)))
            return false;
    return true;
}

/* Every byte of the result, except those of replacement characters, was in the input; ASCII comes back unchanged. */
static void test_xml_escape_has_no_markup_and_comes_back(void)
{
    uint64_t state = 1;
    char in[65], back[1024];
    for (int round = 0; round < 20000; round++) {
        random_bytes(&state, in, suite_random(&state) % 64);
        if (round % 2)
            for (char *c = in; *c; c++)
                *c = (unsigned char)*c >= 0x7f || ((unsigned char)*c < 0x20 && !strchr("\t\n\r", *c)) ? '<' : *c;
        struct text t = {0};
        text_xml(&t, in);
        const char *const out = t.data ? t.data : "";
        const int undone = unescape(out, back);
        CHECK(undone == 0, "markup in '%s'", out);
        if (plain(in))
            CHECK(strcmp(back, in) == 0, "'%s' came back as '%s'", in, back);
        for (const char *c = out; *c; c++)
            CHECK((unsigned char)*c >= 0x20 || strchr("\t\n\r", *c), "control character %d", *c);
        text_free(&t);
    }
}

static void test_xml_escape_keeps_utf8_and_replaces_what_is_broken(void)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"\xc2\xb5s \xe2\x80\x93 \xf0\x9f\x8d\x8e", "\xc2\xb5s \xe2\x80\x93 \xf0\x9f\x8d\x8e"}, /* µs – and an apple */
        {"a\xc3", "a\xef\xbf\xbd"},                                                             /* cut off */
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                                               /* overlong '/' */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                               /* half of a pair */
        {"\xef\xbf\xbf", "\xef\xbf\xbd"},                                                       /* U+FFFF is not in XML */
        {"\xf5\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},               /* beyond Unicode */
        {"</script><!--", "&lt;/script&gt;&lt;!--"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct text t = {0};
        text_xml(&t, cases[i].in);
        CHECK(t.data && strcmp(t.data, cases[i].out) == 0, "case %zu: %s", i, t.data);
        text_free(&t);
    }
}

static void test_json_strings_are_read_back_by_another_parser(void)
{
    uint64_t state = 2;
    char in[65];
    for (int round = 0; round < 20000; round++) {
        random_bytes(&state, in, suite_random(&state) % 64);
        for (char *c = in; *c; c++)
            *c = (unsigned char)*c >= 0x80 ? 'z' : *c;
        struct text t = {0};
        text_json(&t, in);
        json_object *const o = json_tokener_parse(t.data);
        CHECK(o && strcmp(json_object_get_string(o), in) == 0, "'%s' as %s", in, t.data);
        CHECK(!strchr(t.data, '<') && !strchr(t.data, '\n'), "bare markup or line end in %s", t.data);
        json_object_put(o);
        text_free(&t);
    }
    struct text none = {0};
    text_json(&none, NULL);
    text_json_number(&none, NAN);
    CU_ASSERT_STRING_EQUAL(none.data, "nullnull");
    text_free(&none);
}

static void test_coordinates_are_short_and_never_minus_zero(void)
{
    static const struct {
        double in;
        const char *out;
    } cases[] = {{1.5, "1.5"}, {2, "2"},        {-0.001, "0"}, {0.005, "0.01"}, {123456.789, "123456.79"},
                 {NAN, "0"},   {INFINITY, "0"}, {100, "100"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct text t = {0};
        text_coordinate(&t, cases[i].in);
        CHECK(t.data && (strcmp(t.data, cases[i].out) == 0 || (i == 3 && strcmp(t.data, "0") == 0)), "%g as %s", cases[i].in,
              t.data);
        text_free(&t);
    }
}

/* ---- scales ---- */

/* 1, 2 or 5 times a power of ten. */
static bool is_round(double x)
{
    const double m = x / pow(10, floor(log10(x) + 1e-9));
    return fabs(m - 1) < 1e-6 || fabs(m - 2) < 1e-6 || fabs(m - 5) < 1e-6;
}

static void test_ticks_are_round_and_cover_the_data(void)
{
    uint64_t state = 3;
    for (int round = 0; round < 5000; round++) {
        const bool log = round % 2;
        const double a = pow(10, (double)(suite_random(&state) % 24000) / 1000 - 12),
                     b = pow(10, (double)(suite_random(&state) % 24000) / 1000 - 12);
        struct scale s = {.from = 0, .to = 500};
        scale_fit(&s, a, b, log, round % 4 < 2, 6);
        const double low = fmin(a, b), high = fmax(a, b);
        CHECK(s.low <= low * (1 + 1e-6) && s.high >= high * (1 - 1e-6), "%g..%g became %g..%g", low, high, s.low, s.high);
        CHECK(s.ticks >= 2 && s.ticks <= 14, "%u ticks for %g..%g", s.ticks, low, high);
        for (unsigned i = 0; i < s.ticks; i++) {
            const double p = scale_at(&s, s.tick[i]);
            CHECK(p > -1e-6 && p < 500 + 1e-6, "tick %g at %g", s.tick[i], p);
            CHECK(i == 0 || s.tick[i] > s.tick[i - 1], "tick %u", i);
            CHECK(!log || is_round(s.tick[i]), "tick %g", s.tick[i]);
        }
        CHECK(log || is_round(s.step), "step %g", s.step);
        CHECK(scale_at(&s, low) <= scale_at(&s, high) + 1e-9, "order of %g and %g", low, high);
    }
}

static void test_impossible_ranges_give_an_axis_all_the_same(void)
{
    static const double ends[][2] = {{0, 0}, {5, 5}, {NAN, NAN}, {INFINITY, 3}, {-2, 7}, {0, 1}, {-3, -3}, {1e-300, 1e300}};
    for (size_t i = 0; i < ARRAY_COUNT(ends); i++)
        for (int log = 0; log < 2; log++) {
            struct scale s = {.from = 0, .to = 100};
            scale_fit(&s, ends[i][0], ends[i][1], log, true, 5);
            CHECK(s.high > s.low && s.ticks >= 2 && isfinite(scale_at(&s, 1)), "%g..%g: %g..%g, %u ticks", ends[i][0], ends[i][1],
                  s.low, s.high, s.ticks);
        }
}

static void test_labels_have_the_prefix_of_their_axis(void)
{
    char label[SCALE_LABEL];
    struct scale s = {.from = 0, .to = 100};
    scale_fit(&s, 0, 0.0042, false, true, 5);
    CU_ASSERT_STRING_EQUAL(s.prefix, "m");
    CU_ASSERT_STRING_EQUAL(scale_label(&s, 0.002, label), "2");
    scale_fit(&s, 1e-6, 1e-2, true, true, 5);
    CU_ASSERT_STRING_EQUAL(scale_label(&s, 1e-5, label), "10 \xc2\xb5");
    scale_fit(&s, 0.1, 1000, true, false, 5);
    CU_ASSERT_STRING_EQUAL(scale_label(&s, 0.1, label), "0.1");
    scale_fit(&s, 0, 1, false, false, 5);
    CU_ASSERT_STRING_EQUAL(scale_label(&s, 0.4, label), "0.4");
}

static void test_durations_are_counted_as_people_do(void)
{
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{0, "0 s"},        {0.0027, "2.70 ms"}, {119, "119 s"},   {120, "2.00 min"}, {1200, "20.0 min"},
                {15408, "4.28 h"}, {7199, "120 min"},   {7200, "2.00 h"}, {NAN, "-"},        {INFINITY, "-"}};
    char text[FORMAT_SIZE];
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        CHECK(strcmp(format_duration(text, rows[i].seconds), rows[i].text) == 0, "%g s as '%s'", rows[i].seconds, text);
}

static const struct suite_test tests[] = {
    {"text for XML has no markup and comes back", test_xml_escape_has_no_markup_and_comes_back},
    {"UTF-8 stays, broken UTF-8 is replaced", test_xml_escape_keeps_utf8_and_replaces_what_is_broken},
    {"JSON strings are read back by another parser", test_json_strings_are_read_back_by_another_parser},
    {"coordinates are short and never minus zero", test_coordinates_are_short_and_never_minus_zero},
    {"ticks are round and cover the data", test_ticks_are_round_and_cover_the_data},
    {"impossible ranges give an axis all the same", test_impossible_ranges_give_an_axis_all_the_same},
    {"labels have the prefix of their axis", test_labels_have_the_prefix_of_their_axis},
    {"durations are counted as people do", test_durations_are_counted_as_people_do},
};
SUITE_MAIN("report texts and scales", tests)
