/* Identifies the writing process, so that a later process can tell a dead writer from a slow one. */
#include "sim/db/db_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void db_host_name(char *text, size_t size)
{
    if (gethostname(text, size) != 0)
        snprintf(text, size, "unknown");
    text[size - 1] = 0;
}

/* Reads the first line of a file, without its newline; "" when it cannot be read. */
static void first_line(const char *path, char *text, size_t size)
{
    text[0] = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (!fgets(text, (int)size, file))
        text[0] = 0;
    fclose(file);
    text[strcspn(text, "\n")] = 0;
}

/* When a process started, in clock ticks since boot: field 22 of /proc/PID/stat (proc(5)). 0 = there is no such process. */
static unsigned long long start_of(long pid)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    first_line(path, line, sizeof line);
    const char *at = strrchr(line, ')'); /* the name may contain anything */
    if (!at || at[1] == 0 || at[2] == 'Z' || at[2] == 'X')
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* A process number means something only within one boot and one process namespace, which this text identifies. */
static void place_identity(char *text, size_t size)
{
    char boot[64], space[64];
    first_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    const ssize_t length = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[length > 0 ? length : 0] = 0;
    snprintf(text, size, "%s %s", boot, space);
}

void db_process_identity(char *text, size_t size)
{
    char place[160];
    place_identity(place, sizeof place);
    snprintf(text, size, "%ld %llu %s", (long)getpid(), start_of((long)getpid()), place);
}

bool db_process_gone(const char *identity, const char *host)
{
    char here[256], place[160], *rest;
    db_host_name(here, sizeof here);
    if (strcmp(here, host) != 0)
        return false; /* another machine: we cannot know */
    const long pid = strtol(identity, &rest, 10);
    const unsigned long long start = strtoull(rest, &rest, 10);
    place_identity(place, sizeof place);
    const char *there = *rest ? rest + 1 : rest;
    const size_t boot = strcspn(place, " ");
    if (strncmp(there, place, boot + 1) != 0)
        return true; /* it was before this machine was last started */
    if (strcmp(there, place) != 0)
        return false; /* another container: we cannot know */
    return start_of(pid) != start || start == 0;
}
