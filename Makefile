# simhash: near-duplicate text in PostgreSQL
#
#     make && make install && make installcheck    [PG_CONFIG=/path/to/pg_config]

EXTENSION = simhash
MODULE_big = simhash
DATA = sql/simhash--1.0.sql
SCRIPTS_built = simhash_explore
PGFILEDESC = "simhash - near-duplicate text"

OBJS = \
	src/module.o \
	src/planner.o \
	src/within.o \
	src/am/buffer.o \
	src/am/build.o \
	src/am/cache.o \
	src/am/change.o \
	src/am/check.o \
	src/am/cost.o \
	src/am/handler.o \
	src/am/inspect.o \
	src/am/nearest.o \
	src/am/page.o \
	src/am/plan.o \
	src/am/predicate.o \
	src/am/scan.o \
	src/am/search.o \
	src/am/sort.o \
	src/am/space.o \
	src/am/tree.o \
	src/am/vacuum.o \
	src/am/wal.o \
	src/am/walk.o \
	src/am/write.o \
	src/audit/audit.o \
	src/audit/draw.o \
	src/audit/estimate.o \
	src/audit/near_rows.o \
	src/audit/overlap.o \
	src/audit/rows.o \
	src/dedup/cluster.o \
	src/dedup/components.o \
	src/dedup/connect.o \
	src/dedup/leaders.o \
	src/dedup/pairs.o \
	src/dedup/parts.o \
	src/dedup/texts.o \
	src/dedup/user_query.o \
	src/join/adaptive.o \
	src/join/clause.o \
	src/join/cost.o \
	src/join/explain.o \
	src/join/input.o \
	src/join/node.o \
	src/join/partners.o \
	src/join/path.o \
	src/join/plan.o \
	src/join/self.o \
	src/near/compare.o \
	src/near/cut.o \
	src/near/division.o \
	src/near/filter.o \
	src/near/fplist.o \
	src/near/groups.o \
	src/near/pairs.o \
	src/near/partitions.o \
	src/near/pass.o \
	src/near/pass_team.o \
	src/near/progress.o \
	src/near/sample.o \
	src/near/side.o \
	src/near/team.o \
	src/near/together.o \
	src/text/aggregate.o \
	src/text/arguments.o \
	src/text/construct.o \
	src/text/feature_set.o \
	src/text/feature_table.o \
	src/text/fingerprint.o \
	src/text/idf.o \
	src/text/normalize.o \
	src/text/passage_rows.o \
	src/text/passages.o \
	src/text/server_text.o \
	src/text/shingle.o \
	src/text/show_features.o \
	src/text/similarity.o \
	src/text/sketch.o \
	src/text/tokens.o \
	src/text/unicode_table.o \
	src/text/weights_cache.o \
	src/text/weights_json.o \
	src/text/weights_table.o \
	src/text/weights_type.o \
	src/type/analyze.o \
	src/type/ball.o \
	src/type/cast.o \
	src/type/catalog.o \
	src/type/distance_array.o \
	src/type/gist.o \
	src/type/gist_cost.o \
	src/type/hamming.o \
	src/type/operators.o \
	src/type/same_row.o \
	src/type/secret.o \
	src/type/selectivity.o \
	src/type/stored_values.o \
	src/type/tuples.o \
	src/type/type.o \
	src/type/workers.o

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

# what is for users
DOCUMENTS = CHANGELOG.md LICENSE README.md SECURITY.md \
	$(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/doc/*.md $(srcdir)/doc/*.svg $(srcdir)/doc/*.png))

# also where the caller gives flags of his own
override PG_CPPFLAGS += -I$(srcdir)/src -Isrc
EXTRA_CLEAN = $(OBJS:.o=.d)
SHLIB_LINK = -lutf8proc

# "make installcheck" runs the quick tests.  Those below that take longer, and the
# TAP tests that name SIMHASH_TEST_EXTRA, are run where that is not empty, as
# script/test sets it.  "large" and the *_large tests need more rows, or compare all
# radii: they are those of script/soak compare.
#
# A test needs "helpers" and no other one.  One test alone:
#
#     make installcheck REGRESS='helpers hamming' ISOLATION= TAP_TESTS=
#     make installcheck REGRESS= ISOLATION=concurrency TAP_TESTS=
#     make installcheck REGRESS= ISOLATION= PROVE_TESTS=t/001_encodings.pl
#
REGRESS = \
	helpers \
	install \
	type \
	type_128 \
	integers \
	vectors \
	construct \
	similarity \
	minhash \
	passages \
	weights \
	aggregates \
	distance \
	distance_128 \
	audit \
	plans \
	estimates \
	estimates_128 \
	gist \
	build \
	build_128 \
	hamming \
	hamming_128 \
	columns \
	pairs \
	processes \
	parts \
	words \
	join \
	join_plans \
	join_few \
	join_keys \
	join_self \
	join_adaptive \
	join_memory \
	join_parallel join_team \
	join_changes \
	jit \
	components \
	cluster \
	cluster_texts \
	fuzz
ifneq ($(SIMHASH_TEST_EXTRA),)
REGRESS += \
	statistics \
	statistics_128
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
