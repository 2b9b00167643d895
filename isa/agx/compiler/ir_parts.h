/* What the files of the intermediate representation share: a module from inside. Others include ir.h alone. */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_PARTS_H
#define ORCHARD_ISA_AGX_COMPILER_IR_PARTS_H

#include "isa/agx/compiler/ir.h"

/* A set of interned things, found by hash and comparison. */
struct ir_intern {
    struct ir_intern_slot {
        uint64_t hash;
        void *item; /* NULL = free */
    } * slot;
    size_t slots, used;
};

/* Blocks and functions as the module makes them, with what only these files know of them. */
struct ir_block_inside {
    struct ir_block block; /* first: blocks are cast to this */
    struct ir_block *dominator;
    uint32_t enter, leave; /* numbers of a walk over the tree of dominators; 0 = not reached from the entry */
    unsigned room;         /* of predecessor */
    bool reached;
    uint32_t order; /* reverse postorder */
};
struct ir_function_inside {
    struct ir_function function; /* first */
    struct ir_value *value;
    struct ir_block *last;
};

struct ir_value_inside {   /* of instructions */
    struct ir_value value; /* first */
    struct ir_module *module;
};

struct ir_chunk;
struct ir_module {
    struct ir_chunk *chunk;
    bool failed;
    char *scrap; /* what ir_alloc gives once memory ran out */
    struct ir_type scrap_type;
    struct ir_value scrap_value;
    struct ir_block_inside scrap_block;
    struct ir_function_inside scrap_function;
    struct ir_intern types, constants, functions;
    struct ir_function *first_function, *last_function;
    struct ir_value *first_global, *last_global;
    char **file;
    size_t files, file_room;
    uint32_t next_id;
};

static inline struct ir_block_inside *ir_block_inside(const struct ir_block *b)
{
    return (struct ir_block_inside *)b;
}

static inline struct ir_function_inside *ir_function_inside(const struct ir_function *f)
{
    return (struct ir_function_inside *)f;
}

static inline uint64_t ir_hash(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}
static inline uint64_t ir_hash_pointer(uint64_t hash, const void *pointer)
{
    return ir_hash(hash, (uint64_t)(uintptr_t)pointer);
}
uint64_t ir_hash_text(const char *text, size_t length);

typedef bool (*ir_intern_same)(const void *item, const void *key);
void *ir_intern_find(const struct ir_intern *table, uint64_t hash, ir_intern_same same, const void *key);
/* False when memory ran out. */
bool ir_intern_add(struct ir_intern *table, uint64_t hash, void *item);

/* Whether the operands of one instruction, and their types, are what its operation takes (ir_verify_value.c). */
bool ir_verify_value(const struct ir_function *f, const struct ir_value *v, struct isa_error *error);
/* Writes the reason, with the value's line; always false. */
bool ir_verify_fail(const struct ir_function *f, const struct ir_value *v, struct isa_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
