#include "sim/base/error.h"

#include "sim/base/plain_stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { OPTION_MARK = '\001', LETTER_MARK = '\002' }; /* as ORCH_OPTION and ORCH_LETTER write them */

static size_t name_length(const char *name)
{
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
}

static void add(char *text, size_t size, size_t *used, const char *what, size_t length)
{
    while (length-- && *used + 1 < size)
        text[(*used)++] = *what++;
}

void orch_spell_options(const char *marked, bool dashes, char *text, size_t size)
{
    size_t used = 0;
    while (*marked) {
        if (*marked != OPTION_MARK) {
            add(text, size, &used, marked++, 1);
            continue;
        }
        const bool has_letter = marked[1] && marked[2] == LETTER_MARK;
        if (!has_letter) {
            add(text, size, &used, "--", dashes ? 2 : 0);
            marked++;
        } else if (dashes) {
            add(text, size, &used, "-", 1);
            add(text, size, &used, marked + 1, 1);
            marked += 3 + name_length(marked + 3);
        } else {
            marked += 3;
        }
    }
    text[used] = 0;
}

static void spell_both(struct orch_error *e, const char *marked)
{
    orch_spell_options(marked, true, e->text, sizeof e->text);
    orch_spell_options(marked, false, e->plain, sizeof e->plain);
    plain_text(e->text); /* names of others are in it */
    plain_text(e->plain);
}

static void append(char text[ORCH_ERROR_SIZE], const char *between, const char *more)
{
    const size_t used = strlen(text);
    snprintf(text + used, ORCH_ERROR_SIZE - used, "%s%s", between, more);
}

bool orch_fail(struct orch_error *e, int exit_code, const char *format, ...)
{
    if (!e)
        return false;
    char marked[ORCH_ERROR_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(marked, sizeof marked, format, args);
    va_end(args);
    spell_both(e, marked);
    e->exit_code = exit_code;
    return false;
}

bool orch_no_memory(struct orch_error *e)
{
    return orch_fail(e, ORCH_INTERNAL, "out of memory");
}

bool orch_fail_in(struct orch_error *e, const char *format, ...)
{
    if (!e)
        return false;
    char marked[ORCH_ERROR_SIZE];
    const struct orch_error inner = *e;
    va_list args;
    va_start(args, format);
    vsnprintf(marked, sizeof marked, format, args);
    va_end(args);
    spell_both(e, marked);
    append(e->text, ": ", inner.text);
    append(e->plain, ": ", inner.plain);
    return false;
}

bool orch_fail_more(struct orch_error *e, const char *format, ...)
{
    if (!e)
        return false;
    char marked[ORCH_ERROR_SIZE];
    struct orch_error more = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(marked, sizeof marked, format, args);
    va_end(args);
    spell_both(&more, marked);
    append(e->text, "", more.text);
    append(e->plain, "", more.plain);
    return false;
}
