// Every static relocation that the loader's linker applies, one after another. Also linked by GNU ld at the same
// addresses: the bytes must be equal.
    .text
    .globl relocations
    .type relocations, %function
relocations:
    b outside
    bl outside
    b.ne outside
    cbz x3, outside
    tbnz x4, #37, outside
    adr x0, outside + 1
    adr x0, words
    ldr x1, words
    adrp x2, words + 4096
    adrp x2, :pg_hi21_nc:words
    add x2, x2, #:lo12:odd
    ldrb w3, [x2, #:lo12:odd]
    ldrh w3, [x2, #:lo12:words + 2]
    ldr w3, [x2, #:lo12:words + 4]
    ldr x3, [x2, #:lo12:words + 8]
    ldr q3, [x2, #:lo12:words + 16]
    movz x5, #:abs_g0:small
    movz x5, #:abs_g1:words
    movk x5, #:abs_g0_nc:words
    movk x5, #:abs_g1_nc:large
    movz x5, #:abs_g2:large
    movk x5, #:abs_g2_nc:large
    movk x5, #:abs_g3:huge
    movz x6, #:abs_g0_s:small
    movz x6, #:abs_g0_s:negative
    movz x6, #:abs_g1_s:negative
    movz x6, #:abs_g2_s:large
    movz x6, #:abs_g2_s:negative
    ret

    .section .text.more, "ax", %progbits
    .globl outside
    .type outside, %function
outside:
    b relocations
    bl relocations + 4
    ret

    .section .rodata, "a", %progbits
    .byte 1, 2, 3
    .globl odd
odd:
    .byte 4
    .word small                  // ABS32
    .xword words, outside + 8    // ABS64
    .hword small                 // ABS16
    .hword words - .             // PREL16
    .word outside - .            // PREL32
    .xword outside - .           // PREL64

    .data
    .balign 16
    .globl words
words:
    .xword 1, 2, 3, 4, 5, 6, words

    .globl small, large, huge, negative
    .set small, 0x1234
    .set large, 0x123456789abc
    .set huge, 0x7edcba9876543210
    .set negative, -77
