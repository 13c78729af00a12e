\set action random(1, 10)
\set family random(1, 40)
\set change random(1, 300)
\set seed random(1, 1000000)
\if :action <= 4
INSERT INTO :table (body) SELECT body_of(:family + n % 2, :change + n) FROM generate_series(1, :action) n;
\elif :action <= 6
DELETE FROM :table WHERE id IN (SELECT id FROM :table ORDER BY hashint8extended(id, :seed) LIMIT :action - 2);
\elif :action <= 9
UPDATE :table SET body = body_of(:family, :change)
WHERE id IN (SELECT id FROM :table ORDER BY hashint8extended(id, :seed) LIMIT :action - 6);
\else
BEGIN;
UPDATE :table SET body = body_of(:family, :change + id::int)
WHERE id IN (SELECT id FROM :table ORDER BY hashint8extended(id, :seed) LIMIT 4);
DELETE FROM :table WHERE id IN (SELECT id FROM :table ORDER BY hashint8extended(id, :seed) LIMIT 3);
INSERT INTO :table (body) VALUES (body_of(:family, :change));
END;
\endif
