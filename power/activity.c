#include "power/activity.h"

#include <stddef.h>

struct event_text {
    const char *name, *unit, *definition;
};

static const struct event_text texts[ACT_COUNT] = {
#define X(name, unit, definition) [ACT_##name] = {#name, unit, definition},
    ACTIVITY_TABLE(X)
#undef X
};

static const struct event_text *text_of(enum activity_event event)
{
    return (unsigned)event < ACT_COUNT ? &texts[event] : NULL;
}

const char *activity_name(enum activity_event event)
{
    const struct event_text *t = text_of(event);
    return t ? t->name : NULL;
}

const char *activity_unit(enum activity_event event)
{
    const struct event_text *t = text_of(event);
    return t ? t->unit : NULL;
}

const char *activity_definition(enum activity_event event)
{
    const struct event_text *t = text_of(event);
    return t ? t->definition : NULL;
}
