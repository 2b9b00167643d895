/* A task of the planar engine, for suites. */
#ifndef ORCHARD_TESTS_UNITS_ANE_EXEC_PLANAR_H
#define ORCHARD_TESTS_UNITS_ANE_EXEC_PLANAR_H

#include "tests/units/ane_exec_example.h"

static inline struct ane_task *planar(struct ane_example *e, uint32_t channels, uint32_t height, uint32_t width)
{
    struct ane_task *t = ane_example_task(e);
    t->engine = ANE_ENGINE_PE;
    ane_example_shape(t, channels, height, width, channels, height, width);
    return t;
}

#endif
