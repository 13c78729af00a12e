/*
 * team.h
 *	  A process and its parallel workers, which do one step after the other
 *	  together, in memory that they share.
 */
#ifndef SIMHASH_TEAM_H
#define SIMHASH_TEAM_H

#include "access/parallel.h"
#include "storage/buffile.h"
#include "storage/sharedfileset.h"

/*
 * The most pairs of a row that may be settled, on average, that a team is to
 * find.  It finds all, where one process needs those up to the first partner.
 */
#define FEW_PAIRS 10.0

/*
 * A step has units of work, which processes take from a counter: so it does not
 * matter how many processes there are.  The leader gives the team one step
 * after the other, and takes units, too.
 */
typedef struct TeamStep
{
	int			kind;			/* what is done: for who does it */
	uint32		units;
	/* of a sort by the bits from low on: see fplist.c */
	uint32		from;
	uint32		to;
	int			low;
	int			digit;			/* the lowest bit of the current digit */
	int			bits;			/* of the digit */
	bool		is_in_spare;
} TeamStep;

typedef struct TeamShared TeamShared;

typedef struct Team
{
	TeamShared *shared;
	dsm_segment *segment;		/* has shared */
	char	   *memory;			/* that all processes see */
	Size		size;			/* of memory; in the leader */
	dsm_segment *memory_segment;	/* has memory */
	ParallelContext *context;	/* of the leader; NULL: it is alone */
	shm_toc    *toc;			/* of a worker; NULL in the leader */
	/* do one unit of a step, 0 .. units - 1; on workers, too */
	void		(*work) (void *arg, const TeamStep *step, uint32 unit);
	void	   *arg;
	SharedFileSet *files;
} Team;

/* What a search for pairs of rows, by one process or a team, has taken. */
typedef struct NearWork
{
	uint64		passes;
	uint64		compared;		/* pairs, by teams */
	uint64		partition_bytes;	/* of the partitions of any segment */
	uint64		found_bytes;	/* of the pairs that any team has found */
	Size		most_memory;	/* bytes of rows from files, in any pass */
	Size		team_memory;	/* the most bytes of a team */
	int			launched;		/* the most workers of a team */
} NearWork;

/* What a process writes for the leader, which reads that of all processes. */
typedef struct TeamFile
{
	Team	   *team;
	BufFile    *file;			/* that is written, or read; or NULL */
	int			next;			/* number of the next file to be read */
	int			end;			/* of the numbers: one more than workers */
	uint64		written;		/* bytes */
} TeamFile;

/*
 * Of the places from .. to - 1, cut into units slices, return where slice
 * number unit begins.  Slice number units begins at to.
 */
static inline uint32
team_slice_begin(uint32 from, uint32 to, uint32 unit, uint32 units)
{
	return from + (uint32) ((uint64) (to - from) * unit / units);
}

extern double simhash_team_cost(double cost, double rows, int workers);
extern Size simhash_team_memory(int workers);
extern int	simhash_team_workers(double cost, double rows);
extern Team *simhash_team_make(Size size);
extern void simhash_team_launch(Team *team, const char *entry, int workers);
extern void simhash_team_do(Team *team, const TeamStep *step);
extern void simhash_team_dismiss(Team *team);
extern void simhash_team_end(Team *team);
extern Team *simhash_team_attach(shm_toc *toc);
extern void simhash_team_serve(Team *team);
extern void simhash_team_file_write(TeamFile *file, const void *data,
									Size size);
extern void simhash_team_file_finish(TeamFile *file, uint64 passes,
									 uint64 compared, Size memory);
extern void simhash_team_take_over(TeamFile *file, NearWork *work);
extern bool simhash_team_file_read(TeamFile *file, void *data, Size size);
extern void simhash_team_file_close(TeamFile *file);

#endif							/* SIMHASH_TEAM_H */
