/* One instruction: the forms that its name may mean are tried until the operands fit one. */
#include "isa/agx/agx_asm_parts.h"
#include "isa/array_count.h"
#include "isa/isa_suggest.h"

#include <string.h>

/* Shorter or more familiar spellings: name, number of operands, and what it stands for ($n is operand n as given). Atomics,
 * stack operations and uniform stores get the constants that compilers emit; source: Mesa, src/asahi/isa/test/cases.txt. */
static const struct alias {
    const char *name;
    unsigned operands;
    const char *text;
} aliases[] = {
    {"mov", 2, "mov_imm $1, $2"},
    {"add", 3, "iadd $1, $2, $3"},
    {"add", 4, "iadd $1, $2, $3, $4"},
    {"sub", 3, "isub $1, $2, $3"},
    {"sub", 4, "isub $1, $2, $3, $4"},
    {"neg", 2, "isub $1, 0, $2"},
    {"mul", 3, "imadd $1, $2, $3, 0"},
    {"mad", 4, "imadd $1, $2, $3, $4"},
    {"shl", 3, "bfi $1, 0, $2, $3"},
    {"shr", 3, "bfeil $1, 0, $2, $3"},
    {"sar", 3, "asr $1, $2, $3"},
    {"rotr", 3, "extr $1, $2, $2, $3"},
    {"umin", 3, "icmpsel ult, $1, $2, $3, $2, $3"},
    {"umax", 3, "icmpsel ugt, $1, $2, $3, $2, $3"},
    {"imin", 3, "icmpsel slt, $1, $2, $3, $2, $3"},
    {"imax", 3, "icmpsel sgt, $1, $2, $3, $2, $3"},
    {"fmin", 3, "fcmpsel ltn, $1, $2, $3, $2, $3"},
    {"fmax", 3, "fcmpsel gtn, $1, $2, $3, $2, $3"},
    {"fmov", 2, "fadd32 $1, $2, -0.0"},
    {"u8_to_f", 2, "convert u8_to_f, $1, $2, rte"},
    {"s8_to_f", 2, "convert s8_to_f, $1, $2, rte"},
    {"u16_to_f", 2, "convert u16_to_f, $1, $2, rte"},
    {"s16_to_f", 2, "convert s16_to_f, $1, $2, rte"},
    {"u32_to_f", 2, "convert u32_to_f, $1, $2, rte"},
    {"s32_to_f", 2, "convert s32_to_f, $1, $2, rte"},
    {"f_to_u16", 2, "convert f_to_u16, $1, $2, rtz"},
    {"f_to_s16", 2, "convert f_to_s16, $1, $2, rtz"},
    {"f_to_u32", 2, "convert f_to_u32, $1, $2, rtz"},
    {"f_to_s32", 2, "convert f_to_s32, $1, $2, rtz"},
    {"else", 1, "else_fcmp eq, 0.0, 0.0, $1"},
    {"barrier", 0, "threadgroup_barrier"},
    {"fence", 0, "memory_barrier 1, 2, 9"},
    {"uniform_store", 3, "uniform_store 2, i16, $1, 0, $2, $3"},
    {"stack_adjust", 1, "stack_adjust 0, 1, 2, 0, 0, $1"},
    {"stack_load", 4, "stack_load $1, $2, 1, 0, $3, 4, $4, 0"},
    {"stack_load", 5, "stack_load $1, $2, 1, 0, $3, 4, $4, $5"},
    {"stack_store", 4, "stack_store $1, 1, 0, $2, 4, $3, $4, 0"},
    {"stack_store", 5, "stack_store $1, 1, 0, $2, 4, $3, $4, $5"},
    {"atomic", 7, "atomic $1, $2, $3, $4, $5, $6, $7, 1, 0, 1, 4, 2"},
    {"threadgroup_atomic", 5, "threadgroup_atomic $1, $2, $3, $4, $5, 0, 2, 128, 0"},
};

static char *trim(char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    char *end = text + strlen(text);
    while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    return text;
}

bool agx_asm_split(char *text, struct agx_asm_line *line)
{
    *line = (struct agx_asm_line){.mnemonic = text};
    char *at = text + strcspn(text, " \t");
    const bool operands = *at;
    if (operands)
        *at++ = '\0';
    const size_t length = strlen(text);
    if (length > 4 && strcmp(text + length - 4, ".sat") == 0) {
        text[length - 4] = '\0';
        line->saturate = true;
    }
    at = trim(at);
    while (operands && *at) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        if (line->count == AGX_ASM_OPERANDS)
            return false;
        line->word[line->count++] = trim(at);
        if (!comma)
            break;
        at = comma + 1;
        at = trim(at);
        if (!*at && line->count < AGX_ASM_OPERANDS)
            line->word[line->count++] = at; /* a trailing comma makes an empty operand */
    }
    return true;
}

static bool is_canonical(const struct agx_asm_build *build)
{
    uint8_t bytes[AGX_MAX_BYTES];
    struct agx_inst back;
    agx_decode(bytes, agx_encode(&build->inst, bytes), &back);
    return back.form == build->inst.form && back.op != AGX_OP_NONE &&
           memcmp(back.field, build->inst.field, sizeof back.field) == 0;
}

static bool set_condition_of(struct agx_asm_build *build, const struct agx_rename *rename)
{
    const bool truth = rename && (rename->when == AGX_WHEN_TRUTH || rename->when == AGX_WHEN_TRUTH_ZERO);
    if (rename && rename->when == AGX_WHEN_FIELD && !agx_asm_set(build, rename->field, rename->value))
        return false;
    for (unsigned i = 0; i < 4 && truth; i++)
        if (!agx_asm_set(build, (enum agx_field_id)(AGX_F_tt0 + i), rename->value >> i & 1))
            return false;
    return true;
}

static bool form_saturates(const struct agx_form *form)
{
    for (unsigned i = 0; i < form->operand_count; i++)
        if (form->operands[i].kind == AGX_KIND_ALU_DST && form->operands[i].m == AGX_F_S)
            return true;
    return false;
}

/* Reads all operands for one form under one of its names. */
static bool try_form(struct agx_asm_build *build, unsigned form, const struct agx_rename *rename)
{
    build->form = &agx_forms[form];
    build->inst = (struct agx_inst){.form = (uint16_t)form, .op = agx_forms[form].op};
    build->next = 0;
    build->label = NULL;
    memset(build->run_count, 0, sizeof build->run_count);
    if (build->line->saturate && (!form_saturates(build->form) || !agx_asm_set(build, AGX_F_S, 1)))
        return agx_asm_fail(build, "%s cannot saturate", build->form->mnemonic);
    if (!set_condition_of(build, rename))
        return false;
    for (unsigned i = 0; i < build->form->operand_count; i++)
        if (!agx_rename_drops(rename, &build->form->operands[i]) && !agx_asm_operand(build, i))
            return false;
    if (build->next < build->line->count)
        return agx_asm_fail(build, "%s: one operand too many", build->line->word[build->next++]);
    if (!agx_asm_settle(build))
        return false;
    if (!is_canonical(build))
        return agx_asm_fail(build, "these operands make another instruction of %s", build->line->mnemonic);
    return true;
}

struct attempt {
    struct agx_asm_build build, best; /* best is the failure that got furthest */
    char name[AGX_ASM_NAME_BYTES];    /* the mnemonic in our spelling */
    bool named;                       /* a form has that name */
};

static bool try_named(struct attempt *a, unsigned form, const char *name, const struct agx_rename *rename)
{
    if (strcmp(a->name, name) != 0)
        return false;
    if (try_form(&a->build, form, rename))
        return true;
    if (!a->named || a->build.next > a->best.next)
        a->best = a->build;
    a->named = true;
    return false;
}

static bool try_all(struct attempt *a, const struct agx_asm_line *line)
{
    a->build.line = line;
    agx_from_applegpu(line->mnemonic, a->name, sizeof a->name);
    for (unsigned form = 0; form < agx_forms_count; form++) {
        for (unsigned i = 0; i < agx_renames_count; i++)
            if (agx_renames[i].op == agx_forms[form].op && try_named(a, form, agx_renames[i].name, &agx_renames[i]))
                return true;
        if (try_named(a, form, agx_forms[form].mnemonic, NULL))
            return true;
    }
    return false;
}

static bool try_alias(struct attempt *a, const struct alias *alias, const struct agx_asm_line *line)
{
    char text[128];
    struct agx_asm_line expanded;
    memcpy(text, alias->text, strlen(alias->text) + 1);
    if (!agx_asm_split(text, &expanded))
        return false;
    for (unsigned i = 0; i < expanded.count; i++)
        if (expanded.word[i][0] == '$')
            expanded.word[i] = line->word[expanded.word[i][1] - '1'];
    expanded.saturate = line->saturate;
    return try_all(a, &expanded);
}

static void suggest_name(const char *typed, struct isa_error *error)
{
    struct isa_suggest suggest;
    char hint[64];
    isa_suggest_start(&suggest, typed);
    for (unsigned i = 0; i < agx_forms_count; i++)
        isa_suggest_offer(&suggest, agx_forms[i].mnemonic);
    for (unsigned i = 0; i < agx_renames_count; i++)
        isa_suggest_offer(&suggest, agx_renames[i].name);
    for (unsigned i = 0; i < ARRAY_COUNT(aliases); i++)
        isa_suggest_offer(&suggest, aliases[i].name);
    isa_suggest_text(&suggest, hint, sizeof hint);
    snprintf(error->text, sizeof error->text, "unknown instruction %.64s%s", typed, hint);
}

bool agx_asm_instruction(const struct agx_asm_line *line, struct agx_inst *inst, const char **label, struct isa_error *error)
{
    struct attempt a = {.named = false};
    *label = NULL;
    bool done = try_all(&a, line);
    const bool natural = a.named; /* otherwise the name is only an alias, and the operands tried are not those given */
    const unsigned first_next = a.best.next;
    char first_why[sizeof a.best.why];
    memcpy(first_why, a.best.why, sizeof first_why);
    for (unsigned i = 0; i < ARRAY_COUNT(aliases) && !done; i++)
        if (strcmp(aliases[i].name, line->mnemonic) == 0 && aliases[i].operands == line->count)
            done = try_alias(&a, &aliases[i], line);
    *error = (struct isa_error){.line = 0};
    if (!done && !a.named)
        suggest_name(line->mnemonic, error);
    else if (!done)
        snprintf(error->text, sizeof error->text, "%.64s: %s", line->mnemonic, natural ? first_why : a.best.why);
    if (!done) {
        error->offset = natural ? first_next : 0;
        return false;
    }
    *label = a.build.label;
    uint8_t bytes[AGX_MAX_BYTES];
    agx_decode(bytes, agx_encode(&a.build.inst, bytes), inst);
    return true;
}

bool agx_asm_one(const char *text, struct agx_inst *inst, struct isa_error *error)
{
    char copy[AGX_ASM_LINE_BYTES];
    struct agx_asm_line line;
    const char *label = NULL;
    *error = (struct isa_error){.line = 0};
    if (strlen(text) >= sizeof copy) {
        snprintf(error->text, sizeof error->text, "the line is longer than %zu characters", sizeof copy - 1);
        return false;
    }
    memcpy(copy, text, strlen(text) + 1);
    if (!agx_asm_split(trim(copy), &line)) {
        snprintf(error->text, sizeof error->text, "more than %d operands", AGX_ASM_OPERANDS);
        return false;
    }
    if (!agx_asm_instruction(&line, inst, &label, error)) {
        error->offset = error->offset && error->offset <= line.count ? (unsigned long)(line.word[error->offset - 1] - copy) : 0;
        return false;
    }
    if (label)
        snprintf(error->text, sizeof error->text, "%.64s: a label needs a program; write pc+offset", label);
    return !label;
}
