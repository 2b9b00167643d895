#include "tests/guest/host/guest_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *guest_path(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/tests/guest/%s.elf", ORCHARD_BUILD_DIR, name);
    return path;
}

static char *read_stream(FILE *file, size_t *size)
{
    size_t room = 1 << 16, used = 0, got;
    char *bytes = malloc(room);
    while (bytes && (got = fread(bytes + used, 1, room - used - 1, file)) > 0) {
        used += got;
        if (used + 1 < room)
            continue;
        char *more = realloc(bytes, room *= 2);
        if (!more)
            free(bytes);
        bytes = more;
    }
    if (bytes)
        bytes[used] = 0;
    *size = used;
    return bytes;
}

uint8_t *guest_read(const char *name, size_t *size)
{
    FILE *file = fopen(guest_path(name), "rb");
    if (!file)
        return NULL;
    char *bytes = read_stream(file, size);
    fclose(file);
    return (uint8_t *)bytes;
}

char *guest_shell(const char *command, int *code)
{
    size_t size;
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return NULL;
    char *text = read_stream(pipe, &size);
    const int status = pclose(pipe);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return text;
}
