#define _GNU_SOURCE
#include "isa/array_count.h"
#include "sim/chip/chip_internal.h"
#include "sim/base/suggest.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_SIZE = 96 };

/* Names are compared in lower case with blanks and underscores as hyphens. */
static char canonical_letter(char letter)
{
    return letter == ' ' || letter == '_' ? '-' : (char)tolower((unsigned char)letter);
}

static void canonical(const char *name, char text[NAME_SIZE])
{
    size_t n = 0;
    for (; name[n] && n < NAME_SIZE - 1; n++)
        text[n] = canonical_letter(name[n]);
    text[n] = 0;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool chip_data_folder(const char *folder, char *path, size_t size, struct orch_error *error)
{
    const char *wanted = folder ? folder : getenv("ORCHARD_DATA");
    if (wanted && wanted[0]) {
        snprintf(path, size, "%s/chips", wanted);
        if (is_folder(path))
            return true;
        snprintf(path, size, "%s", wanted);
        return is_folder(path) || orch_fail(error, ORCH_USAGE, "data folder %.400s: no such folder", wanted);
    }
    static const char *const places[] = {ORCHARD_SOURCE_DIR "/sim/chips", ORCHARD_DATA_DIR "/chips"};
    for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
        snprintf(path, size, "%s", places[i]);
        if (is_folder(path))
            return true;
    }
    return orch_fail(error, ORCH_USAGE, "no chip database at %s or %s; set ORCHARD_DATA", places[0], places[1]);
}

struct chip_db *chip_db_new(const char *folder)
{
    struct chip_db *db = calloc(1, sizeof *db);
    if (db)
        db->folder = strdup(folder);
    return db;
}

void chip_db_close(struct chip_db *db)
{
    if (!db)
        return;
    for (size_t i = 0; i < db->files; i++)
        chip_file_free(&db->file[i]);
    free(db->file);
    free(db->chip);
    free(db->folder);
    free(db);
}

bool chip_db_add(struct chip_db *db, const char *stem, const char *text, size_t size, struct orch_error *error)
{
    struct chip_file *file = realloc(db->file, (db->files + 1) * sizeof *file);
    if (!file)
        return orch_no_memory(error);
    db->file = file;
    if (!chip_file_parse(&file[db->files], stem, text, size, error))
        return false;
    db->files++;
    return true;
}

static bool find_file(const struct chip_db *db, const char *stem, size_t *index)
{
    for (size_t i = 0; i < db->files; i++) {
        if (strcmp(db->file[i].stem, stem) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

/* "name", or {"file": "name", "kind": weaker kind, "note": why}. */
static void link_parent(const struct chip_db *db, struct chip_file *file, const struct json_node *entry)
{
    static const char *const known[] = {"file", "kind", "note"};
    const bool adopted = json_object_is_type(entry->value, json_type_object);
    if (!adopted && !json_object_is_type(entry->value, json_type_string)) {
        json_wrong(entry, NULL, "expected a string, or an object with file, kind and note");
        return;
    }
    if (adopted)
        json_known(entry, known, ARRAY_COUNT(known));
    const char *const name = json_get_string(entry, adopted ? "file" : NULL);
    const int kind = adopted ? (int)chip_kind_read(entry, "kind") : -1;
    const char *const note = adopted ? json_get_string(entry, "note") : NULL;
    size_t index;
    if (!json_ok(entry))
        return;
    if (find_file(db, name, &index)) {
        file->parent[file->parents].file = index;
        file->parent[file->parents].kind = kind;
        file->parent[file->parents++].note = note;
        return;
    }
    struct suggest s;
    char hint[96];
    suggest_start(&s, name);
    for (size_t i = 0; i < db->files; i++)
        suggest_offer(&s, db->file[i].stem);
    json_wrong(entry, adopted ? "file" : NULL, "\"%.60s\" is not there%s", name, suggest_phrase(&s, hint, sizeof hint));
}

static bool link_parents(const struct chip_db *db, struct chip_file *file, struct orch_error *error)
{
    char name[CHIP_FILE_NAME_SIZE];
    chip_file_name(file, name);
    struct json_reader r = json_reader_of(name, file->root, error);
    const struct json_node top = json_top(&r), inherits = json_find_array(&top, "inherits", 0, CHIP_MAX_PARENTS);
    struct json_node entry;
    for (struct json_walk walk = {.of = &inherits}; json_next(&walk, &entry);)
        link_parent(db, file, &entry);
    return json_ok(&top);
}

static bool depth_is_sane(const struct chip_db *db, size_t file, unsigned depth)
{
    if (depth > CHIP_MAX_DEPTH)
        return false;
    for (size_t i = 0; i < db->file[file].parents; i++)
        if (!depth_is_sane(db, db->file[file].parent[i].file, depth + 1))
            return false;
    return true;
}

void chip_db_find(const struct chip_db *db, size_t file, const char *key, struct chip_found *found)
{
    const struct chip_file *f = &db->file[file];
    *found = (struct chip_found){.kind = -1};
    if (json_peek_any(f->values, key)) {
        found->file = f;
        return;
    }
    for (size_t i = f->parents; i-- > 0;) {
        chip_db_find(db, f->parent[i].file, key, found);
        if (!found->file)
            continue;
        if (f->parent[i].kind > found->kind) {
            found->kind = f->parent[i].kind;
            found->note = f->parent[i].note;
        }
        return;
    }
}

/* The value of a key as it is written; NULL when the file has none. */
static json_object *value_in(const struct chip_db *db, size_t file, const char *key)
{
    struct chip_found found;
    chip_db_find(db, file, key, &found);
    return found.file ? json_peek(found.file->values, key, json_type_object) : NULL;
}

static double number_in(const struct chip_db *db, size_t file, const char *key)
{
    return json_peek_number(value_in(db, file, key), "value", 0);
}

static const char *text_in(const struct chip_db *db, size_t file, const char *key)
{
    const char *const text = json_peek_string(value_in(db, file, key), "value");
    return text ? text : "";
}

/* Generation, then GPU cores, then P cores: the order in which people list them. */
static int compare_chips(const void *a, const void *b, void *context)
{
    const struct chip_db *db = context;
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const int family = strcmp(text_in(db, x, "family"), text_in(db, y, "family"));
    if (family)
        return family;
    static const char *const keys[] = {"gpu_cores", "p_cores"};
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        const double p = number_in(db, x, keys[i]), q = number_in(db, y, keys[i]);
        if (p != q)
            return p < q ? -1 : 1;
    }
    return strcmp(db->file[x].stem, db->file[y].stem);
}

static bool check_names(const struct chip_db *db, struct orch_error *error)
{
    for (size_t i = 0; i < db->chips; i++) {
        for (size_t a = 0; a < chip_db_alias_count(db, i); a++) {
            const char *id, *alias = chip_db_alias(db, i, a);
            if (chip_db_resolve(db, alias, &id, error) && strcmp(id, chip_db_id(db, i)) != 0)
                return orch_fail(error, ORCH_USAGE, "alias \"%.60s\" of %s also means %s", alias, chip_db_id(db, i), id);
        }
    }
    return true;
}

bool chip_db_finish(struct chip_db *db, struct orch_error *error)
{
    db->chip = calloc(db->files + 1, sizeof *db->chip);
    if (!db->chip)
        return orch_no_memory(error);
    for (size_t i = 0; i < db->files; i++) {
        if (!link_parents(db, &db->file[i], error))
            return false;
        if (db->file[i].chip)
            db->chip[db->chips++] = i;
    }
    for (size_t i = 0; i < db->files; i++)
        if (!depth_is_sane(db, i, 1))
            return orch_fail(error, ORCH_USAGE, "%s.json: inherits through more than %d files, or from itself", db->file[i].stem,
                             CHIP_MAX_DEPTH);
    qsort_r(db->chip, db->chips, sizeof *db->chip, compare_chips, db);
    return check_names(db, error);
}

static bool read_text(const char *path, char **text, size_t *size, struct orch_error *error)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return orch_fail(error, ORCH_USAGE, "%.400s: %s", path, strerror(errno));
    FILE *memory = open_memstream(text, size);
    char part[16384];
    size_t n;
    while (memory && (n = fread(part, 1, sizeof part, in)) > 0)
        fwrite(part, 1, n, memory);
    const bool ok = memory && !ferror(in) && fflush(memory) == 0;
    if (memory)
        fclose(memory);
    fclose(in);
    return ok || orch_fail(error, ORCH_USAGE, "%.400s: cannot be read", path);
}

static int is_json(const struct dirent *entry)
{
    const size_t n = strlen(entry->d_name);
    return n > 5 && n < NAME_SIZE && entry->d_name[0] != '.' && strcmp(entry->d_name + n - 5, ".json") == 0;
}

static bool add_folder(struct chip_db *db, struct orch_error *error)
{
    struct dirent **entry = NULL;
    const int count = scandir(db->folder, &entry, is_json, alphasort);
    bool ok = count > 0 || orch_fail(error, ORCH_USAGE, "data folder %.400s: no chip files", db->folder);
    for (int i = 0; i < count; i++) {
        char path[4096], stem[NAME_SIZE], *text = NULL;
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%s", db->folder, entry[i]->d_name);
        snprintf(stem, sizeof stem, "%.*s", (int)strlen(entry[i]->d_name) - 5, entry[i]->d_name);
        ok = ok && read_text(path, &text, &size, error) && chip_db_add(db, stem, text, size, error);
        free(text);
        free(entry[i]);
    }
    free(entry);
    return ok;
}

struct chip_db *chip_db_open(const char *folder, struct orch_error *error)
{
    char path[4096];
    if (!chip_data_folder(folder, path, sizeof path, error))
        return NULL;
    struct chip_db *db = chip_db_new(path);
    if (!db) {
        orch_no_memory(error);
        return NULL;
    }
    if (add_folder(db, error) && chip_db_finish(db, error))
        return db;
    chip_db_close(db);
    return NULL;
}

const char *chip_db_folder(const struct chip_db *db)
{
    return db->folder;
}

size_t chip_db_count(const struct chip_db *db)
{
    return db->chips;
}

const char *chip_db_id(const struct chip_db *db, size_t index)
{
    return index < db->chips ? db->file[db->chip[index]].chip : NULL;
}

bool chip_db_experimental(const struct chip_db *db, size_t index)
{
    return index < db->chips && db->file[db->chip[index]].experimental;
}

static json_object *aliases_of(const struct chip_db *db, size_t index)
{
    return index < db->chips ? db->file[db->chip[index]].aliases : NULL;
}

size_t chip_db_alias_count(const struct chip_db *db, size_t index)
{
    json_object *aliases = aliases_of(db, index);
    return aliases ? json_object_array_length(aliases) : 0;
}

const char *chip_db_alias(const struct chip_db *db, size_t index, size_t alias)
{
    return alias < chip_db_alias_count(db, index)
               ? json_object_get_string(json_object_array_get_idx(aliases_of(db, index), alias))
               : NULL;
}

/* Tells whether a name has this canonical spelling. Most differ in the first letters. */
static bool same_name(const char *name, const char *wanted)
{
    size_t n = 0;
    while (name[n] && n < NAME_SIZE - 1 && canonical_letter(name[n]) == wanted[n])
        n++;
    return (!name[n] || n == NAME_SIZE - 1) && !wanted[n];
}

/* The id of the chip with this id or alias, in canonical spelling; NULL when there is none. */
static const char *find_chip(const struct chip_db *db, const char *wanted)
{
    for (size_t i = 0; i < db->chips; i++) {
        const char *const id = chip_db_id(db, i);
        if (same_name(id, wanted))
            return id;
        for (size_t a = 0; a < chip_db_alias_count(db, i); a++)
            if (same_name(chip_db_alias(db, i, a), wanted))
                return id;
    }
    return NULL;
}

/* The letters of a name that say its generation: "m4" of "m4-ultra"; 0 when it has none. */
static size_t generation_length(const char *name)
{
    const size_t digits = name[0] == 'm' ? strspn(name + 1, "0123456789") : 0;
    return digits ? 1 + digits : 0;
}

bool chip_db_resolve(const struct chip_db *db, const char *id_or_alias, const char **id, struct orch_error *error)
{
    char wanted[NAME_SIZE], hint[NAME_SIZE + 32];
    struct suggest s;
    canonical(id_or_alias, wanted);
    *id = find_chip(db, wanted);
    if (*id)
        return true;
    const size_t generation = generation_length(wanted);
    suggest_start(&s, wanted);
    size_t near = 0;
    for (size_t i = 0; i < db->chips; i++)
        for (size_t a = 0; a < chip_db_alias_count(db, i); a++)
            if (strncmp(chip_db_alias(db, i, a), wanted, generation) == 0) {
                suggest_offer(&s, chip_db_alias(db, i, a));
                near++;
            }
    if (!near || (!generation && !suggest_best(&s)))
        return orch_fail(error, ORCH_USAGE,
                         "unknown chip '%.60s'; there are parts of M1 to M4, as in m1 or m2-max (`orchard chips` lists them)",
                         id_or_alias);
    if (suggest_best(&s))
        return orch_fail(error, ORCH_USAGE, "unknown chip '%.60s'%s (`orchard chips` lists them)", id_or_alias,
                         suggest_phrase(&s, hint, sizeof hint));
    orch_fail(error, ORCH_USAGE, "unknown chip '%.60s'; of that generation there are", id_or_alias);
    for (size_t i = 0; i < db->chips; i++)
        if (chip_db_alias_count(db, i) && strncmp(chip_db_alias(db, i, 0), wanted, generation) == 0)
            orch_fail_more(error, " %s", chip_db_alias(db, i, 0));
    return false;
}

void chip_db_each_fitted(const struct chip_db *db, void (*tell)(void *context, const struct chip_fitted *fitted), void *context)
{
    for (size_t i = 0; i < db->files; i++)
        for (size_t k = 0; k < chip_key_count(); k++) {
            const struct chip_key *const key = chip_key_at(k);
            json_object *const value = json_peek_any(db->file[i].values, key->name);
            json_object *const rows = value ? json_peek_any(value, "fitted_on") : NULL;
            if (rows)
                tell(context, &(struct chip_fitted){
                                  key->name, db->file[i].stem,
                                  json_object_to_json_string_ext(json_peek_any(value, "value"), JSON_C_TO_STRING_PLAIN), rows});
        }
}
