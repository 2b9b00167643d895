/* SPEC.json: reading, and one form for hashing and keeping. sim/ask/sweep/README.md documents the format. */
#include "isa/array_count.h"
#include "sim/ask/sweep/sweep_spec.h"

#include "sim/base/json_out.h"
#include "sim/base/suggest.h"
#include "sim/base/content_hash.h"
#include "sim/base/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static bool read_name(struct sweep_spec *spec, json_object *value, struct orch_error *error)
{
    if (!json_object_is_type(value, json_type_string) || json_object_get_string_len(value) > 100)
        return orch_fail(error, ORCH_USAGE, "name: expected a text of at most 100 letters");
    spec->name = strdup(json_object_get_string(value));
    return spec->name || orch_no_memory(error);
}

static bool read_workload(struct sweep_spec *spec, json_object *value, struct orch_error *error)
{
    if (json_object_is_type(value, json_type_string))
        return sweep_spec_add_workload(spec, json_object_get_string(value), strlen(json_object_get_string(value)), error);
    if (!json_object_is_type(value, json_type_array))
        return orch_fail(error, ORCH_USAGE, "workload: expected a text or a list of texts");
    for (size_t i = 0; i < json_object_array_length(value); i++) {
        json_object *const item = json_object_array_get_idx(value, i);
        if (!json_object_is_type(item, json_type_string))
            return orch_fail(error, ORCH_USAGE, "workload: expected a text or a list of texts");
        if (!sweep_spec_add_workload(spec, json_object_get_string(item), strlen(json_object_get_string(item)), error))
            return false;
    }
    return true;
}

/* The text of a setting's value; NULL with an error. Lives as long as the value. */
static const char *value_text(const char *key, json_object *value, struct orch_error *error)
{
    const enum json_type type = json_object_get_type(value);

    if (type == json_type_string || type == json_type_int || type == json_type_double)
        return json_object_get_string(value);
    orch_fail(error, ORCH_USAGE, "%.60s: expected a number or a text", key);
    return NULL;
}

static bool read_base(struct sweep_spec *spec, json_object *value, struct orch_error *error)
{
    if (!json_object_is_type(value, json_type_object))
        return orch_fail(error, ORCH_USAGE, "base: expected {\"KEY\": VALUE, ...}");
    json_object_object_foreach(value, key, item)
    {
        const char *const text = value_text(key, item, error);
        if (!text || !sweep_spec_base(spec, key, text, error))
            return orch_fail_in(error, "base");
    }
    return true;
}

static bool is_number(json_object *value)
{
    return json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double);
}

static bool member_of(const char *word, const char *const *words, size_t count, const char *where, struct orch_error *error)
{
    struct suggest nearest;
    char phrase[160];

    suggest_start(&nearest, word);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], word) == 0)
            return true;
        suggest_offer(&nearest, words[i]);
    }
    return orch_fail(error, ORCH_USAGE, "unknown member '%.60s'%s%.60s%s", word, *where ? " of " : "", where,
                     suggest_phrase(&nearest, phrase, sizeof phrase));
}

static bool read_range(struct sweep_spec *spec, const char *key, json_object *value, struct orch_error *error)
{
    static const char *const members[] = {"from", "to", "steps", "scale"};
    json_object *from = json_object_object_get(value, "from"), *to = json_object_object_get(value, "to"),
                *steps = json_object_object_get(value, "steps"), *scale = json_object_object_get(value, "scale");
    const char *const text = scale ? json_object_get_string(scale) : "linear";

    json_object_object_foreach(value, name, item)
    {
        (void)item;
        if (!member_of(name, members, 4, key, error))
            return false;
    }
    if (!is_number(from) || !is_number(to) || !isfinite(json_object_get_double(from)) || !isfinite(json_object_get_double(to)))
        return orch_fail(error, ORCH_USAGE, "%.60s: a range needs \"from\" and \"to\", both numbers", key);
    if (steps && (!json_object_is_type(steps, json_type_int) || json_object_get_int64(steps) < 1))
        return orch_fail(error, ORCH_USAGE, "%.60s: \"steps\" is a whole number from 2", key);
    if (!text || (strcmp(text, "linear") != 0 && strcmp(text, "log") != 0))
        return orch_fail(error, ORCH_USAGE, "%.60s: \"scale\" is \"linear\" or \"log\"", key);
    return sweep_spec_vary_range(spec, key, json_object_get_double(from), json_object_get_double(to),
                                 steps ? (size_t)json_object_get_int64(steps) : 0, strcmp(text, "log") == 0, error);
}

static bool read_list(struct sweep_spec *spec, const char *key, json_object *value, struct orch_error *error)
{
    const size_t count = json_object_array_length(value);
    const char **const level = calloc(count + 1, sizeof *level);
    bool ok = level != NULL || orch_no_memory(error);

    for (size_t i = 0; ok && i < count; i++) {
        level[i] = value_text(key, json_object_array_get_idx(value, i), error);
        ok = level[i] != NULL;
    }
    ok = ok && sweep_spec_vary_list(spec, key, level, count, error);
    free(level);
    return ok;
}

static bool read_vary(struct sweep_spec *spec, json_object *value, struct orch_error *error)
{
    if (!json_object_is_type(value, json_type_object))
        return orch_fail(error, ORCH_USAGE, "vary: expected {\"KEY\": [values] or {\"from\", \"to\"}, ...}");
    json_object_object_foreach(value, key, item)
    {
        const bool ok = json_object_is_type(item, json_type_array) ? read_list(spec, key, item, error)
                        : json_object_is_type(item, json_type_object)
                            ? read_range(spec, key, item, error)
                            : orch_fail(error, ORCH_USAGE, "%.60s: expected [values] or {\"from\", \"to\"}", key);
        if (!ok)
            return orch_fail_in(error, "vary");
    }
    return true;
}

static bool read_design(struct sweep_spec *spec, json_object *value, struct orch_error *error)
{
    const char *const text = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";

    for (unsigned d = SWEEP_GRID; d <= SWEEP_LHS; d++)
        if (strcmp(text, sweep_design_name((enum sweep_design_kind)d)) == 0) {
            spec->design = (enum sweep_design_kind)d;
            return true;
        }
    return orch_fail(error, ORCH_USAGE, "design: expected \"grid\", \"random\" or \"lhs\"");
}

static bool read_count(json_object *value, const char *what, int64_t most, uint64_t *count, struct orch_error *error)
{
    if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 1 || json_object_get_int64(value) > most)
        return orch_fail(error, ORCH_USAGE, "%s: expected a whole number from 1 to %lld", what, (long long)most);
    *count = (uint64_t)json_object_get_int64(value);
    return true;
}

static bool read_points(struct sweep_spec *spec, json_object *value, struct orch_error *error)
{
    return read_count(value, "points", SWEEP_POINTS_MAX, &spec->samples, error);
}

static bool read_seed(struct sweep_spec *spec, json_object *value, struct orch_error *error)
{
    return read_count(value, "seed", UINT32_MAX, &spec->seed, error);
}

static bool read_tolerance(struct sweep_spec *spec, json_object *value, struct orch_error *error)
{
    spec->tolerance = is_number(value) ? json_object_get_double(value) : -1;
    return (spec->tolerance >= 0 && spec->tolerance <= 1) ||
           orch_fail(error, ORCH_USAGE, "tolerance: expected a number from 0 to 1");
}

static bool read_members(struct sweep_spec *spec, json_object *root, struct orch_error *error)
{
    static const char *const members[] = {"name", "workload", "base", "vary", "design", "points", "seed", "tolerance"};
    static bool (*const readers[])(struct sweep_spec *, json_object *, struct orch_error *) = {
        read_name, read_workload, read_base, read_vary, read_design, read_points, read_seed, read_tolerance};
    enum { MEMBERS = ARRAY_COUNT(members) };

    json_object_object_foreach(root, name, value)
    {
        size_t i = 0;
        if (!member_of(name, members, MEMBERS, "", error))
            return false;
        while (strcmp(members[i], name) != 0)
            i++;
        if (!readers[i](spec, value, error))
            return false;
    }
    if (spec->design == SWEEP_GRID && spec->samples)
        return orch_fail(error, ORCH_USAGE,
                         "points: a grid has as many as its levels make (\"design\" is \"random\" or \"lhs\"?)");
    return sweep_spec_finish(spec, error);
}

/* ---- keys that come twice ---- */

/* json-c keeps the last of equal keys and says nothing, so the text is looked through: names by depth of the objects around. */
enum { DEPTH_MAX = 16, NAMES_MAX = 256 };

struct names {
    const char *text[NAMES_MAX];
    size_t length[NAMES_MAX], count;
    size_t begin[DEPTH_MAX + 1]; /* first name of the innermost objects */
    unsigned depth;
};

static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at;
}

static bool add_name(struct names *n, const char *text, size_t length, struct orch_error *error)
{
    for (size_t i = n->begin[n->depth]; i < n->count; i++)
        if (n->length[i] == length && memcmp(n->text[i], text, length) == 0)
            return orch_fail(error, ORCH_USAGE, "'%.*s' is given twice", (int)(length < 60 ? length : 60), text);
    if (n->count == NAMES_MAX)
        return orch_fail(error, ORCH_USAGE, "more than %d members", NAMES_MAX);
    n->text[n->count] = text;
    n->length[n->count++] = length;
    return true;
}

/* The text is valid JSON of limited depth: json_text_parse has seen it. */
static bool names_differ(const char *text, size_t size, struct orch_error *error)
{
    const char *const end = text + size;
    struct names n = {.count = 0};

    for (const char *at = text; at < end; at++) {
        if (*at == '{' && n.depth < DEPTH_MAX) {
            n.begin[++n.depth] = n.count;
        } else if (*at == '}' && n.depth > 0) {
            n.count = n.begin[n.depth--];
        } else if (*at == '"') {
            const char *const close = skip_string(at, end), *after = close + 1;
            while (after < end && strchr(" \t\r\n", *after) && *after)
                after++;
            if (after < end && *after == ':' && !add_name(&n, at + 1, (size_t)(close - at - 1), error))
                return false;
            at = close;
        }
    }
    return true;
}

/* File name without folder and .json, as errors of json_text_parse want it. */
static void stem_of(const char *name, char stem[64])
{
    const char *const slash = strrchr(name, '/');

    snprintf(stem, 64, "%.63s", slash ? slash + 1 : name);
    char *const dot = strrchr(stem, '.');
    if (dot && strcmp(dot, ".json") == 0)
        *dot = 0;
}

struct sweep_spec *sweep_spec_parse(const char *name, const char *text, size_t size, struct orch_error *error)
{
    char stem[64];

    stem_of(name, stem);
    json_object *const root = json_text_parse(stem, text, size, error);
    struct sweep_spec *spec = root ? sweep_spec_create() : NULL;
    if (root && !spec)
        orch_no_memory(error);
    if (spec && (!names_differ(text, size, error) || !read_members(spec, root, error))) {
        orch_fail_in(error, "%s.json", stem);
        sweep_spec_free(spec);
        spec = NULL;
    }
    json_object_put(root);
    return spec;
}

/* ---- writing ---- */

static json_object *exact_number(double number)
{
    char text[32];

    snprintf(text, sizeof text, "%.17g", number);
    return json_object_new_double_s(number, text);
}

static json_object *texts_json(char *const *text, size_t count)
{
    json_object *const list = json_object_new_array();

    for (size_t i = 0; i < count; i++)
        json_object_array_add(list, json_object_new_string(text[i]));
    return list;
}

static json_object *range_json(const struct sweep_key *key)
{
    json_object *const range = json_object_new_object();

    json_object_object_add(range, "from", exact_number(key->low));
    json_object_object_add(range, "to", exact_number(key->high));
    if (key->steps)
        json_add_count(range, "steps", key->steps);
    json_add_text(range, "scale", key->log ? "log" : "linear");
    return range;
}

static json_object *spec_json(const struct sweep_spec *spec)
{
    json_object *const root = json_object_new_object(), *const vary = json_object_new_object();
    char *const base = study_setting_json(&spec->base);

    json_object_object_add(root, "workload", texts_json(spec->workload, spec->workload_count));
    json_object_object_add(root, "base", base ? json_tokener_parse(base) : NULL);
    for (size_t k = 0; k < spec->key_count; k++)
        json_object_object_add(vary, spec->key[k].name,
                               spec->key[k].range ? range_json(&spec->key[k])
                                                  : texts_json(spec->key[k].level, spec->key[k].level_count));
    json_object_object_add(root, "vary", vary);
    json_add_text(root, "design", sweep_design_name(spec->design));
    if (spec->design != SWEEP_GRID)
        json_add_count(root, "points", spec->samples);
    json_add_count(root, "seed", spec->seed);
    json_object_object_add(root, "tolerance", exact_number(spec->tolerance));
    free(base);
    return root;
}

static char *text_of(json_object *root)
{
    const char *const text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    char *const copy = text ? strdup(text) : NULL;

    json_object_put(root);
    return copy;
}

char *sweep_spec_json(const struct sweep_spec *spec)
{
    json_object *const root = spec_json(spec);

    if (spec->name)
        json_add_text(root, "name", spec->name);
    return text_of(root);
}

bool sweep_spec_hash(const struct sweep_spec *spec, const char *version, char hash[DB_HASH_SIZE])
{
    char *const text = text_of(spec_json(spec));
    struct content_hash h;

    if (!text)
        return false;
    content_hash_begin(&h);
    content_hash_add_text(&h, text);
    content_hash_add_text(&h, version);
    content_hash_end(&h, hash);
    free(text);
    return true;
}
