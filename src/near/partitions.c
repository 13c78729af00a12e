/*
 * partitions.c
 *	  A team that pairs the partitions of sides in files, each process one at a
 *	  time.
 *
 * Each process writes the rows of its pairs to a file of its own.  Once all
 * have ended, the leader reads one file after the other.  The rows of a pair of
 * fingerprints are written once, and not once for each pair of rows: of m and n
 * rows, m + n and not m * n.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "near/pairs.h"
#include "near/progress.h"
#include "type/compat.h"

/* What all processes see. */
typedef struct SharedPartitions
{
	NearOptions options;		/* radius, and memory of each process */
	int			word_count;
	bool		keeps_numbers;
	bool		keeps_keys;
	bool		is_of_one_side;
	Segments	segments;		/* with the current one */
	uint64		counts[2][MAX_PARTITIONS];	/* rows of x and of y */
} SharedPartitions;

/* What comes before the rows of a pair. */
typedef struct PairHeader
{
	uint32		x_count;
	uint32		y_count;		/* 0 if the rows are the same */
	int32		distance;
} PairHeader;

static void
write_rows(TeamFile *file, const NearSide *side, uint32 from, uint32 count)
{
	simhash_team_file_write(file, side->payloads + from,
							count * sizeof(uint64));
	if (side->keeps_numbers)
		simhash_team_file_write(file, side->numbers + from,
								count * sizeof(uint32));
}

/* Write the rows of a pair to the file of this process. */
static void
write_pair(TeamFile *file, const NearPair *pair)
{
	PairHeader	header = {
		.x_count = pair->x_end - pair->x,
		.y_count = pair->is_same ? 0 : pair->y_end - pair->y,
		.distance = pair->distance
	};

	simhash_team_file_write(file, &header, sizeof(header));
	write_rows(file, pair->x_side, pair->x, header.x_count);
	write_rows(file, pair->y_side, pair->y, header.y_count);
}

/* Do a unit of the team: write the pairs of a partition. */
static void
pair_partition(void *arg, const TeamStep *step, uint32 unit)
{
	PartitionTeam *team = arg;
	const SharedPartitions *shared = team->shared;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(team));
	NearSide	sides[2];		/* the partition */
	int			count = shared->is_of_one_side ? 1 : 2;
	int			i;
	NearPair	pair;

	for (i = 0; i < count; i++)
	{
		hamming_side_begin(&sides[i], shared->word_count, shared->keeps_numbers,
						   shared->keeps_keys);
		sides[i].file = BufFileOpenFileSet(&team->file.team->files->fs,
										   hamming_division_file(i, unit),
										   O_RDONLY, false);
		sides[i].count = shared->counts[i][unit];
	}
	hamming_passes_begin(&team->passes, &sides[0], &sides[count - 1],
						 &shared->segments);
	while (hamming_passes_next(&team->passes, &pair))
		write_pair(&team->file, &pair);
	for (i = 0; i < count; i++)
		hamming_side_end(&sides[i]);
	MemoryContextSwitchTo(old);
}

static PartitionTeam *
begin_team(Team *processes)
{
	PartitionTeam *team = palloc0(sizeof(PartitionTeam));

	team->shared = (SharedPartitions *) processes->memory;
	hamming_passes_make(&team->passes, team->shared->word_count,
						&team->shared->options);
	team->file.team = processes;
	processes->work = pair_partition;
	processes->arg = team;
	return team;
}

/* Tell what this process has done, and let the leader read its file. */
static void
finish(PartitionTeam *team)
{
	simhash_team_file_finish(&team->file, team->passes.work.passes,
							 team->passes.comparison->compared,
							 team->passes.work.most_memory);
	hamming_passes_end(&team->passes);
}

/* What a worker does: PostgreSQL finds this function by its name. */
void
hamming_partitions_main(dsm_segment *segment, shm_toc *toc)
{
	PartitionTeam *team = begin_team(simhash_team_attach(toc));

	simhash_team_serve(team->file.team);
	finish(team);
	simhash_team_end(team->file.team);
}

/* Have all partitions of the current segment paired. */
static void
pair_segment(Division *division, PartitionTeam *team)
{
	SharedPartitions *shared = team->shared;
	Team	   *processes = team->file.team;
	TeamStep	step = {.units = division->partitions};
	NearSide   *sides[2] = {division->x_partitions, division->y_partitions};
	int			count = shared->is_of_one_side ? 1 : 2;
	int			side;
	int			i;

	for (side = 0; side < count; side++)
	{
		for (i = 0; i < division->partitions; i++)
		{
			shared->counts[side][i] = sides[side][i].count;
			BufFileExportFileSet(sides[side][i].file);
			hamming_side_end(&sides[side][i]);
		}
	}
	shared->segments = division->segments;
	simhash_progress_share(division->segments.number, division->segments.count);
	simhash_team_do(processes, &step);
	for (side = 0; side < count; side++)
		for (i = 0; i < division->partitions; i++)
			BufFileDeleteFileSet(&processes->files->fs,
								 hamming_division_file(side, i), false);
}

/*
 * The sides are to be divided.  Let a team pair all partitions of all segments,
 * each process in its part of the memory.  Return NULL if there is to be no
 * team, or if nothing can be shared: then the caller pairs them.  There is no
 * team where rows may be settled, as other processes would not know of it.
 */
PartitionTeam *
hamming_partitions_pair(Division *division, NearOptions *options,
						NearWork *work)
{
	const NearSide *x = division->x;
	Team	   *processes = NULL;
	SharedPartitions *shared;
	PartitionTeam *team;

	if (options->workers > 0 && options->settled_rows == NULL)
		processes = simhash_team_make(sizeof(SharedPartitions));
	if (processes == NULL)
		return NULL;
	options->memory /= options->workers + 1;
	hamming_division_make(division, options->memory);
	shared = (SharedPartitions *) processes->memory;
	shared->options = *options;
	shared->options.workers = 0;
	shared->word_count = x->list.word_count;
	shared->keeps_numbers = x->keeps_numbers;
	shared->keeps_keys = x->keeps_keys;
	shared->is_of_one_side = x == division->y;
	team = begin_team(processes);
	simhash_team_launch(processes, CppAsString2(hamming_partitions_main),
						options->workers);
	while (hamming_division_next(division, processes->files, work))
		pair_segment(division, team);
	finish(team);
	simhash_team_take_over(&team->file, work);
	hamming_side_begin(&team->rows[0], 1, x->keeps_numbers, false);
	hamming_side_begin(&team->rows[1], 1, x->keeps_numbers, false);
	return team;
}

/* Read count rows to the side, whose list has none. */
static void
read_rows(BufFile *file, NearSide *side, uint32 count)
{
	if (count > side->capacity)
		hamming_side_reserve(side, Max(count, 2 * side->capacity));
	if (count == 0)
		return;
	BufFileReadExact(file, side->payloads, count * sizeof(uint64));
	if (side->keeps_numbers)
		BufFileReadExact(file, side->numbers, count * sizeof(uint32));
}

/* Get the next pair that the team has found; return false after the last. */
bool
hamming_partitions_next(PartitionTeam *team, NearPair *pair)
{
	NearSide   *rows = team->rows;
	TeamFile   *file = &team->file;
	PairHeader	header;

	if (!simhash_team_file_read(file, &header, sizeof(header)))
		return false;
	read_rows(file->file, &rows[0], header.x_count);
	read_rows(file->file, &rows[1], header.y_count);
	memset(pair, 0, sizeof(NearPair));
	pair->is_same = header.y_count == 0;
	pair->distance = header.distance;
	pair->x_side = &rows[0];
	pair->x_end = header.x_count;
	pair->y_side = &rows[pair->is_same ? 0 : 1];
	pair->y_end = pair->is_same ? header.x_count : header.y_count;
	return true;
}
