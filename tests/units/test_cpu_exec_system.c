/* The interpreter's contract: AMX words, system calls, system registers, exceptions and changed code. Words by
 * aarch64-linux-gnu-as. */
#include "tests/units/cpu_exec_example.h"

#include "isa/amx/amx_isa.h"

#include <fenv.h>

struct unit_log {
    unsigned count, settled, refuse_after;
    unsigned op[16];
    uint64_t operand[16];
    struct example *e;
};

static bool log_amx(void *context, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    struct unit_log *log = context;
    if (log->refuse_after && log->count == log->refuse_after) {
        *fault = (struct unit_fault){.kind = UNIT_FAULT_UNDEFINED, .address = 5, .text = "clr while off"};
        return false;
    }
    log->op[log->count] = op;
    log->operand[log->count++] = operand;
    return true;
}

/* A store of the unit becomes visible only here. */
static void settle(void *context)
{
    struct unit_log *log = context;
    log->settled++;
    example_set_word(log->e, EXAMPLE_DATA + 8, 4242);
}

static void test_amx(void)
{
    struct example *e = example_open();
    struct unit_log log = {.e = e};
    const struct cpu_coprocessor unit = {log_amx, settle, &log};
    cpu_core_set_coprocessor(e->core, &unit);
    cpu_core_set_x(e->core, 1, UINT64_C(0x123456789abcdef0));
    cpu_core_set_x(e->core, 2, EXAMPLE_DATA);
    CHECK(EXAMPLE_RUN(e, 0x00201220 /* set */, 0x00201001 /* ldx x1 */, 0x0020119f /* fma32 xzr */,
                      0xf8408c41 /* ldr x1, [x2, #8]! */),
          "%s", e->fault.text);
    CHECK(log.count == 3 && log.op[0] == AMX_SETCLR && log.operand[0] == 0 && log.op[1] == AMX_LDX &&
              log.operand[1] == UINT64_C(0x123456789abcdef0) && log.op[2] == AMX_FMA32 && log.operand[2] == 0,
          "%u instructions", log.count);
    CHECK(log.settled == 0, "loads need no settling");
    CHECK(e->trace.addresses == 4 && e->address[0] == 0 && e->address[1] == UINT64_C(0x123456789abcdef0) &&
              e->address[3] == EXAMPLE_DATA + 8,
          "operands are in the trace");
    cpu_core_set_x(e->core, 2, EXAMPLE_DATA);
    CHECK(EXAMPLE_RUN(e, 0x00201041 /* stx x1 */, 0xd28000a6, 0xf8408c41 /* ldr */, 0xf8408c41), "%s", e->fault.text);
    CHECK(log.settled == 1 && e->trace.addresses == 3, "settled %u times before the load", log.settled);
    cpu_core_set_x(e->core, 2, EXAMPLE_DATA);
    CHECK(EXAMPLE_RUN(e, 0x00201041 /* stx x1 */, 0xf8408c41 /* ldr */), "%s", e->fault.text);
    CHECK(cpu_core_x(e->core, 1) == 4242, "the load sees the unit's store");
    CHECK(EXAMPLE_RUN(e, 0x00201041 /* stx x1 */) && log.settled == 3, "settled at the end of the run");
    log.refuse_after = log.count;
    CHECK(!EXAMPLE_RUN(e, 0xd28000a6, 0x00201221 /* clr */), "refused");
    CHECK(e->fault.kind == UNIT_FAULT_UNDEFINED && e->fault.pc == EXAMPLE_CODE + 4 && e->fault.address == 5 &&
              strstr(e->fault.text, "clr while off"),
          "%s", e->fault.text);
    example_close(e);
}

struct system_log {
    unsigned calls;
    uint64_t pc, instructions;
    enum { GO_ON, JUMP, END, FAIL } then;
};

static bool log_call(void *context, struct cpu_core *core, int *exit_code, struct unit_fault *fault)
{
    struct system_log *log = context;
    log->calls++;
    log->pc = cpu_core_pc(core);
    log->instructions = cpu_core_instructions(core);
    cpu_core_set_x(core, 0, 99);
    if (log->then == JUMP)
        cpu_core_set_pc(core, EXAMPLE_CODE + 8);
    if (log->then == END)
        *exit_code = 3;
    if (log->then == FAIL)
        *fault = (struct unit_fault){.kind = UNIT_FAULT_TRAP, .text = "no such call"};
    return log->then == GO_ON || log->then == JUMP;
}

static void test_system_calls(void)
{
    struct example *e = example_open();
    struct system_log log = {0};
    const struct cpu_system system = {log_call, &log};
    cpu_core_set_system(e->core, &system);
    CHECK(EXAMPLE_RUN(e, 0xd28000a6 /* mov x6, #5 */, 0xd4000001 /* svc */, 0x910004a5 /* add x5, x5, #1 */), "%s",
          e->fault.text);
    CHECK(log.calls == 1 && log.pc == EXAMPLE_CODE + 8 && log.instructions == 2 && cpu_core_x(e->core, 0) == 99,
          "pc %llx behind the call", (unsigned long long)log.pc);
    CHECK(cpu_core_x(e->core, 5) == 1, "it goes on");
    log.then = JUMP;
    cpu_core_set_x(e->core, 5, 0);
    CHECK(EXAMPLE_RUN(e, 0xd4000001, 0x910004a5, 0x910008a5 /* add x5, x5, #2 */) && cpu_core_x(e->core, 5) == 2,
          "a call may move the program counter");
    log.then = FAIL;
    CHECK(!EXAMPLE_RUN(e, 0xd28000a6, 0xd4000001) && e->fault.kind == UNIT_FAULT_TRAP && e->fault.pc == EXAMPLE_CODE + 4 &&
              strstr(e->fault.text, "no such call"),
          "%s at %llx", e->fault.text, (unsigned long long)e->fault.pc);
    log.then = END;
    example_put(e, EXAMPLE_CODE, (const uint32_t[]){0xd4000001}, 1);
    CHECK(cpu_core_run(e->core, 100, &e->trace, &e->fault) == CPU_STOP_EXIT && cpu_core_exit_code(e->core) == 3, "exit code %d",
          cpu_core_exit_code(e->core));
    CHECK(e->trace.blocks == 1 && e->trace.last_count == 1 && e->fault.kind == UNIT_FAULT_NONE, "the call is in the trace");
    example_close(e);
}

static void test_system_registers(void)
{
    struct example *e = example_open();
    cpu_core_set_tls(e->core, 1234);
    CHECK(EXAMPLE_RUN(e, 0xd53bd041 /* mrs x1, tpidr_el0 */) && cpu_core_x(e->core, 1) == 1234, "thread pointer");
    cpu_core_set_x(e->core, 1, 77);
    CHECK(EXAMPLE_RUN(e, 0xd51bd041) && cpu_core_tls(e->core) == 77, "and written");
    CHECK(EXAMPLE_RUN(e, 0xd53be001 /* cntfrq */) && cpu_core_x(e->core, 1) == 24000000, "24 MHz");
    CHECK(EXAMPLE_RUN(e, 0xd53b00e1 /* dczid */) && cpu_core_x(e->core, 1) == 4, "dc zva clears 64 bytes");
    CHECK(EXAMPLE_RUN(e, 0xd53b0021 /* ctr */) && cpu_core_x(e->core, 1) != 0, "cache type");
    cpu_core_set_x(e->core, 1, UINT64_C(0xffffffff));
    CHECK(EXAMPLE_RUN(e, 0xd51b4201 /* msr nzcv, x1 */, 0xd53b4201 /* mrs x1, nzcv */) && cpu_core_x(e->core, 1) == 0xf0000000 &&
              cpu_core_nzcv(e->core) == 0xf0000000,
          "flags");
    cpu_core_set_x(e->core, 1, 0x00c00000);
    CHECK(EXAMPLE_RUN(e, 0xd51b4401 /* msr fpcr, x1 */) && cpu_core_fpcr(e->core) == 0x00c00000, "rounding toward zero");
    CHECK(fegetround() == FE_TONEAREST, "the host keeps its own rounding");
    const double third[2] = {1, 0}, three[2] = {3, 0};
    uint8_t bytes[16];
    double result;
    cpu_core_set_v(e->core, 1, (const uint8_t *)third);
    cpu_core_set_v(e->core, 2, (const uint8_t *)three);
    CHECK(EXAMPLE_RUN(e, 0x1e621820 /* fdiv d0, d1, d2 */), "%s", e->fault.text);
    cpu_core_v(e->core, 0, bytes);
    memcpy(&result, bytes, 8);
    CHECK(result == 0x1.5555555555555p-2, "1/3 cut off: %a", result);
    example_set_word(e, EXAMPLE_DATA + 64, 1);
    cpu_core_set_x(e->core, 0, EXAMPLE_DATA + 77);
    CHECK(EXAMPLE_RUN(e, 0xd50b7420 /* dc zva, x0 */) && example_word(e, EXAMPLE_DATA + 64) == 0, "block zeroed");
    example_close(e);
}

static void test_counter_advances(void)
{
    struct example *e = example_open();
    /* mov x0, #0x80; loop: subs x0, x0, #1; b.ne loop: more than one step of the counter */
    static const uint32_t words[] = {0xd53be042 /* mrs x2, cntvct_el0 */, 0xd2801000, 0xf1000400, 0x54ffffe1,
                                     0xd53be043 /* mrs x3, cntvct_el0 */};
    CHECK(example_run(e, words, 5), "%s", e->fault.text);
    CHECK(cpu_core_x(e->core, 3) > cpu_core_x(e->core, 2), "%llu, then %llu", (unsigned long long)cpu_core_x(e->core, 2),
          (unsigned long long)cpu_core_x(e->core, 3));
    example_close(e);
}

static void test_exceptions(void)
{
    struct example *e = example_open();
    const double one[2] = {1, 0}, zero[2] = {0, 0};
    cpu_core_set_v(e->core, 1, (const uint8_t *)one);
    cpu_core_set_v(e->core, 2, (const uint8_t *)zero);
    cpu_core_set_x(e->core, 1, 0);
    CHECK(EXAMPLE_RUN(e, 0xd51b4421 /* msr fpsr, x1 */, 0x1e621820 /* fdiv */, 0xd53b4421 /* mrs x1, fpsr */) &&
              cpu_core_x(e->core, 1) == 2,
          "division by zero: %llx", (unsigned long long)cpu_core_x(e->core, 1));
    const uint32_t large[4] = {0x7fffffff, 0, 0, 0};
    cpu_core_set_v(e->core, 1, (const uint8_t *)large);
    cpu_core_set_v(e->core, 2, (const uint8_t *)large);
    cpu_core_set_x(e->core, 1, 0);
    CHECK(EXAMPLE_RUN(e, 0xd51b4421, 0x4ea20c20 /* sqadd v0.4s, v1.4s, v2.4s */, 0xd53b4421) &&
              cpu_core_x(e->core, 1) == 1u << 27,
          "saturation: %llx", (unsigned long long)cpu_core_x(e->core, 1));
    example_close(e);
}

static void test_changed_code(void)
{
    struct example *e = example_open();
    const uint32_t five = 0xd28000a6; /* mov x6, #5 */
    /* str w1, [x0]; ic ivau, x0; isb; the word at x0 */
    static const uint32_t words[] = {0xb9000001, 0xd50b7520, 0xd5033fdf, 0xd503201f, BRK7};
    memcpy(e->space->host + EXAMPLE_MIXED, words, sizeof words);
    for (unsigned round = 0; round < 3; round++) {
        cpu_core_set_x(e->core, 0, EXAMPLE_MIXED + 12);
        cpu_core_set_x(e->core, 1, round == 1 ? 0xd2800126 /* mov x6, #9 */ : five);
        cpu_core_set_x(e->core, 6, 0);
        cpu_core_set_pc(e->core, EXAMPLE_MIXED);
        (void)cpu_core_run(e->core, 100, &e->trace, &e->fault);
        CHECK(e->fault.kind == UNIT_FAULT_TRAP && cpu_core_x(e->core, 6) == (round == 1 ? 9 : 5), "round %u: x6 %llu", round,
              (unsigned long long)cpu_core_x(e->core, 6));
    }
    /* data beside the code: no block is decoded again */
    const uint32_t before = cpu_core_block_count(e->core);
    for (unsigned i = 0; i < 10; i++) {
        static const uint32_t store[] = {0xb9000001, BRK7};
        if (i == 0)
            memcpy(e->space->host + EXAMPLE_MIXED + 0x100, store, sizeof store);
        cpu_core_set_x(e->core, 0, EXAMPLE_MIXED + 0x200);
        cpu_core_set_pc(e->core, EXAMPLE_MIXED + 0x100);
        (void)cpu_core_run(e->core, 100, NULL, &e->fault);
    }
    CHECK(cpu_core_block_count(e->core) == before + 1, "%u blocks decoded", cpu_core_block_count(e->core) - before);
    example_close(e);
}

static void test_forget_code(void)
{
    struct example *e = example_open();
    CHECK(EXAMPLE_RUN(e, 0xd28000a6) && cpu_core_x(e->core, 6) == 5, "first");
    CHECK(EXAMPLE_RUN(e, 0xd2800126) && cpu_core_x(e->core, 6) == 9, "then");
    mem_space_protect(e->space, EXAMPLE_CODE, MEM_PAGE_BYTES, MEM_READ);
    cpu_core_forget_code(e->core, EXAMPLE_CODE, MEM_PAGE_BYTES);
    cpu_core_set_pc(e->core, EXAMPLE_CODE);
    CHECK(cpu_core_run(e->core, 10, NULL, &e->fault) == CPU_STOP_FAULT && e->fault.kind == UNIT_FAULT_PERMISSION, "%s",
          e->fault.text);
    example_close(e);
}

static const struct suite_test tests[] = {
    {"AMX words go to the coprocessor", test_amx}, {"system calls", test_system_calls},
    {"system registers", test_system_registers},   {"the virtual counter advances", test_counter_advances},
    {"cumulative exceptions", test_exceptions},    {"code that changes itself", test_changed_code},
    {"code that others change", test_forget_code},
};
SUITE_MAIN("cpu_exec_system", tests)
