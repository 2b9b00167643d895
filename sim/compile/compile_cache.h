/* Compiled kernels that are kept: orchard/compile in the XDG cache folder, one file each, named by a hash of everything that
 * decides the result. Entries can be deleted at any time; one that is damaged, be it by a single bit, counts as none. */
#ifndef ORCHARD_SIM_COMPILE_COMPILE_CACHE_H
#define ORCHARD_SIM_COMPILE_COMPILE_CACHE_H

#include "sim/base/content_hash.h"
#include "sim/compile/compile.h"

/* What the cache may take. Entries that nobody has used for so long go, and then, beyond so many bytes, those that were used
 * longest ago until three quarters of that are left. Keeping looks after it once in COMPILE_CACHE_TURN times. */
enum { COMPILE_CACHE_DAYS = 90, COMPILE_CACHE_MIB = 256, COMPILE_CACHE_TURN = 16 };

/* The name of the entry for this text, preprocessed source or intermediate representation; `clang` is its version, "" = not
 * used. */
void compile_cache_key(const struct compile_request *request, enum compile_language language, const char *clang, const char *text,
                       size_t bytes, char key[CONTENT_HASH_SIZE]);
/* False when there is none. */
bool compile_cache_find(const char *key, struct compile_result *result);
/* Keeps a result. A cache that cannot be written is no error: the next time compiles again. */
void compile_cache_keep(const char *key, const struct compile_result *result);

/* Makes others who want the same entry wait while it is compiled, of this and of other processes, two minutes at most. Returns
 * what compile_cache_unlock takes; -1 when there is no lock to be had, which only means that work may be done twice. */
int compile_cache_lock(const char *key);
void compile_cache_unlock(int lock);

struct compile_cache_size {
    uint64_t entries, bytes;
};
/* The folder of the cache and what is in it; false when there is no place for caches. The folder need not be there. */
bool compile_cache_survey(char folder[4096], struct compile_cache_size *size);
/* Deletes what is too old at a time, and what is too much; also what writers that were killed have left. */
void compile_cache_prune(int64_t now_seconds, uint64_t bytes_max);

/* ---- compile_text.c: a result as text ---- */

struct json_object;
/* NULL when memory ran out. */
struct json_object *compile_to_json(const struct compile_result *result, const char *key);
/* False when the text is no such document; the result is freed with compile_result_free in any case. */
bool compile_from_json(const char *text, size_t bytes, const char *key, struct compile_result *result);

#endif
