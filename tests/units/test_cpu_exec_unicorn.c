/* Every form of the AArch64 table, one instruction at a time, against Unicorn: random encodings and random states, all
 * registers, flags and touched memory compared. Unicorn is GPL software: this program is a test and nothing else. */
#include "isa/a64/a64_isa.h"
#include "isa/a64/a64_table.h"
#include "isa/array_count.h"
#include "tests/support/suite.h"
#include "units/cpu/cpu_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicorn/unicorn.h>

#define CODE       UINT64_C(0x400000)
#define CODE_BYTES UINT64_C(0x400000) /* literals reach 1 MiB to both sides of the middle */
#define CODE_FIRST (CODE + UINT64_C(0x140000))
#define CODE_LAST  (CODE + UINT64_C(0x2c0000))
#define DATA       UINT64_C(0x1000000)
#define DATA_BYTES UINT64_C(0x10000)
#define BRK        UINT32_C(0xd4200000)

struct state {
    uint64_t x[32], pc; /* 31 = SP */
    uint8_t v[32][16];
    uint32_t nzcv, fpcr;
};

struct bench {
    struct mem_space *space;
    struct cpu_core *core;
    uc_engine *uc;
    uint8_t *code, *data; /* Unicorn's own copies */
    uint64_t pc, random;
    unsigned runs, refused;
};

static int uc_x(unsigned n)
{
    return n < 29 ? UC_ARM64_REG_X0 + (int)n : n == 29 ? UC_ARM64_REG_X29 : n == 30 ? UC_ARM64_REG_X30 : UC_ARM64_REG_SP;
}

static bool open_bench(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->random = 20;
    b->space = mem_space_create(UINT64_C(1) << 28);
    b->code = aligned_alloc(4096, CODE_BYTES);
    b->data = aligned_alloc(4096, DATA_BYTES);
    if (!b->space || !b->code || !b->data || uc_open(UC_ARCH_ARM64, UC_MODE_ARM, &b->uc) != UC_ERR_OK)
        return false;
    uc_ctl_set_cpu_model(b->uc, UC_CPU_ARM64_MAX);
    uc_mem_map_ptr(b->uc, CODE, CODE_BYTES, UC_PROT_ALL, b->code);
    uc_mem_map_ptr(b->uc, DATA, DATA_BYTES, UC_PROT_READ | UC_PROT_WRITE, b->data);
    const uint64_t fp_on = 3u << 20;
    uc_reg_write(b->uc, UC_ARM64_REG_CPACR_EL1, &fp_on);
    mem_space_map(b->space, CODE, CODE_BYTES, MEM_READ | MEM_EXEC);
    mem_space_map(b->space, DATA, DATA_BYTES, MEM_READ | MEM_WRITE);
    for (uint64_t i = 0; i < CODE_BYTES; i += 4) { /* branch targets and literals: movz of something */
        const uint32_t word = 0xd2800000 | (uint32_t)(suite_random(&b->random) & 0x1fffff);
        memcpy(b->code + i, &word, sizeof word);
    }
    for (uint64_t i = 0; i < DATA_BYTES; i++)
        b->data[i] = (uint8_t)suite_random(&b->random);
    memcpy(b->space->host + CODE, b->code, CODE_BYTES);
    memcpy(b->space->host + DATA, b->data, DATA_BYTES);
    b->core = cpu_core_create(b->space);
    b->pc = CODE_FIRST;
    return b->core != NULL;
}

static void close_bench(struct bench *b)
{
    cpu_core_free(b->core);
    mem_space_free(b->space);
    if (b->uc)
        uc_close(b->uc);
    free(b->code);
    free(b->data);
}

/* Numbers that find corners: by element size, in all lanes. */
static uint64_t interesting(uint64_t *random, unsigned size)
{
    static const uint64_t of16[] = {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0xfd55,
                                    1, 0x8001, 0x3ff,  0x400,  0x7bff, 0xfbff, 0x3800, 0x4248, 0x4000, 0x1000};
    static const uint64_t of32[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                    0x7fc00000, 0xffc00001, 0x7f800001, 0xff923456, 1,          0x80000001,
                                    0x7fffff,   0x800000,   0x7f7fffff, 0xff7fffff, 0x3f000000, 0x4effffff,
                                    0xcf000000, 0x4f800000, 0x5f000000, 0x40200000};
    static const uint64_t of64[] = {0,
                                    UINT64_C(1) << 63,
                                    0x3ff0000000000000,
                                    0xbff0000000000000,
                                    0x7ff0000000000000,
                                    0xfff0000000000000,
                                    0x7ff8000000000000,
                                    0xfff8000000000001,
                                    0x7ff0000000000001,
                                    0xfff2345600000000,
                                    1,
                                    0x8000000000000001,
                                    0xfffffffffffff,
                                    0x10000000000000,
                                    0x7fefffffffffffff,
                                    0x3fe0000000000000,
                                    0x41dfffffffc00000,
                                    0xc1e0000000000000,
                                    0x43e0000000000000,
                                    0xc3e0000000000000,
                                    0x36a0000000000000,
                                    0x47efffffe0000000,
                                    0x4004000000000000,
                                    0xbfe0000000000000};
    const uint64_t r = suite_random(random);
    switch (size) {
    case 0: return (r & 3) == 0 ? (uint64_t[]){0, 0x7f, 0x80, 0xff}[r >> 8 & 3] : r >> 8 & 0xff;
    case 1: return of16[r % (ARRAY_COUNT(of16))];
    case 2: return of32[r % (ARRAY_COUNT(of32))];
    default: return of64[r % (ARRAY_COUNT(of64))];
    }
}

/* Ordinary numbers near 1: results that are neither NaN nor 0. */
static uint64_t ordinary(uint64_t *random, unsigned size)
{
    const uint64_t r = suite_random(random);
    if (size == 1)
        return (r & 0x83ff) | (uint64_t)(10 + (r >> 20) % 12) << 10;
    if (size == 2)
        return (r & 0x807fffff) | (uint64_t)(120 + (r >> 32) % 16) << 23;
    return size == 3 ? (r & UINT64_C(0x800fffffffffffff)) | (uint64_t)(1010 + (r >> 52 & 15)) << 52 : r & 0xff;
}

static void random_vector(uint64_t *random, uint8_t v[16])
{
    const unsigned how = (unsigned)(suite_random(random) & 7), size = (unsigned)(suite_random(random) & 3);
    for (unsigned at = 0; at < 16; at += 1u << size) {
        const bool pick = suite_random(random) & 1;
        const uint64_t value = how < 2           ? suite_random(random)
                               : how < 5 && pick ? interesting(random, size)
                                                 : ordinary(random, size);
        memcpy(v + at, &value, 1u << size);
    }
}

static uint64_t random_integer(uint64_t *random)
{
    const uint64_t r = suite_random(random);
    switch (r & 7) {
    case 0: return r >> 60;
    case 1: return 0 - (r >> 60);
    case 2: return UINT64_C(1) << (r >> 8 & 63);
    case 3: return (UINT64_C(1) << (r >> 8 & 63)) - 1;
    case 4: return (uint32_t)(r >> 32);
    case 5: return (uint64_t)(int64_t)(int32_t)(r >> 32);
    default: return suite_random(random);
    }
}

static uint32_t random_fpcr(uint64_t *random)
{
    const uint64_t r = suite_random(random);
    return r & 3 ? 0 : (uint32_t)(r >> 8) & 0x07c80000; /* AHP DN FZ RMode FZ16 */
}

static bool is_memory(const struct a64_insn *insn)
{
    return insn->mem_bytes != 0;
}

static void random_state(struct bench *b, const struct a64_insn *insn, struct state *s)
{
    for (unsigned i = 0; i < 32; i++) {
        s->x[i] = random_integer(&b->random);
        random_vector(&b->random, s->v[i]);
    }
    s->nzcv = (uint32_t)(suite_random(&b->random) & 15) << 28;
    s->fpcr = random_fpcr(&b->random);
    s->x[31] = DATA + 0x8000;
    s->pc = b->pc;
    if (insn->cls == A64_C_BRANCH_INDIRECT)
        s->x[insn->rn] = CODE + (suite_random(&b->random) & (CODE_BYTES - 4));
    if (!is_memory(insn))
        return;
    /* bases in the middle of the data, index registers small enough to stay there, whatever their extension */
    const bool aligned = insn->cls == A64_C_ATOMIC || insn->rn == 31;
    s->x[insn->rm == 31 ? 30 : insn->rm] = suite_random(&b->random) % 200;
    s->x[insn->rn] = DATA + 0x4000 + (suite_random(&b->random) & (aligned ? 0x3ff0 : 0x3fff));
    if (insn->form == A64_DC_ZVA)
        s->x[insn->rd] = DATA + 0x4000 + (suite_random(&b->random) & 0x3fff);
    /* large unsigned offsets: step back so that base + offset is in the data */
    if (insn->imm > 0x3000)
        s->x[insn->rn] = DATA + 0x4000 - ((uint64_t)insn->imm & ~UINT64_C(15)) + (aligned ? 0 : suite_random(&b->random) & 15);
}

static void write_states(struct bench *b, const struct state *s)
{
    for (unsigned i = 0; i < 32; i++) {
        cpu_core_set_x(b->core, i, s->x[i]);
        cpu_core_set_v(b->core, i, s->v[i]);
        uc_reg_write(b->uc, uc_x(i), &s->x[i]);
        uc_reg_write(b->uc, UC_ARM64_REG_V0 + (int)i, s->v[i]);
    }
    cpu_core_set_pc(b->core, s->pc);
    cpu_core_set_nzcv(b->core, s->nzcv);
    cpu_core_set_fpcr(b->core, s->fpcr);
    const uint64_t nzcv = s->nzcv, fpcr = s->fpcr;
    uc_reg_write(b->uc, UC_ARM64_REG_NZCV, &nzcv);
    uc_reg_write(b->uc, UC_ARM64_REG_FPCR, &fpcr);
}

static void read_ours(const struct bench *b, struct state *s)
{
    for (unsigned i = 0; i < 32; i++) {
        s->x[i] = cpu_core_x(b->core, i);
        cpu_core_v(b->core, i, s->v[i]);
    }
    s->pc = cpu_core_pc(b->core);
    s->nzcv = cpu_core_nzcv(b->core);
}

static void read_theirs(const struct bench *b, struct state *s)
{
    for (unsigned i = 0; i < 32; i++) {
        uc_reg_read(b->uc, uc_x(i), &s->x[i]);
        uc_reg_read(b->uc, UC_ARM64_REG_V0 + (int)i, s->v[i]);
    }
    uint64_t nzcv = 0;
    uc_reg_read(b->uc, UC_ARM64_REG_PC, &s->pc);
    uc_reg_read(b->uc, UC_ARM64_REG_NZCV, &nzcv);
    s->nzcv = (uint32_t)nzcv & 0xf0000000;
}

static void print_vector(const char *name, const uint8_t v[16])
{
    printf(" %s=", name);
    for (unsigned i = 16; i-- > 0;)
        printf("%02x%s", v[i], i % 4 == 0 && i ? "_" : "");
}

static void explain(const struct a64_insn *insn, const struct state *before, const struct state *ours, const struct state *theirs)
{
    char text[128];
    a64_disasm(insn, before->pc, text, sizeof text);
    printf("  %s: %08x %s  fpcr=%x nzcv=%x rd=%u rn=%u rm=%u ra=%u\n", a64_form_name(insn->form), insn->word, text, before->fpcr,
           before->nzcv >> 28, insn->rd, insn->rn, insn->rm, insn->ra);
    for (unsigned i = 0; i < 32; i++) {
        if (ours->x[i] != theirs->x[i])
            printf("    x%u ours %llx theirs %llx (before %llx; xn %llx xm %llx)\n", i, (unsigned long long)ours->x[i],
                   (unsigned long long)theirs->x[i], (unsigned long long)before->x[i], (unsigned long long)before->x[insn->rn],
                   (unsigned long long)before->x[insn->rm]);
        if (memcmp(ours->v[i], theirs->v[i], 16) != 0) {
            printf("    v%u", i);
            print_vector("ours", ours->v[i]);
            print_vector("theirs", theirs->v[i]);
            print_vector("before", before->v[i]);
            print_vector("n", before->v[insn->rn]);
            print_vector("m", before->v[insn->rm]);
            print_vector("a", before->v[insn->ra]);
            printf("\n");
        }
    }
    if (ours->nzcv != theirs->nzcv || ours->pc != theirs->pc)
        printf("    nzcv ours %x theirs %x, pc ours %llx theirs %llx (from %llx)\n", ours->nzcv >> 28, theirs->nzcv >> 28,
               (unsigned long long)ours->pc, (unsigned long long)theirs->pc, (unsigned long long)before->pc);
}

/* Runs one instruction in both. True when all agrees. */
static bool agrees(struct bench *b, const struct a64_insn *insn)
{
    struct state before, ours, theirs;
    const uint32_t code[2] = {insn->word, BRK};
    random_state(b, insn, &before);
    memcpy(b->space->host + b->pc, code, sizeof code);
    memcpy(b->code + (b->pc - CODE), code, sizeof code);
    cpu_core_forget_code(b->core, b->pc, sizeof code); /* branches may have been here before */
    uc_ctl_remove_cache(b->uc, b->pc, b->pc + sizeof code);
    write_states(b, &before);
    struct unit_fault fault;
    const enum cpu_stop stop = cpu_core_run(b->core, 1, NULL, &fault);
    uc_err error = uc_emu_start(b->uc, b->pc, UINT64_MAX, 0, 1);
    if (insn->flags & A64_INSN_BRANCH && (error == UC_ERR_FETCH_UNMAPPED || error == UC_ERR_FETCH_PROT))
        error = UC_ERR_OK; /* the branch itself is done */
    const bool ran =
        stop == CPU_STOP_BUDGET || (stop == CPU_STOP_FAULT && fault.kind == UNIT_FAULT_TRAP && fault.pc == b->pc + 4);
    b->pc += 8;
    if (!ran || error != UC_ERR_OK) {
        if (!ran && error != UC_ERR_OK) {
            b->refused++;
            return true;
        }
        printf("  %s %08x: ours %s (%s), theirs %s\n", a64_form_name(insn->form), insn->word, ran ? "ran" : "stopped", fault.text,
               uc_strerror(error));
        return false;
    }
    b->runs++;
    read_ours(b, &ours);
    read_theirs(b, &theirs);
    ours.fpcr = theirs.fpcr = before.fpcr;
    const bool same_memory = memcmp(b->space->host + DATA, b->data, DATA_BYTES) == 0;
    const bool same = memcmp(ours.x, theirs.x, sizeof ours.x) == 0 && memcmp(ours.v, theirs.v, sizeof ours.v) == 0 &&
                      ours.nzcv == theirs.nzcv && ours.pc == theirs.pc;
    if (!same)
        explain(insn, &before, &ours, &theirs);
    if (!same_memory) {
        printf("  %s %08x: memory differs\n", a64_form_name(insn->form), insn->word);
        memcpy(b->data, b->space->host + DATA, DATA_BYTES);
    }
    return same && same_memory;
}

/* Operand choices that the architecture leaves open, and bases that the test could not set independently. */
static bool is_unpredictable(const struct a64_insn *i)
{
    const struct a64_row *row = &a64_rows[i->form];
    const bool names_rm =
        strstr(row->text, "%Gm") || strstr(row->text, "%Rm") || strstr(row->text, "%Wm") || strstr(row->text, "%Zm");
    const bool general = !strstr(row->text, "%0d") && i->cls != A64_C_LOAD_V && i->cls != A64_C_STORE_V &&
                         i->cls != A64_C_LOAD_V_PAIR && i->cls != A64_C_STORE_V_PAIR;
    if (i->cls == A64_C_BRANCH_INDIRECT && i->rn == 31)
        return true;
    if (!is_memory(i))
        return false;
    if (row->props & P_PAIR && i->flags & A64_INSN_LOAD && i->rd == i->ra)
        return true;
    if (i->flags & A64_INSN_WRITEBACK && general && i->rn != 31 && (i->rd == i->rn || (row->props & P_PAIR && i->ra == i->rn)))
        return true;
    return names_rm && i->rm == i->rn;
}

/* Where Unicorn 2.0.1 is wrong: what it gets wrong, and what is compared nevertheless. */
static const char *why_unicorn_is_wrong(const struct a64_insn *i)
{
    if ((i->form == A64_LDSMAX || i->form == A64_LDSMIN) && i->size < 3)
        return "signed minimum and maximum of less than 64 bits compare the memory operand without its sign (corrected in QEMU "
               "6.1, "
               "\"tcg: Fix do_nonatomic_op_* vs signed operations\"); 64 bits are compared";
    if (i->form == A64_FCVTZS_FIX_S && i->size == 1)
        return "the scalar half-precision conversion to signed fixed point leaves sign bits above the element";
    return NULL;
}

static const char *why_not_compared(unsigned form)
{
    switch (form) {
    case A64_SVC:
    case A64_BRK:
    case A64_HLT: return "exceptions: no user state to compare";
    case A64_MRS:
    case A64_MSR: return "system registers: tests/units/test_cpu_exec_system.c";
    case A64_IC_IVAU:
    case A64_DC_CVAC:
    case A64_DC_CVAU:
    case A64_DC_CVAP:
    case A64_DC_CIVAC: return "cache maintenance of random addresses";
    case A64_HINT: return "wfi and wfe stop the emulator";
    case A64_STXR:
    case A64_STLXR:
    case A64_STXP:
    case A64_STLXP: return "needs its load before it: tests/units/test_cpu_exec.c";
    case A64_RETAA:
    case A64_RETAB: return "pointer authentication does not check here";
    default: return NULL;
    }
}

static void compare_form(struct bench *b, unsigned form, unsigned times, unsigned *different)
{
    const struct a64_row *row = &a64_rows[form];
    unsigned bad = 0;
    const char *excluded = NULL;
    for (unsigned i = 0; i < times && !bad; i++) {
        const uint32_t word = (row->bits & row->mask) | ((uint32_t)suite_random(&b->random) & ~row->mask);
        struct a64_insn insn;
        a64_decode(word, &insn);
        if (insn.form != form || is_unpredictable(&insn))
            continue;
        if (why_unicorn_is_wrong(&insn)) {
            excluded = why_unicorn_is_wrong(&insn);
            continue;
        }
        bad += !agrees(b, &insn);
        if (b->pc >= CODE_LAST) { /* fresh addresses, so that no translation is met again */
            cpu_core_free(b->core);
            b->core = cpu_core_create(b->space);
            uc_ctl_remove_cache(b->uc, CODE, CODE + CODE_BYTES);
            b->pc = CODE_FIRST;
        }
    }
    if (excluded)
        printf("  partly not compared: %s (%s)\n", a64_form_name(form), excluded);
    CHECK(!bad, "%s differs from Unicorn", a64_form_name(form));
    *different += bad;
}

static void compare_range(unsigned first, unsigned last, unsigned times)
{
    static struct bench b;
    if (!open_bench(&b)) {
        CHECK(false, "Unicorn did not open");
        close_bench(&b);
        return;
    }
    unsigned different = 0, forms = 0;
    for (unsigned form = first; form <= last; form++) {
        const char *reason = why_not_compared(form);
        if (reason) {
            printf("  not compared: %s (%s)\n", a64_form_name(form), reason);
            continue;
        }
        const unsigned before = b.runs + b.refused;
        compare_form(&b, form, times, &different);
        forms++;
        CHECK(b.runs + b.refused > before, "%s was never tried", a64_form_name(form));
    }
    printf("  %u forms, %u instructions compared, %u refused by both, %u forms differ\n", forms, b.runs, b.refused, different);
    close_bench(&b);
}

static unsigned repeat(void)
{
    const char *times = getenv("ORCHARD_UNICORN_TIMES");
    return times ? (unsigned)atoi(times) : 60;
}

static void test_integer(void)
{
    compare_range(A64_ADR, A64_CLS, repeat());
}
static void test_memory(void)
{
    compare_range(A64_CLS + 1, A64_FMADD - 1, repeat());
}
static void test_scalar_fp(void)
{
    compare_range(A64_FMADD, A64_FJCVTZS, repeat() * 2);
}
static void test_simd(void)
{
    compare_range(A64_FJCVTZS + 1, A64_FORM_COUNT - 1, repeat());
}

static const struct suite_test tests[] = {
    {"integer forms agree with Unicorn", test_integer},
    {"memory forms agree with Unicorn", test_memory},
    {"scalar floating-point forms agree with Unicorn", test_scalar_fp},
    {"SIMD forms agree with Unicorn", test_simd},
};
SUITE_MAIN("cpu_exec_unicorn", tests)
