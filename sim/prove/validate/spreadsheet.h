/* What somebody with a spreadsheet would have said: max(flop / published peak, bytes / (0.85 x published bandwidth)) plus the
 * same overhead. Flop and bytes follow from the shape alone, each tensor touched once; peaks and bandwidths are those that chips
 * are sold with. Nothing is taken from the simulation but the overhead.
 */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_SPREADSHEET_H
#define ORCHARD_SIM_PROVE_VALIDATE_SPREADSHEET_H

#include "sim/prove/validate/row.h"

#define SPREADSHEET_BANDWIDTH_SHARE 0.85

struct spreadsheet_work {
    double flop, bytes; /* of the row's operation; 0 = not known or none */
};
/* From the columns of the table, else from the shapes of the kernels. False when neither says anything. */
bool spreadsheet_work(const struct validate_row *row, const struct validate_program *program, struct spreadsheet_work *work);
/* Adds the work of a kernel of a library ("gemm:64x64x64,batch=2") `times` times. False when its shape has no such figures. */
bool spreadsheet_kernel(const char *workload, const char *precision, double times, struct spreadsheet_work *work);

/* Published peaks of what the row uses. */
struct spreadsheet_peaks {
    double flops, bytes_per_s; /* 0 = none published */
};
struct spreadsheet_peaks spreadsheet_peaks(const struct chip *chip, const struct validate_row *row,
                                           const struct validate_program *program);

/* Seconds on the device by the roofline; 0 when the peaks that it takes are not known. */
double spreadsheet_seconds(const struct spreadsheet_work *work, const struct spreadsheet_peaks *peaks);

/* The row's value, in its unit, with this overhead; 0 when a spreadsheet has no figure for such a row (latencies, cycles, caches,
 * watts, vector instructions of AMX). */
double spreadsheet_value(const struct chip *chip, const struct validate_row *row, const struct validate_program *program,
                         double overhead_s);

#endif
