#define _GNU_SOURCE /* memmem */
#include "sim/compile/clang.h"

#include "sim/compile/metal_prepass.h"
#include "sim/compile/process.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION_LEAST = 16, VERSION_MOST = 19, WORDS = 200, NAME_BYTES = PATH_MAX + 8, FIRST_CRASH = 70 };

/* A kernel takes a fraction of a second and 200 MB; the largest known files of Metal kernels ten seconds. */
static const struct process_limits limits = {
    .cpu_seconds = 60, .wall_seconds = 120, .memory_bytes = UINT64_C(4) << 30, .output_bytes = UINT64_C(256) << 20};

/* ---- which clang ---- */

static bool on_path(const char *name, char found[PATH_MAX])
{
    const char *const path = getenv("PATH");
    for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
        const int length = (int)strcspn(at, ":");
        snprintf(found, PATH_MAX, "%.*s/%s", length, at, name);
        struct stat st;
        if (at[0] == '/' && access(found, X_OK) == 0 && stat(found, &st) == 0 && S_ISREG(st.st_mode))
            return true;
        at += length;
        at += *at == ':';
    }
    return false;
}

/* Asks for the version and for the folder of its headers in one go: "-###" prints both and does nothing. */
static bool ask(struct clang *clang, unsigned *major, struct orch_error *error)
{
    static const char *const words[] = {"-###", "-x", "cl", "-E", "-", NULL};
    static const char mark[] = "\"-resource-dir\" \"";
    const struct process_request q = {.program = clang->path, .word = words, .input = "", .limits = limits};
    struct process_result r;
    bool ok = process_run(&q, &r, error);
    const char *const said = ok ? (const char *)r.errors : "";
    const char *const version = strstr(said, "clang version "), *const own = strstr(said, mark);
    *major = 0;
    if (ok && version && own && sscanf(version, "clang version %u", major) == 1) {
        snprintf(clang->version, sizeof clang->version, "%.*s", (int)strcspn(version, "\n"), version);
        snprintf(clang->own, sizeof clang->own, "%.*s/", (int)strcspn(own + strlen(mark), "\""), own + strlen(mark));
    } else if (ok) {
        ok = orch_fail(error, ORCH_USAGE, "%.200s is no clang: it does not say its version", clang->path);
    }
    process_result_free(&r);
    return ok;
}

bool clang_find(struct clang *clang, struct orch_error *error)
{
    static const char *const names[] = {"clang-16", "clang", NULL};
    const char *const named = getenv("ORCHARD_CLANG");
    unsigned major;
    clang->path[0] = 0;
    if (named && named[0] && strchr(named, '/') && access(named, X_OK) != 0)
        return orch_fail(error, ORCH_USAGE,
                         "ORCHARD_CLANG names %.200s, which cannot be started: %s; Debian has clang 16 in the package clang-16",
                         named, strerror(errno));
    if (named && named[0] && strchr(named, '/'))
        snprintf(clang->path, sizeof clang->path, "%s", named);
    else if (named && named[0] && !on_path(named, clang->path))
        return orch_fail(error, ORCH_USAGE,
                         "ORCHARD_CLANG names %.100s, which is not on the PATH; Debian has clang 16 in the package clang-16",
                         named);
    for (const char *const *n = names; !clang->path[0] && *n; n++)
        if (!on_path(*n, clang->path))
            clang->path[0] = 0;
    if (!clang->path[0])
        return orch_fail(error, ORCH_USAGE,
                         "compiling GPU kernels needs clang 16: install the Debian package clang-16, or name a clang by "
                         "ORCHARD_CLANG");
    if (!ask(clang, &major, error))
        return false;
    return (major >= VERSION_LEAST && major <= VERSION_MOST) ||
           orch_fail(error, ORCH_USAGE,
                     "compiling GPU kernels needs clang %d to %d, %.200s is %u: install the Debian package clang-16, or name "
                     "another by ORCHARD_CLANG",
                     VERSION_LEAST, VERSION_MOST, clang->path, major);
}

/* ---- words of the command ---- */

struct command {
    const char *word[WORDS];
    char (*made)[NAME_BYTES]; /* texts of words that belong to the command */
    size_t words, mades;
    bool metal; /* its headers may be opened */
};

static void add(struct command *c, const char *word)
{
    if (c->words < WORDS - 1)
        c->word[c->words++] = word;
    c->word[c->words] = NULL;
}

static bool is_definition(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return n > 0 && !isdigit((unsigned char)text[0]) && (text[n] == 0 || text[n] == '=');
}

static bool add_folder(struct command *c, const char *folder, struct orch_error *error)
{
    char real[PATH_MAX];
    struct stat st;
    if (!realpath(folder, real) || stat(real, &st) != 0 || !S_ISDIR(st.st_mode))
        return orch_fail(error, ORCH_USAGE, ORCH_LETTER("I", "include") " %.300s: not a folder", folder);
    snprintf(c->made[c->mades], NAME_BYTES, "-I%s", real);
    add(c, c->made[c->mades++]);
    return true;
}

const char *clang_metal_headers(void)
{
    static const char *const places[] = {ORCHARD_SOURCE_DIR "/sim/compile/metal", ORCHARD_DATA_DIR "/metal"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (access(places[i], R_OK | X_OK) == 0)
            return places[i];
    return NULL;
}

#define LIBRARY_NAME "/orchard_opencl.h"

/* What every source in OpenCL C gets in front. */
static const char *clang_opencl_library(void)
{
    static const char *const places[] = {ORCHARD_SOURCE_DIR "/sim/compile/opencl" LIBRARY_NAME,
                                         ORCHARD_DATA_DIR "/opencl" LIBRARY_NAME};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (access(places[i], R_OK) == 0)
            return places[i];
    return NULL;
}

static void add_all(struct command *c, const char *const *words)
{
    for (; *words; words++)
        add(c, *words);
}

/* What the language wants in a step. */
static bool add_language(struct command *c, enum compile_language language, bool preprocess, struct orch_error *error)
{
    /* The GPU has no double precision: literals are single, as OpenCL C 6.1.1 says. */
    static const char *const opencl[] = {"-x",
                                         "cl",
                                         "-cl-std=CL3.0",
                                         "-target",
                                         "spir64",
                                         "-nostdlibinc",
                                         "-Xclang",
                                         "-cl-ext=-cl_khr_fp64,-__opencl_c_fp64",
                                         "-cl-single-precision-constant",
                                         "-Xclang",
                                         "-finclude-default-header",
                                         NULL};
    const char *const headers = clang_metal_headers();
    if (language != COMPILE_METAL) {
        const char *const library = clang_opencl_library();
        add_all(c, opencl);
        if (preprocess)
            add(c, "-E");
        if (!library)
            return orch_fail(error, ORCH_USAGE, "the library of OpenCL C is neither in %s nor in %s",
                             ORCHARD_SOURCE_DIR "/sim/compile/opencl", ORCHARD_DATA_DIR "/opencl");
        add(c, "-include");
        add(c, library);
        return true;
    }
    add_all(c, preprocess ? metal_preprocess_options() : metal_compile_options());
    if (!preprocess)
        return true;
    if (!headers)
        return orch_fail(error, ORCH_USAGE, "the headers of Metal are neither in %s nor in %s",
                         ORCHARD_SOURCE_DIR "/sim/compile/metal", ORCHARD_DATA_DIR "/metal");
    add(c, "-isystem");
    add(c, headers);
    return true;
}

/* What both steps have in common. */
static bool begin(struct command *c, const struct compile_request *q, enum compile_language language, bool preprocess,
                  struct orch_error *error)
{
    static const char *const common[] = {"-fno-caret-diagnostics", "-fno-color-diagnostics", "-fno-crash-diagnostics",
                                         "-Wno-unused-command-line-argument", NULL};
    *c = (struct command){.made = calloc(q->includes + 1, sizeof *c->made), .metal = language == COMPILE_METAL};
    if (!c->made)
        return orch_no_memory(error);
    if (q->defines + q->includes > WORDS / 2)
        return orch_fail(error, ORCH_USAGE, "more than %d definitions and folders", WORDS / 2);
    if (!add_language(c, language, preprocess, error))
        return false;
    add_all(c, common);
    for (size_t i = 0; i < q->defines; i++) {
        if (!is_definition(q->define[i]))
            return orch_fail(error, ORCH_USAGE, ORCH_LETTER("D", "define") " %.100s: expected NAME or NAME=VALUE", q->define[i]);
        /* Metal was preprocessed with them. */
        if (preprocess || language != COMPILE_METAL) {
            add(c, "-D");
            add(c, q->define[i]);
        }
    }
    for (size_t i = 0; i < q->includes; i++)
        if (!add_folder(c, q->include[i], error))
            return false;
    if (q->fast_math)
        add(c, language == COMPILE_METAL ? "-ffast-math" : "-cl-fast-relaxed-math");
    return true;
}

/* ---- messages ---- */

/* Fills in the first message of clang that is an error: "K.cl:3:5: error: text". What a device without an extension cannot do is
 * not modelled; everything else is wrong in the source. */
static bool take_error(const struct process_result *r, const char *path, struct orch_error *error)
{
    const char *const said = (const char *)r->errors, *const mark = strstr(said, "error: ");
    unsigned more = 0;
    if (r->timed_out || r->signal == SIGXCPU || r->signal == SIGKILL)
        return orch_fail(error, ORCH_USAGE, "%.200s: compiling takes more than %u s", path, limits.cpu_seconds);
    if (strstr(said, "out of memory"))
        return orch_fail(error, ORCH_USAGE, "%.200s: compiling takes more than %u GiB of memory", path,
                         (unsigned)(limits.memory_bytes >> 30));
    if (!mark || r->signal || r->code >= FIRST_CRASH)
        return orch_fail(error, ORCH_USAGE, "%.200s: clang crashed (%s %d): %.150s", path, r->signal ? "signal" : "exit code",
                         r->signal ? r->signal : r->code, mark ? mark : said);
    for (const char *next = mark; (next = strstr(next + 1, "error: "));)
        more++;
    const char *line = mark;
    while (line > said && line[-1] != '\n')
        line--;
    const char *const end = line + strcspn(line, "\n");
    const char *place_end = mark;
    if (place_end - line >= 6 && memcmp(place_end - 6, "fatal ", 6) == 0)
        place_end -= 6;
    const bool device = memmem(mark, (size_t)(end - mark), "requires cl_khr_", 16) != NULL;
    orch_fail(error, device ? ORCH_UNMODELLED : ORCH_USAGE, "%.*s%.*s", (int)(place_end - line), line, (int)(end - mark) - 7,
              mark + 7);
    if (memmem(mark, (size_t)(end - mark), "file not found", 14))
        orch_fail_more(error, "; name the folder that it is in: " ORCH_LETTER("I", "include") " DIR");
    if (more)
        orch_fail_more(error, " (and %u more error%s)", more, more == 1 ? "" : "s");
    return false;
}

/* Runs clang on the source, under a mark that says its name. */
static bool run(const struct clang *clang, const struct command *c, const char *path, const char *source, size_t bytes,
                struct process_result *r, struct orch_error *error)
{
    char *input = NULL;
    size_t size = 0;
    FILE *const f = open_memstream(&input, &size);
    if (!f)
        return orch_no_memory(error);
    fputs("# 1 \"", f);
    for (const char *p = path; *p; p++)
        fprintf(f, strchr("\"\\", *p) ? "\\%c" : "%c", (unsigned char)*p < ' ' ? '?' : *p);
    fputs("\"\n", f);
    fwrite(source, 1, bytes, f);
    const bool written = fclose(f) == 0;
    const struct process_request q = {
        .program = clang->path, .word = c->word, .input = input, .input_bytes = size, .limits = limits};
    const bool ok = written ? process_run(&q, r, error) : orch_no_memory(error);
    free(input);
    return ok && (r->code == 0 || take_error(r, path, error));
}

/* ---- what was opened ---- */

static bool inside(const char *name, const char *folder)
{
    const size_t n = strlen(folder);
    return strncmp(name, folder, n) == 0 && (folder[n - 1] == '/' || name[n] == '/') && !strstr(name, "/../");
}

static bool allowed(const struct clang *clang, const struct command *c, const char *name)
{
    char real[PATH_MAX];
    const char *const names[2] = {name, realpath(name, real) ? real : name};
    for (int i = 0; i < 2; i++) {
        if (inside(names[i], clang->own) || (c->metal && inside(names[i], clang_metal_headers())))
            return true;
        if (!c->metal && clang_opencl_library() && strcmp(names[i], clang_opencl_library()) == 0)
            return true;
        for (size_t k = 0; k < c->mades; k++)
            if (inside(names[i], c->made[k] + 2))
                return true;
    }
    return false;
}

/* Marks of the preprocessor that enter a file are `# 1 "NAME" 1`, with names in the spelling of C strings. */
static bool check_opened(const struct clang *clang, const struct command *c, const char *path, const char *text,
                         struct orch_error *error)
{
    for (const char *at = text; at; at = strchr(at, '\n'), at += at ? 1 : 0) {
        char name[PATH_MAX];
        size_t n = 0;
        if (strncmp(at, "# 1 \"", 5) != 0)
            continue;
        const char *p = at + 5;
        for (; *p && *p != '"' && *p != '\n'; p++) {
            p += *p == '\\' && p[1];
            if (n < sizeof name - 1)
                name[n++] = *p;
        }
        name[n] = 0;
        if (*p != '"' || strncmp(p, "\" 1", 3) != 0 || name[0] == '<')
            continue;
        if (!allowed(clang, c, name))
            return orch_fail(error, ORCH_USAGE, "%.150s includes %.200s, which is in no folder of " ORCH_LETTER("I", "include"),
                             path, name);
    }
    return true;
}

/* ---- the two steps ---- */

bool clang_preprocess(const struct clang *clang, const struct compile_request *q, enum compile_language language,
                      const char *source, size_t bytes, char **text, size_t *text_bytes, struct orch_error *error)
{
    struct command c;
    struct process_result r = {.code = -1};
    bool ok = begin(&c, q, language, true, error);
    if (ok) {
        add(&c, "-");
        ok = run(clang, &c, q->path, source, bytes, &r, error) && check_opened(clang, &c, q->path, (const char *)r.out, error);
    }
    if (ok) {
        *text = (char *)r.out;
        *text_bytes = r.out_bytes;
        r.out = NULL;
    }
    process_result_free(&r);
    free(c.made);
    return ok;
}

/* All that clang said but its closing line "1 warning generated.". */
static char *take_warnings(struct process_result *r)
{
    char *const text = (char *)r->errors;
    r->errors = NULL;
    for (char *line = text; *line;) {
        char *const next = line + strcspn(line, "\n") + (strchr(line, '\n') != NULL);
        if (strstr(line, " generated.") && !strchr(line, ':')) {
            *line = 0;
            break;
        }
        line = next;
    }
    return text;
}

bool clang_compile(const struct clang *clang, const struct compile_request *q, enum compile_language language, const char *source,
                   size_t bytes, char **text, size_t *text_bytes, char **warnings, struct orch_error *error)
{
    /* Without a cost model for spir64, clang leaves loops alone that compilers for GPUs unroll: the threshold makes up for that.
     * Vectors of its making are no gain for a machine whose lanes are threads, and come with checks at run time. */
    static const char *const own[] = {"-emit-llvm",
                                      "-S",
                                      "-mllvm",
                                      "-unroll-threshold=300",
                                      "-mllvm",
                                      "-replexitval=never",
                                      "-mllvm",
                                      "-inline-threshold=100000",
                                      "-mllvm",
                                      "-jump-threading-threshold=0",
                                      "-fno-vectorize",
                                      "-fno-slp-vectorize",
                                      "-gline-tables-only",
                                      "-fno-discard-value-names",
                                      NULL};
    char level[4];
    struct command c;
    struct process_result r = {.code = -1};
    bool ok = begin(&c, q, language, false, error);
    if (ok) {
        snprintf(level, sizeof level, "-O%u", q->optimise % 10);
        add(&c, level);
        add_all(&c, own);
        if (language == COMPILE_OPENCL)
            add(&c, "-cl-kernel-arg-info");
        add_all(&c, (const char *const[]){"-o", "-", "-", NULL});
        ok = run(clang, &c, q->path, source, bytes, &r, error);
    }
    if (ok) {
        *text = (char *)r.out;
        *text_bytes = r.out_bytes;
        r.out = NULL;
        *warnings = take_warnings(&r);
    }
    process_result_free(&r);
    free(c.made);
    return ok;
}
