/* Tells whether a pace is known surely enough already, from the paces of pieces of what was timed: few pieces do where they are
 * alike, and timing goes on where they scatter. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_STEADY_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_STEADY_H

#include <stdbool.h>

#define GPU_STEADY_PIECES 32
struct gpu_steady {
    double piece;                   /* instructions, at least */
    double ns, issued;              /* when the present piece began */
    unsigned pieces;                /* that are over */
    double pace[GPU_STEADY_PIECES]; /* of the first ones, time per instruction */
};

/* Begins anew at a moment. */
void gpu_steady_begin(struct gpu_steady *steady, double piece, double ns, double issued);
/* A later moment. */
void gpu_steady_moment(struct gpu_steady *steady, double ns, double issued);
/* Tells whether the mean of all pieces is sure; not before some are over. */
bool gpu_steady_sure(const struct gpu_steady *steady);
/* How much more the second half of some paces is than the first one, relative to their mean. */
double gpu_steady_change(const double *pace, unsigned count);

#endif
