/* What the parts of the Metal pre-pass share: tokens, edits, memory. */
#ifndef ORCHARD_SIM_COMPILE_METAL_PARTS_H
#define ORCHARD_SIM_COMPILE_METAL_PARTS_H

#include "sim/compile/metal_prepass.h"

#include <stdint.h>

#define METAL_NONE     UINT32_MAX
#define METAL_SWIZZLES 16384 /* names of up to four letters of eight */

enum metal_token_kind { METAL_NAME, METAL_NUMBER, METAL_STRING, METAL_MARK };

struct metal_token {
    uint32_t at, length; /* in the text */
    uint32_t line, file;
    uint32_t match;  /* the bracket that belongs to this one; METAL_NONE */
    uint32_t parent; /* the opening bracket around it; METAL_NONE at the top */
    uint8_t kind;
    bool in_template;
};

/* Texts inserted at one place come in the order of `rank`. */
struct metal_edit {
    uint32_t at, removed, rank, order;
    const char *text;
};

struct metal_pass {
    const char *text;
    size_t bytes;
    struct metal_unit *unit;
    struct orch_error *error;
    struct metal_memory *memory;
    struct metal_token *token;
    uint32_t tokens;
    size_t token_room;
    struct metal_edit *edit;
    size_t edits, edit_room;
    const char **file;
    size_t files, file_room;
    struct metal_kernel *kernel;
    size_t kernels, kernel_room;
    struct metal_constant *constant;
    size_t constants, constant_room;
    bool out_of_memory;
    uint8_t swizzle[METAL_SWIZZLES]; /* whether the source declares a member of the name: 0 not known, 1 no, 2 yes */
};

/* ---- memory: lives until metal_unit_free ---- */
void *metal_alloc(struct metal_pass *p, size_t bytes); /* NULL sets out_of_memory */
const char *metal_format(struct metal_pass *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *metal_copy(struct metal_pass *p, const char *text, size_t length);
/* Room for one more in an array that grows; NULL sets out_of_memory. */
void *metal_more(struct metal_pass *p, void *array, size_t used, size_t *room, size_t size);
void metal_memory_free(struct metal_memory *memory);

/* ---- tokens ---- */
bool metal_tokenize(struct metal_pass *p);
bool metal_match(struct metal_pass *p);
bool metal_is(const struct metal_pass *p, uint32_t i, const char *text); /* false beyond the end */
const char *metal_text(struct metal_pass *p, uint32_t first,
                       uint32_t last); /* of tokens first to last, one space between lines */
/* Whether token i opens an attribute list, [[ ... ]]. */
bool metal_is_attributes(const struct metal_pass *p, uint32_t i);
/* The token behind i, or behind the bracket that i opens. */
uint32_t metal_skip(const struct metal_pass *p, uint32_t i);
/* The token before i, or before the bracket that i closes; METAL_NONE at the start. */
uint32_t metal_skip_back(const struct metal_pass *p, uint32_t i);
/* The first token of the declaration that i stands in. */
uint32_t metal_declaration(const struct metal_pass *p, uint32_t i);
bool metal_unmodelled(struct metal_pass *p, uint32_t i, const char *what);
bool metal_wrong(struct metal_pass *p, uint32_t i, const char *what);

/* ---- edits ---- */
enum { METAL_RANK_VALUE, METAL_RANK_CLOSE, METAL_RANK_OPEN };
void metal_remove(struct metal_pass *p, uint32_t at, uint32_t bytes);
void metal_insert(struct metal_pass *p, uint32_t at, const char *text, uint32_t rank);
void metal_insert_before(struct metal_pass *p, uint32_t i, const char *text);
void metal_insert_after(struct metal_pass *p, uint32_t i, const char *text, uint32_t rank);
void metal_replace(struct metal_pass *p, uint32_t first, uint32_t last, const char *text);
bool metal_apply(struct metal_pass *p, const char *front); /* fills unit->text */

/* ---- rewriting ---- */
bool metal_kernels(struct metal_pass *p); /* kernels, instantiations, stages of rendering */
bool metal_parameters(struct metal_pass *p, uint32_t open, struct metal_kernel *k, uint32_t body); /* body METAL_NONE: none */
/* The list of what the host binds, without attributes; NULL when it is wrong. */
const char *metal_bound(struct metal_pass *p, uint32_t open);
bool metal_constants(struct metal_pass *p);    /* function constants */
void metal_methods(struct metal_pass *p);      /* member functions with address spaces */
void metal_declarations(struct metal_pass *p); /* threadgroup variables, arrays as parameters, coherent */
bool metal_expressions(struct metal_pass *p);  /* literals, c ? a : b, swizzles in templates */
bool metal_refuse(struct metal_pass *p);       /* textures and the like */

#endif
