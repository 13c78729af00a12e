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
#include "type/compat.h"

/* What all processes see. */
typedef struct SharedPartitions
{
	NearOptions options;		/* radius, and memory of each process */
	bool		keeps_numbers;
	bool		keeps_keys;
	bool		is_of_one_side;
	bool		is_cut;
	NearCut		cut;
	int			segment;		/* the current one */
	uint64		counts[2][MAX_PARTITIONS];	/* rows of x and of y */
} SharedPartitions;

/* What a process has. */
typedef struct PartitionWork
{
	SharedPartitions *shared;
	NearSide	sides[2];		/* the partition of a unit */
	NearPairs  *pairs;			/* of these */
	TeamFile	file;			/* has what they found */
} PartitionWork;

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
	PartitionWork *work = arg;
	const SharedPartitions *shared = work->shared;
	NearPairs  *pairs = work->pairs;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(pairs));
	int			count = shared->is_of_one_side ? 1 : 2;
	int			i;
	NearPair	pair;

	for (i = 0; i < count; i++)
	{
		NearSide   *side = &work->sides[i];

		hamming_side_begin(side, shared->keeps_numbers, shared->keeps_keys);
		side->file = BufFileOpenFileSet(&work->file.team->files->fs,
										hamming_division_file(i, unit),
										O_RDONLY, false);
		side->count = shared->counts[i][unit];
	}
	pairs->division.segment = shared->segment;
	pairs->division.partition = 0;
	while (hamming_pairs_next(pairs, &pair))
		write_pair(&work->file, &pair);
	for (i = 0; i < count; i++)
		hamming_side_end(&work->sides[i]);
	MemoryContextSwitchTo(old);
}

static PartitionWork *
begin_work(Team *team)
{
	PartitionWork *work = palloc0(sizeof(PartitionWork));
	SharedPartitions *shared = (SharedPartitions *) team->memory;
	NearSide   *x = &work->sides[0];
	NearSide   *y = shared->is_of_one_side ? x : &work->sides[1];

	work->shared = shared;
	work->pairs = hamming_pairs_begin(x, y, &shared->options);
	work->pairs->is_unit = true;
	work->pairs->division.is_cut = shared->is_cut;
	work->pairs->division.cut = shared->cut;
	work->file.team = team;
	team->work = pair_partition;
	team->arg = work;
	return work;
}

/* Tell what this process has done, and let others read its file. */
static void
end_work(PartitionWork *work)
{
	NearPairs  *pairs = work->pairs;

	simhash_team_file_finish(&work->file, pairs->work.passes,
							 pairs->comparison->compared,
							 pairs->work.most_memory);
	hamming_pairs_end(pairs);
}

/* What a worker does: PostgreSQL finds this function by its name. */
void
hamming_partitions_main(dsm_segment *segment, shm_toc *toc)
{
	Team	   *team = simhash_team_attach(toc);
	PartitionWork *work = begin_work(team);

	simhash_team_serve(team);
	end_work(work);
	simhash_team_end(team);
}

/* Have all partitions of the next segment paired. */
static void
pair_segment(NearPairs *pairs, PartitionWork *work)
{
	Division   *division = &pairs->division;
	SharedPartitions *shared = work->shared;
	Team	   *team = work->file.team;
	TeamStep	step = {.units = division->partitions};
	NearSide   *sides[2] = {division->x_partitions, division->y_partitions};
	int			count = shared->is_of_one_side ? 1 : 2;
	int			side;
	int			i;

	hamming_division_next(division, team->files, &pairs->work);
	for (side = 0; side < count; side++)
	{
		for (i = 0; i < division->partitions; i++)
		{
			shared->counts[side][i] = sides[side][i].count;
			BufFileExportFileSet(sides[side][i].file);
			hamming_side_end(&sides[side][i]);
		}
	}
	shared->segment = division->segment;
	team->done_before = (double) division->segment /
		division->cut.segment_count;
	team->done_after = (double) (division->segment + 1) /
		division->cut.segment_count;
	simhash_team_do(team, &step);
	for (side = 0; side < count; side++)
		for (i = 0; i < division->partitions; i++)
			BufFileDeleteFileSet(&team->files->fs,
								 hamming_division_file(side, i), false);
}

/*
 * The sides are to be divided.  Let a team pair all partitions of all segments,
 * each process in its part of the memory.  Return false if there is to be no
 * team, or if nothing can be shared: then the caller pairs them.  There is no
 * team where rows may be settled, as other processes would not know of it.
 */
bool
hamming_partitions_pair(NearPairs *pairs)
{
	Division   *division = &pairs->division;
	int			workers = pairs->options.workers;
	SharedPartitions *shared;
	PartitionWork *work;

	if (workers > 0 && pairs->options.settled_rows == NULL)
		pairs->team = simhash_team_make(sizeof(SharedPartitions));
	if (pairs->team == NULL)
		return false;
	pairs->options.memory /= workers + 1;
	hamming_division_make(division, pairs->options.memory);
	shared = (SharedPartitions *) pairs->team->memory;
	memset(shared, 0, sizeof(SharedPartitions));
	shared->options.radius = pairs->options.radius;
	shared->options.memory = pairs->options.memory;
	shared->options.are_same_rows = pairs->options.are_same_rows;
	shared->keeps_numbers = division->x->keeps_numbers;
	shared->keeps_keys = division->x->keeps_keys;
	shared->is_of_one_side = division->x == division->y;
	shared->is_cut = division->is_cut;
	shared->cut = division->cut;
	work = begin_work(pairs->team);
	simhash_team_launch(pairs->team, CppAsString2(hamming_partitions_main),
						workers);
	while (division->segment + 1 < division->cut.segment_count)
		pair_segment(pairs, work);
	end_work(work);
	pairs->file = work->file;
	simhash_team_take_over(&pairs->file, &pairs->work);
	pfree(work);
	hamming_side_begin(&pairs->rows[0], division->x->keeps_numbers, false);
	hamming_side_begin(&pairs->rows[1], division->x->keeps_numbers, false);
	return true;
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
hamming_partitions_next(NearPairs *pairs, NearPair *pair)
{
	NearSide   *rows = pairs->rows;
	TeamFile   *file = &pairs->file;
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
