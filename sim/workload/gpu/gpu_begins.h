/* What the beginning of a threadgroup costs, from windows of a launch that saw many of them and windows that saw few.
 * Threadgroups of cores in step begin all at once, so that a window sees many beginnings or none. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_BEGINS_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_BEGINS_H

/* Sums over windows, for the straight line that is nearest to their paces. All zero = no window yet. */
struct gpu_begins {
    double windows, x, y, xx, xy, yy;
    double least_ns, most_ns; /* of their paces */
};

/* One more window: threadgroups that began per instruction in it, and its time per instruction. */
void gpu_begins_add(struct gpu_begins *begins, double per_instruction, double ns);

/* The time that a beginning adds to that of the whole GPU; 0 where windows differ by no more than chance would make them differ,
 * as those do that see whole lives of threadgroups and so beginnings as many as their share. */
double gpu_begins_ns(const struct gpu_begins *begins);

/* What so many beginnings add to the time of so many instructions, fewer where the number is negative: per instruction no more
 * than the paces of windows differ by. Windows that all see about as many beginnings do not tell what more or fewer of them would
 * cost. */
double gpu_begins_add_ns(const struct gpu_begins *begins, double beginnings, double instructions);

#endif
