/* Events of the simulation as the public ones, for the callbacks of a session. */
#ifndef ORCHARD_SIM_API_EVENTS_H
#define ORCHARD_SIM_API_EVENTS_H

#include "sim/base/event.h"
#include "sim/orchard.h"

struct event_teller;

/* Tells the session's callbacks; NULL when memory is short. The session must outlive it. */
struct event_teller *event_teller_create(const struct orchard_session *session);
void event_teller_free(struct event_teller *teller);
/* The listener's function; the context is the teller. It wants progress events. */
void event_teller_on_event(void *teller, const struct event *event);
/* False when memory was short and an event came without its values. */
bool event_teller_is_whole(const struct event_teller *teller);

#endif
