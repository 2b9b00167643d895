/* Prints what each rule of the Neural Engine's adder makes of each probe. With FILE: writes the Core ML model of the probes
 * there.
 *
 *     probe_table [FILE.mlmodel]
 */
#include "units/ane/native/ane_probes.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    char text[64];
    for (size_t i = 0; i < probe_count(); i++) {
        struct probe probe;
        probe_make(i, &probe);
        printf("%s\n", probe.what);
        for (unsigned n = 0; n < PROBE_RULES; n++) {
            const struct probe_rule rule = probe_rule(n);
            printf("  %-48s %a\n", probe_rule_name(n, text), probe_sum(&probe, &rule));
        }
    }
    if (argc < 2)
        return 0;
    unsigned char model[8192];
    const size_t bytes = probe_model(model, sizeof model);
    FILE *const file = bytes ? fopen(argv[1], "wb") : NULL;
    const int ok = file && fwrite(model, 1, bytes, file) == bytes;
    if (!file || fclose(file) != 0 || !ok) {
        fprintf(stderr, "probe_table: %s cannot be written\n", argv[1]);
        return 1;
    }
    return 0;
}
