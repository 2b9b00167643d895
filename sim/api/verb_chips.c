/* The verb chips: shows what the chip database knows. */
#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/api/api.h"

#include <stdlib.h>
#include <string.h>

static double number_or_nan(const struct chip *chip, const char *key)
{
    const struct chip_value *value = chip_value(chip, key);
    return value && value->known ? value->number : __builtin_nan("");
}

static json_object *aliases_json(const struct chip_db *db, const char *id)
{
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < chip_db_count(db); i++)
        for (size_t a = 0; strcmp(chip_db_id(db, i), id) == 0 && a < chip_db_alias_count(db, i); a++)
            json_object_array_add(list, json_object_new_string(chip_db_alias(db, i, a)));
    return list;
}

/* Identifies a chip at the head of a list row and of `show`. */
static json_object *chip_json(const struct chip_db *db, const struct chip *chip)
{
    json_object *row = json_object_new_object();
    json_add_text(row, "id", chip_id(chip));
    json_add_text(row, "name", chip_name(chip));
    json_object_object_add(row, "aliases", aliases_json(db, chip_id(chip)));
    json_add_bool(row, "experimental", chip_experimental(chip));
    json_add_bool(row, "modified", chip_modified(chip));
    json_add_hash(row, "hash", chip_hash(chip));
    return row;
}

static void list_row_json(const struct chip_db *db, const struct chip *chip, json_object *rows)
{
    static const char *const keys[] = {"p_cores",      "e_cores",      "gpu_cores",       "ane_cores",
                                       "amx_blocks_p", "amx_blocks_e", "memory_peak_GBps"};
    json_object *row = chip_json(db, chip);
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
        json_add_number(row, keys[i], number_or_nan(chip, keys[i]));
    json_object *sizes = json_object_new_array();
    const struct chip_value *options = chip_value(chip, "memory_options_GB");
    for (size_t i = 0; options->known && i < options->count; i++)
        json_object_array_add(sizes, json_number(options->list[i]));
    json_object_object_add(row, "memory_options_GB", sizes);
    json_object_array_add(rows, row);
}

static void list_row(const struct chip *chip, struct table *table)
{
    char text[FORMAT_SIZE], sizes[128] = "";
    const struct chip_value *options = chip_value(chip, "memory_options_GB");
    for (size_t i = 0; options->known && i < options->count; i++)
        snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes), "%s%.0f", i ? "/" : "", options->list[i]);
    table_row(table);
    table_cell(table, "%s", chip_id(chip));
    table_cell(table, "%s", chip_name(chip));
    table_cell(table, "%.0fP + %.0fE", number_or_nan(chip, "p_cores"), number_or_nan(chip, "e_cores"));
    table_cell(table, "%s", format_number(text, number_or_nan(chip, "gpu_cores"), 4));
    table_cell(table, "%s", sizes);
    table_cell(table, "%s", format_number(text, number_or_nan(chip, "memory_peak_GBps"), 4));
    table_cell(table, "%s", chip_experimental(chip) ? "experimental" : "");
}

static int list_chips(struct api_context *context)
{
    static const struct table_column columns[] = {
        {"id", NULL, false, 0},      {"name", NULL, false, 0},  {"CPU cores", NULL, false, 0}, {"GPU cores", NULL, true, 0},
        {"memory", "GiB", false, 0}, {"peak", "GB/s", true, 0}, {"remark", NULL, false, 0},
    };
    struct orch_error error = {0};
    struct api_chips chips;
    if (!api_chips_open_or_all(context, &chips, &error))
        return api_fail(context, &error);
    if (api_wants_document(context)) {
        json_object *const rows = json_object_new_array();
        for (size_t i = 0; i < chips.count; i++)
            list_row_json(context->chip_db, chips.chip[i], rows);
        api_document(context, rows);
    }
    if (api_wants_text(context)) {
        struct table *const table = table_create(columns, ARRAY_COUNT(columns));
        for (size_t i = 0; i < chips.count; i++)
            list_row(chips.chip[i], table);
        api_table(context, table);
    }
    api_chips_close(&chips);
    return ORCH_OK;
}

static void add_uncertainties(json_object *object, const struct chip_value *value)
{
    if (!value->uncertainties)
        return;
    json_object *const list = json_object_new_array();
    for (size_t i = 0; i < value->count; i++)
        json_object_array_add(list, json_number(value->uncertainties[i]));
    json_object_object_add(object, "uncertainties", list);
}

static json_object *value_json(const struct chip_value *value)
{
    json_object *object = json_object_new_object();
    json_object *parsed = NULL;
    if (value->known && value->key->type == CHIP_TEXT)
        parsed = json_object_new_string(value->json);
    else if (value->known && (value->key->type == CHIP_INT || value->key->type == CHIP_REAL))
        parsed = json_number(value->number);
    else if (value->known)
        parsed = json_tokener_parse(value->json);
    json_object_object_add(object, "value", parsed);
    json_add_text(object, "unit", value->key->unit);
    json_add_text(object, "kind", chip_kind_name(value->kind));
    json_add_text(object, "source", value->source);
    json_add_number(object, "uncertainty", value->uncertainty);
    add_uncertainties(object, value);
    json_add_text(object, "origin", value->origin);
    json_add_text(object, "note", value->note);
    json_add_text(object, "description", value->key->text);
    if (value->fitted_on)
        json_object_object_add(object, "fitted_on", json_tokener_parse(value->fitted_on));
    return object;
}

/* Keys that nobody ever gave (no source) are left out: there is nothing to say about them. */
static bool worth_showing(const struct chip_value *value)
{
    return value->known || value->source[0];
}

static json_object *show_json(const struct chip_db *db, const struct chip *chip)
{
    json_object *object = chip_json(db, chip), *values = json_object_new_object();
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_value *value = chip_value_at(chip, i);
        if (worth_showing(value))
            json_object_object_add(values, value->key->name, value_json(value));
    }
    json_object_object_add(object, "values", values);
    return object;
}

static void show_text(struct api_context *context, const struct chip *chip)
{
    static const struct table_column columns[] = {
        {"key", NULL, false, 0}, {"value", NULL, false, 40}, {"unit", NULL, false, 0},    {"kind", NULL, false, 0},
        {"+/-", NULL, true, 0},  {"origin", NULL, false, 0}, {"source", NULL, false, 70}, {"note", NULL, false, 70},
    };
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    fprintf(context->out, "%s (%s)%s%s, values 0x%016llx\n\n", chip_name(chip), chip_id(chip),
            chip_experimental(chip) ? ", experimental" : "", chip_modified(chip) ? ", modified" : "",
            (unsigned long long)chip_hash(chip));
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_value *value = chip_value_at(chip, i);
        char percent[FORMAT_SIZE];
        if (!worth_showing(value))
            continue;
        table_row(table);
        table_cell(table, "%s", value->key->name);
        table_cell(table, "%s", value->known ? value->json : "");
        table_cell(table, "%s", format_unit(value->key->unit));
        table_cell(table, "%s", chip_kind_name(value->kind));
        table_cell(table, "%s", value->uncertainty > 0 ? format_percent(percent, value->uncertainty) : "");
        table_cell(table, "%s", value->origin);
        table_cell(table, "%s", value->source);
        table_cell(table, "%s", value->note ? value->note : "");
    }
    api_table(context, table);
    api_note(context, "\nLong cells are cut; " ORCH_OPTION("json") " prints them whole.");
}

/* One chip is one JSON object, several are a list of them. */
static int show_chips(struct api_context *context, const char *names)
{
    struct orch_error error = {0};
    struct api_chips chips;
    if (!api_chips_open(context, names, &chips, &error))
        return api_fail(context, &error);
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < chips.count; i++) {
        if (api_wants_document(context))
            json_object_array_add(list, show_json(context->chip_db, chips.chip[i]));
        if (api_wants_text(context))
            show_text(context, chips.chip[i]);
    }
    if (api_wants_document(context))
        api_documents(context, json_object_get(list));
    json_object_put(list);
    api_chips_close(&chips);
    return ORCH_OK;
}

static void give_differences(struct api_context *context, const struct chip *a, const struct chip *b)
{
    json_object *object = json_object_new_object(), *keys = json_object_new_object();
    json_add_text(object, "a", chip_id(a));
    json_add_text(object, "b", chip_id(b));
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_value *x = chip_value_at(a, i), *y = chip_value_at(b, i);
        if (chip_value_same(x, y))
            continue;
        json_object *row = json_object_new_object();
        json_object_object_add(row, "a", value_json(x));
        json_object_object_add(row, "b", value_json(y));
        json_object_object_add(keys, x->key->name, row);
    }
    json_object_object_add(object, "differences", keys);
    api_document(context, object);
}

static void diff_text(struct api_context *context, const struct chip *a, const struct chip *b)
{
    const struct table_column columns[] = {
        {"key", NULL, false, 0},       {"unit", NULL, false, 0}, {chip_id(a), NULL, false, 48},
        {chip_id(b), NULL, false, 48}, {"ratio", NULL, true, 0},
    };
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_value *x = chip_value_at(a, i), *y = chip_value_at(b, i);
        char ratio[FORMAT_SIZE] = "";
        if (chip_value_same(x, y))
            continue;
        if (x->known && y->known && x->number > 0 && y->number > 0)
            format_digits(ratio, y->number / x->number, 3);
        table_row(table);
        table_cell(table, "%s", x->key->name);
        table_cell(table, "%s", format_unit(x->key->unit));
        table_cell(table, "%s", x->known ? x->json : "");
        table_cell(table, "%s", y->known ? y->json : "");
        table_cell(table, "%s", ratio);
    }
    if (table_rows(table)) {
        api_table(context, table);
        return;
    }
    fprintf(context->out, "no differences\n");
    table_free(table);
}

static int diff_chips(struct api_context *context, const char *name_a, const char *name_b)
{
    struct orch_error error = {0};
    struct api_chips a, b = {0};
    if (!api_chips_open(context, name_a, &a, &error))
        return api_fail(context, &error);
    int code = ORCH_OK;
    if (!api_chips_open(context, name_b, &b, &error))
        code = api_fail(context, &error);
    else if (a.count != 1 || b.count != 1)
        code = api_usage(context, "diff compares two chips");
    if (code == ORCH_OK && api_wants_document(context))
        give_differences(context, a.chip[0], b.chip[0]);
    if (code == ORCH_OK && api_wants_text(context))
        diff_text(context, a.chip[0], b.chip[0]);
    api_chips_close(&a);
    api_chips_close(&b);
    return code;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    unsigned form = 0;
    if (words > 0 && !api_choice("form of chips", word[0], "list|show|diff", &form, &error))
        return api_fail(context, &error);
    if (!api_chip_db(context, &error))
        return api_fail(context, &error);
    if (form == 0)
        return words <= 1 ? list_chips(context) : api_usage(context, "list takes no words");
    if (form == 1)
        return words <= 2 ? show_chips(context, words == 2 ? word[1] : NULL) : api_usage(context, "show takes one ID");
    return words == 3 ? diff_chips(context, word[1], word[2]) : api_usage(context, "diff takes two IDs");
}

const struct api_verb verb_chips = {
    .help =
        {
            .name = "chips",
            .synopsis = "[list]\n"
                        "show ID\n"
                        "diff A B",
            .summary = "the chips and what is known about them",
            .text = "list has one row per chip; show prints every value with unit, kind, source, uncertainty and origin;\n"
                    "diff prints the keys whose values differ. --set shows what a supposed value changes.",
            .examples = "orchard chips\n"
                        "orchard chips show m1-max\n"
                        "orchard chips diff m1 m2 --json",
        },
    .ask = ask,
};
