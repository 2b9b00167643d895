/* What a trace says about itself as a whole. */
#ifndef ORCHARD_TRACES_TRACE_HEADER_H
#define ORCHARD_TRACES_TRACE_HEADER_H

/* chip: where the trace was recorded, NULL when it is not in the chip database. level: kernel, operator or instruction.
 * source: "orchard", "pytorch-profiler" ... */
#define TRACE_HEADER_TABLE(X) X(chip) X(workload) X(orchard) X(level) X(source)

struct trace_header {
#define X(name) const char *name;
    TRACE_HEADER_TABLE(X)
#undef X
};

#endif
