/* Compiled kernels that are kept: orchard/compile in the XDG cache folder, one file each, named by a hash of everything that
 * decides the result. Entries can be deleted at any time; a damaged one counts as none. */
#ifndef ORCHARD_SIM_COMPILE_COMPILE_CACHE_H
#define ORCHARD_SIM_COMPILE_COMPILE_CACHE_H

#include "sim/base/content_hash.h"
#include "sim/compile/compile.h"

/* The name of the entry for this text, preprocessed source or intermediate representation; `clang` is its version, "" = not
 * used. */
void compile_cache_key(const struct compile_request *request, const char *clang, const char *text, size_t bytes,
                       char key[CONTENT_HASH_SIZE]);
/* False when there is none. */
bool compile_cache_find(const char *key, struct compile_result *result);
/* Keeps a result. A cache that cannot be written is no error: the next time compiles again. */
void compile_cache_keep(const char *key, const struct compile_result *result);

/* ---- compile_text.c: a result as text ---- */

struct json_object;
/* NULL when memory ran out. */
struct json_object *compile_to_json(const struct compile_result *result, const char *key);
/* False when the text is no such document; the result is freed with compile_result_free in any case. */
bool compile_from_json(const char *text, size_t bytes, const char *key, struct compile_result *result);

#endif
