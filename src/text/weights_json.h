/*
 * weights_json.h
 *	  simhash_weights from JSON, and to JSON.
 */
#ifndef SIMHASH_WEIGHTS_JSON_H
#define SIMHASH_WEIGHTS_JSON_H

#include "lib/stringinfo.h"
#include "nodes/nodes.h"

extern char *simhash_excerpt(const uint8 *bytes, size_t length);
extern void simhash_weights_check_length(const struct varlena *value);
extern struct varlena *simhash_weights_parse(const char *json, Node *escontext);
extern void simhash_weights_write(StringInfo buf, const struct varlena *value);

#endif							/* SIMHASH_WEIGHTS_JSON_H */
