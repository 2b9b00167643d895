#include "sim/base/json_read.h"

#include "sim/base/suggest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- documents ---- */

static unsigned long line_of(const char *text, size_t offset)
{
    unsigned long line = 1;
    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return line;
}

/* What is wrong; NULL when the text is a document. */
static const char *fault_of(enum json_tokener_error why, json_object *root, bool any)
{
    if (why == json_tokener_continue)
        return "ends in the middle";
    if (why != json_tokener_success)
        return json_tokener_error_desc(why);
    if (any)
        return root ? NULL : "expected a value other than null";
    return json_object_is_type(root, json_type_object) ? NULL : "expected an object { ... }";
}

struct json_reader json_reader_of(const char *file, json_object *value, struct orch_error *error)
{
    return (struct json_reader){.file = file, .error = error, .root = value, .ok = true};
}

/* `any`: the value need not be an object; a number ends at the NUL behind it. */
static bool open_text(struct json_reader *r, const char *text, size_t size, bool any)
{
    const char *const file = r->file;
    struct orch_error *const error = r->error;
    if (size == 0)
        return r->ok = orch_fail(error, ORCH_USAGE, "%.200s:1: empty file", file);
    if (size > JSON_BYTES_MAX)
        return r->ok = orch_fail(error, ORCH_USAGE, "%.200s: larger than %d MiB", file, JSON_BYTES_MAX >> 20);
    json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH_MAX);
    if (!tokener)
        return r->ok = orch_no_memory(error);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    r->root = json_tokener_parse_ex(tokener, text, (int)size + any);
    const char *const fault = fault_of(json_tokener_get_error(tokener), r->root, any);
    if (fault) {
        r->ok = orch_fail(error, ORCH_USAGE, "%.200s:%lu: %s", file, line_of(text, json_tokener_get_parse_end(tokener)), fault);
        json_object_put(r->root);
        r->root = NULL;
    }
    json_tokener_free(tokener);
    return r->ok;
}

bool json_reader_open(struct json_reader *r, const char *file, const char *text, size_t size, struct orch_error *error)
{
    *r = json_reader_of(file, NULL, error);
    return open_text(r, text, size, false);
}

bool json_reader_open_value(struct json_reader *r, const char *file, const char *text, size_t size, struct orch_error *error)
{
    *r = json_reader_of(file, NULL, error);
    return open_text(r, text, size, true);
}

bool json_reader_close(struct json_reader *r)
{
    json_object_put(r->root);
    r->root = NULL;
    return r->ok;
}

/* ---- places and errors ---- */

struct json_node json_top(struct json_reader *r)
{
    return (struct json_node){.reader = r, .value = r->root, .present = true};
}

bool json_ok(const struct json_node *node)
{
    return node->reader->ok;
}

/* "args[1].count" */
static size_t write_place(const struct json_node *node, char *text, size_t size)
{
    const size_t used = node->parent ? write_place(node->parent, text, size) : 0;
    int length = 0;
    if (used + 1 >= size)
        return used;
    if (node->name)
        length = snprintf(text + used, size - used, "%s%.60s", used ? "." : "", node->name);
    else if (node->parent)
        length = snprintf(text + used, size - used, "[%zu]", node->index);
    return used + (size_t)length < size ? used + (size_t)length : size - 1;
}

struct json_node json_member(const struct json_node *node, const char *name)
{
    struct json_node child = {.reader = node->reader, .parent = node, .name = name};
    if (!name)
        return *node;
    child.present = json_object_is_type(node->value, json_type_object) &&
                    json_object_object_get_ex(node->value, name, &child.value) && (child.value || !node->reader->null_is_absent);
    return child;
}

bool json_wrong(const struct json_node *node, const char *name, const char *format, ...)
{
    char text[400];
    if (!json_ok(node))
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    orch_fail(node->reader->error, ORCH_USAGE, "%s", text);
    return json_wrong_in(node, name);
}

/* Names and strings of the document may hold line ends. */
static void keep_one_line(char *text)
{
    for (char *c = text; *c; c++)
        *c = (unsigned char)*c < ' ' ? '?' : *c;
}

bool json_wrong_in(const struct json_node *node, const char *name)
{
    struct json_reader *const r = node->reader;
    char place[160] = "";
    if (!r->ok)
        return false;
    const struct json_node at = json_member(node, name);
    write_place(&at, place, sizeof place);
    r->ok = orch_fail_in(r->error, "%.200s%s%s", r->file, *place ? ": " : "", place);
    if (r->error) {
        keep_one_line(r->error->text);
        keep_one_line(r->error->plain);
    }
    return false;
}

static const char *json_of(json_object *value)
{
    return json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

bool json_has(const struct json_node *node, const char *name)
{
    return json_member(node, name).present;
}

bool json_require(const struct json_node *node, const char *name, const char *fix)
{
    return json_has(node, name) ? json_ok(node) : json_wrong(node, name, "is missing; %s", fix);
}

/* Reports what has members read although it is no object. */
static bool no_object(const struct json_node *node)
{
    return json_wrong(node, NULL, "expected an object { ... }, got %.60s", json_of(node->value));
}

/* The place of a word in a list; `count` when it is not there. */
static size_t find_word(const char *word, const char *const *words, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(words[i], word) != 0)
        i++;
    return i;
}

static struct suggest nearest_of(const char *word, const char *const *words, size_t count)
{
    struct suggest s;
    suggest_start(&s, word);
    for (size_t i = 0; i < count; i++)
        suggest_offer(&s, words[i]);
    return s;
}

/* Refuses the first member that is none of the names; with `near_only`, only if it is nearly one. */
static bool check_names(const struct json_node *node, const char *const *names, size_t count, bool near_only)
{
    struct json_node member;
    if (json_ok(node) && node->present && !json_object_is_type(node->value, json_type_object))
        return no_object(node);
    for (struct json_walk walk = {.of = node}; json_next(&walk, &member);) {
        if (find_word(member.name, names, count) < count)
            continue;
        char hint[96];
        const struct suggest s = nearest_of(member.name, names, count);
        if (!near_only || suggest_best(&s))
            json_wrong(node, NULL, "unknown member \"%.60s\"%s", member.name, suggest_phrase(&s, hint, sizeof hint));
    }
    return json_ok(node);
}

bool json_known(const struct json_node *node, const char *const *names, size_t count)
{
    return check_names(node, names, count, false);
}

bool json_no_misspelling(const struct json_node *node, const char *const *names, size_t count)
{
    return check_names(node, names, count, true);
}

/* ---- members by type ---- */

/* Whether there is a value of one of two types; what is wrong is reported. */
static bool is_there(const struct json_node *child, bool required, enum json_type type, enum json_type other,
                     const char *expected)
{
    if (!json_ok(child))
        return false;
    if (!child->present && child->parent->present && !json_object_is_type(child->parent->value, json_type_object))
        return no_object(child->parent);
    if (!child->present)
        return required && json_wrong(child, NULL, "is missing; expected %s", expected);
    return json_object_is_type(child->value, type) || json_object_is_type(child->value, other) ||
           json_wrong(child, NULL, "expected %s, got %.60s", expected, json_of(child->value));
}

static bool take_number(const struct json_node *child, bool required, double low, double high, double *to)
{
    if (!is_there(child, required, json_type_double, json_type_int, "a number"))
        return false;
    const double number = json_object_get_double(child->value);
    if (number >= low && number <= high)
        *to = number;
    else if (low <= -DBL_MAX && high >= DBL_MAX)
        json_wrong(child, NULL, "expected a finite number, got %.60s", json_of(child->value));
    else
        json_wrong(child, NULL, "expected a number from %g to %g, got %.60s", low, high, json_of(child->value));
    return json_ok(child);
}

static bool take_integer(const struct json_node *child, bool required, uint64_t low, uint64_t high, uint64_t *to)
{
    if (!is_there(child, required, json_type_int, json_type_int, "an integer"))
        return false;
    /* json-c keeps numbers beyond 64 bits at the nearest end. */
    const bool negative = json_object_get_int64(child->value) < 0;
    const uint64_t number = json_object_get_uint64(child->value);
    if (negative || number < low || number > high)
        return json_wrong(child, NULL, "expected an integer from %llu to %llu, got %.60s", (unsigned long long)low,
                          (unsigned long long)high, json_of(child->value));
    *to = number;
    return true;
}

static bool take_string(const struct json_node *child, bool required, const char **to)
{
    if (!is_there(child, required, json_type_string, json_type_string, "a string"))
        return false;
    const char *const text = json_object_get_string(child->value);
    if (strlen(text) != (size_t)json_object_get_string_len(child->value))
        return json_wrong(child, NULL, "expected a string without \\u0000");
    *to = text;
    return true;
}

static struct json_node take_object(const struct json_node *node, const char *name, bool required)
{
    struct json_node child = json_member(node, name);
    if (!is_there(&child, required, json_type_object, json_type_object, "an object { ... }"))
        child.value = NULL;
    return child;
}

static struct json_node take_array(const struct json_node *node, const char *name, bool required, size_t least, size_t most)
{
    struct json_node child = json_member(node, name);
    if (!is_there(&child, required, json_type_array, json_type_array, "an array [ ... ]")) {
        child.value = NULL;
        return child;
    }
    const size_t count = json_object_array_length(child.value);
    if (count < least || count > most) {
        if (most == SIZE_MAX)
            json_wrong(&child, NULL, "expected an array of at least %zu items, got %zu", least, count);
        else
            json_wrong(&child, NULL, "expected an array of %zu to %zu items, got %zu", least, most, count);
        child.value = NULL;
    }
    return child;
}

double json_get_number(const struct json_node *node, const char *name, double low, double high)
{
    const struct json_node child = json_member(node, name);
    double number = 0;
    take_number(&child, true, low, high, &number);
    return number;
}

double json_find_number(const struct json_node *node, const char *name, double low, double high, double absent)
{
    const struct json_node child = json_member(node, name);
    double number = absent;
    take_number(&child, false, low, high, &number);
    return number;
}

uint64_t json_get_integer(const struct json_node *node, const char *name, uint64_t low, uint64_t high)
{
    const struct json_node child = json_member(node, name);
    uint64_t number = 0;
    take_integer(&child, true, low, high, &number);
    return number;
}

uint64_t json_find_integer(const struct json_node *node, const char *name, uint64_t low, uint64_t high, uint64_t absent)
{
    const struct json_node child = json_member(node, name);
    uint64_t number = absent;
    take_integer(&child, false, low, high, &number);
    return number;
}

const char *json_get_string(const struct json_node *node, const char *name)
{
    const struct json_node child = json_member(node, name);
    const char *text = "";
    take_string(&child, true, &text);
    return text;
}

const char *json_find_string(const struct json_node *node, const char *name, const char *absent)
{
    const struct json_node child = json_member(node, name);
    const char *text = absent;
    take_string(&child, false, &text);
    return text;
}

void json_get_text(const struct json_node *node, const char *name, char *to, size_t size)
{
    if (snprintf(to, size, "%s", json_get_string(node, name)) >= (int)size)
        json_wrong(node, name, "longer than %zu letters", size - 1);
}

const char *json_get_scalar(const struct json_node *node, const char *name)
{
    const struct json_node child = json_member(node, name);
    if (json_object_is_type(child.value, json_type_string))
        return json_get_string(node, name);
    return is_there(&child, true, json_type_int, json_type_double, "a number or a string") ? json_object_get_string(child.value)
                                                                                           : "";
}

/* Refuses a word that is none of the list. */
static void no_such_word(const struct json_node *node, const char *name, const char *word, const char *const *words, size_t count)
{
    const struct suggest s = nearest_of(word, words, count);
    char all[160] = "", hint[96];
    size_t used = 0;
    for (size_t i = 0; i < count && used + 1 < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s\"%s\"",
                                 i == 0          ? ""
                                 : i + 1 < count ? ", "
                                                 : " or ",
                                 words[i]);
    json_wrong(node, name, "expected %s, got \"%.60s\"%s", all, word, suggest_phrase(&s, hint, sizeof hint));
}

unsigned json_get_word(const struct json_node *node, const char *name, const char *const *words, size_t count)
{
    const char *const word = json_get_string(node, name);
    const size_t found = json_ok(node) ? find_word(word, words, count) : 0;
    if (found < count)
        return (unsigned)found;
    no_such_word(node, name, word, words, count);
    return 0;
}

bool json_find_boolean(const struct json_node *node, const char *name, bool absent)
{
    const struct json_node child = json_member(node, name);
    return is_there(&child, false, json_type_boolean, json_type_boolean, "a boolean") ? json_object_get_boolean(child.value)
                                                                                      : absent;
}

struct json_node json_get_object(const struct json_node *node, const char *name)
{
    return take_object(node, name, true);
}

struct json_node json_find_object(const struct json_node *node, const char *name)
{
    return take_object(node, name, false);
}

struct json_node json_get_array(const struct json_node *node, const char *name, size_t least, size_t most)
{
    return take_array(node, name, true, least, most);
}

struct json_node json_find_array(const struct json_node *node, const char *name, size_t least, size_t most)
{
    return take_array(node, name, false, least, most);
}

/* ---- items ---- */

size_t json_count(const struct json_node *node)
{
    if (json_object_is_type(node->value, json_type_array))
        return json_object_array_length(node->value);
    return json_object_is_type(node->value, json_type_object) ? (size_t)json_object_object_length(node->value) : 0;
}

bool json_next(struct json_walk *walk, struct json_node *item)
{
    const struct json_node *const of = walk->of;
    if (!json_ok(of) || walk->index >= json_count(of))
        return false;
    *item = (struct json_node){.reader = of->reader, .parent = of, .index = walk->index, .present = true};
    if (json_object_is_type(of->value, json_type_array)) {
        item->value = json_object_array_get_idx(of->value, walk->index);
    } else {
        walk->entry = walk->index ? lh_entry_next(walk->entry) : lh_table_head(json_object_get_object(of->value));
        item->name = lh_entry_k(walk->entry);
        item->value = lh_entry_v(walk->entry);
    }
    walk->index++;
    return true;
}
