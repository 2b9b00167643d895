/* Pages of tokens that the keys and values of a text lie in, anywhere among those of all texts. */
#ifndef ORCHARD_UNITS_KERNEL_PAGES_H
#define ORCHARD_UNITS_KERNEL_PAGES_H

#include "units/kernel_text.h"

enum { KERNEL_PAGE_LEAST = 4 }; /* tokens that kernels meet together lie in one page */

struct kernel_pages {
    uint64_t tokens, bits; /* of one: 2^bits; 0 = the cache is one piece */
    uint64_t used, all;    /* by the text, of all texts */
};
/* `pages` 0 = as many as the text needs. False with a text where pages cannot be so. */
bool kernel_pages_of(uint64_t tokens, uint64_t page, uint64_t pages, struct kernel_pages *found, struct isa_error *error);

#endif
