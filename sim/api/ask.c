/* One question: options read, verb asked, answer and error handed over. */
#include "sim/api/answer.h"
#include "sim/api/verbs.h"
#include "sim/base/plain_stream.h"
#include "sim/base/suggest.h"
#include "sim/base/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- verbs and options as data ---- */

size_t orchard_verb_count(void)
{
    size_t count = 0;
    while (verb_at(count))
        count++;
    return count;
}

const struct orchard_verb *orchard_verb_at(size_t index)
{
    const struct api_verb *const verb = verb_at(index);
    return verb ? &verb->help : NULL;
}

const struct orchard_verb *orchard_verb_find(const char *name, struct orchard_error *error)
{
    struct orch_error why = {0};
    const struct api_verb *const verb = verb_find(name, &why);
    if (!verb)
        api_hand_over(error, &why, false);
    return verb ? &verb->help : NULL;
}

const struct orchard_option *orchard_common_options(void)
{
    return api_common_options;
}

const char *orchard_nearest(const char *word, const char *const *candidates)
{
    struct suggest s;
    suggest_start(&s, word);
    for (; candidates && *candidates; candidates++)
        suggest_offer(&s, *candidates);
    return suggest_best(&s);
}

/* ---- asking ---- */

/* "all" stands for the chips of the database, one after another. */
static bool name_all_chips(struct api_context *c, struct orch_error *error)
{
    if (strcmp(c->common.chips, "all") != 0)
        return true;
    const struct chip_db *const db = api_chip_db(c, error);
    size_t size = 1;
    for (size_t i = 0; db && i < chip_db_count(db); i++)
        size += strlen(chip_db_id(db, i)) + 1;
    char *const names = db ? calloc(1, size) : NULL;
    if (!names)
        return db && orch_no_memory(error);
    char *end = names;
    for (size_t i = 0; i < chip_db_count(db); i++)
        end += sprintf(end, "%s%s", i ? "," : "", chip_db_id(db, i));
    c->common.chips = c->common.all_chips = names;
    return true;
}

static bool read_options(struct api_context *c, const char *const *options, struct orch_error *error)
{
    const struct orchard_option *const own = c->verb ? c->verb->help.options : NULL;
    c->args.of_parts = c->verb ? c->verb->of_parts : NULL;
    if (!api_args_add(&c->args, api_common_options, own, c->session->options, error) ||
        !api_args_add(&c->args, api_common_options, own, options, error) || !api_common_read(&c->common, &c->args, error) ||
        !name_all_chips(c, error))
        return false;
    c->common.color = c->session->color;
    return true;
}

static void close_context(struct api_context *c)
{
    chip_db_close(c->chip_db);
    api_common_free(&c->common);
    api_args_free(&c->args);
}

bool orchard_check_options(const struct orchard_session *session, const char *verb, const char *const *options,
                           struct orchard_error *error)
{
    static const struct orchard_session silent;
    struct api_context c = {.session = session ? session : &silent};
    struct orch_error why = {0};
    const bool ok = (!verb || (c.verb = verb_find(verb, &why))) && read_options(&c, options, &why);
    if (!ok)
        api_hand_over(error, &why, c.session->dashes);
    close_context(&c);
    return ok;
}

static int ask(struct api_context *c, const char *const *words)
{
    static const char *const none[] = {NULL};
    int count = 0;
    while (words && words[count])
        count++;
    return c->verb->ask(c, count, words ? words : none);
}

/* Without a text stream, what has no document is kept for orchard_answer_output. */
static int ask_with_output(struct api_context *c, const char *const *words)
{
    char *output = NULL;
    size_t size = 0;
    if (c->session->text) {
        c->out = plain_stream_open(c->session->text);
        if (!c->out) {
            orch_no_memory(&c->error);
            return ORCH_INTERNAL;
        }
        const int result = ask(c, words);
        fclose(c->out); /* errors stay with the stream of the session */
        return result;
    }
    c->out = open_memstream(&output, &size);
    if (!c->out) {
        orch_no_memory(&c->error);
        return ORCH_INTERNAL;
    }
    const int code = ask(c, words);
    const bool written = fclose(c->out) == 0;
    if (c->answer && written) {
        answer_set_output(c->answer, output);
        output = NULL;
    }
    free(output);
    return code;
}

int orchard_ask(const struct orchard_session *session, const char *verb, const char *const *words, const char *const *options,
                struct orchard_answer **answer, struct orchard_error *error)
{
    static const struct orchard_session silent;
    struct api_context c = {.session = session ? session : &silent};
    int code = ORCH_INTERNAL;
    if (error)
        *error = (struct orchard_error){0};
    if (answer)
        *answer = NULL;
    if (answer && !(c.answer = answer_create()))
        orch_no_memory(&c.error);
    else if ((c.verb = verb_find(verb, &c.error)) && read_options(&c, options, &c.error))
        code = ask_with_output(&c, words);
    if (c.error.exit_code) {
        api_hand_over(error, &c.error, c.session->dashes);
        if (error)
            error->words = c.words_are_wrong;
        code = c.error.exit_code;
    }
    if (c.answer && (code > ORCH_FAILED && answer_is_empty(c.answer))) {
        orchard_answer_free(c.answer);
        c.answer = NULL;
    }
    if (c.answer)
        answer_set_code(c.answer, code);
    if (answer)
        *answer = c.answer;
    close_context(&c);
    return code;
}

/* ---- the process ---- */

void orchard_end_on_signals(void (*end)(int exit_code))
{
    temporary_end_on_signals(end);
}

bool orchard_interrupted(void)
{
    return temporary_interrupted();
}
