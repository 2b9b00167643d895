/* Inside the chip database: files as read, and the steps that make a chip of them. */
#ifndef ORCHARD_SIM_CHIP_CHIP_INTERNAL_H
#define ORCHARD_SIM_CHIP_CHIP_INTERNAL_H

#include "sim/chip/chip.h"

#include <json-c/json.h>

enum { CHIP_MAX_PARENTS = 16, CHIP_MAX_DEPTH = 8 };

/* One JSON file. A parent may be adopted with a weaker kind: its values were measured on a relative of this chip. */
struct chip_file {
    char *stem; /* file name without .json */
    json_object *root, *values;
    const char *chip; /* id when the file describes a chip, else NULL */
    bool experimental;
    struct {
        size_t file;
        int kind; /* enum chip_kind, -1 = as they are */
        const char *note;
    } parent[CHIP_MAX_PARENTS];
    size_t parents;
};

struct chip_db {
    char *folder;
    struct chip_file *file;
    size_t files;
    size_t *chip; /* indices of files that describe chips, in display order */
    size_t chips;
};

/* chip_file.c: parse one file; parents are linked by chip_db.c when all files are there. */
bool chip_file_parse(struct chip_file *file, const char *stem, const char *text, size_t size, struct orch_error *error);
void chip_file_free(struct chip_file *file);

/* chip_db.c: a database out of texts, as chip_db_open makes it out of a folder. */
struct chip_db *chip_db_new(const char *folder);
bool chip_db_add(struct chip_db *db, const char *stem, const char *text, size_t size, struct orch_error *error);
bool chip_db_finish(struct chip_db *db, struct orch_error *error);

/* Where a key's value comes from for a file: its own or the nearest ancestor's (later parents win). */
struct chip_found {
    json_object *object; /* NULL = nowhere */
    const char *stem;
    int kind;         /* replaces stronger kinds, -1 = none */
    const char *note; /* of the adoption, NULL */
};
void chip_db_find(const struct chip_db *db, size_t file, const char *key, struct chip_found *found);

/* A value with what it owns. */
struct chip_slot {
    struct chip_value value;
    json_object *object; /* the value itself: MAP and TABLE are looked up in it */
    char *json, *source, *note, *origin;
    double *list;
    double mark; /* differs when the value differs: chip_mark */
    bool shared; /* what it points to belongs to the slot of a base */
};

enum { CHIP_HASHED = 4096 }; /* a power of 2, some times as many as keys */

struct chip_base {
    char *id;
    bool experimental;
    struct chip_slot *slot;        /* chip_key_count() of them, of the files alone */
    uint16_t *by_name;             /* their numbers in the order of key names */
    uint16_t by_hash[CHIP_HASHED]; /* 1 + their numbers, at the hash of the name or behind it; 0 = free */
};
/* Of a key's name, where it is looked for in by_hash. */
uint32_t chip_name_hash(const char *name);

struct chip {
    const struct chip_base *base;
    struct chip_base *own_base; /* the same when it goes with the chip */
    const struct chip *seen;    /* a view of this chip, which owns the slots */
    uint8_t *reads;             /* of a view: what was read, by key */
    struct chip_slot *slot;
    bool modified;
};

/* chip_slot.c */
bool chip_slot_parse(struct chip_slot *slot, const struct chip_key *key, const struct chip_found *found,
                     struct orch_error *error);
/* Takes over `value` (a reference to it); checks type and range. */
bool chip_slot_set(struct chip_slot *slot, const struct chip_key *key, json_object *value, struct orch_error *error);
void chip_slot_describe(struct chip_slot *slot, enum chip_kind kind, double uncertainty, const char *source, const char *note,
                        const char *origin);
void chip_slot_clear(struct chip_slot *slot);
bool chip_kind_from_name(const char *name, enum chip_kind *kind);

/* chip_derive.c: fills values that follow from others; chip_check.c: relations between values. */
bool chip_derive(struct chip *chip, const struct chip_slot *before_overrides, struct orch_error *error);
bool chip_check(const struct chip *chip, struct orch_error *error);

/* Slot of a key that exists (an orchard mistake otherwise: returns NULL). */
struct chip_slot *chip_slot_of(const struct chip *chip, const char *key);
bool chip_slot_overridden(const struct chip_slot *slot);

#endif
