#include "power/text_lines.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void text_lines_begin(struct text_line *line, const char *text, size_t size)
{
    line->next = text;
    line->end = text + size;
    line->at = line->line_end = text;
    line->number = 0;
}

static void skip_space(struct text_line *line)
{
    while (line->at < line->line_end && isspace((unsigned char)*line->at))
        line->at++;
}

bool text_next_line(struct text_line *line)
{
    while (line->next < line->end) {
        const size_t left = (size_t)(line->end - line->next);
        const char *const newline = memchr(line->next, '\n', left);
        line->at = line->next;
        line->line_end = newline ? newline : line->end;
        line->next = newline ? newline + 1 : line->end;
        line->number++;
        const char *const comment = memchr(line->at, '#', (size_t)(line->line_end - line->at));
        if (comment)
            line->line_end = comment;
        if (!text_line_ended(line))
            return true;
    }
    return false;
}

bool text_line_ended(struct text_line *line)
{
    skip_space(line);
    return line->at == line->line_end;
}

bool text_word(struct text_line *line, char *word, size_t size)
{
    size_t n = 0;

    skip_space(line);
    while (line->at + n < line->line_end && !isspace((unsigned char)line->at[n]))
        n++;
    if (n == 0 || n >= size)
        return false;
    memcpy(word, line->at, n);
    word[n] = '\0';
    line->at += n;
    return true;
}

bool text_number(struct text_line *line, double *value)
{
    char word[64], *end;

    if (!text_word(line, word, sizeof word))
        return false;
    *value = strtod(word, &end);
    return *end == '\0' && isfinite(*value);
}
