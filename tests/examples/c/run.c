/* One workload on one chip: how long, how much energy, and what it waits for.
 *
 *     cc run.c -o run $(pkg-config --cflags --libs orchard) && ./run gemm:256x256x256 unit=gpu chip=m2
 */
#include <orchard.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    static const char *const usual[] = {"unit=amx", "chip=m1", NULL};
    const char *const workload = argc > 1 ? argv[1] : "gemm:256x256x256";
    const char *const *const options = argc > 2 ? (const char *const *)argv + 2 : usual; /* argv ends with NULL, too */
    struct orchard_error error;
    char path[128];
    struct orchard_answer *const a = orchard_run(NULL, workload, options, &error);

    if (!a) {
        fprintf(stderr, "%s\n", error.text);
        return error.code;
    }
    printf("%s on %s\n", orchard_answer_text(a, "workload"), orchard_answer_text(a, "chip"));
    printf("  seconds  %.4g (90 %% interval %.4g to %.4g)\n", orchard_answer_number(a, "seconds"),
           orchard_answer_number(a, "seconds_low"), orchard_answer_number(a, "seconds_high"));
    snprintf(path, sizeof path, "joules_by.%s", orchard_answer_text(a, "placement[0].unit"));
    printf("  joules   %.4g, of these %.4g in the unit\n", orchard_answer_number(a, "joules"), orchard_answer_number(a, path));
    printf("  kernel   %s\n", orchard_answer_text(a, "placement[0].kernel"));
    for (size_t i = 0; orchard_answer_key(a, "stalls", i); i++) {
        snprintf(path, sizeof path, "stalls.%s", orchard_answer_key(a, "stalls", i));
        printf("  %5.1f %%  %s\n", 100 * orchard_answer_number(a, path), orchard_answer_key(a, "stalls", i));
    }
    orchard_answer_free(a);
    return 0;
}
