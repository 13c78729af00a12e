-- Texts that take long, of :bytes bytes each, against :words, as many bytes of words.
-- Wants the file :avoiding, which bench/avoiding.pl makes.

CREATE UNLOGGED TABLE shapes (n int GENERATED ALWAYS AS IDENTITY (START 0 MINVALUE 0), name text, body text);
ALTER TABLE shapes ALTER body SET STORAGE EXTERNAL;

INSERT INTO shapes (name, body) SELECT 'words', left(:words, :bytes);

-- few features, and features that are hard to tell apart
INSERT INTO shapes (name, body)
SELECT name, repeat(piece, :bytes / octet_length(piece))
FROM (VALUES ('`0,` again and again', '0,'), ('four words', 'ab cd ef gh '), ('one word', 'x'),
	('words of 4 kB', repeat('x', 4096) || ' '), ('one Han character', '東'), ('one, and spaces', '東 '))
	repeated (name, piece);
INSERT INTO shapes (name, body)
SELECT '26 letters at random', string_agg(chr(97 + (hashint8extended(i, 1) & 65535)::int % 26), ' ')
FROM generate_series(1, :bytes / 2) i;
INSERT INTO shapes (name, body)
SELECT 'pairs of words that avoid a bin', pg_read_file(:'avoiding');

-- all features differ
INSERT INTO shapes (name, body)
SELECT 'different words', left(string_agg(to_hex(i), ' '), :bytes) FROM generate_series(1, :bytes / 5) i;
INSERT INTO shapes (name, body)
SELECT 'Han at random', string_agg(chr(19968 + (hashint8extended(i, 1) & 1048575)::int % 20000), '')
FROM generate_series(1, :bytes / 3) i;

-- nothing, and what changes at each character
INSERT INTO shapes (name, body)
SELECT name, repeat(piece, :bytes / octet_length(piece))
FROM (VALUES ('spaces', ' '), ('ideographic spaces', U&'\3000'), ('soft hyphens', U&'\00AD'),
	('not assigned', U&'\0378'), ('a letter, not assigned', U&'a\0378'), ('a letter, Han', 'a東'))
	repeated (name, piece);

-- normalisation
INSERT INTO shapes (name, body)
SELECT 'one letter with marks', 'e' || repeat(U&'\0323\0301', :bytes / 4);
INSERT INTO shapes (name, body)
SELECT 'the same, out of order', 'e' || repeat(U&'\0301\0323', :bytes / 4);
INSERT INTO shapes (name, body)
SELECT name, repeat(piece, :bytes / octet_length(piece))
FROM (VALUES ('e, acute', U&'e\0301'), ('e, acute, dot below', U&'e\0301\0323'),
	('capital A with acute', U&'\00C1'), ('capital Zhe', U&'\0416'), ('U+1F82, four code points', U&'\1F82'),
	('Hangul letters', U&'\1112\1161\11AB'), ('half-width Ga', U&'\FF76\FF9E'),
	('U+3300, five code points', U&'\3300'), ('U+FDFA, 18 code points', U&'\FDFA'))
	repeated (name, piece);
ANALYZE shapes;
