/* What would otherwise be passed over in silence, with another result than the file means: newer operator sets, attributes that
 * an operator does not have, words that say nothing. onnxruntime refuses these as well. */
#include "sim/network/onnx/onnx_internal.h"

#include "isa/array_count.h"
#include "sim/base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ONNX 1.22: docs/Versioning.md. */
enum { OPSET_MAX = 27, IR_MAX = 13 };

static const struct known {
    const char *op;
    int since;
    const char *attributes;
} known[] = {
#define OPERATOR(op, since, attributes) {#op, since, attributes},
#include "sim/network/onnx/operators.inc"
#undef OPERATOR
};

/* By enum net_attribute_kind: the letter of the list, and what it is called. */
static const char kinds[] = "ifsIFStgp";
static const char *const kind_name[] = {"an integer",      "a number", "a word",  "a list of integers", "a list of numbers",
                                        "a list of words", "a tensor", "a graph", "a sparse tensor"};

/* An attribute of the list. */
struct form {
    const char *name, *kinds, *words;
    size_t name_length, kind_count, word_length;
    long from, until; /* sets that have it: from <= set < until */
    bool needed;
};

/* Reads "NAME:KINDS[=WORDS][@FROM][<UNTIL][!]" and goes on to the next one; false at the end. */
static bool next(const char **at, struct form *f)
{
    const char *p = *at;
    if (!*p)
        return false;
    *f = (struct form){.name = p, .name_length = strcspn(p, ":"), .until = OPSET_MAX + 1};
    f->kinds = p + f->name_length + 1;
    f->kind_count = strcspn(f->kinds, "=@<! ");
    p = f->kinds + f->kind_count;
    f->words = p + (*p == '=');
    f->word_length = *p == '=' ? strcspn(f->words, "@<! ") : 0;
    p = f->words + f->word_length;
    for (char *end; *p == '@' || *p == '<'; p = end)
        *(*p == '@' ? &f->from : &f->until) = strtol(p + 1, &end, 10);
    f->needed = *p == '!';
    p += f->needed;
    *at = p + (*p == ' ');
    return true;
}

static bool is_here(const struct form *f, int64_t version)
{
    return version >= f->from && version < f->until;
}

/* Takes "WORD[+FROM][-UNTIL]" off the list; NULL behind the last one. */
static const char *next_word(const struct form *f, const char **at, size_t *length, int64_t version, bool *here)
{
    const char *const word = *at, *p = word + strcspn(word, "|@<! +-");
    if (word >= f->words + f->word_length)
        return NULL;
    *length = (size_t)(p - word);
    *here = true;
    for (char *end; *p == '+' || *p == '-'; p = end) {
        const long set = strtol(p + 1, &end, 10);
        *here = *here && (*p == '+' ? version >= set : version < set);
    }
    *at = p + 1;
    return word;
}

/* What a word can be in that set, "a|b|c". */
static const char *words_of(const struct form *f, int64_t version, char *text, size_t size)
{
    size_t length, used = 0;
    bool here;
    *text = 0;
    for (const char *at = f->words, *word; (word = next_word(f, &at, &length, version, &here)) && used < size;)
        if (here)
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", used ? "|" : "", (int)length, word);
    return text;
}

static bool is_word(const struct form *f, int64_t version, const char *text)
{
    size_t length;
    bool here;
    for (const char *at = f->words, *word; (word = next_word(f, &at, &length, version, &here));)
        if (here && length == strlen(text) && strncmp(word, text, length) == 0)
            return true;
    return f->word_length == 0;
}

static bool refuse_name(const struct known *k, int64_t version, const char *name, struct orch_error *error)
{
    struct suggest s;
    struct form f;
    char phrase[96], word[64];
    suggest_start(&s, name);
    for (const char *at = k->attributes; next(&at, &f);) {
        snprintf(word, sizeof word, "%.*s", (int)f.name_length, f.name);
        if (strcmp(word, name) == 0 && !is_here(&f, version))
            return orch_fail(error, ORCH_USAGE, "attribute %.60s is %s %ld; the file says %lld", name,
                             version < f.from ? "of opsets from" : "no longer there from opset",
                             version < f.from ? f.from : f.until, (long long)version);
        if (is_here(&f, version))
            suggest_offer(&s, word);
    }
    return orch_fail(error, ORCH_USAGE, "the operator has no attribute '%.60s'%s", name,
                     suggest_phrase(&s, phrase, sizeof phrase));
}

static bool check_attribute(const struct known *k, int64_t version, const struct net_attribute *a, struct orch_error *error)
{
    struct form f;
    bool found = false;
    for (const char *at = k->attributes; !found && next(&at, &f);)
        found = strlen(a->name) == f.name_length && strncmp(f.name, a->name, f.name_length) == 0 && is_here(&f, version);
    if (!found)
        return refuse_name(k, version, a->name, error);
    if (!memchr(f.kinds, kinds[a->kind], f.kind_count))
        return orch_fail(error, ORCH_USAGE, "attribute %.60s is %s; it has to be %s", a->name, kind_name[a->kind],
                         kind_name[strchr(kinds, *f.kinds) - kinds]);
    char words[200];
    if (a->kind == NET_ATTR_TEXT && !is_word(&f, version, a->text))
        return orch_fail(error, ORCH_USAGE, "attribute %.60s is '%.60s'; it can be %s%s", a->name, a->text,
                         words_of(&f, version, words, sizeof words), is_word(&f, OPSET_MAX, a->text) ? " in that opset" : "");
    return true;
}

static bool check_needed(const struct known *k, const struct net_node *node, struct orch_error *error)
{
    struct form f;
    for (const char *at = k->attributes; next(&at, &f);) {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)f.name_length, f.name);
        if (f.needed && is_here(&f, node->version) && !net_attribute(node, word))
            return orch_fail(error, ORCH_USAGE, "attribute %s is missing", word);
    }
    return true;
}

/* Operators that a set took away, and what has their place. */
static const struct {
    const char *op, *now;
    int until;
} gone[] = {{"Scatter", "ScatterElements", 11}, {"Upsample", "Resize", 10}};

static bool check_there(const struct known *k, const struct net_node *node, struct orch_error *error)
{
    for (size_t i = 0; i < ARRAY_COUNT(gone); i++)
        if (strcmp(gone[i].op, k->op) == 0 && node->version >= gone[i].until)
            return orch_fail(error, ORCH_USAGE,
                             "the operator is no longer there from opset %d, %s is in its place; the file says %lld",
                             gone[i].until, gone[i].now, (long long)node->version);
    return node->version >= k->since || orch_fail(error, ORCH_USAGE, "the operator is of opsets from %d; the file says %lld",
                                                  k->since, (long long)node->version);
}

bool onnx_check_node(const struct net_node *node, struct orch_error *error)
{
    const struct known *k = NULL;
    for (size_t i = 0; !*node->domain && !k && i < ARRAY_COUNT(known); i++)
        k = strcmp(known[i].op, node->op) == 0 ? &known[i] : NULL;
    if (!k)
        return true;
    if (!check_there(k, node, error))
        return false;
    for (size_t i = 0; i < node->attributes; i++)
        if (!check_attribute(k, node->version, &node->attribute[i], error))
            return false;
    return check_needed(k, node, error);
}

/* ---- versions ---- */

/* A newer set may mean something else by the same names, as sets 8 to 21 did; sets 22 to 27 did not, but for attributes of their
 * own (operators.inc). */
static bool check_sets(Onnx__OperatorSetIdProto *const *set, size_t count, const char *whose, struct orch_error *error)
{
    const Onnx__OperatorSetIdProto *first = NULL;
    for (size_t k = 0; k < count; k++) {
        const char *const domain = set[k]->domain ? set[k]->domain : "";
        if (*domain && strcmp(domain, "ai.onnx") != 0)
            continue;
        if (first && first->version != set[k]->version)
            return orch_fail(error, ORCH_USAGE, "opsets %lld and %lld of ONNX's operators%s: one file has one",
                             (long long)first->version, (long long)set[k]->version, whose);
        first = set[k];
        if (set[k]->version > OPSET_MAX)
            return orch_fail(error, ORCH_USAGE,
                             "opset %lld of ONNX's operators%s: %d is the newest that is known; onnx.version_converter makes an "
                             "older one of it",
                             (long long)set[k]->version, whose, OPSET_MAX);
    }
    return true;
}

bool onnx_check_model(const Onnx__ModelProto *m, struct orch_error *error)
{
    if (!m->has_ir_version)
        return orch_fail(error, ORCH_USAGE, "the version of the file format (ir_version) is missing");
    if (m->ir_version > IR_MAX)
        return orch_fail(error, ORCH_USAGE, "version %lld of the file format (ir_version): %d is the newest that is known",
                         (long long)m->ir_version, IR_MAX);
    bool ok = check_sets(m->opset_import, m->n_opset_import, "", error);
    for (size_t k = 0; ok && k < m->n_functions; k++)
        ok = check_sets(m->functions[k]->opset_import, m->functions[k]->n_opset_import, " in a function", error);
    return ok;
}
