/* Temporary files that do not outlive the process.
 *
 * A temporary has an unpredictable name beside the file that it will become, and is created exclusively: neither another process
 * nor a symbolic link laid out in advance can take its place. All temporaries of the process are kept in one fixed table, which a
 * signal handler can walk: temporary_end_on_signals makes a signal that ends the process delete them first. A library never
 * installs such handlers by itself; that is the decision of a program's main.
 *
 * A forked child inherits the table but owns nothing in it: only the process that created a temporary deletes it.
 */
#ifndef ORCHARD_SIM_BASE_TEMPORARY_H
#define ORCHARD_SIM_BASE_TEMPORARY_H

#include <stdbool.h>
#include <sys/types.h>

/* How many temporaries a process can have at a time. */
enum { TEMPORARY_MAX = 128 };

struct temporary;

/* Creates a temporary in the folder of `path`, named after it: "PATH.part" and 16 random digits. Returns a descriptor that is
 * open for writing and the entry of the table in *temporary; -1 with errno set on failure (EMFILE also when the table is full).
 * `mode` is subject to the umask. */
int temporary_create(const char *path, mode_t mode, struct temporary **temporary);
/* Enters a file that exists already, so that it is deleted with the rest. NULL with errno set on failure. */
struct temporary *temporary_adopt(const char *path);
/* Where it is, until its entry ends. */
const char *temporary_path(const struct temporary *temporary);
/* Gives the temporary its final name, replacing what has that name, and ends the entry. On failure (false, with errno set) the
 * temporary is still there. */
bool temporary_rename(struct temporary *temporary, const char *path);
/* Deletes the file and ends the entry; NULL is fine. */
void temporary_remove(struct temporary *temporary);
/* Ends the entry and leaves the file; NULL is fine. */
void temporary_keep(struct temporary *temporary);

/* Deletes all temporaries of this process. Async-signal-safe; the process should end afterwards. */
void temporary_remove_all(void);

/* Installs handlers that delete the temporaries before the process ends. SIGINT, SIGTERM and SIGHUP write one line to standard
 * error and call end(128 + signal), which must not return and must be async-signal-safe: _exit. SIGPIPE, SIGQUIT and SIGXCPU end
 * the process by the signal itself, without words. A signal that the process was started to ignore (nohup) stays ignored, except
 * SIGINT. To be called once, by the main function of a program. */
void temporary_end_on_signals(void (*end)(int exit_code));
/* For work that can end by itself and say where it stood: whether SIGINT has come. For a second after each call SIGINT does not
 * end the process, but is left to the next call; a second SIGINT ends it in any case. False before temporary_end_on_signals. */
bool temporary_interrupted(void);

#endif
