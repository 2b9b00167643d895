/* The event bus: order, numbering, who gets progress, and that listeners cannot interfere. */
#include "sim/base/event.h"

#include "tests/support/suite.h"

#include <string.h>

struct log {
    char text[512];
    struct event_bus *bus;
    unsigned refused;
};

static void note(struct log *log, char who, const struct event *event)
{
    const size_t used = strlen(log->text);
    snprintf(log->text + used, sizeof log->text - used, "%c%s%u ", who, event_kind_name(event->kind), (unsigned)event->sequence);
}

static void on_a(void *context, const struct event *event)
{
    note(context, 'a', event);
}

static void on_b(void *context, const struct event *event)
{
    note(context, 'b', event);
}

static void emit(struct event_bus *bus, enum event_kind kind)
{
    const struct event e = {.kind = kind, .run = 1, .sequence = 999};
    CU_ASSERT_TRUE(event_bus_emit(bus, &e));
}

static void test_order(void)
{
    struct log log = {{0}, NULL, 0};
    struct event_bus *bus = event_bus_create();
    emit(bus, EVENT_RUN_BEGIN);
    CU_ASSERT_TRUE(event_bus_subscribe(bus, &(struct event_listener){on_a, &log, false}));
    CU_ASSERT_TRUE(event_bus_subscribe(bus, &(struct event_listener){on_b, &log, true}));
    emit(bus, EVENT_LAUNCH);
    emit(bus, EVENT_PROGRESS);
    emit(bus, EVENT_RUN_END);
    CU_ASSERT_STRING_EQUAL(log.text, "alaunch2 blaunch2 bprogress0 arun_end3 brun_end3 ");
    event_bus_free(bus);
}

/* The numbers do not depend on how often the host reported progress. */
static void test_progress_is_not_counted(void)
{
    char texts[2][512];
    for (int i = 0; i < 2; i++) {
        struct log log = {{0}, NULL, 0};
        struct event_bus *bus = event_bus_create();
        event_bus_subscribe(bus, &(struct event_listener){on_a, &log, false});
        emit(bus, EVENT_RUN_BEGIN);
        for (int n = 0; n < i * 5; n++)
            emit(bus, EVENT_PROGRESS);
        emit(bus, EVENT_OP_END);
        emit(bus, EVENT_RUN_END);
        memcpy(texts[i], log.text, sizeof texts[i]);
        event_bus_free(bus);
    }
    CU_ASSERT_STRING_EQUAL(texts[0], texts[1]);
}

static void meddle(void *context, const struct event *event)
{
    struct log *log = context;
    const struct event mine = {.kind = EVENT_FAULT, .run = 7};
    log->refused += !event_bus_emit(log->bus, &mine);
    log->refused += !event_bus_subscribe(log->bus, &(struct event_listener){on_a, log, false});
    memset((void *)(uintptr_t)event, 0x55, sizeof *event);
}

static void test_listeners_cannot_disturb(void)
{
    struct log log = {{0}, event_bus_create(), 0};
    event_bus_subscribe(log.bus, &(struct event_listener){meddle, &log, false});
    event_bus_subscribe(log.bus, &(struct event_listener){on_b, &log, false});
    emit(log.bus, EVENT_RUN_BEGIN);
    emit(log.bus, EVENT_RUN_END);
    CU_ASSERT_EQUAL(log.refused, 4);
    CU_ASSERT_STRING_EQUAL(log.text, "brun_begin1 brun_end2 ");
    event_bus_free(log.bus);
}

static void test_many_listeners(void)
{
    struct log logs[40] = {{{0}, NULL, 0}};
    struct event_bus *bus = event_bus_create();
    for (int i = 0; i < 40; i++)
        event_bus_subscribe(bus, &(struct event_listener){on_a, &logs[i], false});
    emit(bus, EVENT_SAMPLE);
    for (int i = 0; i < 40; i++)
        CU_ASSERT_STRING_EQUAL(logs[i].text, "asample1 ");
    event_bus_free(bus);
}

static void test_names(void)
{
    CU_ASSERT_STRING_EQUAL(event_kind_name(EVENT_DVFS_CHANGE), "dvfs_change");
    CU_ASSERT_PTR_NULL(event_kind_name(EVENT_KIND_COUNT));
    CU_ASSERT_STRING_EQUAL(orch_part_name(PART_DRAM), "dram");
    CU_ASSERT_PTR_NULL(orch_part_name(PART_COUNT));
}

static const struct suite_test tests[] = {
    {"listeners are called in order, and events are numbered", test_order},
    {"progress does not change the numbering", test_progress_is_not_counted},
    {"listeners can neither emit, subscribe nor alter events", test_listeners_cannot_disturb},
    {"forty listeners all get the event", test_many_listeners},
    {"every kind of event and part has a name", test_names},
};
SUITE_MAIN("event", tests)
