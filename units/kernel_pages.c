#include "units/kernel_pages.h"

bool kernel_pages_of(uint64_t tokens, uint64_t page, uint64_t pages, struct kernel_pages *found, struct isa_error *error)
{
    *found = (struct kernel_pages){.tokens = page};
    if (!page)
        return !pages ||
               kernel_refuse(error, "cache-attention: pages = %llu of how many tokens? (page)", (unsigned long long)pages);
    if (page < KERNEL_PAGE_LEAST || page & (page - 1))
        return kernel_refuse(error, "cache-attention: page = %llu tokens are no power of two from %d on",
                             (unsigned long long)page, (int)KERNEL_PAGE_LEAST);
    while (UINT64_C(1) << found->bits < page)
        found->bits++;
    found->used = (tokens + page - 1) / page;
    found->all = pages ? pages : found->used;
    return found->used <= found->all ||
           kernel_refuse(error, "cache-attention: s = %llu tokens need %llu pages; there are pages = %llu",
                         (unsigned long long)tokens, (unsigned long long)found->used, (unsigned long long)found->all);
}
