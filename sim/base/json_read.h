/* JSON documents, read with types, ranges and names checked.
 *
 *     struct json_reader r;
 *     if (!json_reader_open(&r, "fan.json", text, size, error))
 *         return false;
 *     const struct json_node top = json_top(&r), fan = json_get_array(&top, "fan", 2, FAN_POINTS);
 *     struct json_node point;
 *     for (struct json_walk walk = {.of = &fan}; json_next(&walk, &point);)
 *         add(json_get_number(&point, "rpm", 0, 10000), json_get_number(&point, "k_per_w", JSON_FINITE));
 *     return json_reader_close(&r);
 *
 * The first error sticks: it fills *error with ORCH_USAGE and one line "FILE: PLACE: reason", where PLACE is the path of the
 * value
 * ("args[1].count"), and from then on every read does nothing and returns what stands for an absent member. A caller therefore
 * reads all members and asks once whether all went well.
 */
#ifndef ORCHARD_SIM_BASE_JSON_READ_H
#define ORCHARD_SIM_BASE_JSON_READ_H

#include "sim/base/error.h"

#include <float.h>
#include <json-c/json.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_BYTES_MAX = 1 << 24, JSON_DEPTH_MAX = 16 }; /* of a document */

/* ---- documents ---- */

struct json_reader {
    const char *file; /* for messages; borrowed */
    struct orch_error *error;
    json_object *root;
    bool ok;             /* nothing has been wrong so far; a caller may clear it after reporting an error of its own */
    bool null_is_absent; /* a member that is null counts as absent; else null is a value of the wrong type */
};

/* Parses a document: strict JSON in UTF-8, one object and nothing after it. False with "FILE:LINE: reason"; then nothing has to
 * be closed. Nodes and strings that were read point into the document and live until it is closed, or until the last reference to
 * r->root is put. */
bool json_reader_open(struct json_reader *r, const char *file, const char *text, size_t size, struct orch_error *error);
/* The same of text that may be any value but null, such as a number or an array. The text must end with a NUL, which `size` does
 * not count. */
bool json_reader_open_value(struct json_reader *r, const char *file, const char *text, size_t size, struct orch_error *error);
/* Reads a value that has been parsed already, or made; NULL = null. Closing releases it; who keeps it does not close. */
struct json_reader json_reader_of(const char *file, json_object *value, struct orch_error *error);
/* Releases the document; returns r->ok. */
bool json_reader_close(struct json_reader *r);
/* json-c keeps the last of equal names of an object silently: refuses text, which must be the text of the document, that has any.
 */
bool json_names_differ(struct json_reader *r, const char *text, size_t size);

/* ---- values and their places ---- */

/* A value and where it stands. The parent has to outlive it. */
struct json_node {
    struct json_reader *reader;
    const struct json_node *parent; /* NULL = the top */
    const char *name;               /* of the member; NULL = item `index` of an array, or the top */
    size_t index;
    json_object *value; /* NULL = null, absent or refused */
    bool present;
};

struct json_node json_top(struct json_reader *r);
/* Whether nothing has been wrong in the node's document so far. */
bool json_ok(const struct json_node *node);
/* Reports an error at a member (NULL: at the node itself) unless there has been one; returns false. */
bool json_wrong(const struct json_node *node, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Stops the reader after a called function has reported an error: puts "FILE: PLACE: " in front of it; returns false. */
bool json_wrong_in(const struct json_node *node, const char *name);

/* In all that follows, `name` is a member of an object, or NULL for the node itself, such as an item of an array. */

/* Whatever its type; without a value when absent. */
struct json_node json_member(const struct json_node *node, const char *name);
bool json_has(const struct json_node *node, const char *name);
/* Refuses an absent member with "is missing; FIX"; returns json_ok. */
bool json_require(const struct json_node *node, const char *name, const char *fix);
/* Refuses what is no object, and members other than these with the nearest name; returns json_ok. */
bool json_known(const struct json_node *node, const char *const *names, size_t count);
/* Refuses members that are nearly one of these; others are the author's own. Returns json_ok. */
bool json_no_misspelling(const struct json_node *node, const char *const *names, size_t count);

/* ---- members that must be there ---- */

/* Bounds for numbers: all but infinities, and all (an infinity is written as a number that is too large). */
#define JSON_FINITE -DBL_MAX, DBL_MAX
#define JSON_ANY    -INFINITY, INFINITY

/* 0 when refused. */
double json_get_number(const struct json_node *node, const char *name, double low, double high);
uint64_t json_get_integer(const struct json_node *node, const char *name, uint64_t low, uint64_t high);
/* "" when refused. A string with a NUL in it is refused. */
const char *json_get_string(const struct json_node *node, const char *name);
/* A string that is copied, of at most size - 1 bytes. */
void json_get_text(const struct json_node *node, const char *name, char *to, size_t size);
/* A string or a number, as it is written. "" when refused. */
const char *json_get_scalar(const struct json_node *node, const char *name);
/* A string that is one of some words; its index, 0 when refused. */
unsigned json_get_word(const struct json_node *node, const char *name, const char *const *words, size_t count);
struct json_node json_get_object(const struct json_node *node, const char *name);
/* An array of `least` to `most` items. */
struct json_node json_get_array(const struct json_node *node, const char *name, size_t least, size_t most);

/* ---- members that may be absent ---- */

double json_find_number(const struct json_node *node, const char *name, double low, double high, double absent);
uint64_t json_find_integer(const struct json_node *node, const char *name, uint64_t low, uint64_t high, uint64_t absent);
const char *json_find_string(const struct json_node *node, const char *name, const char *absent);
bool json_find_boolean(const struct json_node *node, const char *name, bool absent);
/* Absent: the node has no value, and its members are absent in turn. */
struct json_node json_find_object(const struct json_node *node, const char *name);
struct json_node json_find_array(const struct json_node *node, const char *name, size_t least, size_t most);

/* ---- items of an array, members of an object ---- */

size_t json_count(const struct json_node *node);
struct json_walk {
    const struct json_node *of; /* an array or an object; one without a value has no items */
    size_t index;
    struct lh_entry *entry;
};
/* The next item or member, in the order of the text; false past the last one and when something has been wrong. */
bool json_next(struct json_walk *walk, struct json_node *item);

/* ---- documents that are not checked: of other programs, and our own as this program has just made them ---- */

/* NULL = absent, null or of another type. */
json_object *json_peek(json_object *object, const char *name, enum json_type type);
json_object *json_peek_any(json_object *object, const char *name);
const char *json_peek_string(json_object *object, const char *name);
/* A number, also in quotes; else `absent`. */
double json_peek_number(json_object *object, const char *name, double absent);

#endif
