/* The inside of the interpreter, shared by cpu_core.c and cpu_exec_*.c only.
 *
 * A block is decoded once into an array of struct cpu_op, one per instruction plus a closing one. Frequent instructions have a
 * place of their own in the loop of cpu_exec_run.c ("hot"); the others call a handler function.
 */
#ifndef ORCHARD_UNITS_CPU_CPU_EXEC_H
#define ORCHARD_UNITS_CPU_CPU_EXEC_H

#include "units/cpu/cpu_core.h"

enum {
    CPU_BLOCK_MAX = 128, /* instructions of a block; also the most addresses that one block can append */
    CPU_X_SP = 31,       /* register file: X0..X30, then SP, a zero that is never written, a sink that is never read */
    CPU_X_ZERO = 32,
    CPU_X_SINK = 33,
    CPU_X_COUNT = 34,
    CPU_JUMP_CACHE = 4096, /* entries of the direct-mapped cache pc -> block */
    CPU_SCRATCH = 4096     /* blocks and addresses kept when no trace is recorded */
};

/* System registers as op0:op1:CRn:CRm:op2, the `imm` of msr and mrs. */
enum {
    CPU_REG_NZCV = 0xda10,
    CPU_REG_FPCR = 0xda20,
    CPU_REG_FPSR = 0xda21,
    CPU_REG_TPIDR = 0xde82,
    CPU_REG_TPIDRRO = 0xde83,
    CPU_REG_CTR = 0xd801,
    CPU_REG_DCZID = 0xd807,
    CPU_REG_CNTFRQ = 0xdf00,
    CPU_REG_CNTPCT = 0xdf01,
    CPU_REG_CNTVCT = 0xdf02
};
/* The virtual counter runs at 24 MHz on Apple silicon (the value of cntfrq_el0). */
#define CPU_COUNTER_HZ UINT64_C(24000000)

union cpu_vec {
    uint8_t u8[16];
    uint16_t u16[8];
    uint32_t u32[4];
    uint64_t u64[2];
    int8_t s8[16];
    int16_t s16[8];
    int32_t s32[4];
    int64_t s64[2];
    float f32[4];
    double f64[2];
} __attribute__((aligned(16)));

/* NZCV, kept as the values it is computed from: N = n < 0, Z = (z == 0). */
struct cpu_flags {
    int64_t n;
    uint64_t z, c, v;
};

typedef void cpu_handler(struct cpu_core *core, const struct a64_insn *insn);
/* For instructions that touch memory or may fault: leaves the address in core->address. False means that core->fault is filled.
 */
typedef bool cpu_memory_handler(struct cpu_core *core, const struct a64_insn *insn);

struct cpu_op {
    uintptr_t go; /* enum cpu_hot while the block is new, then the address of its place in the loop */
    union {
        int64_t imm;
        cpu_handler *handler;
        cpu_memory_handler *memory_handler;
    };
    union {
        struct {
            uint8_t rd, rn, rm, ra; /* indices into core->x or core->v */
            uint8_t a, b;           /* shift amounts, condition or flags, as the hot operation needs them */
        };
        const struct a64_insn *insn;
    };
};

struct cpu_code {
    struct cpu_block block;   /* first member, so that a block's address is its code's */
    struct cpu_op *op;        /* those of the instructions that are executed, and a closing one */
    uint8_t *number;          /* by operation: which instruction of the block; NULL = all are executed */
    uint32_t ops;             /* without the closing one */
    struct cpu_loop *loop;    /* of multiply-adds (cpu_exec_loop.h), or NULL */
    struct cpu_code *link[2]; /* successors when taken and in sequence, once known */
    uint64_t target;          /* target of a direct branch */
    struct cpu_code *bucket_next;
    bool alive; /* false after its bytes were written to */
};

/* Which words of a page were decoded: stores elsewhere on the page (code and data in one page) invalidate no block. */
struct cpu_code_page {
    uint64_t number;
    uint64_t words[MEM_PAGE_BYTES / 4 / 64];
};

struct cpu_jump {
    uint64_t pc;
    struct cpu_code *code;
};

struct cpu_core {
    uint64_t x[CPU_X_COUNT];
    struct cpu_flags flags;
    uint64_t
        fast_limit;   /* addresses below it may be accessed without a call; 0 while stores of the coprocessor are outstanding */
    uint64_t address; /* the address of the last memory handler */
    union cpu_vec v[32];
    uint64_t pc;
    uint32_t fpcr, fpsr;
    bool fp_special; /* fpcr selects anything but the default arithmetic */
    bool running;    /* the host's rounding mode is that of the core */
    bool has_v86;    /* instructions of A64_INSN_V86 */
    bool steers;     /* executes only what decides on the way and on addresses */
    bool strayed;    /* while it did so, the way hung on what was left out */
    bool pauses;     /* the run ends behind the system call under way */
    int host_rounding;
    uint64_t tls, tls_ro;
    struct mem_space *space;
    struct cpu_coprocessor coprocessor;
    struct cpu_host host;
    struct cpu_system system;
    struct cpu_clock clock;
    uint64_t instructions;
    int exit_code;
    struct unit_fault fault;
    uint64_t exclusive_address; /* monitor of LDXR/STXR */
    uint32_t exclusive_bytes;   /* 0 = no reservation */

    struct cpu_core *peer; /* the next core of the same address space, in a ring */
    struct cpu_jump jump[CPU_JUMP_CACHE];
    struct cpu_code **bucket; /* hash of live blocks by pc */
    uint32_t bucket_mask;
    struct cpu_code **code; /* all blocks, by id */
    uint32_t code_count, code_capacity;
    struct cpu_code_page *page; /* pages that hold decoded code */
    uint32_t page_count, page_capacity;
    const struct cpu_block *scratch_block[CPU_SCRATCH];
    uint64_t scratch_address[CPU_SCRATCH];
};

/* cpu_exec_code.c. cpu_code_find returns the block at pc if it is known. cpu_code_make decodes it; NULL means that core->fault is
 * filled. */
struct cpu_code *cpu_code_find(struct cpu_core *core, uint64_t pc);
struct cpu_code *cpu_code_make(struct cpu_core *core, uint64_t pc);
/* All cores of the address space forget the blocks that cover any byte of the range. */
void cpu_code_written(struct cpu_core *core, uint64_t addr, uint64_t bytes);
void cpu_code_free(struct cpu_core *core);

/* cpu_exec_select.c: selects the operation for an instruction at pc. */
void cpu_select(const struct a64_insn *insn, uint64_t pc, struct cpu_op *op, unsigned *hot);

/* cpu_exec_steer.c. Which instructions of a block need not be executed where values do not matter. False: general registers or
 * flags are made of vectors that nothing in the block has loaded. */
struct cpu_steering {
    bool without[CPU_BLOCK_MAX];
};
bool cpu_steering_find(struct cpu_steering *steering, const struct a64_insn *insn, uint32_t count);

/* cpu_exec_run.c */
enum cpu_stop cpu_exec_run(struct cpu_core *core, uint64_t budget, struct cpu_trace *trace);

/* cpu_exec_memory.c */
/* Returns a host pointer, or NULL with core->fault filled. Sets core->address to the address without its tag. */
uint8_t *cpu_memory(struct cpu_core *core, uint64_t addr, uint64_t bytes, unsigned prot);
void cpu_coprocessor_settle(struct cpu_core *core);
void cpu_fault_at(struct cpu_core *core, const struct a64_insn *insn, uint64_t pc);
void cpu_fault_set(struct cpu_core *core, enum unit_fault_kind kind, uint64_t address, const char *what);

/* Handlers by form; NULL when the file handles none. */
cpu_handler *cpu_fast_handler_of(const struct a64_insn *insn);          /* cpu_exec_fast.c: whole vectors, default arithmetic */
cpu_handler *cpu_integer_handler_of(const struct a64_insn *insn);       /* cpu_exec_integer.c */
cpu_handler *cpu_fp_handler_of(const struct a64_insn *insn);            /* cpu_exec_fp.c */
cpu_handler *cpu_vector_handler_of(const struct a64_insn *insn);        /* cpu_exec_vector.c */
cpu_memory_handler *cpu_memory_handler_of(const struct a64_insn *insn); /* cpu_exec_memory.c, cpu_exec_system.c */
cpu_memory_handler *cpu_system_handler_of(const struct a64_insn *insn);

/* Number in its block of the instruction of an operation. */
static inline uint32_t cpu_op_number(const struct cpu_code *code, const struct cpu_op *op)
{
    const uint32_t at = (uint32_t)(op - code->op);
    return code->number ? code->number[at] : at;
}

static inline uint64_t cpu_reg(const struct cpu_core *core, unsigned n) /* 31 = zero */
{
    return n == 31 ? 0 : core->x[n];
}
static inline void cpu_set_reg(struct cpu_core *core, unsigned n, uint64_t value)
{
    core->x[n == 31 ? CPU_X_SINK : n] = value;
}

static inline uint32_t cpu_flags_pack(const struct cpu_flags *f)
{
    return (uint32_t)(f->n < 0) << 31 | (uint32_t)(f->z == 0) << 30 | (uint32_t)f->c << 29 | (uint32_t)f->v << 28;
}
static inline void cpu_flags_unpack(struct cpu_flags *f, uint32_t nzcv)
{
    f->n = nzcv >> 31 ? -1 : 0;
    f->z = !(nzcv >> 30 & 1);
    f->c = nzcv >> 29 & 1;
    f->v = nzcv >> 28 & 1;
}
static inline bool cpu_condition(const struct cpu_flags *f, unsigned cond)
{
    bool holds;
    switch (cond >> 1) {
    case 0: holds = f->z == 0; break;
    case 1: holds = f->c; break;
    case 2: holds = f->n < 0; break;
    case 3: holds = f->v; break;
    case 4: holds = f->c && f->z; break;
    case 5: holds = (uint64_t)(f->n < 0) == f->v; break;
    case 6: holds = f->z && (uint64_t)(f->n < 0) == f->v; break;
    default: return true;
    }
    return holds != (bool)(cond & 1);
}

#endif
