/* The files of cases: lines of words, with {a,b} for alternatives. */
#include "tests/public/public.h"

#include "isa/array_count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 2000, LINES = 40, GROUPS = 4, CHOICES = 48 };

/* A case as it stands in the file, before its alternatives are chosen. */
struct block {
    char (*line)[LINE];
    unsigned lines, first;
};

/* Which alternative of each group {a,b} of the kernel's name is chosen. */
struct choice {
    unsigned groups, index[GROUPS], count[GROUPS];
    char text[GROUPS][64];
};

struct reader {
    const struct public_roots *roots;
    const char *pattern;
    public_visit *visit;
    void *context;
    char source[512], header[512], *include[4];
    unsigned includes;
    char *define[8];
    unsigned defines;
};

/* The alternative of this number between `at`, behind "{", and its "}"; returns what is behind that. */
static const char *alternative(const char *at, unsigned number, char *out, size_t size, unsigned *count)
{
    size_t used = 0;
    *count = 1;
    for (; *at && *at != '}'; at++)
        if (*at == ',')
            ++*count;
        else if (*count - 1 == number && used + 1 < size)
            out[used++] = *at;
    out[used] = 0;
    return *at ? at + 1 : at;
}

/* $1 is the text of the first group, $1{a,b} the alternative of the same number; a group that says nothing else is the next one
 * of the name. */
static bool expand(const char *from, const struct choice *c, bool name, char *to, size_t size, char *why, size_t why_size)
{
    size_t used = 0;
    unsigned next = 0;
    while (*from && used + 1 < size) {
        unsigned group = 0, count;
        char text[LINE];
        if (*from == '$' && from[1] >= '1' && from[1] <= '9') {
            group = (unsigned)(from[1] - '0');
            from += 2;
            if (*from != '{' && group <= c->groups) {
                used += (size_t)snprintf(to + used, size - used, "%s", c->text[group - 1]);
                continue;
            }
        } else if (*from == '{' && name) {
            group = ++next;
        } else {
            to[used++] = *from++;
            continue;
        }
        if (group == 0 || group > c->groups || *from != '{')
            return snprintf(why, why_size, "no group %u", group) < 0;
        from = alternative(from + 1, c->index[group - 1], text, sizeof text, &count);
        if (count != c->count[group - 1])
            return snprintf(why, why_size, "%u alternatives, the name has %u", count, c->count[group - 1]) < 0;
        used += (size_t)snprintf(to + used, size - used, "%s", text);
    }
    to[used < size ? used : size - 1] = 0;
    return true;
}

static void groups_of(const char *name, struct choice *c)
{
    *c = (struct choice){.groups = 0};
    for (const char *at = name; *at;) {
        if (*at++ != '{' || c->groups == GROUPS)
            continue;
        char text[64];
        at = alternative(at, 0, text, sizeof text, &c->count[c->groups]);
        c->groups++;
    }
}

/* The next combination; false after the last. */
static bool next_choice(struct choice *c)
{
    for (unsigned g = c->groups; g-- > 0;) {
        if (++c->index[g] < c->count[g])
            return true;
        c->index[g] = 0;
    }
    return false;
}

static void texts_of(const char *name, struct choice *c)
{
    unsigned g = 0, count;
    for (const char *at = name; *at && g < c->groups;)
        if (*at++ == '{') {
            at = alternative(at, c->index[g], c->text[g], sizeof c->text[g], &count);
            g++;
        }
}

/* ---- the words of a case ---- */

static bool words_into(char (*to)[64], size_t *count, size_t most, char *text)
{
    char *rest = NULL;
    for (const char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        if (*count == most)
            return false;
        snprintf(to[(*count)++], 64, "%s", w);
    }
    return true;
}

static bool set_numbers(struct public_case *c, char *text)
{
    char *rest = NULL;
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        char *at = strchr(w, '=');
        if (!at || c->numbers == PUBLIC_NUMBERS)
            return false;
        *at++ = 0;
        struct public_number *const n = &c->number[c->numbers++];
        *n = (struct public_number){.count = 0};
        snprintf(n->name, sizeof n->name, "%.31s", w);
        while (*at && n->count < ARRAY_COUNT(n->value)) {
            n->value[n->count++] = strtod(at, &at);
            at += *at == ',';
        }
    }
    return true;
}

static bool set_binds(struct public_case *c, char *text)
{
    char *rest = NULL;
    for (const char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        if (c->binds == PUBLIC_BINDS)
            return false;
        snprintf(c->bind[c->binds++], sizeof c->bind[0], "%s", w);
    }
    return true;
}

/* "NAME=VALUE" of arguments */
static bool set_arguments(struct public_case *c, char *text)
{
    char *rest = NULL;
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        char *const at = strchr(w, '=');
        if (!at || c->arguments == PUBLIC_BINDS)
            return false;
        *at = 0;
        struct public_argument *const a = &c->argument[c->arguments++];
        snprintf(a->name, sizeof a->name, "%.39s", w);
        snprintf(a->value, sizeof a->value, "%.199s", at + 1);
    }
    return true;
}

static bool set_extent(uint32_t to[3], const char *text)
{
    to[0] = to[1] = to[2] = 1;
    return sscanf(text, "%u %u %u", &to[0], &to[1], &to[2]) >= 1;
}

/* Of kernels whose names say how many simdgroups they have, in two dimensions: "wm2_wn2", "bm1_bn8". */
static bool set_group(struct public_case *c, const char *text)
{
    unsigned m, n;
    const char *at = strstr(c->kernel, "_wm");
    if (strcmp(text, "named") != 0)
        return set_extent(c->group, text);
    at = at ? at : strstr(c->kernel, "_bm");
    if (!at || (sscanf(at, "_wm%u_wn%u", &m, &n) != 2 && sscanf(at, "_bm%u_bn%u", &m, &n) != 2))
        return false;
    c->group[0] = 32;
    c->group[1] = n;
    c->group[2] = m;
    return true;
}

static bool set_tensor(struct public_case *c, char *text, uint64_t *state, char *why, size_t size)
{
    char *const space = strchr(text, ' ');
    if (!space || c->tensors == PUBLIC_TENSORS)
        return snprintf(why, size, "tensor %s", text) < 0;
    *space = 0;
    return public_tensor_make(&c->tensor[c->tensors++], text, space + 1, state, why, size);
}

static bool set_reference(struct public_case *c, const char *text)
{
    snprintf(c->out, sizeof c->out, "dst");
    c->tolerance = 0;
    return sscanf(text, "%63s %lf %31s", c->reference, &c->tolerance, c->out) >= 1;
}

static bool read_line(struct public_case *c, char *line, uint64_t *state, char *why, size_t size)
{
    char *const space = strchr(line, ' ');
    char *const text = space ? space + 1 : line + strlen(line);
    if (space)
        *space = 0;
    snprintf(why, size, "cannot read: %.100s %.200s", line, text);
    if (strcmp(line, "tensor") == 0)
        return set_tensor(c, text, state, why, size);
    if (strcmp(line, "constant") == 0)
        return words_into(c->constant, &c->constants, PUBLIC_CONSTANTS, text);
    if (strcmp(line, "set") == 0)
        return set_numbers(c, text);
    if (strcmp(line, "bind") == 0)
        return set_binds(c, text);
    if (strcmp(line, "arg") == 0)
        return set_arguments(c, text);
    if (strcmp(line, "groups") == 0)
        return set_extent(c->grid, text);
    if (strcmp(line, "threads") == 0)
        return set_group(c, text);
    if (strcmp(line, "ref") == 0)
        return set_reference(c, text);
    if (strcmp(line, "plain") == 0) /* too long for the interpreter */
        return !(c->interpret = false);
    return false;
}

static void start_case(const struct reader *r, const struct block *b, struct public_case *c)
{
    c->line = b->first;
    c->interpret = true;
    snprintf(c->source, sizeof c->source, "%s", r->source);
    snprintf(c->header, sizeof c->header, "%s", r->header);
    for (unsigned i = 0; i < r->includes; i++)
        c->include[c->includes++] = r->include[i];
    for (unsigned i = 0; i < r->defines; i++)
        c->define[c->defines++] = r->define[i];
}

static void make_case(const struct reader *r, const struct block *b, const struct choice *choice)
{
    struct public_case *const c = calloc(1, sizeof *c);
    char why[400] = "";
    uint64_t state = 12345;
    if (!c)
        return;
    start_case(r, b, c);
    bool ok = expand(b->line[0], choice, true, c->kernel, sizeof c->kernel, why, sizeof why);
    const bool wanted = !r->pattern || strstr(c->kernel, r->pattern);
    for (unsigned i = 1; i < b->lines && ok && wanted; i++) {
        char line[LINE];
        ok = expand(b->line[i], choice, false, line, sizeof line, why, sizeof why) && read_line(c, line, &state, why, sizeof why);
    }
    for (int i = 0; i < 3; i++) /* stated in threadgroups */
        c->grid[i] *= c->group[i];
    if (wanted)
        r->visit(r->context, c, ok ? NULL : why);
    for (size_t i = 0; i < c->tensors; i++)
        public_tensor_free(&c->tensor[i]);
    free(c);
}

/* "every PATTERN..." is a case for each kernel that stands for others. */
static void make_every(const struct reader *r, struct block *b)
{
    struct public_case *const c = calloc(1, sizeof *c);
    struct choice none = {.groups = 0};
    char(*names)[PUBLIC_NAME] = NULL;
    if (!c)
        return;
    start_case(r, b, c);
    const size_t count = public_cover(c, b->line[0] + 1, &names);
    for (size_t i = 0; i < count; i++) {
        snprintf(b->line[0], LINE, "%s", names[i]);
        make_case(r, b, &none);
    }
    free(names);
    free(c);
}

static void finish_block(const struct reader *r, struct block *b)
{
    struct choice c;
    if (b->lines == 0 || !r->source[0])
        return;
    if (b->line[0][0] == '@') {
        make_every(r, b);
        b->lines = 0;
        return;
    }
    groups_of(b->line[0], &c);
    do {
        texts_of(b->line[0], &c);
        make_case(r, b, &c);
    } while (next_choice(&c));
    b->lines = 0;
}

/* ---- the file ---- */

/* "ggml:PATH" and "mlx:PATH" to a path; "" when the user did not give the folder. */
static void resolve(const struct reader *r, const char *text, char *to, size_t size)
{
    const bool mlx = strncmp(text, "mlx:", 4) == 0;
    const char *const root = mlx ? r->roots->mlx : r->roots->ggml;
    const char *const path = strchr(text, ':');
    *to = 0;
    if (root && path)
        snprintf(to, size, "%s/%s", root, path + 1);
}

static void clear_paths(struct reader *r)
{
    while (r->includes > 0)
        free(r->include[--r->includes]);
    while (r->defines > 0)
        free(r->define[--r->defines]);
}

static void source_line(struct reader *r, char *text)
{
    char *rest = NULL, path[512];
    clear_paths(r);
    r->header[0] = 0;
    for (const char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        resolve(r, strncmp(w, "-I", 2) == 0 ? w + 2 : strncmp(w, "header=", 7) == 0 ? w + 7 : w, path, sizeof path);
        const bool folder = strncmp(w, "-I", 2) == 0;
        if (folder && access(path, X_OK) != 0)
            continue; /* one that another version of the source has */
        if (folder && r->includes < 4)
            r->include[r->includes++] = strdup(path);
        else if (strncmp(w, "-D", 2) == 0 && r->defines < 8)
            r->define[r->defines++] = strdup(w + 2);
        else if (strncmp(w, "header=", 7) == 0)
            snprintf(r->header, sizeof r->header, "%s", path);
        else
            snprintf(r->source, sizeof r->source, "%s", path);
    }
}

bool public_cases(const char *path, const struct public_roots *roots, const char *pattern, public_visit *visit, void *context)
{
    struct reader r = {.roots = roots, .pattern = pattern, .visit = visit, .context = context};
    struct block b = {.line = calloc(LINES, sizeof *b.line)};
    FILE *const in = fopen(path, "r");
    char line[LINE];
    for (unsigned number = 1; b.line && in && fgets(line, sizeof line, in); number++) {
        line[strcspn(line, "\n#")] = 0;
        char *at = line + strspn(line, " ");
        size_t length = strlen(at);
        while (length > 0 && at[length - 1] == ' ')
            at[--length] = 0;
        const bool every = strncmp(at, "every ", 6) == 0;
        if (strncmp(at, "source ", 7) == 0 || strncmp(at, "case ", 5) == 0 || every)
            finish_block(&r, &b);
        if (strncmp(at, "source ", 7) == 0) {
            source_line(&r, at + 7);
        } else if (strncmp(at, "case ", 5) == 0 || every) {
            b.first = number;
            b.lines = 1;
            snprintf(b.line[0], LINE, "%s%s", every ? "@" : "", at + (every ? 6 : 5));
        } else if (*at && b.lines > 0 && b.lines < LINES) {
            snprintf(b.line[b.lines++], LINE, "%s", at);
        }
    }
    if (b.line)
        finish_block(&r, &b);
    clear_paths(&r);
    free(b.line);
    if (in)
        fclose(in);
    return in != NULL;
}

/* ---- what a case states ---- */

struct public_tensor *public_tensor(struct public_case *c, const char *name)
{
    for (size_t i = 0; i < c->tensors; i++)
        if (strcmp(c->tensor[i].name, name) == 0)
            return &c->tensor[i];
    return NULL;
}

double public_number(const struct public_case *c, const char *name, double otherwise)
{
    for (size_t i = c->numbers; i-- > 0;)
        if (strcmp(c->number[i].name, name) == 0)
            return c->number[i].value[0];
    return otherwise;
}
