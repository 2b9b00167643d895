/* Rows about the memory of the GPU: pointer chases and streams through one level, and threadgroup memory. The sources do not
 * state sizes; those used here lie well inside the level that the row names (M1: L1 8 KiB, L2 768 KiB, SLC 8 MiB). */
#include "isa/array_count.h"
#include "sim/prove/validate/program.h"

#include <stdlib.h>
#include <string.h>

#define KIB  UINT64_C(1024)
#define MIB  (1024 * KIB)
#define LINE 128

enum { CHASE_STEPS = 16, STREAM_LOADS = 4, PARTS = 8, L1_LOADS = 8 };

#define HEAD "mov_imm r0l, 0\nmov r1, 0\npush_exec 1\n"
#define ARGS ".arg data u64\n.arg turns u32\n.arg threads u32\n"
#define TAIL "iadd r1, r1, 1\nwhile_icmp r0l, ult, r1, turns, 1\njmp_exec_any top\npop_exec 1\nstop\n"

static bool take_text(struct validate_row *row, struct validate_program *program, char *text)
{
    program->gpu.text = text;
    return text || validate_refuse(row, "out of memory");
}

/* ---- latency ---- */

struct chase {
    const char *what;
    uint64_t bytes;      /* a power of two */
    uint32_t warm_turns; /* turns of CHASE_STEPS that run before */
    bool once;           /* touch every line once, so that nothing is found in a cache */
};

static const struct chase chases[] = {
    {"L1 latency", 4 * KIB, 8, false},
    {"L2 latency", 256 * KIB, 2 * 256 * 8 / CHASE_STEPS, false},
    {"SLC latency", 4 * MIB, 4 * 1024 * 8 / CHASE_STEPS, false},
    {"DRAM latency", 64 * MIB, 16, true},
};

static bool plan_chase(struct validate_row *row, struct validate_program *program, const struct chase *chase)
{
    const uint64_t lines = chase->bytes / LINE;
    const unsigned bits = 63 - (unsigned)__builtin_clzll(lines);
    struct validate_gpu *const gpu = &program->gpu;
    gpu->cores = 1;
    gpu->groups = 1;
    gpu->threads_per_group = 32;
    gpu->turns[0] = chase->warm_turns;
    gpu->turns[1] = chase->warm_turns + 128;
    gpu->data_bytes = chase->bytes;
    program->patches = chase->once ? (gpu->turns[1] + 1) * CHASE_STEPS : lines;
    program->patch = malloc(program->patches * sizeof *program->patch);
    if (!program->patch)
        return validate_refuse(row, "out of memory");
    /* All lanes follow the same chain of word indices. */
    for (uint64_t i = 0; i < program->patches; i++)
        program->patch[i] = (struct validate_patch){validate_scatter(i, bits) * LINE,
                                                    validate_scatter((i + 1) % program->patches, bits) * (LINE / 4)};
    program->measure = VALIDATE_NS_PER_WORK;
    program->work = 128.0 * CHASE_STEPS;
    return take_text(
        row, program,
        strdup(ARGS "mov r4, 0\n" HEAD "top:\n.repeat 16\ndevice_load 0, i32, x, r4, data, r4, unsigned\nwait 0\n.end\n" TAIL));
}

/* ---- bandwidth ---- */

static void place_everywhere(struct validate_program *program)
{
    program->gpu.groups = 6;
    program->gpu.threads_per_group = 256;
    program->measure = VALIDATE_RATE;
}

/* Every simdgroup reads the same 4 KiB in the L1 of its core. */
static bool plan_l1(struct validate_row *row, struct validate_program *program)
{
    place_everywhere(program);
    program->gpu.cores = 1;
    program->gpu.stands_for_all = true;
    program->gpu.data_bytes = 4 * KIB;
    program->gpu.turns[0] = 8;
    program->gpu.turns[1] = 40;
    program->work = 32.0 * 6 * 256 * 16 * L1_LOADS;
    return take_text(
        row, program,
        strdup(ARGS "get_sr r4, sr52\nshl r4, r4, 2\n.repeat 8\nmov r{16+i}, {128*i}\niadd r{16+i}, r{16+i}, r4\n.end\n" HEAD
                    "top:\n.repeat 8\ndevice_load {i%2}, i32, xyzw, r8_r9_r10_r11, data, r{16+i}, unsigned\n.end\n"
                    "wait 0\nwait 1\n" TAIL));
}

struct stream {
    const char *what;
    uint64_t bytes; /* a power of two */
    uint32_t turns[2];
};

static const struct stream streams[] = {
    {"L2 bandwidth", 512 * KIB, {4, 12}},
    {"SLC bandwidth", 4 * MIB, {8, 24}},
    {"DRAM bandwidth", 128 * MIB, {4, 20}},
    {"global memory read (Metal float2, best)", 256 * MIB, {4, 20}},
};

/* Every eighth group has a part of the buffer, where its threads begin side by side, 16 bytes each, and advance together. So
 * groups that come to the same core, of eight, do not read the same line soon after one another: it would be served once for
 * both. */
static bool plan_stream(struct validate_row *row, struct validate_program *program, const struct stream *stream)
{
    char text[800];
    place_everywhere(program);
    program->gpu.data_bytes = stream->bytes;
    memcpy(program->gpu.turns, stream->turns, sizeof stream->turns);
    program->gpu.counts_all_threads = true;
    program->work = (stream->turns[1] - stream->turns[0]) * 16.0 * STREAM_LOADS;
    snprintf(
        text, sizeof text,
        ARGS
        "get_sr r4, thread_position_in_grid.x\nshr r5, r4, 8\nand r5, r5, 7\nmov r6, %llu\nimadd r5, r5, r6, 0\nshr r6, r4, 11\n"
        "and r4, r4, 255\nshl r6, r6, 8\niadd r4, r4, r6\nshl r4, r4, 2\niadd r4, r4, r5\n"
        "mov r2, threads\nshr r2, r2, 1\nmov r3, %llu\nand r4, r4, r3\n" HEAD
        "top:\n.repeat %d\ndevice_load {i%%2}, i32, xyzw, r{8+4*i}_r{9+4*i}_r{10+4*i}_r{11+4*i}, data, r4, unsigned\n"
        "iadd r4, r4, r2\nand r4, r4, r3\n.end\nwait 0\nwait 1\n" TAIL,
        (unsigned long long)(stream->bytes / 4 / PARTS), (unsigned long long)(stream->bytes / 4 - 1), STREAM_LOADS);
    return take_text(row, program, strdup(text));
}

static bool plan_threadgroup(struct validate_row *row, struct validate_program *program, bool wide)
{
    place_everywhere(program);
    program->gpu.cores = 1;
    program->gpu.stands_for_all = true;
    program->gpu.data_bytes = LINE;
    program->gpu.turns[0] = 4;
    program->gpu.turns[1] = 20;
    program->work = 16.0 * 6 * 256 * 8 * (wide ? 16 : 4);
    return take_text(row, program,
                     strdup(wide ? ARGS ".threadgroup_memory 4096\nget_sr r4, thread_index_in_threadgroup\nshl r4, r4, 4\n" HEAD
                                        "top:\n.repeat 8\nthreadgroup_load i32, xyzw, r8_r9_r10_r11, r4l, 0\n.end\n" TAIL
                                 : ARGS ".threadgroup_memory 4096\nget_sr r4, thread_index_in_threadgroup\nshl r4, r4, 2\n" HEAD
                                        "top:\n.repeat 8\nthreadgroup_load i32, x, r{8+i}, r4l, 0\n.end\n" TAIL));
}

bool validate_plan_gpu_memory(struct validate_row *row, struct validate_program *program)
{
    for (size_t i = 0; i < ARRAY_COUNT(chases); i++)
        if (strcmp(row->what, chases[i].what) == 0)
            return plan_chase(row, program, &chases[i]);
    for (size_t i = 0; i < ARRAY_COUNT(streams); i++)
        if (strcmp(row->what, streams[i].what) == 0)
            return plan_stream(row, program, &streams[i]);
    if (strcmp(row->what, "L1 bandwidth") == 0)
        return plan_l1(row, program);
    if (strcmp(row->what, "threadgroup memory read float (Metal, best)") == 0)
        return plan_threadgroup(row, program, false);
    if (strcmp(row->what, "threadgroup memory read float8 (Metal)") == 0)
        return plan_threadgroup(row, program, true);
    return validate_refuse(row, strstr(row->what, "texture") || strstr(row->what, "bilinear")
                                    ? "textures are not modelled"
                                    : "copies between CPU and GPU memory are not programs of the GPU");
}
