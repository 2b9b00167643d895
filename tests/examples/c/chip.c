/* What is known about a chip, how sure that is, and who says so. */
#include <orchard.h>

#include <stdio.h>
#include <string.h>

static void print_value(const struct orchard_value *v)
{
    printf("%-32s %12.12s %-10s %-20s +-%4.0f %%  %.60s\n", v->key, v->text, v->unit, v->kind, 100 * v->uncertainty, v->source);
}

int main(int argc, char **argv)
{
    const char *const name = argc > 1 ? argv[1] : "m1-max", *const begin = argc > 2 ? argv[2] : "gpu_";
    struct orchard_error error;
    struct orchard_chips *const chips = orchard_chips_open(&error);
    struct orchard_chip *const chip = chips ? orchard_chip_open(chips, name, NULL, &error) : NULL;
    struct orchard_value v;

    if (!chip) {
        fprintf(stderr, "%s\n", error.text);
        orchard_chips_close(chips);
        return error.code;
    }
    printf("%zu chips; %s (%s):\n", orchard_chips_count(chips), orchard_chip_name(chip), orchard_chip_id(chip));
    for (size_t i = 0; orchard_chip_value_at(chip, i, &v); i++)
        if (v.known && strncmp(v.key, begin, strlen(begin)) == 0)
            print_value(&v);
    orchard_chip_close(chip);
    orchard_chips_close(chips);
    return 0;
}
