/* A GPU like that of M1 (G13) for tests of timing, and programs whose trace is made without executing them: the body of an
 * assembled text, so many times over, in full simdgroups. The real chips are data of sim/chips; tests must not depend on them.
 * Figures: philipturner/metal-benchmarks; memory: Chips and Cheese (M1).
 */
#ifndef ORCHARD_TESTS_UNITS_GPU_TIMING_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_GPU_TIMING_EXAMPLE_H

#include "isa/agx/agx_asm.h"
#include "tests/support/suite.h"
#include "tests/units/dram_example.h"
#include "units/gpu/gpu_timing.h"

#include <stdlib.h>
#include <string.h>

#define EXAMPLE_CORES_MAX 4
#define EXAMPLE_SLOTS     96
#define EXAMPLE_SIMDS     32

static inline struct gpu_params example_gpu(unsigned cores)
{
    return (struct gpu_params){
        .clock_ghz = 1.278,
        .cores = cores,
        .schedulers = 4,
        .threads_per_core_max = 3072,
        .register_file_bytes = 208 * 1024,
        .threadgroup_memory_bytes = 60 * 1024,
        .threadgroup_memory_groups = 16,
        .instruction_cache_bytes = 12 * 1024,
        .register_granule = 2,
        .issue_per_cycle = 1,
        .interval_cycles = 2.7,
        .register_window = 4,
        .stall_16_cycles = 1.3,
        .stall_32_cycles = 4.1,
        .stall_fma32_cycles = 8.4,
        .register_port_cycles = 1.0,
        .latency_16_cycles = 3,
        .latency_32_cycles = 3,
        .latency_fma32_cycles = 6,
        .complex_issue_cycles = 2,
        .other_issue_cycles = 1,
        .get_sr_cycles = 2,
        .reduce_half_cycles = 2.8,
        .slot_entries = 8,
        .memory_queue_cycles = 32,
        .memory_issue_cycles = 1,
        .l1_bytes_per_cycle = 64,
        .atomic_cycles = 1,
        .threadgroup_pass_cycles = 1,
        .threadgroup_latency_cycles = 28,
        .threadgroup_atomic_cycles = 2,
        .barrier_cycles = 16,
        .group_launch_cycles = 32,
        .simdgroup_launch_cycles = 4,
        .cost = {[GPU_COST_CONVERT] = {4, 3.66},
                 [GPU_COST_ROUND] = {4, 3.66},
                 [GPU_COST_IMUL] = {4, 4.02},
                 [GPU_COST_IMUL64] = {8, 9.84},
                 [GPU_COST_SHIFT] = {4, 4.02},
                 [GPU_COST_EXP2] = {4, 4.31},
                 [GPU_COST_LOG2] = {4, 4.31},
                 [GPU_COST_RCP] = {6, 6.5},
                 [GPU_COST_RSQRT] = {8, 8.99},
                 [GPU_COST_SIN] = {5, 5},
                 [GPU_COST_SHUFFLE] = {2, 3.73},
                 [GPU_COST_QUAD_SHUFFLE] = {2, 2.76},
                 [GPU_COST_BALLOT] = {2, 4.27},
                 [GPU_COST_REDUCE] = {14.54, 27.55},
                 [GPU_COST_REDUCE_INT] = {16.64, 32.57},
                 [GPU_COST_PREFIX] = {11.57, 21.93},
                 [GPU_COST_QUAD_REDUCE] = {6.02, 13.53},
                 [GPU_COST_QUAD_REDUCE_INT] = {6.78, 16.2},
                 [GPU_COST_QUAD_PREFIX] = {2.03, 5.08},
                 [GPU_COST_MATRIX_F16] = {17, 34},
                 [GPU_COST_MATRIX_F32] = {18, 36}},
    };
}

static inline struct mem_params example_gpu_memory(unsigned cores)
{
    return (struct mem_params){
        .slc = {.kib = 8 * 1024, .ways = 16},
        .slc_latency_ns = 27,
        .slc_gbps = 136.6,
        .dram_latency_ns = 94,
        .dram_peak_gbps = 68.3,
        .dram_timing = example_dram(),
        .dram_policy = EXAMPLE_DRAM_POLICY,
        .dram_channels = 8,
        .dies = 1,
        .tlb_miss_ns = 9.3,
        .tlb_entries_l1 = 160,
        .tlb_entries_l2 = 3072,
        .cluster_count = 1,
        .cluster = {{.l2 = {.kib = 768, .ways = 16, .latency_cycles = 94.5, .bytes_per_cycle = 37.6 * cores},
                     .clock_ghz = 1.278,
                     .l2_outstanding = 64 * cores,
                     .fabric_gbps = 16.75 * cores,
                     .fabric_latency_ns = 151}},
    };
}

static inline struct mem_port_params example_gpu_port(void)
{
    return (struct mem_port_params){
        .l1 = {.kib = 8, .ways = 8, .latency_cycles = 52, .bytes_per_cycle = 64},
        .prefetch = {.train = 1},
        .outstanding = 64,
        .l2_bytes_per_cycle = 37.6,
        .gather_lines = 64,
        .gather_plain = true,
        .write_through = true,
    };
}

/* A launch of `groups` threadgroups of `simds` simdgroups; each runs the body `loops` times, then the instructions behind it
 * (`tail`). Lines of loads and stores: consecutive ones for all simdgroups together, `footprint` lines in all. */
struct example_launch {
    const char *text;
    unsigned cores, simds, groups, loops;
    uint64_t footprint;
    unsigned shared_lines; /* > 0: so many lines per access instead of one */
    unsigned pieces;       /* > 0: so many accesses after one another touch the same lines */
    bool both_halves;      /* loads want something of both halves of each line, however little */
    bool dense;            /* stores go on where the last one ended, not at the next line; no wider than a line */
    uint32_t register_halves, threadgroup_bytes;
    unsigned passes;             /* of threadgroup memory accesses; 0 = 1 */
    bool no_loop_end;            /* nothing follows the loops */
    struct gpu_profile *profile; /* gets what instructions cost; NULL = nobody asks */
    bool watched;                /* somebody reads the counters at every refill */
};

struct example_run {
    double cycles, instructions; /* of simdgroups */
    double stall[EXAMPLE_CORES_MAX][GPU_STALL_COUNT], total[EXAMPLE_CORES_MAX];
    struct activity activity, read; /* read: by who watches, at the end */
    unsigned looks;                 /* at the launch, by who may stop it */
    bool failed;
};

struct example_source {
    const struct example_launch *launch;
    const struct gpu_program *program;
    const struct gpu_timing *timing;
    const struct mem_system *system;
    unsigned groups_left, looks;
    uint64_t next_line, records, accesses;
    unsigned done[EXAMPLE_CORES_MAX][EXAMPLE_SLOTS][EXAMPLE_SIMDS];
    struct gpu_trace trace[EXAMPLE_CORES_MAX][EXAMPLE_SLOTS][EXAMPLE_SIMDS];
};

static inline struct gpu_trace *example_trace(void *context, unsigned core, unsigned slot, unsigned simd)
{
    return &((struct example_source *)context)->trace[core][slot][simd];
}

static inline unsigned example_start(void *context, unsigned core, unsigned slot, bool *ok)
{
    struct example_source *s = context;
    *ok = true;
    if (s->groups_left == 0)
        return 0;
    s->groups_left--;
    for (unsigned i = 0; i < s->launch->simds; i++) {
        gpu_trace_clear(&s->trace[core][slot][i]);
        s->done[core][slot][i] = 0;
    }
    return s->launch->simds;
}

static inline bool example_touches_lines(enum agx_class unit_class)
{
    return unit_class == AGX_CLASS_DEVICE_LOAD || unit_class == AGX_CLASS_DEVICE_STORE || unit_class == AGX_CLASS_DEVICE_ATOMIC;
}

/* Of a line, when an access of the whole simdgroup is spread over the lines: the first ones. */
static inline uint8_t example_bytes(const struct example_launch *launch, const struct agx_effect *effect)
{
    const unsigned lines = launch->shared_lines ? launch->shared_lines : 1;
    const unsigned bytes = 32u * effect->element_bytes * (effect->elements ? effect->elements : 1) / lines;
    return (uint8_t)(bytes < GPU_LINE_BYTES ? bytes : GPU_LINE_BYTES);
}

static inline struct gpu_trace_line example_line(struct example_source *s, uint8_t bytes)
{
    const struct example_launch *launch = s->launch;
    const uint64_t step = launch->dense ? bytes : GPU_LINE_BYTES,
                   room = GPU_LINE_BYTES * (launch->footprint ? launch->footprint : 1);
    return (struct gpu_trace_line){
        .address = (0x10000 * GPU_LINE_BYTES + s->next_line++ * step % room) & ((UINT64_C(1) << 56) - 1), .bytes = bytes};
}

static inline bool example_put(struct example_source *s, struct gpu_trace *trace, uint32_t i)
{
    const struct agx_effect *effect = gpu_program_effect(s->program, i);
    struct gpu_trace_record record = {.instruction = i, .active_lanes = 32};
    struct gpu_trace_line lines[32] = {{0, 0}};
    if (example_touches_lines(effect->unit_class)) {
        record.lines = (uint16_t)(s->launch->shared_lines ? s->launch->shared_lines : 1);
        if (s->launch->pieces && s->accesses++ % s->launch->pieces)
            s->next_line -= record.lines;
        for (unsigned k = 0; k < record.lines; k++) {
            lines[k] = example_line(s, example_bytes(s->launch, effect));
            if (effect->unit_class != AGX_CLASS_DEVICE_STORE) /* which halves of the line, instead of how many bytes */
                lines[k].bytes = s->launch->both_halves || lines[k].bytes > GPU_LINE_BYTES / 2 ? 3 : 1;
        }
    } else if (effect->unit_class >= AGX_CLASS_GROUP_LOAD && effect->unit_class <= AGX_CLASS_GROUP_ATOMIC) {
        record.passes = (uint8_t)(s->launch->passes ? s->launch->passes : 1);
    }
    s->records++;
    return gpu_trace_put(trace, record, lines);
}

static inline void example_read(const struct example_source *s, struct activity *into)
{
    memset(into, 0, sizeof *into);
    gpu_timing_activity(s->timing, into);
    mem_system_activity(s->system, into);
}

static inline enum gpu_look example_look(void *context)
{
    ((struct example_source *)context)->looks++;
    return GPU_LOOK_ON;
}

static inline bool example_refill(void *context, unsigned core, unsigned slot, unsigned simd, bool *ok)
{
    struct example_source *s = context;
    struct gpu_trace *trace = &s->trace[core][slot][simd];
    unsigned *done = &s->done[core][slot][simd];
    const uint32_t count = gpu_program_count(s->program); /* the last one is stop */
    struct activity unused;
    if (s->launch->watched)
        example_read(s, &unused);
    gpu_trace_clear(trace);
    *ok = true;
    if (*done > s->launch->loops)
        return false;
    for (unsigned turn = 0; turn < 4 && *ok && *done < s->launch->loops; turn++, ++*done)
        for (uint32_t i = 0; *ok && i + 1 < count; i++)
            *ok = example_put(s, trace, i);
    if (*ok && *done == s->launch->loops) {
        *ok = example_put(s, trace, count - 1);
        ++*done;
    }
    return *ok;
}

static inline struct gpu_program *example_assemble(const char *text)
{
    struct agx_assembly assembly;
    struct isa_error error = {0};
    struct unit_fault fault = {0};
    if (!agx_assemble(text, strlen(text), &assembly, &error)) {
        CHECK(false, "line %u: %s", (unsigned)error.line, error.text);
        return NULL;
    }
    struct gpu_program *program =
        gpu_program_create(assembly.code, assembly.code_bytes, (uint32_t)assembly.main_offset, GPU_G13, &fault);
    agx_assembly_free(&assembly);
    if (!program) /* benchmarks are no suites: no assertion unless something is wrong */
        CHECK(false, "%s", fault.text);
    return program;
}

static inline void example_play(struct gpu_timing *timing, struct example_source *source, struct example_run *run)
{
    const struct example_launch *launch = source->launch;
    const struct gpu_timing_launch timing_launch = {
        .program = source->program,
        .source = {source, example_start, example_refill, example_trace, example_look},
        .threads_per_group = 32 * launch->simds,
        .simdgroups_per_group = launch->simds,
        .register_halves = launch->register_halves ? launch->register_halves : 32,
        .threadgroup_memory_bytes = launch->threadgroup_bytes,
        .code_address = 1u << 20,
        .profile = launch->profile != NULL,
    };
    if (launch->profile)
        run->failed = !gpu_profile_create(launch->profile, gpu_program_count(source->program));
    run->failed = !gpu_timing_begin(timing, &timing_launch, 1000);
    while (gpu_timing_advance(timing, 1e15))
        ;
    run->failed |= gpu_timing_failed(timing);
    run->cycles = (gpu_timing_end_ns(timing) - 1000) * 1.278;
    run->instructions = (double)source->records;
    for (unsigned core = 0; core < launch->cores; core++)
        gpu_timing_stalls(timing, core, run->stall[core], &run->total[core]);
    gpu_timing_take_profile(timing, launch->profile);
    example_read(source, &run->read);
    run->looks = source->looks;
    gpu_timing_take_activity(timing, &run->activity);
}

static inline struct example_run example_run_with(const struct gpu_params *params, const struct example_launch *launch)
{
    struct example_run run = {.failed = true};
    const struct mem_params memory = example_gpu_memory(launch->cores);
    const struct mem_port_params port = example_gpu_port();
    struct mem_system *system = mem_system_create(&memory);
    struct mem_port *ports[EXAMPLE_CORES_MAX];
    for (unsigned i = 0; i < launch->cores; i++)
        ports[i] = mem_port_open(system, &port, NULL);
    struct gpu_timing *timing = gpu_timing_create(params, ports);
    struct example_source *source = calloc(1, sizeof *source);
    struct gpu_program *program = example_assemble(launch->text);
    if (system && timing && source && program) {
        source->launch = launch;
        source->program = program;
        source->timing = timing;
        source->system = system;
        source->groups_left = launch->groups;
        example_play(timing, source, &run);
        mem_system_take_activity(system, &run.activity);
    }
    for (unsigned c = 0; source && c < EXAMPLE_CORES_MAX; c++)
        for (unsigned s = 0; s < EXAMPLE_SLOTS; s++)
            for (unsigned i = 0; i < EXAMPLE_SIMDS; i++)
                gpu_trace_release(&source->trace[c][s][i]);
    free(source);
    gpu_timing_free(timing);
    gpu_program_free(program);
    mem_system_free(system);
    return run;
}

static inline struct example_run example_run(const struct example_launch *launch)
{
    const struct gpu_params params = example_gpu(launch->cores);
    return example_run_with(&params, launch);
}

#endif
