/* Names of library functions to what they become. Of the mangling only what overloads of library functions need is read: builtin
 * types, vectors, pointers with address spaces, substitutions of vectors and pointers, and enumerations by name. */
#include "isa/agx/compiler/ir_builtin_names.h"
#include "isa/array_count.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct ir_library_name library_names[] = {
#define IR_LIBRARY(text, kind, code, code_signed, code_float, detail)                                                            \
    {text, IR_LIBRARY_##kind, code, code_signed, code_float, detail},
#include "isa/agx/compiler/ir_builtin_names.inc"
};

static int library_compare(const void *text, const void *name)
{
    return strcmp(text, ((const struct ir_library_name *)name)->text);
}

/* Types that substitutions may name: S_ is the first, S0_ the second. */
struct library_seen {
    struct ir_library_type type[12];
    unsigned count;
};

static void library_see(struct library_seen *seen, struct ir_library_type type)
{
    if (seen->count < ARRAY_COUNT(seen->type))
        seen->type[seen->count++] = type;
}

static const char *library_skip_name(const char *at)
{
    char *end;
    const unsigned long length = strtoul(at, &end, 10);
    return length <= strlen(end) ? end + length : NULL;
}

static const char *library_substitution(const char *at, const struct library_seen *seen, struct ir_library_type *type)
{
    unsigned index = 0;
    if (*at != '_') {
        if (!isdigit((unsigned char)*at))
            return NULL;
        index = (unsigned)(*at++ - '0') + 1;
    }
    if (*at != '_' || index >= seen->count)
        return NULL;
    *type = seen->type[index];
    return at + 1;
}

static const char *library_scalar(const char *at, struct ir_library_type *type)
{
    *type = (struct ir_library_type){.code = *at, .lanes = 1};
    if (at[0] == 'D' && at[1] == 'h') {
        type->code = 'H';
        type->is_float = true;
        return at + 2;
    }
    if (!*at || !strchr("acshtijlmfdvbz", *at))
        return NULL;
    type->is_signed = strchr("acsil", *at) != NULL;
    type->is_float = *at == 'f' || *at == 'd';
    return at + 1;
}

static const char *library_type(const char *at, struct library_seen *seen, struct ir_library_type *type);

static const char *library_pointer(const char *at, struct library_seen *seen, struct ir_library_type *type)
{
    unsigned space = 0, qualifiers = 0;
    bool atomic = false;
    for (;; qualifiers++) {
        if (*at == 'V' || *at == 'K' || *at == 'r') {
            at++;
        } else if (*at == 'U') {
            if (strncmp(at, "U3AS", 4) == 0)
                space = (unsigned)(at[4] - '0');
            atomic = atomic || strncmp(at, "U7_Atomic", 9) == 0;
            at = library_skip_name(at + 1);
            if (!at)
                return NULL;
        } else {
            break;
        }
    }
    at = library_type(at, seen, type);
    if (!at)
        return NULL;
    if (type->is_pointer)
        type->code = 'P';
    /* What is pointed to is a component of its own when it has qualifiers: all of them together are one, and an atomic type
     * inside of them is another. */
    if (qualifiers)
        library_see(seen, *type);
    if (atomic && qualifiers > 1)
        library_see(seen, *type);
    type->is_pointer = true;
    type->space = space;
    library_see(seen, *type);
    return at;
}

static const char *library_type(const char *at, struct library_seen *seen, struct ir_library_type *type)
{
    if (*at == 'P')
        return library_pointer(at + 1, seen, type);
    if (*at == 'S')
        return library_substitution(at + 1, seen, type);
    if (isdigit((unsigned char)*at)) {
        *type = (struct ir_library_type){.code = 'e', .lanes = 1};
        at = library_skip_name(at);
        library_see(seen, *type);
        return at;
    }
    if (at[0] == 'D' && at[1] == 'v') {
        char *end;
        const unsigned long lanes = strtoul(at + 2, &end, 10);
        if (*end != '_' || lanes < 2 || lanes > 16)
            return NULL;
        at = library_scalar(end + 1, type);
        type->lanes = (unsigned)lanes;
        library_see(seen, *type);
        return at;
    }
    return library_scalar(at, type);
}

bool ir_library_find(const char *mangled, struct ir_library_call *call)
{
    *call = (struct ir_library_call){0};
    const char *start = mangled;
    size_t length = strlen(mangled);
    const bool is_mangled = strncmp(mangled, "_Z", 2) == 0 && isdigit((unsigned char)mangled[2]);
    if (is_mangled) {
        char *end;
        const unsigned long named = strtoul(mangled + 2, &end, 10);
        start = end;
        if (named > strlen(end))
            return false;
        length = named;
    }
    if (length >= sizeof call->text)
        return false;
    memcpy(call->text, start, length);
    struct library_seen seen = {.count = 0};
    for (const char *at = is_mangled ? start + length : ""; *at && *at != 'v';) {
        if (call->parameters == ARRAY_COUNT(call->parameter))
            return false;
        at = library_type(at, &seen, &call->parameter[call->parameters++]);
        if (!at)
            return false;
    }
    call->name = bsearch(call->text, library_names, ARRAY_COUNT(library_names), sizeof library_names[0], library_compare);
    static const char *const parts[] = {"convert_", "as_", "vload", "vstore", IR_OWN};
    for (unsigned i = 0; i < ARRAY_COUNT(parts) && !call->name; i++)
        if (strncmp(call->text, parts[i], strlen(parts[i])) == 0)
            return true;
    return call->name != NULL;
}

/* ---- builtins by their own names ---- */

static bool find_kind(enum ir_builtin builtin, const char *text, unsigned *kind)
{
    static const char *const reductions[] = {"add",  "fadd", "fmul", "fmin", "fmax", "umin",
                                             "umax", "smin", "smax", "and",  "or",   "xor"};
    static const char *const atomics[] = {"add", "sub", "xchg", "umin", "smin", "umax", "smax", "and", "or", "xor"};
    const bool atomic = builtin == IR_B_ATOMIC;
    if (!atomic && builtin != IR_B_SIMD_REDUCE && builtin != IR_B_SIMD_PREFIX && builtin != IR_B_QUAD_REDUCE)
        return false;
    for (*kind = 0; *kind < (atomic ? ARRAY_COUNT(atomics) : ARRAY_COUNT(reductions)); ++*kind)
        if (strcmp((atomic ? atomics : reductions)[*kind], text) == 0)
            return true;
    return false;
}

/* Cuts "_as1" and "_as3", then the type ("_u32", "_f16"), from the end of the name. */
static void cut_type(char *name)
{
    char *last = strrchr(name, '_');
    if (last && strncmp(last, "_as", 3) == 0 && strlen(last) == 4) {
        *last = '\0';
        last = strrchr(name, '_');
    }
    if (last && last[1] && strchr("uif", last[1]) && last[2] && strspn(last + 2, "0123456789") == strlen(last + 2))
        *last = '\0';
}

bool ir_builtin_by_name(const char *name, unsigned operands, enum ir_builtin *builtin, unsigned *kind, bool *has_kind)
{
    char text[64];
    if (strncmp(name, IR_OWN, strlen(IR_OWN)) != 0)
        return false;
    snprintf(text, sizeof text, "%s", name + strlen(IR_OWN));
    cut_type(text);
    for (unsigned i = 0; i < IR_BUILTIN_COUNT; i++) {
        const char *const own = ir_builtin_name(i);
        const size_t length = strlen(own);
        if (strncmp(text, own, length) != 0 || operands != ir_builtin_operands(i))
            continue;
        *builtin = (enum ir_builtin)i;
        *kind = 0;
        *has_kind = text[length] == '_';
        if (!text[length] || (*has_kind && find_kind(*builtin, text + length + 1, kind)))
            return true;
    }
    return false;
}
