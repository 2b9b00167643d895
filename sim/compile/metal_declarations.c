/* Declarations that C++ writes in another way than Metal. */
#include "sim/compile/metal_parts.h"

#include <stdlib.h>
#include <string.h>

static bool is_space(const struct metal_pass *p, uint32_t i)
{
    return metal_is(p, i, "thread") || metal_is(p, i, "device") || metal_is(p, i, "constant") || metal_is(p, i, "threadgroup");
}

/* ---- member functions ---- */

struct member {
    uint32_t scope; /* the class's bracket */
    const char *signature;
};

/* Whether token i is the address space of the object in `T get() const device {`; sets *parameters to the `)`. */
static bool is_method_space(const struct metal_pass *p, uint32_t i, uint32_t *parameters)
{
    if (!is_space(p, i) || i == 0)
        return false;
    uint32_t before = i - 1;
    while (before > 0 && (metal_is(p, before, "const") || metal_is(p, before, "volatile")))
        before--;
    if (!metal_is(p, before, ")") || p->token[i].parent == METAL_NONE || !metal_is(p, p->token[i].parent, "{"))
        return false;
    *parameters = before;
    const uint32_t next = i + 1;
    return metal_is(p, next, "{") || metal_is(p, next, ";") || metal_is(p, next, "const") || metal_is(p, next, ":") ||
           metal_is(p, next, "=") || metal_is(p, next, "->") || metal_is(p, next, "noexcept");
}

/* The last token of a member function whose qualifiers begin at i. */
static uint32_t end_of_member(const struct metal_pass *p, uint32_t i)
{
    for (bool initialisers = false; i < p->tokens; i = metal_skip(p, i)) {
        if (metal_is(p, i, ";"))
            return i;
        if (metal_is(p, i, ":"))
            initialisers = true;
        if (!metal_is(p, i, "{"))
            continue;
        /* of `: a{1}, b(2) {` only the last is the body */
        const bool body = !initialisers || metal_is(p, i - 1, ")") || metal_is(p, i - 1, "}");
        if (body)
            return p->token[i].match;
    }
    return p->tokens - 1;
}

static bool same_token(const struct metal_pass *p, uint32_t a, uint32_t b)
{
    const struct metal_token *const x = &p->token[a], *const y = &p->token[b];
    return x->length == y->length && memcmp(p->text + x->at, p->text + y->at, x->length) == 0;
}

/* Whether the class has the member of tokens first to last already, written without an address space. */
static bool is_there_without(const struct metal_pass *p, uint32_t scope, uint32_t first, uint32_t last)
{
    for (uint32_t j = scope + 1; j + (last - first) < first; j = metal_skip(p, j)) {
        uint32_t n = 0;
        while (n <= last - first && same_token(p, j + n, first + n))
            n++;
        const uint32_t behind = j + n;
        if (n > last - first && (metal_is(p, behind, ":") || metal_is(p, behind, "{") || metal_is(p, behind, ";")))
            return true;
    }
    return false;
}

/* Objects of all address spaces come as generic ones: the qualifier goes, and of members that then are the same the first stays.
 */
void metal_methods(struct metal_pass *p)
{
    struct member *member = NULL;
    size_t members = 0, room = 0;
    for (uint32_t i = 0; i < p->tokens && !p->out_of_memory; i++) {
        uint32_t parameters = 0;
        if (!is_method_space(p, i, &parameters))
            continue;
        const uint32_t scope = p->token[i].parent, first = metal_declaration(p, i);
        const char *signature = metal_text(p, first, i - 1);
        bool known = is_there_without(p, scope, first, i - 1);
        for (size_t k = members; k-- > 0 && !known;)
            known = member[k].scope == scope && strcmp(member[k].signature, signature) == 0;
        metal_replace(p, i, i, "");
        if (known) {
            const uint32_t end = end_of_member(p, i + 1);
            metal_replace(p, first, end, "");
            i = end;
            continue;
        }
        struct member *all = metal_more(p, member, members, &room, sizeof *all);
        if (!all)
            return;
        member = all;
        member[members++] = (struct member){scope, signature};
    }
}

/* ---- variables and parameters ---- */

/* threadgroup float tile[16]; in a function: static, when it is no pointer and no reference. */
static void threadgroup_variable(struct metal_pass *p, uint32_t i)
{
    const uint32_t parent = p->token[i].parent;
    if (parent == METAL_NONE || !metal_is(p, parent, "{"))
        return;
    const uint32_t first = metal_declaration(p, i);
    uint32_t j = first;
    for (; j < p->tokens && !metal_is(p, j, ";") && !metal_is(p, j, "="); j = metal_skip(p, j)) {
        if (metal_is(p, j, "*") || metal_is(p, j, "&") || metal_is(p, j, "{") || metal_is(p, j, "static") ||
            metal_is(p, j, "using") || metal_is(p, j, "typedef"))
            return;
        if (metal_is(p, j, "(") && (metal_is(p, j + 1, "*") || metal_is(p, j + 1, "&")))
            return;
    }
    if (j == first || p->token[j - 1].parent != parent)
        return;
    if (j > i + 2)
        metal_insert_before(p, first, "static ");
}

/* f(constant int strides[2]): clang takes no array with an address space there, but the pointer that it stands for. */
static void array_parameter(struct metal_pass *p, uint32_t i)
{
    const uint32_t parent = p->token[i].parent;
    if (parent == METAL_NONE || !metal_is(p, parent, "("))
        return;
    for (uint32_t j = i + 1; j < p->token[parent].match && !metal_is(p, j, ",") && !metal_is(p, j, "="); j = metal_skip(p, j)) {
        if (metal_is_attributes(p, j) || metal_is(p, j, "("))
            return;
        if (!metal_is(p, j, "[") || p->token[j - 1].kind != METAL_NAME || j - 1 <= i)
            continue;
        const uint32_t end = p->token[j].match;
        const bool more = metal_is(p, end + 1, "[") && !metal_is_attributes(p, end + 1);
        metal_insert_before(p, j - 1, more ? "(*" : "*");
        metal_replace(p, j, end, more ? ")" : "");
        return;
    }
}

/* Attributes of Metal that still stand somewhere, on members of structures or in types of functions, say nothing to clang. */
static void attributes(struct metal_pass *p, uint32_t i)
{
    static const char *const known[] = {"nodiscard", "maybe_unused", "fallthrough", "likely",
                                        "unlikely",  "noreturn",     "deprecated",  "::"};
    for (uint32_t j = i; j < p->token[i].match; j++)
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (metal_is(p, j, known[k]))
                return;
    metal_replace(p, i, p->token[i].match, "");
}

void metal_declarations(struct metal_pass *p)
{
    for (uint32_t i = 0; i < p->tokens; i++) {
        if (metal_is_attributes(p, i))
            attributes(p, i);
        if (metal_is(p, i, "threadgroup") && !metal_is(p, i + 1, "(") && !metal_is(p, i + 1, ")"))
            threadgroup_variable(p, i);
        if (is_space(p, i) && !metal_is(p, i, "thread"))
            array_parameter(p, i);
        if (metal_is(p, i, "coherent"))
            metal_replace(p, i, metal_is(p, i + 1, "(") ? p->token[i + 1].match : i, "");
    }
}

/* ---- function constants ---- */

/* The value of 300 + 2: numbers, +, - and * from left to right; -1 when it is something else. */
static long sum(const struct metal_pass *p, uint32_t first, uint32_t end)
{
    long value = 0;
    char op = '+';
    for (uint32_t i = first; i < end; i++) {
        const struct metal_token *t = &p->token[i];
        if (t->kind == METAL_NUMBER) {
            const long n = strtol(p->text + t->at, NULL, 0);
            if (n > INT32_MAX || value > INT32_MAX)
                return -1;
            value = op == '+' ? value + n : op == '-' ? value - n : value * n;
        } else if (t->kind == METAL_MARK && strchr("+-*", p->text[t->at])) {
            op = p->text[t->at];
        } else if (!metal_is(p, i, "(") && !metal_is(p, i, ")")) {
            return -1;
        }
    }
    return value;
}

static const char *value_of(const struct metal_pass *p, const char *name, long index)
{
    for (size_t i = 0; i < p->unit->values; i++) {
        const struct metal_value *v = &p->unit->value[i];
        if (v->name ? strcmp(v->name, name) == 0 : v->index == index)
            return v->text;
    }
    return NULL;
}

/* constant bool causal [[function_constant(3)]]; becomes a constant with the value given. */
static bool constant(struct metal_pass *p, uint32_t open)
{
    uint32_t at = open + 2;
    while (at < p->token[open + 1].match && !metal_is(p, at, "function_constant"))
        at++;
    if (!metal_is(p, at, "function_constant") || !metal_is(p, p->token[open].match + 1, ";"))
        return true;
    const uint32_t first = metal_declaration(p, open);
    if (!metal_is(p, at + 1, "(") || open < first + 2)
        return metal_wrong(p, at, "a number in brackets must follow");
    uint32_t type = first;
    while (type + 2 < open && (metal_is(p, type, "constant") || metal_is(p, type, "const") || metal_is(p, type, "static")))
        type++;
    struct metal_constant *all = metal_more(p, p->constant, p->constants, &p->constant_room, sizeof *all);
    if (!all)
        return orch_no_memory(p->error);
    p->constant = all;
    const char *name = metal_text(p, open - 1, open - 1);
    const long index = sum(p, at + 2, p->token[at + 1].match);
    const char *value = value_of(p, name, index);
    all[p->constants++] =
        (struct metal_constant){.name = name, .type = metal_text(p, type, open - 2), .index = index, .given = value != NULL};
    metal_replace(p, open, p->token[open].match, value ? metal_format(p, " = %s", value) : " = {}");
    return true;
}

bool metal_constants(struct metal_pass *p)
{
    for (uint32_t i = 0; i < p->tokens; i++)
        if (metal_is_attributes(p, i) && p->token[i].parent != METAL_NONE
                ? metal_is(p, p->token[i].parent, "{") && !constant(p, i)
                : metal_is_attributes(p, i) && !constant(p, i))
            return false;
    for (uint32_t i = 0; i + 2 < p->tokens; i++) {
        if (!metal_is(p, i, "is_function_constant_defined") || !metal_is(p, i + 1, "("))
            continue;
        const char *name = metal_text(p, i + 2, p->token[i + 1].match - 1);
        bool given = false;
        for (size_t k = 0; k < p->constants; k++)
            given |= p->constant[k].given && strcmp(p->constant[k].name, name) == 0;
        metal_replace(p, i, p->token[i + 1].match, given ? "true" : "false");
    }
    return true;
}
