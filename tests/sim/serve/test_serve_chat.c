/* What clients of OpenAI's interface ask for beside one completion: conversations, several texts, tokens and models by name. */
#include "sim/serve/chat_form.h"
#include "tests/sim/serve/serve_example.h"
#include "tests/support/cli_binary.h"

/* Turns as published templates write them (llama.cpp, tests/test-chat-template.cpp has the same conversation in each form). */
static void test_forms(void)
{
    static const struct chat_message turns[] = {
        {CHAT_SYSTEM, "Be kind"}, {CHAT_USER, "Hi"}, {CHAT_ASSISTANT, "Yes"}, {CHAT_USER, "Go"}};
    static const struct {
        const char *form, *text, *end;
    } cases[] = {
        {"chatml",
         "<|im_start|>system\nBe kind<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nYes<|im_end|>\n"
         "<|im_start|>user\nGo<|im_end|>\n<|im_start|>assistant\n",
         "<|im_end|>"},
        {"llama3",
         "<|start_header_id|>system<|end_header_id|>\n\nBe kind<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
         "<|start_header_id|>assistant<|end_header_id|>\n\nYes<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nGo<|eot_id|>"
         "<|start_header_id|>assistant<|end_header_id|>\n\n",
         "<|eot_id|>"},
        {"gemma",
         "<start_of_turn>user\nBe "
         "kind\n\nHi<end_of_turn>\n<start_of_turn>model\nYes<end_of_turn>\n<start_of_turn>user\nGo<end_of_turn>\n"
         "<start_of_turn>model\n",
         "<end_of_turn>"},
        {"phi3",
         "<|system|>\nBe kind<|end|>\n<|user|>\nHi<|end|>\n<|assistant|>\nYes<|end|>\n<|user|>\nGo<|end|>\n<|assistant|>\n",
         "<|end|>"},
        {"llama2", "[INST] <<SYS>>\nBe kind\n<</SYS>>\n\nHi [/INST] Yes</s>[INST] Go [/INST]", "</s>"},
        {"mistral", "[INST] Be kind\n\nHi [/INST] Yes</s>[INST] Go [/INST]", "</s>"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct chat_form *const form = chat_form_named(cases[i].form);
        struct text text = {.data = NULL};
        char end[64];
        CU_ASSERT_PTR_NOT_NULL_FATAL(form);
        chat_form_write(form, turns, ARRAY_COUNT(turns), &text);
        chat_form_end(form, end, sizeof end);
        CU_ASSERT_STRING_EQUAL(text.data, cases[i].text);
        CU_ASSERT_STRING_EQUAL(end, cases[i].end);
        text_free(&text);
    }
}

/* A text of an event, "" where it has none. */
static const char *peek(json_object *event, const char *place)
{
    json_object *value = NULL;
    return json_pointer_get(event, place, &value) == 0 && value ? json_object_get_string(value) : "";
}

/* An answer is what follows the conversation written as one text; of events, too. */
static void test_chat(void)
{
    static const char asked[] =
        "\"messages\":[{\"role\":\"system\",\"content\":\"Be kind\"},{\"role\":\"user\",\"content\":[{"
        "\"type\":\"text\",\"text\":\"Once upon\"},{\"type\":\"text\",\"text\":\" a time\"}]}],\"max_tokens\":8";
    static const char written[] =
        "{\"prompt\":\"<|im_start|>system\\nBe kind<|im_end|>\\n<|im_start|>user\\nOnce upon a time<|im_end|>\\n"
        "<|im_start|>assistant\\n\",\"max_tokens\":8}";
    char body[600];
    if (!start("--unit cpu"))
        return;
    snprintf(body, sizeof body, "{%s}", asked);
    json_object *const chat = post("/v1/chat/completions", body, 200), *const plain = post("/v1/completions", written, 200);
    const char *const answer = document_text(chat, "/choices/0/message/content");
    CHECK(*answer && strcmp(answer, document_text(plain, "/choices/0/text")) == 0, "%s", json_object_to_json_string(chat));
    CU_ASSERT_STRING_EQUAL(document_text(chat, "object"), "chat.completion");
    CU_ASSERT_STRING_EQUAL(document_text(chat, "/choices/0/message/role"), "assistant");
    CU_ASSERT_STRING_EQUAL(document_text(chat, "/choices/0/finish_reason"), "length");
    snprintf(body, sizeof body, "{%s,\"stream\":true,\"stream_options\":{\"include_usage\":true}}", asked);
    struct http_answer a = ask("POST", "/v1/chat/completions", "", body, strlen(body));
    char text[400] = "", *rest = a.body, *line;
    unsigned roles = 0, used = 0;
    while (a.body && (line = strsep(&rest, "\n")) != NULL) {
        json_object *const event = strncmp(line, "data: {", 7) == 0 ? json_tokener_parse(line + 6) : NULL;
        if (!event)
            continue;
        CU_ASSERT_STRING_EQUAL(document_text(event, "object"), "chat.completion.chunk");
        strncat(text, peek(event, "/choices/0/delta/content"), sizeof text - strlen(text) - 1);
        roles += *peek(event, "/choices/0/delta/role") != 0;
        used += json_object_object_get_ex(event, "usage", NULL);
        json_object_put(event);
    }
    CU_ASSERT_STRING_EQUAL(text, answer);
    CHECK(roles == 1 && used == 1, "%u roles, %u usages", roles, used);
    json_object_put(chat);
    json_object_put(plain);
    free(a.body);
    stop();
}

/* Several prompts, several texts of one, the prompt in front. */
static void test_several(void)
{
    if (!start("--unit cpu"))
        return;
    json_object *const one = post("/v1/completions", "{\"prompt\":\"Lily\",\"max_tokens\":6}", 200);
    json_object *const two =
        post("/v1/completions", "{\"prompt\":[\"Once upon a time\",\"Lily\"],\"max_tokens\":6,\"echo\":true}", 200);
    char expected[300];
    snprintf(expected, sizeof expected, "Lily%s", document_text(one, "/choices/0/text"));
    CU_ASSERT_STRING_EQUAL(document_text(two, "/choices/1/text"), expected);
    CHECK(document_number(two, "/choices/1/index") == 1 && document_number(two, "/usage/completion_tokens") == 12, "%s",
          json_object_to_json_string(two));
    json_object *const drawn =
        post("/v1/completions", "{\"prompt\":\"Lily\",\"max_tokens\":12,\"n\":3,\"temperature\":1,\"seed\":5}", 200);
    json_object *const last =
        post("/v1/completions", "{\"prompt\":\"Lily\",\"max_tokens\":12,\"temperature\":1,\"seed\":7}", 200);
    CHECK(strcmp(document_text(drawn, "/choices/2/text"), document_text(last, "/choices/0/text")) == 0 &&
              strcmp(document_text(drawn, "/choices/0/text"), document_text(drawn, "/choices/2/text")) != 0 &&
              document_number(drawn, "/usage/prompt_tokens") == document_number(last, "/usage/prompt_tokens"),
          "%s", json_object_to_json_string(drawn));
    json_object_put(one);
    json_object_put(two);
    json_object_put(drawn);
    json_object_put(last);
    stop();
}

static void test_others(void)
{
    static const struct {
        const char *body, *says;
    } refused[] = {{"{\"messages\":[]}", "messages"},
                   {"{\"messages\":[{\"role\":\"judge\",\"content\":\"a\"}]}", "role"},
                   {"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]}", "text"},
                   {"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"tools\":[{}]}", "tools"},
                   {"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"response_format\":{\"type\":\"json_object\"}}",
                    "response_format"}};
    if (!start(""))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(refused); i++) {
        json_object *const o = post("/v1/chat/completions", refused[i].body, 400);
        CHECK(o && strstr(document_text(o, "/error/message"), refused[i].says), "%zu: %s", i, json_object_to_json_string(o));
        json_object_put(o);
    }
    json_object *const model = get("/v1/models/stories260K-q8_0"), *const tokens =
                                                                       post("/tokenize", "{\"content\":\"Lily went\"}", 200);
    CU_ASSERT_STRING_EQUAL(document_text(model, "id"), "stories260K-q8_0");
    json_object *const text = post("/detokenize", json_object_to_json_string(tokens), 200);
    CU_ASSERT_STRING_EQUAL(document_text(text, "content") + strspn(document_text(text, "content"), " "), "Lily went");
    struct http_answer a = ask("GET", "/v1/models/none", "", NULL, 0);
    CHECK(a.status == 404 && strstr(a.body, "\"message\""), "%u %s", a.status, a.body);
    free(a.body);
    a = ask("POST", "/v1/audio/speech", "", "{}", 2);
    CHECK(a.status == 404 && strstr(a.body, "\"message\""), "%u %s", a.status, a.body);
    free(a.body);
    json_object_put(model);
    json_object_put(tokens);
    json_object_put(text);
    stop();
}

static const struct suite_test tests[] = {{"conversations in the forms of models", test_forms},
                                          {"conversations", test_chat},
                                          {"several texts", test_several},
                                          {"other requests", test_others}};
SUITE_MAIN("serve_chat", tests)
