#include "sim/base/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void forget(struct whole_file *w)
{
    free(w->path);
    free(w->temporary);
    *w = (struct whole_file){0};
}

bool whole_file_open(struct whole_file *w, const char *path, struct orch_error *error)
{
    const size_t size = strlen(path) + 32;
    *w = (struct whole_file){.path = strdup(path), .temporary = malloc(size)};
    if (!w->path || !w->temporary) {
        forget(w);
        return orch_no_memory(error);
    }
    snprintf(w->temporary, size, "%s.part%ld", path, (long)getpid());
    w->file = fopen(w->temporary, "wb");
    if (w->file)
        return true;
    forget(w);
    return orch_fail(error, ORCH_USAGE, "%.400s: cannot be created: %s", path, strerror(errno));
}

bool whole_file_commit(struct whole_file *w, struct orch_error *error)
{
    const bool written = fflush(w->file) == 0 && !ferror(w->file);
    int why = errno;
    bool ok = fclose(w->file) == 0 && written;
    w->file = NULL;
    if (ok && rename(w->temporary, w->path) != 0)
        ok = false;
    if (!ok) {
        why = errno ? errno : why;
        remove(w->temporary);
        orch_fail(error, ORCH_USAGE, "%.400s: cannot be written: %s", w->path, strerror(why));
    }
    forget(w);
    return ok;
}

void whole_file_discard(struct whole_file *w)
{
    if (w->file) {
        fclose(w->file);
        remove(w->temporary);
    }
    forget(w);
}
