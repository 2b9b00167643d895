/* Requests for kernels as text, the same for every unit's library: "gemm:512x512x512,tb=1", "softmax:128x1000".
 *
 * A library gives its forms by position. A form names the parameters of one kernel; reading gives a value for each, with
 * suggestions for mistyped names; writing gives the canonical text back.
 */
#ifndef ORCHARD_UNITS_KERNEL_TEXT_H
#define ORCHARD_UNITS_KERNEL_TEXT_H

#include "isa/isa_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One parameter of a kernel's shape: positional ("128x1000") or name=value. */
struct kernel_parameter {
    const char *name; /* "rows", "stride" ...; NULL ends the list */
    int64_t missing;  /* value when it is not given */
    int64_t least, most;
    bool required;
    const char *words; /* values that may be named instead of numbered: "relu|gelu|silu" = 0, 1, 2; NULL = numbers */
    bool decimal;      /* alpha=0.5: the value goes to `decimal`, `missing` likewise; least and most bound it */
    double usual;      /* of decimal parameters: added to `missing` */
    bool chain;        /* several words: "add+relu" = KERNEL_CHAIN_BITS bits each, first one lowest, 1 + its position; 0 = none */
};

#define KERNEL_CHAIN_BITS  6
#define KERNEL_CHAIN_WORDS 10 /* of one chain */
#define KERNEL_PARAMETERS  20 /* most that a form has */

struct kernel_form {
    const char *name, *grammar;
    unsigned positional; /* so many parameters stand as AxBxC in front */
    const struct kernel_parameter *parameter;
};

/* The forms of a library one after the other; false past the last. */
struct kernel_library {
    bool (*form_at)(size_t index, struct kernel_form *form);
};

/* The position of the form of that name (of that length); false when there is none. */
bool kernel_library_find(const struct kernel_library *library, const char *name, size_t length, size_t *index);
/* What the request "name:options" names: position and form; returns where the options start. NULL with a text that has the
 * nearest name. */
const char *kernel_library_choose(const struct kernel_library *library, const char *workload, size_t *index,
                                  struct kernel_form *form, struct isa_error *error);

/* Writes the text and returns false. */
bool kernel_refuse(struct isa_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads what follows "name:" into value and decimal, one per parameter. False with a text that names the option and the nearest
 * one. */
bool kernel_text_read(const struct kernel_form *form, const char *options, int64_t *value, double *decimal,
                      struct isa_error *error);
/* The canonical text with the name in front: equal requests have equal texts. Returns its length as snprintf does. */
int kernel_text_write(const struct kernel_form *form, const int64_t *value, const double *decimal, char *text, size_t size);

/* True when `word` of that length is one of the words of `list`, which have `separator` between them; its position. */
bool kernel_word_listed(const char *list, char separator, const char *word, size_t length, int64_t *index);

#endif
