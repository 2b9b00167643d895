/* How a simulated program goes wrong. Every unit reports faults in this one form; sim turns them into exit code 4 and one clear
 * line. A fault belongs to the simulated program, never to orchard itself.
 */
#ifndef ORCHARD_UNITS_UNIT_FAULT_H
#define ORCHARD_UNITS_UNIT_FAULT_H

#include <stdint.h>

enum unit_fault_kind {
    UNIT_FAULT_NONE = 0,
    UNIT_FAULT_UNDEFINED,  /* undefined instruction, AMX before set, set while enabled */
    UNIT_FAULT_UNMAPPED,   /* address outside every mapped page */
    UNIT_FAULT_PERMISSION, /* page mapped without the permission the access needs */
    UNIT_FAULT_ALIGNMENT,  /* multi-register AMX transfer that is not 128-byte aligned, exclusive pair, ... */
    UNIT_FAULT_UNMODELLED, /* a real instruction that orchard does not model (exit 3, named) */
    UNIT_FAULT_TRAP,       /* brk, hlt, unknown system call */
};

struct unit_fault {
    enum unit_fault_kind kind;
    uint64_t pc;      /* address of the instruction, 0 when the unit has no program counter */
    uint64_t address; /* data address of memory faults */
    char text[200];   /* what happened, without the pc and without a newline */
};

#endif
