/* Arbitrary bytes as a GPU program in a small sandbox, on the plain path and on the fast one: no crash, no endless loop, and
 * equal registers. The first byte chooses the number of threads and the checks. With bit 3 clear, words that the executing side
 * refuses are left out, so that most inputs run.
 */
#include "units/gpu/gpu_core.h"
#include "units/gpu/gpu_program_internal.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 4096, GROUP_BYTES = 1024, LIMIT = 2000, CODE_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

struct outcome {
    bool good;
    struct unit_fault fault;
    struct gpu_lanes lanes;
};

static void run(const struct gpu_launch *launch, const struct gpu_checks *checks, uint8_t *block, struct outcome *out)
{
    struct gpu_group *group = gpu_group_create(launch, checks);
    require(group != NULL);
    memset(out, 0, sizeof *out);
    memset(block, 0x3c, BLOCK_BYTES);
    gpu_group_start(group, (const uint32_t[3]){0}, 0);
    out->good = gpu_group_finish(group, NULL, &out->fault);
    gpu_group_read_state(group, 0, &out->lanes);
    gpu_group_free(group);
}

/* Copies the words that can run and appends a row of stops. */
static size_t runnable(const uint8_t *data, size_t size, enum gpu_generation generation, uint8_t *code)
{
    size_t bytes = 0;
    for (size_t at = 0; at < size;) {
        struct agx_inst inst;
        const size_t length = agx_decode(data + at, size - at, &inst);
        const bool good = length && length <= size - at && !inst.invalid && !gpu_inst_unmodelled(&inst, generation);
        if (good)
            memcpy(code + bytes, data + at, length);
        bytes += good ? length : 0;
        at += good ? length : 2;
    }
    for (unsigned i = 0; i < 8; i++, bytes += 2)
        memcpy(code + bytes, "\x88", 2);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t code[CODE_MAX + 16];
    struct unit_fault fault;
    if (size < 3 || size > CODE_MAX)
        return 0;
    const enum gpu_generation generation = data[0] & 1 ? GPU_G14 : GPU_G13;
    size_t bytes = size - 1;
    if (data[0] & 8)
        memcpy(code, data + 1, bytes);
    else
        bytes = runnable(data + 1, size - 1, generation, code);
    struct gpu_program *program = gpu_program_create(code, bytes, 0, generation, &fault);
    if (!program)
        return 0;
    struct mem_space *space = mem_space_create(16 * MEM_PAGE_BYTES);
    require(space != NULL);
    const uint64_t at = mem_space_alloc(space, BLOCK_BYTES, 128);
    uint8_t *block = mem_at(space, at, BLOCK_BYTES, MEM_WRITE);
    uint16_t uniforms[AGX_UNIFORM_HALVES] = {0};
    for (unsigned i = 0; i < AGX_UNIFORM_HALVES; i += 4)
        memcpy(uniforms + i, &at, 8);
    const uint32_t threads = 20 + 44U * (data[0] >> 1 & 1);
    const struct gpu_launch launch = {.program = program,
                                      .uniforms = uniforms,
                                      .grid_threads = {threads, 1, 1},
                                      .space = space,
                                      .group_threads = {threads, 1, 1},
                                      .threadgroup_memory_bytes = GROUP_BYTES,
                                      .stack_bytes_per_thread = 64};
    const struct gpu_checks plain = {.reference = true, .instruction_limit = LIMIT}, fast = {.instruction_limit = LIMIT},
                            watched = {.sanitize = true, .poison = true, .instruction_limit = LIMIT};
    static struct outcome wanted, got;
    run(&launch, &plain, block, &wanted);
    run(&launch, &fast, block, &got);
    require(got.good == wanted.good && got.fault.pc == wanted.fault.pc && got.fault.kind == wanted.fault.kind);
    require(memcmp(&got.lanes, &wanted.lanes, sizeof got.lanes) == 0);
    if (data[0] & 4)
        run(&launch, &watched, block, &got);
    gpu_program_free(program);
    mem_space_free(space);
    return 0;
}
