/* Which operators and attributes the import takes in which operator set, against every form of every operator that ONNX's own
 * list of changes has (tests/golden/onnx): what a form has is taken, what only other forms have is refused. */
#include "isa/array_count.h"
#include "sim/network/onnx/onnx_internal.h"
#include "sim/network/operators/operator.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMS_MAX = 1024, ATTRIBUTES_MAX = 16, NEWEST_SET = 27, FORM_BYTES = 512 };

/* A form of an operator, "Name SET INPUTS OUTPUTS [deprecated] ATTRIBUTE...". */
struct form {
    char text[FORM_BYTES];
    const char *op, *inputs;
    long since, until; /* the set that brought the next form, or one beyond the newest */
    bool deprecated;
    const char *attribute[ATTRIBUTES_MAX]; /* "name:kind[=word][!]" */
    size_t attributes;
};

struct forms {
    struct form at[FORMS_MAX];
    size_t count;
};

static void read_form(struct form *f)
{
    char *save;
    f->op = strtok_r(f->text, " \n", &save);
    f->since = strtol(strtok_r(NULL, " \n", &save), NULL, 10);
    f->inputs = strtok_r(NULL, " \n", &save);
    strtok_r(NULL, " \n", &save);
    for (const char *word; (word = strtok_r(NULL, " \n", &save)) && f->attributes < ATTRIBUTES_MAX;)
        if (strcmp(word, "deprecated") == 0)
            f->deprecated = true;
        else
            f->attribute[f->attributes++] = word;
}

static struct forms *read_forms(void)
{
    struct forms *const forms = calloc(1, sizeof *forms);
    FILE *const file = fopen(ORCHARD_SOURCE_DIR "/tests/golden/onnx/operators.txt", "r");
    CHECK(file != NULL, "tests/golden/onnx/operators.txt");
    while (file && forms->count < FORMS_MAX && fgets(forms->at[forms->count].text, FORM_BYTES, file))
        read_form(&forms->at[forms->count++]);
    if (file)
        fclose(file);
    for (size_t k = 0; k < forms->count; k++) {
        const bool last = k + 1 == forms->count || strcmp(forms->at[k].op, forms->at[k + 1].op) != 0;
        forms->at[k].until = last ? NEWEST_SET + 1 : forms->at[k + 1].since;
    }
    CHECK(forms->count > 600, "%zu forms", forms->count);
    return forms;
}

static size_t name_length(const char *attribute)
{
    return strcspn(attribute, ":");
}

static bool is_needed(const char *attribute)
{
    return attribute[strlen(attribute) - 1] == '!';
}

static bool same_attribute(const char *a, const char *b)
{
    return name_length(a) == name_length(b) && strncmp(a, b, name_length(a)) == 0;
}

static bool form_has(const struct form *f, const char *attribute)
{
    for (size_t k = 0; k < f->attributes; k++)
        if (same_attribute(f->attribute[k], attribute))
            return true;
    return false;
}

static const char kinds[] = "ifsIFStg"; /* by enum net_attribute_kind */

/* Sparse tensors are refused when they are read. */
static bool is_judged(const char *attribute)
{
    return strchr(kinds, attribute[name_length(attribute) + 1]) != NULL;
}

/* A word that the attribute can be: what it is when left out, and for those that cannot be left out one of its words. */
static const char *word_of(const char *attribute, char *text, size_t size)
{
    const char *const equal = strchr(attribute, '=');
    snprintf(text, size, "%s", equal ? equal + 1 : strncmp(attribute, "direction", 9) == 0 ? "LEFT" : "FLOAT");
    return text;
}

/* Sets an attribute of the kind of the form's; as `other` one of another kind. */
static void put(struct net_node *node, const char *attribute, bool other)
{
    char name[64], word[64];
    snprintf(name, sizeof name, "%.*s", (int)name_length(attribute), attribute);
    const char kind = attribute[name_length(attribute) + 1];
    if (other)
        net_attr_set(node, name, kind == 'i' || kind == 'f' ? NET_ATTR_INTS : NET_ATTR_INT);
    else if (kind == 's')
        net_set_text(node, name, word_of(attribute, word, sizeof word));
    else
        net_attr_set(node, name, (enum net_attribute_kind)(strchr(kinds, kind) - kinds));
}

/* A node of that form and set with what it needs but for `without`. */
static struct net_node *node_of(const struct form *f, long set, const char *without)
{
    struct net_node *const node = net_node_new("n", f->op, "", 1, 1);
    node->version = set;
    for (size_t k = 0; k < f->attributes; k++)
        if (is_needed(f->attribute[k]) && f->attribute[k] != without)
            put(node, f->attribute[k], false);
    return node;
}

static void judge(struct net_node *node, const char *extra, bool taken)
{
    struct orch_error error = {0};
    const bool ok = onnx_check_node(node, &error);
    CHECK(ok == taken && (ok || error.exit_code == ORCH_USAGE), "%s of opset %lld, %s: %s", node->op, (long long)node->version,
          extra, ok ? "taken" : error.text);
    net_node_free(node);
}

/* Each attribute of the form alone, of its kind and of another one, and the form without what it needs. */
static void judge_own(const struct form *f, long set)
{
    judge(node_of(f, set, NULL), "bare", true);
    for (size_t k = 0; k < f->attributes; k++) {
        const char *const a = f->attribute[k];
        if (!is_judged(a))
            continue;
        struct net_node *const right = node_of(f, set, NULL), *const wrong = node_of(f, set, NULL);
        put(right, a, false);
        put(wrong, a, true);
        judge(right, a, true);
        judge(wrong, a, false);
        if (is_needed(a))
            judge(node_of(f, set, a), a, false);
    }
}

/* What other forms of the operator have and this one has not, and a name that none has. */
static void judge_foreign(const struct forms *forms, const struct form *f, long set)
{
    struct net_node *const unknown = node_of(f, set, NULL);
    net_set_int(unknown, "nobody_has_this", 1);
    judge(unknown, "nobody_has_this", false);
    for (size_t k = 0; k < forms->count; k++)
        for (size_t j = 0; strcmp(forms->at[k].op, f->op) == 0 && j < forms->at[k].attributes; j++) {
            const char *const a = forms->at[k].attribute[j];
            if (form_has(f, a) || !is_judged(a))
                continue;
            struct net_node *const node = node_of(f, set, NULL);
            put(node, a, false);
            judge(node, a, false);
        }
}

/* Constant is no operator of the reference, Scatter and Upsample become others. */
static bool is_computed(const char *op)
{
    return net_operator_find(op, "") || strcmp(op, "Constant") == 0 || strcmp(op, "Scatter") == 0 || strcmp(op, "Upsample") == 0;
}

static void test_forms(void)
{
    struct forms *const forms = read_forms();
    for (size_t k = 0; k < forms->count; k++) {
        const struct form *const f = &forms->at[k];
        if (!is_computed(f->op) || strcmp(f->op, "GroupNormalization") == 0)
            continue;
        const long sets[] = {f->since, f->until - 1};
        for (size_t j = 0; f->deprecated && j < ARRAY_COUNT(sets); j++)
            judge(node_of(f, sets[j], NULL), "deprecated", false);
        for (size_t j = 0; !f->deprecated && f->since < f->until && j < ARRAY_COUNT(sets); j++) {
            judge_own(f, sets[j]);
            judge_foreign(forms, f, sets[j]);
        }
        const bool first = k == 0 || strcmp(forms->at[k - 1].op, f->op) != 0;
        /* onnxruntime's optimizer writes LayerNormalization into files of older sets, and reads it there */
        if (first && f->since > 1 && strcmp(f->op, "LayerNormalization") != 0)
            judge(node_of(f, f->since - 1, NULL), "before its time", false);
    }
    free(forms);
}

/* Every operator that the reference computes is ONNX's, and may have as many inputs as there. */
static void test_inputs(void)
{
    struct forms *const forms = read_forms();
    const struct net_operator *op;
    for (size_t i = 0; (op = net_operator_at(i)); i++) {
        const struct form *newest = NULL;
        for (size_t k = 0; !*op->domain && k < forms->count; k++)
            if (strcmp(forms->at[k].op, op->name) == 0 && forms->at[k].since <= NEWEST_SET)
                newest = &forms->at[k];
        if (*op->domain)
            continue;
        CHECK(newest != NULL, "%s is no operator of ONNX", op->name);
        char *end = NULL;
        const long least = newest ? strtol(newest->inputs, &end, 10) : 0;
        const long most = end && end[1] != '*' ? strtol(end + 1, NULL, 10) : NET_INPUTS_ANY;
        /* Loop before opset 11 had both of its first inputs left out as empty names */
        CHECK(!newest || ((op->least_inputs == least || strcmp(op->name, "Loop") == 0) && op->most_inputs == most),
              "%s: %d to %d inputs, ONNX says %s", op->name, op->least_inputs, op->most_inputs, newest->inputs);
    }
    free(forms);
}

static const struct suite_test tests[] = {{"forms of operators", test_forms}, {"numbers of inputs", test_inputs}};
SUITE_MAIN("onnx_operators", tests)
