/*
 * construct.h
 *	  Reading SQL arguments into features.
 */
#ifndef CONSTRUCT_H
#define CONSTRUCT_H

#include "tokens.h"

extern void feed_arguments(FunctionCallInfo fcinfo, bool keep_bytes,
						   FeatureSink sink, void *arg);
extern void *resize_array(void *array, size_t bytes);

#endif /* CONSTRUCT_H */
