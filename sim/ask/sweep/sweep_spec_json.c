/* Reads SPEC.json, and writes specifications in the canonical form that is hashed and stored. sim/ask/sweep/README.md documents
 * the format. */
#include "isa/array_count.h"
#include "sim/ask/sweep/sweep_spec.h"

#include "sim/base/content_hash.h"
#include "sim/base/json_out.h"
#include "sim/base/json_read.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* Stops the reader when a function that knows nothing of JSON has reported an error. */
static void check(bool done, const struct json_node *node)
{
    if (!done)
        json_wrong_in(node, NULL);
}

static void read_name(struct sweep_spec *spec, const struct json_node *top)
{
    char name[101];
    if (!json_has(top, "name"))
        return;
    json_get_text(top, "name", name, sizeof name);
    spec->name = strdup(name);
    check(spec->name || orch_no_memory(top->reader->error), top);
}

static void add_workload(struct sweep_spec *spec, const struct json_node *item)
{
    const char *const text = json_get_string(item, NULL);
    if (json_ok(item))
        check(sweep_spec_add_workload(spec, text, strlen(text), item->reader->error), item);
}

/* Reads a string or an array of strings. */
static void read_workload(struct sweep_spec *spec, const struct json_node *top)
{
    const struct json_node value = json_member(top, "workload");
    struct json_node item;
    if (json_object_is_type(value.value, json_type_string))
        add_workload(spec, &value);
    else if (value.present && !json_object_is_type(value.value, json_type_array))
        json_wrong(&value, NULL, "expected a string or an array of strings");
    else
        for (struct json_walk walk = {.of = &value}; json_next(&walk, &item);)
            add_workload(spec, &item);
}

static void read_base(struct sweep_spec *spec, const struct json_node *top)
{
    const struct json_node base = json_find_object(top, "base");
    struct json_node item;
    for (struct json_walk walk = {.of = &base}; json_next(&walk, &item);) {
        const char *const text = json_get_scalar(&item, NULL);
        if (json_ok(&item))
            check(sweep_spec_base(spec, item.name, text, top->reader->error), &base);
    }
}

static void read_range(struct sweep_spec *spec, const struct json_node *range)
{
    static const char *const members[] = {"from", "to", "steps", "scale"}, *const scales[] = {"linear", "log"};
    json_known(range, members, ARRAY_COUNT(members));
    const double from = json_get_number(range, "from", JSON_FINITE), to = json_get_number(range, "to", JSON_FINITE);
    const size_t steps = json_find_integer(range, "steps", 2, SWEEP_POINTS_MAX, 0);
    const bool log = json_has(range, "scale") && json_get_word(range, "scale", scales, ARRAY_COUNT(scales)) == 1;
    if (json_ok(range))
        check(sweep_spec_vary_range(spec, range->name, from, to, steps, log, range->reader->error), range->parent);
}

static void read_list(struct sweep_spec *spec, const struct json_node *list)
{
    const size_t count = json_count(list);
    const char **const level = calloc(count + 1, sizeof *level);
    struct json_node item;
    check(level != NULL || orch_no_memory(list->reader->error), list);
    for (struct json_walk walk = {.of = list}; json_next(&walk, &item);)
        level[item.index] = json_get_scalar(&item, NULL);
    if (json_ok(list))
        check(sweep_spec_vary_list(spec, list->name, level, count, list->reader->error), list->parent);
    free(level);
}

static void read_vary(struct sweep_spec *spec, const struct json_node *top)
{
    const struct json_node vary = json_find_object(top, "vary");
    struct json_node item;
    for (struct json_walk walk = {.of = &vary}; json_next(&walk, &item);) {
        if (json_object_is_type(item.value, json_type_array))
            read_list(spec, &item);
        else if (json_object_is_type(item.value, json_type_object))
            read_range(spec, &item);
        else
            json_wrong(&item, NULL, "expected [values] or {\"from\", \"to\"}");
    }
}

static void read_design(struct sweep_spec *spec, const struct json_node *top)
{
    const char *designs[SWEEP_LHS + 1];
    for (unsigned d = SWEEP_GRID; d <= SWEEP_LHS; d++)
        designs[d] = sweep_design_name((enum sweep_design_kind)d);
    if (json_has(top, "design"))
        spec->design = (enum sweep_design_kind)json_get_word(top, "design", designs, ARRAY_COUNT(designs));
    spec->samples = json_find_integer(top, "points", 1, SWEEP_POINTS_MAX, spec->samples);
    spec->seed = json_find_integer(top, "seed", 1, UINT32_MAX, spec->seed);
    spec->tolerance = json_find_number(top, "tolerance", 0, 1, spec->tolerance);
    if (spec->design == SWEEP_GRID && spec->samples)
        json_wrong(top, "points", "a grid has as many as its levels make (\"design\" is \"random\" or \"lhs\"?)");
}

static void read_spec(struct sweep_spec *spec, const struct json_node *top)
{
    static const char *const members[] = {"name", "workload", "base", "vary", "design", "points", "seed", "tolerance"};
    json_known(top, members, ARRAY_COUNT(members));
    read_name(spec, top);
    read_workload(spec, top);
    read_base(spec, top);
    read_vary(spec, top);
    read_design(spec, top);
    if (json_ok(top))
        check(sweep_spec_finish(spec, top->reader->error), top);
}

struct sweep_spec *sweep_spec_parse(const char *name, const char *text, size_t size, struct orch_error *error)
{
    const char *const slash = strrchr(name, '/');
    struct json_reader r;
    if (!json_reader_open(&r, slash ? slash + 1 : name, text, size, error))
        return NULL;
    const struct json_node top = json_top(&r);
    struct sweep_spec *const spec = sweep_spec_create();
    check(spec || orch_no_memory(error), &top);
    if (json_names_differ(&r, text, size))
        read_spec(spec, &top);
    if (json_reader_close(&r))
        return spec;
    sweep_spec_free(spec);
    return NULL;
}

/* ---- writing ---- */

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
    json_object_object_add(range, "from", json_exact_number(key->low));
    json_object_object_add(range, "to", json_exact_number(key->high));
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
    json_object_object_add(root, "tolerance", json_exact_number(spec->tolerance));
    free(base);
    return root;
}

char *sweep_spec_json(const struct sweep_spec *spec)
{
    json_object *const root = spec_json(spec);
    if (spec->name)
        json_add_text(root, "name", spec->name);
    return json_line(root);
}

bool sweep_spec_hash(const struct sweep_spec *spec, const char *version, char hash[DB_HASH_SIZE])
{
    char *const text = json_line(spec_json(spec));
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
