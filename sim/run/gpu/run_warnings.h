/* The inside of run_warnings.c (memory) and run_warnings_work.c (what simdgroups do): what a performance engineer would say to a
 * profile, each with its place, what was measured, and what to do. Only what was executed counts. */
#ifndef ORCHARD_SIM_RUN_GPU_RUN_WARNINGS_H
#define ORCHARD_SIM_RUN_GPU_RUN_WARNINGS_H

#include "sim/run/gpu/run_launch.h"

/* A launch under examination. Instruction i of the program is k->instruction[i]. */
struct run_review {
    const struct run_launch *l;
    const struct gpu_program *program;
    struct line_profile *profile;
    const struct profile_kernel *k;
    uint32_t kernel; /* its number in the profile */
    double cycles;   /* of the launch */
    double issued;
    double waits[GPU_STALL_COUNT];      /* share of the cycles, by reason */
    double excess_lines, excess_passes; /* share of what device and threadgroup accesses move that is beyond the least */
    double simdgroups;                  /* that the launch started */
};

/* Adds a warning at an instruction; text and fix are complete sentences without a full stop. */
bool run_review_say(const struct run_review *r, uint32_t instruction, const char *kind, const char *evidence, const char *fix);
/* Whether a warning of this kind stands at the instruction's line already; a program without lines is one place. */
bool run_review_said(const struct run_review *r, uint32_t instruction, const char *kind);
/* The share of the launch's cycles that the line of an instruction took. */
double run_review_share(const struct run_review *r, uint32_t instruction);
static inline enum agx_class run_review_class(const struct run_review *r, uint32_t instruction)
{
    return gpu_program_effect(r->program, instruction)->unit_class;
}

/* run_warnings_work.c */
bool run_review_work(const struct run_review *r);

#endif
