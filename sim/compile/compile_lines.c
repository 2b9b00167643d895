#include "sim/compile/compile_lines.h"

#include "sim/base/file_read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES_MAX = 16 << 20 };

/* Whether the file lies in one of the folders that #include may reach. */
static bool may_read(const struct compile_request *q, const char *file)
{
    char real[PATH_MAX], folder[PATH_MAX];
    if (!realpath(file, real))
        return false;
    for (size_t i = 0; i < q->includes; i++) {
        const size_t length = realpath(q->include[i], folder) ? strlen(folder) : 0;
        if (length && strncmp(real, folder, length) == 0 && real[length] == '/')
            return true;
    }
    return false;
}

/* Takes a file's text; one that is gone or no text leaves its lines without. */
static bool take_file(struct abi_source *s, uint32_t file, const char *path)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    FILE *const f = fopen(path, "rb");
    const bool read = f && file_read_all(f, TEXT_BYTES_MAX, &bytes, &size);
    if (f)
        fclose(f);
    const bool ok = !read || strlen((const char *)bytes) != size || abi_source_take_text(s, file, (const char *)bytes, size);
    free(bytes);
    return ok;
}

static bool take_texts(struct abi_source *s, const struct compile_result *r, const struct compile_request *q)
{
    for (uint32_t i = 0; i < s->files; i++) {
        const char *const file = r->file[i];
        bool ok = true;
        if (strcmp(file, q->path) == 0)
            ok = q->text ? abi_source_take_text(s, i, q->text, q->text_bytes) : take_file(s, i, q->path);
        else if (may_read(q, file))
            ok = take_file(s, i, file);
        if (!ok)
            return false;
    }
    return true;
}

bool compile_lines(const struct compile_result *r, const struct compile_request *q, struct abi_source **source,
                   struct orch_error *error)
{
    struct abi_source *const s = *source = abi_source_create(r->lines, r->files);
    if (!s)
        return orch_no_memory(error);
    s->spills = r->spills;
    for (; s->files < r->files; s->files++)
        if (!(s->file[s->files] = abi_source_clean(strdup(r->file[s->files]))))
            return orch_no_memory(error);
    for (; s->lines < r->lines; s->lines++) {
        const struct compile_line *const l = &r->line[s->lines];
        s->line[s->lines] = (struct abi_source_line){l->offset, l->file, l->line};
    }
    return take_texts(s, r, q) || orch_no_memory(error);
}
