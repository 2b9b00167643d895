/* Models from disk, and what files are. */
#include "sim/base/file_read.h"
#include "sim/network/onnx/onnx_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct net_model *onnx_load(const char *path, struct orch_error *error)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    FILE *const file = fopen(path, "rb");
    bool ok = file && file_read_all(file, ONNX_BYTES_MAX, &bytes, &size);
    if (!ok)
        orch_fail(error, ORCH_USAGE, "%s: %s", path, errno == EFBIG ? "longer than 2 GiB" : strerror(errno));
    if (file)
        fclose(file);
    if (ok && file_is_git_lfs_pointer(bytes, size))
        ok = orch_fail(error, ORCH_USAGE, "%s: " FILE_GIT_LFS_POINTER, path);
    struct net_model *const model = ok ? onnx_import(path, bytes, size, error) : NULL;
    free(bytes);
    return model;
}

bool onnx_is(const void *bytes, size_t size)
{
    struct orch_error ignored;
    if (size < 4 || size > ONNX_BYTES_MAX || *(const uint8_t *)bytes != 0x08)
        return false; /* ir_version comes first in every file that was seen */
    return onnx_wire_check(&onnx__model_proto__descriptor, bytes, size, &ignored);
}
