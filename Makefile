# orchard: make demo | test | bench | fuzz | check-opencl | framework-kernels | neon-kernels | amx-kernels | install | deps | deps-compile | clean      MODE=opt|asan|ubsan|tsan|release
#
# Sources are found by folder: a new .c file under isa units power traces reports sim belongs to liborchard, a new
# test_*.c below tests/ is a suite of its own. Only sim/cmd/ belongs to the command line alone.

MODE ?= opt
PREFIX ?= /usr/local
CC = gcc
CROSS ?= aarch64-linux-gnu-
VERSION := 0.1.0

ifeq ($(MODE),opt)
O := build
else
O := build/$(MODE)
endif

OPT_opt := -O2 -g1
OPT_asan := -O1 -g -fsanitize=address -fno-omit-frame-pointer
OPT_ubsan := -O1 -g -fsanitize=undefined -fno-sanitize-recover=all
OPT_tsan := -O1 -g -fsanitize=thread
# What is packed: without debug information, and without a path of the machine that built it.
OPT_release := -O2 -ffile-prefix-map=$(CURDIR)=.
ifeq ($(OPT_$(MODE)),)
$(error MODE is one of opt, asan, ubsan, tsan, release)
endif

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-align=strict \
	-Wwrite-strings -Wundef -Wformat=2 -Wvla -Wnull-dereference -Wduplicated-cond -Wlogical-op -Wimplicit-fallthrough \
	-Wno-psabi # vector types never cross a library boundary
PLACE_release := /nonexistent
DEFINES := -DORCHARD_VERSION='"$(VERSION)"' -DORCHARD_SOURCE_DIR='"$(or $(PLACE_$(MODE)),$(CURDIR))"' \
	-DORCHARD_BUILD_DIR='"$(or $(PLACE_$(MODE)),$(abspath $(O)))"' \
	-DORCHARD_DATA_DIR='"$(PREFIX)/share/orchard"'
# Contraction off: where the hardware fuses, the code says fma.
CFLAGS_ALL := -std=gnu11 $(OPT_$(MODE)) $(WARNINGS) -ffp-contract=off -fno-math-errno -fvisibility=hidden -fPIC -pthread \
	-I. -isystem $(O)/gen/sim/network/onnx -MMD -MP $(DEFINES) $(CFLAGS)
LIBS := -lmicrohttpd -lgsl -lgslcblas -ljson-c -lsqlite3 -lprotobuf-c -ljpeg -lpng -lzstd -lz -lm -pthread

# Folders without hot loops, where compiling fast matters more than running fast.
COLD_FOLDERS := sim/base sim/chip sim/db sim/listen sim/network/onnx sim/network/coreml sim/network/image sim/network/graph sim/network/passes sim/prove sim/trace sim/report sim/compile sim/api sim/cmd reports tests/sim tests/power tests/traces tests/reports

# What lies between every simulated instruction and its time: unrolled and inlined further.
HOT_SRC := $(wildcard units/mem/*.c units/cpu/cpu_timing*.c units/amx/amx_timing*.c units/gpu/gpu_timing*.c) \
           sim/network/operators/conv.c sim/network/graph/element.c

# Kernels per host instruction set: the file name says which. Where the host has a better set, the portable one is small rather than fast.
HOST := $(shell uname -m)
ifeq ($(HOST),x86_64)
FLAGS_portable := -Os
FLAGS_avx2 := -mavx2 -mfma -mf16c -mpopcnt
FLAGS_avx512 := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx2 -mfma -mf16c
FLAGS_avx512fp16 := $(FLAGS_avx512) -mavx512fp16 -mavx512bf16 -mavx512vnni
endif

# What takes longest to compile comes first, so that no core is idle at the end.
SLOW_SRC := $(wildcard units/gpu/gpu_vector_*.c units/cpu/cpu_exec_run.c)
LIB_SRC := $(SLOW_SRC) $(filter-out $(SLOW_SRC) sim/cmd/%,$(sort $(shell find isa units power traces reports sim -name '*.c' -not -path '*/native/*')))
CLI_SRC := $(sort $(wildcard sim/cmd/*.c))
TEST_SRC := $(sort $(shell find tests -name 'test_*.c'))
BENCH_SRC := $(sort $(wildcard tests/bench/bench_*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
SUPPORT_SRC := tests/support/suite.c

LIB_OBJ := $(LIB_SRC:%.c=$(O)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(O)/%.o)
TEST_BIN := $(TEST_SRC:tests/%.c=$(O)/tests/%)
BENCH_BIN := $(BENCH_SRC:tests/%.c=$(O)/tests/%)
FUZZ_SMOKE := $(FUZZ_SRC:tests/%.c=$(O)/tests/%_smoke)

.PHONY: all demo run-demo test run-tests bench run-bench check-public fuzz install deps deps-test deps-bench deps-compile deps-opencl check-opencl clean native
all: $(O)/orchard $(O)/liborchard.a $(O)/liborchard.so

# ---- what must be installed ----
PACKAGES := gcc libc6-dev libgsl-dev libjson-c-dev libsqlite3-dev zlib1g-dev libzstd-dev libjpeg-dev libpng-dev \
	libprotobuf-c-dev protobuf-c-compiler libonnx-dev libmicrohttpd-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross
PACKAGES_TEST := $(PACKAGES) libcunit1-dev libunicorn-dev qemu-user-static python3 libonnx-testdata python3-jsonschema
PACKAGES_BENCH := $(PACKAGES_TEST) libopenblas-dev ocl-icd-libopencl1 pocl-opencl-icd
PACKAGES_FUZZ := $(PACKAGES) clang-16 libclang-rt-16-dev llvm-16
# Recommended: compiles sources of GPU kernels. Everything else works without, and tests that need it say that they were skipped.
PACKAGES_COMPILE := clang-16
# Only for comparing the compiler of GPU kernels with another OpenCL.
PACKAGES_OPENCL := $(PACKAGES_TEST) $(PACKAGES_COMPILE) ocl-icd-libopencl1 pocl-opencl-icd

deps:
	@.ci/deps.sh $(PACKAGES)
deps-test:
	@.ci/deps.sh $(PACKAGES_TEST)
deps-bench:
	@.ci/deps.sh $(PACKAGES_BENCH)
deps-compile:
	@.ci/deps.sh $(PACKAGES_COMPILE)
deps-opencl:
	@.ci/deps.sh $(PACKAGES_OPENCL)

JOBS := -j$(shell nproc 2>/dev/null || echo 2)
QUIET := $(if $(V),,-s)

# ---- the first answer ----
demo: deps
	@$(MAKE) $(QUIET) $(JOBS) all programs
	@$(MAKE) -s run-demo

run-demo:
	@$(O)/orchard run $(O)/programs/demo_sgemm.elf --chip m1
	@echo
	@$(O)/orchard run gemm:1024x1024x1024 --unit amx --chip m1,m2-max,m3-max

# ---- tests ----
test: deps-test
	@$(MAKE) $(QUIET) $(JOBS) run-tests

run-tests: $(O)/tests/support/runner $(TEST_BIN) $(FUZZ_SMOKE) all programs
	@$(O)/tests/support/runner tests/support/check_house.sh $(TEST_BIN) $(FUZZ_SMOKE)

# The compiler of GPU kernels against PoCL: all kernels of tests/golden/opencl, and random programs, some minutes each.
OPENCL_FIRST ?= 0
OPENCL_PROGRAMS ?= 10000
check-opencl: deps-opencl
	@$(MAKE) $(QUIET) $(JOBS) $(O)/tests/opencl/test_opencl_kernels $(O)/tests/opencl/test_opencl_random
	@$(O)/tests/opencl/test_opencl_kernels --native
	@$(O)/tests/opencl/test_opencl_random $(OPENCL_FIRST) $(OPENCL_PROGRAMS) 20

bench: deps-bench
	@$(MAKE) $(QUIET) $(JOBS) $(BENCH_BIN) all programs
	@$(MAKE) -s run-bench

# The page of system calls, written from their table; the suite of that name compares them.
.PHONY: system-calls
system-calls: $(O)/tests/units/test_cpu_system_table
	$< --write

# The table of ONNX's single-operator tests, by operator (sim/network/CONFORMANCE.md); the suite of that name compares it.
.PHONY: conformance
conformance: $(O)/tests/sim/network/test_onnx_conformance
	$< --write

# The same by the kernels of each unit (sim/run/lower/CONFORMANCE.md), a minute of processor time.
.PHONY: unit-conformance
unit-conformance: $(O)/tests/sim/prove/test_unit_conformance
	$< --write

# Functions that objects need from a C library, compiled for AArch64 ahead: the result is checked in.
RUNTIME := sim/workload/cpu/program_runtime.inc
.PHONY: runtime
runtime:
	@mkdir -p $(O)
	$(CROSS)gcc -std=gnu11 -Os -ffreestanding -fno-builtin -nostdlib -fno-stack-protector -fno-tree-loop-distribute-patterns \
	    -fno-asynchronous-unwind-tables -ffp-contract=off -fno-math-errno -fno-pic -I. -Wall -Wextra -Werror \
	    -c sim/workload/cpu/native/runtime.c -o $(O)/runtime.o
	$(CROSS)objcopy --strip-unneeded --remove-section=.comment --remove-section=.note.GNU-stack $(O)/runtime.o
	od -An -v -w48 -tx8 $(O)/runtime.o | sed 's/ \([0-9a-f]*\)/0x\1,/g' > $(RUNTIME)

run-bench:
	@set -e; for b in $(BENCH_BIN); do echo "== $${b##*/}"; $$b; done

# Kernels of public Metal sources against references of our own: make check-public MLX=DIR GGML=DIR [CASE=part of a name]
PUBLIC_OBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard tests/public/*.c)))

$(O)/tests/public/check_public: $(PUBLIC_OBJ) $(SUPPORT_SRC:%.c=$(O)/%.o) $(O)/liborchard.a
	$(CC) $(OPT_$(MODE)) $(filter %.o,$^) $(filter %.a,$^) -o $@ $(LIBS) -lcunit

check-public: $(O)/tests/public/check_public
	@$< --mlx "$(MLX)" --ggml "$(GGML)" $(sort $(wildcard tests/public/*.cases)) $(CASE)

# Coverage-guided fuzzing: make fuzz FUZZ_SECONDS=60 [FUZZ=fuzz_elf]. Parsers and decoders are built by clang with coverage
# and sanitizers, the rest of the library comes from the ordinary build.
FUZZ_SECONDS ?= 30
FUZZ ?= $(notdir $(basename $(FUZZ_SRC)))
FUZZ_PARSERS := $(filter isa/% sim/serve/kserve_tensor.c sim/serve/completion_request.c sim/serve/embedding_request.c sim/serve/chat_form.c sim/load/text_proto.c sim/load/model_config.c sim/load/batcher.c sim/load/arrivals.c sim/base/% sim/prove/check/% sim/chip/% sim/language/% sim/network/% $(filter sim/workload/gpu/abi%,$(LIB_SRC)) sim/workload/cpu/program_args.c sim/prove/validate/csv.c sim/prove/validate/measurements.c \
	sim/workload/amx/kernel_call.c units/kernel_text.c units/routines/% units/cpu/kernels/% units/amx/kernels/amx_kernel% sim/compile/kernel_launch.c $(filter sim/compile/metal_%,$(LIB_SRC)) sim/compile/kernel_row.c sim/compile/kernel_row_file.c sim/prove/regress/baseline.c sim/prove/regress/baseline_text.c sim/machine/device/device_parse.c sim/run/run_timing_json.c sim/ask/sweep/sweep_key.c sim/ask/sweep/sweep_spec.c sim/ask/sweep/sweep_spec_json.c units/cpu/cpu_load% units/cpu/cpu_system% units/cpu/cpu_sandbox% sim/workload/cpu/program_runtime.c,$(LIB_SRC))
FUZZ_OBJ := $(FUZZ_PARSERS:%.c=build/fuzz/obj/%.o)
FUZZ_CC := clang-16 -std=gnu11 -O1 -g -ffp-contract=off -fsanitize=address,undefined -I. -isystem $(O)/gen/sim/network/onnx $(DEFINES)

build/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) -fsanitize=fuzzer-no-link -c $< -o $@

build/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(FUZZ_OBJ) $(O)/liborchard.a
	$(FUZZ_CC) -fsanitize=fuzzer $< $(FUZZ_OBJ) $(O)/liborchard.a -o $@ $(LIBS)

fuzz:
	@.ci/deps.sh $(PACKAGES_FUZZ)
	@$(MAKE) $(QUIET) $(JOBS) $(FUZZ:%=build/fuzz/%)
	@set -e; for f in $(FUZZ); do echo "== $$f"; mkdir -p build/fuzz/corpus/$$f; \
	    build/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -artifact_prefix=build/fuzz/ build/fuzz/corpus/$$f; \
	done

# ---- installed files ----
install: all $(O)/pages/done
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include \
	    $(DESTDIR)$(PREFIX)/share/orchard/chips $(DESTDIR)$(PREFIX)/share/orchard/devices \
	    $(DESTDIR)$(PREFIX)/share/orchard/tables $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/orchard/schemas
	install -m 755 $(O)/orchard $(DESTDIR)$(PREFIX)/bin/orchard
	install -m 644 $(O)/liborchard.a $(DESTDIR)$(PREFIX)/lib/liborchard.a
	install -m 755 $(O)/liborchard.so $(DESTDIR)$(PREFIX)/lib/liborchard.so.0
	ln -sf liborchard.so.0 $(DESTDIR)$(PREFIX)/lib/liborchard.so
	install -m 644 sim/orchard.h $(DESTDIR)$(PREFIX)/include/orchard.h
	install -m 644 sim/chips/*.json $(DESTDIR)$(PREFIX)/share/orchard/chips/
	install -m 644 sim/devices/*.json $(DESTDIR)$(PREFIX)/share/orchard/devices/
	install -m 644 sim/prove/tables/*.csv $(DESTDIR)$(PREFIX)/share/orchard/tables/
	for f in $$(cd sim/compile/metal && find . -type f -not -name '*.sh' -not -name '*.md'); do \
	    install -D -m 644 sim/compile/metal/$$f $(DESTDIR)$(PREFIX)/share/orchard/metal/$$f; done
	install -D -m 644 sim/compile/opencl/orchard_opencl.h $(DESTDIR)$(PREFIX)/share/orchard/opencl/orchard_opencl.h
	for f in $$(sed -n 's/^    X("\([^"]*\)".*/\1/p' sim/prove/measure/sources.inc); do \
	    install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/orchard/measure/$$f; done
	install -m 644 sim/prove/regress/default.baseline $(DESTDIR)$(PREFIX)/share/orchard/default.baseline
	if [ -f $(O)/programs/amx_kernels.elf ]; then install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/orchard/programs \
	    $(O)/programs/*.elf; fi
	install -m 644 $(O)/pages/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 $(O)/pages/schemas/*.json $(DESTDIR)$(PREFIX)/share/orchard/schemas/
	install -D -m 644 $(O)/pages/orchard.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/orchard
	install -D -m 644 $(O)/pages/orchard.zsh $(DESTDIR)$(ZSH_DIR)/_orchard
	install -D -m 644 $(O)/pages/orchard.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/orchard.fish
	install -D -m 644 sim/orchard.py $(DESTDIR)$(PYTHON_DIR)/orchard.py
	install -D -m 644 sim/NEWS $(DESTDIR)$(PREFIX)/share/doc/orchard/NEWS
	install -D -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/orchard/copyright
	for f in $$(cd tests/examples && find . -not -type d -not -name '*.md'); do \
	    install -D -m 644 tests/examples/$$f $(DESTDIR)$(PREFIX)/share/orchard/examples/$$f; done
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' sim/orchard.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/orchard.pc

# Manual pages, completion and schemas say what the tables of options and keys say: the program writes them.
# Debian reads completions of packages from a folder of their own.
ZSH_DIR ?= $(if $(filter /usr,$(PREFIX)),/usr/share/zsh/vendor-completions,$(PREFIX)/share/zsh/site-functions)
PYTHON_DIR ?= $(if $(filter /usr,$(PREFIX)),/usr/lib/python3/dist-packages,$(PREFIX)/share/orchard/python)
$(O)/pages/done: $(O)/orchard
	@mkdir -p $(O)/pages/man $(O)/pages/schemas
	set -e; $< help man > $(O)/pages/man/orchard.1; \
	for verb in $$($< help verbs); do $< help man $$verb > $(O)/pages/man/orchard-$$verb.1; done; \
	for shell in bash zsh fish; do $< help $$shell > $(O)/pages/orchard.$$shell; done; \
	for name in $$($< schema); do $< schema $$name > $(O)/pages/schemas/$$name.json; done
	@touch $@

# ---- packages ----
ARCH := $(shell dpkg --print-architecture 2>/dev/null || uname -m)
DEB := build/orchard_$(VERSION)_$(ARCH).deb
.PHONY: dist deb build-deb
dist:
	@mkdir -p build
	git archive --format=tar --prefix=orchard-$(VERSION)/ HEAD | gzip -9n > build/orchard-$(VERSION).tar.gz
	@echo build/orchard-$(VERSION).tar.gz

# Times inside are those of the commit; two builds of a commit, wherever they are, give the same bytes.
deb: deps
	@$(MAKE) $(QUIET) $(JOBS) MODE=release PREFIX=/usr all programs
	@$(MAKE) $(QUIET) MODE=release PREFIX=/usr build-deb

# The packages that have the libraries which the program is linked with: their versions are those of the machine that builds.
PACKED := $(O)/deb
LINKED = $(shell for name in $$(readelf -d $(O)/orchard | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do \
	f=$$(readlink -f $$(ldd $(O)/orchard | awk -v name=$$name '$$1 == name { print $$3 }')); \
	dpkg -S $$f 2>/dev/null || dpkg -S $$(echo $$f | sed s,^/usr,,); done | cut -d: -f1 | sort -u | paste -sd, | sed 's/,/, /g')
build-deb: export SOURCE_DATE_EPOCH := $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile))
build-deb: $(O)/pages/done
	rm -rf $(PACKED)
	$(MAKE) -s install DESTDIR=$(abspath $(PACKED))
	strip --strip-unneeded $(PACKED)/usr/bin/orchard $(PACKED)/usr/lib/liborchard.so.0
	strip --strip-debug --enable-deterministic-archives $(PACKED)/usr/lib/liborchard.a
	gzip -9n $(PACKED)/usr/share/man/man1/*.1
	mkdir -p $(PACKED)/DEBIAN
	{ echo "Package: orchard"; echo "Version: $(VERSION)"; echo "Architecture: $(ARCH)"; \
	  echo "Maintainer: the orchard authors <orchard@localhost>"; echo "Section: science"; echo "Priority: optional"; \
	  echo "Installed-Size: $$(du -sk $(PACKED)/usr | cut -f1)"; echo "Depends: $(LINKED)"; \
	  echo "Recommends: clang-16"; echo "Suggests: python3"; \
	  echo "Description: simulator of Apple Silicon compute units"; \
	  echo " Executes AArch64, AMX, GPU and Neural Engine programs to the bit, and says how"; \
	  echo " long they would take, how many joules they would cost and how hot it would get."; } > $(PACKED)/DEBIAN/control
	cd $(PACKED) && find usr -type f | LC_ALL=C sort | xargs md5sum > DEBIAN/md5sums
	find $(PACKED) -newermt "@$$SOURCE_DATE_EPOCH" -exec touch -h -d "@$$SOURCE_DATE_EPOCH" {} +
	dpkg-deb --root-owner-group -Zxz --build $(PACKED) $(DEB)
	@echo $(DEB)

-include $(wildcard reports/build.mk sim/build.mk tests/build.mk units/routines/build.mk units/amx/kernels/build.mk units/cpu/kernels/build.mk)

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(if $(filter $(COLD_FOLDERS:%=%/%),$<),-O1) \
	    $(if $(filter opt-$< release-$<,$(HOT_SRC:%=$(MODE)-%)),-O3) $(FLAGS_$(lastword $(subst _, ,$(basename $(notdir $<))))) \
	    -c $< -o $@

# Results carry a hash of the code that made them; tests and the command line do not count.
MODEL_FOLDERS := isa units power sim/chip sim/soc sim/workload sim/machine sim/run sim/scenario sim/network sim/language sim/compile
MODEL_FILES := sim/base/checksum.h sim/base/npy.c sim/base/run_result.c sim/prove/validate/program_elf.c
MODEL_HASH := $(shell { find $(MODEL_FOLDERS) -name '*.[ch]' -o -name '*.inc'; ls $(MODEL_FILES); } | LC_ALL=C sort | xargs cat | cksum | cut -d' ' -f1)
$(O)/sim/run/run_version.o: CFLAGS_ALL += -DORCHARD_MODEL_HASH='"$(MODEL_HASH)"'
$(O)/sim/run/run_version.o: $(O)/model_hash
$(O)/model_hash: FORCE
	@mkdir -p $(@D)
	@echo $(MODEL_HASH) | cmp -s - $@ || echo $(MODEL_HASH) > $@
# Compiled kernels are kept under a hash of the code that compiled them.
COMPILER_HASH := $(shell find isa/agx sim/compile -type f -not -name '*.md' | LC_ALL=C sort | xargs cat | cksum | cut -d' ' -f1)
$(O)/sim/compile/compile_cache.o: CFLAGS_ALL += -DORCHARD_COMPILER_HASH='"$(COMPILER_HASH)"'
$(O)/sim/compile/compile_cache.o: $(O)/compiler_hash
$(O)/compiler_hash: FORCE
	@mkdir -p $(@D)
	@echo $(COMPILER_HASH) | cmp -s - $@ || echo $(COMPILER_HASH) > $@
# Validations also depend on how rows become programs. Tables of accuracy name the commit; only the program carries it, so that
# commits do not link everything anew.
VALIDATE_HASH := $(shell cat $(sort $(wildcard sim/prove/validate/*.[ch] sim/prove/validate/*.inc)) | cksum | cut -d' ' -f1)
COMMIT := $(shell git describe --always --dirty --abbrev=10 2>/dev/null || echo v$(VERSION))
$(O)/sim/prove/validate/record.o: CFLAGS_ALL += -DORCHARD_VALIDATE_HASH='"$(VALIDATE_HASH)"'
$(O)/sim/cmd/main.o: CFLAGS_ALL += -DORCHARD_COMMIT='"$(COMMIT)"'
$(O)/sim/prove/validate/record.o: $(O)/validate_hash
$(O)/sim/cmd/main.o: $(O)/commit
$(O)/validate_hash $(O)/commit: FORCE
	@mkdir -p $(@D)
	@echo $($(if $(filter commit,$(@F)),COMMIT,VALIDATE_HASH)) | cmp -s - $@ || echo $($(if $(filter commit,$(@F)),COMMIT,VALIDATE_HASH)) > $@
.PHONY: FORCE
FORCE:

$(O)/liborchard.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(O)/liborchard.so: $(LIB_OBJ)
	$(CC) $(OPT_$(MODE)) -shared -Wl,-soname,liborchard.so.0 $^ -o $@ $(LIBS)

$(O)/orchard: $(CLI_OBJ) $(O)/liborchard.a
	$(CC) $(OPT_$(MODE)) $^ -o $@ $(LIBS)

# Hundreds of test programs are linked; gold, which comes with binutils, takes half of the time of its default linker for each.
LINK_FAST := $(if $(filter opt,$(MODE)),$(if $(shell command -v ld.gold),-fuse-ld=gold))

$(O)/tests/support/runner: $(O)/tests/support/runner.o
	$(CC) $(OPT_$(MODE)) $^ -o $@

$(O)/tests/%: $(O)/tests/%.o $(SUPPORT_SRC:%.c=$(O)/%.o) $(O)/liborchard.a
	$(CC) $(OPT_$(MODE)) $(LINK_FAST) $(filter %.o,$^) $(filter %.a,$^) -o $@ $(LIBS) -lcunit $(LIBS_$(notdir $@))

$(O)/tests/fuzz/%_smoke: $(O)/tests/fuzz/%.o $(O)/tests/support/fuzz_smoke.o $(O)/liborchard.a
	$(CC) $(OPT_$(MODE)) $(LINK_FAST) $^ -o $@ $(LIBS)

-include $(shell find $(O) -type f -name '*.d' 2>/dev/null)

.SECONDARY:

clean:
	rm -rf build
