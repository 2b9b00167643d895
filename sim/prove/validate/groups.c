/* Groups rows by the values of some columns and scores the groups. */
#include "isa/array_count.h"
#include "sim/prove/validate/validation.h"

#include <stdlib.h>
#include <string.h>

#define JOIN '\x1f'

/* Columns that tables lack: "chip" is whatever the table calls the machine; "file", "level", "part" (the unit at work) and "work"
 * (gemm, stream, instruction ...) come from the validation. */
static const char *const own_columns[] = {"chip", "file", "level", "part", "source", "work"};

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

static bool split_columns(const struct validation *v, const char *group_by, struct validation_groups *groups,
                          struct orch_error *error)
{
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
        if (!known_column(v, name))
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("group-by") ": no table has a column '%.60s'", name);
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

enum part { ALL_ROWS, TAKEN_ROWS, ENGINE_ROWS };

/* Scores the rows of a line: those with the key (NULL = all), and of them all, only the fitted ones, or only those of the engine
 * level. Rows without a key belong to other tables. */
static bool score_rows(const struct validation *v, char *const *keys, struct validation_group *group, enum part part)
{
    struct score_pair *const pairs = calloc(3 * (v->rows + 1), sizeof *pairs);
    struct score_pair *const bare = pairs + v->rows + 1;
    struct score_pair *const fit = bare + v->rows + 1;
    size_t count = 0, fits = 0, crossed = 0, inside = 0;
    if (!pairs)
        return false;
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_row *const row = &v->row[i];
        if (!keys[i] || (group->key && strcmp(keys[i], group->key) != 0) || (part == TAKEN_ROWS && !row->parameter) ||
            (part == ENGINE_ROWS && !row->engine_level))
            continue;
        group->rows++;
        group->fitted += row->parameter != NULL;
        if (row->state != VALIDATE_PREDICTED)
            continue;
        group->modelled++;
        const struct score_pair pair = {row->predicted, row->measured, row->low, row->high};
        if (row->parameter)
            fit[fits++] = pair;
        if (part != TAKEN_ROWS && row->parameter)
            continue;
        crossed += row->crossed;
        inside += row->crossed && row->inside_crossed;
        group->framed += row->overhead != NULL;
        bare[count] = (struct score_pair){.predicted = row->bare, .measured = row->measured};
        pairs[count++] = pair;
    }
    const bool done =
        score_pairs(pairs, count, &group->score) && score_pairs(bare, count, &group->bare) && score_pairs(fit, fits, &group->fit);
    if (crossed)
        group->score.cross_coverage = (double)inside / (double)crossed;
    free(pairs);
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
           score_rows(v, keys, &groups->engine, ENGINE_ROWS);
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
