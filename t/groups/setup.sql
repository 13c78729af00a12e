-- A text of 30 words: most are those of its family, some depend on change.
CREATE FUNCTION body_of(family int, change int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(CASE WHEN hashint8extended(n, change) & 127 < change % 4 * 2
			THEN 'w' || (hashint8extended(n, change * 31) & 3) || '_' || n
			ELSE 'b' || family || '_' || n END, ' ' ORDER BY n)
	FROM generate_series(1, 30) n
$$;
