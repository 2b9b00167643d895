/* Conversations as one text, in the form that a model was trained with. */
#ifndef ORCHARD_SIM_SERVE_CHAT_FORM_H
#define ORCHARD_SIM_SERVE_CHAT_FORM_H

#include "reports/text.h"
#include "sim/run/language/language_model.h"

enum chat_role { CHAT_SYSTEM, CHAT_USER, CHAT_ASSISTANT, CHAT_ROLES };

struct chat_form {
    const char *name;
    const char *mark[2]; /* what a model of this form has in its template or its vocabulary; NULL = nothing more */
    const char *before[CHAT_ROLES], *after[CHAT_ROLES];
    const char *begin;    /* of an answer */
    bool instructs_users; /* what the system says stands within the next turn of the user */
};

struct chat_message {
    enum chat_role role;
    const char *text;
};

/* The form whose marks the model knows; without any that of ChatML, as llama.cpp has it. */
const struct chat_form *chat_form_of(const struct language_model *model);
const struct chat_form *chat_form_named(const char *name); /* NULL = there is none */
void chat_form_write(const struct chat_form *form, const struct chat_message *message, size_t count, struct text *to);
/* What ends an answer, without space around it; "" = nothing. */
void chat_form_end(const struct chat_form *form, char *to, size_t size);

#endif
