#include "units/kernel_text.h"

#include "isa/isa_suggest.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 128 };

bool kernel_refuse(struct isa_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *error = (struct isa_error){.line = 0};
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return false;
}

bool kernel_word_listed(const char *list, char separator, const char *word, size_t length, int64_t *index)
{
    const char ends[2] = {separator, '\0'};
    *index = 0;
    for (;;) {
        const size_t part = strcspn(list, ends);
        if (part == length && memcmp(list, word, length) == 0)
            return true;
        if (!list[part])
            return false;
        list += part + 1;
        ++*index;
    }
}

static bool word_value(const char *words, const char *value, int64_t *index)
{
    return kernel_word_listed(words, '|', value, strlen(value), index);
}

/* ---- names ---- */

bool kernel_library_find(const struct kernel_library *library, const char *name, size_t length, size_t *index)
{
    struct kernel_form form;
    for (*index = 0; library->form_at(*index, &form); ++*index)
        if (strlen(form.name) == length && memcmp(form.name, name, length) == 0)
            return true;
    return false;
}

static void refuse_name(const struct kernel_library *library, const char *workload, size_t length, struct isa_error *error)
{
    struct kernel_form form;
    struct isa_suggest suggest;
    char name[WORD_BYTES], phrase[96];
    snprintf(name, sizeof name, "%.*s", length < WORD_BYTES ? (int)length : WORD_BYTES - 1, workload);
    isa_suggest_start(&suggest, name);
    for (size_t i = 0; library->form_at(i, &form); i++)
        isa_suggest_offer(&suggest, form.name);
    isa_suggest_text(&suggest, phrase, sizeof phrase);
    kernel_refuse(error, "unknown kernel '%s'%s", name, phrase);
}

const char *kernel_library_choose(const struct kernel_library *library, const char *workload, size_t *index,
                                  struct kernel_form *form, struct isa_error *error)
{
    const size_t length = strcspn(workload, ":");
    if (kernel_library_find(library, workload, length, index) && library->form_at(*index, form))
        return workload + length + (workload[length] == ':');
    refuse_name(library, workload, length, error);
    return NULL;
}

/* ---- reading ---- */

struct parser {
    const char *at;
    const struct kernel_form *form;
    int64_t *value;
    double *decimal;
    bool given[KERNEL_PARAMETERS];
    struct isa_error *error;
};

/* Reads up to one of `ends`; false when it is empty or does not fit. */
static bool read_word(struct parser *p, const char *ends, char word[WORD_BYTES])
{
    const size_t length = strcspn(p->at, ends);
    if (length == 0 || length >= WORD_BYTES)
        return false;
    memcpy(word, p->at, length);
    word[length] = '\0';
    p->at += length;
    return true;
}

static bool unknown_option(struct parser *p, const char *name)
{
    const struct kernel_form *form = p->form;
    struct isa_suggest suggest;
    char phrase[96];
    isa_suggest_start(&suggest, name);
    for (unsigned i = 0; form->parameter[i].name; i++)
        isa_suggest_offer(&suggest, form->parameter[i].name);
    isa_suggest_text(&suggest, phrase, sizeof phrase);
    return kernel_refuse(p->error, "%s has no option '%s'%s; it takes %s", form->name, name, phrase, form->grammar);
}

/* Offers the names in `words` for ", did you mean ...". They are pieces of a longer text, so the nearest one is copied to
 * `nearest`. */
static void offer_words(struct isa_suggest *suggest, const char *words, const char *value, char nearest[WORD_BYTES])
{
    isa_suggest_start(suggest, value);
    while (*words) {
        char word[WORD_BYTES];
        const size_t length = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        isa_suggest_offer(suggest, word);
        if (suggest->nearest == word) {
            memcpy(nearest, word, WORD_BYTES);
            suggest->nearest = nearest;
        }
        words += length + (words[length] == '|');
    }
}

/* Takes the next word off a chain such as "add+relu". */
static void chain_word(const char **chain, char word[WORD_BYTES])
{
    const size_t length = strcspn(*chain, "+");
    snprintf(word, WORD_BYTES, "%.*s", (int)length, *chain);
    *chain += length + ((*chain)[length] == '+');
}

/* Refuses an unknown word: of a chain the first unknown one, otherwise the last word. */
static void wrong_word(const struct kernel_parameter *row, const char *value, char word[WORD_BYTES])
{
    int64_t index;
    do
        chain_word(&value, word);
    while (word_value(row->words, word, &index) && *value);
}

static bool bad_value(struct parser *p, const struct kernel_parameter *row, const char *value)
{
    const char *kernel = p->form->name;
    if (row->words) {
        struct isa_suggest suggest;
        char phrase[96], word[WORD_BYTES], nearest[WORD_BYTES];
        wrong_word(row, value, word);
        offer_words(&suggest, row->words, word, nearest);
        isa_suggest_text(&suggest, phrase, sizeof phrase);
        return kernel_refuse(p->error, "%s: %s has no '%.60s'%s; %s of %s", kernel, row->name, word, phrase,
                             row->chain ? "names with + between" : "one", row->words);
    }
    return kernel_refuse(p->error,
                         "%s: %s is a number from %" PRId64 " to %" PRId64 ", as in 64, 64K or 64KiB (1024 each), 64kB (1000), "
                         "64M ...; not '%s'",
                         kernel, row->name, row->least, row->most, value);
}

/* Reads a chain such as "add+relu". */
static bool chain_value(const char *words, const char *value, int64_t *chain)
{
    *chain = 0;
    for (unsigned i = 0; i < KERNEL_CHAIN_WORDS; i++) {
        char word[WORD_BYTES];
        int64_t index;
        chain_word(&value, word);
        if (!word_value(words, word, &index))
            return false;
        *chain |= (index + 1) << (KERNEL_CHAIN_BITS * i);
        if (!*value)
            return true;
    }
    return false;
}

static bool decimal_value(const struct kernel_parameter *row, const char *value, double *number)
{
    char *end;
    *number = strtod(value, &end);
    return end != value && !*end && isfinite(*number) && *number >= (double)row->least && *number <= (double)row->most;
}

bool kernel_size_suffix(const char **end, uint64_t *number)
{
    static const char letters[] = "KMGT";
    const char *const at = *end;
    const char *const letter = *at ? strchr(letters, *at == 'k' ? 'K' : *at) : NULL;
    const unsigned power = letter ? (unsigned)(letter - letters) + 1 : 0;
    const bool decimal = power && at[1] == 'B', binary = power && at[1] == 'i' && at[2] == 'B';
    *end += power ? 1 + (decimal ? 1 : binary ? 2 : 0) : *at == 'B';
    for (unsigned i = 0; i < power; i++)
        if (__builtin_mul_overflow(*number, decimal ? 1000u : 1024u, number))
            return false;
    return true;
}

static bool whole_value(const struct kernel_parameter *row, const char *value, int64_t *number)
{
    char *stop;
    errno = 0;
    *number = strtoll(value, &stop, 10);
    const char *end = stop;
    if (end == value || errno != 0)
        return false;
    if (*number >= 0) {
        uint64_t size = (uint64_t)*number;
        if (!kernel_size_suffix(&end, &size) || size > INT64_MAX)
            return false;
        *number = (int64_t)size;
    }
    return !*end && *number >= row->least && *number <= row->most;
}

static bool set_parameter(struct parser *p, unsigned index, const char *value)
{
    const struct kernel_parameter *row = &p->form->parameter[index];
    if (p->given[index])
        return kernel_refuse(p->error, "%s: %s is given twice", p->form->name, row->name);
    p->given[index] = true;
    const bool ok = row->chain     ? chain_value(row->words, value, &p->value[index])
                    : row->words   ? word_value(row->words, value, &p->value[index])
                    : row->decimal ? decimal_value(row, value, &p->decimal[index])
                                   : whole_value(row, value, &p->value[index]);
    return ok || bad_value(p, row, value);
}

/* Reads positional values such as "128x1000". */
static bool read_positional(struct parser *p)
{
    const struct kernel_form *form = p->form;
    char value[WORD_BYTES];
    for (unsigned i = 0; i < form->positional; i++) {
        if (i && *p->at == 'x')
            p->at++;
        if (!read_word(p, "x,", value))
            return kernel_refuse(p->error, "%s: %s is missing; it takes %s", form->name, form->parameter[i].name, form->grammar);
        if (!set_parameter(p, i, value))
            return false;
    }
    if (form->positional && *p->at && *p->at != ',')
        return kernel_refuse(p->error, "%s takes %s; '%.40s' is too much", form->name, form->grammar, p->at);
    return true;
}

static bool read_option(struct parser *p)
{
    const struct kernel_form *form = p->form;
    char name[WORD_BYTES], value[WORD_BYTES];
    if (!read_word(p, "=,", name) || *p->at++ != '=' || !read_word(p, ",", value))
        return kernel_refuse(p->error, "%s: expected NAME=VALUE; it takes %s", form->name, form->grammar);
    for (unsigned i = 0; form->parameter[i].name; i++)
        if (strcmp(form->parameter[i].name, name) == 0)
            return set_parameter(p, i, value);
    return unknown_option(p, name);
}

static bool read_options(struct parser *p)
{
    bool comma = p->form->positional > 0;
    while (*p->at) {
        if (comma && *p->at == ',')
            p->at++;
        if (!read_option(p))
            return false;
        comma = true;
    }
    return true;
}

static bool fill_missing(struct parser *p)
{
    const struct kernel_form *form = p->form;
    for (unsigned i = 0; form->parameter[i].name; i++) {
        const struct kernel_parameter *row = &form->parameter[i];
        if (p->given[i])
            continue;
        if (row->required)
            return kernel_refuse(p->error, "%s: %s is missing; it takes %s", form->name, row->name, form->grammar);
        p->value[i] = row->missing;
        p->decimal[i] = (double)row->missing + row->usual;
    }
    return true;
}

bool kernel_text_read(const struct kernel_form *form, const char *options, int64_t *value, double *decimal,
                      struct isa_error *error)
{
    struct parser p = {.at = options, .form = form, .value = value, .decimal = decimal, .error = error};
    return read_positional(&p) && read_options(&p) && fill_missing(&p);
}

/* ---- writing ---- */

struct output {
    char *text;
    size_t size;
    int length;
};

__attribute__((format(printf, 2, 3))) static void append(struct output *out, const char *format, ...)
{
    va_list args;
    const size_t used = (size_t)out->length < out->size ? (size_t)out->length : out->size;
    va_start(args, format);
    out->length += vsnprintf(out->size ? out->text + used : NULL, out->size - used, format, args);
    va_end(args);
}

static void append_word(struct output *out, const char *words, int64_t index)
{
    for (; index > 0; index--)
        words += strcspn(words, "|") + 1;
    append(out, "%.*s", (int)strcspn(words, "|"), words);
}

static void append_value(struct output *out, const struct kernel_parameter *row, int64_t value, double decimal)
{
    const int64_t mask = (1 << KERNEL_CHAIN_BITS) - 1;
    if (row->decimal)
        append(out, "%.17g", decimal);
    else if (row->chain)
        for (; value; value >>= KERNEL_CHAIN_BITS) {
            append_word(out, row->words, (value & mask) - 1);
            append(out, "%s", value >> KERNEL_CHAIN_BITS ? "+" : "");
        }
    else if (row->words)
        append_word(out, row->words, value);
    else
        append(out, "%" PRId64, value);
}

int kernel_text_write(const struct kernel_form *form, const int64_t *value, const double *decimal, char *text, size_t size)
{
    struct output out = {text, size, 0};
    bool first = true;
    append(&out, "%s", form->name);
    for (unsigned i = 0; form->parameter[i].name; i++) {
        const struct kernel_parameter *row = &form->parameter[i];
        const bool missing = row->decimal ? decimal[i] == (double)row->missing + row->usual : value[i] == row->missing;
        if (i >= form->positional && missing && !row->required)
            continue;
        append(&out, "%s", first ? ":" : i < form->positional ? "x" : ",");
        if (i >= form->positional)
            append(&out, "%s=", row->name);
        append_value(&out, row, value[i], decimal[i]);
        first = false;
    }
    return out.length;
}
