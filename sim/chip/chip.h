/* The chip database: what is known about each chip, with the kind and the source of every value.
 *
 * The database is a folder of JSON files; sim/chips/README.md describes their format. A chip is opened by id or alias. Its
 * effective values are its own file laid over the files it inherits from, then overrides ("KEY=VALUE"), then what follows from
 * other values. They never change after that, so any number of threads may read a struct chip.
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
/* The relative standard uncertainty of a value whose file states none. Counts are exact unless they are guessed. */
double chip_kind_uncertainty(enum chip_kind kind, enum chip_type type);

/* What a value means and what it may be: a row of chip_keys.inc, of a unit's list of parameters or of a list of power/. */
struct chip_key {
    const char *name, *unit;
    enum chip_type type;
    double lowest, highest;
    const char *text;
};
size_t chip_key_count(void);
const struct chip_key *chip_key_at(size_t index);       /* in the order of the table; NULL past its end */
const struct chip_key *chip_key_find(const char *name); /* NULL when there is none */
const char *chip_key_nearest(const char *name);         /* for "did you mean"; NULL when no name is near */

struct chip_value {
    const struct chip_key *key;
    bool known;         /* false: somebody looked and did not find it, or no file gives it */
    double number;      /* of INT and REAL; of CORES with one busy core; 0 otherwise */
    const double *list; /* of LIST and CORES; NULL otherwise */
    size_t count;       /* length of the list; rows of a TABLE; entries of a MAP */
    const char *json;   /* the value as JSON, a TEXT without its quotes; "null" when not known */
    enum chip_kind kind;
    const char *source;  /* the original source; "" only for keys that no file gives */
    const char *note;    /* NULL when there is none */
    const char *adopted; /* why a value of another family stands here; NULL when it is the chip's own */
    double uncertainty;  /* relative, one standard deviation */
    const char *origin;  /* the file without ".json", "derived" or "--set" */
};

/* Reads all files of a folder. NULL stands for $ORCHARD_DATA, else the source tree, else the installed data. Close with
 * chip_db_close. */
struct chip_db;
struct chip_db *chip_db_open(const char *folder, struct orch_error *error);
void chip_db_close(struct chip_db *db);
const char *chip_db_folder(const struct chip_db *db);
/* Finds that folder: its path in `path`. */
bool chip_data_folder(const char *folder, char *path, size_t size, struct orch_error *error);

/* The chips, in the order of generation and size. */
size_t chip_db_count(const struct chip_db *db);
const char *chip_db_id(const struct chip_db *db, size_t index);
bool chip_db_experimental(const struct chip_db *db, size_t index);
size_t chip_db_alias_count(const struct chip_db *db, size_t index);
const char *chip_db_alias(const struct chip_db *db, size_t index, size_t alias);
/* Finds the id that an id or alias names. False when there is none; the text has the nearest name. */
bool chip_db_resolve(const struct chip_db *db, const char *id_or_alias, const char **id, struct orch_error *error);

struct chip_overrides {
    const char *const *text; /* "KEY=VALUE" */
    size_t count;
};

/* Opens a chip; overrides may be NULL. The database may be closed before the chip. */
struct chip;
struct chip *chip_open(const struct chip_db *db, const char *id_or_alias, const struct chip_overrides *overrides,
                       struct orch_error *error);
void chip_close(struct chip *chip);

/* A chip as the files have it. Chips are opened on it again and again with other overrides; it must outlive them. */
struct chip_base;
struct chip_base *chip_base_open(const struct chip_db *db, const char *id_or_alias, struct orch_error *error);
void chip_base_close(struct chip_base *base);
struct chip *chip_open_on(const struct chip_base *base, const struct chip_overrides *overrides, struct orch_error *error);

/* What was read of a key's value. */
enum chip_read {
    CHIP_READ_NUMBER = 1,    /* the value itself */
    CHIP_READ_CERTAINTY = 2, /* its kind or uncertainty */
};
/* Another handle on the same chip, for one thread: it notes in reads[chip_key_count()], by the index of the key, what is read
 * through it (enum chip_read). The chip must outlive it. Close with chip_close. NULL when memory ran out. */
struct chip *chip_view(const struct chip *chip, uint8_t *reads);
/* Numbers that are equal when two values, or their kinds and uncertainties, are equal. The mark of a single number is that
 * number. */
double chip_mark(const struct chip *chip, size_t index);
double chip_certainty_mark(const struct chip *chip, size_t index);

const char *chip_id(const struct chip *chip);
const char *chip_name(const struct chip *chip); /* "M1 Max" */
bool chip_experimental(const struct chip *chip);
bool chip_modified(const struct chip *chip); /* whether a value was overridden */
/* A hash of the effective values. Sources, the files that gave the values and inheritance do not enter it. */
uint64_t chip_hash(const struct chip *chip);

/* NULL when there is no such key. */
const struct chip_value *chip_value(const struct chip *chip, const char *key);
const struct chip_value *chip_value_at(const struct chip *chip, size_t index); /* index of chip_key_at */
/* 24 and 24.0 are the same value, and all unknown values are. */
bool chip_value_same(const struct chip_value *a, const struct chip_value *b);
/* Reads a number that must be known: ORCH_UNMODELLED names the key otherwise. */
bool chip_number(const struct chip *chip, const char *key, double *value, struct orch_error *error);
/* The same with `active` cores of the cluster busy (at least 1), for keys of type CORES. */
bool chip_number_active(const struct chip *chip, const char *key, unsigned active, double *value, struct orch_error *error);
/* Read a number of a MAP by the name of its entry, or of a TABLE by row and column. False when it is not there. */
bool chip_map_number(const struct chip *chip, const char *key, const char *entry, double *value);
bool chip_table_number(const struct chip *chip, const char *key, size_t row, const char *column, double *value);

#endif
