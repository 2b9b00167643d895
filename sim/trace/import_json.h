/* Elements of the array of events in a Chrome trace, one by one, however long the file is: the array is the document, or its
 * member "traceEvents". */
#ifndef ORCHARD_SIM_TRACE_IMPORT_JSON_H
#define ORCHARD_SIM_TRACE_IMPORT_JSON_H

#include "sim/base/error.h"

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

enum { IMPORT_EVENT_MAX = 1 << 24 }; /* bytes of one event */

struct import_source {
    /* Fills up to `size` bytes; 0 at the end. *bad: it cannot be read any further (then 0, too). */
    size_t (*read)(void *context, void *to, size_t size, bool *bad);
    void *context;
    const char *name; /* for messages */
    bool force;       /* a document that is cut off ends where it ends */
};

/* Called with each event; false ends the reading with its *error. */
typedef bool import_on_event(void *context, json_object *event, struct orch_error *error);

/* False with *error "NAME: byte N: ..." when the document is not what it should be. *cut: with force, it was cut off. */
bool import_json_events(const struct import_source *source, import_on_event *on_event, void *context, bool *cut,
                        struct orch_error *error);

#endif
