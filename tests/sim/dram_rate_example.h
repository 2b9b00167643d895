/* What the DRAM of a chip gives a stream of reads and writes, by the channel's model alone. */
#ifndef ORCHARD_TESTS_SIM_DRAM_RATE_EXAMPLE_H
#define ORCHARD_TESTS_SIM_DRAM_RATE_EXAMPLE_H

#include "sim/chip/chip_units.h"
#include "tests/sim/chip_example.h"
#include "units/mem/mem_timing.h"

#include <math.h>

static inline double example_stream_gbps(const struct chip_db *db, const char *id, double write_share)
{
    struct mem_params memory;
    struct orch_error error = {0};
    struct chip *chip = example_chip(db, id, NULL);
    const bool ok = chip && chip_mem_params(chip, NULL, &memory, &error);
    CHECK(ok, "%s: %s", id, error.text);
    const double gbps = ok ? mem_dram_stream_gbps(&memory, write_share) * memory.dies : (double)NAN;
    chip_close(chip);
    return gbps;
}

/* The limit of workloads together, of whose bytes such a share is written (at most a half): between a stream of reads and one of
 * reads and writes in turn. */
static inline double example_mixed_limit_gbps(const struct chip_db *db, const char *id, double write_share)
{
    const double read_ns = 1 / example_stream_gbps(db, id, 0), turned_ns = 1 / example_stream_gbps(db, id, 0.5);
    return 1 / (read_ns + 2 * write_share * (turned_ns - read_ns));
}

#endif
