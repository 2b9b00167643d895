/* Reads the events of a Chrome trace one by one, however long the file is. The array of events is the document itself or its
 * member "traceEvents". */
#ifndef ORCHARD_SIM_TRACE_IMPORT_JSON_H
#define ORCHARD_SIM_TRACE_IMPORT_JSON_H

#include "sim/base/error.h"

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

enum { IMPORT_EVENT_MAX = 1 << 24 }; /* longest text of one event */

struct import_source {
    /* Fills up to `size` bytes and returns how many; 0 at the end. Sets *bad, and returns 0, when it cannot read on. */
    size_t (*read)(void *context, void *to, size_t size, bool *bad);
    void *context;
    const char *name; /* named in messages */
    bool force;       /* accept a document that is cut off, as far as it goes */
};

/* Called with each event; returning false stops the reading with its *error. */
typedef bool import_on_event(void *context, json_object *event, struct orch_error *error);

/* False with *error "NAME: byte N: ..." when the document is malformed. *cut tells that it was cut off and accepted by force. */
bool import_json_events(const struct import_source *source, import_on_event *on_event, void *context, bool *cut,
                        struct orch_error *error);

#endif
