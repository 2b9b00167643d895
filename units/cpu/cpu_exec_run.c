/* The loop: computed goto from operation to operation, from block to block. Everything an instruction may do wrong is
 * found out before it changes state, so a fault leaves the state before it. */
#include "units/cpu/cpu_exec.h"
#include "units/cpu/cpu_exec_hot.h"
#include "isa/amx/amx_isa.h"

#include <string.h>

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Where the run writes its trace; without one, into scratch memory that starts again when it is full. */
struct recorder {
    const struct cpu_block **block, **block_end;
    uint64_t *address, *address_end;
};

static void record_scratch(struct cpu_core *core, struct recorder *r)
{
    r->block = core->scratch_block;
    r->block_end = core->scratch_block + CPU_SCRATCH;
    r->address = core->scratch_address;
    r->address_end = core->scratch_address + CPU_SCRATCH;
}

static void record_trace(struct cpu_trace *trace, struct recorder *r)
{
    r->block = trace->block;
    r->block_end = trace->block + trace->block_capacity;
    r->address = trace->address;
    r->address_end = trace->address + trace->address_capacity;
}

enum { NOT_CUT = UINT32_MAX };

/* `cut` instructions of the last block recorded ran, or all: none of them means it never started. */
static void record_close(struct cpu_trace *trace, const struct recorder *r, uint32_t cut)
{
    trace->blocks = (uint32_t)(r->block - trace->block);
    trace->addresses = (uint32_t)(r->address - trace->address);
    if (cut == 0) {
        trace->blocks--;
        cut = NOT_CUT;
    }
    trace->last_count = cut != NOT_CUT ? cut : trace->blocks ? trace->block[trace->blocks - 1]->count : 0;
}

static inline uint64_t shifted_by(uint64_t value, const struct cpu_op *op, bool is_signed)
{
    const uint64_t up = value << op->a;
    return is_signed ? (uint64_t)((int64_t)up >> op->b) : up >> op->b;
}

static inline uint64_t set_flags_w(struct cpu_flags *f, uint32_t a, uint32_t b, uint32_t carry)
{
    const uint64_t sum = (uint64_t)a + b + carry;
    const uint32_t r = (uint32_t)sum;
    f->n = (int32_t)r;
    f->z = r;
    f->c = sum >> 32;
    f->v = ((a ^ r) & (b ^ r)) >> 31;
    return r;
}

static inline uint64_t set_flags_x(struct cpu_flags *f, uint64_t a, uint64_t b, uint64_t carry)
{
    uint64_t r;
    const bool c1 = __builtin_add_overflow(a, b, &r), c2 = __builtin_add_overflow(r, carry, &r);
    f->n = (int64_t)r;
    f->z = r;
    f->c = c1 | c2;
    f->v = ((a ^ r) & (b ^ r)) >> 63;
    return r;
}

static inline uint64_t compare_w(struct cpu_flags *f, uint32_t a, uint32_t b)
{
    const uint32_t r = a - b;
    f->n = (int32_t)r;
    f->z = r;
    f->c = a >= b;
    f->v = ((a ^ b) & (a ^ r)) >> 31;
    return r;
}

static inline uint64_t compare_x(struct cpu_flags *f, uint64_t a, uint64_t b)
{
    const uint64_t r = a - b;
    f->n = (int64_t)r;
    f->z = r;
    f->c = a >= b;
    f->v = ((a ^ b) & (a ^ r)) >> 63;
    return r;
}

static inline uint64_t logic_flags(struct cpu_flags *f, uint64_t r, bool is_w)
{
    f->n = is_w ? (int32_t)r : (int64_t)r;
    f->z = r;
    f->c = f->v = 0;
    return r;
}

static uint64_t divide_signed(uint64_t a, uint64_t b, bool is_w)
{
    const int64_t n = is_w ? (int32_t)a : (int64_t)a, d = is_w ? (int32_t)b : (int64_t)b;
    if (d == 0)
        return 0;
    return d == -1 ? 0 - (uint64_t)n : (uint64_t)(n / d);
}

static inline uint32_t rotate_w(uint32_t v, unsigned by)
{
    return v >> (by & 31) | v << (-by & 31);
}

static inline uint64_t rotate_x(uint64_t v, unsigned by)
{
    return v >> (by & 63) | v << (-by & 63);
}

/* AMX words: operand from the register, op 17 from the register field. */
static bool run_coprocessor(struct cpu_core *core, const struct a64_insn *insn, uint64_t *operand)
{
    const unsigned op = (unsigned)insn->imm;
    *operand = op == AMX_SETCLR ? insn->rd : cpu_reg(core, insn->rd);
    if (!core->coprocessor.execute) {
        cpu_fault_set(core, UNIT_FAULT_UNDEFINED, 0, "AMX instruction on a core without AMX");
        return false;
    }
    if (!core->coprocessor.execute(core->coprocessor.context, op, *operand, &core->fault))
        return false;
    const bool stores = op == AMX_STX || op == AMX_STY || op == AMX_STZ || op == AMX_STZI;
    if (stores && core->coprocessor.finish)
        core->fast_limit = 0; /* the next access of the core settles them first */
    return true;
}

/* Something stands in the trace before the instruction that reads the clock. */
static inline bool clock_must_wait(const struct cpu_core *core, const struct cpu_trace *trace, const struct recorder *r,
                                   bool first_of_block)
{
    return trace && core->clock.now_ns && !(first_of_block && r->block == trace->block + 1);
}

static uint64_t counter_at(uint64_t ns)
{
    return (uint64_t)((unsigned __int128)ns * CPU_COUNTER_HZ / 1000000000u);
}

/* False: the program ended or the call failed (core->fault tells). */
static bool run_system(struct cpu_core *core, uint64_t pc)
{
    cpu_coprocessor_settle(core);
    core->fault = (struct unit_fault){0};
    core->pc = pc + 4;
    if (!core->system.call) {
        core->pc = pc;
        cpu_fault_set(core, UNIT_FAULT_TRAP, 0, "svc without a system to call");
        return false;
    }
    const bool goes_on = core->system.call(core->system.context, core, &core->exit_code, &core->fault);
    if (!goes_on && core->fault.kind != UNIT_FAULT_NONE)
        core->pc = pc;
    return goes_on;
}

/* gcc copies the indirect jump to every operation, which host branch predictors like. clang analyses every jump against
 * every place, which with the undefined-behaviour sanitizer takes more than a minute: it gets one jump and leaves that
 * sanitizer of this one function to gcc. */
#ifdef __clang__
#define DISPATCH  goto dispatch
#define LOOP_ONLY __attribute__((no_sanitize("undefined")))
#else
#define DISPATCH goto *(const void *)op->go
#define LOOP_ONLY
#endif
#define OP(name) op_##name:
#define NEXT                                                                                                                     \
    do {                                                                                                                         \
        op++;                                                                                                                    \
        DISPATCH;                                                                                                                \
    } while (0)
#define XD x[op->rd]
#define XN x[op->rn]
#define XM x[op->rm]
#define XA x[op->ra]
#define WN ((uint32_t)XN)
#define WM ((uint32_t)XM)

/* A plain result in both widths. n and m are the operands, already cut to the width. */
#define RESULT_WX(name, expr)                                                                                                    \
    OP(name##_W)                                                                                                                 \
    {                                                                                                                            \
        const uint32_t n = WN, m = WM;                                                                                           \
        (void)n, (void)m;                                                                                                        \
        XD = (uint32_t)(expr);                                                                                                   \
        NEXT;                                                                                                                    \
    }                                                                                                                            \
    OP(name##_X)                                                                                                                 \
    {                                                                                                                            \
        const uint64_t n = XN, m = XM;                                                                                           \
        (void)n, (void)m;                                                                                                        \
        XD = (expr);                                                                                                             \
        NEXT;                                                                                                                    \
    }
/* The same with the last register shifted in the ways of the instruction set. */
#define RESULT_ONE(name, W, uint, sint, expr)                                                                                    \
    OP(name##_NONE_##W)                                                                                                          \
    {                                                                                                                            \
        const uint n = (uint)XN, m = (uint)XM;                                                                                   \
        XD = (uint)(expr);                                                                                                       \
        NEXT;                                                                                                                    \
    }                                                                                                                            \
    OP(name##_LSL_##W)                                                                                                           \
    {                                                                                                                            \
        const uint n = (uint)XN, m = (uint)((uint)XM << op->a);                                                                  \
        XD = (uint)(expr);                                                                                                       \
        NEXT;                                                                                                                    \
    }                                                                                                                            \
    OP(name##_LSR_##W)                                                                                                           \
    {                                                                                                                            \
        const uint n = (uint)XN, m = (uint)XM >> op->a;                                                                          \
        XD = (uint)(expr);                                                                                                       \
        NEXT;                                                                                                                    \
    }                                                                                                                            \
    OP(name##_ASR_##W)                                                                                                           \
    {                                                                                                                            \
        const uint n = (uint)XN, m = (uint)((sint)XM >> op->a);                                                                  \
        XD = (uint)(expr);                                                                                                       \
        NEXT;                                                                                                                    \
    }
#define RESULT_SHIFTED(name, expr_w, expr_x)                                                                                     \
    RESULT_ONE(name, W, uint32_t, int32_t, expr_w) RESULT_ONE(name, X, uint64_t, int64_t, expr_x)
#define RESULT_EXTENDED(name, expr_w, expr_x)                                                                                    \
    OP(name##_EXTU_W)                                                                                                            \
    {                                                                                                                            \
        const uint32_t n = WN, m = (uint32_t)shifted_by(XM, op, false);                                                          \
        XD = (uint32_t)(expr_w);                                                                                                 \
        NEXT;                                                                                                                    \
    }                                                                                                                            \
    OP(name##_EXTS_W)                                                                                                            \
    {                                                                                                                            \
        const uint32_t n = WN, m = (uint32_t)shifted_by(XM, op, true);                                                           \
        XD = (uint32_t)(expr_w);                                                                                                 \
        NEXT;                                                                                                                    \
    }                                                                                                                            \
    OP(name##_EXTU_X)                                                                                                            \
    {                                                                                                                            \
        const uint64_t n = XN, m = shifted_by(XM, op, false);                                                                    \
        XD = (expr_x);                                                                                                           \
        NEXT;                                                                                                                    \
    }                                                                                                                            \
    OP(name##_EXTS_X)                                                                                                            \
    {                                                                                                                            \
        const uint64_t n = XN, m = shifted_by(XM, op, true);                                                                     \
        XD = (expr_x);                                                                                                           \
        NEXT;                                                                                                                    \
    }

/* Memory: pointer for `bytes` at `addr`, by a short check or a call, which also takes a tag off the address. */
#define READ_PLACE(p, addr, bytes)                                                                                               \
    const uint8_t *p;                                                                                                            \
    uint64_t touched = (addr);                                                                                                   \
    if (LIKELY((addr) < core->fast_limit && prot[(addr) >> MEM_PAGE_SHIFT] & MEM_READ &&                                         \
               ((addr) & (MEM_PAGE_BYTES - 1)) <= MEM_PAGE_BYTES - (bytes)))                                                     \
        p = host + (addr);                                                                                                       \
    else if ((p = cpu_memory(core, addr, bytes, MEM_READ)))                                                                      \
        touched = core->address;                                                                                                 \
    else                                                                                                                         \
        goto faulted;
#define WRITE_PLACE(p, addr, bytes)                                                                                              \
    uint8_t *p;                                                                                                                  \
    uint64_t touched = (addr);                                                                                                   \
    if (LIKELY((addr) < core->fast_limit && (prot[(addr) >> MEM_PAGE_SHIFT] & (MEM_WRITE | MEM_EXEC)) == MEM_WRITE &&            \
               ((addr) & (MEM_PAGE_BYTES - 1)) <= MEM_PAGE_BYTES - (bytes)))                                                     \
        p = host + (addr);                                                                                                       \
    else if ((p = cpu_memory(core, addr, bytes, MEM_WRITE)))                                                                     \
        touched = core->address;                                                                                                 \
    else                                                                                                                         \
        goto faulted;

#define LOAD_ONE(label, addr_expr, T, wide, after)                                                                               \
    OP(label)                                                                                                                    \
    {                                                                                                                            \
        const uint64_t addr = (addr_expr);                                                                                       \
        READ_PLACE(p, addr, sizeof(T))                                                                                           \
        T value;                                                                                                                 \
        memcpy(&value, p, sizeof value);                                                                                         \
        *address++ = touched;                                                                                                    \
        after;                                                                                                                   \
        XD = wide value;                                                                                                         \
        NEXT;                                                                                                                    \
    }
#define STORE_ONE(label, addr_expr, T, after)                                                                                    \
    OP(label)                                                                                                                    \
    {                                                                                                                            \
        const uint64_t addr = (addr_expr);                                                                                       \
        WRITE_PLACE(p, addr, sizeof(T))                                                                                          \
        const T value = (T)XD;                                                                                                   \
        memcpy(p, &value, sizeof value);                                                                                         \
        *address++ = touched;                                                                                                    \
        after;                                                                                                                   \
        NEXT;                                                                                                                    \
    }
#define LOAD_V_ONE(label, addr_expr, bytes, after)                                                                               \
    OP(label)                                                                                                                    \
    {                                                                                                                            \
        const uint64_t addr = (addr_expr);                                                                                       \
        READ_PLACE(p, addr, bytes)                                                                                               \
        union cpu_vec value = {.u64 = {0, 0}};                                                                                   \
        memcpy(&value, p, bytes);                                                                                                \
        core->v[op->rd] = value;                                                                                                 \
        *address++ = touched;                                                                                                    \
        after;                                                                                                                   \
        NEXT;                                                                                                                    \
    }
#define STORE_V_ONE(label, addr_expr, bytes, after)                                                                              \
    OP(label)                                                                                                                    \
    {                                                                                                                            \
        const uint64_t addr = (addr_expr);                                                                                       \
        WRITE_PLACE(p, addr, bytes)                                                                                              \
        memcpy(p, &core->v[op->rd], bytes);                                                                                      \
        *address++ = touched;                                                                                                    \
        after;                                                                                                                   \
        NEXT;                                                                                                                    \
    }
/* clang-format off */
#define IN_MODES(M, name, ...) \
    M(name##_IMM, XN + (uint64_t)op->imm, __VA_ARGS__, (void)0) \
    M(name##_POST, XN, __VA_ARGS__, XN = addr + (uint64_t)op->imm) \
    M(name##_PRE, XN + (uint64_t)op->imm, __VA_ARGS__, XN = addr) \
    M(name##_REGS, XN + shifted_by(XM, op, true), __VA_ARGS__, (void)0) \
    M(name##_REGU, XN + shifted_by(XM, op, false), __VA_ARGS__, (void)0)
/* clang-format on */

#define LOAD_TWO(label, addr_expr, T, wide, after)                                                                               \
    OP(label)                                                                                                                    \
    {                                                                                                                            \
        const uint64_t addr = (addr_expr);                                                                                       \
        READ_PLACE(p, addr, 2 * sizeof(T))                                                                                       \
        T value[2];                                                                                                              \
        memcpy(value, p, sizeof value);                                                                                          \
        *address++ = touched;                                                                                                    \
        after;                                                                                                                   \
        XD = wide value[0];                                                                                                      \
        XA = wide value[1];                                                                                                      \
        NEXT;                                                                                                                    \
    }
#define STORE_TWO(label, addr_expr, T, after)                                                                                    \
    OP(label)                                                                                                                    \
    {                                                                                                                            \
        const uint64_t addr = (addr_expr);                                                                                       \
        WRITE_PLACE(p, addr, 2 * sizeof(T))                                                                                      \
        const T value[2] = {(T)XD, (T)XA};                                                                                       \
        memcpy(p, value, sizeof value);                                                                                          \
        *address++ = touched;                                                                                                    \
        after;                                                                                                                   \
        NEXT;                                                                                                                    \
    }
#define LOAD_V_TWO(label, addr_expr, bytes, after)                                                                               \
    OP(label)                                                                                                                    \
    {                                                                                                                            \
        const uint64_t addr = (addr_expr);                                                                                       \
        READ_PLACE(p, addr, 2 * bytes)                                                                                           \
        union cpu_vec first = {.u64 = {0, 0}}, second = {.u64 = {0, 0}};                                                         \
        memcpy(&first, p, bytes);                                                                                                \
        memcpy(&second, p + bytes, bytes);                                                                                       \
        core->v[op->rd] = first;                                                                                                 \
        core->v[op->ra] = second;                                                                                                \
        *address++ = touched;                                                                                                    \
        after;                                                                                                                   \
        NEXT;                                                                                                                    \
    }
#define STORE_V_TWO(label, addr_expr, bytes, after)                                                                              \
    OP(label)                                                                                                                    \
    {                                                                                                                            \
        const uint64_t addr = (addr_expr);                                                                                       \
        WRITE_PLACE(p, addr, 2 * bytes)                                                                                          \
        memcpy(p, &core->v[op->rd], bytes);                                                                                      \
        memcpy(p + bytes, &core->v[op->ra], bytes);                                                                              \
        *address++ = touched;                                                                                                    \
        after;                                                                                                                   \
        NEXT;                                                                                                                    \
    }
/* clang-format off */
#define IN_PAIR_MODES(M, name, ...) \
    M(name##_OFF, XN + (uint64_t)op->imm, __VA_ARGS__, (void)0) \
    M(name##_POST, XN, __VA_ARGS__, XN = addr + (uint64_t)op->imm) \
    M(name##_PRE, XN + (uint64_t)op->imm, __VA_ARGS__, XN = addr)
/* clang-format on */

#define BRANCH_IF(name, condition)                                                                                               \
    OP(name)                                                                                                                     \
    {                                                                                                                            \
        if (condition)                                                                                                           \
            goto taken;                                                                                                          \
        goto in_sequence;                                                                                                        \
    }

#define COMPARE_BRANCH_ONE(name, uint, compare, second, condition)                                                               \
    OP(name)                                                                                                                     \
    {                                                                                                                            \
        const uint a = (uint)XN, b = (uint)(second);                                                                             \
        XD = compare(f, a, b);                                                                                                   \
        if (condition)                                                                                                           \
            goto taken;                                                                                                          \
        goto in_sequence;                                                                                                        \
    }
/* cond_w, cond_x: the condition said of a and b themselves */
/* clang-format off */
#define COMPARE_BRANCH(c, cond_w, cond_x) \
    COMPARE_BRANCH_ONE(CMPB_IMM_W_##c, uint32_t, compare_w, op->imm, cond_w) \
    COMPARE_BRANCH_ONE(CMPB_REG_W_##c, uint32_t, compare_w, XM, cond_w) \
    COMPARE_BRANCH_ONE(CMPB_IMM_X_##c, uint64_t, compare_x, op->imm, cond_x) \
    COMPARE_BRANCH_ONE(CMPB_REG_X_##c, uint64_t, compare_x, XM, cond_x)
/* clang-format on */

LOOP_ONLY enum cpu_stop cpu_exec_run(struct cpu_core *core, uint64_t budget, struct cpu_trace *trace)
{
    static const void *const labels[CPU_HOT_COUNT] = {
#define X(name) [HOT_##name] = &&op_##name,
        CPU_HOT_OPS(X)
#undef X
    };
    uint64_t *const x = core->x;
    struct cpu_flags *const f = &core->flags;
    const uint8_t *const prot = core->space->prot;
    uint8_t *const host = core->space->host;
    struct recorder r;
    if (trace)
        record_trace(trace, &r);
    else
        record_scratch(core, &r);
    uint64_t *address = r.address;
    struct cpu_code *code = NULL;
    const struct cpu_op *op = NULL;
    uint64_t pc = core->pc;
    int64_t left = budget > INT64_MAX ? INT64_MAX : (int64_t)budget;
    int64_t counted = left; /* core->instructions knows of those before */
    enum cpu_stop stop = CPU_STOP_FAULT;
    uint32_t cut = NOT_CUT;
    unsigned successor;

indirect : { /* to any address */
    struct cpu_jump *jump = &core->jump[pc >> 2 & (CPU_JUMP_CACHE - 1)];
    if (UNLIKELY(jump->pc != pc || !jump->code)) {
        code = cpu_code_find(core, pc);
        if (!code) {
            if (pc == CPU_RETURN_ADDRESS) {
                stop = CPU_STOP_RETURN;
                goto out;
            }
            if (left <= 0) {
                stop = CPU_STOP_BUDGET;
                goto out;
            }
            if (!(code = cpu_code_make(core, pc)))
                goto out;
            for (uint32_t i = 0; i <= code->block.count; i++)
                code->op[i].go = (uintptr_t)labels[code->op[i].go];
        }
        *jump = (struct cpu_jump){pc, code};
    }
    code = jump->code;
    goto enter;
}

taken:
    if (LIKELY(code->link[0] != NULL)) {
        code = code->link[0];
        goto enter;
    }
    pc = code->target;
    successor = 0;
    goto link;

in_sequence:
    if (LIKELY(code->link[1] != NULL)) {
        code = code->link[1];
        goto enter;
    }
    pc = code->block.pc + 4 * (uint64_t)code->block.count;
    successor = 1;
link: /* a direct successor not linked yet: linked when it exists, else the next time */
    code->link[successor] = code->alive ? cpu_code_find(core, pc) : NULL;
    goto indirect;

enter:
    if (UNLIKELY(left <= 0))
        goto out_of_budget;
    if (UNLIKELY(r.block == r.block_end || (uint64_t)(r.address_end - address) < code->block.mem_count)) {
        if (trace)
            goto out_of_budget;
        record_scratch(core, &r);
        address = r.address;
    }
    left -= code->block.count;
    *r.block++ = &code->block;
    op = code->op;
#ifdef __clang__
dispatch:
    goto *(const void *)op->go;
#else
    DISPATCH;
#endif

    OP(CLOSE) goto in_sequence;
    OP(CALL)
    {
        op->handler(core, op->insn);
        NEXT;
    }
    OP(CALL_MEMORY)
    {
        if (UNLIKELY(!op->memory_handler(core, op->insn)))
            goto faulted;
        if (op->insn->mem_bytes)
            *address++ = core->address;
        NEXT;
    }
    OP(AMX)
    {
        if (UNLIKELY(!run_coprocessor(core, &code->block.insn[op - code->op], address)))
            goto faulted;
        address++;
        NEXT;
    }
    OP(SVC)
    {
        if (clock_must_wait(core, trace, &r, op == code->op))
            goto before_clock;
        core->instructions += (uint64_t)(counted - left);
        counted = left;
        const bool goes_on = run_system(core, code->block.pc + 4 * (uint64_t)(op - code->op));
        pc = core->pc;
        if (goes_on)
            goto indirect;
        if (core->fault.kind != UNIT_FAULT_NONE)
            goto faulted;
        stop = CPU_STOP_EXIT;
        goto out;
    }
    OP(TRAP)
    {
        cpu_fault_set(core, UNIT_FAULT_TRAP, 0, "breakpoint");
        goto faulted;
    }
    OP(UNDEFINED)
    {
        cpu_fault_set(core, UNIT_FAULT_UNDEFINED, 0, "undefined instruction");
        goto faulted;
    }
    OP(UNMODELLED)
    {
        cpu_fault_set(core, UNIT_FAULT_UNMODELLED, 0, "instruction that is not modelled");
        goto faulted;
    }
    OP(NOP) NEXT;
    OP(COUNTER)
    {
        if (clock_must_wait(core, trace, &r, op == code->op))
            goto before_clock;
        core->instructions += (uint64_t)(counted - left);
        counted = left;
        XD = counter_at(cpu_core_now_ns(core));
        NEXT;
    }

    OP(CONST)
    {
        XD = (uint64_t)op->imm;
        NEXT;
    }
    OP(MOVK_W)
    {
        XD = (uint32_t)(XN & ~(UINT64_C(0xffff) << op->a)) | (uint64_t)op->imm;
        NEXT;
    }
    OP(MOVK_X)
    {
        XD = (XN & ~(UINT64_C(0xffff) << op->a)) | (uint64_t)op->imm;
        NEXT;
    }
    OP(MOV_W)
    {
        XD = WM;
        NEXT;
    }
    OP(MOV_X)
    {
        XD = XM;
        NEXT;
    }
#define m ((uint64_t)op->imm)
    OP(ADD_IMM_W)
    {
        XD = (uint32_t)(XN + m);
        NEXT;
    }
    OP(ADD_IMM_X)
    {
        XD = XN + m;
        NEXT;
    }
    OP(ADDS_IMM_W)
    {
        XD = set_flags_w(f, WN, (uint32_t)m, 0);
        NEXT;
    }
    OP(ADDS_IMM_X)
    {
        XD = set_flags_x(f, XN, m, 0);
        NEXT;
    }
    OP(SUBS_IMM_W)
    {
        XD = compare_w(f, WN, (uint32_t)m);
        NEXT;
    }
    OP(SUBS_IMM_X)
    {
        XD = compare_x(f, XN, m);
        NEXT;
    }
    OP(AND_IMM_W)
    {
        XD = (uint32_t)(XN & m);
        NEXT;
    }
    OP(AND_IMM_X)
    {
        XD = XN & m;
        NEXT;
    }
    OP(ORR_IMM_W)
    {
        XD = (uint32_t)(XN | m);
        NEXT;
    }
    OP(ORR_IMM_X)
    {
        XD = XN | m;
        NEXT;
    }
    OP(EOR_IMM_W)
    {
        XD = (uint32_t)(XN ^ m);
        NEXT;
    }
    OP(EOR_IMM_X)
    {
        XD = XN ^ m;
        NEXT;
    }
    OP(ANDS_IMM_W)
    {
        XD = logic_flags(f, (uint32_t)(XN & m), true);
        NEXT;
    }
    OP(ANDS_IMM_X)
    {
        XD = logic_flags(f, XN & m, false);
        NEXT;
    }
    OP(UBFX)
    {
        XD = XN >> op->a & m;
        NEXT;
    }
    OP(UBFIZ)
    {
        XD = (XN & m) << op->a;
        NEXT;
    }
    OP(BFM_W)
    {
        XD = (uint32_t)((XM & ~m) | ((XN >> op->a << op->b) & m));
        NEXT;
    }
    OP(BFM_X)
    {
        XD = (XM & ~m) | ((XN >> op->a << op->b) & m);
        NEXT;
    }
#undef m
    OP(LSL_W)
    {
        XD = WN << op->a;
        NEXT;
    }
    OP(LSL_X)
    {
        XD = XN << op->a;
        NEXT;
    }
    OP(LSR_W)
    {
        XD = WN >> op->a;
        NEXT;
    }
    OP(LSR_X)
    {
        XD = XN >> op->a;
        NEXT;
    }
    OP(ASR_W)
    {
        XD = (uint32_t)((int32_t)WN >> op->a);
        NEXT;
    }
    OP(ASR_X)
    {
        XD = (uint64_t)((int64_t)XN >> op->a);
        NEXT;
    }
    OP(SBF_W)
    {
        XD = (uint32_t)shifted_by(XN, op, true);
        NEXT;
    }
    OP(SBF_X)
    {
        XD = shifted_by(XN, op, true);
        NEXT;
    }
    OP(EXTR_W)
    {
        XD = (uint32_t)(((uint64_t)WN << 32 | WM) >> op->a);
        NEXT;
    }
    OP(EXTR_X)
    {
        XD = op->a ? XM >> op->a | XN << (64 - op->a) : XM;
        NEXT;
    }
    RESULT_SHIFTED(AND, n & m, n & m)
    RESULT_SHIFTED(BIC, n & ~m, n & ~m)
    RESULT_SHIFTED(ORR, n | m, n | m)
    RESULT_SHIFTED(ORN, n | ~m, n | ~m)
    RESULT_SHIFTED(EOR, n ^ m, n ^ m)
    RESULT_SHIFTED(EON, n ^ ~m, n ^ ~m)
    RESULT_SHIFTED(ADD, n + m, n + m)
    RESULT_SHIFTED(SUB, n - m, n - m)
    RESULT_SHIFTED(ANDS, logic_flags(f, n & m, true), logic_flags(f, n & m, false))
    RESULT_SHIFTED(BICS, logic_flags(f, n & ~m, true), logic_flags(f, n & ~m, false))
    RESULT_SHIFTED(ADDS, set_flags_w(f, n, m, 0), set_flags_x(f, n, m, 0))
    RESULT_SHIFTED(SUBS, compare_w(f, n, m), compare_x(f, n, m))
    RESULT_EXTENDED(ADD, n + m, n + m)
    RESULT_EXTENDED(SUB, n - m, n - m)
    RESULT_EXTENDED(ADDS, set_flags_w(f, n, m, 0), set_flags_x(f, n, m, 0))
    RESULT_EXTENDED(SUBS, compare_w(f, n, m), compare_x(f, n, m))
    RESULT_WX(ADC, n + m + f->c)
    RESULT_WX(SBC, n - m - 1 + f->c)
    OP(ADCS_W)
    {
        XD = set_flags_w(f, WN, WM, (uint32_t)f->c);
        NEXT;
    }
    OP(ADCS_X)
    {
        XD = set_flags_x(f, XN, XM, f->c);
        NEXT;
    }
    OP(SBCS_W)
    {
        XD = set_flags_w(f, WN, ~WM, (uint32_t)f->c);
        NEXT;
    }
    OP(SBCS_X)
    {
        XD = set_flags_x(f, XN, ~XM, f->c);
        NEXT;
    }
    RESULT_WX(CSEL, cpu_condition(f, op->a) ? n : m)
    RESULT_WX(CSINC, cpu_condition(f, op->a) ? n : m + 1)
    RESULT_WX(CSINV, cpu_condition(f, op->a) ? n : ~m)
    RESULT_WX(CSNEG, cpu_condition(f, op->a) ? n : 0 - m)
#define COMPARE_IF(name, call)                                                                                                   \
    OP(name)                                                                                                                     \
    {                                                                                                                            \
        if (cpu_condition(f, op->a))                                                                                             \
            (void)(call);                                                                                                        \
        else                                                                                                                     \
            cpu_flags_unpack(f, (uint32_t)op->b << 28);                                                                          \
        NEXT;                                                                                                                    \
    }
    COMPARE_IF(CCMP_REG_W, compare_w(f, WN, WM))
    COMPARE_IF(CCMP_REG_X, compare_x(f, XN, XM))
    COMPARE_IF(CCMN_REG_W, set_flags_w(f, WN, WM, 0))
    COMPARE_IF(CCMN_REG_X, set_flags_x(f, XN, XM, 0))
    COMPARE_IF(CCMP_IMM_W, compare_w(f, WN, (uint32_t)op->imm))
    COMPARE_IF(CCMP_IMM_X, compare_x(f, XN, (uint64_t)op->imm))
    COMPARE_IF(CCMN_IMM_W, set_flags_w(f, WN, (uint32_t)op->imm, 0))
    COMPARE_IF(CCMN_IMM_X, set_flags_x(f, XN, (uint64_t)op->imm, 0))
    RESULT_WX(MADD, XA + n * m)
    RESULT_WX(MSUB, XA - n * m)
    OP(SMADDL)
    {
        XD = XA + (uint64_t)((int64_t)(int32_t)WN * (int32_t)WM);
        NEXT;
    }
    OP(SMSUBL)
    {
        XD = XA - (uint64_t)((int64_t)(int32_t)WN * (int32_t)WM);
        NEXT;
    }
    OP(UMADDL)
    {
        XD = XA + (uint64_t)WN * WM;
        NEXT;
    }
    OP(UMSUBL)
    {
        XD = XA - (uint64_t)WN * WM;
        NEXT;
    }
    OP(SMULH)
    {
        XD = (uint64_t)((__int128)(int64_t)XN * (int64_t)XM >> 64);
        NEXT;
    }
    OP(UMULH)
    {
        XD = (uint64_t)((unsigned __int128)XN * XM >> 64);
        NEXT;
    }
    RESULT_WX(UDIV, m ? n / m : 0)
    OP(SDIV_W)
    {
        XD = (uint32_t)divide_signed(XN, XM, true);
        NEXT;
    }
    OP(SDIV_X)
    {
        XD = divide_signed(XN, XM, false);
        NEXT;
    }
    OP(LSLV_W)
    {
        XD = WN << (XM & 31);
        NEXT;
    }
    OP(LSLV_X)
    {
        XD = XN << (XM & 63);
        NEXT;
    }
    OP(LSRV_W)
    {
        XD = WN >> (XM & 31);
        NEXT;
    }
    OP(LSRV_X)
    {
        XD = XN >> (XM & 63);
        NEXT;
    }
    OP(ASRV_W)
    {
        XD = (uint32_t)((int32_t)WN >> (XM & 31));
        NEXT;
    }
    OP(ASRV_X)
    {
        XD = (uint64_t)((int64_t)XN >> (XM & 63));
        NEXT;
    }
    OP(RORV_W)
    {
        XD = rotate_w(WN, (unsigned)XM & 31);
        NEXT;
    }
    OP(RORV_X)
    {
        XD = rotate_x(XN, (unsigned)XM & 63);
        NEXT;
    }
    OP(CLZ_W)
    {
        XD = WN ? (uint64_t)__builtin_clz(WN) : 32;
        NEXT;
    }
    OP(CLZ_X)
    {
        XD = XN ? (uint64_t)__builtin_clzll(XN) : 64;
        NEXT;
    }
    OP(REV_W)
    {
        XD = __builtin_bswap32(WN);
        NEXT;
    }
    OP(REV_X)
    {
        XD = __builtin_bswap64(XN);
        NEXT;
    }

    OP(B) goto taken;
    OP(BL)
    {
        x[30] = (uint64_t)op->imm;
        goto taken;
    }
    OP(BR)
    {
        pc = XN;
        goto indirect;
    }
    OP(BLR)
    {
        pc = XN;
        x[30] = (uint64_t)op->imm;
        goto indirect;
    }
    BRANCH_IF(CBZ_W, (uint32_t)XD == 0)
    BRANCH_IF(CBZ_X, XD == 0)
    BRANCH_IF(CBNZ_W, (uint32_t)XD != 0)
    BRANCH_IF(CBNZ_X, XD != 0)
    BRANCH_IF(TBZ, !(XD & (uint64_t)op->imm))
    BRANCH_IF(TBNZ, XD & (uint64_t)op->imm)
    BRANCH_IF(B_EQ, cpu_condition(f, 0))
    BRANCH_IF(B_NE, cpu_condition(f, 1))
    BRANCH_IF(B_CS, cpu_condition(f, 2))
    BRANCH_IF(B_CC, cpu_condition(f, 3))
    BRANCH_IF(B_MI, cpu_condition(f, 4))
    BRANCH_IF(B_PL, cpu_condition(f, 5))
    BRANCH_IF(B_VS, cpu_condition(f, 6))
    BRANCH_IF(B_VC, cpu_condition(f, 7))
    BRANCH_IF(B_HI, cpu_condition(f, 8))
    BRANCH_IF(B_LS, cpu_condition(f, 9))
    BRANCH_IF(B_GE, cpu_condition(f, 10))
    BRANCH_IF(B_LT, cpu_condition(f, 11))
    BRANCH_IF(B_GT, cpu_condition(f, 12))
    BRANCH_IF(B_LE, cpu_condition(f, 13))

    COMPARE_BRANCH(EQ, a == b, a == b)
    COMPARE_BRANCH(NE, a != b, a != b)
    COMPARE_BRANCH(CS, a >= b, a >= b)
    COMPARE_BRANCH(CC, a < b, a < b)
    COMPARE_BRANCH(HI, a > b, a > b)
    COMPARE_BRANCH(LS, a <= b, a <= b)
    COMPARE_BRANCH(GE, (int32_t)a >= (int32_t)b, (int64_t)a >= (int64_t)b)
    COMPARE_BRANCH(LT, (int32_t)a < (int32_t)b, (int64_t)a < (int64_t)b)
    COMPARE_BRANCH(GT, (int32_t)a > (int32_t)b, (int64_t)a > (int64_t)b)
    COMPARE_BRANCH(LE, (int32_t)a <= (int32_t)b, (int64_t)a <= (int64_t)b)

    IN_MODES(LOAD_ONE, LDRB, uint8_t, )
    IN_MODES(LOAD_ONE, LDRH, uint16_t, )
    IN_MODES(LOAD_ONE, LDR_W, uint32_t, )
    IN_MODES(LOAD_ONE, LDR_X, uint64_t, )
    IN_MODES(LOAD_ONE, LDRSB_W, int8_t, (uint32_t))
    IN_MODES(LOAD_ONE, LDRSB_X, int8_t, (uint64_t))
    IN_MODES(LOAD_ONE, LDRSH_W, int16_t, (uint32_t))
    IN_MODES(LOAD_ONE, LDRSH_X, int16_t, (uint64_t))
    IN_MODES(LOAD_ONE, LDRSW, int32_t, (uint64_t))
    IN_MODES(STORE_ONE, STRB, uint8_t)
    IN_MODES(STORE_ONE, STRH, uint16_t)
    IN_MODES(STORE_ONE, STR_W, uint32_t)
    IN_MODES(STORE_ONE, STR_X, uint64_t)
    IN_MODES(LOAD_V_ONE, LDR_B, 1)
    IN_MODES(LOAD_V_ONE, LDR_H, 2)
    IN_MODES(LOAD_V_ONE, LDR_S, 4)
    IN_MODES(LOAD_V_ONE, LDR_D, 8)
    IN_MODES(LOAD_V_ONE, LDR_Q, 16)
    IN_MODES(STORE_V_ONE, STR_B, 1)
    IN_MODES(STORE_V_ONE, STR_H, 2)
    IN_MODES(STORE_V_ONE, STR_S, 4)
    IN_MODES(STORE_V_ONE, STR_D, 8)
    IN_MODES(STORE_V_ONE, STR_Q, 16)
    IN_PAIR_MODES(LOAD_TWO, LDP_W, uint32_t, )
    IN_PAIR_MODES(LOAD_TWO, LDP_X, uint64_t, )
    IN_PAIR_MODES(LOAD_TWO, LDPSW, int32_t, (uint64_t))
    IN_PAIR_MODES(STORE_TWO, STP_W, uint32_t)
    IN_PAIR_MODES(STORE_TWO, STP_X, uint64_t)
    IN_PAIR_MODES(LOAD_V_TWO, LDP_S, 4)
    IN_PAIR_MODES(LOAD_V_TWO, LDP_D, 8)
    IN_PAIR_MODES(LOAD_V_TWO, LDP_Q, 16)
    IN_PAIR_MODES(STORE_V_TWO, STP_S, 4)
    IN_PAIR_MODES(STORE_V_TWO, STP_D, 8)
    IN_PAIR_MODES(STORE_V_TWO, STP_Q, 16)

faulted: /* at op, state untouched */
    cut = (uint32_t)(op - code->op);
    left += code->block.count - cut;
    pc = code->block.pc + 4 * (uint64_t)cut;
    cpu_fault_at(core, &code->block.insn[cut], pc);
    goto out;
before_clock: /* at op, which begins the next trace */
    stop = CPU_STOP_BUDGET;
    cut = (uint32_t)(op - code->op);
    left += code->block.count - cut;
    pc = code->block.pc + 4 * (uint64_t)cut;
    goto out;
out_of_budget:
    stop = CPU_STOP_BUDGET;
    pc = code->block.pc;
out:
    core->pc = pc;
    core->instructions += (uint64_t)(counted - left);
    r.address = address;
    if (trace)
        record_close(trace, &r, cut);
    cpu_coprocessor_settle(core);
    return stop;
}
