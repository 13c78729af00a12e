/*
 * components.c
 *	  Connect fingerprints by steps within a radius.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "components.h"
#include "join.h"
#include "match.h"

/* Fingerprints that are compared in one go. */
#define STRETCH 4096

typedef struct Components
{
	FingerprintList *list;
	uint32 *parents;
	int radius;
} Components;

/*
 * Connect i with those of reached .. end - 1 that are near it, and move them
 * to the front; returns where the others begin.
 */
static uint32
reach_from(Components *c, uint32 i, uint32 reached, uint32 end)
{
	FingerprintList *list = c->list;
	uint64 centre = list->fps[i];
	uint32 from;

	for (from = reached; from < end; from += STRETCH)
	{
		uint16 matches[STRETCH];
		int count = hamming_match(list->fps + from, Min(end - from, STRETCH),
								  centre, c->radius, matches);
		int m;

		for (m = 0; m < count; m++)
		{
			unite_sets(c->parents, list->ids[i], list->ids[from + matches[m]]);
			/* what is moved out of the way was compared already */
			fplist_swap(list, reached++, from + matches[m]);
		}
	}
	return reached;
}

/*
 * Find the components within a group.  What is reached is not compared with
 * again, so that the nearer all are to each other the less it takes.  What
 * was reached last goes first: it leads to where nothing is reached yet.
 */
static void
connect_group(Components *c, const Candidates *group)
{
	uint32 reached = group->x;
	uint32 i;

	for (i = group->x; reached < group->x_end; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i == reached)
			reached++; /* begins a component */
		fplist_swap(c->list, i, reached - 1);
		reached = reach_from(c, i, reached, group->x_end);
	}
}

/*
 * The numbers of the list are 0 .. count - 1; parents has room for as many.
 * Changes the order of the list.
 */
void
connect_near(FingerprintList *list, int radius, uint32 *parents)
{
	Components c = { list, parents, radius };
	HammingJoin *join = join_begin(list, list, radius, parents);
	Candidates group;
	uint32 i;

	for (i = 0; i < list->count; i++)
		parents[i] = i;
	while (join_next(join, &group))
		connect_group(&c, &group);
	pfree(join);
}
