/* Expansion drops comments, writes macros and repetitions out, and turns {expressions} into numbers or macro arguments. */
#include "isa/list_grow.h"
#include "isa/agx/agx_asm_parts.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Limits against texts that grow without bound; they are far above what fits an instruction cache. */
enum { DEPTH_MAX = 16, PARAMETERS_MAX = 16, MACROS_MAX = 64, NAMES_MAX = 1024 };
static const size_t lines_max = 1u << 18, steps_max = 1u << 20;

/* Lines of the source, cut at ends of line. */
struct source_line {
    const char *text;
    size_t length;
};

struct macro {
    char name[AGX_ASM_NAME_BYTES];
    char parameter[PARAMETERS_MAX][AGX_ASM_NAME_BYTES];
    unsigned parameters;
    size_t first, end; /* lines of the body */
};

/* What a name means inside braces: counters and .set names are numbers, macro parameters are text. */
struct name {
    char name[AGX_ASM_NAME_BYTES];
    char text[128];
};

struct expander {
    struct source_line *source;
    size_t source_count;
    struct macro *macros;
    unsigned macro_count;
    struct name *names;
    unsigned name_count;
    size_t name_room;
    struct agx_asm_text *out;
    struct isa_error *error;
    size_t line; /* index in source, for errors */
    unsigned depth;
    size_t steps; /* lines looked at, repetitions counted */
};

__attribute__((format(printf, 3, 4))) static bool fail(struct expander *x, size_t column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *x->error = (struct isa_error){.line = x->line + 1, .offset = column};
    vsnprintf(x->error->text, sizeof x->error->text, format, args);
    va_end(args);
    return false;
}

static const struct name *find_name(const struct expander *x, const char *name)
{
    for (unsigned i = x->name_count; i-- > 0;)
        if (strcmp(x->names[i].name, name) == 0)
            return &x->names[i];
    return NULL;
}

static bool find_number(const void *context, const char *name, int64_t *value)
{
    const struct name *found = find_name(context, name);
    return found && agx_asm_number(found->text, value);
}

static bool push_name(struct expander *x, const char *name, const char *text)
{
    if (x->name_count == NAMES_MAX)
        return fail(x, 0, "more than %d names", NAMES_MAX);
    if (strlen(text) >= sizeof x->names->text)
        return fail(x, 0, "an argument is longer than %zu characters", sizeof x->names->text - 1);
    struct name *const grown = list_grow(x->names, x->name_count, &x->name_room, sizeof *grown);
    if (!grown)
        return fail(x, 0, "out of memory");
    x->names = grown;
    struct name *slot = &x->names[x->name_count++];
    snprintf(slot->name, sizeof slot->name, "%s", name);
    snprintf(slot->text, sizeof slot->text, "%s", text);
    return true;
}

static bool evaluate(struct expander *x, const char *text, int64_t *value)
{
    const struct agx_asm_names names = {find_number, x};
    const char *why;
    return agx_asm_expression(text, &names, value, &why) || fail(x, 0, "%.80s: %s", text, why);
}

/* Appends the value of one {...} to the line at *used. */
static bool expand_brace(struct expander *x, const char *inside, size_t length, char *line, size_t *used)
{
    char expression[128], number[24];
    int64_t value;
    if (length >= sizeof expression)
        return fail(x, 0, "an expression is longer than %zu characters", sizeof expression - 1);
    memcpy(expression, inside, length);
    expression[length] = '\0';
    const struct name *name = find_name(x, expression);
    const char *text = number;
    if (name) {
        text = name->text;
    } else {
        if (!evaluate(x, expression, &value))
            return false;
        snprintf(number, sizeof number, "%lld", (long long)value);
    }
    const size_t bytes = strlen(text);
    if (*used + bytes >= AGX_ASM_LINE_BYTES)
        return fail(x, 0, "the line is longer than %d characters", AGX_ASM_LINE_BYTES - 1);
    memcpy(line + *used, text, bytes);
    *used += bytes;
    return true;
}

/* Writes the line at x->line without comment and outer space, and with its braces expanded. */
static bool expand_line(struct expander *x, char line[AGX_ASM_LINE_BYTES])
{
    const struct source_line *source = &x->source[x->line];
    size_t used = 0, at = 0;
    while (at < source->length && isspace((unsigned char)source->text[at]))
        at++;
    for (; at < source->length; at++) {
        const char c = source->text[at];
        if (c == ';' || c == '#' || (c == '/' && at + 1 < source->length && source->text[at + 1] == '/'))
            break;
        if (c == '\0' || (!isprint((unsigned char)c) && !isspace((unsigned char)c)))
            return fail(x, at, "a character that is no text");
        if (c == '}')
            return fail(x, at, "} without {");
        if (c != '{') {
            if (used + 1 >= AGX_ASM_LINE_BYTES)
                return fail(x, at, "the line is longer than %d characters", AGX_ASM_LINE_BYTES - 1);
            line[used++] = isspace((unsigned char)c) ? ' ' : c;
            continue;
        }
        const char *close = memchr(source->text + at, '}', source->length - at);
        if (!close)
            return fail(x, at, "{ without }");
        if (!expand_brace(x, source->text + at + 1, (size_t)(close - source->text) - at - 1, line, &used))
            return false;
        at = (size_t)(close - source->text);
    }
    while (used && line[used - 1] == ' ')
        used--;
    line[used] = '\0';
    return true;
}

static bool emit(struct expander *x, const char *line)
{
    struct agx_asm_text *out = x->out;
    if (out->count == lines_max)
        return fail(x, 0, "the text expands to more than %zu lines", lines_max);
    struct agx_asm_text_line *const lines = list_grow(out->lines, out->count, &out->room, sizeof *lines);
    if (!lines)
        return fail(x, 0, "out of memory");
    out->lines = lines;
    char *copy = strdup(line);
    if (!copy)
        return fail(x, 0, "out of memory");
    const struct source_line *source = &x->source[x->line];
    unsigned column = 0;
    while (column < source->length && isspace((unsigned char)source->text[column]))
        column++;
    out->lines[out->count++] = (struct agx_asm_text_line){copy, (unsigned long)x->line + 1, column};
    return true;
}

/* The first word of a source line, before expansion. */
static void first_word(const struct source_line *source, char word[AGX_ASM_NAME_BYTES])
{
    size_t at = 0, n = 0;
    while (at < source->length && isspace((unsigned char)source->text[at]))
        at++;
    while (at + n < source->length && n + 1 < AGX_ASM_NAME_BYTES &&
           (isalnum((unsigned char)source->text[at + n]) || source->text[at + n] == '_' || source->text[at + n] == '.')) {
        word[n] = source->text[at + n];
        n++;
    }
    word[n] = '\0';
}

static bool opens_block(const char *word)
{
    return strcmp(word, ".repeat") == 0 || strcmp(word, ".macro") == 0;
}

/* Finds the line of the .end that closes the block opened at `start`. */
static bool find_end(struct expander *x, size_t start, size_t limit, size_t *end)
{
    unsigned open = 0;
    char word[AGX_ASM_NAME_BYTES];
    for (size_t i = start; i < limit; i++) {
        first_word(&x->source[i], word);
        if (opens_block(word))
            open++;
        else if (strcmp(word, ".end") == 0 && --open == 0) {
            *end = i;
            return true;
        }
    }
    x->line = start;
    return fail(x, 0, "there is no .end for this block");
}

static bool is_name(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    for (size_t i = 0; text[i]; i++)
        if (i + 1 >= AGX_ASM_NAME_BYTES || (!isalnum((unsigned char)text[i]) && text[i] != '_'))
            return false;
    return true;
}

/* Cuts the next word off at spaces and commas. */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, " ,");
    if (!*word)
        return NULL;
    char *end = word + strcspn(word, " ,");
    *at = end + (*end != '\0');
    *end = '\0';
    return word;
}

static bool expand_range(struct expander *x, size_t first, size_t end);

static bool run_repeat(struct expander *x, char *line, size_t body, size_t end)
{
    char *at = line;
    int64_t count;
    next_word(&at);
    char *times = next_word(&at), *counter = next_word(&at);
    if (!times || next_word(&at))
        return fail(x, 0, ".repeat takes a number and perhaps the name of its counter");
    if (!evaluate(x, times, &count))
        return false;
    if (count < 0 || count > (int64_t)lines_max)
        return fail(x, 0, ".repeat %lld: not a number of times", (long long)count);
    if (counter && !is_name(counter))
        return fail(x, 0, "%.40s is no name", counter);
    const size_t line_of_repeat = x->line;
    for (int64_t i = 0; i < count; i++) {
        char number[24];
        const unsigned names = x->name_count;
        snprintf(number, sizeof number, "%lld", (long long)i);
        x->line = line_of_repeat;
        if (!push_name(x, counter ? counter : "i", number) || !expand_range(x, body, end))
            return false;
        x->name_count = names;
        if (body == end)
            break; /* nothing to repeat */
    }
    return true;
}

static struct macro *find_macro(const struct expander *x, const char *name)
{
    for (unsigned i = 0; i < x->macro_count; i++)
        if (strcmp(x->macros[i].name, name) == 0)
            return &x->macros[i];
    return NULL;
}

static bool define_macro(struct expander *x, char *line, size_t body, size_t end)
{
    char *at = line, *word;
    next_word(&at);
    const char *name = next_word(&at);
    if (!name || !is_name(name))
        return fail(x, 0, ".macro takes a name and its parameters");
    if (find_macro(x, name))
        return fail(x, 0, "macro %.40s exists already", name);
    if (x->macro_count == MACROS_MAX)
        return fail(x, 0, "more than %d macros", MACROS_MAX);
    if (!x->macros && !(x->macros = calloc(MACROS_MAX, sizeof *x->macros))) /* must not move while a macro defines others */
        return fail(x, 0, "out of memory");
    struct macro *macro = &x->macros[x->macro_count];
    *macro = (struct macro){.first = body, .end = end};
    snprintf(macro->name, sizeof macro->name, "%s", name);
    while ((word = next_word(&at))) {
        if (!is_name(word) || macro->parameters == PARAMETERS_MAX)
            return fail(x, 0, "%.40s: a macro has up to %d names as parameters", word, PARAMETERS_MAX);
        snprintf(macro->parameter[macro->parameters++], AGX_ASM_NAME_BYTES, "%s", word);
    }
    x->macro_count++;
    return true;
}

static bool run_macro(struct expander *x, const struct macro *macro, const char *arguments)
{
    const unsigned names = x->name_count;
    const size_t line = x->line;
    unsigned given = 0;
    for (const char *at = arguments + strspn(arguments, " "); *at; given++) {
        char text[128];
        size_t length = strcspn(at, ",");
        const char *next = at + length + (at[length] == ',');
        while (length && at[length - 1] == ' ')
            length--;
        if (given == macro->parameters || length >= sizeof text)
            return fail(x, 0, "%s takes %u arguments", macro->name, macro->parameters);
        memcpy(text, at, length);
        text[length] = '\0';
        if (!push_name(x, macro->parameter[given], text))
            return false;
        at = next + strspn(next, " ");
    }
    if (given != macro->parameters)
        return fail(x, 0, "%s takes %u arguments", macro->name, macro->parameters);
    if (!expand_range(x, macro->first, macro->end)) {
        if (x->error->line != line + 1) { /* also say where it was used */
            const size_t length = strlen(x->error->text);
            snprintf(x->error->text + length, sizeof x->error->text - length, " (macro used in line %zu)", line + 1);
        }
        return false;
    }
    x->name_count = names;
    return true;
}

/* ".set NAME expression" changes an existing name, or makes one that lives until the enclosing block ends. */
static bool run_set(struct expander *x, char *line)
{
    char *at = line, text[24];
    int64_t value;
    next_word(&at);
    char *name = next_word(&at);
    if (!name || !is_name(name) || !at[strspn(at, " ")])
        return fail(x, 0, ".set takes a name and an expression");
    if (!evaluate(x, at, &value))
        return false;
    snprintf(text, sizeof text, "%lld", (long long)value);
    for (unsigned i = x->name_count; i-- > 0;)
        if (strcmp(x->names[i].name, name) == 0) {
            snprintf(x->names[i].text, sizeof x->names[i].text, "%s", text);
            return true;
        }
    return push_name(x, name, text);
}

static bool expand_block(struct expander *x, char *line, const char *word, size_t limit, size_t *next)
{
    size_t end = limit;
    const size_t start = x->line;
    if (!find_end(x, start, limit, &end))
        return false;
    *next = end + 1;
    return strcmp(word, ".macro") == 0 ? define_macro(x, line, start + 1, end) : run_repeat(x, line, start + 1, end);
}

static bool expand_one(struct expander *x, size_t limit, size_t *next)
{
    char line[AGX_ASM_LINE_BYTES], word[AGX_ASM_NAME_BYTES];
    if (++x->steps > steps_max)
        return fail(x, 0, "the text takes more than %zu steps to expand", steps_max);
    if (!expand_line(x, line))
        return false;
    if (!*line)
        return true;
    const struct source_line expanded = {line, strlen(line)};
    first_word(&expanded, word);
    if (opens_block(word))
        return expand_block(x, line, word, limit, next);
    if (strcmp(word, ".end") == 0)
        return fail(x, 0, ".end without a block");
    if (strcmp(word, ".set") == 0)
        return run_set(x, line);
    const struct macro *macro = find_macro(x, word);
    const size_t length = strlen(word);
    if (macro && (line[length] == '\0' || line[length] == ' '))
        return run_macro(x, macro, line + length);
    return emit(x, line);
}

static bool expand_range(struct expander *x, size_t first, size_t end)
{
    if (++x->depth > DEPTH_MAX)
        return fail(x, 0, "macros and repetitions are nested deeper than %d", DEPTH_MAX);
    for (size_t i = first; i < end;) {
        size_t next = i + 1;
        x->line = i;
        if (!expand_one(x, end, &next))
            return false;
        i = next;
    }
    x->depth--;
    return true;
}

static struct source_line *cut_lines(const char *source, size_t size, size_t *count)
{
    size_t n = 1;
    for (size_t i = 0; i < size; i++)
        n += source[i] == '\n';
    struct source_line *lines = calloc(n, sizeof *lines);
    if (!lines)
        return NULL;
    size_t start = 0, line = 0;
    for (size_t i = 0; i <= size; i++)
        if (i == size || source[i] == '\n') {
            lines[line++] = (struct source_line){source + start, i - start};
            start = i + 1;
        }
    *count = line;
    return lines;
}

bool agx_asm_expand(const char *source, size_t size, struct agx_asm_text *out, struct isa_error *error)
{
    struct expander x = {.out = out, .error = error};
    *out = (struct agx_asm_text){.count = 0};
    x.source = cut_lines(source, size, &x.source_count);
    const bool ok = x.source ? expand_range(&x, 0, x.source_count) : fail(&x, 0, "out of memory");
    free(x.source);
    free(x.macros);
    free(x.names);
    if (!ok)
        agx_asm_text_free(out);
    return ok;
}

void agx_asm_text_free(struct agx_asm_text *text)
{
    for (size_t i = 0; i < text->count; i++)
        free(text->lines[i].text);
    free(text->lines);
    *text = (struct agx_asm_text){.count = 0};
}
