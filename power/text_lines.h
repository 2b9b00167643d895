/* A small reader of the plain text files of this folder: lines of words and numbers, with # comments; empty lines are skipped. */
#ifndef ORCHARD_POWER_TEXT_LINES_H
#define ORCHARD_POWER_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct text_line {
    const char *next, *end;    /* of the text */
    const char *at, *line_end; /* of the current line */
    unsigned long number;
};

void text_lines_begin(struct text_line *line, const char *text, size_t size);
/* Goes to the next line that holds a word; false at the end of the text. */
bool text_next_line(struct text_line *line);
/* Takes the next word of the line. False when there is none, when it does not fit, or when it is no finite number. */
bool text_word(struct text_line *line, char *word, size_t size);
bool text_number(struct text_line *line, double *value);
bool text_line_ended(struct text_line *line);

#endif
