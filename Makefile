# simhash: near-duplicate text in PostgreSQL
#
#     make && make install && make installcheck    [PG_CONFIG=/path/to/pg_config]

EXTENSION = simhash
MODULE_big = simhash
DATA = sql/simhash--1.0.sql
SCRIPTS_built = simhash_explore
PGFILEDESC = "simhash - near-duplicate text"

OBJS = $(addprefix src/, $(addsuffix .o, module planner \
	$(addprefix am/, buffer build cache change check cost handler inspect nearest page plan \
		predicate scan search sort space tree vacuum wal walk write) \
	$(addprefix audit/, audit draw estimate near_rows overlap rows) \
	$(addprefix dedup/, cluster components connect leaders pairs texts user_query) \
	$(addprefix join/, adaptive clause cost explain input node partners path plan self) \
	$(addprefix near/, compare cut division filter fplist groups pairs partitions pass \
		pass_team progress sample side team together) \
	$(addprefix text/, aggregate arguments construct feature_set feature_table fingerprint idf \
		normalize passage_rows passages server_text shingle show_features similarity sketch tokens \
		unicode_table weights_cache weights_json weights_table weights_type) \
	$(addprefix type/, analyze ball cast catalog distance_array gist gist_cost hamming \
		operators same_row secret selectivity stored_values tuples type workers)))

# what script/test counts interrupts by, and hooks of other libraries: see
# t/interrupts.c and t/hooks.c
ifneq ($(SIMHASH_TEST_INTERRUPTS),)
OBJS += t/interrupts.o t/hooks.o
src/%.o: CFLAGS += -fsanitize-coverage=trace-pc
# each basic block calls it
t/interrupts.o: CFLAGS += -O2 -fomit-frame-pointer
# clang counts a block that always follows another only where it is told to
ifneq ($(findstring clang,$(CC)),)
src/%.o: CFLAGS += -fsanitize-coverage=no-prune
endif
endif

# memory that a sanitizer watches: see t/malloc.c
ifneq ($(SIMHASH_TEST_MALLOC),)
OBJS += t/malloc.o
override PG_LDFLAGS += -Wl,--wrap=simhash_tokens_feed -Wl,--wrap=simhash_resize_array
endif

# what is for users
DOCUMENTS = CHANGELOG.md LICENSE README.md SECURITY.md \
	$(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/doc/*.md $(srcdir)/doc/*.svg $(srcdir)/doc/*.png))

# also where the caller gives flags of his own
override PG_CPPFLAGS += -I$(srcdir)/src -Isrc
EXTRA_CLEAN = $(OBJS:.o=.d)
SHLIB_LINK = -lutf8proc

# CONTRIBUTING.md has the sets of tests.  One test alone, which needs "helpers":
#
#     make installcheck REGRESS='helpers hamming' ISOLATION= TAP_TESTS=
#     make installcheck REGRESS= ISOLATION=concurrency TAP_TESTS=
#     make installcheck REGRESS= ISOLATION= PROVE_TESTS=t/001_encodings.pl
#
REGRESS = \
	helpers install type type_128 integers vectors construct similarity minhash passages \
	weights aggregates distance distance_128 audit plans estimates estimates_128 gist build \
	build_128 hamming hamming_128 columns pairs processes parts words join join_plans \
	join_few join_keys join_self join_adaptive join_memory join_parallel join_team \
	join_changes jit components cluster cluster_texts fuzz
ifneq ($(SIMHASH_TEST_EXTRA),)
REGRESS += statistics statistics_128
endif
ISOLATION = exclude concurrency rechecks serializable
TAP_TESTS = 1
ENCODING = UTF8
NO_LOCALE = 1

PG_CONFIG = pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# The DOCS of PGXS would all lie in one folder, which the extensions share, and
# "make uninstall" would look for them in a doc/ below it.  Ours keep the paths
# that they have here, which the links between them need, in a folder of the
# extension's own.  A link to what is not installed becomes its text.
ifdef docdir
documentsdir = $(DESTDIR)$(docdir)/$(docmoduledir)/$(EXTENSION)

install: install-documents
uninstall: uninstall-documents

install-documents:
	$(MKDIR_P) $(addprefix '$(documentsdir)'/, $(sort $(dir $(DOCUMENTS))))
	for document in $(DOCUMENTS); do \
		$(INSTALL_DATA) "$(srcdir)/$$document" '$(documentsdir)'/"$$document" || exit; \
		case $$document in *.md) \
			sed -E 's,\[([^]]*)\]\((\.\./)?(bench/|CONTRIBUTING)[^)]*\),\1,g' "$(srcdir)/$$document" \
				>'$(documentsdir)'/"$$document" || exit ;; \
		esac; \
	done

uninstall-documents:
	rm -rf '$(documentsdir)'

.PHONY: install-documents uninstall-documents
endif

# soft input errors arrived in PostgreSQL 16
ifneq ($(MAJORVERSION),15)
REGRESS += soft_errors
endif

# and REPACK (CONCURRENTLY) in PostgreSQL 19
ifeq ($(filter 15 16 17 18,$(MAJORVERSION)),)
ISOLATION += repack
endif

# An object depends on the headers that it includes.  The compiler writes down which,
# and needs these the first time.
$(OBJS): CFLAGS += -MMD -MP
$(OBJS:.o=.bc): %.bc: %.o
-include $(OBJS:.o=.d)

# a program of one file: the script, and behind it the page that it fills
simhash_explore: $(addprefix $(srcdir)/script/, explore explore.html)
	{ cat $< && echo ": <<'PAGE'" && cat $(word 2, $^) && echo PAGE; } >$@

# what PostgreSQL builds its own inner loops with
src/text/fingerprint.o src/text/sketch.o src/type/analyze.o: CFLAGS += $(CFLAGS_UNROLL_LOOPS) $(CFLAGS_VECTORIZE)

# where the objects go in a build outside the source tree
$(shell mkdir -p $(sort $(dir $(OBJS))))
