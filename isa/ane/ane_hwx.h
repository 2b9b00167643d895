/* Offsets in .hwx containers: Mach-O load commands to which Apple's Neural Engine compiler gives meanings of its own. They were
 * read off the containers of tinygrad; the names of the commands are from freedomtan/coreml_to_ane_hwx, GUIDE_ANE_HWX_FORMAT.md.
 */
#ifndef ORCHARD_ISA_ANE_ANE_HWX_H
#define ORCHARD_ISA_ANE_ANE_HWX_H

enum {
    HWX_CPU = 0x80,
    HWX_FILETYPE = 2,
    HWX_FLAGS = 0x200000,
    HWX_HEADER = 32,
    HWX_LC_SYMBOLS = 2,
    HWX_LC_THREAD = 4,
    HWX_LC_PORT = 6,
    HWX_LC_BANNER = 8,
    HWX_LC_SEGMENT = 0x19,

    /* segment and section */
    SEGMENT_NAME = 8,
    SEGMENT_ADDRESS = 24,
    SEGMENT_BYTES = 32,
    SEGMENT_FILE = 40,
    SEGMENT_FILE_BYTES = 48,
    SEGMENT_MOST = 56,
    SEGMENT_FIRST = 60,
    SEGMENT_SECTIONS = 64,
    SEGMENT_FLAGS = 68,
    SEGMENT_SIZE = 72,
    SECTION_NAME = 0,
    SECTION_SEGMENT = 16,
    SECTION_ADDRESS = 32,
    SECTION_BYTES = 40,
    SECTION_FILE = 48,
    SECTION_ALIGN = 52,
    SECTION_FLAGS = 64,
    SECTION_SIZE = 80,
    PROTECTION_READ = 1,
    PROTECTION_WRITE = 2,
    PROTECTION_SCRATCH = 3,

    /* name of a port: text offset, address of its segment */
    PORT_NAME = 8,
    PORT_ADDRESS = 16,
    PORT_SIZE = 20,

    /* thread, flavour 1: a procedure, with 256 base addresses by slot, the entry, the words - 1 of its first descriptor, and the
     * number of descriptors */
    THREAD_FLAVOUR = 8,
    THREAD_WORDS = 12,
    PROCEDURE = 1,
    PROCEDURE_BARS = 16,
    PROCEDURE_ENTRY = 0x810,
    PROCEDURE_TD_WORDS = 0x818,
    PROCEDURE_TDS = 0x81c,
    PROCEDURE_QUEUE = 0x824,
    PROCEDURE_NAME = 0x83c,
    PROCEDURE_PORTS = 0x858,
    PROCEDURE_TEXT = 0x860,
    PROCEDURE_SIZE = 0x868,

    /* thread, flavour 3: the tensor of a port; offsets of names count from THREAD_FLAVOUR + 8 */
    TENSOR = 3,
    TENSOR_KIND = 16,
    TENSOR_DIRECTION = 20,
    TENSOR_NETWORK = 24,
    TENSOR_NAME = 32,
    TENSOR_TYPE = 36,
    TENSOR_N = 40,
    TENSOR_C = 44,
    TENSOR_H = 48,
    TENSOR_W = 52,
    TENSOR_D = 56,
    TENSOR_DEPTH_STRIDE = 80,
    TENSOR_PLANE = 88,
    TENSOR_ROW = 96,
    TENSOR_ELEMENT = 104,
    TENSOR_BYTES = 112,
    TENSOR_ONE = 120,
    TENSOR_NAME_AGAIN = 124,
    TENSOR_TOUCHED = 128,
    TENSOR_TEXT = 136,
    TENSOR_WORDS = 30,
    DIRECTION_IN = 1,
    DIRECTION_OUT = 2,

    /* symbol table: place and count of symbols, place and size of names */
    SYMBOLS_AT = 8,
    SYMBOLS_COUNT = 12,
    SYMBOLS_TEXT = 16,
    SYMBOLS_TEXT_BYTES = 20,
    SYMBOLS_SIZE = 24,
    SYMBOL_SIZE = 16
};

/* The types of elements as the containers number them. */
enum { HWX_I8 = 2, HWX_U8 = 3, HWX_F16 = 5 };

#endif
