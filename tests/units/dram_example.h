/* LPDDR5-6400 with 8 Gb a channel, for suites that need some DRAM. */
#ifndef ORCHARD_TESTS_UNITS_DRAM_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_DRAM_EXAMPLE_H

#include "units/mem/dram_standard.h"

#define EXAMPLE_DRAM_POLICY                                                                                                      \
    {                                                                                                                            \
        .refresh = DRAM_REFRESH_NONE, .window = 128, .write_high = 192, .write_low = 144, .row_idle_ns = 200, .bank_lines = 2    \
    }

static inline struct dram_timing example_dram(void)
{
    struct dram_timing timing = {0};
    dram_standard("LPDDR5-6400", 8, &timing);
    return timing;
}

#endif
