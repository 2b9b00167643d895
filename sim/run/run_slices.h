/* Pieces of work of units that share SLC and DRAM of a chip (sim/soc/slices.h). */
#ifndef ORCHARD_SIM_RUN_RUN_SLICES_H
#define ORCHARD_SIM_RUN_RUN_SLICES_H

#include "sim/chip/chip.h"
#include "sim/soc/dram_share.h"
#include "sim/soc/slices.h"

enum { RUN_SLC, RUN_DRAM, RUN_SHARED };

struct run_slices {
    struct dram_share share;
    double capacity[RUN_SHARED];
    struct slices *slices;
};
bool run_slices_open(struct run_slices *s, const struct chip *chip, struct orch_error *error);
void run_slices_close(struct run_slices *s);

/* What a piece does in the time that it takes alone. */
struct run_piece {
    double ns, slc_bytes, dram_read_bytes, dram_written_bytes;
};
/* Adds it behind others; queue: of a unit that does one thing at a time. -1 = out of memory. */
int run_slices_add(struct run_slices *s, const struct run_piece *piece, int queue, const int *after, size_t afters);
/* Time in which nothing is asked of a unit or of memory. */
int run_slices_wait(struct run_slices *s, const char *name, double ns, const int *after, size_t afters);

#endif
