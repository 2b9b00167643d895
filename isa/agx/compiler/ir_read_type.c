/* Types, and the attributes around them, which are skipped. */
#include "isa/agx/compiler/ir_read_parts.h"

#include "isa/array_count.h"

#include <stdlib.h>

#define MOST_BYTES (UINT64_C(1) << 40) /* of a type: no memory holds more, and no sum overflows */

/* iN: the number of bits; 0 when the word is none. */
static unsigned int_bits(const struct ir_token *token)
{
    unsigned bits = 0;
    if (token->kind != IR_T_WORD || token->length < 2 || token->length > 5 || *token->text != 'i')
        return 0;
    for (size_t i = 1; i < token->length; i++) {
        if (token->text[i] < '0' || token->text[i] > '9')
            return 0;
        bits = 10 * bits + (unsigned)(token->text[i] - '0');
    }
    return bits;
}

static const char *const type_words[] = {"void",   "half",  "float",    "double",    "ptr",     "label",   "metadata", "token",
                                         "bfloat", "fp128", "x86_fp80", "ppc_fp128", "x86_mmx", "x86_amx", "opaque",   "target"};

bool ir_is_type(const struct ir_reader *r)
{
    if (ir_is_sign(r, '{') || ir_is_sign(r, '[') || ir_is_sign(r, '<') || r->place.token.kind == IR_T_LOCAL)
        return true;
    if (int_bits(&r->place.token))
        return true;
    for (unsigned i = 0; i < ARRAY_COUNT(type_words); i++)
        if (ir_is(r, type_words[i]))
            return true;
    return false;
}

bool ir_read_space(struct ir_reader *r, enum ir_space *space)
{
    uint64_t number;
    if (!ir_want_sign(r, '(') || !ir_want_number(r, 16777215, &number) || !ir_want_sign(r, ')'))
        return false;
    *space = (enum ir_space)number;
    if (number > IR_GENERIC && number != IR_CONSTANT_HOST)
        return ir_read_fail(r, "address space %u is not known", (unsigned)number);
    return true;
}

static const struct ir_type *read_pointer(struct ir_reader *r)
{
    enum ir_space space = IR_PRIVATE;
    if (ir_take(r, "addrspace") && !ir_read_space(r, &space))
        return NULL;
    return ir_pointer(r->m, space);
}

static const struct ir_type *read_named(struct ir_reader *r)
{
    size_t length;
    const char *const name = ir_token_text(r, &length);
    void **const item = ir_names_at(&r->types, name, length);
    struct ir_named_type *const named = item ? *item : NULL;
    if (!named)
        return ir_read_fail(r, "type %%%.*s is not defined", (int)(length < 60 ? length : 60), name), NULL;
    if (!named->type) {
        const struct ir_place back = r->place;
        if (named->busy)
            return ir_read_fail(r, "a type contains itself"), NULL;
        named->busy = true;
        r->place = named->body;
        named->type = ir_read_type(r);
        if (!named->type)
            return NULL;
        r->place = back;
    }
    ir_next(r);
    return named->type;
}

/* N x TYPE, with the bracket that closes it. */
static const struct ir_type *read_row(struct ir_reader *r, char close)
{
    uint64_t count;
    if (ir_is(r, "vscale"))
        return ir_read_fail(r, "vectors of unknown length are not supported"), NULL;
    if (!ir_want_number(r, MOST_BYTES, &count) || !ir_want(r, "x"))
        return NULL;
    const struct ir_type *const element = ir_read_type(r);
    if (!element || !ir_want_sign(r, close))
        return NULL;
    if (element->kind == IR_VOID || element->kind == IR_LABEL || element->kind == IR_METADATA)
        return ir_read_fail(r, "there are no arrays of such a type"), NULL;
    if (close == ']') {
        if (element->bytes && count > MOST_BYTES / element->bytes)
            return ir_read_fail(r, "an array is too large"), NULL;
        return ir_array(r->m, element, count);
    }
    if (count == 0 || count > IR_READ_MOST_LANES)
        return ir_read_fail(r, "a vector of %u lanes is not supported", (unsigned)count), NULL;
    if (element->kind != IR_INT && element->kind != IR_FLOAT && element->kind != IR_POINTER)
        return ir_read_fail(r, "vectors are of integers, floats and pointers"), NULL;
    return ir_vector(r->m, element, count);
}

#define MOST_MEMBERS 4096

static const struct ir_type *read_struct(struct ir_reader *r, bool packed)
{
    const size_t from = r->operands; /* the stack of operands holds types meanwhile */
    uint64_t bytes = 0;
    while (!ir_is_sign(r, '}')) {
        if (r->operands > from && !ir_want_sign(r, ','))
            return NULL;
        const struct ir_type *const member = ir_read_type(r);
        if (!member || !ir_push(r, (struct ir_value *)member))
            return NULL;
        bytes += member->bytes + member->align;
        if (bytes > MOST_BYTES || r->operands - from > MOST_MEMBERS || member->kind == IR_VOID || member->kind == IR_LABEL ||
            member->kind == IR_METADATA)
            return ir_read_fail(r, "a structure is too large, or has a member of no size"), NULL;
    }
    ir_next(r);
    if (packed && !ir_want_sign(r, '>'))
        return NULL;
    const unsigned count = (unsigned)(r->operands - from);
    r->operands = from;
    const struct ir_type **const member = calloc(count ? count : 1, sizeof *member);
    if (!member)
        return ir_read_no_memory(r), NULL;
    for (unsigned i = 0; i < count; i++)
        member[i] = (const struct ir_type *)r->operand[from + i];
    const struct ir_type *const type = ir_struct(r->m, member, count, packed);
    free(member);
    return type;
}

static const struct ir_type *read_word(struct ir_reader *r)
{
    const unsigned bits = int_bits(&r->place.token);
    struct ir_module *const m = r->m;
    if (bits > 1024)
        return ir_read_fail(r, "integers of %u bits are not supported", bits), NULL;
    if (bits) {
        ir_next(r);
        return ir_int(m, bits);
    }
    if (ir_take(r, "ptr"))
        return read_pointer(r);
    if (ir_take(r, "void"))
        return ir_void(m);
    if (ir_take(r, "half"))
        return ir_float(m, 16);
    if (ir_take(r, "float"))
        return ir_float(m, 32);
    if (ir_take(r, "double"))
        return ir_float(m, 64);
    if (ir_take(r, "label"))
        return ir_label(m);
    if (ir_take(r, "metadata"))
        return ir_metadata(m);
    if (ir_is_type(r))
        return ir_read_fail(r, "type %.*s is not supported", (int)r->place.token.length, r->place.token.text), NULL;
    return ir_read_fail(r, "expected a type"), NULL;
}

static const struct ir_type *read_type(struct ir_reader *r)
{
    if (r->place.token.kind == IR_T_LOCAL)
        return read_named(r);
    if (ir_take_sign(r, '['))
        return read_row(r, ']');
    if (ir_take_sign(r, '{'))
        return read_struct(r, false);
    if (ir_take_sign(r, '<'))
        return ir_take_sign(r, '{') ? read_struct(r, true) : read_row(r, '>');
    return read_word(r);
}

const struct ir_type *ir_read_type(struct ir_reader *r)
{
    if (r->depth >= IR_READ_DEEPEST)
        return ir_read_fail(r, "types are nested too deeply"), NULL;
    r->depth++;
    const struct ir_type *const type = read_type(r);
    r->depth--;
    if (type && ir_is_sign(r, '*'))
        return ir_read_fail(r, "typed pointers are not read: make the text with clang 16 or later"), NULL;
    return type;
}

/* ---- attributes ---- */

static const char *const value_words[] = {"true",
                                          "false",
                                          "null",
                                          "undef",
                                          "poison",
                                          "zeroinitializer",
                                          "none",
                                          "splat",
                                          "bits",
                                          "address",
                                          "getelementptr",
                                          "bitcast",
                                          "addrspacecast",
                                          "ptrtoint",
                                          "inttoptr",
                                          "trunc",
                                          "zext",
                                          "sext",
                                          "add",
                                          "sub",
                                          "mul",
                                          "shl",
                                          "lshr",
                                          "ashr",
                                          "and",
                                          "or",
                                          "xor",
                                          "icmp",
                                          "fcmp",
                                          "select",
                                          "blockaddress",
                                          "dso_local_equivalent",
                                          "no_cfi",
                                          "asm",
                                          "fptrunc",
                                          "fpext",
                                          "fptoui",
                                          "fptosi",
                                          "uitofp",
                                          "sitofp",
                                          "extractelement",
                                          "insertelement",
                                          "shufflevector",
                                          "ptrauth"};

bool ir_is_attribute(const struct ir_reader *r)
{
    if (r->place.token.kind == IR_T_STRING || r->place.token.kind == IR_T_GROUP)
        return true;
    if (r->place.token.kind != IR_T_WORD || ir_is_type(r))
        return false;
    for (unsigned i = 0; i < ARRAY_COUNT(value_words); i++)
        if (ir_is(r, value_words[i]))
            return false;
    return true;
}

/* A word, a word with arguments in parentheses, align N, cc N, "key"="value", #N. */
bool ir_skip_attribute(struct ir_reader *r)
{
    const bool numbered = ir_is(r, "align") || ir_is(r, "cc") || ir_is(r, "alignstack");
    const bool text = r->place.token.kind == IR_T_STRING;
    ir_next(r);
    if (numbered && r->place.token.kind == IR_T_INTEGER) {
        ir_next(r);
    } else if (text && ir_take_sign(r, '=')) {
        if (r->place.token.kind != IR_T_STRING)
            return ir_read_fail(r, "expected a string");
        ir_next(r);
    } else if (!text && ir_is_sign(r, '(')) {
        return ir_skip_brackets(r);
    }
    return true;
}

bool ir_skip_attributes(struct ir_reader *r)
{
    while (ir_is_attribute(r))
        if (!ir_skip_attribute(r))
            return false;
    return !r->failed;
}
