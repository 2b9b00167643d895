/* Requests for completions: fields that clients of llama.cpp and OpenAI send, and what is made of them. */
#include "sim/serve/chat_form.h"
#include "sim/serve/completion.h"

#include "sim/language/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { TOKENS_USUALLY = 128, TOKENS_MOST = 8192 };

bool completion_find_model(struct completion *c, const struct json_node *top)
{
    const char *const name = json_find_string(top, "model", NULL);
    struct served *const served = c->context->served;
    if (name)
        c->model = served_find(served, name);
    /* Clients often send a name of their own; with one language model it is that one. */
    unsigned languages = 0;
    for (size_t i = 0; !c->model && i < served_count(served); i++)
        if (served_at(served, i)->language && ++languages == 1)
            c->model = served_at(served, i);
    if (languages > 1)
        c->model = NULL;
    if (!c->model)
        return json_wrong(top, "model", "no language model '%.80s' is served", name ? name : "");
    return c->model->language || json_wrong(top, "model", "'%.80s' is no language model: POST /v2/models/NAME/infer", name);
}

static bool add_prompt(struct completion *c, const struct json_node *top, const char *name, const char *text)
{
    size_t wrong;
    if (!json_ok(top))
        return false;
    if (!utf8_is_valid(text, strlen(text), &wrong))
        return json_wrong(top, name, "is no UTF-8 at byte %zu", wrong);
    if ((c->prompts + 1) * c->each > COMPLETION_TEXTS)
        return json_wrong(top, name, "at most %d texts at a time are served", (int)COMPLETION_TEXTS);
    c->prompt[c->prompts] = strdup(text);
    return c->prompt[c->prompts++] || json_wrong(top, name, "memory is out");
}

static bool read_prompt(struct completion *c, const struct json_node *top)
{
    const struct json_node prompt = json_member(top, "prompt");
    struct json_node item;
    if (!prompt.value || !json_object_is_type(prompt.value, json_type_array))
        return add_prompt(c, top, "prompt", prompt.present ? json_get_string(top, "prompt") : "");
    for (struct json_walk walk = {.of = &prompt}; json_next(&walk, &item);) {
        if (!json_object_is_type(item.value, json_type_string))
            return json_wrong(top, "prompt", "is one text or a list of texts; lists of tokens are not served");
        if (!add_prompt(c, top, "prompt", json_get_string(&item, NULL)))
            return false;
    }
    return c->prompts || json_wrong(top, "prompt", "has no text");
}

/* A text, or parts of it. */
static bool read_content(const struct json_node *message, struct text *to)
{
    const struct json_node content = json_member(message, "content");
    struct json_node part;
    if (!content.value || !json_object_is_type(content.value, json_type_array)) {
        text_put(to, json_find_string(message, "content", ""));
        return json_ok(message);
    }
    for (struct json_walk walk = {.of = &content}; json_next(&walk, &part);) {
        if (strcmp(json_get_string(&part, "type"), "text") != 0)
            return json_wrong(&part, "type", "is text; nothing else is served");
        text_put(to, json_get_string(&part, "text"));
    }
    return json_ok(message) && (!to->failed || json_wrong(message, "content", "memory is out"));
}

/* The conversation as one text in the form of the model, whose end of a turn ends the answer as well. */
static bool read_messages(struct completion *c, const struct json_node *top)
{
    enum { MOST = 256 };
    static const char *const roles[] = {"system", "user", "assistant", "developer"};
    const struct json_node list = json_get_array(top, "messages", 1, MOST);
    const struct chat_form *const form = chat_form_of(&c->model->tokens);
    struct chat_message message[MOST];
    struct text content[MOST] = {{.data = NULL}}, all = {.data = NULL};
    struct json_node item;
    size_t count = 0;
    bool ok = json_ok(top);
    for (struct json_walk walk = {.of = &list}; ok && json_next(&walk, &item); count++) {
        const unsigned role = json_get_word(&item, "role", roles, sizeof roles / sizeof *roles);
        ok = read_content(&item, &content[count]) && json_ok(top);
        message[count] =
            (struct chat_message){role < CHAT_ROLES ? role : CHAT_SYSTEM, content[count].data ? content[count].data : ""};
    }
    ok = ok && json_ok(top);
    if (ok)
        chat_form_write(form, message, count, &all);
    ok = ok && !all.failed && add_prompt(c, top, "messages", all.data ? all.data : "");
    text_free(&all);
    for (size_t i = 0; i < count; i++)
        text_free(&content[i]);
    c->g.special = true;
    return ok;
}

static bool add_end_of_turn(struct completion *c)
{
    char end[64];
    chat_form_end(chat_form_of(&c->model->tokens), end, sizeof end);
    if (!*end || c->g.stops == LANGUAGE_STOPS)
        return true;
    c->words[c->g.stops] = strdup(end);
    c->g.stop[c->g.stops] = c->words[c->g.stops];
    return c->words[c->g.stops++] != NULL;
}

static uint64_t count_of(const struct json_node *top, const char *name, uint64_t absent)
{
    /* llama.cpp's -1 is as many as fit. */
    const double number = json_find_number(top, name, -1, 1e9, (double)absent);
    return number < 0 ? TOKENS_USUALLY : (uint64_t)number;
}

static bool read_sampling(struct completion *c, const struct json_node *top)
{
    struct sampler_params *const s = &c->g.sampling;
    /* Greedy by default, as everywhere here; llama.cpp's own default is a temperature of 0.8. */
    s->temperature = json_find_number(top, "temperature", 0, 100, 0);
    s->top_k = (uint32_t)json_find_integer(top, "top_k", 0, UINT32_MAX, 0);
    s->top_p = json_find_number(top, "top_p", 0, 1, 1);
    s->min_p = json_find_number(top, "min_p", 0, 1, 0);
    s->repetition_penalty = json_find_number(top, "repeat_penalty", 0.01, 100, 1);
    s->repetition_last = (uint32_t)json_find_integer(top, "repeat_last_n", 0, 65536, 64);
    const double seed = json_find_number(top, "seed", -1, 0x1p53, -1);
    c->g.seed = seed < 0 ? served_setup(c->context->served)->run.seed : (uint64_t)seed;
    return json_ok(top);
}

static bool refuse_others(const struct json_node *top)
{
    static const char *const names[] = {"suffix",       "grammar", "json_schema", "logprobs",
                                        "top_logprobs", "n_probs", "images",      "image_data"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct json_node node = json_member(top, names[i]);
        const bool no = node.value &&
                        (json_object_is_type(node.value, json_type_int) || json_object_is_type(node.value, json_type_boolean)) &&
                        json_object_get_int64(node.value) == 0;
        if (node.value && !no &&
            !(json_object_is_type(node.value, json_type_string) && json_object_get_string_len(node.value) == 0))
            return json_wrong(top, names[i], "is not served");
    }
    struct json_node tools = json_find_array(top, "tools", 0, SIZE_MAX), format = json_find_object(top, "response_format");
    if (json_count(&tools))
        return json_wrong(top, "tools", "are not served");
    if (strcmp(json_find_string(&format, "type", "text"), "text") != 0)
        return json_wrong(top, "response_format", "is text; nothing else is served");
    return json_ok(top);
}

static bool add_stop(struct completion *c, const struct json_node *top, json_object *value)
{
    if (!json_object_is_type(value, json_type_string) || json_object_get_string_len(value) == 0)
        return json_wrong(top, "stop", "is a text or a list of texts, none of them empty");
    if (c->g.stops == LANGUAGE_STOPS)
        return json_wrong(top, "stop", "has at most %d texts", (int)LANGUAGE_STOPS);
    c->words[c->g.stops] = strdup(json_object_get_string(value));
    c->g.stop[c->g.stops] = c->words[c->g.stops];
    return c->words[c->g.stops++] || json_wrong(top, "stop", "memory is out");
}

static bool read_stop(struct completion *c, const struct json_node *top)
{
    const struct json_node stop = json_member(top, "stop");
    if (!stop.value)
        return true;
    if (!json_object_is_type(stop.value, json_type_array))
        return add_stop(c, top, stop.value);
    bool ok = true;
    for (size_t i = 0; ok && i < json_object_array_length(stop.value); i++)
        ok = add_stop(c, top, json_object_array_get_idx(stop.value, i));
    return ok;
}

bool completion_read(struct completion *c, struct orch_error *error)
{
    struct json_reader reader;
    if (!json_reader_open(&reader, "request", c->request->body, c->request->size, error))
        return false;
    reader.null_is_absent = true;
    const struct json_node top = json_top(&reader);
    const uint64_t asked = count_of(&top, "n_predict", TOKENS_USUALLY), predict = count_of(&top, "max_tokens", asked);
    const uint64_t tokens = count_of(&top, "max_completion_tokens", predict);
    const struct json_node stream = json_find_object(&top, "stream_options");
    c->stream = json_find_boolean(&top, "stream", false) && c->request->stream;
    c->usage = json_find_boolean(&stream, "include_usage", false);
    c->echo = c->form == COMPLETION_OPENAI && json_find_boolean(&top, "echo", false);
    c->each = (unsigned)json_find_integer(&top, "n", 1, COMPLETION_TEXTS, 1);
    c->g.generate = (unsigned)tokens;
    if (json_ok(&top) && (tokens < 1 || tokens > TOKENS_MOST))
        json_wrong(&top, "max_tokens", "is 1 to %d", TOKENS_MOST);
    const bool ok = json_ok(&top) && refuse_others(&top) && read_stop(c, &top) && completion_find_model(c, &top) &&
                    (c->form == COMPLETION_CHAT ? read_messages(c, &top) && add_end_of_turn(c) : read_prompt(c, &top)) &&
                    read_sampling(c, &top);
    return json_reader_close(&reader) && ok;
}

void completion_free(struct completion *c)
{
    for (unsigned i = 0; i < COMPLETION_TEXTS; i++)
        free(c->prompt[i]);
    for (unsigned i = 0; i < LANGUAGE_STOPS; i++)
        free(c->words[i]);
    free(c->g.text);
}
