/* What the files of the reader share. Others include ir_read.h alone. */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_READ_PARTS_H
#define ORCHARD_ISA_AGX_COMPILER_IR_READ_PARTS_H

#include "isa/agx/compiler/ir_parts.h"
#include "isa/agx/compiler/ir_read.h"

/* ---- tokens (ir_read_token.c) ---- */

enum ir_token_kind {
    IR_T_END,
    IR_T_WORD,
    IR_T_LABEL,  /* name: */
    IR_T_LOCAL,  /* %name */
    IR_T_GLOBAL, /* @name */
    IR_T_META,   /* !name, !12, and ! alone */
    IR_T_GROUP,  /* #12 */
    IR_T_INTEGER,
    IR_T_FLOAT, /* decimal */
    IR_T_HEX,   /* 0x..., 0xH... */
    IR_T_STRING,
    IR_T_BYTES, /* c"..." */
    IR_T_SIGN   /* one character */
};
struct ir_token {
    enum ir_token_kind kind;
    const char *text; /* without %, @, ! and quotes */
    size_t length;
    const char *start;
    unsigned long line;
    bool first;   /* on its line */
    bool escaped; /* quoted, with backslashes */
};
struct ir_place { /* where a reader stands */
    const char *at;
    unsigned long line;
    bool fresh; /* nothing of the line was read yet */
    struct ir_token token;
};

/* Names to things; emptied in no time. */
struct ir_names {
    struct ir_names_slot {
        uint64_t hash;
        const char *text;
        size_t length;
        uint64_t epoch; /* of another: free */
        void *item;
    } * slot;
    size_t slots, used;
    uint64_t epoch;
};

struct ir_named_type {
    struct ir_place body;
    const struct ir_type *type;
    bool busy;
};
/* A numbered node of metadata, read when it is asked for. */
struct ir_node {
    struct ir_place body;
    uint32_t line, file;
    uint32_t inlined; /* of a location: the node of the call that it was inlined to, + 1; 0 = to none */
    bool known, location, busy;
};
struct ir_param {
    const struct ir_type *type, *by_value;
    const char *local; /* as the text names it; NULL = only numbered */
    size_t local_length;
    const char *name, *annotation;
    uint64_t reach; /* dereferenceable(n) */
};
struct ir_pending { /* initial value of a global, body of a function */
    struct ir_place place;
    struct ir_value *global;
    struct ir_function *function;
    bool annotations, hidden, external;
    bool has_group, has_names; /* of a function: whether these nodes say more */
    uint64_t group_node, names_node;
};

#define IR_READ_DEEPEST    64    /* types and constants within one another */
#define IR_READ_MOST_LANES 1024u /* of a vector */

struct ir_reader {
    struct ir_module *m;
    const char *text, *end;
    const char *library; /* folder of files whose lines belong to their callers; NULL = none */
    struct ir_place place;
    struct isa_error *error;
    bool failed;
    unsigned depth;
    struct ir_names types, globals, locals, blocks;
    struct ir_pending *pending;
    size_t pendings, pending_room;
    struct ir_node *node;
    size_t nodes;
    /* the function being read */
    struct ir_function *f;
    struct ir_block *block; /* NULL between an end and the next label */
    struct ir_token line;   /* where the instruction being read begins */
    bool hoist;             /* constant expressions go to the end of the entry */
    bool loose;             /* pointers of all spaces are one: in llvm.global.annotations */
    bool unused;            /* names do not count as uses: of annotations' texts */
    uint64_t next_number;
    struct ir_value **operand; /* stack of operands being collected */
    size_t operands, operand_room;
    struct ir_block **target; /* of the end or phi being read */
    size_t targets, target_room;
    struct ir_block **listed; /* blocks in the order of the text */
    size_t listeds, listed_room;
    size_t forwards, stand_ins; /* values used before they were defined: not yet defined, all of the function */
    struct ir_param *param;     /* of the head being read */
    size_t params, param_room;
    bool variadic; /* with more behind them */
};

void ir_next(struct ir_reader *r);
/* Writes the reason with the line and its text, for the first failure only; always false. */
bool ir_read_fail(struct ir_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool ir_read_no_memory(struct ir_reader *r);
bool ir_is(const struct ir_reader *r, const char *word);
bool ir_is_sign(const struct ir_reader *r, char sign);
bool ir_take(struct ir_reader *r, const char *word); /* goes on if the token is this word */
bool ir_take_sign(struct ir_reader *r, char sign);
bool ir_want(struct ir_reader *r, const char *word);
bool ir_want_sign(struct ir_reader *r, char sign);
bool ir_want_number(struct ir_reader *r, uint64_t most, uint64_t *number);
/* Goes behind the bracket that closes the one which is the token. */
bool ir_skip_brackets(struct ir_reader *r);
void ir_skip_line(struct ir_reader *r);
/* The name or string that the token is, without escapes; lives as long as the module or the text. */
const char *ir_token_text(struct ir_reader *r, size_t *length);
char *ir_token_copy(struct ir_reader *r);

/* The item of a name, NULL at first; NULL when memory ran out. Valid until another name is asked for. */
void **ir_names_at(struct ir_names *names, const char *text, size_t length);
void ir_names_clear(struct ir_names *names);

/* ---- types (ir_read_type.c) ---- */

bool ir_is_type(const struct ir_reader *r); /* whether a type begins here */
const struct ir_type *ir_read_type(struct ir_reader *r);
bool ir_read_space(struct ir_reader *r, enum ir_space *space); /* (n) of addrspace(n) */

/* ---- attributes (ir_read_type.c) ---- */

/* Whether the token is a word that attributes and linkages are made of, not one that begins a type or a value. */
bool ir_is_attribute(const struct ir_reader *r);
bool ir_skip_attribute(struct ir_reader *r);
bool ir_skip_attributes(struct ir_reader *r);

/* ---- constants and operands (ir_read_constant.c, ir_read_expression.c, ir_read_number.c) ---- */

struct ir_value *ir_read_constant(struct ir_reader *r, const struct ir_type *type); /* NULL on failure */
struct ir_value *ir_read_number(struct ir_reader *r, const struct ir_type *type);
struct ir_value *ir_read_expression(struct ir_reader *r, const struct ir_type *type);
/* A value of the type: local or constant. */
struct ir_value *ir_read_operand(struct ir_reader *r, const struct ir_type *type);
struct ir_value *ir_read_typed(struct ir_reader *r);
bool ir_push(struct ir_reader *r, struct ir_value *v); /* false when `v` is NULL or memory ran out */
bool ir_push_typed(struct ir_reader *r);

/* ---- instructions (ir_read_instruction.c and its neighbours) ---- */

struct ir_flags_read {
    bool fast, exact;
};
/* What stands between the operation and its type. */
struct ir_flags_read ir_read_flags(struct ir_reader *r);
bool ir_read_condition(struct ir_reader *r, bool real, uint8_t *condition);
/* An instruction of the operands pushed since `from`, which are taken off, put at the end of the block (or of the entry). */
struct ir_value *ir_put(struct ir_reader *r, enum ir_op op, const struct ir_type *type, size_t from);
struct ir_value *ir_put_builtin(struct ir_reader *r, enum ir_builtin builtin, const struct ir_type *type, size_t from);
bool ir_read_list(struct ir_reader *r, struct ir_value *v, const uint32_t *list, size_t count);
const struct ir_type *ir_gep_type(struct ir_reader *r, size_t from); /* of pointers, or vectors of them */
const struct ir_type *ir_truth_type(struct ir_reader *r, const struct ir_type *compared);

typedef struct ir_value *ir_read_instruction(struct ir_reader *r, enum ir_op op);
ir_read_instruction ir_read_load, ir_read_store, ir_read_gep, ir_read_alloca, ir_read_rmw, ir_read_cmpxchg, ir_read_fence;
ir_read_instruction ir_read_call, ir_read_builtin, ir_read_phi;
ir_read_instruction ir_read_br, ir_read_switch, ir_read_ret, ir_read_unreachable;
/* Reads one instruction with what is attached to it. */
bool ir_read_line(struct ir_reader *r);
struct ir_block *ir_read_target(struct ir_reader *r); /* label %name */
struct ir_block *ir_block_named(struct ir_reader *r); /* of the token, which is taken */
bool ir_define(struct ir_reader *r, const char *name, size_t length, struct ir_value *v);
/* Alignment and metadata behind an instruction, with our own !place and !annotation. The place in the source goes to `place`: its
 * line, as a number, to `note`, because `line` is that of the text until the function is whole. */
bool ir_read_attached(struct ir_reader *r, struct ir_value *v, struct ir_value *place);
bool ir_push_target(struct ir_reader *r, struct ir_block *b);
bool ir_read_blocks(struct ir_reader *r, struct ir_value *v); /* gives `v` the targets collected */
/* Stands for an instruction of which nothing remains. */
struct ir_value *ir_no_value(struct ir_reader *r);

/* ---- functions, metadata ---- */

bool ir_read_function(struct ir_reader *r, bool defined); /* behind define or declare: the head */
bool ir_read_body(struct ir_reader *r, struct ir_function *f);
bool ir_read_global(struct ir_reader *r); /* at @name = */
bool ir_read_initial(struct ir_reader *r, const struct ir_pending *pending);
bool ir_read_quoted(struct ir_reader *r, const char **text); /* ("...") */

bool ir_note_node(struct ir_reader *r); /* at !12 = */
bool ir_read_location(struct ir_reader *r, uint64_t number, uint32_t *line, uint32_t *file);
bool ir_read_group_size(struct ir_reader *r, uint64_t number, uint32_t size[3]);
bool ir_read_argument_names(struct ir_reader *r, uint64_t number, struct ir_function *f);

void ir_annotate(struct ir_reader *r, struct ir_value *v, const char *text);
const char *ir_string_of(struct ir_reader *r, const struct ir_value *v); /* of a global that holds one; else NULL */
struct ir_value *ir_behind_casts(struct ir_value *v);

#endif
