# Rules of sim/: texts that are part of the library.

# An .sql file becomes a C string: sim/db/schema.sql -> db_schema_sql. Nothing but sed, so that a bare machine will do.
DB_SQL := schema views merge migrate_2 migrate_3 migrate_4 migrate_5
DB_SQL_OBJ := $(DB_SQL:%=$(O)/gen/sim/db/%_sql.o)
LIB_OBJ += $(DB_SQL_OBJ)

$(O)/gen/sim/db/%_sql.c: sim/db/%.sql sim/build.mk
	@mkdir -p $(@D)
	{ echo 'extern const char db_$*_sql[];'; echo 'const char db_$*_sql[] ='; \
	  sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^.*$$/"&\\n"/' $<; echo ';'; } > $@.tmp && mv $@.tmp $@

$(DB_SQL_OBJ): $(O)/gen/%.o: $(O)/gen/%.c
	$(CC) $(CFLAGS_ALL) -c $< -o $@
