/* Shared by the files that join objects only. */
#ifndef ORCHARD_ISA_ELF_ELF_JOIN_PARTS_H
#define ORCHARD_ISA_ELF_ELF_JOIN_PARTS_H

#include "isa/elf/elf_join.h"
#include "isa/elf/elf_read.h"

/* One object; of an archive when `optional`. */
struct join_object {
    char name[200];
    const uint8_t *bytes;
    size_t size;
    bool optional, opened, included;
    struct elf_file elf;
    bool *dropped;     /* by section: another copy stays */
    uint32_t *section; /* by section: its number in the result; 0 = left out */
    uint32_t *symbol;  /* by symbol: its number in the result; 0 = none */
};

/* A global name. */
struct join_name {
    const char *name;
    uint32_t object, symbol; /* of the best definition, or of a reference while there is none */
    uint8_t rank;            /* enum join_rank */
    uint32_t number;         /* in the result */
    char *key;               /* of a group, which is no symbol; freed with the name */
};

enum join_rank { JOIN_UNDEFINED_WEAK, JOIN_UNDEFINED, JOIN_WEAK, JOIN_COMMON, JOIN_STRONG };

struct join {
    struct join_object *object;
    size_t objects, object_room;
    struct join_name *name;
    size_t names, name_room;
    uint32_t *bucket; /* hash of names: number + 1 */
    size_t buckets;
    struct isa_error *error;
};

/* elf_join_archive.c: adds all members. */
bool join_add_archive(struct join *j, const struct elf_join_file *file);
bool join_add_object(struct join *j, const char *name, const char *member, const uint8_t *bytes, size_t size, bool optional);

/* elf_join_names.c: chooses the objects that are needed and the definition of every name. */
bool join_choose(struct join *j, const char *wanted);
struct join_name *join_find(const struct join *j, const char *name);
/* Whether a symbol of an included object is a global of the result. */
bool join_is_global(const struct elf_symbol *symbol);

/* elf_join_write.c */
uint8_t *join_write(struct join *j, size_t *size);

#endif
