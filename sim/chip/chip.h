/* The chip database: what is known about each chip, with kind and source of every value.
 *
 * A folder of JSON files (sim/chips/README.md has the format). A chip is opened by id or alias; its effective values
 * are its own file laid over the files it inherits from, then derived values, then overrides ("KEY=VALUE"). Values
 * never change after that, so a struct chip may be read by any number of threads.
 */
#ifndef ORCHARD_SIM_CHIP_CHIP_H
#define ORCHARD_SIM_CHIP_CHIP_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chip_kind { CHIP_VENDOR_SPEC, CHIP_MEASURED, CHIP_REVERSE_ENGINEERED, CHIP_INFERRED, CHIP_GUESS, CHIP_KIND_COUNT };
enum chip_type { CHIP_INT, CHIP_REAL, CHIP_TEXT, CHIP_LIST, CHIP_MAP, CHIP_TABLE, CHIP_CORES };

const char *chip_kind_name(enum chip_kind kind); /* "vendor-spec" ... */
/* Relative standard uncertainty of a value that states none; counts are exact unless guessed. */
double chip_kind_uncertainty(enum chip_kind kind, enum chip_type type);

/* Keys: one row of chip_keys.inc. */
struct chip_key {
    const char *name, *unit;
    enum chip_type type;
    double lowest, highest;
    const char *text;
};
size_t chip_key_count(void);
const struct chip_key *chip_key_at(size_t index);       /* in the order of the table */
const struct chip_key *chip_key_find(const char *name); /* NULL when there is none */
const char *chip_key_nearest(const char *name);         /* for "did you mean", NULL when nothing is near */

struct chip_value {
    const struct chip_key *key;
    bool known;         /* false: looked for and not found, or never given */
    double number;      /* INT and REAL; CORES: with one active core; 0 otherwise */
    const double *list; /* LIST and CORES; NULL otherwise */
    size_t count;       /* of list; rows of a TABLE; entries of a MAP */
    const char *json;   /* the value as JSON text, TEXT without quotes; "null" when not known */
    enum chip_kind kind;
    const char *source; /* the original source; "" only for keys that were never given */
    const char *note;   /* NULL when there is none */
    double uncertainty; /* relative, one standard deviation */
    const char *origin; /* file without ".json", "derived", or "--set" */
};

/* The folder. NULL = $ORCHARD_DATA, else the source tree, else the installed data. */
struct chip_db;
struct chip_db *chip_db_open(const char *folder, struct orch_error *error);
void chip_db_close(struct chip_db *db);
const char *chip_db_folder(const struct chip_db *db);
bool chip_data_folder(const char *folder, char *path, size_t size, struct orch_error *error);

/* Chips in order of generation and size, e.g. for (size_t i = 0; i < chip_db_count(db); i++). */
size_t chip_db_count(const struct chip_db *db);
const char *chip_db_id(const struct chip_db *db, size_t index);
bool chip_db_experimental(const struct chip_db *db, size_t index);
size_t chip_db_alias_count(const struct chip_db *db, size_t index);
const char *chip_db_alias(const struct chip_db *db, size_t index, size_t alias);
/* The id that an id or alias names; false = unknown, with the nearest name in the text. */
bool chip_db_resolve(const struct chip_db *db, const char *id_or_alias, const char **id, struct orch_error *error);

struct chip_overrides {
    const char *const *text; /* "KEY=VALUE" */
    size_t count;
};

/* Opens a chip; overrides may be NULL. The chip does not need the database any more. */
struct chip;
struct chip *chip_open(const struct chip_db *db, const char *id_or_alias, const struct chip_overrides *overrides,
                       struct orch_error *error);
void chip_close(struct chip *chip);

/* A chip as the files have it, for opening it again and again with other overrides; it must outlive those chips. */
struct chip_base;
struct chip_base *chip_base_open(const struct chip_db *db, const char *id_or_alias, struct orch_error *error);
void chip_base_close(struct chip_base *base);
struct chip *chip_open_on(const struct chip_base *base, const struct chip_overrides *overrides, struct orch_error *error);

/* What was read of a chip, by index of chip_key_at. */
enum chip_read {
    CHIP_READ_NUMBER = 1,    /* the value */
    CHIP_READ_CERTAINTY = 2, /* kind or uncertainty */
};
/* The same chip under another handle, which notes what is read through it in reads[chip_key_count()]; for one thread. The chip
 * must outlive it. NULL when memory is short. */
struct chip *chip_view(const struct chip *chip, uint8_t *reads);
/* A number for a value, and one for its kind and uncertainty: equal when those are. The value itself where it is one number. */
double chip_mark(const struct chip *chip, size_t index);
double chip_certainty_mark(const struct chip *chip, size_t index);

const char *chip_id(const struct chip *chip);
const char *chip_name(const struct chip *chip); /* "M1 Max" */
bool chip_experimental(const struct chip *chip);
bool chip_modified(const struct chip *chip); /* some value was overridden */
/* FNV-1a64 over the effective values (not their sources); independent of files and of inheritance. */
uint64_t chip_hash(const struct chip *chip);
/* The same over the keys that start with one of the prefixes. */
uint64_t chip_hash_prefixes(const struct chip *chip, const char *const *prefixes, size_t count);

/* NULL when there is no such key. */
const struct chip_value *chip_value(const struct chip *chip, const char *key);
const struct chip_value *chip_value_at(const struct chip *chip, size_t index); /* index of chip_key_at */
/* 24 and 24.0 are one value; unknown values are all the same. */
bool chip_value_same(const struct chip_value *a, const struct chip_value *b);
/* A number that must be known: ORCH_UNMODELLED names the key otherwise. */
bool chip_number(const struct chip *chip, const char *key, double *value, struct orch_error *error);
/* A CORES value with `active` cores of the cluster busy (at least 1). */
bool chip_number_active(const struct chip *chip, const char *key, unsigned active, double *value, struct orch_error *error);
bool chip_map_number(const struct chip *chip, const char *key, const char *entry, double *value);
bool chip_table_number(const struct chip *chip, const char *key, size_t row, const char *column, double *value);

#endif
