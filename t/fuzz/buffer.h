/*
 * buffer.h
 *	  Bytes that grow.
 */
#ifndef BUFFER_H
#define BUFFER_H

typedef struct Buffer
{
	uint8	   *bytes;
	size_t		length;
	size_t		capacity;
} Buffer;

/* realloc, or free where no bytes are left. */
static inline void *
resize(void *array, size_t bytes)
{
	if (bytes == 0)
	{
		free(array);
		return NULL;
	}
	array = realloc(array, bytes);
	if (array == NULL)
		abort();
	return array;
}

static inline void
append(Buffer *b, const void *bytes, size_t length)
{
	if (b->length + length > b->capacity)
	{
		b->capacity = 2 * (b->length + length);
		b->bytes = resize(b->bytes, b->capacity);
	}
	if (length > 0)
		memcpy(b->bytes + b->length, bytes, length);
	b->length += length;
}

#endif							/* BUFFER_H */
