/* The interpreter against Unicorn 2.0.1 in the same run: million instructions per second, plain and traced.
 *
 * "Traced" means for us that cpu_trace records blocks and every address. For Unicorn it means a block hook and a memory hook,
 * which is what it takes to know the same. AMX words go to a coprocessor that only counts; Unicorn takes them as exceptions.
 * Every program computes a known result, which is checked in both.
 */
#include "isa/amx/amx_isa.h"
#include "isa/array_count.h"
#include "units/cpu/cpu_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unicorn/unicorn.h>

#define CODE       UINT64_C(0x10000)
#define DATA       UINT64_C(0x1000000)
#define DATA_BYTES UINT64_C(0x1000000)
#define OUT        (DATA + UINT64_C(0x800000))
#define BEST_OF    3

/* compiled by gcc 12 -O2/-O3 for aarch64-linux-gnu */
static const uint32_t crc_words[] = {/* x0 bytes, x1 count, x2 table -> w0 */
                                     0xb40001a1, 0x8b010004, 0x12800003, 0xd503201f, 0x38401401,
                                     0x4a030021, 0x92401c21, 0xb8617841, 0x4a432023, 0xeb00009f,
                                     0x54ffff41, 0x2a2303e0, 0xd65f03c0, 0x52800000, 0xd65f03c0};
static const uint32_t sieve_words[] = {/* x0 flags, x1 count -> x0 primes */
                                       0xaa0003e4, 0xf100083f, 0x54000329, 0xd2800085, 0xd2800043, 0xd2800000,
                                       0x52800026, 0x14000005, 0x91000463, 0x910008a5, 0xeb03003f, 0x540001e0,
                                       0x38636882, 0x35ffff62, 0x91000400, 0xeb0100bf, 0x54ffff02, 0xaa0503e2,
                                       0x38226886, 0x8b030042, 0xeb02003f, 0x54ffffa8, 0x91000463, 0x910008a5,
                                       0xeb03003f, 0x54fffe61, 0xd65f03c0, 0xd2800000, 0xd65f03c0};
static const uint32_t saxpy_words[] = {/* x0 y, x1 x, x4 bytes, s0 factor */
                                       0x4e040403, 0xd2800003, 0x3ce36822, 0x3ce36801, 0x4e23cc41,
                                       0x3ca36801, 0x91004063, 0xeb04007f, 0x54ffff41, 0xd65f03c0};
static const uint32_t dot_words[] = {/* x0 a, x1 b, x2 count -> s0: ldr, ldr, fmadd in a chain */
                                     0x2f00e400, 0xbc404402, 0xbc404421, 0x1f020020, 0xf1000442, 0x54ffff81, 0xd65f03c0};
static const uint32_t amx_words[] = {/* x0, x1 rows, x2 count: ldy, ldx, fma32 with 7 integer instructions */
                                     0xf100005f, 0x540001ad, 0xd2800003, 0xd503201f, 0xd37a1464,
                                     0x8b040008, 0x00201028, 0x8b040028, 0x00201008, 0xd2800008,
                                     0x00201188, 0x91000463, 0xeb03005f, 0x54fffee1, 0xd65f03c0};

struct program {
    const char *name;
    const uint32_t *words;
    size_t bytes;
    uint64_t x[5];
    uint64_t expected; /* x0 at the end; 0 = not checked */
};

#define PROGRAM(n) #n, n##_words, sizeof n##_words
static const struct program programs[] = {
    {PROGRAM(crc), {OUT, 4000000, DATA}, 0x95c67053}, {PROGRAM(sieve), {OUT, 2000000}, 148933},
    {PROGRAM(saxpy), {OUT, DATA, 0, 0, 4194304}, 0},  {PROGRAM(dot), {DATA, OUT, 1000000}, 0},
    {PROGRAM(amx), {DATA, DATA, 1000000}, 0},
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill(uint8_t *data, const struct program *p)
{
    memset(data, 0, DATA_BYTES);
    if (p->words == crc_words) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int bit = 0; bit < 8; bit++)
                c = c >> 1 ^ (UINT32_C(0xedb88320) & (0 - (c & 1)));
            memcpy(data + 4 * i, &c, 4);
        }
        memset(data + (OUT - DATA), 'o', 4000000);
    }
}

struct counts {
    uint64_t instructions, addresses, amx;
    double seconds;
    uint64_t x0;
};

static bool count_amx(void *context, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    (void)op, (void)operand, (void)fault;
    ++*(uint64_t *)context;
    return true;
}

static struct counts run_ours(const struct program *p, bool traced)
{
    static const struct cpu_block *blocks[65536];
    static uint64_t addresses[262144];
    struct counts c = {0};
    struct mem_space *space = mem_space_create(UINT64_C(1) << 28);
    mem_space_map(space, CODE, 0x4000, MEM_READ | MEM_EXEC);
    mem_space_map(space, DATA, DATA_BYTES, MEM_READ | MEM_WRITE);
    memcpy(space->host + CODE, p->words, p->bytes);
    fill(space->host + DATA, p);
    struct cpu_core *core = cpu_core_create(space);
    const struct cpu_coprocessor coprocessor = {count_amx, NULL, &c.amx};
    cpu_core_set_coprocessor(core, &coprocessor);
    for (unsigned i = 0; i < 5; i++)
        cpu_core_set_x(core, i, p->x[i]);
    cpu_core_set_x(core, 30, CPU_RETURN_ADDRESS);
    cpu_core_set_pc(core, CODE);
    struct cpu_trace trace = {.block = blocks, .address = addresses, .block_capacity = 65536, .address_capacity = 262144};
    struct unit_fault fault;
    enum cpu_stop stop;
    const double start = now_s();
    do {
        stop = cpu_core_run(core, UINT64_MAX, traced ? &trace : NULL, &fault);
        c.addresses += traced ? trace.addresses : 0;
    } while (stop == CPU_STOP_BUDGET);
    c.seconds = now_s() - start;
    c.instructions = cpu_core_instructions(core);
    c.x0 = cpu_core_x(core, 0);
    if (stop != CPU_STOP_RETURN)
        printf("  ours stopped: %s\n", fault.text);
    cpu_core_free(core);
    mem_space_free(space);
    return c;
}

static void on_block(uc_engine *uc, uint64_t pc, uint32_t bytes, void *context)
{
    (void)uc, (void)pc;
    ((struct counts *)context)->instructions += bytes / 4;
}

static void on_memory(uc_engine *uc, uc_mem_type type, uint64_t addr, int bytes, int64_t value, void *context)
{
    (void)uc, (void)type, (void)addr, (void)bytes, (void)value;
    ((struct counts *)context)->addresses++;
}

static void on_exception(uc_engine *uc, uint32_t number, void *context)
{
    uint64_t pc;
    (void)number;
    uc_reg_read(uc, UC_ARM64_REG_PC, &pc);
    pc += 4;
    uc_reg_write(uc, UC_ARM64_REG_PC, &pc);
    ((struct counts *)context)->amx++;
}

static struct counts run_theirs(const struct program *p, bool traced)
{
    struct counts c = {0};
    uc_engine *uc;
    uc_hook hook[3];
    uint8_t *data = aligned_alloc(4096, DATA_BYTES);
    if (!data || uc_open(UC_ARCH_ARM64, UC_MODE_ARM, &uc) != UC_ERR_OK)
        exit(70);
    uc_ctl_set_cpu_model(uc, UC_CPU_ARM64_MAX);
    fill(data, p);
    uc_mem_map(uc, CODE, 0x4000, UC_PROT_ALL);
    uc_mem_map_ptr(uc, DATA, DATA_BYTES, UC_PROT_READ | UC_PROT_WRITE, data);
    uc_mem_write(uc, CODE, p->words, p->bytes);
    const uint64_t fp_on = 3u << 20, back = CODE + 0x3000;
    uc_reg_write(uc, UC_ARM64_REG_CPACR_EL1, &fp_on);
    for (unsigned i = 0; i < 5; i++)
        uc_reg_write(uc, UC_ARM64_REG_X0 + (int)i, &p->x[i]);
    uc_reg_write(uc, UC_ARM64_REG_X30, &back);
    uc_hook_add(uc, &hook[0], UC_HOOK_INTR, (void *)on_exception, &c, 1, 0);
    if (traced) {
        uc_hook_add(uc, &hook[1], UC_HOOK_BLOCK, (void *)on_block, &c, 1, 0);
        uc_hook_add(uc, &hook[2], UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE, (void *)on_memory, &c, 1, 0);
    }
    const double start = now_s();
    const uc_err error = uc_emu_start(uc, CODE, back, 0, 0);
    c.seconds = now_s() - start;
    uc_reg_read(uc, UC_ARM64_REG_X0, &c.x0);
    if (error != UC_ERR_OK)
        printf("  Unicorn stopped: %s\n", uc_strerror(error));
    uc_close(uc);
    free(data);
    return c;
}

static struct counts best(struct counts (*run)(const struct program *, bool), const struct program *p, bool traced)
{
    struct counts c = run(p, traced);
    for (int i = 1; i < BEST_OF; i++) {
        const struct counts again = run(p, traced);
        if (again.seconds < c.seconds)
            c = again;
    }
    return c;
}

int main(void)
{
    int wrong = 0;
    printf("%-6s %12s | %8s %8s | %8s %8s | %s\n", "", "instructions", "ours", "traced", "Unicorn", "hooked",
           "AMX M/s ours, Unicorn");
    for (size_t i = 0; i < ARRAY_COUNT(programs); i++) {
        const struct program *p = &programs[i];
        const struct counts plain = best(run_ours, p, false), traced = best(run_ours, p, true);
        const struct counts uc = best(run_theirs, p, false), hooked = best(run_theirs, p, true);
        const double millions = (double)plain.instructions / 1e6;
        printf("%-6s %12llu | %8.0f %8.0f | %8.0f %8.0f |", p->name, (unsigned long long)plain.instructions,
               millions / plain.seconds, millions / traced.seconds, millions / uc.seconds, millions / hooked.seconds);
        if (plain.amx)
            printf(" %.0f, %.0f", (double)plain.amx / 1e6 / plain.seconds, (double)uc.amx / 1e6 / uc.seconds);
        printf("\n");
        if (plain.x0 != uc.x0 || traced.x0 != uc.x0 || (p->expected && plain.x0 != p->expected)) {
            printf("  results differ: ours %llx, Unicorn %llx\n", (unsigned long long)plain.x0, (unsigned long long)uc.x0);
            wrong = 1;
        }
    }
    return wrong;
}
