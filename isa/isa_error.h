/* Errors of parsers and assemblers in isa/: one line for a person, with the place in the input. */
#ifndef ORCHARD_ISA_ISA_ERROR_H
#define ORCHARD_ISA_ISA_ERROR_H

struct isa_error {
    unsigned long line;   /* 1-based line of text input, 0 when not text */
    unsigned long offset; /* byte offset of binary input */
    char text[240];       /* what is wrong and what was expected; no newline */
};

#endif
