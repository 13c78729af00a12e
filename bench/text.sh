# Making a fingerprint of a text, and comparing two.  Sourced by script/bench; measures by
# the functions of measure.sh.

method_text()
{
	cat <<-METHOD
		Texts of 5,000 characters: English package descriptions of Debian, 20 in a row. They are
		stored EXTERNAL, so that nothing is decompressed. Medians of $rounds, on one processor.
	METHOD
}

bench_text()
{
	local call round times count

	start_column 'texts of 5 kB, µs'
	read_descriptions en >"$work/descriptions"
	sql -c 'CREATE EXTENSION simhash' -c 'CREATE UNLOGGED TABLE texts (name text, body text)' \
		-c "\\copy texts FROM '$work/descriptions' (ENCODING 'UTF8')" \
		-c 'CREATE UNLOGGED TABLE pieces (a text, b text)' \
		-c 'ALTER TABLE pieces ALTER a SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL' \
		-c "INSERT INTO pieces SELECT piece, lead(piece) OVER ()
			FROM (SELECT left(string_agg(body, ' ' ORDER BY n), 5000) AS piece
				FROM (SELECT row_number() OVER (ORDER BY name) AS n, body FROM texts) t GROUP BY n / 20) p
			WHERE length(piece) = 5000" \
		-c 'VACUUM ANALYZE pieces'
	count=$(sql -c 'SELECT count(b) FROM pieces')
	pin
	for call in 'minhash(a)' 'minhash_128(a)' 'simhash(a)' 'text_jaccard(a, b, words => 3)'; do
		times=()
		for ((round = 0; round < rounds; round++)); do
			time_sql "SET max_parallel_workers_per_gather = 0; SELECT count(a), minhash('a') FROM pieces" \
				"SELECT count($call) FROM pieces"
			times+=("$ms")
		done
		show Calls "$call" "$(calculate "1000 * $(median "${times[@]}") / $count")"
	done
	unpin
}
