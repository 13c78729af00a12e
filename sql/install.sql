-- What CREATE EXTENSION has made.
\pset format unaligned \pset tuples_only on \set ECHO queries

CREATE VIEW members AS
SELECT classid, objid, obj_description(objid, classid::regclass::name) AS description
FROM pg_depend JOIN pg_extension e ON e.oid = refobjid
WHERE extname = 'simhash' AND refclassid = 'pg_extension'::regclass AND deptype = 'e';
CREATE VIEW functions AS
SELECT p.*, description FROM members JOIN pg_proc p ON p.oid = objid AND classid = 'pg_proc'::regclass;

-- no operator class is wrong
SELECT amname, opcname
FROM pg_opclass opc JOIN pg_am am ON am.oid = opcmethod
WHERE opc.oid >= 16384 AND NOT amvalidate(opc.oid);

-- the distance has operator classes of its own
SELECT amname, opcname, opcdefault
FROM pg_opclass opc JOIN pg_am am ON am.oid = opcmethod
WHERE opc.oid >= 16384 ORDER BY 1, 2;

-- every function is safe in parallel plans, and those that must not leak do not
SELECT proname FROM functions
WHERE proparallel <> 's'
	-- temporary indexes are out of reach of parallel workers
	AND proname !~ '^hamming_index_'
	-- and a view or a query may be of anything
	AND proname NOT IN ('simhash_audit', 'simhash_audit_pairs', 'simhash_components', 'simhash_pairs');
SELECT oid::regprocedure FROM functions
WHERE proname IN ('simhash_within', 'simhash_near', 'simhash_in_ball', 'hamming_ball_contains',
		'hamming_ball', 'hamming_ball_128', 'hamming_bound_below', 'simhash_distance', 'simhash_distance_int')
	AND NOT proleakproof;

-- What is not immutable: generated columns and indexes need all others.
SELECT DISTINCT provolatile, proname FROM functions WHERE provolatile <> 'i' ORDER BY 1, 2;

-- every object is described
SELECT classid::regclass, pg_describe_object(classid, objid, 0)
FROM members
WHERE description IS NULL
	AND classid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass,
		'pg_cast'::regclass, 'pg_opclass'::regclass)
	AND NOT EXISTS (SELECT FROM pg_type t
		WHERE t.oid = objid AND t.typtype NOT IN ('b', 'd')
			OR t.oid = objid AND t.typelem <> 0);
-- and what nobody calls is marked
SELECT DISTINCT proname FROM functions WHERE description !~ '^internal: ' ORDER BY 1;
DROP VIEW functions, members;

-- two literals mean a text and its weights, one a text
SELECT typcategory, typispreferred FROM pg_type WHERE typname = 'simhash_weights';
