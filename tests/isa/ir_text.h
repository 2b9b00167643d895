/* Text to modules and back, for suites of the compiler. */
#ifndef ORCHARD_TESTS_ISA_IR_TEXT_H
#define ORCHARD_TESTS_ISA_IR_TEXT_H

#include "isa/agx/compiler/ir_read.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static inline struct ir_module *ir_text_read(const char *name, const char *text)
{
    struct isa_error error = {.text = ""};
    struct ir_module *const m = ir_read(text, strlen(text), &error);
    CHECK(m != NULL, "%s, line %lu: %s", name, error.line, error.text);
    return m;
}

/* To be freed. Not inlined: GCC 12 would take the text for a variable of the stack. */
__attribute__((noinline, unused)) static char *ir_text_print(const struct ir_module *m)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = open_memstream(&text, &bytes);
    ir_print_module(out, m);
    fclose(out);
    return text;
}

/* Reads what was printed, and prints the same. */
static inline void ir_text_check_round(const char *name, const struct ir_module *m)
{
    char *const text = ir_text_print(m);
    struct ir_module *const again = ir_text_read(name, text);
    if (again) {
        char *const second = ir_text_print(again);
        CHECK(strcmp(text, second) == 0, "%s: the printed text reads as something else", name);
        free(second);
    }
    ir_module_free(again);
    free(text);
}

/* A whole file, ended by a zero; NULL when it cannot be read. To be freed. */
static inline char *ir_text_file(const char *path)
{
    FILE *const in = fopen(path, "rb");
    char *text = NULL;
    long bytes;
    if (!in)
        return NULL;
    if (fseek(in, 0, SEEK_END) == 0 && (bytes = ftell(in)) >= 0 && (text = calloc(1, (size_t)bytes + 1))) {
        rewind(in);
        if (fread(text, 1, (size_t)bytes, in) != (size_t)bytes) {
            free(text);
            text = NULL;
        }
    }
    fclose(in);
    return text;
}

#endif
