/* The operations that have a place of their own in the loop of cpu_exec_run.c: names for the label table. */
#ifndef ORCHARD_UNITS_CPU_CPU_EXEC_HOT_H
#define ORCHARD_UNITS_CPU_CPU_EXEC_HOT_H

#define HOT_WX(X, n)      X(n##_W) X(n##_X)
#define HOT_SHIFTS(X, n)  HOT_WX(X, n##_NONE) HOT_WX(X, n##_LSL) HOT_WX(X, n##_LSR) HOT_WX(X, n##_ASR)
#define HOT_EXTENDS(X, n) HOT_WX(X, n##_EXTU) HOT_WX(X, n##_EXTS)
/* Addressing: immediate, post-index, pre-index, register with arithmetic or logical extension. */
#define HOT_MODES(X, n) X(n##_IMM) X(n##_POST) X(n##_PRE) X(n##_REGS) X(n##_REGU)
#define HOT_PAIR(X, n)  X(n##_OFF) X(n##_POST) X(n##_PRE)

/* A comparison and the conditional branch behind it, in one operation. */
#define HOT_COMPARE_BRANCH(X, c) X(CMPB_IMM_W_##c) X(CMPB_IMM_X_##c) X(CMPB_REG_W_##c) X(CMPB_REG_X_##c)

#define CPU_HOT_OPS(X)                                                                                                           \
    X(CLOSE)                                                                                                                     \
    X(CALL)                                                                                                                      \
    X(CALL_MEMORY) X(AMX) X(SVC) X(TRAP) X(UNDEFINED) X(UNMODELLED) X(NOP) X(COUNTER) X(CONST) HOT_WX(X, MOVK) HOT_WX(           \
        X, ADD_IMM) HOT_WX(X, ADDS_IMM) HOT_WX(X, SUBS_IMM) HOT_WX(X, AND_IMM) HOT_WX(X, ORR_IMM) HOT_WX(X, EOR_IMM)             \
        HOT_WX(X, ANDS_IMM) HOT_WX(X, LSL) HOT_WX(X, LSR) HOT_WX(X, ASR) X(UBFX) X(UBFIZ) HOT_WX(X, SBF) HOT_WX(X, BFM) HOT_WX(  \
            X, EXTR) HOT_SHIFTS(X, AND) HOT_SHIFTS(X, BIC) HOT_SHIFTS(X, ORR) HOT_SHIFTS(X, ORN) HOT_SHIFTS(X, EOR)              \
            HOT_SHIFTS(X, EON) HOT_SHIFTS(X, ANDS) HOT_SHIFTS(X, BICS) HOT_SHIFTS(X, ADD) HOT_SHIFTS(X, ADDS) HOT_SHIFTS(        \
                X, SUB) HOT_SHIFTS(X, SUBS) HOT_EXTENDS(X, ADD) HOT_EXTENDS(X, ADDS) HOT_EXTENDS(X, SUB) HOT_EXTENDS(X, SUBS)    \
                X(MOV_W) X(MOV_X) HOT_WX(X, ADC) HOT_WX(X, ADCS) HOT_WX(X, SBC) HOT_WX(X, SBCS) HOT_WX(X, CSEL) HOT_WX(X, CSINC) \
                    HOT_WX(X, CSINV) HOT_WX(X, CSNEG) HOT_WX(X, CCMP_REG) HOT_WX(X, CCMN_REG) HOT_WX(X, CCMP_IMM) HOT_WX(        \
                        X,                                                                                                       \
                        CCMN_IMM) HOT_WX(X,                                                                                      \
                                         MADD) HOT_WX(X,                                                                         \
                                                      MSUB) X(SMADDL) X(SMSUBL) X(UMADDL) X(UMSUBL) X(SMULH)                     \
                        X(UMULH) HOT_WX(X, UDIV) HOT_WX(X, SDIV) HOT_WX(X, LSLV) HOT_WX(X, LSRV) HOT_WX(X, ASRV) HOT_WX(X, RORV) \
                            HOT_WX(X, CLZ) HOT_WX(X, REV) X(B) X(BL) X(BR) X(BLR) HOT_WX(X, CBZ) HOT_WX(X, CBNZ)                 \
                                X(TBZ) X(TBNZ) X(B_EQ) X(B_NE) X(B_CS) X(B_CC) X(B_MI) X(B_PL) X(B_VS) X(B_VC) X(B_HI) X(B_LS)   \
                                    X(B_GE) X(                                                                                   \
                                        B_LT) X(B_GT) X(B_LE)                                                                    \
                                        HOT_COMPARE_BRANCH(X, EQ) HOT_COMPARE_BRANCH(X, NE) HOT_COMPARE_BRANCH(X, CS)            \
                                            HOT_COMPARE_BRANCH(X, CC) HOT_COMPARE_BRANCH(X, HI) HOT_COMPARE_BRANCH(X, LS)        \
                                                HOT_COMPARE_BRANCH(X, GE) HOT_COMPARE_BRANCH(X, LT) HOT_COMPARE_BRANCH(          \
                                                    X, GT) HOT_COMPARE_BRANCH(X, LE) HOT_MODES(X, LDRB)                          \
                                                    HOT_MODES(X, LDRH) HOT_MODES(X, LDR_W) HOT_MODES(X, LDR_X) HOT_MODES(        \
                                                        X, LDRSB_W) HOT_MODES(X, LDRSB_X) HOT_MODES(X, LDRSH_W)                  \
                                                        HOT_MODES(X, LDRSH_X) HOT_MODES(X, LDRSW) HOT_MODES(X, STRB)             \
                                                            HOT_MODES(X, STRH) HOT_MODES(X, STR_W) HOT_MODES(X, STR_X)           \
                                                                HOT_MODES(X,                                                     \
                                                                          LDR_B) HOT_MODES(X, LDR_H)                             \
                                                                    HOT_MODES(X,                                                 \
                                                                              LDR_S) HOT_MODES(X, LDR_D)                         \
                                                                        HOT_MODES(X,                                             \
                                                                                  LDR_Q) HOT_MODES(X, STR_B)                     \
                                                                            HOT_MODES(X,                                         \
                                                                                      STR_H) HOT_MODES(X, STR_S)                 \
                                                                                HOT_MODES(X,                                     \
                                                                                          STR_D) HOT_MODES(X, STR_Q)             \
                                                                                    HOT_PAIR(X, LDP_W) HOT_PAIR(X, LDP_X)        \
                                                                                        HOT_PAIR(X, LDPSW) HOT_PAIR(X, STP_W)    \
                                                                                            HOT_PAIR(X, STP_X) HOT_PAIR(         \
                                                                                                X, LDP_S) HOT_PAIR(X, LDP_D)     \
                                                                                                HOT_PAIR(X, LDP_Q)               \
                                                                                                    HOT_PAIR(X, STP_S)           \
                                                                                                        HOT_PAIR(X, STP_D)       \
                                                                                                            HOT_PAIR(X, STP_Q)

enum cpu_hot {
#define X(name) HOT_##name,
    CPU_HOT_OPS(X)
#undef X
        CPU_HOT_COUNT
};

#endif
