/* Baselines as text. Lines:
 *
 *     {"orchard_baseline":1,"version":"0.1.0+1234","created":"...","characteristics":84,"values":2310,"chip_sets":70,"parameters":1325}
 *     {"characteristic":"amx.peak_f32","tolerance":0.001}
 *     {"value":"amx.peak_f32","chip":"m1_4p4e_8g","is":1529.1233}
 *     {"chip_set":0,"chips":["m1_4p4e_7g","m1_4p4e_8g"]}
 *     {"parameter":"amx.clock_ghz","chip_set":0,"is":[2.9,2.8]}
 */
#include "sim/prove/regress/baseline.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AS_IN_CHIP_FILES JSON_C_TO_STRING_PLAIN

/* ---- sets of chips that share a value ---- */

enum { SETS_MAX = 4096 };

/* Chips of the run of parameters [first, end) that have the same key and value as the one at `first`, as a JSON list. */
static char *chips_with(const struct baseline *b, size_t first, size_t end)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const char *comma = "";
    for (size_t i = first; i < end; i++) {
        if (strcmp(b->parameter[i].json, b->parameter[first].json) != 0)
            continue;
        fprintf(out, "%s\"%s\"", comma, b->parameter[i].chip);
        comma = ",";
    }
    return fclose(out) == 0 ? text : NULL;
}

static size_t end_of_key(const struct baseline *b, size_t first)
{
    size_t end = first + 1;
    while (end < b->parameters && strcmp(b->parameter[end].key, b->parameter[first].key) == 0)
        end++;
    return end;
}

/* Is it the first of its key with that value? */
static bool leads(const struct baseline *b, size_t begin, size_t i)
{
    for (size_t j = begin; j < i; j++)
        if (strcmp(b->parameter[j].json, b->parameter[i].json) == 0)
            return false;
    return true;
}

struct sets {
    char *text[SETS_MAX];
    size_t count;
    size_t parameters; /* lines of them */
};

static size_t set_number(struct sets *sets, char *text)
{
    for (size_t i = 0; i < sets->count; i++)
        if (strcmp(sets->text[i], text) == 0) {
            free(text);
            return i;
        }
    if (sets->count == SETS_MAX) {
        free(text);
        return SETS_MAX;
    }
    sets->text[sets->count] = text;
    return sets->count++;
}

static void write_parameter(const struct baseline_parameter *p, size_t set, FILE *out)
{
    const struct chip_key *key = chip_key_find(p->key);
    json_object *json = key && key->type == CHIP_TEXT ? NULL : json_tokener_parse(p->json);
    json_object *text = json ? NULL : json_object_new_string(p->json);
    json_object_put(json);
    fprintf(out, "{\"parameter\":\"%s\",\"chip_set\":%zu,\"%s\":%s}\n", p->key, set, text ? "text" : "is",
            text ? json_object_to_json_string_ext(text, AS_IN_CHIP_FILES) : p->json);
    json_object_put(text);
}

/* Visits every distinct (key, value); out NULL = only numbers the sets. */
static bool walk_parameters(const struct baseline *b, struct sets *sets, FILE *out)
{
    for (size_t begin = 0, end; begin < b->parameters; begin = end) {
        end = end_of_key(b, begin);
        for (size_t i = begin; i < end; i++) {
            if (!leads(b, begin, i))
                continue;
            char *text = chips_with(b, i, end);
            const size_t set = text ? set_number(sets, text) : SETS_MAX;
            if (set == SETS_MAX)
                return false;
            sets->parameters += !out;
            if (!out)
                continue;
            const struct baseline_parameter *p = &b->parameter[i];
            write_parameter(p, set, out);
        }
    }
    return true;
}

/* ---- writing ---- */

static size_t write_characteristics(const struct baseline *b, FILE *out)
{
    size_t count = 0;
    for (size_t i = 0; i < b->values; i++) {
        if (i && strcmp(b->value[i].name, b->value[i - 1].name) == 0)
            continue;
        count++;
        if (out)
            fprintf(out, "{\"characteristic\":\"%s\",\"tolerance\":%.10g}\n", b->value[i].name, b->value[i].tolerance);
    }
    return count;
}

static bool write_lines(const struct baseline *b, struct sets *sets, FILE *out)
{
    if (!walk_parameters(b, sets, NULL))
        return false;
    fprintf(
        out,
        "{\"orchard_baseline\":%d,\"version\":\"%s\",\"created\":\"%s\",\"characteristics\":%zu,\"values\":%zu,\"chip_sets\":%zu,"
        "\"parameters\":%zu}\n",
        BASELINE_FORMAT, b->version, b->created, write_characteristics(b, NULL), b->values, sets->count, sets->parameters);
    write_characteristics(b, out);
    for (size_t i = 0; i < b->values; i++)
        fprintf(out, "{\"value\":\"%s\",\"chip\":\"%s\",\"is\":%.10g}\n", b->value[i].name, b->value[i].chip, b->value[i].value);
    for (size_t i = 0; i < sets->count; i++)
        fprintf(out, "{\"chip_set\":%zu,\"chips\":[%s]}\n", i, sets->text[i]);
    return walk_parameters(b, sets, out) && !ferror(out);
}

bool baseline_write(const struct baseline *b, FILE *out)
{
    struct sets *sets = calloc(1, sizeof *sets);
    const bool ok = sets && write_lines(b, sets, out);
    for (size_t i = 0; sets && i < sets->count; i++)
        free(sets->text[i]);
    free(sets);
    return ok;
}

/* ---- reading ---- */

/* What the head promised, and what is still to come. */
struct reader {
    struct baseline *b;
    const char *name;
    size_t line;
    long long characteristics, values, chip_sets, parameters;
    json_object *tolerance, *sets; /* by characteristic; list of lists of chips */
    struct orch_error *error;
};

static bool wrong(const struct reader *r, const char *what)
{
    return orch_fail(r->error, ORCH_USAGE, "%.200s:%zu: %s", r->name, r->line, what);
}

static const char *text_of(json_object *o, const char *key)
{
    json_object *value = json_object_object_get(o, key);
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/* Nothing that would have to be escaped. */
static bool is_name(const char *text)
{
    return text && *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+:-") == strlen(text);
}

static const char *name_of(json_object *o, const char *key)
{
    const char *const text = text_of(o, key);
    return is_name(text) ? text : NULL;
}

static bool count_of(json_object *o, const char *key, long long *count)
{
    json_object *value = json_object_object_get(o, key);
    *count = json_object_get_int64(value);
    return json_object_is_type(value, json_type_int) && *count >= 0 && *count <= 10000000;
}

static bool read_head(struct reader *r, json_object *o)
{
    long long format = 0;
    const char *version = name_of(o, "version"), *created = name_of(o, "created");
    if (!count_of(o, "orchard_baseline", &format))
        return wrong(r, "not a baseline of orchard (the first line has no \"orchard_baseline\")");
    if (format != BASELINE_FORMAT)
        return orch_fail(r->error, ORCH_USAGE, "%.200s: a baseline in format %lld; this orchard reads %d: record it again",
                         r->name, format, BASELINE_FORMAT);
    if (!version || !created || !count_of(o, "characteristics", &r->characteristics) || !count_of(o, "values", &r->values) ||
        !count_of(o, "chip_sets", &r->chip_sets) || !count_of(o, "parameters", &r->parameters))
        return wrong(r, "the head lacks version, created or a count");
    snprintf(r->b->version, sizeof r->b->version, "%s", version);
    snprintf(r->b->created, sizeof r->b->created, "%s", created);
    return true;
}

static bool read_number(json_object *o, const char *key, double *number)
{
    json_object *value = json_object_object_get(o, key);
    *number = json_object_get_double(value);
    return (json_object_is_type(value, json_type_double) || json_object_is_type(value, json_type_int)) && isfinite(*number);
}

static bool read_characteristic(struct reader *r, json_object *o)
{
    double tolerance;
    if (!name_of(o, "characteristic") || !read_number(o, "tolerance", &tolerance) || tolerance < 0)
        return wrong(r, "a characteristic without a name or tolerance");
    r->characteristics--;
    json_object_object_add(r->tolerance, text_of(o, "characteristic"), json_object_new_double(tolerance));
    return true;
}

static bool read_value(struct reader *r, json_object *o)
{
    const char *chip = name_of(o, "chip"), *name = name_of(o, "value");
    json_object *tolerance = NULL;
    double value;
    if (!chip || !name || !read_number(o, "is", &value))
        return wrong(r, "a value without a chip or a number");
    if (!json_object_object_get_ex(r->tolerance, name, &tolerance))
        return wrong(r, "a value of a characteristic that was not declared");
    r->values--;
    return baseline_add_value(r->b, chip, name, value, json_object_get_double(tolerance)) || orch_no_memory(r->error);
}

static bool read_set(struct reader *r, json_object *o)
{
    json_object *chips = json_object_object_get(o, "chips");
    long long number;
    if (!count_of(o, "chip_set", &number) || (size_t)number != json_object_array_length(r->sets) ||
        !json_object_is_type(chips, json_type_array))
        return wrong(r, "a set of chips out of order or without its list");
    for (size_t i = 0; i < json_object_array_length(chips); i++) {
        json_object *const chip = json_object_array_get_idx(chips, i);
        if (!json_object_is_type(chip, json_type_string) || !is_name(json_object_get_string(chip)))
            return wrong(r, "a set of chips with something else in it");
    }
    r->chip_sets--;
    return json_object_array_add(r->sets, json_object_get(chips)) == 0;
}

static bool read_parameter(struct reader *r, json_object *o)
{
    long long number;
    json_object *value = NULL;
    const char *text = text_of(o, "text"), *key = name_of(o, "parameter");
    if (!key || !count_of(o, "chip_set", &number) || (size_t)number >= json_object_array_length(r->sets) ||
        (!text && !json_object_object_get_ex(o, "is", &value)))
        return wrong(r, "a parameter without its value or set of chips");
    const char *json = text ? text : json_object_to_json_string_ext(value, AS_IN_CHIP_FILES);
    json_object *chips = json_object_array_get_idx(r->sets, (size_t)number);
    r->parameters--;
    for (size_t i = 0; i < json_object_array_length(chips); i++) {
        json_object *chip = json_object_array_get_idx(chips, i);
        if (!baseline_add_parameter(r->b, json_object_get_string(chip), key, json))
            return orch_no_memory(r->error);
    }
    return true;
}

static bool read_object(struct reader *r, json_object *o)
{
    if (!json_object_is_type(o, json_type_object))
        return wrong(r, r->line == 1 ? "not a baseline of orchard (JSON lines)" : "cut off, or not JSON");
    if (r->line == 1)
        return read_head(r, o);
    if (text_of(o, "value"))
        return read_value(r, o);
    if (text_of(o, "parameter"))
        return read_parameter(r, o);
    if (text_of(o, "characteristic"))
        return read_characteristic(r, o);
    if (json_object_object_get_ex(o, "chips", NULL))
        return read_set(r, o);
    return wrong(r, "a line of no known kind");
}

static bool read_line(struct reader *r, const char *line, size_t length)
{
    json_tokener *tokener = json_tokener_new();
    json_object *o = tokener ? json_tokener_parse_ex(tokener, line, (int)length) : NULL;
    const bool whole =
        tokener && json_tokener_get_error(tokener) == json_tokener_success && json_tokener_get_parse_end(tokener) == length;
    const bool ok = read_object(r, whole ? o : NULL);
    json_object_put(o);
    json_tokener_free(tokener);
    return ok;
}

static bool read_lines(struct reader *r, const char *text, size_t size)
{
    enum { LINE_MAX_BYTES = 1 << 20 };
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
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
                         r->values, r->parameters);
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
