#include "sim/workload/ane/ane_save.h"

#include "sim/base/output_file.h"

#include <string.h>

static bool is_container(const char *path)
{
    static const char end[] = ".hwx";
    const size_t length = strlen(path), tail = sizeof end - 1;
    return length >= tail && strcmp(path + length - tail, end) == 0;
}

bool ane_save(const struct ane_program *p, const char *path, struct orch_error *error)
{
    struct ane_program_parts parts = {.container = is_container(path) ? ANE_CONTAINER_HWX : ANE_CONTAINER_RAW,
                                      .generation = p->generation,
                                      .task = p->task,
                                      .count = p->count,
                                      .coefficients = p->bytes + p->const_offset,
                                      .coefficient_bytes = p->const_bytes};
    struct ane_program made;
    struct isa_error why = {0};
    memcpy(parts.port, p->port, sizeof parts.port);
    if (parts.container == p->container)
        return output_file_write(path, p->bytes, p->size, error);
    if (!ane_program_make(&parts, &made, &why))
        return orch_fail(error, ORCH_USAGE, "%.200s: %s", path, why.text);
    const bool ok = output_file_write(path, made.bytes, made.size, error);
    ane_program_free(&made);
    return ok;
}
