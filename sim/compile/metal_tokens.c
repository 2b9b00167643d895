#include "sim/compile/metal_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$';
}

static bool name_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

struct scan {
    const char *s, *end;
    uint32_t line, file;
    bool system; /* inside a header of ours, which is left as it is */
    bool fresh;  /* nothing but blanks on this line so far */
};

/* # 12 "file" 1 3: where the next line comes from; 3 = a system header. False when it is another directive. */
static bool read_marker(struct metal_pass *p, struct scan *n)
{
    const char *s = n->s + 1;
    while (s < n->end && *s == ' ')
        s++;
    if (s == n->end || !isdigit((unsigned char)*s))
        return false;
    uint32_t line = 0;
    for (; s < n->end && isdigit((unsigned char)*s); s++)
        line = line * 10 + (uint32_t)(*s - '0');
    while (s < n->end && *s == ' ')
        s++;
    if (s == n->end || *s != '"')
        return false;
    const char *name = ++s;
    while (s < n->end && *s != '"' && *s != '\n')
        s++;
    const size_t length = (size_t)(s - name);
    n->system = false;
    for (; s < n->end && *s != '\n'; s++)
        n->system |= *s == '3';
    n->s = s;
    n->line = line - 1; /* the end of this line counts up */
    for (n->file = 0; n->file < p->files; n->file++)
        if (strncmp(p->file[n->file], name, length) == 0 && p->file[n->file][length] == '\0')
            return true;
    const char **file = metal_more(p, p->file, p->files, &p->file_room, sizeof *file);
    if (!file)
        return true;
    p->file = file;
    p->file[p->files++] = metal_copy(p, name, length);
    return true;
}

static void add_token(struct metal_pass *p, const struct scan *n, const char *from, enum metal_token_kind kind)
{
    struct metal_token *token = metal_more(p, p->token, p->tokens, &p->token_room, sizeof *token);
    if (!token)
        return;
    p->token = token;
    token[p->tokens++] = (struct metal_token){.at = (uint32_t)(from - p->text),
                                              .length = (uint32_t)(n->s - from),
                                              .line = n->line,
                                              .file = n->file,
                                              .match = METAL_NONE,
                                              .parent = METAL_NONE,
                                              .kind = (uint8_t)kind};
}

static void read_quoted(struct scan *n)
{
    const char quote = *n->s++;
    while (n->s < n->end && *n->s != quote && *n->s != '\n')
        n->s += *n->s == '\\' && n->s + 1 < n->end ? 2 : 1;
    if (n->s < n->end && *n->s == quote)
        n->s++;
}

static void read_number(struct scan *n)
{
    for (n->s++; n->s < n->end; n->s++) {
        const char c = *n->s, before = n->s[-1];
        const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
        if (!sign && !name_part(c) && c != '.' && c != '\'')
            break;
    }
}

/* Marks of more than one character, the longest first. `>` stays alone, because two may end two template argument lists. */
static size_t mark_length(const struct scan *n)
{
    static const char *const mark[] = {"<<=", "...", "->*", "->", "::", "<<", "<=", ">=", "==", "!=", "&&", "||",
                                       "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", ".*"};
    for (size_t i = 0; i < sizeof mark / sizeof *mark; i++) {
        const size_t length = strlen(mark[i]);
        if ((size_t)(n->end - n->s) >= length && memcmp(n->s, mark[i], length) == 0)
            return length;
    }
    return 1;
}

static void read_token(struct metal_pass *p, struct scan *n)
{
    const char *from = n->s;
    const bool number = isdigit((unsigned char)*n->s) || (*n->s == '.' && n->end - n->s > 1 && isdigit((unsigned char)n->s[1]));
    if (number) {
        read_number(n);
        add_token(p, n, from, METAL_NUMBER);
    } else if (name_start(*n->s)) {
        while (n->s < n->end && name_part(*n->s))
            n->s++;
        add_token(p, n, from, METAL_NAME);
    } else if (*n->s == '"' || *n->s == '\'') {
        read_quoted(n);
        add_token(p, n, from, METAL_STRING);
    } else {
        n->s += mark_length(n);
        add_token(p, n, from, METAL_MARK);
    }
}

static void skip_line(struct scan *n)
{
    while (n->s < n->end && *n->s != '\n')
        n->s++;
}

/* #pragma unroll (MIN(N, 4)): clang expands no macro there, and preprocessing has lost it; what remains asks for all. */
static void read_directive(struct metal_pass *p, struct scan *n)
{
    static const char unroll[] = "#pragma unroll";
    const char *from = n->s;
    skip_line(n);
    if ((size_t)(n->s - from) < sizeof unroll || memcmp(from, unroll, sizeof unroll - 1) != 0)
        return;
    for (const char *s = from + sizeof unroll; s < n->s; s++)
        if (*s == '(' && name_part(s[-1])) {
            metal_remove(p, (uint32_t)(from + sizeof unroll - 1 - p->text), (uint32_t)(n->s - from - (sizeof unroll - 1)));
            return;
        }
}

bool metal_tokenize(struct metal_pass *p)
{
    struct scan n = {.s = p->text, .end = p->text + p->bytes, .line = 1, .fresh = true};
    if (p->bytes >= UINT32_MAX / 2)
        return orch_fail(p->error, ORCH_USAGE, "the source has %zu bytes; that is too many", p->bytes);
    while (n.s < n.end && !p->out_of_memory) {
        if (*n.s == '\n') {
            n.line++;
            n.fresh = true;
            n.s++;
        } else if (n.fresh && *n.s == '#') {
            if (!read_marker(p, &n))
                read_directive(p, &n);
        } else if (n.system) {
            skip_line(&n);
        } else if (isspace((unsigned char)*n.s) || *n.s == '\0' || *n.s == '\\') {
            n.s++;
        } else {
            n.fresh = false;
            read_token(p, &n);
        }
    }
    return !p->out_of_memory || orch_no_memory(p->error);
}

bool metal_is(const struct metal_pass *p, uint32_t i, const char *text)
{
    if (i >= p->tokens)
        return false;
    const struct metal_token *t = &p->token[i];
    return strncmp(p->text + t->at, text, t->length) == 0 && text[t->length] == '\0';
}

const char *metal_text(struct metal_pass *p, uint32_t first, uint32_t last)
{
    if (first > last || last >= p->tokens)
        return "";
    size_t length = 0;
    for (uint32_t i = first; i <= last; i++)
        length += p->token[i].length + 1;
    char *text = metal_alloc(p, length + 1), *to = text;
    if (!text)
        return "";
    for (uint32_t i = first; i <= last; i++) {
        const struct metal_token *t = &p->token[i];
        if (i > first && t->at > t[-1].at + t[-1].length)
            *to++ = ' ';
        memcpy(to, p->text + t->at, t->length);
        to += t->length;
    }
    *to = '\0';
    return text;
}

bool metal_is_attributes(const struct metal_pass *p, uint32_t i)
{
    return metal_is(p, i, "[") && metal_is(p, i + 1, "[") && p->token[i].match != METAL_NONE;
}

uint32_t metal_skip(const struct metal_pass *p, uint32_t i)
{
    const uint32_t match = p->token[i].match;
    return match != METAL_NONE && match > i ? match + 1 : i + 1;
}

uint32_t metal_skip_back(const struct metal_pass *p, uint32_t i)
{
    const uint32_t match = p->token[i].match;
    const uint32_t from = match != METAL_NONE && match < i ? match : i;
    return from == 0 ? METAL_NONE : from - 1;
}

uint32_t metal_declaration(const struct metal_pass *p, uint32_t i)
{
    while (i > 0) {
        const uint32_t before = i - 1;
        if (metal_is(p, before, ";") || metal_is(p, before, "{") || metal_is(p, before, "}") || p->token[i].parent == before)
            return i;
        if (metal_is(p, before, ":") &&
            (metal_is(p, before - 1, "public") || metal_is(p, before - 1, "private") || metal_is(p, before - 1, "protected")))
            return i;
        const uint32_t match = p->token[before].match;
        i = match != METAL_NONE && match < before ? match : before;
    }
    return i;
}

enum { ARGUMENTS_DEEP = 256 }; /* of templates in templates */

/* Whether the `<` at i begins template arguments: sets *end to the `>`. Ordinary comparisons hold && or || or end before a `>`.
 */
static bool template_arguments(const struct metal_pass *p, uint32_t i, uint32_t *end)
{
    if (i == 0 || p->token[i - 1].kind != METAL_NAME || metal_is(p, i - 1, "operator"))
        return false;
    const struct metal_token *name = &p->token[i - 1];
    const char *tail = p->text + name->at + name->length - 2;
    const bool of_template = metal_is(p, i - 1, "template");
    const bool trait = name->length > 2 && tail[0] == '_' && (tail[1] == 't' || tail[1] == 'v');
    const bool logic = of_template || trait || metal_is(p, i - 1, "enable_if") || metal_is(p, i - 1, "conditional");
    uint32_t depth = 1;
    for (uint32_t j = i + 1; j < p->tokens; j++) {
        if (metal_is(p, j, "<") && p->token[j - 1].kind == METAL_NAME) {
            if (++depth > ARGUMENTS_DEEP)
                return false;
        } else if (metal_is(p, j, ">")) {
            *end = j;
            if (--depth == 0)
                return true;
        } else if (metal_is(p, j, ";") || metal_is(p, j, ")") || metal_is(p, j, "]") || metal_is(p, j, "}")) {
            return false;
        } else if ((metal_is(p, j, "&&") || metal_is(p, j, "||")) && !logic && depth == 1) {
            return false;
        } else if (p->token[j].match != METAL_NONE && p->token[j].match > j && !metal_is(p, j, "<")) {
            j = p->token[j].match;
        }
    }
    return false;
}

enum { BRACKETS_DEEP = 256 }; /* as clang has it */

static bool match_brackets(struct metal_pass *p, uint32_t *open)
{
    static const char pair[] = "()[]{}";
    uint32_t depth = 0;
    for (uint32_t i = 0; i < p->tokens; i++) {
        const struct metal_token *t = &p->token[i];
        const char *at = t->kind == METAL_MARK && t->length == 1 ? strchr(pair, p->text[t->at]) : NULL;
        if (at && *at && (at - pair) % 2 == 0) {
            if (depth == BRACKETS_DEEP)
                return metal_wrong(p, i, "brackets nested deeper than 256");
            open[depth++] = i;
        } else if (at && *at) {
            if (depth == 0 || p->text[p->token[open[depth - 1]].at] != at[-1])
                return metal_wrong(p, i, "this bracket has no beginning");
            p->token[i].match = open[--depth];
            p->token[open[depth]].match = i;
        }
    }
    return depth == 0 || metal_wrong(p, open[depth - 1], "this bracket has no end");
}

static void match_templates(struct metal_pass *p)
{
    for (uint32_t i = 0; i < p->tokens; i++) {
        uint32_t end = 0;
        if (p->token[i].match != METAL_NONE || !metal_is(p, i, "<") || !template_arguments(p, i, &end))
            continue;
        p->token[i].match = end;
        p->token[end].match = i;
    }
    for (uint32_t i = 0; i < p->tokens; i++) {
        if (p->token[i].in_template || !metal_is(p, i, "template") || !metal_is(p, i + 1, "<"))
            continue; /* one inside of another ends there, too */
        uint32_t j = metal_skip(p, i + 1);
        while (j < p->tokens && !metal_is(p, j, ";") && !metal_is(p, j, "{"))
            j = metal_skip(p, j);
        const uint32_t end = j < p->tokens ? metal_skip(p, j) : p->tokens;
        for (j = i; j < end; j++)
            p->token[j].in_template = true;
    }
}

bool metal_match(struct metal_pass *p)
{
    uint32_t *open = calloc(p->tokens + 1, sizeof *open);
    if (!open)
        return orch_no_memory(p->error);
    bool ok = match_brackets(p, open);
    if (ok)
        match_templates(p);
    uint32_t depth = 0;
    for (uint32_t i = 0; ok && i < p->tokens; i++) {
        const uint32_t match = p->token[i].match;
        if (match != METAL_NONE && match < i)
            depth -= depth > 0;
        p->token[i].parent = depth ? open[depth - 1] : METAL_NONE;
        if (match != METAL_NONE && match > i)
            open[depth++] = i;
    }
    free(open);
    return ok;
}
