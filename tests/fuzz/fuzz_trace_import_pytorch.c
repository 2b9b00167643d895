/* Arbitrary bytes as a profile of PyTorch: refused with a place, or imported as a trace that can be read. */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(data, size, IMPORT_PYTORCH, false);
    fuzz_import(data, size, IMPORT_PYTORCH, true);
    return 0;
}
