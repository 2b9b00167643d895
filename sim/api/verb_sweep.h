/* What the verbs sweep and whatif share. */
#ifndef ORCHARD_SIM_API_VERB_SWEEP_H
#define ORCHARD_SIM_API_VERB_SWEEP_H

#include "sim/api/api.h"
#include "sim/ask/sweep/sweep_spec.h"

/* Puts the options unit, precision, chip, set ... into the base of a specification. */
bool verb_sweep_base(struct api_context *context, struct sweep_spec *spec, struct orch_error *error);

/* Options for what all points start from. */
#define VERB_STUDY_OPTIONS                                                                                                       \
    {"unit", 0, "UNIT", false, "cpu, amx, gpu, ane or auto"}, {"precision", 0, "TYPE", false, "element type"},                   \
        {"detail", 0, "LEVEL", false, "op (default), instr, sampled or auto"},                                                   \
        {"cores", 0, "N", false, "copies of a program of the CPU"}, {"memory", 0, "GIB", false, "memory of the machine"},        \
        {"device", 0, "NAME", false, "in this machine"}, {"policy", 0, "NAME", false, "of the governor, with --device"},         \
        {"ambient", 0, "C", false, "temperature of the room, with --device"},                                                    \
        {"power-mode", 0, "MODE", false, "high, balanced or low, with --device"},                                                \
        {"power-cap", 0, "W", false, "most power, with --device"},                                                               \
        {"duration", 0, "SECONDS", false, "repeat the workload for so long, with --device"},                                     \
    {                                                                                                                            \
        "fitted", 0, "SET", false, "use a named set of orchard tune or orchard calibrate"                                        \
    }

#endif
