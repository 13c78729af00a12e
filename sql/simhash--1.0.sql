/* simhash: near-duplicate text.  The install script of version 1.0. */

-- complain if the script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION simhash" to load this file. \quit

-------------------------------------------------------------------------------
-- The types simhash64 and simhash128.  They have a category to themselves, in
-- which simhash64 is preferred: so simhash_distance('...', '...') of two literals
-- without a type means simhash64.  The category of all extensions, 'U', must have
-- no preferred type, as that one would win in functions of others, too.
-------------------------------------------------------------------------------

CREATE TYPE simhash64;
COMMENT ON TYPE simhash64 IS
	'64-bit fingerprint: near-duplicate texts differ in few bits';

CREATE FUNCTION simhash64_in(cstring) RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash64_out(simhash64) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash64_recv(internal) RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash64_send(simhash64) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- what ANALYZE calls, which also counts how many rows are near each other, for the planner
CREATE FUNCTION simhash64_analyze(internal) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT PARALLEL SAFE;

CREATE TYPE simhash64 (
	INPUT = simhash64_in,
	OUTPUT = simhash64_out,
	RECEIVE = simhash64_recv,
	SEND = simhash64_send,
	ANALYZE = simhash64_analyze,
	LIKE = pg_catalog.int8,
	CATEGORY = 'f',
	PREFERRED = true
);

CREATE TYPE simhash128;
COMMENT ON TYPE simhash128 IS
	'128-bit fingerprint: near-duplicate texts differ in few bits';

CREATE FUNCTION simhash128_in(cstring) RETURNS simhash128
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash128_out(simhash128) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash128_recv(internal) RETURNS simhash128
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash128_send(simhash128) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- what ANALYZE calls, which also counts how many rows are near each other, for the planner
CREATE FUNCTION simhash128_analyze(internal) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT PARALLEL SAFE;

CREATE TYPE simhash128 (
	INPUT = simhash128_in,
	OUTPUT = simhash128_out,
	RECEIVE = simhash128_recv,
	SEND = simhash128_send,
	ANALYZE = simhash128_analyze,
	LIKE = pg_catalog.uuid,
	CATEGORY = 'f'
);

-------------------------------------------------------------------------------
-- Casts: all but the last one keep all bits
-------------------------------------------------------------------------------

CREATE CAST (bigint AS simhash64) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (bigint AS simhash64) IS 'the same 64 bits, two''s complement';
CREATE CAST (simhash64 AS bigint) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (simhash64 AS bigint) IS 'the same 64 bits, two''s complement';

-- drivers send an integer as the smallest type that has it
CREATE FUNCTION simhash64_from_smallint(smallint) RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (smallint AS simhash64)
	WITH FUNCTION simhash64_from_smallint(smallint) AS ASSIGNMENT;
COMMENT ON CAST (smallint AS simhash64) IS 'as the same bigint';

CREATE FUNCTION simhash64_from_integer(integer) RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (integer AS simhash64)
	WITH FUNCTION simhash64_from_integer(integer) AS ASSIGNMENT;
COMMENT ON CAST (integer AS simhash64) IS 'as the same bigint';

CREATE FUNCTION simhash64_from_bit(bit) RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (bit AS simhash64) WITH FUNCTION simhash64_from_bit(bit);
COMMENT ON CAST (bit AS simhash64) IS 'the same 64 bits';
CREATE CAST (bit varying AS simhash64) WITH FUNCTION simhash64_from_bit(bit);
COMMENT ON CAST (bit varying AS simhash64) IS 'the same 64 bits';

CREATE FUNCTION simhash64_to_bit(simhash64) RETURNS bit
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (simhash64 AS bit) WITH FUNCTION simhash64_to_bit(simhash64);
COMMENT ON CAST (simhash64 AS bit) IS 'the same 64 bits';

CREATE FUNCTION simhash64_from_numeric(numeric) RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (numeric AS simhash64)
	WITH FUNCTION simhash64_from_numeric(numeric) AS ASSIGNMENT;
COMMENT ON CAST (numeric AS simhash64) IS
	'the unsigned value; below 0, as the same bigint';

CREATE FUNCTION simhash64_to_numeric(simhash64) RETURNS numeric
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (simhash64 AS numeric) WITH FUNCTION simhash64_to_numeric(simhash64);
COMMENT ON CAST (simhash64 AS numeric) IS 'the unsigned value';

CREATE FUNCTION simhash64_from_bytea(bytea) RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (bytea AS simhash64) WITH FUNCTION simhash64_from_bytea(bytea);
COMMENT ON CAST (bytea AS simhash64) IS '8 bytes, the highest first';

CREATE FUNCTION simhash64_to_bytea(simhash64) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (simhash64 AS bytea) WITH FUNCTION simhash64_to_bytea(simhash64);
COMMENT ON CAST (simhash64 AS bytea) IS '8 bytes, the highest first';

CREATE CAST (uuid AS simhash128) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (uuid AS simhash128) IS 'the same 16 bytes';
CREATE CAST (simhash128 AS uuid) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (simhash128 AS uuid) IS 'the same 16 bytes';

CREATE FUNCTION simhash128_from_bit(bit) RETURNS simhash128
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (bit AS simhash128) WITH FUNCTION simhash128_from_bit(bit);
COMMENT ON CAST (bit AS simhash128) IS 'the same 128 bits';
CREATE CAST (bit varying AS simhash128) WITH FUNCTION simhash128_from_bit(bit);
COMMENT ON CAST (bit varying AS simhash128) IS 'the same 128 bits';

CREATE FUNCTION simhash128_to_bit(simhash128) RETURNS bit
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (simhash128 AS bit) WITH FUNCTION simhash128_to_bit(simhash128);
COMMENT ON CAST (simhash128 AS bit) IS 'the same 128 bits';

CREATE FUNCTION simhash128_from_numeric(numeric) RETURNS simhash128
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (numeric AS simhash128)
	WITH FUNCTION simhash128_from_numeric(numeric) AS ASSIGNMENT;
COMMENT ON CAST (numeric AS simhash128) IS
	'the unsigned value; below 0, in two''s complement';

CREATE FUNCTION simhash128_to_numeric(simhash128) RETURNS numeric
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (simhash128 AS numeric) WITH FUNCTION simhash128_to_numeric(simhash128);
COMMENT ON CAST (simhash128 AS numeric) IS 'the unsigned value';

CREATE FUNCTION simhash128_from_bytea(bytea) RETURNS simhash128
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (bytea AS simhash128) WITH FUNCTION simhash128_from_bytea(bytea);
COMMENT ON CAST (bytea AS simhash128) IS '16 bytes, the highest first';

CREATE FUNCTION simhash128_to_bytea(simhash128) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (simhash128 AS bytea) WITH FUNCTION simhash128_to_bytea(simhash128);
COMMENT ON CAST (simhash128 AS bytea) IS '16 bytes, the highest first';

CREATE FUNCTION simhash64_from_simhash128(simhash128) RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (simhash128 AS simhash64)
	WITH FUNCTION simhash64_from_simhash128(simhash128);
COMMENT ON CAST (simhash128 AS simhash64) IS 'the first 64 bits';

-------------------------------------------------------------------------------
-- Order, equality and hashing.  These operator classes are apart from those of
-- the distance, so that a distance index is never asked for equality.
-------------------------------------------------------------------------------

CREATE FUNCTION simhash64_lt(simhash64, simhash64) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash64_le(simhash64, simhash64) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash64_eq(simhash64, simhash64) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash64_ne(simhash64, simhash64) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash64_ge(simhash64, simhash64) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash64_gt(simhash64, simhash64) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR < (
	LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (simhash64, simhash64) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (simhash64, simhash64) IS 'less than or equal to';

CREATE OPERATOR = (
	LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (simhash64, simhash64) IS 'equal to';

CREATE OPERATOR <> (
	LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (simhash64, simhash64) IS 'not equal to';

CREATE OPERATOR >= (
	LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (simhash64, simhash64) IS 'greater than or equal to';

CREATE OPERATOR > (
	LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash64_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (simhash64, simhash64) IS 'greater than';

CREATE FUNCTION simhash64_cmp(simhash64, simhash64) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash64_sortsupport(internal) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS simhash64_ops
	DEFAULT FOR TYPE simhash64 USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 simhash64_cmp(simhash64, simhash64),
	FUNCTION 2 simhash64_sortsupport(internal),
	FUNCTION 4 btequalimage(oid);
COMMENT ON OPERATOR CLASS simhash64_ops USING btree IS
	'unsigned order';

CREATE FUNCTION simhash64_hash(simhash64) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash64_hash_extended(simhash64, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS simhash64_ops
	DEFAULT FOR TYPE simhash64 USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 simhash64_hash(simhash64),
	FUNCTION 2 simhash64_hash_extended(simhash64, bigint);
COMMENT ON OPERATOR CLASS simhash64_ops USING hash IS
	'equality';

CREATE FUNCTION simhash64_smaller(simhash64, simhash64) RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE min(simhash64) (
	SFUNC = simhash64_smaller,
	STYPE = simhash64,
	COMBINEFUNC = simhash64_smaller,
	SORTOP = <,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE min(simhash64) IS
	'least fingerprint, in unsigned order';

CREATE FUNCTION simhash64_larger(simhash64, simhash64) RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE max(simhash64) (
	SFUNC = simhash64_larger,
	STYPE = simhash64,
	COMBINEFUNC = simhash64_larger,
	SORTOP = >,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE max(simhash64) IS
	'greatest fingerprint, in unsigned order';

CREATE FUNCTION simhash128_lt(simhash128, simhash128) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash128_le(simhash128, simhash128) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash128_eq(simhash128, simhash128) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash128_ne(simhash128, simhash128) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash128_ge(simhash128, simhash128) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash128_gt(simhash128, simhash128) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR < (
	LEFTARG = simhash128, RIGHTARG = simhash128, FUNCTION = simhash128_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (simhash128, simhash128) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = simhash128, RIGHTARG = simhash128, FUNCTION = simhash128_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (simhash128, simhash128) IS 'less than or equal to';

CREATE OPERATOR = (
	LEFTARG = simhash128, RIGHTARG = simhash128, FUNCTION = simhash128_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (simhash128, simhash128) IS 'equal to';

CREATE OPERATOR <> (
	LEFTARG = simhash128, RIGHTARG = simhash128, FUNCTION = simhash128_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (simhash128, simhash128) IS 'not equal to';

CREATE OPERATOR >= (
	LEFTARG = simhash128, RIGHTARG = simhash128, FUNCTION = simhash128_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (simhash128, simhash128) IS 'greater than or equal to';

CREATE OPERATOR > (
	LEFTARG = simhash128, RIGHTARG = simhash128, FUNCTION = simhash128_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (simhash128, simhash128) IS 'greater than';

CREATE FUNCTION simhash128_cmp(simhash128, simhash128) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash128_sortsupport(internal) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS simhash128_ops
	DEFAULT FOR TYPE simhash128 USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 simhash128_cmp(simhash128, simhash128),
	FUNCTION 2 simhash128_sortsupport(internal),
	FUNCTION 4 btequalimage(oid);
COMMENT ON OPERATOR CLASS simhash128_ops USING btree IS
	'unsigned order';

CREATE FUNCTION simhash128_hash(simhash128) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash128_hash_extended(simhash128, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS simhash128_ops
	DEFAULT FOR TYPE simhash128 USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 simhash128_hash(simhash128),
	FUNCTION 2 simhash128_hash_extended(simhash128, bigint);
COMMENT ON OPERATOR CLASS simhash128_ops USING hash IS
	'equality';

CREATE FUNCTION simhash128_smaller(simhash128, simhash128) RETURNS simhash128
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE min(simhash128) (
	SFUNC = simhash128_smaller,
	STYPE = simhash128,
	COMBINEFUNC = simhash128_smaller,
	SORTOP = <,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE min(simhash128) IS
	'least fingerprint, in unsigned order';

CREATE FUNCTION simhash128_larger(simhash128, simhash128) RETURNS simhash128
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE max(simhash128) (
	SFUNC = simhash128_larger,
	STYPE = simhash128,
	COMBINEFUNC = simhash128_larger,
	SORTOP = >,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE max(simhash128) IS
	'greatest fingerprint, in unsigned order';

-------------------------------------------------------------------------------
-- The type simhash_weights.  Its category makes it win over arrays where two
-- literals are given: simhash('a b', '{"the": 0}').
-------------------------------------------------------------------------------

CREATE TYPE simhash_weights;
COMMENT ON TYPE simhash_weights IS
	'weights of words, as a JSON object; the key "" is the default';

CREATE FUNCTION simhash_weights_in(cstring) RETURNS simhash_weights
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_weights_out(simhash_weights) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_weights_recv(internal) RETURNS simhash_weights
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_weights_send(simhash_weights) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE simhash_weights (
	INPUT = simhash_weights_in,
	OUTPUT = simhash_weights_out,
	RECEIVE = simhash_weights_recv,
	SEND = simhash_weights_send,
	STORAGE = extended,
	CATEGORY = 'S'
);

CREATE CAST (simhash_weights AS jsonb) WITH INOUT AS ASSIGNMENT;
COMMENT ON CAST (simhash_weights AS jsonb) IS 'the same object';
CREATE CAST (jsonb AS simhash_weights) WITH INOUT AS IMPLICIT;
COMMENT ON CAST (jsonb AS simhash_weights) IS 'the same object';

CREATE FUNCTION simhash_weights_to_json(simhash_weights) RETURNS json
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- by a function: that is what to_json() and its like look for
CREATE CAST (simhash_weights AS json)
	WITH FUNCTION simhash_weights_to_json(simhash_weights) AS ASSIGNMENT;
COMMENT ON CAST (simhash_weights AS json) IS 'the same object';

CREATE FUNCTION simhash_weights_lt(simhash_weights, simhash_weights)
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash_weights_le(simhash_weights, simhash_weights)
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash_weights_eq(simhash_weights, simhash_weights)
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash_weights_ne(simhash_weights, simhash_weights)
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash_weights_ge(simhash_weights, simhash_weights)
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash_weights_gt(simhash_weights, simhash_weights)
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR < (
	LEFTARG = simhash_weights, RIGHTARG = simhash_weights,
	FUNCTION = simhash_weights_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (simhash_weights, simhash_weights) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = simhash_weights, RIGHTARG = simhash_weights,
	FUNCTION = simhash_weights_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (simhash_weights, simhash_weights) IS 'less than or equal to';

CREATE OPERATOR = (
	LEFTARG = simhash_weights, RIGHTARG = simhash_weights,
	FUNCTION = simhash_weights_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (simhash_weights, simhash_weights) IS 'equal to';

CREATE OPERATOR <> (
	LEFTARG = simhash_weights, RIGHTARG = simhash_weights,
	FUNCTION = simhash_weights_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (simhash_weights, simhash_weights) IS 'not equal to';

CREATE OPERATOR >= (
	LEFTARG = simhash_weights, RIGHTARG = simhash_weights,
	FUNCTION = simhash_weights_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (simhash_weights, simhash_weights) IS 'greater than or equal to';

CREATE OPERATOR > (
	LEFTARG = simhash_weights, RIGHTARG = simhash_weights,
	FUNCTION = simhash_weights_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (simhash_weights, simhash_weights) IS 'greater than';

CREATE FUNCTION simhash_weights_cmp(simhash_weights, simhash_weights)
	RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS simhash_weights_ops
	DEFAULT FOR TYPE simhash_weights USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 simhash_weights_cmp(simhash_weights, simhash_weights),
	FUNCTION 4 btequalimage(oid);
COMMENT ON OPERATOR CLASS simhash_weights_ops USING btree IS
	'arbitrary order, for sorting and grouping';

CREATE FUNCTION simhash_weights_hash(simhash_weights) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash_weights_hash_extended(simhash_weights, bigint)
	RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS simhash_weights_ops
	DEFAULT FOR TYPE simhash_weights USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 simhash_weights_hash(simhash_weights),
	FUNCTION 2 simhash_weights_hash_extended(simhash_weights, bigint);
COMMENT ON OPERATOR CLASS simhash_weights_ops USING hash IS
	'equality';

CREATE FUNCTION simhash_idf_transition(internal, text) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 800;

CREATE FUNCTION simhash_idf_transition(internal, text, integer)
	RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 800;

CREATE FUNCTION simhash_idf_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_idf_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_idf_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_idf_final(internal) RETURNS simhash_weights
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE simhash_idf(body text) (
	SFUNC = simhash_idf_transition,
	STYPE = internal,
	SSPACE = 1048576,
	FINALFUNC = simhash_idf_final,
	COMBINEFUNC = simhash_idf_combine,
	SERIALFUNC = simhash_idf_serialize,
	DESERIALFUNC = simhash_idf_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_idf(text) IS
	'inverse document frequencies of the words that occur in at least 2 texts';

CREATE AGGREGATE simhash_idf(body text, min_df integer) (
	SFUNC = simhash_idf_transition,
	STYPE = internal,
	SSPACE = 1048576,
	FINALFUNC = simhash_idf_final,
	COMBINEFUNC = simhash_idf_combine,
	SERIALFUNC = simhash_idf_serialize,
	DESERIALFUNC = simhash_idf_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_idf(text, integer) IS
	'inverse document frequencies of the words that at least min_df texts have';

-------------------------------------------------------------------------------
-- Constructors
-------------------------------------------------------------------------------

CREATE FUNCTION simhash_collation_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- COST here and of simhash_idf: measured on a document of 2 kB, in units of an
-- integer comparison; of 128 bits, as many times that of 64 as measured.

CREATE FUNCTION simhash(
	body text, weights simhash_weights DEFAULT NULL,
	words integer DEFAULT NULL, chars integer DEFAULT NULL,
	tf text DEFAULT 'once')
	RETURNS simhash64
	AS 'MODULE_PATHNAME', 'simhash_text' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 280
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION simhash(text, simhash_weights, integer, integer, text) IS
	'fingerprint of a text: of its words, or of shingles of n words or characters';

CREATE FUNCTION simhash_tokens(tokens text[], weights float8[] DEFAULT NULL)
	RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 280
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION simhash_tokens(text[], float8[]) IS
	'fingerprint of weighted tokens, taken as they are';

CREATE FUNCTION simhash_hashes(hashes bigint[], weights float8[] DEFAULT NULL)
	RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash_hashes(bigint[], float8[]) IS
	'fingerprint of weighted features, given by their hashes';

CREATE FUNCTION simhash(
	doc tsvector, weights float4[] DEFAULT '{0.1,0.2,0.4,1.0}',
	tf text DEFAULT 'once')
	RETURNS simhash64
	AS 'MODULE_PATHNAME', 'simhash_tsvector' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 700
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION simhash(tsvector, float4[], text) IS
	'fingerprint of the lexemes of a tsvector, by their labels D, C, B and A';

CREATE FUNCTION simhash_features(
	body text, weights simhash_weights DEFAULT NULL,
	words integer DEFAULT NULL, chars integer DEFAULT NULL,
	tf text DEFAULT 'once')
	RETURNS TABLE (
		feature text, hash bigint, count integer, factor float8, weight float8)
	AS 'MODULE_PATHNAME', 'simhash_features_text' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 1400 ROWS 100;
COMMENT ON FUNCTION simhash_features(text, simhash_weights, integer, integer, text) IS
	'features of the simhash of a text, with counts, factors and weights';

CREATE FUNCTION simhash_features_tokens(
	tokens text[], weights float8[] DEFAULT NULL)
	RETURNS TABLE (
		feature text, hash bigint, count integer, factor float8, weight float8)
	AS 'MODULE_PATHNAME' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 1300 ROWS 100;
COMMENT ON FUNCTION simhash_features_tokens(text[], float8[]) IS
	'features and weights that the fingerprint of weighted tokens is made of';

CREATE FUNCTION simhash_features_hashes(
	hashes bigint[], weights float8[] DEFAULT NULL)
	RETURNS TABLE (
		feature text, hash bigint, count integer, factor float8, weight float8)
	AS 'MODULE_PATHNAME' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 750 ROWS 100;
COMMENT ON FUNCTION simhash_features_hashes(bigint[], float8[]) IS
	'features and weights that the fingerprint of weighted hashes is made of';

CREATE FUNCTION simhash_features_hashes_128(
	hashes uuid[], weights float8[] DEFAULT NULL)
	RETURNS TABLE (
		feature text, hash uuid, count integer, factor float8, weight float8)
	AS 'MODULE_PATHNAME' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 920 ROWS 100;
COMMENT ON FUNCTION simhash_features_hashes_128(uuid[], float8[]) IS
	'features and weights that the 128-bit fingerprint of weighted hashes is made of';

CREATE FUNCTION simhash_features(
	doc tsvector, weights float4[] DEFAULT '{0.1,0.2,0.4,1.0}',
	tf text DEFAULT 'once')
	RETURNS TABLE (
		feature text, hash bigint, count integer, factor float8, weight float8)
	AS 'MODULE_PATHNAME', 'simhash_features_tsvector' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 1500 ROWS 100;
COMMENT ON FUNCTION simhash_features(tsvector, float4[], text) IS
	'features and weights that the fingerprint of the lexemes of a tsvector is made of';

CREATE FUNCTION minhash(
	body text, weights simhash_weights DEFAULT NULL,
	words integer DEFAULT NULL, chars integer DEFAULT NULL)
	RETURNS simhash64
	AS 'MODULE_PATHNAME', 'simhash_minhash_text' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 300
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION minhash(text, simhash_weights, integer, integer) IS
	'MinHash of a text: of its shingles of 2 words, or of n words or characters';

CREATE FUNCTION minhash_passages(
	body text, weights simhash_weights DEFAULT NULL,
	words integer DEFAULT NULL, chars integer DEFAULT NULL,
	mean_length integer DEFAULT NULL)
	RETURNS TABLE (
		place integer, start integer, length integer, passage text, fp simhash64)
	AS 'MODULE_PATHNAME', 'simhash_minhash_passages' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 1000 ROWS 20;
COMMENT ON FUNCTION minhash_passages(text, simhash_weights, integer, integer, integer) IS
	'passages of a text, cut at places that its words decide, each with its MinHash';

CREATE FUNCTION minhash_tokens(tokens text[]) RETURNS simhash64
	AS 'MODULE_PATHNAME', 'simhash_minhash_tokens' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 320
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION minhash_tokens(text[]) IS
	'MinHash of a set of tokens, taken as they are';

CREATE FUNCTION minhash_hashes(hashes bigint[]) RETURNS simhash64
	AS 'MODULE_PATHNAME', 'simhash_minhash_hashes' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 130;
COMMENT ON FUNCTION minhash_hashes(bigint[]) IS
	'MinHash of a set of features, given by their hashes';

CREATE FUNCTION minhash(doc tsvector) RETURNS simhash64
	AS 'MODULE_PATHNAME', 'simhash_minhash_tsvector' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 400;
COMMENT ON FUNCTION minhash(tsvector) IS
	'MinHash of the set of lexemes of a tsvector';

CREATE FUNCTION simhash_128(
	body text, weights simhash_weights DEFAULT NULL,
	words integer DEFAULT NULL, chars integer DEFAULT NULL,
	tf text DEFAULT 'once')
	RETURNS simhash128
	AS 'MODULE_PATHNAME', 'simhash_text_128' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 390
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION simhash_128(text, simhash_weights, integer, integer, text) IS
	'128-bit fingerprint of a text: of its words, or of shingles of n words or characters';

CREATE FUNCTION simhash_tokens_128(
	tokens text[], weights float8[] DEFAULT NULL)
	RETURNS simhash128
	AS 'MODULE_PATHNAME' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 360
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION simhash_tokens_128(text[], float8[]) IS
	'128-bit fingerprint of weighted tokens, taken as they are';

CREATE FUNCTION simhash_hashes_128(
	hashes uuid[], weights float8[] DEFAULT NULL)
	RETURNS simhash128
	AS 'MODULE_PATHNAME' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 170;
COMMENT ON FUNCTION simhash_hashes_128(uuid[], float8[]) IS
	'128-bit fingerprint of weighted features, given by their hashes';

CREATE FUNCTION simhash_128(
	doc tsvector, weights float4[] DEFAULT '{0.1,0.2,0.4,1.0}',
	tf text DEFAULT 'once')
	RETURNS simhash128
	AS 'MODULE_PATHNAME', 'simhash_tsvector_128' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 1150
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION simhash_128(tsvector, float4[], text) IS
	'128-bit fingerprint of the lexemes of a tsvector, by their labels D, C, B and A';

CREATE FUNCTION minhash_128(
	body text, weights simhash_weights DEFAULT NULL,
	words integer DEFAULT NULL, chars integer DEFAULT NULL)
	RETURNS simhash128
	AS 'MODULE_PATHNAME', 'simhash_minhash_text_128' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 430
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION minhash_128(text, simhash_weights, integer, integer) IS
	'128-bit MinHash of a text: of its shingles of 2 words, or of n words or characters';

CREATE FUNCTION minhash_passages_128(
	body text, weights simhash_weights DEFAULT NULL,
	words integer DEFAULT NULL, chars integer DEFAULT NULL,
	mean_length integer DEFAULT NULL)
	RETURNS TABLE (
		place integer, start integer, length integer, passage text, fp simhash128)
	AS 'MODULE_PATHNAME', 'simhash_minhash_passages_128' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 1500 ROWS 20;
COMMENT ON FUNCTION minhash_passages_128(text, simhash_weights, integer, integer, integer) IS
	'passages of a text, cut at places that its words decide, each with its 128-bit MinHash';

CREATE FUNCTION minhash_tokens_128(tokens text[]) RETURNS simhash128
	AS 'MODULE_PATHNAME', 'simhash_minhash_tokens_128' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 470
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION minhash_tokens_128(text[]) IS
	'128-bit MinHash of a set of tokens, taken as they are';

CREATE FUNCTION minhash_hashes_128(hashes uuid[]) RETURNS simhash128
	AS 'MODULE_PATHNAME', 'simhash_minhash_hashes_128' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 250;
COMMENT ON FUNCTION minhash_hashes_128(uuid[]) IS
	'128-bit MinHash of a set of features, given by their hashes';

CREATE FUNCTION minhash_128(doc tsvector) RETURNS simhash128
	AS 'MODULE_PATHNAME', 'simhash_minhash_tsvector_128' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 670;
COMMENT ON FUNCTION minhash_128(tsvector) IS
	'128-bit MinHash of the set of lexemes of a tsvector';

-------------------------------------------------------------------------------
-- How similar two texts are
-------------------------------------------------------------------------------

CREATE FUNCTION text_jaccard(
	a text, b text, weights simhash_weights DEFAULT NULL,
	words integer DEFAULT NULL, chars integer DEFAULT NULL)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'simhash_text_jaccard' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 650
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION text_jaccard(text, text, simhash_weights, integer, integer) IS
	'exact Jaccard similarity of two texts, which their minhashes estimate';

CREATE FUNCTION text_containment(
	a text, b text, weights simhash_weights DEFAULT NULL,
	words integer DEFAULT NULL, chars integer DEFAULT NULL)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'simhash_text_containment' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 650
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION text_containment(text, text, simhash_weights, integer, integer) IS
	'share of the features of a that b contains: 1 if a is an excerpt of b';

CREATE FUNCTION text_cosine(
	a text, b text, weights simhash_weights DEFAULT NULL,
	words integer DEFAULT NULL, chars integer DEFAULT NULL,
	tf text DEFAULT 'once')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'simhash_text_cosine' LANGUAGE C
	IMMUTABLE PARALLEL SAFE COST 650
	SUPPORT simhash_collation_support;
COMMENT ON FUNCTION text_cosine(text, text, simhash_weights, integer, integer, text) IS
	'exact cosine similarity of two texts, which their simhashes estimate';

-------------------------------------------------------------------------------
-- Votes over rows
-------------------------------------------------------------------------------

CREATE FUNCTION simhash_agg_token(internal, text) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_token_inverse(internal, text) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_token(internal, text, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_token_inverse(internal, text, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_hash(internal, bigint) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_hash_inverse(internal, bigint) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_hash(internal, bigint, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_hash_inverse(internal, bigint, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_centroid_row(internal, simhash64) RETURNS internal
	AS 'MODULE_PATHNAME', 'simhash_agg_hash' LANGUAGE C
	IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_centroid_row_inverse(internal, simhash64) RETURNS internal
	AS 'MODULE_PATHNAME', 'simhash_agg_hash_inverse' LANGUAGE C
	IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_agg_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_agg_final(internal) RETURNS simhash64
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE simhash_agg(feature text) (
	SFUNC = simhash_agg_token,
	STYPE = internal,
	SSPACE = 528,
	FINALFUNC = simhash_agg_final,
	COMBINEFUNC = simhash_agg_combine,
	SERIALFUNC = simhash_agg_serialize,
	DESERIALFUNC = simhash_agg_deserialize,
	MSFUNC = simhash_agg_token,
	MINVFUNC = simhash_agg_token_inverse,
	MSTYPE = internal,
	MSSPACE = 528,
	MFINALFUNC = simhash_agg_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(text) IS
	'fingerprint of the features in all rows';

CREATE AGGREGATE simhash_agg(feature text, weight float8) (
	SFUNC = simhash_agg_token,
	STYPE = internal,
	SSPACE = 528,
	FINALFUNC = simhash_agg_final,
	COMBINEFUNC = simhash_agg_combine,
	SERIALFUNC = simhash_agg_serialize,
	DESERIALFUNC = simhash_agg_deserialize,
	MSFUNC = simhash_agg_token,
	MINVFUNC = simhash_agg_token_inverse,
	MSTYPE = internal,
	MSSPACE = 528,
	MFINALFUNC = simhash_agg_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(text, float8) IS
	'fingerprint of the weighted features in all rows';

CREATE AGGREGATE simhash_agg(hash bigint) (
	SFUNC = simhash_agg_hash,
	STYPE = internal,
	SSPACE = 528,
	FINALFUNC = simhash_agg_final,
	COMBINEFUNC = simhash_agg_combine,
	SERIALFUNC = simhash_agg_serialize,
	DESERIALFUNC = simhash_agg_deserialize,
	MSFUNC = simhash_agg_hash,
	MINVFUNC = simhash_agg_hash_inverse,
	MSTYPE = internal,
	MSSPACE = 528,
	MFINALFUNC = simhash_agg_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(bigint) IS
	'fingerprint of the features in all rows, given by their hashes';

CREATE AGGREGATE simhash_agg(hash bigint, weight float8) (
	SFUNC = simhash_agg_hash,
	STYPE = internal,
	SSPACE = 528,
	FINALFUNC = simhash_agg_final,
	COMBINEFUNC = simhash_agg_combine,
	SERIALFUNC = simhash_agg_serialize,
	DESERIALFUNC = simhash_agg_deserialize,
	MSFUNC = simhash_agg_hash,
	MINVFUNC = simhash_agg_hash_inverse,
	MSTYPE = internal,
	MSSPACE = 528,
	MFINALFUNC = simhash_agg_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(bigint, float8) IS
	'fingerprint of the weighted features in all rows, given by their hashes';

CREATE AGGREGATE simhash_centroid(simhash64) (
	SFUNC = simhash_centroid_row,
	STYPE = internal,
	SSPACE = 528,
	FINALFUNC = simhash_agg_final,
	COMBINEFUNC = simhash_agg_combine,
	SERIALFUNC = simhash_agg_serialize,
	DESERIALFUNC = simhash_agg_deserialize,
	MSFUNC = simhash_centroid_row,
	MINVFUNC = simhash_centroid_row_inverse,
	MSTYPE = internal,
	MSSPACE = 528,
	MFINALFUNC = simhash_agg_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_centroid(simhash64) IS
	'fingerprint of those bits that more than half of the fingerprints have';

CREATE FUNCTION simhash_agg_token_128(internal, text) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_token_inverse_128(internal, text) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_token_128(internal, text, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_token_inverse_128(internal, text, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_hash_128(internal, uuid) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_hash_inverse_128(internal, uuid) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_hash_128(internal, uuid, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_hash_inverse_128(internal, uuid, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_centroid_row(internal, simhash128) RETURNS internal
	AS 'MODULE_PATHNAME', 'simhash_agg_hash_128' LANGUAGE C
	IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_centroid_row_inverse(internal, simhash128) RETURNS internal
	AS 'MODULE_PATHNAME', 'simhash_agg_hash_inverse_128' LANGUAGE C
	IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION simhash_agg_final_128(internal) RETURNS simhash128
	AS 'MODULE_PATHNAME', 'simhash_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE simhash_agg_128(feature text) (
	SFUNC = simhash_agg_token_128,
	STYPE = internal,
	SSPACE = 1048,
	FINALFUNC = simhash_agg_final_128,
	COMBINEFUNC = simhash_agg_combine,
	SERIALFUNC = simhash_agg_serialize,
	DESERIALFUNC = simhash_agg_deserialize,
	MSFUNC = simhash_agg_token_128,
	MINVFUNC = simhash_agg_token_inverse_128,
	MSTYPE = internal,
	MSSPACE = 1048,
	MFINALFUNC = simhash_agg_final_128,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg_128(text) IS
	'128-bit fingerprint of the features in all rows';

CREATE AGGREGATE simhash_agg_128(feature text, weight float8) (
	SFUNC = simhash_agg_token_128,
	STYPE = internal,
	SSPACE = 1048,
	FINALFUNC = simhash_agg_final_128,
	COMBINEFUNC = simhash_agg_combine,
	SERIALFUNC = simhash_agg_serialize,
	DESERIALFUNC = simhash_agg_deserialize,
	MSFUNC = simhash_agg_token_128,
	MINVFUNC = simhash_agg_token_inverse_128,
	MSTYPE = internal,
	MSSPACE = 1048,
	MFINALFUNC = simhash_agg_final_128,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg_128(text, float8) IS
	'128-bit fingerprint of the weighted features in all rows';

CREATE AGGREGATE simhash_agg_128(hash uuid) (
	SFUNC = simhash_agg_hash_128,
	STYPE = internal,
	SSPACE = 1048,
	FINALFUNC = simhash_agg_final_128,
	COMBINEFUNC = simhash_agg_combine,
	SERIALFUNC = simhash_agg_serialize,
	DESERIALFUNC = simhash_agg_deserialize,
	MSFUNC = simhash_agg_hash_128,
	MINVFUNC = simhash_agg_hash_inverse_128,
	MSTYPE = internal,
	MSSPACE = 1048,
	MFINALFUNC = simhash_agg_final_128,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg_128(uuid) IS
	'128-bit fingerprint of the features in all rows, given by their hashes';

CREATE AGGREGATE simhash_agg_128(hash uuid, weight float8) (
	SFUNC = simhash_agg_hash_128,
	STYPE = internal,
	SSPACE = 1048,
	FINALFUNC = simhash_agg_final_128,
	COMBINEFUNC = simhash_agg_combine,
	SERIALFUNC = simhash_agg_serialize,
	DESERIALFUNC = simhash_agg_deserialize,
	MSFUNC = simhash_agg_hash_128,
	MINVFUNC = simhash_agg_hash_inverse_128,
	MSTYPE = internal,
	MSSPACE = 1048,
	MFINALFUNC = simhash_agg_final_128,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg_128(uuid, float8) IS
	'128-bit fingerprint of the weighted features in all rows, given by their hashes';

CREATE AGGREGATE simhash_centroid(simhash128) (
	SFUNC = simhash_centroid_row,
	STYPE = internal,
	SSPACE = 1048,
	FINALFUNC = simhash_agg_final_128,
	COMBINEFUNC = simhash_agg_combine,
	SERIALFUNC = simhash_agg_serialize,
	DESERIALFUNC = simhash_agg_deserialize,
	MSFUNC = simhash_centroid_row,
	MINVFUNC = simhash_centroid_row_inverse,
	MSTYPE = internal,
	MSSPACE = 1048,
	MFINALFUNC = simhash_agg_final_128,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_centroid(simhash128) IS
	'fingerprint of those bits that more than half of the fingerprints have';

-------------------------------------------------------------------------------
-- MinHash over rows
-------------------------------------------------------------------------------

CREATE FUNCTION minhash_agg_token(internal, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'simhash_minhash_agg_token' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION minhash_agg_hash(internal, bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'simhash_minhash_agg_hash' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION minhash_agg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'simhash_minhash_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION minhash_agg_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'simhash_minhash_agg_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION minhash_agg_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'simhash_agg_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION minhash_agg_final(internal) RETURNS simhash64
	AS 'MODULE_PATHNAME', 'simhash_minhash_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE minhash_agg(feature text) (
	SFUNC = minhash_agg_token,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = minhash_agg_final,
	COMBINEFUNC = minhash_agg_combine,
	SERIALFUNC = minhash_agg_serialize,
	DESERIALFUNC = minhash_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE minhash_agg(text) IS
	'MinHash of the set of features in all rows';

CREATE AGGREGATE minhash_agg(hash bigint) (
	SFUNC = minhash_agg_hash,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = minhash_agg_final,
	COMBINEFUNC = minhash_agg_combine,
	SERIALFUNC = minhash_agg_serialize,
	DESERIALFUNC = minhash_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE minhash_agg(bigint) IS
	'MinHash of the set of features in all rows, given by their hashes';

CREATE FUNCTION minhash_agg_token_128(internal, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'simhash_minhash_agg_token_128' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION minhash_agg_hash_128(internal, uuid) RETURNS internal
	AS 'MODULE_PATHNAME', 'simhash_minhash_agg_hash_128' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION minhash_agg_final_128(internal) RETURNS simhash128
	AS 'MODULE_PATHNAME', 'simhash_minhash_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE minhash_agg_128(feature text) (
	SFUNC = minhash_agg_token_128,
	STYPE = internal,
	SSPACE = 2040,
	FINALFUNC = minhash_agg_final_128,
	COMBINEFUNC = minhash_agg_combine,
	SERIALFUNC = minhash_agg_serialize,
	DESERIALFUNC = minhash_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE minhash_agg_128(text) IS
	'128-bit MinHash of the set of features in all rows';

CREATE AGGREGATE minhash_agg_128(hash uuid) (
	SFUNC = minhash_agg_hash_128,
	STYPE = internal,
	SSPACE = 2040,
	FINALFUNC = minhash_agg_final_128,
	COMBINEFUNC = minhash_agg_combine,
	SERIALFUNC = minhash_agg_serialize,
	DESERIALFUNC = minhash_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE minhash_agg_128(uuid) IS
	'128-bit MinHash of the set of features in all rows, given by their hashes';

-------------------------------------------------------------------------------
-- Distance
--
-- <-> has a result type of its own, so that the comparison operators below are
-- chosen over those of integer; <-># is the same distance as a plain integer,
-- which is what operator classes order by.
-------------------------------------------------------------------------------

CREATE DOMAIN hamming_distance AS integer;
COMMENT ON DOMAIN hamming_distance IS
	'number of bits in which two fingerprints differ';

CREATE FUNCTION simhash_distance_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_distance(a simhash64, b simhash64) RETURNS hamming_distance
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance(simhash64, simhash64) IS
	'number of bits that differ';

CREATE FUNCTION simhash_distance_int(simhash64, simhash64) RETURNS integer
	AS 'MODULE_PATHNAME', 'simhash_distance' LANGUAGE C
	IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_distance_int(simhash64, simhash64) IS
	'internal: the distance as an integer, in plans that sort by it';

CREATE OPERATOR <-> (
	LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash_distance,
	COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (simhash64, simhash64) IS 'Hamming distance';

CREATE OPERATOR <-># (
	LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash_distance_int,
	COMMUTATOR = <->#
);
COMMENT ON OPERATOR <-># (simhash64, simhash64) IS
	'internal: the distance as an integer, by which indexes order';

CREATE FUNCTION simhash_similarity(a simhash64, b simhash64) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_similarity(simhash64, simhash64) IS
	'1 - distance / 64';

CREATE FUNCTION simhash_cosine(a simhash64, b simhash64) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_cosine(simhash64, simhash64) IS
	'cos(pi * distance / 64): estimate of the cosine of the feature vectors';

CREATE FUNCTION minhash_jaccard(a simhash64, b simhash64) RETURNS float8
	AS 'MODULE_PATHNAME', 'simhash_minhash_jaccard' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_jaccard(simhash64, simhash64) IS
	'max(0, 1 - distance / 32): estimate of the Jaccard similarity from MinHash';

CREATE FUNCTION simhash_distance(a simhash128, b simhash128) RETURNS hamming_distance
	AS 'MODULE_PATHNAME', 'simhash_distance_128'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance(simhash128, simhash128) IS
	'number of bits that differ';

CREATE FUNCTION simhash_distance_int(simhash128, simhash128) RETURNS integer
	AS 'MODULE_PATHNAME', 'simhash_distance_128' LANGUAGE C
	IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_distance_int(simhash128, simhash128) IS
	'internal: the distance as an integer, in plans that sort by it';

CREATE OPERATOR <-> (
	LEFTARG = simhash128, RIGHTARG = simhash128, FUNCTION = simhash_distance,
	COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (simhash128, simhash128) IS 'Hamming distance';

CREATE OPERATOR <-># (
	LEFTARG = simhash128, RIGHTARG = simhash128, FUNCTION = simhash_distance_int,
	COMMUTATOR = <->#
);
COMMENT ON OPERATOR <-># (simhash128, simhash128) IS
	'internal: the distance as an integer, by which indexes order';

CREATE FUNCTION simhash_similarity(a simhash128, b simhash128) RETURNS float8
	AS 'MODULE_PATHNAME', 'simhash_similarity_128'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_similarity(simhash128, simhash128) IS
	'1 - distance / 128';

CREATE FUNCTION simhash_cosine(a simhash128, b simhash128) RETURNS float8
	AS 'MODULE_PATHNAME', 'simhash_cosine_128'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_cosine(simhash128, simhash128) IS
	'cos(pi * distance / 128): estimate of the cosine of the feature vectors';

CREATE FUNCTION minhash_jaccard(a simhash128, b simhash128) RETURNS float8
	AS 'MODULE_PATHNAME', 'simhash_minhash_jaccard_128'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_jaccard(simhash128, simhash128) IS
	'max(0, 1 - distance / 64): estimate of the Jaccard similarity from MinHash';

-------------------------------------------------------------------------------
-- Choosing k
-------------------------------------------------------------------------------

-- UNSAFE, as the query may be anything
CREATE FUNCTION simhash_audit(
	query text, sample integer DEFAULT 1000, threshold float8 DEFAULT 0.8,
	words integer DEFAULT NULL, chars integer DEFAULT NULL,
	max_distance integer DEFAULT NULL, seed bigint DEFAULT 0)
	RETURNS TABLE (
		max_distance integer, pairs bigint,
		"precision" float8, precision_low float8, precision_high float8,
		related float8, related_low float8, related_high float8,
		recall float8, recall_low float8, recall_high float8)
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE
	COST 1000000 ROWS 11;
COMMENT ON FUNCTION simhash_audit(
	text, integer, float8, integer, integer, integer, bigint) IS
	'how many matches of each max_distance are alike or related, and how many alike pairs match, among the rows (id, fingerprint, text) of a query';

CREATE FUNCTION simhash_audit_pairs(
	query text, sample integer DEFAULT 1000, threshold float8 DEFAULT 0.8,
	words integer DEFAULT NULL, chars integer DEFAULT NULL,
	max_distance integer DEFAULT NULL, seed bigint DEFAULT 0)
	RETURNS TABLE (a bigint, b bigint, distance integer, similarity float8)
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION simhash_audit_pairs(
	text, integer, float8, integer, integer, integer, bigint) IS
	'pairs behind simhash_audit(): within max_distance, alike, or both';

-------------------------------------------------------------------------------
-- Deduplication
-------------------------------------------------------------------------------

CREATE FUNCTION simhash_cluster(
	fp simhash64, max_distance integer, method text DEFAULT 'connected')
	RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash_cluster(simhash64, integer, text) IS
	'number of the row''s cluster of near-duplicates in the window partition';

CREATE FUNCTION simhash_cluster(
	fp simhash64, max_distance integer, method text, body text,
	min_similarity float8, words integer DEFAULT 3)
	RETURNS bigint
	AS 'MODULE_PATHNAME'
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash_cluster(
	simhash64, integer, text, text, float8, integer) IS
	'number of the row''s cluster of near-duplicates whose texts are alike in the window partition';

CREATE FUNCTION simhash_cluster(
	fp simhash128, max_distance integer, method text DEFAULT 'connected')
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'simhash_cluster_128'
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash_cluster(simhash128, integer, text) IS
	'number of the row''s cluster of near-duplicates in the window partition';

CREATE FUNCTION simhash_cluster(
	fp simhash128, max_distance integer, method text, body text,
	min_similarity float8, words integer DEFAULT 3)
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'simhash_cluster_128'
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash_cluster(
	simhash128, integer, text, text, float8, integer) IS
	'number of the row''s cluster of near-duplicates whose texts are alike in the window partition';

-- UNSAFE, as the query may be anything
CREATE FUNCTION simhash_pairs(query text, max_distance integer)
	RETURNS TABLE (a bigint, b bigint, distance integer)
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION simhash_pairs(text, integer) IS
	'all pairs of near-duplicates among the rows (id, fingerprint) of a query';

-- not the same function with defaults: parts without part would mean part 0
CREATE FUNCTION simhash_pairs(
	query text, max_distance integer, part integer, parts integer)
	RETURNS TABLE (a bigint, b bigint, distance integer)
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION simhash_pairs(text, integer, integer, integer) IS
	'pairs of near-duplicates in one part of the rows (id, fingerprint) of a query';

CREATE FUNCTION simhash_parts(
	fp simhash64, max_distance integer, parts integer)
	RETURNS SETOF integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 4;
COMMENT ON FUNCTION simhash_parts(simhash64, integer, integer) IS
	'numbers of the parts of simhash_pairs() that a fingerprint belongs to';

CREATE FUNCTION simhash_parts(
	fp simhash128, max_distance integer, parts integer)
	RETURNS SETOF integer
	AS 'MODULE_PATHNAME', 'simhash_parts_128'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 4;
COMMENT ON FUNCTION simhash_parts(simhash128, integer, integer) IS
	'numbers of the parts of simhash_pairs() that a fingerprint belongs to';

CREATE FUNCTION simhash_components(
	query text, method text DEFAULT 'connected')
	RETURNS TABLE (id bigint, cluster bigint)
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION simhash_components(text, text) IS
	'groups of the pairs of ids of a query: each id, with the smallest id of its group';

-------------------------------------------------------------------------------
-- Predicates.  They are LEAKPROOF, which lets an index serve them under a row
-- security policy.
-------------------------------------------------------------------------------

CREATE FUNCTION simhash_restrict(internal, oid, internal, integer) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_join(internal, oid, internal, smallint, internal)
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_within_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_within(
	a simhash64, b simhash64, max_distance bigint)
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT simhash_within_support;
COMMENT ON FUNCTION simhash_within(simhash64, simhash64, bigint) IS
	'internal: what plans show of a <-> b <= max_distance';

CREATE FUNCTION hamming_bound_below(bigint) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION simhash_near(simhash64, simhash64) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR % (
	LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = simhash_near,
	COMMUTATOR = %,
	RESTRICT = simhash_restrict, JOIN = simhash_join
);
COMMENT ON OPERATOR % (simhash64, simhash64) IS
	'near-duplicate: distance at most 8';

CREATE TYPE hamming_ball;
COMMENT ON TYPE hamming_ball IS
	'all fingerprints within a radius of a centre';

CREATE FUNCTION hamming_ball_in(cstring) RETURNS hamming_ball
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION hamming_ball_out(hamming_ball) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION hamming_ball_recv(internal) RETURNS hamming_ball
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION hamming_ball_send(hamming_ball) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE hamming_ball (
	INPUT = hamming_ball_in,
	OUTPUT = hamming_ball_out,
	RECEIVE = hamming_ball_recv,
	SEND = hamming_ball_send,
	INTERNALLENGTH = 16,
	ALIGNMENT = double
);

CREATE FUNCTION hamming_ball(centre simhash64, radius bigint)
	RETURNS hamming_ball
	AS 'MODULE_PATHNAME', 'hamming_ball_make' LANGUAGE C
	IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(simhash64, bigint) IS
	'all fingerprints within a radius of a centre';

CREATE FUNCTION simhash_in_ball(simhash64, hamming_ball) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION hamming_ball_contains(hamming_ball, simhash64) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR <@ (
	LEFTARG = simhash64, RIGHTARG = hamming_ball, FUNCTION = simhash_in_ball,
	COMMUTATOR = @>,
	RESTRICT = simhash_restrict, JOIN = simhash_join
);
COMMENT ON OPERATOR <@ (simhash64, hamming_ball) IS 'within the ball';

CREATE OPERATOR @> (
	LEFTARG = hamming_ball, RIGHTARG = simhash64, FUNCTION = hamming_ball_contains,
	COMMUTATOR = <@,
	RESTRICT = simhash_restrict, JOIN = simhash_join
);
COMMENT ON OPERATOR @> (hamming_ball, simhash64) IS 'ball contains';

CREATE FUNCTION simhash_restrict_128(internal, oid, internal, integer) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_join_128(internal, oid, internal, smallint, internal)
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_within_support_128(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION simhash_within(
	a simhash128, b simhash128, max_distance bigint)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'simhash_within_128'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT simhash_within_support_128;
COMMENT ON FUNCTION simhash_within(simhash128, simhash128, bigint) IS
	'internal: what plans show of a <-> b <= max_distance';

CREATE FUNCTION simhash_near(simhash128, simhash128) RETURNS boolean
	AS 'MODULE_PATHNAME', 'simhash_near_128'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR % (
	LEFTARG = simhash128, RIGHTARG = simhash128, FUNCTION = simhash_near,
	COMMUTATOR = %,
	RESTRICT = simhash_restrict_128, JOIN = simhash_join_128
);
COMMENT ON OPERATOR % (simhash128, simhash128) IS
	'near-duplicate: distance at most 16';

CREATE TYPE hamming_ball128;
COMMENT ON TYPE hamming_ball128 IS
	'all fingerprints within a radius of a centre';

CREATE FUNCTION hamming_ball128_in(cstring) RETURNS hamming_ball128
	AS 'MODULE_PATHNAME', 'hamming_ball_in_128'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION hamming_ball128_out(hamming_ball128) RETURNS cstring
	AS 'MODULE_PATHNAME', 'hamming_ball_out_128'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION hamming_ball128_recv(internal) RETURNS hamming_ball128
	AS 'MODULE_PATHNAME', 'hamming_ball_recv_128'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION hamming_ball128_send(hamming_ball128) RETURNS bytea
	AS 'MODULE_PATHNAME', 'hamming_ball_send_128'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE hamming_ball128 (
	INPUT = hamming_ball128_in,
	OUTPUT = hamming_ball128_out,
	RECEIVE = hamming_ball128_recv,
	SEND = hamming_ball128_send,
	INTERNALLENGTH = 24,
	ALIGNMENT = double
);

CREATE FUNCTION hamming_ball_128(centre simhash128, radius bigint)
	RETURNS hamming_ball128
	AS 'MODULE_PATHNAME', 'hamming_ball_make_128' LANGUAGE C
	IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball_128(simhash128, bigint) IS
	'all fingerprints within a radius of a centre';

CREATE FUNCTION simhash_in_ball(simhash128, hamming_ball128) RETURNS boolean
	AS 'MODULE_PATHNAME', 'simhash_in_ball_128'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION hamming_ball_contains(hamming_ball128, simhash128) RETURNS boolean
	AS 'MODULE_PATHNAME', 'hamming_ball_contains_128'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR <@ (
	LEFTARG = simhash128, RIGHTARG = hamming_ball128, FUNCTION = simhash_in_ball,
	COMMUTATOR = @>,
	RESTRICT = simhash_restrict_128, JOIN = simhash_join_128
);
COMMENT ON OPERATOR <@ (simhash128, hamming_ball128) IS 'within the ball';

CREATE OPERATOR @> (
	LEFTARG = hamming_ball128, RIGHTARG = simhash128, FUNCTION = hamming_ball_contains,
	COMMUTATOR = <@,
	RESTRICT = simhash_restrict_128, JOIN = simhash_join_128
);
COMMENT ON OPERATOR @> (hamming_ball128, simhash128) IS 'ball contains';

-------------------------------------------------------------------------------
-- Bounds of a distance: hamming_distance against every integer type, both ways
-- round.  They run core's integer comparison; their support functions turn
-- "distance <= k" into simhash_within.
-------------------------------------------------------------------------------

CREATE FUNCTION hamming_distance_lt_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION hamming_distance_le_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION hamming_distance_ge_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION hamming_distance_gt_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- hamming_distance and smallint

CREATE FUNCTION hamming_distance_lt(hamming_distance, smallint)
	RETURNS boolean
	AS 'int42lt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_lt_support;

CREATE FUNCTION hamming_distance_le(hamming_distance, smallint)
	RETURNS boolean
	AS 'int42le' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_le_support;

CREATE FUNCTION hamming_distance_ge(hamming_distance, smallint)
	RETURNS boolean
	AS 'int42ge' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_ge_support;

CREATE FUNCTION hamming_distance_gt(hamming_distance, smallint)
	RETURNS boolean
	AS 'int42gt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_gt_support;

CREATE OPERATOR < (
	LEFTARG = hamming_distance, RIGHTARG = smallint,
	FUNCTION = hamming_distance_lt, COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (hamming_distance, smallint) IS
	'less than';

CREATE OPERATOR <= (
	LEFTARG = hamming_distance, RIGHTARG = smallint,
	FUNCTION = hamming_distance_le, COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (hamming_distance, smallint) IS
	'less than or equal to';

CREATE OPERATOR >= (
	LEFTARG = hamming_distance, RIGHTARG = smallint,
	FUNCTION = hamming_distance_ge, COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (hamming_distance, smallint) IS
	'greater than or equal to';

CREATE OPERATOR > (
	LEFTARG = hamming_distance, RIGHTARG = smallint,
	FUNCTION = hamming_distance_gt, COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (hamming_distance, smallint) IS
	'greater than';

-- smallint and hamming_distance

CREATE FUNCTION hamming_distance_lt(smallint, hamming_distance)
	RETURNS boolean
	AS 'int24lt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_lt_support;

CREATE FUNCTION hamming_distance_le(smallint, hamming_distance)
	RETURNS boolean
	AS 'int24le' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_le_support;

CREATE FUNCTION hamming_distance_ge(smallint, hamming_distance)
	RETURNS boolean
	AS 'int24ge' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_ge_support;

CREATE FUNCTION hamming_distance_gt(smallint, hamming_distance)
	RETURNS boolean
	AS 'int24gt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_gt_support;

CREATE OPERATOR < (
	LEFTARG = smallint, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_lt, COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (smallint, hamming_distance) IS
	'less than';

CREATE OPERATOR <= (
	LEFTARG = smallint, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_le, COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (smallint, hamming_distance) IS
	'less than or equal to';

CREATE OPERATOR >= (
	LEFTARG = smallint, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_ge, COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (smallint, hamming_distance) IS
	'greater than or equal to';

CREATE OPERATOR > (
	LEFTARG = smallint, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_gt, COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (smallint, hamming_distance) IS
	'greater than';

-- hamming_distance and integer

CREATE FUNCTION hamming_distance_lt(hamming_distance, integer)
	RETURNS boolean
	AS 'int4lt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_lt_support;

CREATE FUNCTION hamming_distance_le(hamming_distance, integer)
	RETURNS boolean
	AS 'int4le' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_le_support;

CREATE FUNCTION hamming_distance_ge(hamming_distance, integer)
	RETURNS boolean
	AS 'int4ge' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_ge_support;

CREATE FUNCTION hamming_distance_gt(hamming_distance, integer)
	RETURNS boolean
	AS 'int4gt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_gt_support;

CREATE OPERATOR < (
	LEFTARG = hamming_distance, RIGHTARG = integer,
	FUNCTION = hamming_distance_lt, COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (hamming_distance, integer) IS
	'less than';

CREATE OPERATOR <= (
	LEFTARG = hamming_distance, RIGHTARG = integer,
	FUNCTION = hamming_distance_le, COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (hamming_distance, integer) IS
	'less than or equal to';

CREATE OPERATOR >= (
	LEFTARG = hamming_distance, RIGHTARG = integer,
	FUNCTION = hamming_distance_ge, COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (hamming_distance, integer) IS
	'greater than or equal to';

CREATE OPERATOR > (
	LEFTARG = hamming_distance, RIGHTARG = integer,
	FUNCTION = hamming_distance_gt, COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (hamming_distance, integer) IS
	'greater than';

-- integer and hamming_distance

CREATE FUNCTION hamming_distance_lt(integer, hamming_distance)
	RETURNS boolean
	AS 'int4lt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_lt_support;

CREATE FUNCTION hamming_distance_le(integer, hamming_distance)
	RETURNS boolean
	AS 'int4le' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_le_support;

CREATE FUNCTION hamming_distance_ge(integer, hamming_distance)
	RETURNS boolean
	AS 'int4ge' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_ge_support;

CREATE FUNCTION hamming_distance_gt(integer, hamming_distance)
	RETURNS boolean
	AS 'int4gt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_gt_support;

CREATE OPERATOR < (
	LEFTARG = integer, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_lt, COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (integer, hamming_distance) IS
	'less than';

CREATE OPERATOR <= (
	LEFTARG = integer, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_le, COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (integer, hamming_distance) IS
	'less than or equal to';

CREATE OPERATOR >= (
	LEFTARG = integer, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_ge, COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (integer, hamming_distance) IS
	'greater than or equal to';

CREATE OPERATOR > (
	LEFTARG = integer, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_gt, COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (integer, hamming_distance) IS
	'greater than';

-- hamming_distance and bigint

CREATE FUNCTION hamming_distance_lt(hamming_distance, bigint)
	RETURNS boolean
	AS 'int48lt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_lt_support;

CREATE FUNCTION hamming_distance_le(hamming_distance, bigint)
	RETURNS boolean
	AS 'int48le' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_le_support;

CREATE FUNCTION hamming_distance_ge(hamming_distance, bigint)
	RETURNS boolean
	AS 'int48ge' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_ge_support;

CREATE FUNCTION hamming_distance_gt(hamming_distance, bigint)
	RETURNS boolean
	AS 'int48gt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_gt_support;

CREATE OPERATOR < (
	LEFTARG = hamming_distance, RIGHTARG = bigint,
	FUNCTION = hamming_distance_lt, COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (hamming_distance, bigint) IS
	'less than';

CREATE OPERATOR <= (
	LEFTARG = hamming_distance, RIGHTARG = bigint,
	FUNCTION = hamming_distance_le, COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (hamming_distance, bigint) IS
	'less than or equal to';

CREATE OPERATOR >= (
	LEFTARG = hamming_distance, RIGHTARG = bigint,
	FUNCTION = hamming_distance_ge, COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (hamming_distance, bigint) IS
	'greater than or equal to';

CREATE OPERATOR > (
	LEFTARG = hamming_distance, RIGHTARG = bigint,
	FUNCTION = hamming_distance_gt, COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (hamming_distance, bigint) IS
	'greater than';

-- bigint and hamming_distance

CREATE FUNCTION hamming_distance_lt(bigint, hamming_distance)
	RETURNS boolean
	AS 'int84lt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_lt_support;

CREATE FUNCTION hamming_distance_le(bigint, hamming_distance)
	RETURNS boolean
	AS 'int84le' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_le_support;

CREATE FUNCTION hamming_distance_ge(bigint, hamming_distance)
	RETURNS boolean
	AS 'int84ge' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_ge_support;

CREATE FUNCTION hamming_distance_gt(bigint, hamming_distance)
	RETURNS boolean
	AS 'int84gt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_gt_support;

CREATE OPERATOR < (
	LEFTARG = bigint, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_lt, COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (bigint, hamming_distance) IS
	'less than';

CREATE OPERATOR <= (
	LEFTARG = bigint, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_le, COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (bigint, hamming_distance) IS
	'less than or equal to';

CREATE OPERATOR >= (
	LEFTARG = bigint, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_ge, COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (bigint, hamming_distance) IS
	'greater than or equal to';

CREATE OPERATOR > (
	LEFTARG = bigint, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_gt, COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (bigint, hamming_distance) IS
	'greater than';

-- hamming_distance and hamming_distance

CREATE FUNCTION hamming_distance_lt(hamming_distance, hamming_distance)
	RETURNS boolean
	AS 'int4lt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_lt_support;

CREATE FUNCTION hamming_distance_le(hamming_distance, hamming_distance)
	RETURNS boolean
	AS 'int4le' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_le_support;

CREATE FUNCTION hamming_distance_ge(hamming_distance, hamming_distance)
	RETURNS boolean
	AS 'int4ge' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_ge_support;

CREATE FUNCTION hamming_distance_gt(hamming_distance, hamming_distance)
	RETURNS boolean
	AS 'int4gt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
	SUPPORT hamming_distance_gt_support;

CREATE OPERATOR < (
	LEFTARG = hamming_distance, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_lt, COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (hamming_distance, hamming_distance) IS
	'less than';

CREATE OPERATOR <= (
	LEFTARG = hamming_distance, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_le, COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (hamming_distance, hamming_distance) IS
	'less than or equal to';

CREATE OPERATOR >= (
	LEFTARG = hamming_distance, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_ge, COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (hamming_distance, hamming_distance) IS
	'greater than or equal to';

CREATE OPERATOR > (
	LEFTARG = hamming_distance, RIGHTARG = hamming_distance,
	FUNCTION = hamming_distance_gt, COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (hamming_distance, hamming_distance) IS
	'greater than';

-- What a row comparison, (fp <-> q, id) > (3, 5), needs to know of them.
-- They are of no default operator class: a column of this type sorts as integer.

CREATE OPERATOR FAMILY hamming_distance_ops USING btree;
COMMENT ON OPERATOR FAMILY hamming_distance_ops USING btree IS
	'row comparisons of distances';
ALTER OPERATOR FAMILY hamming_distance_ops USING btree ADD
	OPERATOR 1 < (hamming_distance, smallint),
	OPERATOR 2 <= (hamming_distance, smallint),
	OPERATOR 4 >= (hamming_distance, smallint),
	OPERATOR 5 > (hamming_distance, smallint),
	FUNCTION 1 (hamming_distance, smallint) btint42cmp(integer, smallint),
	OPERATOR 1 < (smallint, hamming_distance),
	OPERATOR 2 <= (smallint, hamming_distance),
	OPERATOR 4 >= (smallint, hamming_distance),
	OPERATOR 5 > (smallint, hamming_distance),
	FUNCTION 1 (smallint, hamming_distance) btint24cmp(smallint, integer),
	OPERATOR 1 < (hamming_distance, integer),
	OPERATOR 2 <= (hamming_distance, integer),
	OPERATOR 4 >= (hamming_distance, integer),
	OPERATOR 5 > (hamming_distance, integer),
	FUNCTION 1 (hamming_distance, integer) btint4cmp(integer, integer),
	OPERATOR 1 < (integer, hamming_distance),
	OPERATOR 2 <= (integer, hamming_distance),
	OPERATOR 4 >= (integer, hamming_distance),
	OPERATOR 5 > (integer, hamming_distance),
	FUNCTION 1 (integer, hamming_distance) btint4cmp(integer, integer),
	OPERATOR 1 < (hamming_distance, bigint),
	OPERATOR 2 <= (hamming_distance, bigint),
	OPERATOR 4 >= (hamming_distance, bigint),
	OPERATOR 5 > (hamming_distance, bigint),
	FUNCTION 1 (hamming_distance, bigint) btint48cmp(integer, bigint),
	OPERATOR 1 < (bigint, hamming_distance),
	OPERATOR 2 <= (bigint, hamming_distance),
	OPERATOR 4 >= (bigint, hamming_distance),
	OPERATOR 5 > (bigint, hamming_distance),
	FUNCTION 1 (bigint, hamming_distance) btint84cmp(bigint, integer),
	OPERATOR 1 < (hamming_distance, hamming_distance),
	OPERATOR 2 <= (hamming_distance, hamming_distance),
	OPERATOR 4 >= (hamming_distance, hamming_distance),
	OPERATOR 5 > (hamming_distance, hamming_distance),
	FUNCTION 1 (hamming_distance, hamming_distance) btint4cmp(integer, integer);

-------------------------------------------------------------------------------
-- GiST
-------------------------------------------------------------------------------

CREATE FUNCTION gist_simhash64_consistent(
	internal, simhash64, smallint, oid, internal)
	RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION gist_simhash64_union(internal, internal) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION gist_simhash64_compress(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION gist_simhash64_penalty(internal, internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION gist_simhash64_picksplit(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION gist_simhash64_same(bytea, bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION gist_simhash64_distance(
	internal, simhash64, smallint, oid, internal)
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION gist_simhash64_fetch(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION gist_simhash64_sortsupport(internal) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS simhash64_ops
	DEFAULT FOR TYPE simhash64 USING gist AS
	OPERATOR 1 %,
	OPERATOR 2 <@ (simhash64, hamming_ball),
	OPERATOR 15 <-># FOR ORDER BY pg_catalog.integer_ops,
	FUNCTION 1 gist_simhash64_consistent(internal, simhash64, smallint, oid, internal),
	FUNCTION 2 gist_simhash64_union(internal, internal),
	FUNCTION 3 gist_simhash64_compress(internal),
	FUNCTION 5 gist_simhash64_penalty(internal, internal, internal),
	FUNCTION 6 gist_simhash64_picksplit(internal, internal),
	FUNCTION 7 gist_simhash64_same(bytea, bytea, internal),
	FUNCTION 8 gist_simhash64_distance(internal, simhash64, smallint, oid, internal),
	FUNCTION 9 gist_simhash64_fetch(internal),
	FUNCTION 11 gist_simhash64_sortsupport(internal),
	STORAGE bytea;
COMMENT ON OPERATOR CLASS simhash64_ops USING gist IS
	'Hamming distance: within a ball, near-duplicate, nearest neighbours';

-------------------------------------------------------------------------------
-- The access method hamming
-------------------------------------------------------------------------------

CREATE FUNCTION hamming_handler(internal) RETURNS index_am_handler
	AS 'MODULE_PATHNAME' LANGUAGE C PARALLEL SAFE;

CREATE ACCESS METHOD hamming TYPE INDEX HANDLER hamming_handler;
COMMENT ON ACCESS METHOD hamming IS
	'block index: exact search within a Hamming distance';

CREATE OPERATOR CLASS simhash64_ops
	DEFAULT FOR TYPE simhash64 USING hamming AS
	OPERATOR 1 %,
	OPERATOR 2 <@ (simhash64, hamming_ball),
	OPERATOR 3 =,
	OPERATOR 15 <-># FOR ORDER BY pg_catalog.integer_ops;
COMMENT ON OPERATOR CLASS simhash64_ops USING hamming IS
	'Hamming distance: within a ball, near-duplicate, equal, nearest neighbours';

CREATE OPERATOR CLASS simhash128_ops
	DEFAULT FOR TYPE simhash128 USING hamming AS
	OPERATOR 1 %,
	OPERATOR 2 <@ (simhash128, hamming_ball128),
	OPERATOR 3 =,
	OPERATOR 15 <-># FOR ORDER BY pg_catalog.integer_ops;
COMMENT ON OPERATOR CLASS simhash128_ops USING hamming IS
	'Hamming distance: within a ball, near-duplicate, equal, nearest neighbours';

-- Further columns of an index, which the executor compares.

CREATE OPERATOR CLASS int2_ops
	DEFAULT FOR TYPE smallint USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS int2_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS int4_ops
	DEFAULT FOR TYPE integer USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS int4_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS int8_ops
	DEFAULT FOR TYPE bigint USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS int8_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS oid_ops
	DEFAULT FOR TYPE oid USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS oid_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS text_ops
	DEFAULT FOR TYPE text USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS text_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS bpchar_ops
	DEFAULT FOR TYPE bpchar USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS bpchar_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS uuid_ops
	DEFAULT FOR TYPE uuid USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS uuid_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS date_ops
	DEFAULT FOR TYPE date USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS date_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS timestamp_ops
	DEFAULT FOR TYPE timestamp USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS timestamp_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS timestamptz_ops
	DEFAULT FOR TYPE timestamptz USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS timestamptz_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS numeric_ops
	DEFAULT FOR TYPE numeric USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS numeric_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS bool_ops
	DEFAULT FOR TYPE boolean USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS bool_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS bytea_ops
	DEFAULT FOR TYPE bytea USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS bytea_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS inet_ops
	DEFAULT FOR TYPE inet USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS inet_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS enum_ops
	DEFAULT FOR TYPE anyenum USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS enum_ops USING hamming IS 'further column: equal';

CREATE OPERATOR CLASS array_ops
	DEFAULT FOR TYPE anyarray USING hamming AS OPERATOR 3 pg_catalog.=;
COMMENT ON OPERATOR CLASS array_ops USING hamming IS 'further column: equal';

CREATE FUNCTION hamming_index_stats(
	index regclass,
	OUT rows bigint, OUT nulls bigint, OUT fingerprints bigint, OUT blocks int,
	OUT height int,
	OUT pages bigint, OUT free_pages bigint, OUT bytes bigint,
	OUT average_block float8, OUT largest_block bigint)
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION hamming_index_stats(regclass) IS
	'size and shape of a hamming index';

CREATE FUNCTION hamming_index_check(index regclass, heap bool DEFAULT true)
	RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION hamming_index_check(regclass, bool) IS
	'verify a hamming index, and that it agrees with its table';

-------------------------------------------------------------------------------
-- A function without a comment is for operators, types, aggregates, indexes or
-- the planner only, and says so.  The schema of the extension may have functions
-- of others: it leaves the search path, for the rest of this script.
-------------------------------------------------------------------------------

DO $$
DECLARE
	function pg_catalog.regprocedure;
	operator pg_catalog.text;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	FOR function, operator IN
		SELECT p.oid, min(o.oprname::text)
		FROM pg_extension e
		JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass
			AND d.refobjid = e.oid AND d.classid = 'pg_proc'::regclass
		JOIN pg_proc p ON p.oid = d.objid LEFT JOIN pg_operator o ON o.oprcode = p.oid
		WHERE e.extname = 'simhash' AND obj_description(p.oid, 'pg_proc') IS NULL
		GROUP BY p.oid
	LOOP
		EXECUTE format('COMMENT ON FUNCTION %s IS %L', function,
			'internal: ' || coalesce('implementation of ' || operator || ' operator',
				'support of types, aggregates, indexes and the planner'));
	END LOOP;
END
$$;
