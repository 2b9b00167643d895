/* What the files of run_network_schedule.h share. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_SCHEDULE_INTERNAL_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_SCHEDULE_INTERNAL_H

#include "sim/run/network/run_network_schedule.h"

/* A kernel, or what the host does between kernels. */
struct item {
    enum orch_part part;
    size_t placement, last; /* its lines; of a request to the Neural Engine there are several. SIZE_MAX = the host */
    size_t *after, afters, after_room;
    double ns, rank_ns; /* alone; from its beginning to the end of everything that waits for it */
    double slc_bytes, dram_read_bytes, dram_written_bytes;
    unsigned buffer; /* of the GPU: its command buffer, from 0 on */
    bool leaves;     /* of the GPU: others wait for it, so that its command buffer ends behind it */
    bool e_core;     /* of the CPU: an E core takes it */
    int slice;
};

/* Memory that an item reads or writes. */
struct access {
    const char *at;
    uint64_t bytes;
    size_t item;
    bool writes;
};

struct network_schedule {
    struct item *item;
    size_t items, item_room;
    struct access *access;
    size_t accesses, access_room;
    size_t request; /* the item of the latest request */
};

#endif
