/* Reads the notation of networks.inc and builds the graph.
 *
 *     OP[:ARG,ARG,KEY=ARG]   an operation on the current value (zoo_image.c, zoo_sequence.c), or a macro
 *     >NAME <NAME +NAME *NAME names the current value; makes a named one current; adds it; multiplies by it
 *     N{ ... }               so many times
 *     def NAME { ... }       a macro; $1, $2 ... are what it is given, and its names are its own
 *     dim:NAME,N             a dimension that --dim may change, $NAME from there on
 *     input:NAME,N,N...      an input of numbers; ids: of whole numbers
 *     output:NAME            the current value is a result
 *
 * Numbers are sums, differences, products and quotients from left to right; $c is the number of channels or the width.
 */
#include "sim/base/suggest.h"
#include "sim/network/zoo/zoo_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char net_zoo_macros[]; /* that several networks use (zoo.c) */

static bool run_text(struct zoo_build *z, const char *text, const char *end, unsigned depth);

bool zoo_fail(struct zoo_build *z, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return orch_fail(z->error, ORCH_USAGE, "model:%s: %s", z->zoo->name, text);
}

/* ---- arguments ---- */

static int place_of(const struct zoo_args *a, unsigned place)
{
    for (unsigned i = 0, seen = 0; i < a->count; i++)
        if (!a->arg[i].key[0] && seen++ == place)
            return (int)i;
    return -1;
}

static int key_of(const struct zoo_args *a, const char *key)
{
    for (unsigned i = 0; i < a->count; i++)
        if (strcmp(a->arg[i].key, key) == 0)
            return (int)i;
    return -1;
}

int64_t zoo_number(const struct zoo_args *args, unsigned place, int64_t missing)
{
    const int i = place_of(args, place);
    return i >= 0 && args->arg[i].is_number ? args->arg[i].number : missing;
}

int64_t zoo_key(const struct zoo_args *args, const char *key, int64_t missing)
{
    const int i = key_of(args, key);
    return i >= 0 && args->arg[i].is_number ? args->arg[i].number : missing;
}

const char *zoo_text(const struct zoo_args *args, unsigned place)
{
    const int i = place_of(args, place);
    return i >= 0 ? args->arg[i].text : NULL;
}

const char *zoo_key_text(const struct zoo_args *args, const char *key)
{
    const int i = key_of(args, key);
    return i >= 0 ? args->arg[i].text : NULL;
}

/* $1, $c, $NAME */
static bool variable(struct zoo_build *z, const char **at, int64_t *number)
{
    char name[ZOO_NAME];
    unsigned length = 0;
    for (++*at; isalnum((unsigned char)**at) && length + 1 < sizeof name; ++*at)
        name[length++] = **at;
    name[length] = 0;
    if (isdigit((unsigned char)name[0]) && z->frame->args) {
        *number = zoo_number(z->frame->args, (unsigned)(name[0] - '1'), INT64_MIN);
        return *number != INT64_MIN || zoo_fail(z, "the macro is given no $%s", name);
    }
    if (strcmp(name, "c") == 0 && z->current != NET_NONE) {
        *number = zoo_dim(z, z->current, zoo_dims(z, z->current) == 4 ? 1 : -1);
        return true;
    }
    for (unsigned k = 0; k < z->dims; k++)
        if (strcmp(z->dim[k].name, name) == 0) {
            *number = z->dim[k].size;
            return true;
        }
    return zoo_fail(z, "$%s is nothing", name);
}

static bool term(struct zoo_build *z, const char **at, int64_t *number)
{
    char *end;
    if (**at == '$')
        return variable(z, at, number);
    *number = strtoll(*at, &end, 10);
    if (end == *at)
        return zoo_fail(z, "'%.20s' is no number", *at);
    *at = end;
    return true;
}

static bool number_of(struct zoo_build *z, const char *text, int64_t *number)
{
    const char *at = text;
    if (!term(z, &at, number))
        return false;
    while (*at) {
        const char sign = *at++;
        int64_t next;
        if (!strchr("+-*/", sign) || !term(z, &at, &next) || (sign == '/' && next == 0))
            return zoo_fail(z, "'%.40s' is no number", text);
        *number = sign == '+' ? *number + next : sign == '-' ? *number - next : sign == '*' ? *number * next : *number / next;
    }
    return true;
}

/* $1 may also be a name. */
static bool read_arg(struct zoo_build *z, const char *text, struct zoo_args *to)
{
    if (to->count == ZOO_ARGS)
        return zoo_fail(z, "too many arguments");
    const char *const equals = strchr(text, '=');
    const unsigned at = to->count++;
    snprintf(to->arg[at].key, ZOO_NAME, "%.*s", equals ? (int)(equals - text) : 0, text);
    const char *value = equals ? equals + 1 : text;
    const bool own = value[0] == '$' && isdigit((unsigned char)value[1]) && !value[2] && z->frame->args;
    const int given = own ? place_of(z->frame->args, (unsigned)(value[1] - '1')) : -1;
    if (given >= 0)
        value = z->frame->args->arg[given].text;
    snprintf(to->arg[at].text, ZOO_NAME, "%.*s", ZOO_NAME - 1, value);
    to->arg[at].is_number =
        given >= 0 ? z->frame->args->arg[given].is_number : *value == '$' || *value == '-' || isdigit((unsigned char)*value);
    if (given >= 0)
        to->arg[at].number = z->frame->args->arg[given].number;
    else if (to->arg[at].is_number)
        return number_of(z, value, &to->arg[at].number);
    return true;
}

static bool read_args(struct zoo_build *z, const char *text, struct zoo_args *to)
{
    to->count = 0;
    while (*text) {
        char one[2 * ZOO_NAME];
        const size_t length = strcspn(text, ",");
        snprintf(one, sizeof one, "%.*s", (int)length, text);
        if (!read_arg(z, one, to))
            return false;
        text += length + (text[length] == ',');
    }
    return true;
}

/* ---- names ---- */

net_id zoo_named(struct zoo_build *z, const char *name)
{
    for (const struct zoo_frame *f = z->frame; name && f; f = f->outer)
        for (unsigned k = f->names; k-- > 0;)
            if (strcmp(f->named[k].name, name) == 0)
                return f->named[k].id;
    zoo_fail(z, "nothing is named '%s'", name ? name : "");
    return NET_NONE;
}

bool zoo_name(struct zoo_build *z, const char *name, net_id id)
{
    struct zoo_frame *const f = z->frame;
    unsigned at = 0;
    while (name && at < f->names && strcmp(f->named[at].name, name) != 0)
        at++;
    if (!name || at == ZOO_NAMES)
        return zoo_fail(z, "too many names");
    f->names += at == f->names;
    snprintf(f->named[at].name, ZOO_NAME, "%.*s", ZOO_NAME - 1, name);
    f->named[at].id = id;
    return true;
}

/* ---- the outside ---- */

static bool add_dim(struct zoo_build *z, const struct zoo_args *a)
{
    const char *const name = zoo_text(a, 0);
    if (!name || z->dims == ZOO_DIMS)
        return zoo_fail(z, "too many dimensions");
    snprintf(z->dim[z->dims].name, ZOO_NAME, "%.*s", ZOO_NAME - 1, name);
    z->dim[z->dims].size = zoo_number(a, 1, 1);
    for (size_t k = 0; k < z->options->dim_count; k++) {
        const char *const given = z->options->dims[k], *const equals = strchr(given, '=');
        char *end = NULL;
        errno = 0;
        const long long size = equals ? strtoll(equals + 1, &end, 10) : 0;
        if (!equals || end == equals + 1 || *end || errno || size < 1 || size > 1 << 20)
            return orch_fail(z->error, ORCH_USAGE, ORCH_OPTION("dim") " %.80s: expected NAME=N", given);
        if (strlen(name) == (size_t)(equals - given) && strncmp(name, given, strlen(name)) == 0)
            z->dim[z->dims].size = size;
    }
    z->dims++;
    return true;
}

/* A dimension that the network does not have is a mistake. */
static bool check_dims(struct zoo_build *z)
{
    for (size_t k = 0; k < z->options->dim_count; k++) {
        const char *const given = z->options->dims[k];
        const size_t length = strcspn(given, "=");
        char name[ZOO_NAME], hint[96];
        struct suggest s;
        bool found = false;
        snprintf(name, sizeof name, "%.*s", (int)length, given);
        suggest_start(&s, name);
        for (unsigned d = 0; d < z->dims; d++) {
            found |= strlen(z->dim[d].name) == length && strncmp(z->dim[d].name, given, length) == 0;
            suggest_offer(&s, z->dim[d].name);
        }
        if (!found)
            return orch_fail(z->error, ORCH_USAGE, ORCH_OPTION("dim") " %.80s: model:%s has no such dimension%s", given,
                             z->zoo->name, suggest_phrase(&s, hint, sizeof hint));
    }
    return true;
}

static bool add_input(struct zoo_build *z, const struct zoo_args *a, enum net_type type)
{
    const net_id id = zoo_text(a, 0) ? net_value_add(z->model, zoo_text(a, 0)) : NET_NONE;
    if (id == NET_NONE)
        return orch_no_memory(z->error);
    struct net_value *const v = &z->model->value[id];
    v->type = type;
    v->shape = (struct net_shape){.known = true, .dims = a->count - 1};
    for (unsigned k = 1; k < a->count && k <= NET_DIMS_MAX; k++)
        v->shape.dim[k - 1] = a->arg[k].number;
    z->current = id;
    return net_graph_add_input(z->model->graph, id) || orch_no_memory(z->error);
}

static bool add_output(struct zoo_build *z, const struct zoo_args *a)
{
    const char *const name = zoo_text(a, 0);
    char *const copy = name ? strdup(name) : NULL;
    if (!copy)
        return orch_no_memory(z->error);
    free(z->model->value[z->current].name);
    z->model->value[z->current].name = copy;
    return net_model_add_output(z->model, z->current) || orch_no_memory(z->error);
}

/* ---- text ---- */

/* Past the brace that closes the one before `at`. */
static const char *past_brace(const char *at, const char *end)
{
    for (unsigned open = 1; at < end; at++) {
        open += *at == '{';
        open -= *at == '}';
        if (!open)
            return at + 1;
    }
    return NULL;
}

/* The body of a macro, in the network's own text or among those of all. */
static const char *find_macro(const struct zoo_build *z, const char *name, const char **end)
{
    const char *const texts[] = {z->zoo->notation, net_zoo_macros};
    const size_t length = strlen(name);
    for (size_t k = 0; k < 2; k++)
        for (const char *at = texts[k]; (at = strstr(at, "def ")); at += 4)
            if (strncmp(at + 4, name, length) == 0 && at[4 + length] == ' ') {
                const char *const open = strchr(at, '{');
                const char *const past = open ? past_brace(open + 1, open + strlen(open)) : NULL;
                *end = past ? past - 1 : NULL;
                return past ? open + 1 : NULL;
            }
    return NULL;
}

static bool call_macro(struct zoo_build *z, const char *name, const struct zoo_args *args, unsigned depth)
{
    struct zoo_frame frame = {.outer = z->frame, .args = args}, *const outer = z->frame;
    const char *end = NULL, *const body = find_macro(z, name, &end);
    if (!body || depth == ZOO_DEPTH)
        return zoo_fail(z, body ? "'%s' is nested too deep" : "there is no '%s'", name);
    z->frame = &frame;
    const bool ok = run_text(z, body, end, depth + 1);
    z->frame = outer;
    return ok;
}

static const struct zoo_operation *find_operation(const char *name)
{
    const struct zoo_operation *const tables[] = {zoo_image_operations, zoo_sequence_operations};
    for (size_t k = 0; k < 2; k++)
        for (const struct zoo_operation *o = tables[k]; o->name; o++)
            if (strcmp(o->name, name) == 0)
                return o;
    return NULL;
}

static bool operate(struct zoo_build *z, const char *word, unsigned depth)
{
    struct zoo_args args;
    char name[ZOO_NAME];
    const size_t length = strcspn(word, ":");
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    if (!read_args(z, word + length + (word[length] == ':'), &args))
        return false;
    if (strcmp(name, "dim") == 0)
        return add_dim(z, &args);
    if (strcmp(name, "input") == 0 || strcmp(name, "ids") == 0)
        return add_input(z, &args, *name == 'i' && name[1] == 'd' ? NET_I64 : NET_F32);
    if (z->current == NET_NONE)
        return zoo_fail(z, "'%s' before there is an input", name);
    if (strcmp(name, "output") == 0)
        return add_output(z, &args);
    const struct zoo_operation *const o = find_operation(name);
    return o ? o->make(z, &args, o->word) || (z->error->exit_code ? false : zoo_fail(z, "%s", word))
             : call_macro(z, name, &args, depth);
}

static bool with_name(struct zoo_build *z, char sign, const char *name)
{
    if (sign == '>')
        return zoo_name(z, name, z->current);
    const net_id id = zoo_named(z, name);
    if (id == NET_NONE)
        return false;
    if (sign != '<')
        return zoo_two(z, sign == '+' ? "Add" : "Mul", z->current, id);
    z->current = id;
    return true;
}

/* One word; *at comes behind it, and behind the braces that belong to it. */
static bool run_word(struct zoo_build *z, const char **at, const char *end, unsigned depth)
{
    char word[120];
    const size_t length = strcspn(*at, " \n");
    snprintf(word, sizeof word, "%.*s", (int)length, *at);
    *at += length;
    if (strcmp(word, "def") == 0) {
        const char *const open = strchr(*at, '{');
        *at = open ? past_brace(open + 1, end) : NULL;
        return *at || zoo_fail(z, "a macro without end");
    }
    if (length && length < sizeof word && word[length - 1] == '{') {
        int64_t times = 0;
        const char *const body = *at, *const past = past_brace(body, end);
        word[length - 1] = 0;
        bool ok = past ? number_of(z, word, &times) : zoo_fail(z, "braces that do not close");
        for (int64_t k = 0; ok && k < times; k++)
            ok = run_text(z, body, past - 1, depth + 1);
        *at = past;
        return ok;
    }
    return strchr("<>+*", word[0]) ? with_name(z, word[0], word + 1) : operate(z, word, depth);
}

static bool run_text(struct zoo_build *z, const char *text, const char *end, unsigned depth)
{
    bool ok = depth <= ZOO_DEPTH || zoo_fail(z, "nested too deep");
    for (const char *at = text; ok;) {
        while (at < end && (*at == ' ' || *at == '\n'))
            at++;
        if (at >= end)
            break;
        ok = run_word(z, &at, end, depth);
    }
    return ok;
}

/* ---- building ---- */

struct net_model *net_zoo_build(const struct net_zoo_model *zoo, const struct net_zoo_options *options, uint64_t *parameters,
                                struct orch_error *error)
{
    struct zoo_frame frame = {.outer = NULL};
    struct zoo_build z = {
        .zoo = zoo, .options = options, .current = NET_NONE, .frame = &frame, .random = options->seed, .error = error};
    char path[120];
    snprintf(path, sizeof path, NET_ZOO "%.80s", zoo->name);
    z.model = net_model_new(path);
    if (!z.model) {
        orch_no_memory(error);
        return NULL;
    }
    z.model->opset = 21;
    z.model->shapes_only = !options->contents;
    if (run_text(&z, zoo->notation, zoo->notation + strlen(zoo->notation), 0) && check_dims(&z)) {
        if (parameters)
            *parameters = z.parameters;
        return z.model;
    }
    net_model_free(z.model);
    return NULL;
}
