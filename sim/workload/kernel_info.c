#include "sim/workload/kernel_info.h"

#include <string.h>

const struct kernel_info *kernel_info_find(const struct kernel_info *rows, size_t count, const char *workload)
{
    const size_t length = strcspn(workload, ":");
    for (size_t i = 0; i < count; i++)
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, workload, length) == 0)
            return &rows[i];
    return NULL;
}

bool kernel_is_workload(const char *workload)
{
    const char *colon = strchr(workload, ':');
    return colon && colon != workload && strcspn(workload, "/.") > (size_t)(colon - workload);
}
