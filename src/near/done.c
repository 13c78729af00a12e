/*
 * done.c
 *	  How much of a search by groups is done: see progress.c.
 */
#include "postgres.h"

#include "near/groups.h"
#include "near/progress.h"

/* Return in how many ways count of size can be chosen. */
static double
number_of_choices(int size, int count)
{
	double		choices = 1;
	int			i;

	for (i = 0; i < count; i++)
		choices *= (double) (size - i) / (i + 1);
	return choices;
}

/* Return how many passes over a list sorted by the segment there are. */
static double
passes_of_segment(const NearCut *cut, int segment)
{
	int			bits = fingerprint_popcount(cut->segments[segment] &
											cut->varying);
	double		passes = 0;
	int			near;

	for (near = 0; near <= cut_near(cut, segment); near++)
		passes += number_of_choices(bits, near);
	return passes;
}

/*
 * Show what the search has done so far, if of_segment of the current segment of
 * nodes[0] is done, 0 .. 1.  Each way to choose segments of the cut counts
 * alike, and each pass over a segment does.
 */
void
hamming_groups_show(const NearGroups *groups, double of_segment)
{
	const GroupNode *node = &groups->nodes[0];
	const NearCut *cut = &node->cut;
	double		done = 0;
	double		all = 0;
	int			segment;

	if (groups->done_here == 0 || groups->depth < 1)
		return;
	for (segment = 0; segment <= node->last; segment++)
	{
		double		work = passes_of_segment(cut, segment) *
		number_of_choices(cut->segment_count - segment - 1, cut->levels - 1);

		all += work;
		if (segment < node->segment)
			done += work;
		else if (segment == node->segment)
			done += work * of_segment;
	}
	simhash_progress_show_share(groups->done_before +
								groups->done_here * done / all);
}

/* Show what the search has done so far, in this process alone. */
void
hamming_groups_show_alone(const NearGroups *groups)
{
	const GroupNode *node = &groups->nodes[0];

	if (groups->depth > 0 && node->segment >= node->first)
		hamming_groups_show(groups,
							(node->passes + (double) (node->x - node->all.x) /
							 (node->all.x_end - node->all.x)) /
							passes_of_segment(&node->cut, node->segment));
}
