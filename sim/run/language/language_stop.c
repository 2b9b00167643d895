#include "sim/run/language/language_stop.h"

#include <string.h>

const char *language_stop_find(const struct language_options *o, const char *text, size_t from, size_t length, size_t *at)
{
    for (*at = from; *at < length; ++*at)
        for (unsigned i = 0; i < o->stops; i++) {
            const size_t size = strlen(o->stop[i]);
            if (size <= length - *at && memcmp(text + *at, o->stop[i], size) == 0)
                return o->stop[i];
        }
    return NULL;
}

size_t language_stop_held(const struct language_options *o, const char *text, size_t from, size_t length)
{
    size_t held = 0;
    for (unsigned i = 0; i < o->stops; i++)
        for (size_t size = strlen(o->stop[i]) - 1; size > held; size--)
            if (size <= length - from && memcmp(text + length - size, o->stop[i], size) == 0)
                held = size;
    return held;
}
