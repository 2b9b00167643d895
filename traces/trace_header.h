/* What a trace says of itself as a whole. */
#ifndef ORCHARD_TRACES_TRACE_HEADER_H
#define ORCHARD_TRACES_TRACE_HEADER_H

/* chip: where it was recorded, NULL when that is no chip of ours. level: kernel, operator or instruction. source: "orchard",
 * "pytorch-profiler" ... */
#define TRACE_HEADER_TABLE(X) X(chip) X(workload) X(orchard) X(level) X(source)

struct trace_header {
#define X(name) const char *name;
    TRACE_HEADER_TABLE(X)
#undef X
};

#endif
