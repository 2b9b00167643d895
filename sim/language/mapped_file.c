#include "sim/language/mapped_file.h"

#include "isa/list_grow.h"
#include "sim/base/file_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool map(struct mapped_file *file, int descriptor, struct orch_error *error)
{
    struct stat st;
    if (fstat(descriptor, &st) != 0 || !S_ISREG(st.st_mode))
        return orch_fail(error, ORCH_USAGE, "is no regular file");
    if (st.st_size == 0)
        return orch_fail(error, ORCH_USAGE, "is empty");
    void *const bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED)
        return orch_fail(error, ORCH_USAGE, "cannot be mapped: %s", strerror(errno));
    *file = (struct mapped_file){bytes, (size_t)st.st_size, true};
    if (!file_is_git_lfs_pointer(bytes, file->size))
        return true;
    mapped_file_close(file);
    return orch_fail(error, ORCH_USAGE, FILE_GIT_LFS_POINTER);
}

bool mapped_file_open(struct mapped_file *file, const char *path, struct orch_error *error)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return orch_fail(error, ORCH_USAGE, "%.300s: %s", path, strerror(errno));
    const bool ok = map(file, descriptor, error);
    close(descriptor);
    return ok || orch_fail_in(error, "%.300s", path);
}

void mapped_file_close(struct mapped_file *file)
{
    if (file->mapped)
        munmap((void *)(uintptr_t)file->bytes, file->size);
    *file = (struct mapped_file){0};
}

bool mapped_files_add(struct mapped_files *files, struct mapped_file file, struct orch_error *error)
{
    struct mapped_file *const grown = list_grow(files->file, files->count, &files->room, sizeof *grown);
    if (!grown) {
        mapped_file_close(&file);
        return orch_no_memory(error);
    }
    files->file = grown;
    files->file[files->count++] = file;
    return true;
}

uint64_t mapped_files_bytes(const struct mapped_files *files)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < files->count; i++)
        bytes += files->file[i].size;
    return bytes;
}

void mapped_files_close(struct mapped_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        mapped_file_close(&files->file[i]);
    free(files->file);
    *files = (struct mapped_files){0};
}
