/* Options of everything that compiles GPU sources, for the verbs compile, kernel and run. */
#ifndef ORCHARD_SIM_API_VERB_COMPILE_H
#define ORCHARD_SIM_API_VERB_COMPILE_H

#include "sim/api/api.h"
#include "sim/compile/compile.h"
#include "sim/compile/kernel_launch.h"
#include "sim/run/run.h"

/* clang-format off */
#define VERB_COMPILE_OPTIONS \
    {"define", 'D', "NAME[=VALUE]", true, "GPU source: define a macro"}, \
    {"include", 'I', "DIR", true, "GPU source: a folder for #include; no other file is visible"}, \
    {"constant", 0, "NAME=VALUE", true, "Metal source: value of a function constant, by name or number (others are 0)"}, \
    {"optimise", 'O', "LEVEL", false, "GPU source: how hard clang optimises, 0 to 3 (default 2)"}, \
    {"fast-math", 0, NULL, false, "GPU source: quotients and functions as the hardware gives them, free reassociation"}
#define VERB_LAUNCH_OPTIONS \
    {"grid", 0, "XxYxZ", false, "GPU source: threads of the whole launch"}, \
    {"group", 0, "XxYxZ", false, "GPU source: threads of a threadgroup (default: what the source states)"}
/* clang-format on */

/* Reads these options. The lists of the request are from malloc: verb_compile_free. */
bool verb_compile_read(const struct api_args *args, struct compile_request *request, struct orch_error *error);
void verb_compile_free(struct compile_request *request);
bool verb_launch_read(const struct api_args *args, struct kernel_launch *launch, struct orch_error *error);
/* Reads all of them into what a run of a GPU source is asked; the request points to what was stated. */
bool verb_compile_source(const struct api_args *args, struct compile_request *source, struct kernel_launch *launch,
                         struct run_request *request, struct orch_error *error);

#endif
