/* Matrix products through somebody's library, run as orchard's own AMX kernel of the same size. Libraries
 * differ in blocking and threads, so these rows say more about the kernel than about the unit; the note says
 * so.
 */
#include "sim/validate/program.h"

#include <string.h>

#define OUR_KERNEL "our kernel instead of the measured library's"
#define LARGE      1024 /* "large matrices": what the simulator runs in a second */

struct gemm_name {
    const char *part;
    const char *precision;
};

static const struct gemm_name names[] = {
    {"sgemm", "f32"},
    {"SGEMM", "f32"},
    {"DGEMM", "f64"},
    {"int16 matmul hand-written", "i16"},
    {"generated f32 matmul", "f32"},
    {"PyTorch CPU GEMM f32", "f32"},
};

static const char *precision_of(const char *what)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strstr(what, names[i].part))
            return names[i].precision;
    return NULL;
}

static unsigned size_of(const struct validate_row *row)
{
    unsigned n;
    const char *size = strstr(row->condition, "N=");
    if (size && sscanf(size, "N=%u", &n) == 1)
        return n;
    if (sscanf(row->what, "Accelerate SGEMM %u", &n) == 1)
        return n;
    return LARGE;
}

bool validate_plan_gemm(struct validate_row *row, struct validate_program *program)
{
    const char *precision = precision_of(row->what);
    if (!precision)
        return false;
    if (strcmp(row->unit, "GFLOPS") != 0 && strcmp(row->unit, "GOPS") != 0)
        return validate_refuse(row, "a product in '%.20s', not in operations per second", row->unit);
    if (strstr(row->what, "largest observed"))
        return validate_refuse(row, "the best figure seen, without its size");
    if (strstr(row->what, "on-line packing"))
        return validate_refuse(row, "the CPU packs while the unit works: the author's code is not rebuilt");
    const unsigned n = size_of(row);
    if (n > 2048)
        return validate_refuse(row, "%u x %u x %u takes minutes to simulate", n, n, n);
    const bool one = strstr(row->condition, "single thread") || strstr(row->condition, "1 core") ||
                     strstr(row->condition, "1 caller thread");
    program->core = VALIDATE_P_CORE;
    program->threads = one ? 1 : 0;
    program->warm = true;
    snprintf(program->workload, sizeof program->workload, "gemm:%ux%ux%u", n, n, n);
    snprintf(program->precision, sizeof program->precision, "%s", precision);
    program->note = OUR_KERNEL;
    program->work = 2.0 * n * n * n;
    program->measure = VALIDATE_RATE;
    return true;
}
