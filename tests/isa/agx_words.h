/* Golden AGX words: lines of tab-separated columns in a gzip file. */
#ifndef ORCHARD_TESTS_ISA_AGX_WORDS_H
#define ORCHARD_TESTS_ISA_AGX_WORDS_H

#include "isa/agx/agx_isa.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { AGX_WORDS_COLUMNS = 9 };

struct agx_words_line {
    char text[4096];
    const char *column[AGX_WORDS_COLUMNS];
    unsigned columns;
    uint8_t bytes[AGX_MAX_BYTES];
    size_t size;
};

static inline bool agx_words_parse(struct agx_words_line *line)
{
    char *at = line->text;
    line->columns = 0;
    at[strcspn(at, "\n")] = '\0';
    while (at && line->columns < AGX_WORDS_COLUMNS) {
        line->column[line->columns++] = at;
        at = strchr(at, '\t');
        if (at)
            *at++ = '\0';
    }
    line->size = strlen(line->column[0]) / 2;
    for (size_t i = 0; i < line->size && i < AGX_MAX_BYTES; i++) {
        const char digits[3] = {line->column[0][2 * i], line->column[0][2 * i + 1], '\0'};
        line->bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return line->columns >= 5 && line->size <= AGX_MAX_BYTES;
}

/* Calls `check` for every word of a golden file; returns how many there were. */
static inline unsigned agx_words_each(const char *name, void (*check)(const struct agx_words_line *line))
{
    struct agx_words_line line;
    unsigned count = 0;
    gzFile file = gzopen(suite_golden(name), "rb");
    CHECK(file != NULL, "%s", name);
    while (file && gzgets(file, line.text, sizeof line.text)) {
        if (line.text[0] == '#')
            continue;
        count++;
        CHECK(agx_words_parse(&line), "%s: %s", name, line.text);
        check(&line);
    }
    if (file)
        gzclose(file);
    return count;
}

#endif
