/* Arbitrary tasks on the executing side of the Neural Engine: each runs or faults, writes nowhere but to the result's buffer, and
 * gives the same bytes for any number of threads and any host kernels.
 */
#include "units/ane/ane_exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS = 2, BUFFER = 16384, VISIBLE = 3000, L2_BYTES = 4096, BAR_FIRST = 4, BARS = 3, CANARY = 0xa5 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

struct source {
    const uint8_t *data;
    size_t size, at;
};

static uint32_t take(struct source *s, uint32_t below)
{
    uint32_t value = s->at < s->size ? s->data[s->at] : (uint32_t)(s->at * 37);
    if (below > 256)
        value |= (s->at + 1 < s->size ? s->data[s->at + 1] : 0u) << 8;
    s->at += below > 256 ? 2 : 1;
    return value % below;
}

static struct ane_operand take_operand(struct source *s)
{
    static const enum ane_place places[] = {ANE_PLACE_DRAM, ANE_PLACE_L2, ANE_PLACE_CHAIN, ANE_PLACE_NONE};
    const uint32_t small = take(s, 16), place = take(s, 32);
    struct ane_operand o = {.place = places[place > 4 ? place & 1 : place > 1 ? 2 : place], .format = ANE_F16};
    if (take(s, 8) == 0)
        o.format = (enum ane_format)take(s, 3);
    o.bar = (uint8_t)(BAR_FIRST + take(s, BARS));
    o.base = take(s, 8) ? 0 : take(s, 2000);
    o.row = take(s, small ? 80 : 4096);
    o.plane = take(s, small ? 200 : 8192);
    o.group = take(s, small ? 200 : 8192);
    o.interleave = (uint8_t)(take(s, 8) ? 1 : take(s, 5));
    o.broadcast_width = take(s, 6) == 0;
    return o;
}

static struct ane_task take_task(struct source *s)
{
    struct ane_task t = {.engine = (enum ane_engine)take(s, 2),
                         .post_scale = 1,
                         .pe_pre_scale = 1,
                         .pe_scale = 0.5f,
                         .pe_final_scale = 1,
                         .engines = 16,
                         .kernel_format = ANE_KERNEL_F16};
    const uint32_t odd = take(s, 16) ? 1 : 0;
    t.channels_in = odd + take(s, 8);
    t.height_in = odd + take(s, 8);
    t.width_in = odd + take(s, 40);
    t.channels_out = take(s, 4) ? t.channels_in : odd + take(s, 20);
    t.height_out = take(s, 4) ? t.height_in : odd + take(s, 8);
    t.width_out = take(s, 4) ? t.width_in : odd + take(s, 40);
    t.groups = take(s, 4) ? 1 : odd + take(s, 6);
    t.ne_op = (enum ane_ne_op)take(s, 3);
    t.kernel_width = 1 + take(s, 3);
    t.kernel_height = odd + take(s, 3);
    t.stride_x = odd + take(s, 3);
    t.stride_y = 1 + take(s, 2);
    t.pad_left = take(s, 3);
    t.pad_top = take(s, 3);
    t.step_x = 1 + take(s, 2);
    t.step_y = take(s, 8) ? 1 : odd + take(s, 2);
    t.depthwise = take(s, 8) == 0;
    t.bias = take(s, 8) == 0;
    t.nonlinear = take(s, 4) ? (enum ane_nonlinear)take(s, 2) : ANE_TABLE;
    t.input_relu = take(s, 4) == 0;
    t.pe_op = (enum ane_pe_op)take(s, 4);
    t.pe_reduce = take(s, 2) ? ANE_REDUCE_NONE : (enum ane_pe_reduce)take(s, 6);
    t.pe_reciprocal = take(s, 4) == 0;
    t.pixel_offset = (uint16_t)(take(s, 8) ? 0 : take(s, 9));
    for (unsigned i = 0; i < ANE_BANKS; i++)
        t.bank[i] = (struct ane_bank){true, 64 * i, take(s, 16) ? 900 : take(s, 900)};
    t.source = take_operand(s);
    t.second = take(s, 2) ? (struct ane_operand){.place = ANE_PLACE_NONE} : take_operand(s);
    t.result = take_operand(s);
    return t;
}

/* What the buffers hold before a run: numbers, and canaries behind the part that the program may write. */
static void fill_buffers(uint8_t *bytes)
{
    for (unsigned i = 0; i < BARS; i++) {
        uint8_t *const buffer = bytes + (size_t)i * BUFFER;
        for (unsigned j = 0; j < VISIBLE; j++)
            buffer[j] = (uint8_t)(j * 29 + (j >> 5) * i);
        memset(buffer + VISIBLE, CANARY, BUFFER - VISIBLE);
    }
}

/* Returns whether it ran, and the bytes of all buffers. */
static bool run(struct mem_space *space, const struct ane_program *program, const char *path, unsigned threads, uint8_t *bytes)
{
    uint8_t before[BARS * BUFFER];
    fill_buffers(before);
    struct ane_request request = {.program = program, .space = space};
    struct unit_fault fault;
    struct ane_core *core = ane_core_create(NULL, L2_BYTES);
    require(core != NULL && ane_core_use(core, path));
    for (unsigned i = 0; i < BARS; i++) {
        uint8_t *host = mem_at(space, (i + 1) * 2 * MEM_PAGE_BYTES, BUFFER, MEM_READ | MEM_WRITE);
        request.address[BAR_FIRST + i] = (i + 1) * 2 * MEM_PAGE_BYTES;
        request.bytes[BAR_FIRST + i] = VISIBLE;
        memcpy(host, before + (size_t)i * BUFFER, BUFFER);
    }
    const bool ok = ane_core_run(core, &request, threads, NULL, &fault);
    require(ok == (fault.kind == UNIT_FAULT_NONE) && (ok || fault.text[0]));
    for (unsigned i = 0; i < BARS; i++) {
        const uint8_t *host = mem_at(space, (i + 1) * 2 * MEM_PAGE_BYTES, BUFFER, MEM_READ);
        memcpy(bytes + (size_t)i * BUFFER, host, BUFFER);
        require(memcmp(host + VISIBLE, before + (size_t)i * BUFFER + VISIBLE, BUFFER - VISIBLE) == 0);
    }
    ane_core_free(core);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t first[BARS * BUFFER], again[BARS * BUFFER];
    uint8_t coefficients[2048];
    struct source s = {data, size, 0};
    struct ane_task task[TASKS];
    struct ane_program program = {
        .task = task, .count = TASKS, .bytes = coefficients, .size = sizeof coefficients, .const_bytes = sizeof coefficients};
    struct mem_space *space = mem_space_create((uint64_t)1 << 20);
    require(space != NULL);
    for (unsigned i = 0; i < TASKS; i++)
        task[i] = take_task(&s);
    for (size_t i = 0; i < sizeof coefficients; i++)
        coefficients[i] = size ? data[i % size] : 0;
    struct ane_table table;
    const char *name = ane_table_at(size % 20, NULL);
    if (name && size % 3 && ane_table_make(name, (double)NAN, &table))
        ane_table_write(&table, coefficients);
    if (task[0].result.place == ANE_PLACE_CHAIN) {
        task[1].source = task[0].result;
        task[1].channels_in = task[0].channels_out;
        task[1].height_in = task[0].height_out;
        task[1].width_in = task[0].width_out;
    }
    for (unsigned i = 0; i < BARS; i++)
        require(mem_space_map(space, (i + 1) * 2 * MEM_PAGE_BYTES, BUFFER, MEM_READ | MEM_WRITE));
    const bool ok = run(space, &program, NULL, 1, first);
    require(run(space, &program, "reference", size % 5 == 0 ? 3 : 1, again) == ok);
    require(!ok || memcmp(first, again, sizeof first) == 0);
    mem_space_free(space);
    return 0;
}
