/* Forms of the operations of the loop. Every form opens a label `op_NAME` within cpu_exec_run() and ends by going to the next
 * operation or block. The tables cpu_exec_run_*.inc consist of them. */
#ifndef ORCHARD_UNITS_CPU_CPU_EXEC_RUN_FORMS_H
#define ORCHARD_UNITS_CPU_CPU_EXEC_RUN_FORMS_H

#include "units/cpu/cpu_exec_alu.h"

#include <string.h>

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* gcc copies the indirect jump to every operation, which suits the branch predictors of the host. clang analyses every jump
 * against every label; with the undefined-behaviour sanitizer that takes more than a minute. clang therefore gets a single
 * jump, and only gcc checks this function with that sanitizer. */
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

/* Operands of the operation: registers at full width (X) or their lower half (W), and the constant. */
#define XD  x[op->rd]
#define XN  x[op->rn]
#define XM  x[op->rm]
#define XA  x[op->ra]
#define WN  ((uint32_t)XN)
#define WM  ((uint32_t)XM)
#define IMM ((uint64_t)op->imm)

#define RESULT(name, expr)                                                                                                       \
    OP(name)                                                                                                                     \
    {                                                                                                                            \
        XD = (expr);                                                                                                             \
        NEXT;                                                                                                                    \
    }
/* The same expression at both widths. n and m are the operands, already cut to the width. */
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
/* The second operand shifted in each way the instruction set knows: not at all, LSL, LSR, ASR. */
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
/* The second operand extended from a part of its register, without or with sign, and shifted left. */
#define RESULT_EXTENDED(name, expr_w, expr_x)                                                                                    \
    OP(name##_EXTU_W)                                                                                                            \
    {                                                                                                                            \
        const uint32_t n = WN, m = (uint32_t)alu_shift_pair(XM, op, false);                                                      \
        XD = (uint32_t)(expr_w);                                                                                                 \
        NEXT;                                                                                                                    \
    }                                                                                                                            \
    OP(name##_EXTS_W)                                                                                                            \
    {                                                                                                                            \
        const uint32_t n = WN, m = (uint32_t)alu_shift_pair(XM, op, true);                                                       \
        XD = (uint32_t)(expr_w);                                                                                                 \
        NEXT;                                                                                                                    \
    }                                                                                                                            \
    OP(name##_EXTU_X)                                                                                                            \
    {                                                                                                                            \
        const uint64_t n = XN, m = alu_shift_pair(XM, op, false);                                                                \
        XD = (expr_x);                                                                                                           \
        NEXT;                                                                                                                    \
    }                                                                                                                            \
    OP(name##_EXTS_X)                                                                                                            \
    {                                                                                                                            \
        const uint64_t n = XN, m = alu_shift_pair(XM, op, true);                                                                 \
        XD = (expr_x);                                                                                                           \
        NEXT;                                                                                                                    \
    }
/* A conditional comparison: the flags of the comparison, or those that the instruction gives. */
#define COMPARE_IF(name, call)                                                                                                   \
    OP(name)                                                                                                                     \
    {                                                                                                                            \
        if (cpu_condition(f, op->a))                                                                                             \
            (void)(call);                                                                                                        \
        else                                                                                                                     \
            cpu_flags_unpack(f, (uint32_t)op->b << 28);                                                                          \
        NEXT;                                                                                                                    \
    }

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
/* cond_w and cond_x state the condition in terms of a and b. */
/* clang-format off */
#define COMPARE_BRANCH(c, cond_w, cond_x) \
    COMPARE_BRANCH_ONE(CMPB_IMM_W_##c, uint32_t, alu_compare_w, op->imm, cond_w) \
    COMPARE_BRANCH_ONE(CMPB_REG_W_##c, uint32_t, alu_compare_w, XM, cond_w) \
    COMPARE_BRANCH_ONE(CMPB_IMM_X_##c, uint64_t, alu_compare_x, op->imm, cond_x) \
    COMPARE_BRANCH_ONE(CMPB_REG_X_##c, uint64_t, alu_compare_x, XM, cond_x)
/* clang-format on */

/* Declares the host pointer `p` to `bytes` bytes at `addr`. A short check finds the frequent case; everything else calls
 * cpu_memory(), which also removes a tag from the address. `touched` is the address for the trace. */
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
    M(name##_REGS, XN + alu_shift_pair(XM, op, true), __VA_ARGS__, (void)0) \
    M(name##_REGU, XN + alu_shift_pair(XM, op, false), __VA_ARGS__, (void)0)
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

#endif
