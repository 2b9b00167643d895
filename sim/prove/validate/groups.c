/* Groups rows by the values of some columns and scores the groups. */
#include "isa/array_count.h"
#include "sim/base/suggest.h"
#include "sim/prove/validate/row_framework.h"
#include "sim/prove/validate/validation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN '\x1f'

/* Columns that tables lack: "chip" is whatever the table calls the machine; "file", "level", "part" (the unit at work), "work"
 * (gemm, stream, instruction ...) and "framework" (whose kernels were measured) come from the validation. */
static const char *const own_columns[] = {"chip", "file", "level", "part", "source", "work", "framework"};

static bool known_column(const struct validation *v, const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(own_columns); i++)
        if (strcmp(name, own_columns[i]) == 0)
            return true;
    for (size_t i = 0; i < v->tables; i++)
        if (csv_find(v->table[i], name) >= 0)
            return true;
    return false;
}

bool validation_check_groups(const struct validation *v, const char *group_by, struct orch_error *error)
{
    char name[64], phrase[128];
    for (const char *at = group_by; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (known_column(v, name))
            continue;
        struct suggest nearest;
        suggest_start(&nearest, name);
        for (size_t i = 0; i < ARRAY_COUNT(own_columns); i++)
            suggest_offer(&nearest, own_columns[i]);
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("group-by") ": no table has a column '%s'%s (there are chip, file, level, part, source, "
                                                 "work, framework and those of the table's first line)",
                         name, suggest_phrase(&nearest, phrase, sizeof phrase));
    }
    return true;
}

static bool split_columns(const struct validation *v, const char *group_by, struct validation_groups *groups,
                          struct orch_error *error)
{
    if (!validation_check_groups(v, group_by, error))
        return false;
    for (const char *at = group_by; *at;) {
        const size_t length = strcspn(at, ",");
        char *const name = strndup(at, length);
        char **grown = realloc(groups->column, (groups->columns + 1) * sizeof *grown);
        if (grown)
            groups->column = grown;
        if (!name || !grown) {
            free(name);
            return orch_no_memory(error);
        }
        groups->column[groups->columns++] = name;
        at += length + (at[length] == ',');
    }
    return true;
}

static const char *file_of(const struct validation *v, const struct csv_table *table)
{
    size_t i = 0;
    while (v->table[i] != table)
        i++;
    return v->file[i].name;
}

static const char *value_of(const struct validation *v, const struct validate_row *row, const char *column)
{
    const int number = csv_find(row->table, column);
    if (number < 0 && strcmp(column, "chip") == 0)
        return row->chip;
    if (number < 0 && strcmp(column, "level") == 0)
        return row->engine_level ? "engine" : "other";
    if (strcmp(column, "file") == 0)
        return file_of(v, row->table);
    if (strcmp(column, "part") == 0)
        return row->part;
    if (strcmp(column, "work") == 0)
        return row->work;
    if (strcmp(column, "framework") == 0)
        return row_framework_set(row);
    return csv_cell(row->table, row->number, number);
}

static char *key_of(const struct validation *v, const struct validate_row *row, const struct validation_groups *groups)
{
    size_t size = 1;
    for (size_t i = 0; i < groups->columns; i++)
        size += strlen(value_of(v, row, groups->column[i])) + 1;
    char *key = malloc(size), *at = key;
    for (size_t i = 0; key && i < groups->columns; i++) {
        const char *const value = value_of(v, row, groups->column[i]);
        const size_t length = strlen(value);
        if (i)
            *at++ = JOIN;
        memcpy(at, value, length);
        at += length;
    }
    if (key)
        *at = '\0';
    return key;
}

enum part { ALL_ROWS, TAKEN_ROWS, GUESSED_ROWS, ENGINE_ROWS };

static bool is_guessed(const struct validate_row *row)
{
    return row->guessed && !row->parameter;
}

static bool is_in(const struct validate_row *row, enum part part)
{
    switch (part) {
    case ALL_ROWS: return true;
    case TAKEN_ROWS: return row->parameter != NULL;
    case GUESSED_ROWS: return is_guessed(row);
    case ENGINE_ROWS: return row->engine_level;
    }
    return false;
}

/* Rows of a line by what they are good for. */
struct sorting {
    struct score_pair *room, *pairs, *bare, *fit, *guess, *sheet, *beside;
    size_t count, fits, guesses, sheets, crossed, inside;
};

static bool open_sorting(struct sorting *s, size_t rows)
{
    *s = (struct sorting){.room = calloc(6 * (rows + 1), sizeof *s->room)};
    struct score_pair **const parts[] = {&s->pairs, &s->bare, &s->fit, &s->guess, &s->sheet, &s->beside};
    for (size_t i = 0; s->room && i < ARRAY_COUNT(parts); i++)
        *parts[i] = s->room + i * (rows + 1);
    return s->room != NULL;
}

/* Notes a row that counts for the score of its line. */
static void count_row(struct sorting *s, struct validation_group *group, const struct validate_row *row,
                      const struct score_pair *pair)
{
    s->crossed += row->crossed;
    s->inside += row->crossed && row->inside_crossed;
    group->framed += row->overhead != NULL;
    if (row->spreadsheet > 0) {
        s->beside[s->sheets] = *pair;
        s->sheet[s->sheets++] = (struct score_pair){.predicted = row->spreadsheet, .measured = row->measured};
    }
    s->bare[s->count] = (struct score_pair){.predicted = row->bare, .measured = row->measured};
    s->pairs[s->count++] = *pair;
}

static void sort_row(struct sorting *s, struct validation_group *group, const struct validate_row *row, enum part part)
{
    const struct score_pair pair = {row->predicted, row->measured, row->low, row->high};
    group->rows++;
    group->fitted += row->parameter != NULL;
    group->guessed += is_guessed(row);
    if (row->state != VALIDATE_PREDICTED)
        return;
    group->modelled++;
    if (row->parameter)
        s->fit[s->fits++] = pair;
    else if (is_guessed(row))
        s->guess[s->guesses++] = pair;
    if ((!row->parameter || part == TAKEN_ROWS) && (!is_guessed(row) || part == GUESSED_ROWS))
        count_row(s, group, row, &pair);
}

/* Scores the rows of a line: those with the key (NULL = all), and of them all, only a part. Rows without a key belong to other
 * tables. */
static bool score_rows(const struct validation *v, char *const *keys, struct validation_group *group, enum part part)
{
    struct sorting s;
    if (!open_sorting(&s, v->rows))
        return false;
    for (size_t i = 0; i < v->rows; i++)
        if (keys[i] && (!group->key || strcmp(keys[i], group->key) == 0) && is_in(&v->row[i], part))
            sort_row(&s, group, &v->row[i], part);
    const bool done = score_pairs(s.pairs, s.count, &group->score) && score_pairs(s.bare, s.count, &group->bare) &&
                      score_pairs(s.fit, s.fits, &group->fit) && score_pairs(s.guess, s.guesses, &group->guess) &&
                      score_pairs(s.sheet, s.sheets, &group->sheet) && score_pairs(s.beside, s.sheets, &group->beside);
    if (s.crossed)
        group->score.cross_coverage = (double)s.inside / (double)s.crossed;
    free(s.room);
    return done;
}

static bool add_group(struct validation_groups *groups, const char *key)
{
    for (size_t i = 0; i < groups->count; i++)
        if (strcmp(groups->group[i].key, key) == 0)
            return true;
    struct validation_group *const grown = realloc(groups->group, (groups->count + 1) * sizeof *grown);
    if (!grown)
        return false;
    groups->group = grown;
    char *const copy = strdup(key);
    if (copy)
        groups->group[groups->count++] = (struct validation_group){.key = copy};
    return copy != NULL;
}

static bool score_groups(const struct validation *v, const struct csv_table *table, char **keys, struct validation_groups *groups)
{
    for (size_t i = 0; i < v->rows; i++) {
        if (table && v->row[i].table != table)
            continue;
        keys[i] = key_of(v, &v->row[i], groups);
        if (!keys[i] || !add_group(groups, keys[i]))
            return false;
    }
    for (size_t i = 0; i < groups->count; i++)
        if (!score_rows(v, keys, &groups->group[i], ALL_ROWS))
            return false;
    return score_rows(v, keys, &groups->all, ALL_ROWS) && score_rows(v, keys, &groups->taken, TAKEN_ROWS) &&
           score_rows(v, keys, &groups->guess, GUESSED_ROWS) && score_rows(v, keys, &groups->engine, ENGINE_ROWS);
}

bool validation_group_rows(const struct validation *v, const char *group_by, struct validation_groups *groups,
                           struct orch_error *error)
{
    return validation_group_file(v, NULL, group_by, groups, error);
}

bool validation_group_file(const struct validation *v, const struct csv_table *table, const char *group_by,
                           struct validation_groups *groups, struct orch_error *error)
{
    *groups = (struct validation_groups){0};
    char **keys = calloc(v->rows + 1, sizeof *keys);
    bool done = keys != NULL || orch_no_memory(error);
    done = done && split_columns(v, group_by ? group_by : "chip,source", groups, error);
    if (done && !score_groups(v, table, keys, groups))
        done = orch_no_memory(error);
    for (size_t i = 0; keys && i < v->rows; i++)
        free(keys[i]);
    free(keys);
    if (!done)
        validation_groups_free(groups);
    return done;
}

void validation_groups_free(struct validation_groups *groups)
{
    for (size_t i = 0; i < groups->columns; i++)
        free(groups->column[i]);
    for (size_t i = 0; i < groups->count; i++)
        free(groups->group[i].key);
    free(groups->column);
    free(groups->group);
    *groups = (struct validation_groups){0};
}
