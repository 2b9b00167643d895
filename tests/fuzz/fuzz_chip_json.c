/* The loader of chip files and of --set: any bytes make either a chip or one line of error. The input is up to three parts
 * separated by NUL: a chip file, a file that it may inherit from ("y"), and an override.
 */
#include "sim/chip/chip_internal.h"

#include <stdlib.h>
#include <string.h>

/* NULL when the input has no such part. */
static char *take_part(const uint8_t **data, size_t *size)
{
    if (*size == 0)
        return NULL;
    const uint8_t *end = memchr(*data, 0, *size);
    const size_t length = end ? (size_t)(end - *data) : *size;
    char *part = malloc(length + 1);
    if (!part)
        return NULL;
    memcpy(part, *data, length);
    part[length] = 0;
    const size_t used = length + (end != NULL);
    *data += used;
    *size -= used;
    return part;
}

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void use_chip(const struct chip *chip)
{
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_value *value = chip_value_at(chip, i);
        double number;
        require(value->json && value->source && value->origin);
        require(value->known || value->number == 0);
        if (value->known && value->key->type == CHIP_CORES)
            require(chip_number_active(chip, value->key->name, 1000, &number, NULL));
    }
    require(chip_hash(chip) == chip_hash(chip));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *first = take_part(&data, &size), *second = take_part(&data, &size), *set = take_part(&data, &size);
    struct chip_db *db = chip_db_new("fuzz");
    struct orch_error error = {0};
    if (!first || !db)
        goto done;
    bool ok = chip_db_add(db, "x", first, strlen(first), &error);
    ok = ok && (!second || chip_db_add(db, "y", second, strlen(second), &error));
    ok = ok && chip_db_finish(db, &error);
    if (ok && chip_db_count(db) > 0) {
        const char *const sets[] = {set};
        const struct chip_overrides overrides = {sets, set != NULL};
        struct chip *chip = chip_open(db, "x", &overrides, &error);
        ok = chip != NULL;
        if (chip)
            use_chip(chip);
        chip_close(chip);
    }
    /* Every failure has a message and is the user's to correct. */
    require(ok || (error.text[0] && error.exit_code == ORCH_USAGE));
done:
    chip_db_close(db);
    free(first);
    free(second);
    free(set);
    return 0;
}
