/* What frameworks take beside the device: measured by the rows that hold next to nothing else. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_OVERHEAD_H
#define ORCHARD_SIM_PROVE_VALIDATE_OVERHEAD_H

#include <stdbool.h>
#include <stddef.h>

/* A row of a framework that measures its overhead: what it takes beside the device, and what is copied into and out of buffers of
 * the device (0 where operands are where the device reads them); how many bytes the operation itself moves. */
struct overhead_sample {
    double missing_us, in_kib, out_kib, bytes;
    bool used; /* set by the measurement: the result comes from this row */
};

struct overhead_measured {
    double call_us, ns_per_kib, ns_per_kib_out; /* as in struct validate_overhead */
    size_t rows;                                /* so many samples were used; 0: nothing can be said */
};

/* The time of a call is the median over the operations that move the fewest bytes; without operations that are small enough
 * (OVERHEAD_BYTES_MAX) there is none. Where operands are copied, the time of a byte in is the median over samples with next to
 * nothing out, and that of a byte out over the others. Nothing is below 0, and no error of any other row has a say. */
#define OVERHEAD_BYTES_MAX (16.0 * 1024 * 1024)
struct overhead_measured overhead_measure(struct overhead_sample *samples, size_t count);

#endif
