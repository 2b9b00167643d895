/* Arbitrary bytes behind a valid first line: each line becomes a record or is refused. A record that is accepted is written and
 * read back unchanged.
 */
#include "tests/traces/trace_example.h"
#include "traces/trace_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_text_parser *one = trace_text_parser_create(), *two = trace_text_parser_create();
    struct trace_record record, again;
    struct trace_header header;
    const char *why;
    if (one && two && !trace_text_parse_header(one, (const char *)data, size, &header, &why) && !*why)
        abort();
    if (one && two && trace_text_parse(one, (const char *)data, size, &record, &why)) {
        char *line = trace_example_line(&record);
        if (!line || !trace_text_parse(two, line, strlen(line) - 1, &again, &why))
            abort();
        char *other = trace_example_line(&again);
        if (!other || strcmp(line, other) != 0)
            abort();
        free(line);
        free(other);
    }
    trace_text_parser_free(one);
    trace_text_parser_free(two);
    return 0;
}
