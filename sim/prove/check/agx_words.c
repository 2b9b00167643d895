/* Words: decoding, fields, text and encoding against applegpu; length and operation against Mesa. */
#include "isa/agx/agx_isa.h"
#include "isa/array_count.h"
#include "sim/prove/check/agx_vectors_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_TEXT = 1024 };

struct word {
    const char *hex;
    uint8_t code[16];
    size_t bytes;
    struct agx_inst inst;
    size_t length; /* decoded */
};

static bool take_word(struct agx_checker *c, char **text, struct word *w)
{
    w->hex = vector_word(text, '\t');
    memset(w->code, 0, sizeof w->code);
    if (!vector_bytes(w->hex, w->code, AGX_MAX_BYTES, &w->bytes))
        return vector_malformed(&c->in, "an instruction of 1 to 12 bytes in hex");
    w->length = agx_decode(w->code, w->bytes, &w->inst);
    return true;
}

static bool fail(struct agx_checker *c, const struct word *w, const char *what, const char *got, const char *expected)
{
    check_fail(c->report, "%s:%lu: %s: %s is '%s', expected '%s'", c->in.name, c->in.line_number, w->hex, what, got, expected);
    return true;
}

/* "Dt=1;cc=6;..." */
static void write_fields(const struct agx_inst *inst, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < agx_form_field_count(inst->form) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%" PRIu32, i ? ";" : "", agx_form_field_name(inst->form, i),
                                 inst->field[i]);
}

/* Whether encoding the fields gives the same bytes (canonical), or bytes with the same fields. */
static bool encodes(const struct word *w, bool canonical, char *got, size_t size)
{
    uint8_t code[AGX_MAX_BYTES];
    struct agx_inst again;
    const size_t length = agx_encode(&w->inst, code);
    size_t used = 0;
    got[0] = 0;
    for (size_t i = 0; i < length && used < size; i++)
        used += (size_t)snprintf(got + used, size - used, "%02x", code[i]);
    if (canonical)
        return length == w->bytes && memcmp(code, w->code, length) == 0;
    return agx_decode(code, length, &again) == length && again.form == w->inst.form &&
           memcmp(again.field, w->inst.field, sizeof again.field) == 0;
}

/* What decoding must give, in applegpu's spelling. */
struct expected {
    const char *mnemonic, *fields, *text;
    unsigned bytes;
    bool canonical;
};

static bool compare(struct agx_checker *c, const struct word *w, const struct expected *e)
{
    char got[FIELDS_TEXT], mnemonic[AGX_TEXT_BYTES], text[AGX_TEXT_BYTES], number[16];
    agx_from_applegpu(e->mnemonic, mnemonic, sizeof mnemonic);
    agx_from_applegpu(e->text, text, sizeof text);
    snprintf(got, sizeof got, "%zu bytes", w->length);
    snprintf(number, sizeof number, "%u bytes", e->bytes);
    if (w->length != e->bytes)
        return fail(c, w, "the length", got, number);
    if (strcmp(agx_form_mnemonic(w->inst.form), mnemonic) != 0)
        return fail(c, w, "the mnemonic", agx_form_mnemonic(w->inst.form), mnemonic);
    write_fields(&w->inst, got, sizeof got);
    if (strcmp(got, e->fields) != 0)
        return fail(c, w, "the list of fields", got, e->fields);
    agx_disasm(&w->inst, got, sizeof got);
    if (strcmp(got, text) != 0)
        return fail(c, w, "the text", got, text);
    if (!encodes(w, e->canonical, got, sizeof got))
        return fail(c, w, "the encoding", got, w->hex);
    check_pass(c->report);
    return true;
}

/* hex id mnemonic bytes canonical asm fields text */
bool agx_check_encode(struct agx_checker *c)
{
    char *text = c->in.line;
    struct word w;
    struct expected e = {0};
    unsigned canonical = 0;
    if (!take_word(c, &text, &w))
        return false;
    const char *const id = vector_word(&text, '\t');
    e.mnemonic = vector_word(&text, '\t');
    const char *const bytes = vector_word(&text, '\t'), *const form = vector_word(&text, '\t');
    vector_word(&text, '\t'); /* tells whether applegpu's own assembler reads the text */
    e.fields = vector_word(&text, '\t');
    e.text = vector_word(&text, '\t');
    if (id && strcmp(id, "-1") == 0) {
        if (w.length == 0)
            check_pass(c->report);
        else
            fail(c, &w, "the form", agx_form_mnemonic(w.inst.form), "none");
        return true;
    }
    if (!e.mnemonic || !e.fields || !e.text || !vector_decimal(bytes, AGX_MAX_BYTES, &e.bytes) ||
        !vector_decimal(form, 1, &canonical))
        return vector_malformed(&c->in, "hex, id, mnemonic, bytes, canonical, asm, fields and text");
    e.canonical = canonical == 1;
    return compare(c, &w, &e);
}

/* hex id mnemonic bytes fields text */
bool agx_check_compiler_word(struct agx_checker *c)
{
    char *text = c->in.line;
    struct word w;
    struct expected e = {.canonical = true};
    if (!take_word(c, &text, &w))
        return false;
    vector_word(&text, '\t');
    e.mnemonic = vector_word(&text, '\t');
    const char *const bytes = vector_word(&text, '\t');
    e.fields = vector_word(&text, '\t');
    e.text = vector_word(&text, '\t');
    if (!e.mnemonic || !e.fields || !e.text || !vector_decimal(bytes, AGX_MAX_BYTES, &e.bytes))
        return vector_malformed(&c->in, "hex, id, mnemonic, bytes, fields and text");
    return compare(c, &w, &e);
}

/* Mesa's names and ours, where they differ; one Mesa name may stand for several of ours. A name that ends in '*' is a beginning.
 */
static const struct {
    const char *mesa, *ours[4];
} names[] = {
    {"andn2", {"bitop", "and*"}},
    {"atomic", {"atomic"}},
    {"ballot", {"icmp_ballot", "fcmp_ballot", "icmp_quad_ballot", "fcmp_quad_ballot"}},
    {"barrier", {"threadgroup_barrier"}},
    {"csel", {"icmpsel", "fcmpsel"}},
    {"else", {"else_icmp", "else_fcmp"}},
    {"f_to_s32", {"convert"}},
    {"f_to_u32", {"convert"}},
    {"s32_to_f", {"convert"}},
    {"u32_to_f", {"convert"}},
    {"fadd", {"fadd32"}},
    {"ffma", {"fmadd32"}},
    {"fmul", {"fmul32"}},
    {"hadd", {"fadd16"}},
    {"hfma", {"fmadd16"}},
    {"hmul", {"fmul16"}},
    {"flush_memory_to_texture", {"memory_barrier"}},
    {"iadd", {"iadd", "isub"}},
    {"if", {"if_icmp", "if_fcmp", "push_exec"}},
    {"imadd", {"imadd", "imsub"}},
    {"imul", {"imadd"}},
    {"image_barrier_1", {"memory_barrier"}},
    {"image_barrier_2", {"memory_barrier"}},
    {"image_barrier_3", {"memory_barrier"}},
    {"image_barrier_4", {"memory_barrier"}},
    {"memory_barrier_2", {"memory_barrier"}},
    {"memory_barrier_3", {"memory_barrier"}},
    {"unknown_barrier_1", {"memory_barrier"}},
    {"unknown_barrier_2", {"memory_barrier"}},
    {"imgw", {"image_write"}},
    {"imgwblk", {"image_write_block"}},
    {"iter", {"iter", "iterproj"}},
    {"jmp_any", {"jmp_exec_any"}},
    {"jmp_none", {"jmp_exec_none"}},
    {"latomic", {"threadgroup_atomic"}},
    {"ldimm", {"mov_imm"}},
    {"lload", {"threadgroup_load"}},
    {"load", {"device_load", "sampler_state_store", "tex_state_store"}},
    {"lstore", {"threadgroup_store"}},
    {"mov", {"mov", "get_sr", "uniform_store"}},
    {"pixwait", {"wait_pix"}},
    {"shl", {"bfi"}},
    {"shr", {"bfeil"}},
    {"shuffle", {"simd_shuffle*", "quad_shuffle*"}},
    {"simd", {"simd_*", "quad_*"}},
    {"smpf", {"texture_sample"}},
    {"smpi", {"texture_load"}},
    {"st_var", {"st_var", "st_var_final"}},
    {"store", {"device_store"}},
    {"update_exec", {"update_exec", "if_fcmp"}},
};

static bool same_name(const char *ours, const char *pattern)
{
    const size_t length = strlen(pattern);
    if (length && pattern[length - 1] == '*')
        return strncmp(ours, pattern, length - 1) == 0;
    return strcmp(ours, pattern) == 0;
}

static bool is_operation(const char *mesa, const struct agx_inst *inst)
{
    const char *const text = agx_mnemonic(inst), *const form = agx_form_mnemonic(inst->form);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (strcmp(names[i].mesa, mesa) != 0)
            continue;
        for (unsigned k = 0; k < 4 && names[i].ours[k]; k++)
            if (same_name(text, names[i].ours[k]) || same_name(form, names[i].ours[k]))
                return true;
        return false;
    }
    return strcmp(mesa, text) == 0 || strcmp(mesa, form) == 0;
}

/* hex bytes op operands second_decoder second_text */
bool agx_check_mesa_word(struct agx_checker *c)
{
    char *text = c->in.line, got[16], expected[16];
    struct word w;
    unsigned bytes;
    if (!take_word(c, &text, &w))
        return false;
    const char *const count = vector_word(&text, '\t'), *const op = vector_word(&text, '\t');
    if (!op || !vector_decimal(count, AGX_MAX_BYTES, &bytes) || bytes != w.bytes)
        return vector_malformed(&c->in, "hex, its length, and Mesa's name of the operation");
    snprintf(got, sizeof got, "%zu bytes", w.length);
    snprintf(expected, sizeof expected, "%u bytes", bytes);
    if (w.length != bytes)
        return fail(c, &w, "the length", got, expected);
    if (!is_operation(op, &w.inst))
        return fail(c, &w, "the operation", agx_mnemonic(&w.inst), op);
    check_pass(c->report);
    return true;
}
