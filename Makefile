# simhash: near-duplicate text in PostgreSQL
#
#     make && make install && make installcheck    [PG_CONFIG=/path/to/pg_config]

EXTENSION = simhash
MODULE_big = simhash
DATA = sql/simhash--1.0.sql
PGFILEDESC = "simhash - near-duplicate text"

OBJS = \
	src/aggregate.o \
	src/am_build.o \
	src/am_cost.o \
	src/am_handler.o \
	src/am_insert.o \
	src/am_inspect.o \
	src/am_nearest.o \
	src/am_page.o \
	src/am_plan.o \
	src/am_scan.o \
	src/am_search.o \
	src/am_sort.o \
	src/am_tree.o \
	src/am_vacuum.o \
	src/am_validate.o \
	src/am_wal.o \
	src/ball.o \
	src/cast.o \
	src/cluster.o \
	src/components.o \
	src/construct.o \
	src/distances.o \
	src/encoding.o \
	src/features.o \
	src/fingerprint.o \
	src/fplist.o \
	src/gist.o \
	src/hamming.o \
	src/hash.o \
	src/idf.o \
	src/join.o \
	src/leaders.o \
	src/match.o \
	src/near.o \
	src/normalize.o \
	src/numbering.o \
	src/operators.o \
	src/pair_rows.o \
	src/pairs.o \
	src/planner.o \
	src/query.o \
	src/read_text.o \
	src/selectivity.o \
	src/shingle.o \
	src/tokens.o \
	src/type.o \
	src/weights.o \
	src/weights_cache.o \
	src/weights_type.o \
	src/weights_value.o

# what the documents link to is installed with them
DOCUMENTS = \
	LICENSE \
	README.md \
	doc/algorithm.md \
	doc/choosing.md \
	doc/clients.md \
	doc/deduplicating.md \
	doc/indexing.md \
	doc/recipes.md \
	$(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/bench/results/*.md))

SHLIB_LINK = -lutf8proc

REGRESS = \
	install \
	type \
	vectors \
	construct \
	weights \
	aggregates \
	statistics \
	distance \
	distances \
	plans \
	plans_hamming \
	estimates \
	datasets \
	gist \
	hamming \
	pairs \
	cluster \
	fuzz
ISOLATION = exclude concurrency
TAP_TESTS = 1
ENCODING = UTF8
NO_LOCALE = 1

PG_CONFIG = pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# The DOCS of PGXS would all lie in one folder, which the extensions share, and
# "make uninstall" would look for them in a doc/ below it.  Ours keep the paths
# that they have here, which the links between them need, in a folder of the
# extension's own.
ifdef docdir
documentsdir = $(DESTDIR)$(docdir)/$(docmoduledir)/$(EXTENSION)

install: install-documents
uninstall: uninstall-documents

install-documents:
	$(MKDIR_P) $(addprefix '$(documentsdir)'/, $(sort $(dir $(DOCUMENTS))))
	for document in $(DOCUMENTS); do \
		$(INSTALL_DATA) "$(srcdir)/$$document" '$(documentsdir)'/"$$document" || exit; \
	done

uninstall-documents:
	rm -rf '$(documentsdir)'

.PHONY: install-documents uninstall-documents
endif

# soft input errors arrived in PostgreSQL 16
ifneq ($(MAJORVERSION),15)
REGRESS += soft_errors
endif

$(OBJS) $(OBJS:.o=.bc): $(wildcard $(srcdir)/src/*.h)

# what PostgreSQL builds its own inner loops with
src/fingerprint.o: CFLAGS += $(CFLAGS_UNROLL_LOOPS) $(CFLAGS_VECTORIZE)

# where the objects go in a build outside the source tree
$(shell mkdir -p src)
