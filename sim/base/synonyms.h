/* What others call the things that orchard has a name for: "fp16", "npu", "mem_bandwidth", "matmul". */
#ifndef ORCHARD_SIM_BASE_SYNONYMS_H
#define ORCHARD_SIM_BASE_SYNONYMS_H

#include <stdbool.h>
#include <stddef.h>

struct synonym {
    const char *word; /* in lower case, with _ for - */
    const char *name; /* what it is called here */
};

/* The rows of a word, which stand one after another; NULL and 0 when it has none. Case, and - or _, do not count. */
const struct synonym *synonyms_of(const char *word, size_t *count);

/* All rows, in the order of their words. */
const struct synonym *synonyms_all(size_t *count);

#endif
