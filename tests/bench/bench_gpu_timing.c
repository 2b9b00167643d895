/* Host time that GPU timing takes per simdgroup instruction, without executing: 4 cores full of simdgroups, with traces made
 * beforehand as the executing side would make them. They stand for what programs do: independent arithmetic, dependent
 * arithmetic, a mix with a shared pipe, loads from L1 and from DRAM, matrix products.
 */
#include "isa/array_count.h"
#include "tests/units/gpu_timing_example.h"

#include <stdio.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* The host is shared, so only the time of this process counts. */
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

int main(void)
{
    static const struct {
        const char *name, *text;
        uint64_t footprint;
    } rows[] = {
        {"independent fma", ".repeat 32\nfmadd32 r{i%8}, r{i%8}, r20, r21\n.end\nstop", 1},
        {"dependent fma", ".repeat 32\nfmadd32 r1, r1, r20, r21\n.end\nstop", 1},
        {"multiply and three adds",
         ".repeat 8\nimadd r{i}, r{i}, r20, 0\niadd r8, r8, r20\niadd r9, r9, r20\niadd r10, r10, r20\n.end\nstop", 1},
        {"multiplies only", ".repeat 32\nimadd r{i%8}, r{i%8}, r20, 0\n.end\nstop", 1},
        {"one load in eight, L1",
         ".repeat 4\ndevice_load 0, i32, x, r4, u0_u1, r0, unsigned\n.repeat 6 j\nfadd32 r{8+j}, r{8+j}, r20\n.end\nwait "
         "0\n.end\nstop",
         32},
        {"one load in eight, DRAM",
         ".repeat 4\ndevice_load 0, i32, x, r4, u0_u1, r0, unsigned\n.repeat 6 j\nfadd32 r{8+j}, r{8+j}, r20\n.end\nwait "
         "0\n.end\nstop",
         1u << 22},
        {"matrix products",
         ".repeat 32\nsimd_matrix_fmadd32 r{2*(i%8)}_r{2*(i%8)+1}, r16_r17, r18_r19, r{2*(i%8)}_r{2*(i%8)+1}\n.end\nstop", 1},
    };
    printf("%-26s %14s %12s\n", "", "instructions", "ns each");
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const struct example_launch launch = {.text = rows[i].text,
                                              .cores = 4,
                                              .simds = 4,
                                              .groups = 48,
                                              .loops = 400,
                                              .footprint = rows[i].footprint,
                                              .register_halves = 64};
        const double begin = cpu_seconds();
        const struct example_run run = example_run(&launch);
        const double seconds = cpu_seconds() - begin;
        printf("%-26s %14.0f %12.1f%s\n", rows[i].name, run.instructions, seconds * 1e9 / run.instructions,
               run.failed ? " failed" : "");
    }
    return 0;
}
