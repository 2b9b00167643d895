# Rules of sim/: texts that are part of the library.

# An .sql file becomes a C string: sim/db/schema.sql -> db_schema_sql. Nothing but sed, so that a bare machine will do.
DB_SQL := schema views merge migrate_2 migrate_3 migrate_4 migrate_5 migrate_6 migrate_7 migrate_8
DB_SQL_OBJ := $(DB_SQL:%=$(O)/gen/sim/db/%_sql.o)
LIB_OBJ += $(DB_SQL_OBJ)

$(O)/gen/sim/db/%_sql.c: sim/db/%.sql sim/build.mk
	@mkdir -p $(@D)
	{ echo 'extern const char db_$*_sql[];'; echo 'const char db_$*_sql[] ='; \
	  sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^.*$$/"&\\n"/' $<; echo ';'; } > $@.tmp && mv $@.tmp $@

$(DB_SQL_OBJ): $(O)/gen/%.o: $(O)/gen/%.c
	$(CC) $(CFLAGS_ALL) -c $< -o $@

# Documents that are part of the library: the dashboard that a server gives away, and the claims that a page asks anew.
SIM_TEXTS := serve/grafana report/claims
SIM_TEXT_OBJ := $(SIM_TEXTS:%=$(O)/gen/sim/%.o)
LIB_OBJ += $(SIM_TEXT_OBJ)
$(O)/gen/sim/%.c: sim/%.json sim/build.mk
	@mkdir -p $(@D)
	{ echo '#include "sim/$*.h"'; echo 'const char $(subst /,_,$*)[] ='; \
	  sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^.*$$/"&\\n"/' $<; echo ';'; } > $@.tmp && mv $@.tmp $@
$(SIM_TEXT_OBJ): $(O)/gen/%.o: $(O)/gen/%.c
	$(CC) $(CFLAGS_ALL) -c $< -o $@

# Readers of ONNX files, from the schema that Debian's libonnx-dev has: sim/network/onnx/README.md.
ONNX_SCHEMA ?= /usr/include/onnx/onnx.proto
ONNX_GEN := $(O)/gen/sim/network/onnx
LIB_OBJ += $(ONNX_GEN)/onnx.pb-c.o

$(ONNX_GEN)/onnx.pb-c.h: $(ONNX_SCHEMA)
	@mkdir -p $(@D)
	protoc-c --proto_path=$(<D) --c_out=$(@D) $(<F)
$(ONNX_GEN)/onnx.pb-c.c: $(ONNX_GEN)/onnx.pb-c.h ;
$(ONNX_GEN)/onnx.pb-c.o: $(ONNX_GEN)/onnx.pb-c.c
	$(CC) $(CFLAGS_ALL) -w -c $< -o $@
$(patsubst %.c,$(O)/%.o,$(wildcard sim/network/onnx/*.c)): | $(ONNX_GEN)/onnx.pb-c.h
$(patsubst %.c,build/fuzz/obj/%.o,$(wildcard sim/network/onnx/*.c)): | $(ONNX_GEN)/onnx.pb-c.h
