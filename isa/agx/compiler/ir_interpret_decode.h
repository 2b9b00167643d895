/* What the files that decode share. Failure is remembered in the decoder: after it, what is returned is harmless. */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_INTERPRET_DECODE_H
#define ORCHARD_ISA_AGX_COMPILER_IR_INTERPRET_DECODE_H

#include "isa/agx/compiler/ir_interpret_parts.h"

/* The scalars of a value, in the order of its type. */
struct slots {
    uint32_t *slot;
    uint32_t count;
};

/* A function at one place where it is called. */
struct frame {
    const struct ir_function *function;
    const struct frame *caller;
    struct slots *value; /* of instructions, by id */
    struct slots *argument;
    uint32_t *label; /* of blocks, by id */
    uint32_t return_label;
    struct slots result;
};

struct global_slot {
    const struct ir_value *global;
    uint32_t slot;
};

struct decoder {
    struct program *program;
    const struct ir_launch *launch;
    struct isa_error *error;
    bool failed;
    uint32_t line; /* of the instruction at work */
    uint32_t *label;
    size_t labels, label_room;
    struct global_slot *global;
    size_t globals, global_room;
    struct step spare; /* written when nothing more is kept */
    uint32_t spare_slot;
};

struct part {
    const struct ir_type *type;
    uint64_t offset; /* bytes */
};

/* ---- types ---- */
uint32_t type_parts(const struct ir_type *type);
struct part type_part(const struct ir_type *type, uint32_t index);

/* ---- steps ---- */
void decode_refuse(struct decoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct step *decode_step(struct decoder *d, enum step_kind kind);
uint32_t decode_new(struct decoder *d);
uint32_t decode_bits(struct decoder *d, uint64_t bits);
/* A result of `bits` bits from what has `from` bits. */
uint32_t decode_pure(struct decoder *d, pure_function *pure, unsigned bits, unsigned from, uint32_t a, uint32_t b, uint32_t c);
uint32_t decode_special(struct decoder *d, enum ir_builtin builtin, unsigned dimension);
struct slots decode_slots(struct decoder *d, uint32_t count);     /* not set */
struct slots decode_new_slots(struct decoder *d, uint32_t count); /* new ones */
uint32_t slot_at(const struct slots *slots, uint32_t index);      /* the only one of one: for all */
uint32_t decode_label(struct decoder *d);
void decode_place(struct decoder *d, uint32_t label);
void decode_jump(struct decoder *d, uint32_t label);
/* Copies that happen together. */
void decode_moves(struct decoder *d, const uint32_t *to, const uint32_t *from, uint32_t count);

/* ---- values ---- */
struct slots decode_operand(struct decoder *d, const struct frame *frame, const struct ir_value *v);
uint32_t decode_scalar(struct decoder *d, const struct frame *frame, const struct ir_value *v);
bool decode_number(const struct ir_value *v, uint64_t *bits);                /* of a constant integer */
uint32_t decode_variable(struct decoder *d, uint64_t bytes, uint64_t align); /* a new private one: its address */

/* ---- instructions ---- */
struct slots decode_instruction(struct decoder *d, const struct frame *frame, const struct ir_value *v);
struct slots decode_plain(struct decoder *d, const struct frame *frame, const struct ir_value *v, pure_function *pure);
struct slots decode_memory(struct decoder *d, const struct frame *frame, const struct ir_value *v);
struct slots decode_builtin(struct decoder *d, const struct frame *frame, const struct ir_value *v);
/* `first`: the first operand that counts; `list`: an enum ir_atomic or ir_reduction. */
struct slots decode_builtin_of(struct decoder *d, const struct frame *frame, const struct ir_value *v, unsigned builtin,
                               unsigned first, unsigned list);
struct slots decode_call(struct decoder *d, const struct frame *frame, const struct ir_value *v);
struct slots decode_library(struct decoder *d, const struct frame *frame, const struct ir_value *v, const char *name);
void decode_load_parts(struct decoder *d, const struct ir_type *type, const struct ir_type *held, uint32_t pointer,
                       enum ir_space space, uint32_t align, struct slots *out);
void decode_store_parts(struct decoder *d, const struct ir_type *type, const struct ir_type *held, const struct slots *value,
                        uint32_t pointer, enum ir_space space, uint32_t align);
void decode_atomic(struct decoder *d, uint32_t result, unsigned bits, enum ir_atomic atomic, const struct ir_value *pointer,
                   uint32_t address, uint32_t value);

/* The blocks of a function, with what it calls. */
void decode_function(struct decoder *d, struct frame *frame);

#endif
