/* Two workloads at the same time: what each costs the other. */
#include <orchard.h>

#include <stdio.h>

int main(void)
{
    struct orchard_error error;
    const char *const options[] = {"chip=m1", "rerun", NULL};
    struct orchard_answer *const a =
        orchard_run(NULL, "stream-triad:8M[unit=gpu] + stream-triad:8M[unit=cpu,cores=4]", options, &error);

    if (!a) {
        fprintf(stderr, "%s\n", error.text);
        return error.code;
    }
    for (size_t i = 0; i < orchard_answer_count(a, "concurrent"); i++) {
        char unit[64], alone[64], slowdown[64], limit[64];
        snprintf(unit, sizeof unit, "concurrent[%zu].unit", i);
        snprintf(alone, sizeof alone, "concurrent[%zu].seconds_alone", i);
        snprintf(slowdown, sizeof slowdown, "concurrent[%zu].slowdown", i);
        snprintf(limit, sizeof limit, "concurrent[%zu].limited_by", i);
        printf("%s: alone %.4g s, together %.2f times as long, limited by %s\n", orchard_answer_text(a, unit),
               orchard_answer_number(a, alone), orchard_answer_number(a, slowdown), orchard_answer_text(a, limit));
    }
    printf("both: %.4g s, %.4g J\n", orchard_answer_number(a, "seconds"), orchard_answer_number(a, "joules"));
    orchard_answer_free(a);
    return 0;
}
