#include "isa/list_grow.h"
#include "sim/base/event.h"

#include <stdlib.h>

struct event_bus {
    struct event_listener *listener;
    size_t count, capacity;
    uint64_t sequence;
    bool emitting;
};

const char *event_kind_name(enum event_kind kind)
{
    static const char *const names[EVENT_KIND_COUNT] = {
#define X(name, text) [EVENT_##name] = text,
        EVENT_KIND_TABLE(X)
#undef X
    };
    return (unsigned)kind < EVENT_KIND_COUNT ? names[kind] : NULL;
}

struct event_bus *event_bus_create(void)
{
    return calloc(1, sizeof(struct event_bus));
}

void event_bus_free(struct event_bus *bus)
{
    if (!bus)
        return;
    free(bus->listener);
    free(bus);
}

bool event_bus_subscribe(struct event_bus *bus, const struct event_listener *listener)
{
    if (bus->emitting)
        return false;
    struct event_listener *const listeners = list_grow(bus->listener, bus->count, &bus->capacity, sizeof *listeners);
    if (!listeners)
        return false;
    bus->listener = listeners;
    bus->listener[bus->count++] = *listener;
    return true;
}

bool event_bus_wants_progress(const struct event_bus *bus)
{
    for (size_t i = 0; i < bus->count; i++)
        if (bus->listener[i].wants_progress)
            return true;
    return false;
}

bool event_bus_emit(struct event_bus *bus, const struct event *event)
{
    if (bus->emitting)
        return false;
    const bool progress = event->kind == EVENT_PROGRESS;
    struct event stamped = *event;
    stamped.sequence = progress ? 0 : ++bus->sequence;
    bus->emitting = true;
    for (size_t i = 0; i < bus->count; i++) {
        if (progress && !bus->listener[i].wants_progress)
            continue;
        /* Each listener gets a copy of its own: one that casts const away cannot spoil the event of another. */
        const struct event mine = stamped;
        bus->listener[i].on_event(bus->listener[i].context, &mine);
    }
    bus->emitting = false;
    return true;
}
