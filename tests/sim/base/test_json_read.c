/* JSON documents: types, ranges and names are checked, the first error sticks, and its line names file and place. */
#include "isa/array_count.h"
#include "sim/base/json_read.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static const char *const colours[] = {"red", "green", "blue"};

struct thing {
    double number, share;
    uint64_t count, items;
    const char *name, *scalar;
    char text[5];
    bool flag;
    unsigned colour;
};

/* Every kind of member once. */
static void read_thing(const struct json_node *top, struct thing *t)
{
    static const char *const known[] = {"number", "share", "count", "name", "scalar", "text", "flag", "colour", "list", "inner"};
    struct json_node item;
    json_known(top, known, ARRAY_COUNT(known));
    t->number = json_get_number(top, "number", JSON_FINITE);
    t->share = json_find_number(top, "share", 0, 1, 0.5);
    t->count = json_find_integer(top, "count", 2, 8, 7);
    t->name = json_find_string(top, "name", "none");
    t->flag = json_find_boolean(top, "flag", true);
    if (json_has(top, "scalar"))
        t->scalar = json_get_scalar(top, "scalar");
    if (json_has(top, "text"))
        json_get_text(top, "text", t->text, sizeof t->text);
    if (json_has(top, "colour"))
        t->colour = json_get_word(top, "colour", colours, ARRAY_COUNT(colours));
    const struct json_node list = json_find_array(top, "list", 1, 3), inner = json_find_object(top, "inner");
    for (struct json_walk walk = {.of = &list}; json_next(&walk, &item);) {
        const struct json_node deep = json_get_object(&item, "a");
        t->items += json_get_integer(&deep, "b", 1, UINT64_MAX);
    }
    json_find_number(&inner, "x", JSON_ANY, 0);
}

static bool parse(const char *text, struct thing *t, struct orch_error *error)
{
    struct json_reader r;
    *t = (struct thing){0};
    *error = (struct orch_error){0};
    if (!json_reader_open(&r, "file.json", text, strlen(text), error))
        return false;
    const struct json_node top = json_top(&r);
    read_thing(&top, t);
    if (r.ok && t->scalar)
        CHECK(strcmp(t->scalar, "1.50") == 0 || strcmp(t->scalar, "a/b") == 0, "%s", t->scalar);
    return json_reader_close(&r);
}

static void test_members_are_read(void)
{
    struct thing t;
    struct orch_error error;
    CHECK(parse("{\"number\":-1.5}", &t, &error), "%s", error.text);
    CU_ASSERT(t.number == -1.5 && t.share == 0.5 && t.count == 7 && t.flag && t.items == 0);
    CHECK(parse("{\"number\":3,\"share\":1,\"count\":8,\"flag\":false,\"scalar\":1.50,\"text\":\"four\",\"colour\":\"blue\","
                "\"list\":[{\"a\":{\"b\":1}},{\"a\":{\"b\":18446744073709551614}}],\"inner\":{\"x\":1e999}}",
                &t, &error),
          "%s", error.text);
    CU_ASSERT(t.number == 3 && t.share == 1 && t.count == 8 && !t.flag && t.colour == 2 && t.items == UINT64_MAX);
    CU_ASSERT_STRING_EQUAL(t.text, "four");
    CHECK(parse("{\"number\":0,\"scalar\":\"a/b\"}", &t, &error), "%s", error.text);
}

static void test_what_is_wrong_is_named(void)
{
    static const struct {
        const char *text, *said;
    } wrong[] = {
        {"", "file.json:1: empty file"},
        {"{\n\"number\":", "file.json:2: ends in the middle"},
        {"{\n\n\"number\":x}", "file.json:3: unexpected character"},
        {"[1]", "file.json:1: expected an object { ... }"},
        {"{} {}", "file.json:1: unexpected character"},
        {"{\"number\":1,}", "file.json:1: "},
        {"{\"number\":\"\xff\"}", "file.json:1: "},
        {"{}", "file.json: number: is missing; expected a number"},
        {"{\"number\":null}", "file.json: number: expected a number, got null"},
        {"{\"number\":\"1\"}", "file.json: number: expected a number, got \"1\""},
        {"{\"number\":1e999}", "file.json: number: expected a finite number, got 1e999"},
        {"{\"numbre\":1}", "file.json: unknown member \"numbre\"; did you mean number?"},
        {"{\"number\":1,\"share\":1.5}", "file.json: share: expected a number from 0 to 1, got 1.5"},
        {"{\"number\":1,\"count\":1}", "file.json: count: expected an integer from 2 to 8, got 1"},
        {"{\"number\":1,\"count\":-3}", "file.json: count: expected an integer from 2 to 8, got -3"},
        {"{\"number\":1,\"count\":2.0}", "file.json: count: expected an integer, got 2.0"},
        {"{\"number\":1,\"name\":7}", "file.json: name: expected a string, got 7"},
        {"{\"number\":1,\"name\":\"a\\u0000b\"}", "file.json: name: expected a string without \\u0000"},
        {"{\"number\":1,\"flag\":1}", "file.json: flag: expected a boolean, got 1"},
        {"{\"number\":1,\"scalar\":[1]}", "file.json: scalar: expected a number or a string, got [1]"},
        {"{\"number\":1,\"text\":\"fives\"}", "file.json: text: longer than 4 letters"},
        {"{\"number\":1,\"colour\":\"gren\"}",
         "file.json: colour: expected \"red\", \"green\" or \"blue\", got \"gren\"; did you mean green?"},
        {"{\"number\":1,\"inner\":[]}", "file.json: inner: expected an object { ... }, got []"},
        {"{\"number\":1,\"inner\":{\"x\":true}}", "file.json: inner.x: expected a number, got true"},
        {"{\"number\":1,\"list\":{}}", "file.json: list: expected an array [ ... ], got {}"},
        {"{\"number\":1,\"list\":[]}", "file.json: list: expected an array of 1 to 3 items, got 0"},
        {"{\"number\":1,\"list\":[{\"a\":{\"b\":1}},{\"a\":{\"b\":0}}]}", "file.json: list[1].a.b: expected an integer from 1"},
        {"{\"number\":1,\"list\":[3]}", "file.json: list[0]: expected an object { ... }, got 3"},
        {"{\"a\\nb\":1}", "file.json: unknown member \"a?b\""},
        /* the first of two mistakes */
        {"{\"number\":true,\"share\":2}", "file.json: number: expected a number, got true"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        struct thing t;
        struct orch_error error;
        CHECK(!parse(wrong[i].text, &t, &error), "accepted: %s", wrong[i].text);
        CHECK(error.exit_code == ORCH_USAGE && strncmp(error.text, wrong[i].said, strlen(wrong[i].said)) == 0 &&
                  !strchr(error.text, '\n'),
              "%s: %s", wrong[i].text, error.text);
    }
}

static void test_limits(void)
{
    static char text[JSON_BYTES_MAX + 1];
    struct json_reader r;
    struct orch_error error = {0};
    char deep[128] = "";
    CU_ASSERT(!json_reader_open(&r, "file.json", text, sizeof text, &error));
    CU_ASSERT_STRING_EQUAL(error.text, "file.json: larger than 16 MiB");
    for (unsigned i = 0; i < JSON_DEPTH_MAX + 1; i++)
        strcat(deep, "{\"a\":");
    CU_ASSERT(!json_reader_open(&r, "file.json", deep, strlen(deep), &error) && strstr(error.text, "nesting"));
    CU_ASSERT(!json_reader_open(&r, "file.json", "[", 1, NULL)); /* nobody wants to know */
}

static void test_null_may_be_absent(void)
{
    static const char text[] = "{\"a\":null,\"b\":[null]}";
    struct json_reader r;
    struct orch_error error = {0};
    CU_ASSERT_FATAL(json_reader_open(&r, "file.json", text, strlen(text), &error));
    r.null_is_absent = true;
    const struct json_node top = json_top(&r);
    CU_ASSERT(!json_has(&top, "a") && json_find_number(&top, "a", 0, 1, 0.25) == 0.25);
    CU_ASSERT(!json_require(&top, "a", "say something"));
    CU_ASSERT_STRING_EQUAL(error.text, "file.json: a: is missing; say something");
    CU_ASSERT(!json_reader_close(&r));
}

static void test_misspelled_members(void)
{
    static const char *const known[] = {"launch", "args"};
    struct json_reader r;
    struct orch_error error = {0};
    static const char near[] = "{\"other\":1,\"lauch\":2}", far[] = "{\"other\":1,\"notes\":2}";
    CU_ASSERT_FATAL(json_reader_open(&r, "file.json", far, strlen(far), &error));
    struct json_node top = json_top(&r);
    CU_ASSERT(json_no_misspelling(&top, known, ARRAY_COUNT(known)) && json_reader_close(&r));
    CU_ASSERT_FATAL(json_reader_open(&r, "file.json", near, strlen(near), &error));
    top = json_top(&r);
    CU_ASSERT(!json_no_misspelling(&top, known, ARRAY_COUNT(known)) && !json_reader_close(&r));
    CU_ASSERT_STRING_EQUAL(error.text, "file.json: unknown member \"lauch\"; did you mean launch?");
}

static void test_equal_names(void)
{
    static const struct {
        const char *text;
        bool differ;
    } rows[] = {
        {"{\"a\":1,\"b\":{\"a\":2},\"c\":[{\"a\":1},{\"a\":1}]}", true},
        {"{\"a\":\"{\\\"a\\\":1, \\\"a\\\":2}\"}", true},
        {"{\"a\":1,\"b\":{\"c\":2,\"c\" : 3}}", false},
        {"{\"a\":1,\"b\":{\"a\":2},\"a\":3}", false},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct json_reader r;
        struct orch_error error = {0};
        CU_ASSERT_FATAL(json_reader_open(&r, "file.json", rows[i].text, strlen(rows[i].text), &error));
        CHECK(json_names_differ(&r, rows[i].text, strlen(rows[i].text)) == rows[i].differ, "%s: %s", rows[i].text, error.text);
        CHECK(json_reader_close(&r) == rows[i].differ, "%s", rows[i].text);
        CHECK(rows[i].differ || strstr(error.text, "is given twice"), "%s", error.text);
    }
}

static void test_errors_of_called_functions_get_the_place(void)
{
    static const char text[] = "{\"vary\":{\"x\":[1,2]}}";
    struct json_reader r;
    struct orch_error error = {0};
    CU_ASSERT_FATAL(json_reader_open(&r, "file.json", text, strlen(text), &error));
    const struct json_node top = json_top(&r), vary = json_get_object(&top, "vary"), x = json_get_array(&vary, "x", 2, 2);
    orch_fail(&error, ORCH_UNMODELLED, "no such thing");
    CU_ASSERT(!json_wrong_in(&x, NULL) && !json_wrong(&top, NULL, "a second error"));
    CU_ASSERT_STRING_EQUAL(error.text, "file.json: vary.x: no such thing");
    CU_ASSERT(error.exit_code == ORCH_UNMODELLED && !json_reader_close(&r));
}

/* A text that is any value, and a value that was made. */
static void test_values(void)
{
    static const struct {
        const char *text, *wrong; /* NULL = it is a value */
    } rows[] = {{"5", NULL},           {"[1, 2]", NULL},      {"\"a\"", NULL},        {"{}", NULL},
                {"", "empty"},         {"null", "than null"}, {"[1,", "end of data"}, {"[1], 2", "unexpected"},
                {"1 2", "unexpected"}, {"nan", "expected"}};
    struct json_reader r;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct orch_error error = {0};
        const bool ok = json_reader_open_value(&r, "place", rows[i].text, strlen(rows[i].text), &error);
        CHECK(ok == !rows[i].wrong && (ok || strstr(error.text, rows[i].wrong)), "%s: %s", rows[i].text, error.text);
        if (ok)
            CU_ASSERT_TRUE(json_reader_close(&r));
    }
    struct orch_error error = {0};
    json_object *const made = json_tokener_parse("[[1, \"\\n\"]]");
    r = json_reader_of("place", made, &error);
    const struct json_node top = json_top(&r), outer = json_get_array(&top, NULL, 1, 1);
    struct json_node inner, item;
    for (struct json_walk rows_of = {.of = &outer}; json_next(&rows_of, &inner);)
        for (struct json_walk items_of = {.of = &inner}; json_next(&items_of, &item);)
            json_get_number(&item, NULL, JSON_FINITE);
    CU_ASSERT_STRING_EQUAL(error.text, "place: [0][1]: expected a number, got \"\\n\"");
    CU_ASSERT_FALSE(json_reader_close(&r));
    r = json_reader_of("place", NULL, &error);
    const struct json_node null = json_top(&r);
    CU_ASSERT(null.present && !null.value && json_ok(&null) && json_reader_close(&r));
}

static void test_unchecked_documents(void)
{
    json_object *const o = json_tokener_parse("{\"a\":1,\"b\":\"2.5\",\"c\":null,\"d\":[1],\"e\":\"text\"}");
    CU_ASSERT(json_peek_number(o, "a", 9) == 1 && json_peek_number(o, "b", 9) == 2.5 && json_peek_number(o, "c", 9) == 9);
    CU_ASSERT(json_peek_number(o, "d", 9) == 9 && json_peek_number(NULL, "a", 9) == 9);
    CU_ASSERT(json_peek_string(o, "e") && !json_peek_string(o, "a") && !json_peek_string(o, "x"));
    CU_ASSERT(json_peek(o, "d", json_type_array) && !json_peek(o, "d", json_type_object) && !json_peek_any(o, "c"));
    json_object_put(o);
}

static const struct suite_test tests[] = {
    {"members are read", test_members_are_read},
    {"what is wrong is named with its place", test_what_is_wrong_is_named},
    {"size and depth are limited", test_limits},
    {"null may stand for an absent member", test_null_may_be_absent},
    {"misspelled members are refused, others are the author's own", test_misspelled_members},
    {"equal names of one object are found", test_equal_names},
    {"errors of called functions get the place", test_errors_of_called_functions_get_the_place},
    {"values that are no documents", test_values},
    {"unchecked documents: what is not there is absent", test_unchecked_documents},
};
SUITE_MAIN("json_read", tests)
