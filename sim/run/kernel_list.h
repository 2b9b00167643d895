/* The kernels of all units as one list: a row for each version. */
#ifndef ORCHARD_SIM_RUN_KERNEL_LIST_H
#define ORCHARD_SIM_RUN_KERNEL_LIST_H

#include "sim/workload/kernel_info.h"

#include <stddef.h>

size_t kernel_list_count(void);
/* Its texts are static. */
struct kernel_info kernel_list_at(size_t index);

#endif
