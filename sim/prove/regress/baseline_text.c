/* Baselines as text. Lines:
 *
 *     {"orchard_baseline":1,"version":"0.1.0","created":"...","characteristics":84,"values":2310,"chip_sets":70,"parameters":1325}
 *     {"characteristic":"amx.peak_f32","tolerance":0.001}
 *     {"value":"amx.peak_f32","chip":"m1_4p4e_8g","is":1529.1233}
 *     {"chip_set":0,"chips":["m1_4p4e_7g","m1_4p4e_8g"]}
 *     {"parameter":"amx.clock_ghz","chip_set":0,"is":[2.9,2.8]}
 */
#include "sim/base/json_out.h"
#include "sim/base/json_read.h"
#include "sim/prove/regress/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AS_IN_CHIP_FILES JSON_C_TO_STRING_PLAIN

/* ---- sets of chips that share a value ---- */

/* Among the parameters [first, end), the chips with the same value as the one at `first`. */
static json_object *chips_with(const struct baseline *b, size_t first, size_t end)
{
    json_object *const chips = json_object_new_array();
    for (size_t i = first; i < end; i++)
        if (strcmp(b->parameter[i].json, b->parameter[first].json) == 0)
            json_object_array_add(chips, json_object_new_string(b->parameter[i].chip));
    return chips;
}

static size_t end_of_key(const struct baseline *b, size_t first)
{
    size_t end = first + 1;
    while (end < b->parameters && strcmp(b->parameter[end].key, b->parameter[first].key) == 0)
        end++;
    return end;
}

/* Whether it is the first of its key with that value. */
static bool leads(const struct baseline *b, size_t begin, size_t i)
{
    for (size_t j = begin; j < i; j++)
        if (strcmp(b->parameter[j].json, b->parameter[i].json) == 0)
            return false;
    return true;
}

/* The distinct sets of chips, and the lines of the parameters. */
struct sets {
    json_object *chips, *lines; /* lists of names; one object per line */
};

/* Number of the set, which is taken over. */
static size_t set_number(const struct sets *sets, json_object *chips)
{
    const size_t count = json_object_array_length(sets->chips);
    for (size_t i = 0; i < count; i++)
        if (json_object_equal(json_object_array_get_idx(sets->chips, i), chips)) {
            json_object_put(chips);
            return i;
        }
    json_object_array_add(sets->chips, chips);
    return count;
}

/* Values other than text are written as in chip files. */
static json_object *parameter_json(const struct baseline_parameter *p, size_t set)
{
    const struct chip_key *const key = chip_key_find(p->key);
    json_object *const line = json_object_new_object();
    json_object *const value = key && key->type == CHIP_TEXT ? NULL : json_tokener_parse(p->json);
    json_add_text(line, "parameter", p->key);
    json_add_count(line, "chip_set", set);
    json_object_object_add(line, value ? "is" : "text", value ? value : json_object_new_string(p->json));
    return line;
}

/* Makes a line for every distinct pair of key and value. */
static void take_parameters(const struct baseline *b, const struct sets *sets)
{
    for (size_t begin = 0, end; begin < b->parameters; begin = end) {
        end = end_of_key(b, begin);
        for (size_t i = begin; i < end; i++)
            if (leads(b, begin, i))
                json_object_array_add(sets->lines, parameter_json(&b->parameter[i], set_number(sets, chips_with(b, i, end))));
    }
}

/* ---- writing ---- */

static void put_line(json_object *line, FILE *out)
{
    fprintf(out, "%s\n", json_object_to_json_string_ext(line, AS_IN_CHIP_FILES));
    json_object_put(line);
}

/* Whether this is the first value of its characteristic. */
static bool begins_characteristic(const struct baseline *b, size_t i)
{
    return i == 0 || strcmp(b->value[i].name, b->value[i - 1].name) != 0;
}

static void write_head(const struct baseline *b, const struct sets *sets, FILE *out)
{
    json_object *const line = json_object_new_object();
    size_t characteristics = 0;
    for (size_t i = 0; i < b->values; i++)
        characteristics += begins_characteristic(b, i);
    json_add_count(line, "orchard_baseline", BASELINE_FORMAT);
    json_add_text(line, "version", b->version);
    json_add_text(line, "created", b->created);
    json_add_count(line, "characteristics", characteristics);
    json_add_count(line, "values", b->values);
    json_add_count(line, "chip_sets", json_object_array_length(sets->chips));
    json_add_count(line, "parameters", json_object_array_length(sets->lines));
    put_line(line, out);
}

static void write_values(const struct baseline *b, FILE *out)
{
    for (size_t i = 0; i < b->values; i++) {
        if (!begins_characteristic(b, i))
            continue;
        json_object *const line = json_object_new_object();
        json_add_text(line, "characteristic", b->value[i].name);
        json_add_number(line, "tolerance", b->value[i].tolerance);
        put_line(line, out);
    }
    for (size_t i = 0; i < b->values; i++) {
        json_object *const line = json_object_new_object();
        json_add_text(line, "value", b->value[i].name);
        json_add_text(line, "chip", b->value[i].chip);
        json_add_number(line, "is", b->value[i].value);
        put_line(line, out);
    }
}

static void write_parameters(const struct sets *sets, FILE *out)
{
    for (size_t i = 0; i < json_object_array_length(sets->chips); i++) {
        json_object *const line = json_object_new_object();
        json_add_count(line, "chip_set", i);
        json_object_object_add(line, "chips", json_object_get(json_object_array_get_idx(sets->chips, i)));
        put_line(line, out);
    }
    for (size_t i = 0; i < json_object_array_length(sets->lines); i++)
        put_line(json_object_get(json_object_array_get_idx(sets->lines, i)), out);
}

bool baseline_write(const struct baseline *b, FILE *out)
{
    const struct sets sets = {json_object_new_array(), json_object_new_array()};
    const bool ok = sets.chips && sets.lines;
    if (ok) {
        take_parameters(b, &sets);
        write_head(b, &sets, out);
        write_values(b, out);
        write_parameters(&sets, out);
    }
    json_object_put(sets.chips);
    json_object_put(sets.lines);
    return ok && !ferror(out);
}

/* ---- reading ---- */

/* What the head announced and has not come yet. */
struct reader {
    struct baseline *b;
    const char *name;
    size_t line;
    int64_t characteristics, values, chip_sets, parameters;
    json_object *tolerance, *sets; /* tolerances by characteristic; list of lists of chips */
    struct orch_error *error;
};

static bool wrong(const struct reader *r, const char *what)
{
    return orch_fail(r->error, ORCH_USAGE, "%.200s:%zu: %s", r->name, r->line, what);
}

/* Reads a string without anything that would have to be escaped. */
static const char *name_of(const struct json_node *o, const char *key)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+:-";
    const char *const text = json_get_string(o, key);
    if (!*text || strspn(text, letters) != strlen(text))
        json_wrong(o, key, "expected a name of letters, digits and _ . + : -, got \"%.60s\"", text);
    return text;
}

static int64_t count_of(const struct json_node *o, const char *key)
{
    return (int64_t)json_get_integer(o, key, 0, 10000000);
}

static void read_head(struct reader *r, const struct json_node *o)
{
    if (!json_has(o, "orchard_baseline"))
        json_wrong(o, NULL, "not a baseline of orchard (the first line has no \"orchard_baseline\")");
    const int64_t format = count_of(o, "orchard_baseline");
    if (json_ok(o) && format != BASELINE_FORMAT)
        json_wrong(o, NULL, "a baseline in format %lld; this orchard reads %d: record it again", (long long)format,
                   BASELINE_FORMAT);
    snprintf(r->b->version, sizeof r->b->version, "%s", name_of(o, "version"));
    snprintf(r->b->created, sizeof r->b->created, "%s", name_of(o, "created"));
    r->characteristics = count_of(o, "characteristics");
    r->values = count_of(o, "values");
    r->chip_sets = count_of(o, "chip_sets");
    r->parameters = count_of(o, "parameters");
}

static void read_characteristic(struct reader *r, const struct json_node *o)
{
    const char *const name = name_of(o, "characteristic");
    const double tolerance = json_get_number(o, "tolerance", 0, DBL_MAX);
    r->characteristics--;
    if (json_ok(o))
        json_object_object_add(r->tolerance, name, json_object_new_double(tolerance));
}

static void read_value(struct reader *r, const struct json_node *o)
{
    const char *const chip = name_of(o, "chip"), *const name = name_of(o, "value");
    const double value = json_get_number(o, "is", JSON_FINITE), tolerance = json_peek_number(r->tolerance, name, NAN);
    if (isnan(tolerance))
        json_wrong(o, NULL, "a value of a characteristic that was not declared");
    r->values--;
    if (json_ok(o) && !baseline_add_value(r->b, chip, name, value, tolerance))
        o->reader->ok = orch_no_memory(r->error);
}

static void read_set(struct reader *r, const struct json_node *o)
{
    const struct json_node chips = json_get_array(o, "chips", 0, SIZE_MAX);
    struct json_node chip;
    if ((size_t)count_of(o, "chip_set") != json_object_array_length(r->sets))
        json_wrong(o, "chip_set", "a set of chips out of order");
    for (struct json_walk walk = {.of = &chips}; json_next(&walk, &chip);)
        name_of(&chip, NULL);
    r->chip_sets--;
    if (json_ok(o))
        json_object_array_add(r->sets, json_object_get(chips.value));
}

static void read_parameter(struct reader *r, const struct json_node *o)
{
    const char *const key = name_of(o, "parameter"), *const text = json_find_string(o, "text", NULL);
    const struct json_node value = json_member(o, "is");
    const size_t number = (size_t)count_of(o, "chip_set");
    if (!text && !value.present)
        json_wrong(o, NULL, "a parameter without its value (\"is\" or \"text\")");
    if (number >= json_object_array_length(r->sets))
        json_wrong(o, "chip_set", "a set of chips that is not there");
    r->parameters--;
    if (!json_ok(o))
        return;
    const char *const json = text ? text : json_object_to_json_string_ext(value.value, AS_IN_CHIP_FILES);
    json_object *const chips = json_object_array_get_idx(r->sets, number);
    for (size_t i = 0; json_ok(o) && i < json_object_array_length(chips); i++)
        if (!baseline_add_parameter(r->b, json_object_get_string(json_object_array_get_idx(chips, i)), key, json))
            o->reader->ok = orch_no_memory(r->error);
}

static void read_object(struct reader *r, const struct json_node *o)
{
    if (r->line == 1)
        read_head(r, o);
    else if (json_has(o, "value"))
        read_value(r, o);
    else if (json_has(o, "parameter"))
        read_parameter(r, o);
    else if (json_has(o, "characteristic"))
        read_characteristic(r, o);
    else if (json_has(o, "chips"))
        read_set(r, o);
    else
        json_wrong(o, NULL, "a line of no known kind");
}

static bool read_line(struct reader *r, const char *line, size_t length)
{
    char place[256];
    struct json_reader json;
    snprintf(place, sizeof place, "%.200s:%zu", r->name, r->line);
    if (!json_reader_open(&json, place, line, length, NULL))
        return wrong(r, r->line == 1 ? "not a baseline of orchard (JSON lines)" : "cut off, or not JSON");
    json.error = r->error;
    const struct json_node top = json_top(&json);
    read_object(r, &top);
    return json_reader_close(&json);
}

static bool read_lines(struct reader *r, const char *text, size_t size)
{
    enum { LINE_MAX_BYTES = 1 << 20 };
    for (size_t at = 0; at < size;) {
        const char *const end = memchr(text + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - (text + at)) : size - at;
        r->line++;
        if (length > LINE_MAX_BYTES)
            return wrong(r, "a line of more than 1 MiB");
        if (!read_line(r, text + at, length))
            return false;
        at += length + 1;
    }
    if (r->line == 0)
        return orch_fail(r->error, ORCH_USAGE, "%.200s: empty", r->name);
    if (r->characteristics || r->values || r->chip_sets || r->parameters)
        return orch_fail(r->error, ORCH_USAGE,
                         "%.200s: cut off or changed: the head promises %lld more values and %lld more parameters", r->name,
                         (long long)r->values, (long long)r->parameters);
    return true;
}

bool baseline_read_text(struct baseline *b, const char *name, const char *text, size_t size, struct orch_error *error)
{
    struct reader r = {
        .b = b, .name = name, .error = error, .tolerance = json_object_new_object(), .sets = json_object_new_array()};
    const bool ok = (r.tolerance && r.sets) ? read_lines(&r, text, size) : orch_no_memory(error);
    json_object_put(r.tolerance);
    json_object_put(r.sets);
    if (ok)
        baseline_sort(b);
    else
        baseline_free(b);
    return ok;
}
