/* The interpreter's contract: traces, faults, exclusives, address tags. What instructions compute is compared with Unicorn
 * elsewhere (test_cpu_exec_unicorn.c). Words by aarch64-linux-gnu-as. */
#include "isa/array_count.h"
#include "tests/units/cpu_exec_example.h"

static const uint32_t loop_words[] = {
    0xd2800060, /* mov x0, #3 */
    0xf8408441, /* ldr x1, [x2], #8 */
    0xf9000861, /* str x1, [x3, #16] */
    0xf1000400, /* subs x0, x0, #1 */
    0x54ffffa1, /* b.ne -12 */
    0xa9401444, /* ldp x4, x5, [x2] */
    0xd65f03c0, /* ret */
};

static void start_loop(struct example *e)
{
    example_put(e, EXAMPLE_CODE, loop_words, sizeof loop_words / 4);
    cpu_core_set_x(e->core, 2, EXAMPLE_DATA);
    cpu_core_set_x(e->core, 3, EXAMPLE_DATA + 0x1000);
    cpu_core_set_x(e->core, 30, CPU_RETURN_ADDRESS);
}

static void test_trace(void)
{
    static const uint64_t addresses[] = {EXAMPLE_DATA,      EXAMPLE_DATA + 0x1010, EXAMPLE_DATA + 8, EXAMPLE_DATA + 0x1010,
                                         EXAMPLE_DATA + 16, EXAMPLE_DATA + 0x1010, EXAMPLE_DATA + 24};
    static const struct {
        uint64_t pc;
        uint32_t count, mem_count;
    } blocks[] = {{EXAMPLE_CODE, 5, 2}, {EXAMPLE_CODE + 4, 4, 2}, {EXAMPLE_CODE + 4, 4, 2}, {EXAMPLE_CODE + 20, 2, 1}};
    struct example *e = example_open();
    start_loop(e);
    CHECK(cpu_core_run(e->core, 1000, &e->trace, &e->fault) == CPU_STOP_RETURN, "%s", e->fault.text);
    CHECK(e->trace.blocks == 4 && e->trace.addresses == 7, "%u blocks, %u addresses", e->trace.blocks, e->trace.addresses);
    for (unsigned i = 0; i < 4; i++)
        CHECK(e->block[i]->pc == blocks[i].pc && e->block[i]->count == blocks[i].count &&
                  e->block[i]->mem_count == blocks[i].mem_count,
              "block %u at %llx", i, (unsigned long long)e->block[i]->pc);
    for (unsigned i = 0; i < 7; i++)
        CHECK(e->address[i] == addresses[i], "address %u is %llx", i, (unsigned long long)e->address[i]);
    CHECK(e->trace.last_count == 2 && cpu_core_instructions(e->core) == 15, "%u of the last block, %llu in all",
          e->trace.last_count, (unsigned long long)cpu_core_instructions(e->core));
    CHECK(e->block[1] == e->block[2] && cpu_core_block(e->core, e->block[1]->id) == e->block[1], "blocks are known by id");
    CHECK(cpu_core_block_count(e->core) == 3 && !cpu_core_block(e->core, 3), "%u blocks decoded", cpu_core_block_count(e->core));
    CHECK(cpu_core_pc(e->core) == CPU_RETURN_ADDRESS, "pc %llx", (unsigned long long)cpu_core_pc(e->core));
    example_close(e);
}

/* However small the pieces, together they are the same run. */
static void test_pieces(void)
{
    for (unsigned budget = 1; budget <= 16; budget++)
        for (unsigned capacity = 1; capacity <= 4; capacity++) {
            struct example *e = example_open();
            uint32_t blocks = 0, addresses = 0, instructions = 0, runs = 0;
            enum cpu_stop stop;
            start_loop(e);
            e->trace.block_capacity = capacity;
            e->trace.address_capacity = CPU_TRACE_MIN_ADDRESSES;
            do {
                stop = cpu_core_run(e->core, budget, &e->trace, &e->fault);
                blocks += e->trace.blocks;
                addresses += e->trace.addresses;
                for (uint32_t i = 0; i < e->trace.blocks; i++)
                    instructions += i + 1 < e->trace.blocks ? e->block[i]->count : e->trace.last_count;
            } while (stop == CPU_STOP_BUDGET && ++runs < 100);
            CHECK(stop == CPU_STOP_RETURN && blocks == 4 && addresses == 7 && instructions == 15,
                  "budget %u, capacity %u: %u blocks, %u addresses, %u instructions", budget, capacity, blocks, addresses,
                  instructions);
            example_close(e);
        }
}

static void test_untraced(void)
{
    struct example *e = example_open();
    start_loop(e);
    example_set_word(e, EXAMPLE_DATA + 16, 77);
    CHECK(cpu_core_run(e->core, UINT64_MAX, NULL, NULL) == CPU_STOP_RETURN, "no trace, no fault asked for");
    CHECK(example_word(e, EXAMPLE_DATA + 0x1010) == 77 && cpu_core_instructions(e->core) == 15, "the same work");
    example_close(e);
}

struct fault_case {
    const char *name;
    uint32_t word;
    uint64_t base; /* x2, x3, x4 and x0 */
    enum unit_fault_kind kind;
    uint64_t address;
    const char *text; /* part of the message */
};

static const struct fault_case fault_cases[] = {
    {"load from nowhere", 0xf8408c41, 0x200000, UNIT_FAULT_UNMAPPED, 0x200008, "ldr x1, [x2, #8]!"},
    {"load beyond the space", 0xf8408c41, UINT64_C(0xffffffffffff0000), UNIT_FAULT_UNMAPPED, UINT64_C(0xffffffffffff0008),
     "0xffffffffffff0008"},
    {"store to a constant", 0xb8004441, EXAMPLE_CONSTANT, UNIT_FAULT_PERMISSION, EXAMPLE_CONSTANT, "not writable"},
    {"store to code", 0xb8004441, EXAMPLE_CODE, UNIT_FAULT_PERMISSION, EXAMPLE_CODE, "not writable"},
    {"pair half outside", 0xa8c10861, EXAMPLE_DATA_END - 8, UNIT_FAULT_UNMAPPED, EXAMPLE_DATA_END - 8, "16 bytes"},
    {"vector pair half outside", 0xadbf0460, EXAMPLE_DATA_END + 16, UNIT_FAULT_UNMAPPED, EXAMPLE_DATA_END - 16, "stp q0, q1"},
    {"undefined", 0x00000000, 0, UNIT_FAULT_UNDEFINED, 0, "udf #0"},
    {"breakpoint", 0xd4200020, 0, UNIT_FAULT_TRAP, 0, "brk #0x1"},
    {"privileged register", 0xd5380001, 0, UNIT_FAULT_UNDEFINED, 0, "midr_el1"},
    {"AMX without a unit", 0x00201221, 0, UNIT_FAULT_UNDEFINED, 0, "AMX"},
    {"system call without a system", 0xd4000001, 0, UNIT_FAULT_TRAP, 0, "svc"},
    {"exclusive, unaligned", 0xc85f7c01, EXAMPLE_DATA + 4, UNIT_FAULT_ALIGNMENT, EXAMPLE_DATA + 4, "multiple of its size"},
    {"atomic on a constant", 0xb8214002, EXAMPLE_CONSTANT, UNIT_FAULT_PERMISSION, EXAMPLE_CONSTANT, "ldsmax"},
};

static void test_faults(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(fault_cases); i++) {
        const struct fault_case *c = &fault_cases[i];
        struct example *e = example_open();
        const uint32_t words[] = {0xd28000a6 /* mov x6, #5 */, c->word};
        for (unsigned r = 0; r < 5; r++)
            cpu_core_set_x(e->core, r, r == 1 ? 111 : c->base);
        CHECK(!example_run(e, words, 2), "%s went through", c->name);
        CHECK(e->fault.kind == c->kind && e->fault.pc == EXAMPLE_CODE + 4 && e->fault.address == c->address,
              "%s: kind %d, pc %llx, address %llx", c->name, e->fault.kind, (unsigned long long)e->fault.pc,
              (unsigned long long)e->fault.address);
        CHECK(strstr(e->fault.text, c->text) != NULL, "%s: \"%s\" lacks \"%s\"", c->name, e->fault.text, c->text);
        bool unchanged = cpu_core_x(e->core, 1) == 111 && cpu_core_x(e->core, 6) == 5;
        for (unsigned r = 0; r < 5; r++)
            unchanged &= r == 1 || cpu_core_x(e->core, r) == c->base;
        CHECK(unchanged && cpu_core_pc(e->core) == EXAMPLE_CODE + 4, "%s: the state before the instruction", c->name);
        CHECK(e->trace.blocks == 1 && e->trace.last_count == 1 && e->trace.addresses == 0 && cpu_core_instructions(e->core) == 1,
              "%s: %u blocks, %u instructions of the last", c->name, e->trace.blocks, e->trace.last_count);
        example_close(e);
    }
}

static void test_fetch_faults(void)
{
    static const struct {
        uint64_t target;
        enum unit_fault_kind kind;
    } cases[] = {{0x200000, UNIT_FAULT_UNMAPPED},
                 {EXAMPLE_DATA, UNIT_FAULT_PERMISSION},
                 {EXAMPLE_CODE + 2, UNIT_FAULT_ALIGNMENT},
                 {UINT64_C(1) << 60, UNIT_FAULT_UNMAPPED}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct example *e = example_open();
        cpu_core_set_x(e->core, 4, cases[i].target);
        CHECK(!EXAMPLE_RUN(e, 0xd61f0080 /* br x4 */), "a fault");
        CHECK(e->fault.kind == cases[i].kind && e->fault.pc == cases[i].target && cpu_core_pc(e->core) == cases[i].target,
              "target %llx: kind %d", (unsigned long long)cases[i].target, e->fault.kind);
        CHECK(e->trace.blocks == 1 && e->trace.last_count == 1, "the branch itself ran");
        example_close(e);
    }
}

/* Accesses that span two mapped pages are ordinary. */
static void test_page_border(void)
{
    struct example *e = example_open();
    const uint64_t at = EXAMPLE_DATA + MEM_PAGE_BYTES - 3;
    example_set_word(e, at, UINT64_C(0x1122334455667788));
    cpu_core_set_x(e->core, 2, at - 8);
    cpu_core_set_x(e->core, 3, at - 16);
    CHECK(EXAMPLE_RUN(e, 0xf8408c41 /* ldr x1, [x2, #8]! */, 0xf9000861 /* str x1, [x3, #16] */), "%s", e->fault.text);
    CHECK(cpu_core_x(e->core, 1) == UINT64_C(0x1122334455667788) && cpu_core_x(e->core, 2) == at, "x1 %llx",
          (unsigned long long)cpu_core_x(e->core, 1));
    example_close(e);
}

static void test_exclusives(void)
{
    struct example *e = example_open();
    cpu_core_set_x(e->core, 0, EXAMPLE_DATA);
    cpu_core_set_x(e->core, 3, 7);
    cpu_core_set_x(e->core, 7, 8);
    cpu_core_set_x(e->core, 8, 9);
    example_set_word(e, EXAMPLE_DATA, 5);
    CHECK(EXAMPLE_RUN(e, 0xc85f7c01 /* ldxr x1, [x0] */, 0xc8027c03 /* stxr w2, x3, [x0] */), "%s", e->fault.text);
    CHECK(cpu_core_x(e->core, 1) == 5 && cpu_core_x(e->core, 2) == 0 && example_word(e, EXAMPLE_DATA) == 7, "stored");
    cpu_core_set_x(e->core, 3, 70);
    CHECK(EXAMPLE_RUN(e, 0xc8027c03) && cpu_core_x(e->core, 2) == 1 && example_word(e, EXAMPLE_DATA) == 7, "once only");
    CHECK(EXAMPLE_RUN(e, 0xc85f7c01, 0xd5033f5f /* clrex */, 0xc8027c03) && cpu_core_x(e->core, 2) == 1,
          "clrex opens the monitor");
    CHECK(EXAMPLE_RUN(e, 0xc87f1404 /* ldxp x4, x5, [x0] */, 0xc8262007 /* stxp w6, x7, x8, [x0] */), "%s", e->fault.text);
    CHECK(cpu_core_x(e->core, 4) == 7 && cpu_core_x(e->core, 6) == 0 && example_word(e, EXAMPLE_DATA) == 8 &&
              example_word(e, EXAMPLE_DATA + 8) == 9,
          "pairs");
    CHECK(EXAMPLE_RUN(e, 0xc85f7c01, 0xc8262007) && cpu_core_x(e->core, 6) == 1, "a store of another size fails");
    example_close(e);
}

/* Data accesses ignore bits 63..56 where bit 55 is 0 (TBI0); the trace has the address without them, registers keep them. */
static void test_address_tags(void)
{
    enum { VALUE = 0x1234 };
    static const uint64_t expected[] = {EXAMPLE_DATA, EXAMPLE_DATA, EXAMPLE_DATA + 64, EXAMPLE_DATA + 256,
                                        EXAMPLE_DATA, EXAMPLE_DATA, EXAMPLE_DATA + 64, EXAMPLE_DATA};
    const uint64_t tag_of_x0 = UINT64_C(0xa5) << 56, tag_of_x5 = UINT64_C(0x80) << 56;
    struct example *e = example_open();
    cpu_core_set_x(e->core, 0, tag_of_x0 | EXAMPLE_DATA);
    cpu_core_set_x(e->core, 1, VALUE);
    cpu_core_set_x(e->core, 3, UINT64_C(1) << 62 | EXAMPLE_DATA);
    cpu_core_set_x(e->core, 4, UINT64_C(0xff) << 56 | (EXAMPLE_DATA + 64));
    cpu_core_set_x(e->core, 5, tag_of_x5 | (EXAMPLE_DATA + 256));
    cpu_core_set_x(e->core, 8, EXAMPLE_DATA);
    example_set_word(e, EXAMPLE_DATA + 312, 1);
    CHECK(EXAMPLE_RUN(e, 0xf8008401 /* str x1, [x0], #8 */, 0xf9400062 /* ldr x2, [x3] */, 0xa9000881 /* stp x1, x2, [x4] */,
                      0x4c9f28a0 /* st1 {v0.4s-v3.4s}, [x5], #64 */, 0xc85f7c66 /* ldxr x6, [x3] */,
                      0xc8077d01 /* stxr w7, x1, [x8] */, 0x3dc00081 /* ldr q1, [x4] */, 0xf8218069 /* swp x1, x9, [x3] */),
          "%s", e->fault.text);
    CHECK(cpu_core_x(e->core, 0) == (tag_of_x0 | (EXAMPLE_DATA + 8)), "x0 %llx", (unsigned long long)cpu_core_x(e->core, 0));
    CHECK(cpu_core_x(e->core, 5) == (tag_of_x5 | (EXAMPLE_DATA + 320)), "x5 %llx", (unsigned long long)cpu_core_x(e->core, 5));
    CHECK(cpu_core_x(e->core, 2) == VALUE && cpu_core_x(e->core, 6) == VALUE && cpu_core_x(e->core, 9) == VALUE, "loads");
    CHECK(cpu_core_x(e->core, 7) == 0, "the monitor knows the address by either name");
    CHECK(example_word(e, EXAMPLE_DATA + 64) == VALUE && example_word(e, EXAMPLE_DATA + 72) == VALUE, "stp");
    CHECK(example_word(e, EXAMPLE_DATA + 312) == 0, "st1");
    CU_ASSERT_EQUAL_FATAL(e->trace.addresses, ARRAY_COUNT(expected));
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++)
        CHECK(e->address[i] == expected[i], "address %zu: %llx", i, (unsigned long long)e->address[i]);
    cpu_core_set_x(e->core, 3, UINT64_C(1) << 55 | EXAMPLE_DATA); /* the system's half of the address space */
    CHECK(!EXAMPLE_RUN(e, 0xf9400062) && e->fault.kind == UNIT_FAULT_UNMAPPED, "bit 55 is no tag");
    example_close(e);
}

/* What Unicorn 2.0.1 gets wrong: by the architecture's definition. */
static void test_beside_unicorn(void)
{
    struct example *e = example_open();
    uint8_t v[16] = {0x00, 0xfc, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}; /* lane 0: -infinity */
    cpu_core_set_x(e->core, 0, EXAMPLE_DATA);
    cpu_core_set_x(e->core, 1, 3);
    example_set_word(e, EXAMPLE_DATA, UINT64_C(0xfffffff0fffffff0));
    CHECK(EXAMPLE_RUN(e, 0x38214002 /* ldsmaxb w1, w2, [x0] */) && cpu_core_x(e->core, 2) == 0xf0 &&
              example_word(e, EXAMPLE_DATA) == UINT64_C(0xfffffff0ffffff03),
          "-16 < 3 as bytes: %llx", (unsigned long long)example_word(e, EXAMPLE_DATA));
    CHECK(EXAMPLE_RUN(e, 0x78215002 /* ldsminh w1, w2, [x0] */) && example_word(e, EXAMPLE_DATA) == UINT64_C(0xfffffff0ffffff03),
          "-253 < 3 as half words");
    CHECK(EXAMPLE_RUN(e, 0xb8214002 /* ldsmax w1, w2, [x0] */) && example_word(e, EXAMPLE_DATA) == UINT64_C(0xfffffff000000003),
          "words");
    cpu_core_set_v(e->core, 1, v);
    CHECK(EXAMPLE_RUN(e, 0x5f1cfc20 /* fcvtzs h0, h1, #4 */), "%s", e->fault.text);
    cpu_core_v(e->core, 0, v);
    CHECK(v[0] == 0x00 && v[1] == 0x80 && v[2] == 0 && v[3] == 0 && v[15] == 0, "-32768 in 16 bits, zeros above");
    example_close(e);
}

/* What the conditions mean, said of the numbers compared. */
static bool holds(unsigned cond, uint64_t a, uint64_t b, unsigned width)
{
    const uint64_t top = UINT64_C(1) << (width - 1), mask = top | (top - 1);
    const uint64_t ua = a & mask, ub = b & mask, difference = (ua - ub) & mask;
    const int64_t sa = (int64_t)(ua ^ top) - (int64_t)(width == 64 ? 0 : top),
                  sb = (int64_t)(ub ^ top) - (int64_t)(width == 64 ? 0 : top);
    const bool less = width == 64 ? (ua ^ top) < (ub ^ top) : sa < sb;
    const bool overflows = ((ua ^ ub) & (ua ^ difference) & top) != 0;
    switch (cond >> 1) {
    case 0: return (ua == ub) != (cond & 1);
    case 1: return (ua >= ub) != (cond & 1);
    case 2: return ((difference & top) != 0) != (cond & 1);
    case 3: return overflows != (cond & 1);
    case 4: return (ua > ub) != (cond & 1);
    case 5: return !less != (cond & 1);
    default: return (!less && ua != ub) != (cond & 1);
    }
}

/* cmp and b.cond in one block, by register and immediate, in both widths. */
static void test_compare_and_branch(void)
{
    static const uint64_t values[] = {
        0, 1, 2, 0xfff, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_C(0x100000000), INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    enum { COUNT = ARRAY_COUNT(values) };
    struct example *e = example_open();
    for (unsigned i = 0; i < 14 * 4; i++) {
        const unsigned cond = i / 4, width = i & 1 ? 64 : 32;
        const bool immediate = i & 2;
        const uint32_t compare =
            (immediate ? 0x71000c3f /* cmp w1, #3 */ : 0x6b02003f /* cmp w1, w2 */) | (width == 64 ? 1u << 31 : 0);
        const uint32_t words[] = {0xd2800006 /* mov x6, #0 */, compare, 0x54000040 | cond /* b.cond over one */,
                                  0xd28000a6 /* mov x6, #5 */};
        example_put(e, EXAMPLE_CODE, words, 4);
        for (unsigned k = 0; k < COUNT * COUNT; k++) {
            const uint64_t a = values[k / COUNT], b = immediate ? 3 : values[k % COUNT];
            cpu_core_set_pc(e->core, EXAMPLE_CODE);
            cpu_core_set_x(e->core, 1, a);
            cpu_core_set_x(e->core, 2, b);
            (void)cpu_core_run(e->core, 100, NULL, &e->fault);
            const bool taken = cpu_core_x(e->core, 6) == 0, expected = holds(cond, a, b, width);
            const uint32_t n = holds(4, a, b, width), z = holds(0, a, b, width), c = holds(2, a, b, width),
                           v = holds(6, a, b, width);
            if (taken != expected || cpu_core_nzcv(e->core) != (n << 31 | z << 30 | c << 29 | v << 28)) {
                CHECK(false, "condition %u of %llx, %llx in %u bits: taken %d, nzcv %x", cond, (unsigned long long)a,
                      (unsigned long long)b, width, taken, cpu_core_nzcv(e->core) >> 28);
                break;
            }
        }
    }
    example_close(e);
}

static const struct suite_test tests[] = {
    {"comparison and branch together", test_compare_and_branch},
    {"a trace has blocks and addresses in order", test_trace},
    {"a run in pieces is the same run", test_pieces},
    {"without a trace", test_untraced},
    {"faults leave the state before the instruction", test_faults},
    {"faults of instruction fetch", test_fetch_faults},
    {"accesses across a page border", test_page_border},
    {"exclusive loads and stores", test_exclusives},
    {"address tags", test_address_tags},
    {"instructions that Unicorn gets wrong", test_beside_unicorn},
};
SUITE_MAIN("cpu_exec", tests)
