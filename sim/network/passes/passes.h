/* The functions of passes.inc. */
#ifndef ORCHARD_SIM_NETWORK_PASSES_PASSES_H
#define ORCHARD_SIM_NETWORK_PASSES_PASSES_H

#include "sim/network/passes/pass.h"

#define PASS(name, level, function, text)                                                                                        \
    bool net_pass_##function(struct net_model *model, unsigned *changes, struct orch_error *error);
#include "sim/network/passes/passes.inc"
#undef PASS

#endif
