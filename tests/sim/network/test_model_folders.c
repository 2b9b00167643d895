/* Folders of networks: which file is the model; files that Git has not brought yet. */
#include "isa/array_count.h"
#include "sim/language/mapped_file.h"
#include "sim/network/case.h"
#include "sim/network/network.h"
#include "tests/support/suite.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char folder[] = "/tmp/orchard_folders_XXXXXX";

static const char *put(const char *inside, const char *name, const char *text)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, inside);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", folder, inside, name);
    FILE *const file = fopen(path, "wb");
    CHECK(file && fputs(text, file) >= 0, "%s", path);
    if (file)
        fclose(file);
    return path;
}

static void expect_model(const char *inside, const char *name)
{
    char path[PATH_MAX], found[PATH_MAX] = "", expected[PATH_MAX + 128];
    snprintf(path, sizeof path, "%s/%s", folder, inside);
    const bool any = net_case_model(path, found, sizeof found);
    snprintf(expected, sizeof expected, "%s/%.100s", path, name ? name : "");
    CHECK(any == (name != NULL) && (!name || strcmp(found, expected) == 0), "%s: %s", inside, any ? found : "none");
}

static void test_only_model(void)
{
    CHECK(mkdtemp(folder) != NULL, "no folder");
    put("a", "squeezenet.onnx", "x");
    put("a", "labels.txt", "x");
    put("a", "._squeezenet.onnx", "x");
    expect_model("a", "squeezenet.onnx");
    put("a", "half.onnx", "x");
    expect_model("a", NULL);
    put("a", "model.onnx", "x");
    expect_model("a", "model.onnx");
    put("b", "digits.mlmodel", "x");
    expect_model("b", "digits.mlmodel");
    put("c", "notes.txt", "x");
    expect_model("c", NULL);
    expect_model("none", NULL);
    CHECK(suite_remove(folder), "%s remains", folder);
}

static const char pointer[] = "version https://git-lfs.github.com/spec/v1\n"
                              "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";

static void test_pointers(void)
{
    static const char *const names[] = {"m.onnx", "m.mlmodel"};
    char again[] = "/tmp/orchard_folders_XXXXXX";
    CHECK(mkdtemp(again) != NULL, "no folder");
    memcpy(folder, again, sizeof folder);
    for (size_t k = 0; k < ARRAY_COUNT(names); k++) {
        struct orch_error error = {0};
        struct net_model *const model = net_import(put("p", names[k], pointer), &error);
        CHECK(!model && error.exit_code == ORCH_USAGE && strstr(error.text, names[k]) && strstr(error.text, "git lfs pull"), "%s",
              error.text);
        net_model_free(model);
    }
    struct orch_error error = {0};
    struct mapped_file file = {0};
    const bool open = mapped_file_open(&file, put("p", "m.gguf", pointer), &error);
    CHECK(!open && error.exit_code == ORCH_USAGE && strstr(error.text, "m.gguf") && strstr(error.text, "git lfs pull"), "%s",
          error.text);
    CHECK(mapped_file_open(&file, put("p", "n.gguf", "version 1"), &error), "%s", error.text);
    mapped_file_close(&file);
    CHECK(suite_remove(folder), "%s remains", folder);
}

static const struct suite_test tests[] = {{"the only model of a folder, whatever its name", test_only_model},
                                          {"pointers of Git LFS are named", test_pointers}};
SUITE_MAIN("model_folders", tests)
