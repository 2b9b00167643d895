/* Errors of the parsers and assemblers in isa/: one line for a person, and the place in the input. */
#ifndef ORCHARD_ISA_ISA_ERROR_H
#define ORCHARD_ISA_ISA_ERROR_H

struct isa_error {
    unsigned long line;   /* line of text input, from 1; 0 for binary input */
    unsigned long offset; /* byte offset in binary input, column in a line of text */
    char text[240];       /* what is wrong and what was expected; no newline */
    char file[200];       /* the file that `line` counts in, where the input names others; "" = the input itself */
};

#endif
