#include "sim/workload/cpu/program_world.h"

#include "sim/base/checksum.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MOST ((size_t)1 << 30)

/* A list that has room for one more item. */
static void *more(void *list, size_t count, size_t item_bytes)
{
    return realloc(list, (count + 1) * item_bytes);
}

static bool split(char *text, struct cpu_mount *m)
{
    char *last = strrchr(text, ':');
    if (last && (strcmp(last, ":rw") == 0 || strcmp(last, ":ro") == 0)) {
        m->writable = last[2] == 'w';
        *last = 0;
        last = strrchr(text, ':');
    }
    if (!last || last == text || last[1] != '/')
        return false;
    *last = 0;
    m->host = text;
    m->guest = last + 1;
    return true;
}

bool program_world_mount(struct program_world *w, const char *text, struct orch_error *error)
{
    struct cpu_mount *const mount = more(w->mount, w->mounts, sizeof *mount);
    if (mount)
        w->mount = mount;
    char **const owned = mount ? more(w->owned, w->mounts, sizeof *owned) : NULL;
    if (owned)
        w->owned = owned;
    char *const copy = owned ? strdup(text) : NULL;
    if (!copy)
        return orch_no_memory(error);
    w->owned[w->mounts] = copy;
    struct cpu_mount *const m = &w->mount[w->mounts++];
    *m = (struct cpu_mount){.host = copy};
    return split(copy, m) ||
           orch_fail(error, ORCH_USAGE,
                     ORCH_OPTION("mount") " %.200s: expected HOST:GUEST or HOST:GUEST:rw, GUEST an absolute path", text);
}

bool program_world_env(struct program_world *w, const char *text, struct orch_error *error)
{
    const char *const equals = strchr(text, '=');
    if (!equals || equals == text)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("env") " %.200s: expected NAME=VALUE", text);
    const char **const env = more(w->env, w->envs, sizeof *env);
    if (!env)
        return orch_no_memory(error);
    w->env = env;
    w->env[w->envs++] = text;
    return true;
}

bool program_world_input(struct program_world *w, const char *path, struct orch_error *error)
{
    FILE *const f = fopen(path, "rb");
    size_t room = 0, n = 1;
    bool ok = f != NULL;
    if (!f)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("stdin") " %s: %s", path, strerror(errno));
    while (ok && n) {
        if (w->input_bytes == room) {
            uint8_t *const grown = realloc(w->input, room = room ? 2 * room : 4096);
            if (!grown)
                break;
            w->input = grown;
        }
        n = fread(w->input + w->input_bytes, 1, room - w->input_bytes, f);
        w->input_bytes += n;
        ok = w->input_bytes <= INPUT_MOST && !ferror(f);
    }
    const bool whole = ok && feof(f);
    fclose(f);
    return whole || orch_fail(error, ORCH_USAGE, ORCH_OPTION("stdin") " %s: cannot be read, or has more than 1 GiB", path);
}

void program_world_free(struct program_world *w)
{
    for (size_t i = 0; i < w->mounts; i++)
        free(w->owned[i]);
    free(w->owned);
    free(w->mount);
    free(w->env);
    free(w->input);
    *w = (struct program_world){.mounts = 0};
}

bool program_world_writes(const struct program_world *w)
{
    for (size_t i = 0; w && i < w->mounts; i++)
        if (w->mount[i].writable)
            return true;
    return false;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    return checksum_add(hash, text, strlen(text) + 1);
}

uint64_t program_world_hash(const struct program_world *w, uint64_t hash)
{
    for (size_t i = 0; i < w->mounts; i++) {
        hash = add_text(hash, w->mount[i].host);
        hash = add_text(hash, w->mount[i].guest);
        hash = add_text(hash, w->mount[i].writable ? "rw" : "ro");
    }
    for (size_t i = 0; i < w->envs; i++)
        hash = add_text(hash, w->env[i]);
    return checksum_add(hash, w->input, w->input_bytes);
}
