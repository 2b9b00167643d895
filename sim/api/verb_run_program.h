/* Options of run that belong to CPU programs: what they see of the host, how far they run, and what their end means. */
#ifndef ORCHARD_SIM_API_VERB_RUN_PROGRAM_H
#define ORCHARD_SIM_API_VERB_RUN_PROGRAM_H

#include "sim/api/api.h"
#include "sim/run/run.h"
#include "sim/workload/cpu/program_world.h"

/* clang-format off */
#define VERB_RUN_PROGRAM_OPTIONS \
    {"mount", 0, "HOST:GUEST[:rw]", true, \
     "programs: show them a file or folder of the host at this path, to be read or (rw) changed; they see no other file"}, \
    {"stdin", 0, "FILE", false, "programs: what they read from standard input (default: nothing)"}, \
    {"env", 0, "NAME=VALUE", true, "programs: a variable of their environment, which is empty otherwise"}, \
    {"exit-code", 0, "WHOSE", false, "program: end with the program's own exit status; orchard (default): with that of the run"}, \
    {"max-instructions", 0, "N", false, "programs: stop after so many instructions (kernels of the GPU: of a simdgroup) and say where it was"}, \
    {"link", 0, "FILE", true, "programs: a further object or archive; objects find memcpy, expf and the like by themselves"}, \
    {"thread-cores", 0, "N", false, "programs: cores that their threads may use (default: all of the chip, P cores first)"}, \
    {"returns", 0, "TYPE", false, \
     "with entry: what the function returns: i8 .. i64, u8 .. u64, f16, f32, f64, ptr, void, TYPExN for a vector of 8 or 16 " \
     "bytes, as f32x4, {TYPE,TYPE ...} for a struct in registers, as {i32,f32} (default: the registers are shown)"}
/* clang-format on */

struct verb_run_program {
    struct program_world world;
    const char **link;
    const char *const *word; /* further words that are linked */
    int words;
    bool own_status; /* the program's exit status is that of the run */
};

/* Whether several words are objects and archives of one program: the first one is the workload, the others are linked to it. */
bool verb_run_program_words(struct verb_run_program *program, int words, const char *const *word);
bool verb_run_program_read(struct api_context *context, struct verb_run_program *program, struct run_request *request,
                           struct orch_error *error);
void verb_run_program_free(struct verb_run_program *program);
/* The exit code of a run that went well. */
int verb_run_program_code(const struct verb_run_program *program, double exit_status);

#endif
