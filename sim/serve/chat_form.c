/* Forms: llama.cpp, src/llama-chat.cpp (names and texts); model cards of the families. Templates of files are programs (Jinja),
 * which nobody runs here: what they have in them says which form it is. */
#include "sim/serve/chat_form.h"

#include "isa/array_count.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The first whose marks are known counts. */
static const struct chat_form forms[] = {
    {"phi4",
     {"<|im_sep|>", NULL},
     {"<|im_start|>system<|im_sep|>", "<|im_start|>user<|im_sep|>", "<|im_start|>assistant<|im_sep|>"},
     {"<|im_end|>", "<|im_end|>", "<|im_end|>"},
     "<|im_start|>assistant<|im_sep|>",
     false},
    {"chatml",
     {"<|im_start|>", NULL},
     {"<|im_start|>system\n", "<|im_start|>user\n", "<|im_start|>assistant\n"},
     {"<|im_end|>\n", "<|im_end|>\n", "<|im_end|>\n"},
     "<|im_start|>assistant\n",
     false},
    {"llama3",
     {"<|start_header_id|>", NULL},
     {"<|start_header_id|>system<|end_header_id|>\n\n", "<|start_header_id|>user<|end_header_id|>\n\n",
      "<|start_header_id|>assistant<|end_header_id|>\n\n"},
     {"<|eot_id|>", "<|eot_id|>", "<|eot_id|>"},
     "<|start_header_id|>assistant<|end_header_id|>\n\n",
     false},
    {"gemma",
     {"<start_of_turn>", NULL},
     {"", "<start_of_turn>user\n", "<start_of_turn>model\n"},
     {"\n\n", "<end_of_turn>\n", "<end_of_turn>\n"},
     "<start_of_turn>model\n",
     true},
    {"gpt-oss",
     {"<|start|>", "<|message|>"},
     {"<|start|>system<|message|>", "<|start|>user<|message|>", "<|start|>assistant<|message|>"},
     {"<|end|>", "<|end|>", "<|return|>"},
     "<|start|>assistant",
     false},
    {"phi3",
     {"<|assistant|>", "<|end|>"},
     {"<|system|>\n", "<|user|>\n", "<|assistant|>\n"},
     {"<|end|>\n", "<|end|>\n", "<|end|>\n"},
     "<|assistant|>\n",
     false},
    {"zephyr",
     {"<|assistant|>", NULL},
     {"<|system|>\n", "<|user|>\n", "<|assistant|>\n"},
     {"</s>\n", "</s>\n", "</s>\n"},
     "<|assistant|>\n",
     false},
    {"llama2", {"<<SYS>>", NULL}, {"<<SYS>>\n", "[INST] ", " "}, {"\n<</SYS>>\n\n", " [/INST]", "</s>"}, "", true},
    {"mistral", {"[INST]", NULL}, {"", "[INST] ", " "}, {"\n\n", " [/INST]", "</s>"}, "", true},
};

const struct chat_form *chat_form_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(forms); i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    return NULL;
}

static bool has_piece(const struct tokenizer *t, const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; t && i < tokenizer_count(t); i++) {
        size_t size;
        const char *const piece = tokenizer_piece(t, (uint32_t)i, &size);
        if (size == length && memcmp(piece, text, length) == 0)
            return true;
    }
    return false;
}

static bool has_template(const struct language_model *m, const char *text)
{
    const struct gguf_value *const value = m->gguf ? gguf_find(m->gguf, "tokenizer.chat_template") : NULL;
    char template[8192];
    return value && gguf_text(value, template, sizeof template) && strstr(template, text);
}

const struct chat_form *chat_form_of(const struct language_model *model)
{
    for (size_t i = 0; i < ARRAY_COUNT(forms); i++) {
        bool known = true;
        for (size_t k = 0; k < ARRAY_COUNT(forms[i].mark) && forms[i].mark[k]; k++)
            known = known && (has_template(model, forms[i].mark[k]) || has_piece(model->tokenizer, forms[i].mark[k]));
        if (known)
            return &forms[i];
    }
    return chat_form_named("chatml");
}

/* A turn; `instructions` are those of the system that stand within it. */
static void write_turn(const struct chat_form *form, const struct chat_message *m, const char *instructions, struct text *to)
{
    text_put(to, form->before[m->role]);
    if (instructions)
        text_printf(to, "%s%s%s", form->before[CHAT_SYSTEM], instructions, form->after[CHAT_SYSTEM]);
    text_put(to, m->text);
    text_put(to, form->after[m->role]);
}

void chat_form_write(const struct chat_form *form, const struct chat_message *message, size_t count, struct text *to)
{
    const char *instructions = NULL;
    for (size_t i = 0; i < count; i++) {
        const bool waits = form->instructs_users && message[i].role == CHAT_SYSTEM;
        if (waits)
            instructions = message[i].text;
        else
            write_turn(form, &message[i], message[i].role == CHAT_USER ? instructions : NULL, to);
        if (message[i].role == CHAT_USER)
            instructions = NULL;
    }
    text_put(to, form->begin);
}

void chat_form_end(const struct chat_form *form, char *to, size_t size)
{
    const char *const end = form->after[CHAT_ASSISTANT];
    size_t length = strlen(end);
    while (length && isspace((unsigned char)end[length - 1]))
        length--;
    snprintf(to, size, "%.*s", (int)length, end);
}
