/* What goes wrong in a program: faults with their place and words, limits, barriers, the findings of the checks; and the records
 * that the timing side gets. */
#include "isa/array_count.h"
#include "tests/units/gpu_exec_example.h"

static struct gpu_lanes out;
static struct unit_fault fault;
static const struct gpu_finding *findings;
static struct gpu_finding kept[8];
static size_t finding_count;

static void keep_findings(const struct gpu_group *group)
{
    finding_count = gpu_group_findings(group, &findings);
    for (size_t i = 0; i < finding_count && i < 8; i++)
        kept[i] = findings[i];
}

static bool found(enum gpu_finding_kind kind, const char *words)
{
    for (size_t i = 0; i < finding_count && i < 8; i++)
        if (kept[i].kind == kind && strstr(kept[i].text, words))
            return true;
    return false;
}

static enum gpu_step run(const struct gpu_example *e)
{
    memset(&fault, 0, sizeof fault);
    return gpu_example_run(e, &out, &fault, keep_findings);
}

/* --- faults --- */

static void test_unmapped(void)
{
    struct mem_space *space = mem_space_create(64 * MEM_PAGE_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(space);
    const uint64_t block = mem_space_alloc(space, MEM_PAGE_BYTES, 128);
    uint16_t uniforms[AGX_UNIFORM_HALVES] = {(uint16_t)block, (uint16_t)(block >> 16)};
    for (unsigned p = 0; p < GPU_PATHS; p++) {
        /* Lane 16 is the first behind the page. */
        const struct gpu_example e = {.text = "get_sr r1, sr52\nmov_imm r2, 4080, 0b0\niadd r1, r1, r2\n"
                                              "device_load 0, i32, x, r3, u0_u1, r1, unsigned\nwait 0\nstop",
                                      .uniforms = uniforms,
                                      .space = space,
                                      .path = gpu_paths[p]};
        if (run(&e) == GPU_STEP_DONE)
            continue; /* not on this host */
        CU_ASSERT_EQUAL(fault.kind, UNIT_FAULT_UNMAPPED);
        CU_ASSERT_EQUAL(fault.address, block + MEM_PAGE_BYTES);
        CHECK(strstr(fault.text, "device_load") && strstr(fault.text, "lane 16"), "%s", fault.text);
    }
    CU_ASSERT_EQUAL(fault.kind, UNIT_FAULT_UNMAPPED); /* the portable path is always there */
    CU_ASSERT_TRUE(mem_space_protect(space, block, MEM_PAGE_BYTES, MEM_READ));
    const struct gpu_example store = {.text = "get_sr r1, sr52\ndevice_store 0, i32, x, r1, u0_u1, r1, unsigned, 0\nstop",
                                      .uniforms = uniforms,
                                      .space = space};
    CU_ASSERT_EQUAL(run(&store), GPU_STEP_FAULT);
    CU_ASSERT_EQUAL(fault.kind, UNIT_FAULT_PERMISSION);
    mem_space_free(space);
}

static void test_other_faults(void)
{
    const struct gpu_example trap = {.text = "trap\n"};
    CU_ASSERT_EQUAL(run(&trap), GPU_STEP_FAULT);
    CU_ASSERT_EQUAL(fault.kind, UNIT_FAULT_TRAP);
    const struct gpu_example endless = {.text = "mov_imm r0l, 0\ntop: jmp_exec_any top\nstop",
                                        .checks = {.instruction_limit = 1000}};
    CU_ASSERT_EQUAL(run(&endless), GPU_STEP_FAULT);
    CU_ASSERT_EQUAL(fault.kind, UNIT_FAULT_TRAP);
    CHECK(strstr(fault.text, "1000") != NULL, "%s", fault.text);
    const struct gpu_example high = {.text = "mov_imm r1, 3, 0b0\niadd r20, r1, 1\nstop", .register_halves = 16};
    CU_ASSERT_EQUAL(run(&high), GPU_STEP_FAULT);
    CU_ASSERT_EQUAL(fault.kind, UNIT_FAULT_UNDEFINED);
    CHECK(strstr(fault.text, "iadd r20") != NULL, "%s", fault.text);
    const struct gpu_example group = {.text = "mov_imm r1, 510, 0b0\nthreadgroup_load i32, x, r2, r1l, 0\nstop",
                                      .threadgroup_memory = 512};
    CU_ASSERT_EQUAL(run(&group), GPU_STEP_FAULT);
    CU_ASSERT_EQUAL(fault.kind, UNIT_FAULT_UNMAPPED);
    const struct gpu_example uniform = {.text = "uniform_store 2, i16, x, 0, r1l, 8\nstop"};
    CU_ASSERT_EQUAL(run(&uniform), GPU_STEP_FAULT);
    CU_ASSERT_EQUAL(fault.kind, UNIT_FAULT_UNMODELLED);
}

static void test_programs_refused(void)
{
    static const uint8_t runs_out[] = {0x62, 0, 0, 0},
                         unknown[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    CU_ASSERT_PTR_NULL(gpu_program_create(runs_out, sizeof runs_out, 0, GPU_G13, &fault));
    CU_ASSERT_EQUAL(fault.kind, UNIT_FAULT_UNDEFINED);
    CU_ASSERT_EQUAL(fault.pc, 0);
    CU_ASSERT_PTR_NULL(gpu_program_create(unknown, sizeof unknown, 0, GPU_G13, &fault));
    CU_ASSERT_EQUAL(fault.kind, UNIT_FAULT_UNDEFINED);
    const uint8_t graphics[] = {0x62, 0, 0, 0, 0x48, 0x0c, 0, 0, 0x88, 0};
    CU_ASSERT_PTR_NULL(gpu_program_create(graphics, sizeof graphics, 0, GPU_G13, &fault));
    CU_ASSERT_EQUAL(fault.kind, UNIT_FAULT_UNMODELLED);
    CU_ASSERT_EQUAL(fault.pc, 4);
    CHECK(strstr(fault.text, "wait_pix") != NULL, "%s", fault.text);
    /* A jump into the middle of an instruction: decoded from there. mov_imm's literal holds a stop. */
    const uint8_t overlap[] = {0x00, 0xc0, 0x0a, 0, 0, 0, 0x62, 0x15, 0, 0, 0x88, 0x00, 0x88, 0x00};
    struct gpu_program *program = gpu_program_create(overlap, sizeof overlap, 0, GPU_G13, &fault);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    CU_ASSERT_EQUAL(gpu_program_count(program), 4); /* jump, mov_imm, the stop inside, the stop behind */
    gpu_program_free(program);
}

static void test_order_free(void)
{
    static const struct {
        const char *text;
        bool wanted;
    } cases[] = {
        {"atomic add, 0, None, u0_u1, r1, signed, r2, 1, 0, 1, 4, 2\nstop", true},
        {"atomic add, 0, r3, u0_u1, r1, signed, r2, 1, 0, 1, 4, 2\nstop", false},
        {"atomic xchg, 0, None, u0_u1, r1, signed, r2, 1, 0, 1, 4, 2\nstop", false},
        {"atomic umax, 0, None, u0_u1, r1, signed, r2, 1, 0, 1, 4, 2\natomic add, 0, None, u0_u1, r1, signed, r2, 1, 0, 1, 4, "
         "2\nstop",
         false},
        {"stop", true},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct gpu_program *program = gpu_example_program(cases[i].text, GPU_G13, &fault);
        CU_ASSERT_PTR_NOT_NULL_FATAL(program);
        CHECK(gpu_program_order_free(program) == cases[i].wanted, "%s", cases[i].text);
        gpu_program_free(program);
    }
}

/* --- findings --- */

static void test_races(void)
{
    /* Simdgroup 1 reads what simdgroup 0 writes; then the same with a barrier between. */
    const struct gpu_example race = {
        .text = "get_sr r1, sr51\nbfi r1, 0, r1, 2\nmov_imm r2, 0, 0b0\nthreadgroup_store i32, x, r1, r1l, 0\n"
                "threadgroup_load i32, x, r3, r2l, 0\nstop",
        .threads = 64,
        .threadgroup_memory = 256,
        .checks = {.sanitize = true}};
    CU_ASSERT_EQUAL(run(&race), GPU_STEP_DONE);
    CHECK(found(GPU_FINDING_RACE, "threadgroup_load"), "%zu findings", finding_count);
    const struct gpu_example ordered = {
        .text = "get_sr r1, sr51\nbfi r1, 0, r1, 2\nmov_imm r2, 0, 0b0\nthreadgroup_store i32, x, r1, r1l, 0\n"
                "threadgroup_barrier\nthreadgroup_load i32, x, r3, r2l, 0\nstop",
        .threads = 64,
        .threadgroup_memory = 256,
        .checks = {.sanitize = true}};
    CU_ASSERT_EQUAL(run(&ordered), GPU_STEP_DONE);
    CHECK(finding_count == 0, "%s", finding_count ? kept[0].text : "");
}

static void test_barriers(void)
{
    const struct gpu_example part = {.text = "mov_imm r0l, 0\nget_sr r1, sr51\nif_icmp r0l, ult, r1, 5, 1\nthreadgroup_barrier\n"
                                             "pop_exec r0l, 1\nstop",
                                     .checks = {.sanitize = true}};
    CU_ASSERT_EQUAL(run(&part), GPU_STEP_DONE);
    CHECK(found(GPU_FINDING_BARRIER, "0000001f"), "%zu findings", finding_count);
    /* Simdgroup 1 ends while simdgroup 0 waits: the barrier opens, and that is told. */
    const struct gpu_example early = {.text = "mov_imm r0l, 0\nget_sr r1, sr53\nif_icmp r0l, ueq, r1, 0, 1\njmp_exec_none out\n"
                                              "threadgroup_barrier\nout: stop",
                                      .threads = 64,
                                      .checks = {.sanitize = true}};
    CU_ASSERT_EQUAL(run(&early), GPU_STEP_DONE);
    CHECK(found(GPU_FINDING_BARRIER, "ended"), "%zu findings", finding_count);
}

static void test_unwaited_and_bounds(void)
{
    struct mem_space *space = mem_space_create(64 * MEM_PAGE_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(space);
    const uint64_t block = mem_space_alloc(space, 100, 128);
    const uint16_t uniforms[AGX_UNIFORM_HALVES] = {(uint16_t)block, (uint16_t)(block >> 16)};
    const struct gpu_buffer buffer = {"x", block, 100};
    struct gpu_example e = {
        .text = "get_sr r1, sr52\ndevice_load 0, i32, x, r2, u0_u1, r1, unsigned\niadd r3, r2, 1\nwait 0\niadd r4, r5, 1\nstop",
        .uniforms = uniforms,
        .space = space,
        .checks = {.sanitize = true},
        .buffer = &buffer,
        .buffer_count = 1};
    CU_ASSERT_EQUAL(run(&e), GPU_STEP_DONE); /* the page is there, the buffer is not */
    CHECK(found(GPU_FINDING_WAIT, "r2l"), "%zu findings", finding_count);
    CHECK(found(GPU_FINDING_BOUNDS, "byte 100 of buffer x"), "%zu findings", finding_count);
    CHECK(found(GPU_FINDING_UNINITIALISED, "r5l"), "%zu findings", finding_count);
    CU_ASSERT_EQUAL(finding_count, 3);
    mem_space_free(space);
}

/* --- records --- */

static void test_trace(void)
{
    struct mem_space *space = mem_space_create(64 * MEM_PAGE_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(space);
    const uint64_t block = mem_space_alloc(space, 8192, 128);
    const uint16_t uniforms[AGX_UNIFORM_HALVES] = {(uint16_t)block, (uint16_t)(block >> 16)};
    struct gpu_trace trace;
    gpu_trace_init(&trace);
    /* Side by side: one line. 32 words apart: a line each, and a turn each of the 32 banks. */
    const struct gpu_example e = {
        .text = "get_sr r1, sr52\ndevice_load 0, i32, x, r2, u0_u1, r1, unsigned\nbfi r3, 0, r1, 5\n"
                "device_load 0, i32, x, r4, u0_u1, r3, unsigned\nbfi r5, 0, r1, 7\n"
                "threadgroup_load i32, x, r6, r5l, 0\nbfi r5, 0, r1, 2\nthreadgroup_load i32, x, r6, r5l, 0\nwait 0\nstop",
        .uniforms = uniforms,
        .space = space,
        .threadgroup_memory = 4096,
        .traces = &trace};
    CU_ASSERT_EQUAL(run(&e), GPU_STEP_DONE);
    CU_ASSERT_EQUAL_FATAL(trace.written, 10);
    CU_ASSERT_EQUAL(trace.record[1].lines, 1);
    CU_ASSERT_EQUAL(trace.record[3].lines, 32);
    CU_ASSERT_EQUAL(trace.record[5].passes, 32);
    CU_ASSERT_EQUAL(trace.record[7].passes, 1);
    CU_ASSERT_EQUAL(trace.record[9].active_lanes, 32);
    CU_ASSERT_EQUAL_FATAL(trace.lines_written, 33);
    CU_ASSERT_EQUAL(trace.line[0].address, block);
    CU_ASSERT_EQUAL(trace.line[32].address, block + 31 * GPU_LINE_BYTES);
    trace.read = 6;
    trace.lines_read = 20;
    gpu_trace_compact(&trace);
    CU_ASSERT_EQUAL(trace.written, 4);
    CU_ASSERT_EQUAL(trace.line[12].address, block + 31 * GPU_LINE_BYTES);
    gpu_trace_release(&trace);
    mem_space_free(space);
}

/* Threadgroup memory: distinct words of the busiest of 32 banks, counted plainly. */
static unsigned plain_turns(const uint32_t address[GPU_LANES], unsigned components)
{
    unsigned most = components;
    for (unsigned bank = 0; bank < 32; bank++) {
        uint32_t seen[4 * GPU_LANES];
        unsigned count = 0;
        for (unsigned i = 0; i < components * GPU_LANES; i++) {
            const uint32_t word = address[i / components] / 4 + i % components;
            unsigned k = 0;
            while (k < count && seen[k] != word)
                k++;
            if (word % 32 == bank && k == count)
                seen[count++] = word;
        }
        most = count > most ? count : most;
    }
    return most;
}

/* Two simdgroups: where addresses move by a constant from one to the other, and where they do not. */
static void test_turns(void)
{
    static const struct {
        const char *name, *load;
        unsigned components;
    } loads[] = {{"x", "threadgroup_load i32, x, r8, r3l, 0", 1},
                 {"xyzw", "threadgroup_load i32, xyzw, r8_r9_r10_r11, r3l, 0", 4}};
    for (unsigned i = 0; i < 2 * 40; i++) {
        const unsigned factor = 4 * (i / 2), square = i % 3 == 0 ? 4 : 0;
        struct gpu_trace trace[2];
        char text[256];
        for (unsigned k = 0; k < 2; k++)
            gpu_trace_init(&trace[k]);
        snprintf(text, sizeof text,
                 "get_sr r1, sr51\nimadd r2, r1, r1, 0\nmov_imm r4, %u, 0b0\nmov_imm r5, %u, 0b0\n"
                 "imadd r3, r1, r4, 0\nimadd r3, r2, r5, r3\n%s\nstop",
                 factor, square, loads[i % 2].load);
        const struct gpu_example e = {.text = text, .threads = 64, .threadgroup_memory = 32768, .traces = trace};
        CU_ASSERT_EQUAL(run(&e), GPU_STEP_DONE);
        for (unsigned k = 0; k < 2; k++) {
            uint32_t address[GPU_LANES];
            for (unsigned lane = 0; lane < GPU_LANES; lane++)
                address[lane] = (32 * k + lane) * factor + (32 * k + lane) * (32 * k + lane) * square;
            const unsigned wanted = plain_turns(address, loads[i % 2].components);
            CHECK(trace[k].written == 8 && trace[k].record[6].passes == wanted, "%s, %u a lane, square %u: %u turns, not %u",
                  loads[i % 2].name, factor, square, trace[k].record[6].passes, wanted);
            gpu_trace_release(&trace[k]);
        }
    }
}

/* Stores say which bytes of their lines they write. */
static void test_store_trace(void)
{
    static const struct {
        const char *text;
        unsigned entries;
        struct {
            unsigned offset, bytes;
        } entry[3]; /* the first ones */
    } cases[] = {
        {"device_store 0, i32, x, r1, u0_u1, r1, unsigned, 0\nstop", 1, {{0, 128}}},
        {"device_store 0, i16, x, r1l, u0_u1, r1, unsigned, 0\nstop", 1, {{0, 64}}},
        {"iadd r1, r1, 1\ndevice_store 0, i32, x, r1, u0_u1, r1, unsigned, 0\nstop", 2, {{4, 124}, {128, 4}}},
        {"bfi r2, 0, r1, 2\ndevice_store 0, i32, xyzw, r4_r5_r6_r7, u0_u1, r2, unsigned, 0\nstop",
         4,
         {{0, 128}, {128, 128}, {256, 128}}},
        {"bfi r2, 0, r1, 1\ndevice_store 0, i32, x, r1, u0_u1, r2, unsigned, 0\nstop", 32, {{0, 4}, {8, 4}, {16, 4}}},
        {"bfi r2, 0, r1, 2\ndevice_store 0, i32, xz, r4_r5, u0_u1, r2, unsigned, 0\nstop", 64, {{0, 4}, {8, 4}, {16, 4}}},
        {"mov_imm r2, 5, 0b0\ndevice_store 0, i32, x, r1, u0_u1, r2, unsigned, 0\nstop", 1, {{20, 4}}},
    };
    struct mem_space *space = mem_space_create(64 * MEM_PAGE_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(space);
    const uint64_t block = mem_space_alloc(space, 8192, 128);
    const uint16_t uniforms[AGX_UNIFORM_HALVES] = {(uint16_t)block, (uint16_t)(block >> 16)};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct gpu_trace trace;
        char text[256];
        gpu_trace_init(&trace);
        snprintf(text, sizeof text, "get_sr r1, sr52\n%s", cases[i].text);
        const struct gpu_example e = {.text = text, .uniforms = uniforms, .space = space, .traces = &trace};
        CU_ASSERT_EQUAL(run(&e), GPU_STEP_DONE);
        CHECK(trace.lines_written == cases[i].entries, "%s: %zu entries", text, trace.lines_written);
        for (unsigned k = 0; k < 3 && k < trace.lines_written; k++)
            CHECK(cases[i].entry[k].bytes == 0 || (trace.line[k].address == block + cases[i].entry[k].offset &&
                                                   trace.line[k].bytes == cases[i].entry[k].bytes),
                  "%s: entry %u is %u bytes at %llu", text, k, trace.line[k].bytes,
                  (unsigned long long)(trace.line[k].address - block));
        gpu_trace_release(&trace);
    }
    mem_space_free(space);
}

static const struct suite_test tests[] = {{"unmapped and protected memory", test_unmapped},
                                          {"other faults", test_other_faults},
                                          {"programs refused", test_programs_refused},
                                          {"order-free programs", test_order_free},
                                          {"races in threadgroup memory", test_races},
                                          {"barriers not reached together", test_barriers},
                                          {"loads before their wait, buffers, uninitialised registers", test_unwaited_and_bounds},
                                          {"records for timing", test_trace},
                                          {"records of stores", test_store_trace},
                                          {"turns of threadgroup memory", test_turns}};
SUITE_MAIN("gpu faults and checks", tests)
