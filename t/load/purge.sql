\set r random(1, 3)
DELETE FROM docs WHERE id % 3 = :r - 1 AND (SELECT count(*) FROM docs) > 30000;
VACUUM (TRUNCATE off) docs;
