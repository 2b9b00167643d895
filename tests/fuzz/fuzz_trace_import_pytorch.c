/* Any bytes as a profile: they are refused with a place, or become a trace that can be read. */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(data, size, IMPORT_PYTORCH, false);
    fuzz_import(data, size, IMPORT_PYTORCH, true);
    return 0;
}
