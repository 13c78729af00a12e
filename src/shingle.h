/*
 * shingle.h
 *	  Overlapping sequences of n tokens, and their hashes.
 */
#ifndef SHINGLE_H
#define SHINGLE_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "simhash needs xxHash 0.8.0 or later: XXH3 was not final before"
#endif

#define SHINGLE_MAX 64		/* tokens of a shingle */
#define SHINGLE_INLINE 8192 /* bytes kept without allocation */

/*
 * Takes each feature.  bytes is NULL for a feature that is not kept in full
 * (see Shingler.grow).
 */
typedef void (*FeatureSink)(void *arg, const uint8 *bytes, size_t length,
							uint64 hash);

/*
 * A shingle opens with each token and closes, as a feature, with the token
 * n - 1 further on.  The open ones share one buffer.  If they outgrow it,
 * each goes on as the state of a streaming hash, so that a token of any
 * length takes constant memory; shingles that open later are buffered again.
 */
typedef struct Shingler
{
	uint32 size;   /* n */
	bool joined;   /* is there one space between two tokens? */
	bool complete; /* has a shingle of n tokens been seen? */

	uint32 first;	 /* slot of the oldest open shingle */
	uint32 open;	 /* how many are open */
	uint32 streamed; /* how many of these, the oldest, are in state[] */
	size_t start[SHINGLE_MAX]; /* where the others begin in bytes[] */

	uint8 *bytes;
	size_t length;
	size_t capacity;

	/* Enlarges the buffer if features are wanted in full, else NULL. */
	void *(*grow)(void *array, size_t bytes);

	FeatureSink sink;
	void *arg;

	uint8 space[SHINGLE_INLINE];
	XXH3_state_t state[SHINGLE_MAX];
} Shingler;

extern void shingle_init(Shingler *s, uint32 size, bool joined,
						 void *(*grow)(void *, size_t), FeatureSink sink,
						 void *arg);
extern void shingle_begin(Shingler *s);
extern void shingle_append(Shingler *s, const uint8 *bytes, size_t length);
extern void shingle_end(Shingler *s);
extern void shingle_finish(Shingler *s);

#endif /* SHINGLE_H */
