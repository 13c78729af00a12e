/*
 * match.c
 *	  What src/type/distance_array.c finds, in each way that this processor has.
 *
 *	  match					the name of the way that is chosen here
 *	  match ROUNDS SEED		compare each way with the plainest loop
 *
 * This needs no server: script/soak match builds it for this processor and for
 * aarch64.  Words and matches end where a page does that cannot be touched.
 */
#include "type/distance_array.c"

#include <sys/mman.h>
#include <unistd.h>

/* PostgreSQL's own printf is in the server, which is not there. */
#undef printf
#undef fprintf

/* Best first: a processor that can do one can do those after it. */
static const struct
{
	const char *name;
	const MatchRoutines *routines;
}			way[] = {
#ifdef SIMHASH_X86
	{"AVX-512 VPOPCNTDQ", &avx512},
	{"AVX2", &avx2},
	{"POPCNT", &popcnt},
#elif defined(SIMHASH_NEON)
	{"NEON", &neon},
#endif
	{"portable C", &portable}
};

/* Words that one call compares: no leaf and no stretch has more. */
#define MOST 4096
#define FEW 70

/* How far a word is from the centre. */
typedef enum Data
{
	ANY,						/* 0 .. 64, each as often */
	UNIFORM,					/* as random ones are */
	EDGE,						/* the radius, or one more */
	ALL_MATCH,					/* within the radius */
	FEW_MATCH,					/* one in a hundred is */
	NONE_MATCH,
	DATA_KINDS
} Data;

static uint64 *words;
static uint16 *matches;
static uint64 centre;

static uint64 random_state;

/* splitmix64 */
static uint64
random_bits(void)
{
	uint64		z = (random_state += UINT64CONST(0x9E3779B97F4A7C15));

	z = (z ^ z >> 30) * UINT64CONST(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64CONST(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static int
below(int limit)
{
	return random_bits() % limit;
}

/*
 * Allocate room for bytes, and return its end.  The page that begins there
 * cannot be touched.
 */
static void *
end_of_memory(size_t bytes)
{
	size_t		page = sysconf(_SC_PAGESIZE);
	size_t		room = (bytes + page - 1) / page * page;
	char	   *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
							  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + room, page, PROT_NONE) != 0)
		abort();
	return memory + room;
}

/* A word so far from the centre. */
static uint64
at_distance(int distance)
{
	uint64		difference = 0;

	while (distance > 0)
	{
		uint64		bit = UINT64CONST(1) << below(64);

		distance -= (difference & bit) == 0;
		difference |= bit;
	}
	return centre ^ difference;
}

static uint64
make_word(Data data, int radius)
{
	int			nearest = Min(radius + 1, 64);
	int			match = below(radius + 1);
	int			other = nearest + below(65 - nearest);

	switch (data)
	{
		case ANY:
			return at_distance(below(65));
		case UNIFORM:
			return random_bits();
		case EDGE:
			return at_distance(below(2) == 0 ? radius : nearest);
		case ALL_MATCH:
			return at_distance(match);
		case FEW_MATCH:
			return at_distance(below(100) == 0 ? match : other);
		default:
			return at_distance(other);
	}
}

static int
naive_distance(uint64 a, uint64 b)
{
	uint64		different = a ^ b;
	int			distance = 0;

	for (; different != 0; different &= different - 1)
		distance++;
	return distance;
}

/* Does this way find the expected ones, and no more? */
static bool
finds(const MatchRoutines *routines, int count, int radius,
	  const uint16 *expected, int expected_count)
{
	uint16	   *found = matches - count;

	memset(found, 0xFF, count * sizeof(uint16));
	return routines->match(words - count, count, centre, radius,
						   found) == expected_count &&
		memcmp(found, expected, expected_count * sizeof(uint16)) == 0;
}

/* Does this way add the distances of the last words? */
static bool
adds(const MatchRoutines *routines, int count)
{
	const uint64 *first = words - count;
	uint16	   *sums = matches - count;
	int			i;

	for (i = 0; i < count; i++)
		sums[i] = i;
	routines->add(first, count, centre, sums);
	for (i = 0; i < count; i++)
		if (sums[i] != i + naive_distance(first[i], centre))
			return false;
	return true;
}

/* Compare those ways that there are, from the best one on; false on failure. */
static bool
try_ways(unsigned best, int count, int radius, Data data)
{
	const uint64 *first = words - count;
	uint16		expected[MOST];
	int			expected_count = 0;
	unsigned	w;
	int			i;

	for (i = 0; i < count; i++)
	{
		if (naive_distance(first[i], centre) <= radius)
			expected[expected_count++] = i;
	}
	for (w = best; w < lengthof(way); w++)
	{
		if (finds(way[w].routines, count, radius, expected, expected_count) &&
			adds(way[w].routines, count))
			continue;
		fprintf(stderr, "%s is wrong: %d words, radius %d, data %d\n",
				way[w].name, count, radius, data);
		return false;
	}
	return true;
}

/*
 * Try one number of words with all radii and all kinds of data.  Of a number
 * above FEW, most radii have one kind.
 */
static bool
try_count(unsigned best, int count)
{
	int			radius;
	int			data;
	int			i;

	for (radius = 0; radius <= 64; radius++)
	{
		int			one = below(DATA_KINDS);

		for (data = 0; data < DATA_KINDS; data++)
		{
			if (count > FEW && data != one && radius > 1 && radius < 63)
				continue;
			centre = below(4) > 0 ? random_bits() : -(uint64) below(2);
			for (i = 1; i <= count; i++)
				words[-i] = make_word(data, radius);
			if (!try_ways(best, count, radius, data))
				return false;
		}
	}
	return true;
}

int
main(int argc, char **argv)
{
	int			rounds = argc == 3 ? atoi(argv[1]) : 0;
	unsigned	best = 0;
	unsigned	w;
	int			count;
	int			round;

	while (way[best].routines != routines())
		best++;
	if (rounds == 0)
	{
		printf("%s\n", way[best].name);
		return 0;
	}
	random_state = strtoull(argv[2], NULL, 10);
	words = end_of_memory(MOST * sizeof(uint64));
	matches = end_of_memory(MOST * sizeof(uint16));
	for (round = 0; round < rounds; round++)
	{
		for (count = 0; count <= FEW; count++)
			if (!try_count(best, count))
				return 1;
		if (!try_count(best, MOST) || !try_count(best, below(MOST)))
			return 1;
	}
	for (w = best; w < lengthof(way); w++)
		printf("ok: %s\n", way[w].name);
	return 0;
}
