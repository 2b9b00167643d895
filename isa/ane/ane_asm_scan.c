/* Words and numbers of a listing. */
#include "isa/ane/ane_asm_scan.h"

#include "isa/list_grow.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

bool ane_asm_fail(struct isa_error *error, unsigned long line, const char *format, ...)
{
    va_list arguments;
    *error = (struct isa_error){.line = line};
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

bool ane_asm_complain(struct ane_asm_reader *r, const char *what, const char *word)
{
    return ane_asm_fail(r->error, r->line, "%s%s%s", what, word ? ": " : "", word ? word : "");
}

bool ane_asm_grow(struct ane_asm_reader *r, void *array, size_t count, size_t *room, size_t size)
{
    void *items;
    memcpy(&items, array, sizeof items);
    items = list_grow(items, count, room, size);
    if (!items)
        return ane_asm_complain(r, "out of memory", NULL);
    memcpy(array, &items, sizeof items);
    return true;
}

bool ane_asm_next_word(struct ane_asm_reader *r, char word[ANE_ASM_WORD_BYTES])
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
    size_t length = strcspn(r->at, " \t=");
    if (length == 0 && *r->at == '=')
        length = 1;
    if (length >= ANE_ASM_WORD_BYTES) {
        word[0] = '\0';
        return ane_asm_complain(r, "a word that is too long", NULL);
    }
    memcpy(word, r->at, length);
    word[length] = '\0';
    r->at += length;
    return true;
}

bool ane_asm_parse_integer(const char *word, uint64_t *value)
{
    char *end;
    if (!isdigit((unsigned char)word[0]) || strlen(word) > 18)
        return false;
    *value = strtoull(word, &end, word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? 16 : 10);
    return *end == '\0';
}

bool ane_asm_next_integer(struct ane_asm_reader *r, uint64_t most, uint64_t *value)
{
    char word[ANE_ASM_WORD_BYTES];
    if (!ane_asm_next_word(r, word))
        return false;
    if (!ane_asm_parse_integer(word, value))
        return ane_asm_complain(r, word[0] ? "expected a number, found" : "expected a number", word[0] ? word : NULL);
    return *value <= most || ane_asm_complain(r, "number beyond what fits", word);
}

bool ane_asm_parse_number(const char *word, double *number)
{
    char *end;
    *number = strtod(word, &end);
    return word[0] && *end == '\0';
}

bool ane_asm_at_end(struct ane_asm_reader *r)
{
    char word[ANE_ASM_WORD_BYTES];
    return ane_asm_next_word(r, word) && (!word[0] || ane_asm_complain(r, "unexpected", word));
}

struct ane_asm_td *ane_asm_td(struct ane_asm_reader *r)
{
    return r->l->tds ? &r->l->td[r->l->tds - 1] : NULL;
}
