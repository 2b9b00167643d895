/* The verb examples: inputs for the commands of README and help pages, listed and copied. */
#include "isa/array_count.h"
#include "sim/api/api.h"
#include "sim/base/file_read.h"
#include "sim/base/json_out.h"
#include "sim/base/output_file.h"
#include "sim/base/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MOST = 1 << 20, PATH_BYTES = 1024 };

/* Folders are made in the order of their files. */
static const struct example {
    const char *path, *text;
} examples[] = {
    {"cpu/words.elf", "AArch64 program that counts words"},
    {"cpu/words.c", "its source, and how it was compiled"},
    {"cpu/words.txt", "words to count"},
    {"cpu/kernels.o", "AArch64 object: functions saxpy and dot"},
    {"cpu/kernels.c", "its source"},
    {"cpu/loop.s", "AMX instructions as text"},
    {"gpu/scale/abi.json", "GPU kernel as assembler text: what is launched with what"},
    {"gpu/scale/scale.s", "its text"},
    {"gpu/scale/out_ys.bin", "what it must write"},
    {"gpu/saxpy.metal", "GPU kernel in Metal: y = a x + y; and the largest of each threadgroup"},
    {"gpu/matmul.metal", "a product of matrices in Metal"},
    {"gpu/gemm.metal", "a product with simdgroup matrices in Metal"},
    {"gpu/softmax.metal", "a softmax in Metal"},
    {"gpu/transpose.metal", "a transposition in Metal"},
    {"gpu/matmul.cl", "a product of matrices in OpenCL C"},
    {"gpu/reduce.cl", "sums in OpenCL C"},
    {"gpu/triad.cl", "a stream in OpenCL C"},
    {"gpu/row.json", "two kernels in one command buffer"},
    {"models/digits.onnx", "small network for pictures of 28 x 28, weights without meaning"},
    {"models/make.py", "how it was made"},
    {"models/seven.png", "a picture for it"},
    {"models/names.txt", "names of its classes"},
    {"models/stories.gguf", "trained language model of 260 thousand parameters (karpathy/tinyllamas, MIT)"},
    {"networks/digits/model.onnx", "the network again, with golden data"},
    {"networks/digits/test_data_set_0/input_0.pb", "an input"},
    {"networks/digits/test_data_set_0/output_0.pb", "and what must come out"},
    {"vectors/genlut.txt.gz", "golden vectors of an AMX instruction (corsix/amx)"},
    {"profiles/pytorch.json", "profile of torch.profiler"},
    {"profiles/onnxruntime.json", "profile of ONNX Runtime"},
    {"measurements/mine.csv", "published measurements, a row each"},
    {"measurements/loops.csv", "AMX loops of corsix/amx, to calibrate on"},
    {"measurements/result.csv", "what the steps of orchard measure give; this one comes from a simulated M1"},
    {"sweep/spec.json", "what varies in a sweep"},
    {"thermal/two/floorplan.flp", "two blocks of a chip, for the thermal solver"},
    {"thermal/two/params.txt", "layers, sink and air"},
    {"thermal/two/power.ptrace", "watts of each block over time"},
};

static const struct orchard_option option_table[] = {
    {"force", 'f', NULL, false, "replace files that are there with another content"},
    {0},
};

static const char *folder_of_examples(struct orch_error *error)
{
    static const char *const places[] = {ORCHARD_SOURCE_DIR "/tests/examples", ORCHARD_DATA_DIR "/examples"};
    struct stat st;
    for (size_t i = 0; i < ARRAY_COUNT(places); i++)
        if (stat(places[i], &st) == 0 && S_ISDIR(st.st_mode))
            return places[i];
    orch_fail(error, ORCH_USAGE, "no examples at %s or %s", places[0], places[1]);
    return NULL;
}

static int list(struct api_context *context)
{
    static const struct table_column columns[] = {{"file", NULL, false, 0}, {"what", NULL, false, 0}};
    if (api_wants_document(context)) {
        json_object *const rows = json_object_new_array();
        for (size_t i = 0; i < ARRAY_COUNT(examples); i++) {
            json_object *const o = json_object_new_object();
            json_add_text(o, "path", examples[i].path);
            json_add_text(o, "text", examples[i].text);
            json_object_array_add(rows, o);
        }
        api_document(context, rows);
    }
    if (!api_wants_text(context))
        return ORCH_OK;
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < ARRAY_COUNT(examples); i++) {
        table_row(table);
        table_cell(table, "%s", examples[i].path);
        table_cell(table, "%s", examples[i].text);
    }
    api_table(context, table);
    fputs("\norchard examples copy examples   writes them into the folder examples\n", context->out);
    return ORCH_OK;
}

/* Makes the folders of a path below `to`. */
static bool make_folders(const char *path, struct orch_error *error)
{
    char folder[PATH_BYTES];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return orch_fail(error, ORCH_USAGE, "%s: %s", folder, strerror(errno));
        *slash = '/';
    }
    return true;
}

static bool read_file(const char *path, uint8_t **bytes, size_t *size)
{
    FILE *const f = fopen(path, "rb");
    const bool ok = f && file_read_all(f, FILE_MOST, bytes, size);
    if (f)
        fclose(f);
    return ok;
}

static bool copy_file(const char *from, const char *to, bool force, struct orch_error *error)
{
    uint8_t *bytes = NULL, *there = NULL;
    size_t size = 0, there_size = 0;
    struct stat st;
    if (!read_file(from, &bytes, &size))
        return orch_fail(error, ORCH_USAGE, "%s: %s", from, strerror(errno));
    bool ok = make_folders(to, error);
    if (ok && !force && stat(to, &st) == 0) {
        const bool same = read_file(to, &there, &there_size) && there_size == size && memcmp(there, bytes, size) == 0;
        free(there);
        free(bytes);
        return same ||
               orch_fail(error, ORCH_USAGE, "%s: is there with another content (" ORCH_OPTION("force") " replaces it)", to);
    }
    struct output_file *const out = ok ? output_file_open(to, OUTPUT_PLAIN, error) : NULL;
    ok = out && fwrite(bytes, 1, size, output_file_stream(out)) == size;
    if (out && ok)
        ok = output_file_commit(out, error);
    else
        output_file_discard(out);
    free(bytes);
    return ok || (error->exit_code ? false : orch_fail(error, ORCH_USAGE, "%s: %s", to, strerror(errno)));
}

static int copy(struct api_context *context, const char *folder)
{
    struct orch_error error = {0};
    const char *const from = folder_of_examples(&error);
    bool ok = from != NULL;
    if (ok && strlen(folder) > PATH_BYTES / 2)
        ok = orch_fail(&error, ORCH_USAGE, "%.60s...: the path is too long", folder);
    for (size_t i = 0; ok && i < ARRAY_COUNT(examples); i++) {
        char source[PATH_BYTES], target[PATH_BYTES];
        snprintf(source, sizeof source, "%s/%s", from, examples[i].path);
        snprintf(target, sizeof target, "%s/%s", folder, examples[i].path);
        ok = copy_file(source, target, api_has(&context->args, "force"), &error);
    }
    if (!ok)
        return api_fail(context, &error);
    if (api_wants_document(context)) {
        json_object *const document = json_object_new_object();
        json_add_text(document, "folder", folder);
        json_add_count(document, "files", ARRAY_COUNT(examples));
        api_document(context, document);
    }
    if (api_wants_text(context))
        fprintf(context->out, "%zu files in %s; for a start: orchard run %s/cpu/words.elf --stdin %s/cpu/words.txt\n",
                ARRAY_COUNT(examples), folder, folder, folder);
    return ORCH_OK;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    unsigned form = 0;
    if (words > 0 && !api_choice("form of examples", word[0], "list|copy", &form, &error))
        return api_fail(context, &error);
    if (form == 1)
        return words == 2 ? copy(context, word[1]) : api_usage(context, "copy takes a folder, as in examples copy examples");
    return words > 1 ? api_usage(context, "list takes nothing, got '%s'", word[1]) : list(context);
}

const struct api_verb verb_examples = {
    .help =
        {
            .name = "examples",
            .synopsis = "[list]\n"
                        "copy DIR",
            .summary = "inputs for the commands of these pages",
            .text = "The commands of all help pages run as they stand beside a folder examples that copy has made.",
            .examples = "orchard examples copy examples\n"
                        "orchard examples",
            .options = option_table,
        },
    .ask = ask,
};
