/* Speed of the timing models: accesses per second through a memory port, and instructions per second through a core's timing with
 * and without remembered blocks.
 */
#include "tests/units/cpu_example.h"

#include <stdio.h>
#include <time.h>

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* The host is shared, so only the time of this process counts. */
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void bench_port(const char *what, uint64_t set_bytes, uint64_t step, uint64_t count)
{
    const struct mem_params params = example_mem();
    const struct mem_port_params port_params = example_p_port();
    struct mem_system *system = mem_system_create(&params);
    struct mem_port *port = system ? mem_port_open(system, &port_params, NULL) : NULL;
    if (!port) {
        printf("%s: out of memory\n", what);
        return;
    }
    double now = 0;
    for (uint64_t i = 0; i < set_bytes / step; i++)
        now = mem_port_access(port, now, 0x1000000 + i * step, 8, MEM_ACCESS_LOAD, 0x40).ready_ns;
    const double start = seconds();
    uint64_t at = 0;
    for (uint64_t i = 0; i < count; i++) {
        now = mem_port_access(port, now, 0x1000000 + at, 8, MEM_ACCESS_LOAD, 0x40).ready_ns;
        at = at + step < set_bytes ? at + step : 0;
    }
    const double taken = seconds() - start;
    printf("%-44s %8.1f M accesses/s  %6.1f ns each\n", what, (double)count / taken / 1e6, 1e9 * taken / (double)count);
    mem_system_free(system);
}

/* A loop like a dot product: two vector loads, four multiply-adds, pointer and counter steps, a branch. */
static void dot_loop(struct example_block *b)
{
    example_block_init(b, 0, 0x4000);
    example_load(b, A64_C_LOAD_V, 32, 0, 16);
    example_load(b, A64_C_LOAD_V, 33, 1, 16);
    for (unsigned i = 0; i < 4; i++)
        example_add(b, A64_C_FP_FMA, 36 + i, 36 + i, 32 + i % 2);
    example_add(b, A64_C_INT, 0, 0, A64_DEP_NONE);
    example_add(b, A64_C_INT, 1, 1, A64_DEP_NONE);
    example_add(b, A64_C_INT_FLAGS, A64_DEP_FLAGS, 2, A64_DEP_NONE);
    example_add(b, A64_C_BRANCH_COND, A64_DEP_NONE, A64_DEP_FLAGS, A64_DEP_NONE);
}

static void bench_core(const char *what, bool with_loads, bool memo, uint64_t set_bytes)
{
    const struct mem_params params = example_mem();
    const struct mem_port_params port_params = example_p_port();
    const struct cpu_params cpu = example_cpu();
    struct mem_system *system = mem_system_create(&params);
    struct mem_port *port = system ? mem_port_open(system, &port_params, NULL) : NULL;
    struct cpu_timing *timing = port ? cpu_timing_create(&cpu, port, 0) : NULL;
    struct example_block loop;
    struct cpu_trace trace = {0};
    dot_loop(&loop);
    if (!with_loads)
        for (unsigned i = 0; i < 2; i++) {
            loop.insn[i].cls = A64_C_INT;
            loop.insn[i].mem_bytes = loop.insn[i].flags = 0;
            loop.block.mem_count = 0;
        }
    uint64_t at = 0;
    for (unsigned i = 0; i < 65536; i++) {
        const uint64_t address[2] = {0x1000000 + at, 0x3002000 + at};
        if (!example_trace_add(&trace, &loop.block, address))
            return;
        at = at + 16 < set_bytes ? at + 16 : 0;
    }
    if (!timing)
        return;
    cpu_timing_set_memo(timing, memo);
    const double start = seconds();
    double taken;
    do {
        cpu_timing_feed(timing, &trace);
        cpu_timing_advance(timing, 1e300);
        taken = seconds() - start;
    } while (taken < 1.0);
    uint64_t blocks, remembered;
    cpu_timing_memo_counters(timing, &blocks, &remembered);
    double stalls[CPU_STALL_COUNT], cycles;
    cpu_timing_stalls(timing, stalls, &cycles);
    printf("%-44s %8.1f M instructions/s  %5.2f per cycle, %3.0f%% remembered\n", what,
           (double)cpu_timing_instructions(timing) / taken / 1e6, (double)cpu_timing_instructions(timing) / cycles,
           100.0 * (double)remembered / (double)blocks);
    example_trace_free(&trace);
    cpu_timing_free(timing);
    mem_system_free(system);
}

int main(void)
{
    bench_port("port: one line again and again", 128, 8, 100000000);
    bench_port("port: L1, 64 KiB by lines", 65536, 128, 100000000);
    bench_port("port: L2, 4 MiB by lines, prefetched", 4 << 20, 128, 5000000);
    bench_port("port: DRAM, 256 MiB by lines, prefetched", 256 << 20, 128, 5000000);
    bench_core("core: loop without loads, remembered", false, true, 8192);
    bench_core("core: loop without loads, placed", false, false, 8192);
    bench_core("core: dot product in L1, remembered", true, true, 16384);
    bench_core("core: dot product in L1, placed", true, false, 16384);
    bench_core("core: dot product in L2, remembered", true, true, 1 << 20);
    bench_core("core: dot product in L2, placed", true, false, 1 << 20);
    return 0;
}
