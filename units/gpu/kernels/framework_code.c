#include "units/gpu/kernels/framework_code.h"

#include "isa/array_count.h"

#include <string.h>

/* Code as words in the order of the host: orchard's hosts are little-endian. */
static const struct framework_code table[] = {
#include "units/gpu/kernels/framework_code.inc"
};

size_t framework_code_count(void)
{
    return ARRAY_COUNT(table);
}

const struct framework_code *framework_code_at(size_t index)
{
    return &table[index];
}

const struct framework_code *framework_code_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}
