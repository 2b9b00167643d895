#include "sim/run/run_version.h"

#ifndef ORCHARD_MODEL_HASH
#error "the Makefile passes ORCHARD_MODEL_HASH"
#endif

const char *run_model_version(void)
{
    return ORCHARD_VERSION "+" ORCHARD_MODEL_HASH;
}
