/* Requests for kernels as text, in the same form for every unit's library: "gemm:512x512x512,tb=1", "softmax:128x1000".
 *
 * A library lists its forms by position. A form names the parameters of one kernel. Reading yields a value for each parameter and
 * suggests names for mistyped ones; writing gives the canonical text back.
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
    int64_t missing;  /* value of a parameter that is not given */
    int64_t least, most;
    bool required;
    const char *words; /* values with names instead of numbers: "relu|gelu|silu" = 0, 1, 2; NULL = numbers */
    bool decimal;      /* a value such as alpha=0.5 goes to `decimal`, bounded by least and most; so does `missing` */
    double usual;      /* decimal parameters: added to `missing` */
    bool chain; /* several words: "add+relu" = KERNEL_CHAIN_BITS bits each, the first word lowest, 1 + its position; 0 = none */
};

#define KERNEL_CHAIN_BITS  6
#define KERNEL_CHAIN_WORDS 10 /* in one chain */
#define KERNEL_PARAMETERS  20 /* the most that a form has */

struct kernel_form {
    const char *name, *grammar;
    unsigned positional; /* number of parameters that come first, as AxBxC */
    const struct kernel_parameter *parameter;
};

/* Returns the form at a position; false past the last one. */
struct kernel_library {
    bool (*form_at)(size_t index, struct kernel_form *form);
};

/* Finds the position of the form with that name (of that length). Returns false when there is none. */
bool kernel_library_find(const struct kernel_library *library, const char *name, size_t length, size_t *index);
/* Finds the form that the request "name:options" names, and its position. Returns where the options start, or NULL with a text
 * that suggests the nearest name. */
const char *kernel_library_choose(const struct kernel_library *library, const char *workload, size_t *index,
                                  struct kernel_form *form, struct isa_error *error);

/* Writes the text and returns false. */
bool kernel_refuse(struct isa_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads what follows "name:" into value and decimal, one entry per parameter. Returns false with a text that names the wrong
 * option and the nearest right one. */
bool kernel_text_read(const struct kernel_form *form, const char *options, int64_t *value, double *decimal,
                      struct isa_error *error);
/* Reads a suffix at *end and multiplies by it: K, KiB, M, MiB ... up to T are multiples of 1024, kB, MB ... of 1000, B is 1; none
 * is well, too. Returns false when the number does not fit. */
bool kernel_size_suffix(const char **end, uint64_t *number);
/* Writes the canonical text, name first: equal requests have equal texts. Returns its length as snprintf does. */
int kernel_text_write(const struct kernel_form *form, const int64_t *value, const double *decimal, char *text, size_t size);

/* True when `word` of that length is one of the words of `list`, which `separator` separates; sets its position. */
bool kernel_word_listed(const char *list, char separator, const char *word, size_t length, int64_t *index);

#endif
