/* The files that a simulated program may reach: folders and files of the host, mounted at absolute paths of the program.
 *
 * Without mounts there are no files. Every access goes through the descriptor that a mount was opened with and is resolved by the
 * host's kernel (openat2, RESOLVE_IN_ROOT): neither "..", nor symbolic links, nor renames under way lead out of a mount. Only
 * regular files and folders are opened, so that neither devices nor pipes of the host are reached.
 *
 * Paths are absolute and normal ("/a/b", cpu_path_join). Functions return 0 or more, or a negated errno.
 */
#ifndef ORCHARD_UNITS_CPU_CPU_SANDBOX_H
#define ORCHARD_UNITS_CPU_CPU_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { CPU_PATH_BYTES = 4096 };

struct cpu_mount {
    const char *host, *guest; /* guest: absolute */
    bool writable;
};

struct cpu_sandbox;

/* NULL when memory is out or a mount cannot be opened; `why` then says which and why, or is empty. */
struct cpu_sandbox *cpu_sandbox_create(const struct cpu_mount *mounts, size_t count, char *why, size_t why_bytes);
void cpu_sandbox_free(struct cpu_sandbox *sandbox);

/* Writes the absolute, normal form of `path`, seen from the folder `from`. False when it is too long or empty. */
bool cpu_path_join(const char *from, const char *path, char joined[CPU_PATH_BYTES]);

/* Opens with the host's flags and a mode for new files; returns a host descriptor. */
int cpu_sandbox_open(struct cpu_sandbox *sandbox, const char *path, int flags, unsigned mode);
int cpu_sandbox_stat(struct cpu_sandbox *sandbox, const char *path, bool follow, struct stat *st);
/* Whether the path may be read (4), written (2) and executed (1). */
int cpu_sandbox_access(struct cpu_sandbox *sandbox, const char *path, unsigned how);
/* Returns the length of the text, which is not terminated. */
int cpu_sandbox_readlink(struct cpu_sandbox *sandbox, const char *path, char *text, size_t bytes);
int cpu_sandbox_unlink(struct cpu_sandbox *sandbox, const char *path, bool folder);
int cpu_sandbox_mkdir(struct cpu_sandbox *sandbox, const char *path, unsigned mode);
/* `flags` are those of renameat2. */
int cpu_sandbox_rename(struct cpu_sandbox *sandbox, const char *from, const char *to, unsigned flags);

/* Folders that exist only because something is mounted below them. Entry `index` of such a folder, or NULL; *bytes is its
 * length. */
bool cpu_sandbox_is_way(const struct cpu_sandbox *sandbox, const char *path);
const char *cpu_sandbox_way_entry(const struct cpu_sandbox *sandbox, const char *path, size_t index, size_t *bytes);
/* Whether a path lies in any mount. */
bool cpu_sandbox_mounted(const struct cpu_sandbox *sandbox, const char *path);

#endif
