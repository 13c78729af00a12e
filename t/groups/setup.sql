-- A text of 30 words: most are those of its family, some depend on change.  A few
-- texts have no words, or are NULL.
CREATE FUNCTION body_of(family int, change int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE change % 40 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE string_agg(CASE WHEN hashint8extended(n, change) & 127 < change % 4 * 2
			THEN 'w' || (hashint8extended(n, change * 31) & 3) || '_' || n
			ELSE 'b' || family || '_' || n END, ' ' ORDER BY n) END
	FROM generate_series(1, 30) n
$$;
