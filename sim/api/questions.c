/* The questions that are asked most, as functions of their own. */
#include "sim/base/error.h"
#include "sim/api/api.h"

#include <stdlib.h>
#include <string.h>

/* A list that grows; its texts are copies. */
struct list {
    char **text;
    size_t count;
    bool failed;
};

static void add(struct list *list, const char *name, const char *value)
{
    char **const grown = realloc(list->text, (list->count + 2) * sizeof *grown);
    if (grown)
        list->text = grown;
    const size_t size = strlen(name) + strlen(value) + 2;
    char *const text = grown ? malloc(size) : NULL;
    if (!text) {
        list->failed = true;
        return;
    }
    snprintf(text, size, "%s%s%s", name, *name && *value ? "=" : "", value);
    grown[list->count++] = text;
    grown[list->count] = NULL;
}

static void add_all(struct list *list, const char *name, const char *const *values)
{
    for (; values && *values; values++)
        add(list, name, *values);
}

static void list_free(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->text[i]);
    free(list->text);
}

static struct orchard_answer *ask(const struct orchard_session *session, const char *verb, const char *const *words,
                                  const char *const *options, struct orchard_error *error)
{
    struct orchard_answer *answer;
    if (orchard_ask(session, verb, words, options, &answer, error) <= ORCH_FAILED)
        return answer;
    orchard_answer_free(answer);
    return NULL;
}

/* Asks with a list that was made here, and frees it. */
static struct orchard_answer *ask_list(const struct orchard_session *session, const char *verb, const char *const *words,
                                       struct list *options, struct orchard_error *error)
{
    struct orchard_answer *answer = NULL;
    if (options->failed)
        api_hand_over(error, &(struct orch_error){.exit_code = ORCH_INTERNAL, .text = "out of memory", .plain = "out of memory"},
                      true);
    else
        answer = ask(session, verb, words, (const char *const *)options->text, error);
    list_free(options);
    return answer;
}

struct orchard_answer *orchard_run(const struct orchard_session *session, const char *workload, const char *const *options,
                                   struct orchard_error *error)
{
    return ask(session, "run", (const char *[]){workload, NULL}, options, error);
}

struct orchard_answer *orchard_sweep(const struct orchard_session *session, const char *workload, const char *const *lists,
                                     const char *const *options, struct orchard_error *error)
{
    struct list all = {0};
    add_all(&all, "list", lists);
    add_all(&all, "", options);
    return ask_list(session, "sweep", (const char *[]){workload, NULL}, &all, error);
}

struct orchard_answer *orchard_whatif(const struct orchard_session *session, const char *workload, const char *goal,
                                      const char *const *vary, const char *const *options, struct orchard_error *error)
{
    struct list all = {0};
    add(&all, "goal", goal);
    add_all(&all, "vary", vary);
    add_all(&all, "", options);
    return ask_list(session, "whatif", (const char *[]){workload, NULL}, &all, error);
}

struct orchard_answer *orchard_trace_record(const struct orchard_session *session, const char *workload, const char *path,
                                            const char *const *options, struct orchard_error *error)
{
    struct list all = {0};
    add(&all, "output", path);
    add_all(&all, "", options);
    return ask_list(session, "trace", (const char *[]){"record", workload, NULL}, &all, error);
}

struct orchard_answer *orchard_trace_replay(const struct orchard_session *session, const char *path, const char *const *options,
                                            struct orchard_error *error)
{
    return ask(session, "trace", (const char *[]){"replay", path, NULL}, options, error);
}

struct orchard_answer *orchard_validate(const struct orchard_session *session, const char *const *tables,
                                        const char *const *options, struct orchard_error *error)
{
    return ask(session, "validate", tables, options, error);
}

bool orchard_report(const struct orchard_session *session, const char *path, const char *const *runs, const char *const *options,
                    struct orchard_error *error)
{
    struct list all = {0};
    struct orchard_error own = {0};
    add(&all, "output", path);
    add_all(&all, "", options);
    orchard_answer_free(ask_list(session, "report", runs, &all, &own));
    if (own.code && error)
        *error = own;
    return own.code == 0;
}
