/* What a timed pass executes: only the instructions that decide on the way and on addresses. Timing must see the same
 * instructions, lanes and lines as when everything is executed, in random programs with nested masks and loops, too, whose
 * registers serve as data here and as addresses there. */
#include "isa/array_count.h"
#include "tests/units/gpu_exec_example.h"
#include "tests/units/gpu_steer_example.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- what steers ---- */

static double steering_share(const char *text, bool *by_memory)
{
    struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
    struct gpu_program *program = gpu_example_program(text, GPU_G13, &fault);
    double count = 0;
    if (!program)
        return -1;
    for (uint32_t i = 0; i < gpu_program_count(program); i++)
        count += gpu_program_steers(program, i);
    const double share = count / gpu_program_count(program);
    *by_memory = gpu_program_steered_by_memory(program);
    gpu_program_free(program);
    return share;
}

static void test_choice(void)
{
    bool by_memory;
    /* Of a copy through arithmetic, only the index and the end steer. */
    const double copy =
        steering_share("get_sr r1, sr80\ndevice_load 0, i32, x, r2, u0_u1, r1, unsigned\nwait 0\nfadd32 r2, r2, r2\n"
                       "fmul32 r2, r2, r2\ndevice_store 0, i32, x, r2, u2_u3, r1, unsigned, 0\nstop\n",
                       &by_memory);
    CHECK(copy > 0 && copy < 0.5 && !by_memory, "%g", copy);
    /* What is loaded as an index steers, and so does what was stored where it may come from. */
    const double gather = steering_share("get_sr r1, sr80\ndevice_load 0, i32, x, r2, u0_u1, r1, unsigned\nwait 0\n"
                                         "device_load 0, i32, x, r3, u0_u1, r2, unsigned\nwait 0\n"
                                         "device_store 0, i32, x, r3, u2_u3, r1, unsigned, 0\nstop\n",
                                         &by_memory);
    CHECK(gather > 0.6 && by_memory, "%g", gather);
    /* The register of an address is a number in between. */
    steering_share("get_sr r1, sr80\nfadd32 r2, r1, r1\nmov r3, r2\nmov_imm r2, 4, 0b0\n"
                   "device_store 0, i32, x, r3, u2_u3, r2, unsigned, 0\nstop\n",
                   &by_memory);
    CU_ASSERT_FALSE(by_memory);
    /* Lanes that left two levels have all come back when a register is written anew: what was loaded into it before is no index.
     */
    steering_share("mov_imm r0l, 0\nget_sr r1, sr80\ndevice_load 0, i32, x, r2, u0_u1, r1, unsigned\nwait 0\n"
                   "device_store 0, i32, x, r2, u2_u3, r1, unsigned, 0\npush_exec r0l, 1\nif_icmp r0l, ult, r1, 9, 1\n"
                   "icmpsel ult, r0l, r1, 5, 2, 0\npop_exec r0l, 0\npop_exec r0l, 1\npop_exec r0l, 1\nmov_imm r2, 4, 0b0\n"
                   "device_store 0, i32, x, r1, u2_u3, r2, unsigned, 0\nstop\n",
                   &by_memory);
    CU_ASSERT_FALSE(by_memory);
    /* Where some may be away, what they held is. */
    steering_share("mov_imm r0l, 0\nget_sr r1, sr80\ndevice_load 0, i32, x, r2, u0_u1, r1, unsigned\nwait 0\n"
                   "push_exec r0l, 1\nif_icmp r0l, ult, r1, 9, 1\nicmpsel ult, r0l, r1, 5, 2, 0\npop_exec r0l, 0\n"
                   "pop_exec r0l, 1\nmov_imm r2, 4, 0b0\npop_exec r0l, 1\n"
                   "device_store 0, i32, x, r1, u2_u3, r2, unsigned, 0\nstop\n",
                   &by_memory);
    CU_ASSERT_TRUE(by_memory);
    /* Those that load it write it again before any of them leaves: nobody has it further out. */
    steering_share("mov_imm r0l, 0\nget_sr r1, sr80\nmov_imm r2, 5, 0b0\nif_icmp r0l, ult, r1, 9, 1\n"
                   "device_load 0, i32, x, r2, u0_u1, r1, unsigned\nwait 0\nfadd32 r3, r2, r2\nmov_imm r2, 4, 0b0\n"
                   "pop_exec r0l, 1\ndevice_store 0, i32, x, r3, u2_u3, r2, unsigned, 0\nstop\n",
                   &by_memory);
    CU_ASSERT_FALSE(by_memory);
    /* Only some of them do. */
    steering_share("mov_imm r0l, 0\nget_sr r1, sr80\nmov_imm r2, 5, 0b0\nif_icmp r0l, ult, r1, 9, 1\n"
                   "device_load 0, i32, x, r2, u0_u1, r1, unsigned\nwait 0\nif_icmp r0l, ult, r1, 5, 1\nmov_imm r2, 4, 0b0\n"
                   "pop_exec r0l, 1\npop_exec r0l, 1\ndevice_store 0, i32, x, r1, u2_u3, r2, unsigned, 0\nstop\n",
                   &by_memory);
    CU_ASSERT_TRUE(by_memory);
}

/* ---- faults ---- */

/* An access that nothing depends on is a fault all the same, also where its addresses go once around. */
static void test_faults(void)
{
    static const char *const texts[] = {
        "mov_imm r4, 4294967230, 0b0\nstack_load r5, i32, x, r4\nstop\n", /* 64 - 66 */
        "get_sr r3, sr52\nmov_imm r4, 4294967230, 0b0\nimadd r4, r3, 2, r4\nstack_store i32, x, r6, r4\nstop\n",
        "get_sr r3, sr52\nshl r4, r3, 2\nthreadgroup_load i32, xy, r6_r7, r4l, -1\nstop\n",
        "get_sr r3, sr52\nshl r4, r3, 2\nthreadgroup_store i32, xy, r6_r7, r4l, -1\nstop\n",
        "mov_imm r3, 500, 0b0\nthreadgroup_load i32, xyzw, r6_r7_r8_r9, r3l, 0\nstop\n"};
    for (unsigned i = 0; i < ARRAY_COUNT(texts); i++) {
        struct gpu_example e = {.text = texts[i], .threadgroup_memory = 512, .stack_bytes = 64};
        struct unit_fault all = {.kind = UNIT_FAULT_NONE}, some = all;
        static struct gpu_lanes out;
        static struct gpu_trace traces[GPU_SIMDGROUPS_MAX];
        gpu_trace_init(&traces[0]);
        e.traces = traces;
        const enum gpu_step full = gpu_example_run(&e, &out, &all, NULL);
        e.checks.steer = true;
        const enum gpu_step steered = gpu_example_run(&e, &out, &some, NULL);
        CHECK(full == GPU_STEP_FAULT && steered == full, "%s%s%s", texts[i], all.text, some.text);
        CHECK(some.kind == all.kind && some.pc == all.pc && strcmp(some.text, all.text) == 0, "%s%s; %s", texts[i], all.text,
              some.text);
        gpu_trace_release(&traces[0]);
    }
}

/* ---- pieces ---- */

/* A guarded load whose inactive lanes have wild addresses, then one of all lanes. What the first one left in the record must not
 * be taken for the addresses of the second, however few instructions are asked for at a time. */
static void test_pieces(void)
{
    static const char text[] = "mov_imm r0l, 0\nget_sr r1, sr52\nshl r2, r1, 20\nif_icmp r0l, ult, r1, 1, 1\n"
                               "device_load 0, i32, x, r4, u0_u1, r2, unsigned\nwait 0\npop_exec r0l, 1\n"
                               "device_load 0, i32, x, r5, u0_u1, r1, unsigned\nwait 0\nfadd32 r6, r5, r5\nstop\n";
    enum { RECORDED = 6 };
    struct mem_space *space = mem_space_create(1 << 20);
    const uint64_t address = mem_space_alloc(space, 4 * GPU_LANES, MEM_PAGE_BYTES);
    uint16_t uniforms[AGX_UNIFORM_HALVES] = {0};
    struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
    struct gpu_program *program = gpu_example_program(text, GPU_G13, &fault);
    memcpy(uniforms, &address, sizeof address);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    const struct gpu_launch launch = {.program = program,
                                      .uniforms = uniforms,
                                      .grid_threads = {GPU_LANES, 1, 1},
                                      .group_threads = {GPU_LANES, 1, 1},
                                      .space = space};
    for (uint64_t piece = 1; piece <= 4; piece++) {
        struct gpu_group *group = gpu_group_create(&launch, &(struct gpu_checks){.steer = true});
        struct gpu_trace trace;
        gpu_trace_init(&trace);
        gpu_group_start(group, (const uint32_t[3]){0}, 0);
        enum gpu_step step = gpu_group_run(group, 0, RECORDED, &trace, &fault);
        while (step == GPU_STEP_LIMIT)
            step = gpu_group_run(group, 0, piece, NULL, &fault);
        CHECK(step == GPU_STEP_DONE && gpu_group_executed(group, 0) == gpu_program_count(program), "%s", fault.text);
        gpu_trace_release(&trace);
        gpu_group_free(group);
    }
    gpu_program_free(program);
    mem_space_free(space);
}

/* Two threadgroups that go different ways by turns, one beside the other, leave the records of groups alone, and the first one
 * counts for both. */
static void test_beside(void)
{
    static const char text[] = "mov_imm r0l, 0\nget_sr r1, sr52\nget_sr r2, sr0\nmov_imm r3, 32, 0b0\nimadd r4, r2, r3, r1\n"
                               "device_load 0, i32, x, r5, u0_u1, r4, unsigned\nwait 0\nif_icmp r0l, ult, r2, 1, 1\n"
                               "device_load 0, i32, x, r6, u0_u1, r1, unsigned\nwait 0\npop_exec r0l, 1\nstop\n";
    enum { GROUPS = 2, PIECE = 3, MOST = 32 };
    struct mem_space *space = mem_space_create(1 << 20);
    const uint64_t address = mem_space_alloc(space, 4 * GROUPS * GPU_LANES, MEM_PAGE_BYTES);
    uint16_t uniforms[AGX_UNIFORM_HALVES] = {0};
    uint64_t alone[MOST] = {0}, together[MOST] = {0}, none[MOST] = {0};
    struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
    struct gpu_program *program = gpu_example_program(text, GPU_G13, &fault);
    memcpy(uniforms, &address, sizeof address);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    const uint32_t count = gpu_program_count(program);
    CU_ASSERT_FATAL(count <= MOST);
    const struct gpu_launch launch = {.program = program,
                                      .uniforms = uniforms,
                                      .grid_threads = {GROUPS * GPU_LANES, 1, 1},
                                      .group_threads = {GPU_LANES, 1, 1},
                                      .space = space};
    struct gpu_group *group[GROUPS];
    struct gpu_trace trace[GROUPS];
    group[0] = gpu_group_create(&launch, &(struct gpu_checks){.steer = true});
    group[1] = gpu_group_create_beside(group[0]);
    for (uint32_t i = 0; i < GROUPS; i++) {
        gpu_trace_init(&trace[i]);
        gpu_group_start(group[i], (const uint32_t[3]){i}, 0);
    }
    bool more = true;
    for (unsigned turn = 0; more && turn < count; turn++) {
        more = false;
        for (unsigned i = 0; i < GROUPS; i++)
            more = gpu_group_run(group[i], 0, PIECE, &trace[i], &fault) == GPU_STEP_LIMIT || more;
    }
    CHECK(!more && fault.kind == UNIT_FAULT_NONE, "%s", fault.text);
    for (uint32_t i = 0; i < GROUPS; i++) {
        struct recorded own;
        CHECK(record(&own, &launch, true, (const uint32_t[3]){i}) && same_trace(&trace[i], &own.trace[0]), "group %u", i);
        gpu_group_issue_counts(own.group, alone);
        CHECK(gpu_group_counts(group[i]).instructions == gpu_group_counts(own.group).instructions, "group %u", i);
        release(&own);
    }
    CHECK(trace[0].lines_written > trace[1].lines_written && trace[1].lines_written > 0, "they go one way");
    gpu_group_issue_counts(group[0], together);
    CHECK(memcmp(together, alone, sizeof alone) == 0, "other counts");
    gpu_group_issue_counts(group[1], none);
    CHECK(none[0] == 0, "counted twice");
    for (unsigned i = GROUPS; i-- > 0;) {
        gpu_trace_release(&trace[i]);
        gpu_group_free(group[i]);
    }
    gpu_program_free(program);
    mem_space_free(space);
}

/* ---- random programs ---- */

enum { THREADS = 64, WORDS = 256, TEXT_BYTES = 16384 };

struct writer {
    uint64_t state;
    char text[TEXT_BYTES];
    size_t used;
    unsigned labels, depth, loops, levels;
    bool leaves; /* lanes may leave levels early */
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    w->used += (size_t)vsnprintf(w->text + w->used, sizeof w->text - w->used, format, arguments);
    va_end(arguments);
}

static unsigned pick(struct writer *w, unsigned below)
{
    return (unsigned)(suite_random(&w->state) % below);
}

/* Values live in r2 to r13, so that each is data here, index or condition there, and often nothing of these. */
static unsigned value(struct writer *w)
{
    return 2 + pick(w, 12);
}

static void put_access(struct writer *w, unsigned kind)
{
    put(w, "and r16, r%u, %u\n", value(w), kind < 2 ? WORDS - 1 : 252u);
    switch (kind) {
    case 0: put(w, "device_load 0, i32, x, r%u, u0_u1, r16, unsigned\nwait 0\n", value(w)); break;
    case 1: put(w, "device_store 0, i32, x, r%u, u2_u3, r16, unsigned, 0\n", value(w)); break;
    case 2: put(w, "threadgroup_load i32, x, r%u, r16l, 0\n", value(w)); break;
    default: put(w, "threadgroup_store i32, x, r%u, r16l, 0\n", value(w)); break;
    }
}

static void put_body(struct writer *w);

/* Lanes leave some of the levels around them, or all, as `break`, `continue` and `return` do: some of them or all that are
 * active, at once or when the next condition makes the mask anew. */
static void put_leave(struct writer *w)
{
    const unsigned levels = 1 + pick(w, w->levels + 1);
    if (pick(w, 4))
        put(w, "icmpsel ult, r0l, r15, %u, %u, 0\n", pick(w, 32), levels);
    else
        put(w, "mov_imm r0l, %u\n", levels);
    if (pick(w, 4))
        put(w, "pop_exec r0l, 0\n");
}

/* A part without active lanes is jumped over, or runs without effect. */
static void put_part(struct writer *w, const char *name, unsigned label)
{
    if (pick(w, 2)) {
        put_body(w);
        return;
    }
    put(w, "jmp_exec_none %s%u\n", name, label);
    put_body(w);
    put(w, "%s%u:\n", name, label);
}

static void put_choice(struct writer *w)
{
    const unsigned label = w->labels++;
    w->levels++;
    put(w, "if_icmp r0l, ult, r15, %u, 1\n", pick(w, 32));
    put_part(w, "then", label);
    if (pick(w, 2)) {
        put(w, "else_icmp r0l, ueq, r2, r2, 1\n");
        put_part(w, "else", label);
    }
    w->levels--;
    put(w, "pop_exec r0l, 1\n");
}

/* Lanes leave after different numbers of laps. */
static void put_loop(struct writer *w)
{
    const unsigned label = w->labels++, counter = 20 + w->loops++;
    put(w, "push_exec r0l, 1\nand r%u, r15, 3\nlap%u:\n", counter, label);
    w->levels++;
    put_body(w);
    w->levels--;
    put(w, "isub r%u, r%u, 1\nwhile_icmp r0l, slt, 0, r%u, 1\njmp_exec_any lap%u\npop_exec r0l, 1\n", counter, counter, counter,
        label);
}

static void put_body(struct writer *w)
{
    static const char *const operations[] = {"iadd", "isub", "xor", "and", "or", "imadd"};
    w->depth++;
    for (unsigned i = 1 + pick(w, 8); i > 0; i--) {
        const unsigned what = pick(w, 17), operation = pick(w, 6);
        if (what < 2)
            put(w, operation == 5 ? "%s r%u, r%u, r%u, r%u\n" : "%s r%u, r%u, r%u\n", operations[operation], value(w), value(w),
                value(w), value(w));
        else if (what < 8) /* a fresh value, so that not everything depends on everything */
            put(w, "iadd r%u, r15, %u\n", value(w), pick(w, 200));
        else if (what < 11)
            put(w, "mov_imm r%u, %u, 0b0\n", value(w), pick(w, 300));
        else if (what == 11)
            put_access(w, pick(w, 8) ? 1 : pick(w, 4)); /* mostly stores, which make nothing else steer */
        else if (what == 16 && w->leaves)
            put_leave(w);
        else if (w->depth < 4 && w->used < TEXT_BYTES / 2)
            (what < 15 ? put_choice : put_loop)(w);
    }
    w->depth--;
}

struct memory {
    uint32_t *words, start[2 * WORDS];
};

static void put_back(void *context)
{
    const struct memory *m = context;
    memcpy(m->words, m->start, sizeof m->start);
}

static void test_random(void)
{
    struct mem_space *space = mem_space_create(1 << 20);
    const uint64_t address = mem_space_alloc(space, 8 * WORDS, MEM_PAGE_BYTES);
    uint16_t uniforms[AGX_UNIFORM_HALVES] = {0};
    struct memory memory = {.words = (uint32_t *)(void *)mem_at(space, address, 8 * WORDS, MEM_READ | MEM_WRITE)};
    const uint64_t pointers[2] = {address, address + 2 * WORDS}; /* they overlap by half */
    unsigned idle = 0;
    memcpy(uniforms, pointers, sizeof pointers);
    for (unsigned i = 0; i < 3000; i++) {
        struct writer *w = calloc(1, sizeof *w);
        struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
        CU_ASSERT_PTR_NOT_NULL_FATAL(w);
        w->state = 1000 + i;
        w->leaves = i % 2;
        for (unsigned k = 0; k < 2 * WORDS; k++)
            memory.start[k] = (uint32_t)suite_random(&w->state);
        put(w, "mov_imm r0l, 0\nget_sr r2, sr51\nget_sr r3, sr52\nimadd r4, r2, r3, r2\nmov_imm r5, 7, 0b0\nmov r6, r4\n"
               "mov r7, r2\nmov r8, r3\nmov_imm r9, 40, 0b0\niadd r10, r2, r9\nmov r11, r2\nmov r12, r3\nmov_imm r13, 3, "
               "0b0\nmov r15, r3\n");
        put_body(w);
        put_body(w);
        put(w, "stop\n");
        struct gpu_program *program = gpu_example_program(w->text, GPU_G13, &fault);
        const struct gpu_launch launch = {.program = program,
                                          .uniforms = uniforms,
                                          .grid_threads = {THREADS, 1, 1},
                                          .group_threads = {THREADS, 1, 1},
                                          .threadgroup_memory_bytes = 1024,
                                          .space = space};
        put_back(&memory);
        CHECK(program && same_records(&launch, (const uint32_t[3]){0}, put_back, &memory), "program %u:\n%s%s", i, w->text,
              fault.text);
        for (uint32_t k = 0; program && k < gpu_program_count(program); k++)
            idle += !gpu_program_steers(program, k);
        gpu_program_free(program);
        free(w);
    }
    CHECK(idle > 50000, "only %u instructions do not steer", idle);
    mem_space_free(space);
}

static const struct suite_test tests[] = {
    {"only what decides on the way and on addresses steers", test_choice},
    {"faults are the same with and without values", test_faults},
    {"an access that is not recorded is not taken for an earlier one", test_pieces},
    {"groups beside one another leave the records of groups alone", test_beside},
    {"random programs leave the same record with and without values", test_random},
};

int main(void)
{
    return suite_run("gpu_steer", tests, ARRAY_COUNT(tests));
}
