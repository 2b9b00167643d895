/* Inside the chip database: the files as they were read, and the steps that make a chip of them. */
#ifndef ORCHARD_SIM_CHIP_CHIP_INTERNAL_H
#define ORCHARD_SIM_CHIP_CHIP_INTERNAL_H

#include "sim/base/json_read.h"
#include "sim/chip/chip.h"

enum { CHIP_MAX_PARENTS = 16, CHIP_MAX_DEPTH = 8, CHIP_LIST_MAX = 4096, CHIP_FILE_NAME_SIZE = 264 };

/* One JSON file. It may adopt a parent with a weaker kind, because the parent's values were measured on a relative of this chip.
 */
struct chip_file {
    char *stem; /* file name without .json */
    json_object *root, *values, *aliases;
    const char *chip; /* its id when the file describes a chip, else NULL */
    bool experimental;
    struct {
        size_t file;
        int kind; /* enum chip_kind; -1: values keep theirs */
        const char *note;
    } parent[CHIP_MAX_PARENTS];
    size_t parents;
};

struct chip_db {
    char *folder;
    struct chip_file *file;
    size_t files;
    size_t *chip; /* indices of the files that describe chips, in the order in which they are listed */
    size_t chips;
};

/* chip_file.c: parses one file. chip_db.c links the parents when all files are there. */
bool chip_file_parse(struct chip_file *file, const char *stem, const char *text, size_t size, struct orch_error *error);
void chip_file_free(struct chip_file *file);
/* "m1.json", for messages. */
void chip_file_name(const struct chip_file *file, char name[CHIP_FILE_NAME_SIZE]);

/* chip_db.c: makes a database of texts, as chip_db_open does of a folder: new, add each, finish. */
struct chip_db *chip_db_new(const char *folder);
bool chip_db_add(struct chip_db *db, const char *stem, const char *text, size_t size, struct orch_error *error);
bool chip_db_finish(struct chip_db *db, struct orch_error *error);

/* Where a file has the value of a key from: from itself or its nearest ancestor. Later parents win. */
struct chip_found {
    const struct chip_file *file; /* NULL: it is nowhere */
    int kind;                     /* takes the place of stronger kinds; -1: none does */
    const char *note;             /* why a parent was adopted, or NULL */
};
void chip_db_find(const struct chip_db *db, size_t file, const char *key, struct chip_found *found);

/* A value and the memory it owns. */
struct chip_slot {
    struct chip_value value;
    json_object *object; /* the value as parsed: entries of a MAP or TABLE are looked up there */
    char *json, *source, *note, *origin, *adopted;
    double *list;
    double mark; /* what chip_mark returns */
    bool shared; /* the memory belongs to the slot of a base */
};

enum { CHIP_HASHED = 4096 }; /* a power of two, at least four times the number of keys */

struct chip_base {
    char *id;
    bool experimental;
    struct chip_slot *slot;        /* chip_key_count() values, as the files have them */
    uint16_t *by_name;             /* indices of the keys, in the order of their names */
    uint16_t by_hash[CHIP_HASHED]; /* 1 + index of a key, at the hash of its name or after; 0: free */
};
/* The place in by_hash where the search for a name begins. */
uint32_t chip_name_hash(const char *name);

struct chip {
    const struct chip_base *base;
    struct chip_base *own_base; /* the same when the chip owns it */
    const struct chip *seen;    /* this is a view of that chip, which owns the slots */
    uint8_t *reads;             /* of a view: what was read, by index of the key */
    struct chip_slot *slot;
    bool modified;
};

/* chip_slot.c: sets a slot from what was found in a file. */
bool chip_slot_parse(struct chip_slot *slot, const struct chip_key *key, const struct chip_found *found,
                     struct orch_error *error);
/* Checks type and range of the node's value and keeps a reference to it. Null: not known. */
bool chip_slot_set(struct chip_slot *slot, const struct chip_key *key, const struct json_node *node);
void chip_slot_describe(struct chip_slot *slot, enum chip_kind kind, double uncertainty, const char *source, const char *note,
                        const char *origin);
void chip_slot_clear(struct chip_slot *slot);
/* The kind that a member names. */
enum chip_kind chip_kind_read(const struct json_node *node, const char *name);

/* chip_derive.c: sets values that follow from others. chip_check.c: checks the relations between values. */
bool chip_derive(struct chip *chip, const struct chip_slot *before_overrides, struct orch_error *error);
bool chip_check(const struct chip *chip, struct orch_error *error);

/* The slot of a key; NULL when there is no such key. */
struct chip_slot *chip_slot_of(const struct chip *chip, const char *key);
bool chip_slot_overridden(const struct chip_slot *slot);

#endif
