/* Where the time of a GPU program went, by instruction and by line of its source, and what a performance engineer would say to
 * it.
 *
 * A profile has a kernel for each launch of the run. Sums over the instructions of a kernel are the launch's totals: instructions
 * exactly, cycles together with those that belong to no instruction. Texts are copies that the profile owns.
 */
#ifndef ORCHARD_SIM_BASE_LINE_PROFILE_H
#define ORCHARD_SIM_BASE_LINE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_REASONS_MAX 12

struct profile_instruction {
    uint32_t offset;                    /* in the code */
    uint32_t file, line;                /* of the source; line 0 = of none */
    char *text;                         /* disassembly */
    uint64_t issued;                    /* instructions of simdgroups */
    double lanes;                       /* of them active, in the mean; NAN = not issued */
    double units, least_units;          /* of an access, in the mean: lines of memory, or passes of the banks of threadgroup
                                           memory; how few would do; NAN = no access */
    double cycles[PROFILE_REASONS_MAX]; /* by reason: of a core, in the mean of the cores */
};

/* A line of the source that is shown. */
struct profile_text {
    uint32_t file, line;
    char *text;
};

struct profile_kernel {
    char *name;
    double timed_share; /* of its instructions; where it is below 1, cycles are those of the timed ones, scaled to all */
    double idle_cycles; /* of no instruction: threadgroups are being started, or none is left */
    struct profile_instruction *instruction;
    size_t instructions;
    char **file; /* of the source; none = the program has no table of lines */
    size_t files;
    struct profile_text *text; /* by file and line */
    size_t texts;
};

struct profile_warning {
    char *kind;  /* "uncoalesced", ... */
    char *place; /* "file:line", or "kernel+0x1a" without a source */
    uint32_t kernel, file, line, offset;
    char *evidence, *fix;
};

struct line_profile {
    char *reason[PROFILE_REASONS_MAX]; /* names of stall reasons; the first is issuing */
    size_t reasons;
    struct profile_kernel *kernel;
    size_t kernels;
    struct profile_warning *warning;
    size_t warnings;
};

/* NULL when memory has run out. */
struct line_profile *line_profile_create(void);
void line_profile_free(struct line_profile *profile);
struct line_profile *line_profile_copy(const struct line_profile *profile);

/* False when memory has run out, or there are more than PROFILE_REASONS_MAX. */
bool line_profile_add_reason(struct line_profile *profile, const char *name);
/* An empty kernel at the end; NULL when memory has run out. Valid until the next one is added. */
struct profile_kernel *line_profile_add_kernel(struct line_profile *profile, const char *name);
bool profile_kernel_add_instruction(struct profile_kernel *kernel, const struct profile_instruction *instruction);
bool profile_kernel_add_file(struct profile_kernel *kernel, const char *name);
bool profile_kernel_add_text(struct profile_kernel *kernel, uint32_t file, uint32_t line, const char *text);
/* Copies the texts of the warning. */
bool line_profile_add_warning(struct line_profile *profile, const struct profile_warning *warning);

double profile_instruction_cycles(const struct profile_instruction *instruction);
/* Of all instructions and of none. */
double profile_kernel_cycles(const struct profile_kernel *kernel);
uint64_t profile_kernel_issued(const struct profile_kernel *kernel);

/* A row of the listing: a line of the source, or, without a table of lines, an instruction. */
struct profile_line {
    uint32_t file, line; /* line 0 = instructions that belong to none */
    uint32_t offset;     /* of its first instruction */
    const char *text;    /* of the source or the disassembly; NULL = not known */
    size_t instructions; /* of the program; 0 = it is there to be read */
    uint64_t issued;
    double cycles[PROFILE_REASONS_MAX], all_cycles;
};
/* All rows in the order of the source or the code; free() them. NULL when memory has run out. */
struct profile_line *profile_kernel_lines(const struct profile_kernel *kernel, size_t *count);
/* True when an instruction belongs to a row. */
bool profile_line_has(const struct profile_kernel *kernel, const struct profile_line *line,
                      const struct profile_instruction *instruction);

#endif
