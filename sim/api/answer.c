#include "sim/api/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct orchard_answer {
    json_object *list; /* of documents; one is the answer itself, several are a list */
    char *first_text;  /* the first document as it was written, when that is not how json-c writes it */
    char *output;
    int code;
};

struct orchard_answer *answer_create(void)
{
    struct orchard_answer *const answer = calloc(1, sizeof *answer);
    if (!answer)
        return NULL;
    answer->list = json_object_new_array();
    if (answer->list)
        return answer;
    free(answer);
    return NULL;
}

void orchard_answer_free(struct orchard_answer *answer)
{
    if (!answer)
        return;
    json_object_put(answer->list);
    free(answer->first_text);
    free(answer->output);
    free(answer);
}

bool answer_add(struct orchard_answer *answer, json_object *document, char *text)
{
    if (json_object_array_add(answer->list, document) != 0) {
        json_object_put(document);
        free(text);
        return false;
    }
    if (json_object_array_length(answer->list) == 1)
        answer->first_text = text;
    else
        free(text);
    return true;
}

void answer_set_output(struct orchard_answer *answer, char *output)
{
    free(answer->output);
    answer->output = output;
}

void answer_set_code(struct orchard_answer *answer, int code)
{
    answer->code = code;
}

bool answer_is_empty(const struct orchard_answer *answer)
{
    return json_object_array_length(answer->list) == 0 && !(answer->output && answer->output[0]);
}

int orchard_answer_code(const struct orchard_answer *answer)
{
    return answer->code;
}

const char *orchard_answer_output(const struct orchard_answer *answer)
{
    return answer->output ? answer->output : "";
}

/* ---- places ---- */

static bool root_of(const struct orchard_answer *answer, json_object **root)
{
    const size_t count = json_object_array_length(answer->list);
    *root = count == 1 ? json_object_array_get_idx(answer->list, 0) : answer->list;
    return count > 0;
}

/* "[3]" at *path; moves past it. */
static bool step_element(json_object **at, const char **path)
{
    char *end;
    const unsigned long index = strtoul(*path + 1, &end, 10);
    if ((*path)[1] < '0' || (*path)[1] > '9' || *end != ']' || !json_object_is_type(*at, json_type_array) ||
        index >= json_object_array_length(*at))
        return false;
    *at = json_object_array_get_idx(*at, index);
    *path = end + 1;
    return true;
}

/* The longest member name that the path begins with; names may have dots in them. */
static bool step_member(json_object **at, const char **path)
{
    size_t longest = 0;
    json_object *found = NULL;
    if (!json_object_is_type(*at, json_type_object))
        return false;
    json_object_object_foreach(*at, name, member)
    {
        const size_t length = strlen(name);
        const char after = strncmp(*path, name, length) == 0 ? (*path)[length] : 'x';
        if (length > longest && (after == 0 || after == '.' || after == '[')) {
            longest = length;
            found = member;
        }
    }
    *at = found;
    *path += longest;
    return longest > 0;
}

static bool find(const struct orchard_answer *answer, const char *path, json_object **at)
{
    if (!root_of(answer, at))
        return false;
    for (bool first = true; *path; first = false) {
        if (*path == '.' && !first)
            path++;
        else if (*path != '[' && !first)
            return false;
        if (!(*path == '[' ? step_element(at, &path) : step_member(at, &path)))
            return false;
    }
    return true;
}

/* ---- what is there ---- */

bool orchard_answer_has(const struct orchard_answer *answer, const char *path)
{
    json_object *at;
    return find(answer, path, &at);
}

double orchard_answer_number(const struct orchard_answer *answer, const char *path)
{
    json_object *at;
    if (!find(answer, path, &at))
        return NAN;
    switch (json_object_get_type(at)) {
    case json_type_double: return json_object_get_double(at);
    case json_type_int: return json_object_get_double(at);
    case json_type_boolean: return json_object_get_boolean(at) ? 1 : 0;
    default: return NAN;
    }
}

const char *orchard_answer_text(const struct orchard_answer *answer, const char *path)
{
    json_object *at;
    return find(answer, path, &at) && json_object_is_type(at, json_type_string) ? json_object_get_string(at) : NULL;
}

size_t orchard_answer_count(const struct orchard_answer *answer, const char *path)
{
    json_object *at;
    if (!find(answer, path, &at))
        return 0;
    return json_object_is_type(at, json_type_array)    ? json_object_array_length(at)
           : json_object_is_type(at, json_type_object) ? (size_t)json_object_object_length(at)
                                                       : 0;
}

const char *orchard_answer_key(const struct orchard_answer *answer, const char *path, size_t index)
{
    json_object *at;
    if (!find(answer, path, &at) || !json_object_is_type(at, json_type_object))
        return NULL;
    json_object_object_foreach(at, name, member)
    {
        (void)member;
        if (index-- == 0)
            return name;
    }
    return NULL;
}

const char *orchard_answer_json(struct orchard_answer *answer)
{
    json_object *root;
    if (!root_of(answer, &root))
        return NULL;
    return json_object_array_length(answer->list) == 1 && answer->first_text
               ? answer->first_text
               : json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
}
