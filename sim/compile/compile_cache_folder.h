/* The folder of the cache, for the two files that look after it. */
#ifndef ORCHARD_SIM_COMPILE_COMPILE_CACHE_FOLDER_H
#define ORCHARD_SIM_COMPILE_COMPILE_CACHE_FOLDER_H

#include <stdbool.h>

enum { COMPILE_CACHE_PATH = 4096, COMPILE_CACHE_NAME = 128 }; /* bytes of a path, and of a name in the folder at most */
#define COMPILE_CACHE_SUFFIX ".json"

/* False when there is no place for caches. */
bool compile_cache_folder(char path[COMPILE_CACHE_PATH]);

#endif
