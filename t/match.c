/*
 * match.c
 *	  What src/type/distance_array.c finds, in each way that this processor has.
 *
 *	  match					the name of the way that is chosen here
 *	  match ROUNDS SEED		compare each way with the plainest loop
 *
 * This needs no server: script/soak match builds it for this processor and for
 * aarch64, and for each width of a fingerprint.  Fingerprints and matches end
 * where a page does that cannot be touched.
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

/* Fingerprints that one call compares: no leaf and no stretch has more. */
#define MOST 4096
#define FEW 70

/* How far a fingerprint is from the centre. */
typedef enum Data
{
	ANY,						/* 0 .. HAMMING_BITS, each as often */
	UNIFORM,					/* as random ones are */
	EDGE,						/* the radius, or one more */
	ALL_MATCH,					/* within the radius */
	FEW_MATCH,					/* one in a hundred is */
	NONE_MATCH,
	DATA_KINDS
} Data;

static Fingerprint *fingerprints;
static uint16 *matches;
static Fingerprint centre;

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

static Fingerprint
random_fingerprint(void)
{
	uint64		words[FINGERPRINT_WORDS];
	int			i;

	for (i = 0; i < FINGERPRINT_WORDS; i++)
		words[i] = random_bits();
	return fingerprint_from_words(words);
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

/* A fingerprint so far from the centre. */
static Fingerprint
at_distance(int distance)
{
	Fingerprint difference = 0;

	while (distance > 0)
	{
		Fingerprint bit = fingerprint_bit(below(HAMMING_BITS));

		distance -= (difference & bit) == 0;
		difference |= bit;
	}
	return centre ^ difference;
}

static Fingerprint
make_fingerprint(Data data, int radius)
{
	int			nearest = Min(radius + 1, HAMMING_BITS);
	int			match = below(radius + 1);
	int			other = nearest + below(HAMMING_BITS + 1 - nearest);

	switch (data)
	{
		case ANY:
			return at_distance(below(HAMMING_BITS + 1));
		case UNIFORM:
			return random_fingerprint();
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
naive_distance(Fingerprint a, Fingerprint b)
{
	Fingerprint different = a ^ b;
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
	return routines->match(fingerprints - count, count, centre, radius,
						   found) == expected_count &&
		memcmp(found, expected, expected_count * sizeof(uint16)) == 0;
}

static bool
counts(const MatchRoutines *routines, int count, const int64 *expected)
{
	int64		counted[HAMMING_BITS + 1] = {0};

	routines->count(fingerprints - count, count, centre, counted);
	return memcmp(counted, expected, sizeof(counted)) == 0;
}

/* Compare those ways that there are, from the best one on; false on failure. */
static bool
try_ways(unsigned best, int count, int radius, Data data)
{
	const Fingerprint *first = fingerprints - count;
	uint16		expected[MOST];
	int64		distances[HAMMING_BITS + 1] = {0};
	int			expected_count = 0;
	unsigned	w;
	int			i;

	for (i = 0; i < count; i++)
	{
		int			distance = naive_distance(first[i], centre);

		distances[distance]++;
		if (distance <= radius)
			expected[expected_count++] = i;
	}
	for (w = best; w < lengthof(way); w++)
	{
		if (finds(way[w].routines, count, radius, expected, expected_count) &&
			counts(way[w].routines, count, distances))
			continue;
		fprintf(stderr, "%s is wrong: %d fingerprints, radius %d, data %d\n",
				way[w].name, count, radius, data);
		return false;
	}
	return true;
}

/*
 * Try one number of fingerprints with all radii and all kinds of data.  Of a
 * number above FEW, most radii have one kind.
 */
static bool
try_count(unsigned best, int count)
{
	int			radius;
	int			data;
	int			i;

	for (radius = 0; radius <= HAMMING_BITS; radius++)
	{
		int			one = below(DATA_KINDS);

		for (data = 0; data < DATA_KINDS; data++)
		{
			if (count > FEW && data != one && radius > 1 &&
				radius < HAMMING_BITS - 1)
				continue;
			centre = below(4) > 0 ? random_fingerprint()
				: -(Fingerprint) below(2);
			for (i = 1; i <= count; i++)
				fingerprints[-i] = make_fingerprint(data, radius);
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
	fingerprints = end_of_memory(MOST * sizeof(Fingerprint));
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
		printf("ok: %d bits, %s\n", HAMMING_BITS, way[w].name);
	return 0;
}
