# What else PostgreSQL's users take: ClickHouse's functions, the bit type of
# pgvector, and pg_trgm.  Sourced by script/bench, which lists the variables that
# they share; measures by the functions of cluster.sh.
#
# ClickHouse runs in the process of Node.js (chdb), and pgvector in PGlite, a
# PostgreSQL in WebAssembly, whose times say nothing of a server's: only what it
# finds is compared.  Both are packages of npm.

peers=(chdb@3.4.0 @electric-sql/pglite@0.5.14 @electric-sql/pglite-pgvector@0.0.15)
many=1000000            # rows that are searched
few=100000              # rows whose pairs are found
described=12000         # texts

# write_peers NAME QUERY: a file of CSV
write_peers()
{
	sql -c "COPY ($2) TO STDOUT (FORMAT csv)" >"$work/peers_$1"
}

# write_queries NAME TABLE: fingerprints of which half have near ones, and how many
# rows of the table are within 3 and 8
write_queries()
{
	write_peers "$1" "SELECT q.fp::numeric, count(*) FILTER (WHERE d.fp <-> q.fp <= 3), count(d.fp)
		FROM (SELECT n, CASE WHEN n % 2 = 0 THEN (fp::bigint # flips(n, draw(n, 41, 4)))::simhash64
				ELSE hashint8extended(n, 42)::simhash64 END AS fp
			FROM generate_series(1, 200) n JOIN $2 ON $2.id = draw(n, 43, (SELECT max(id) FROM $2)) + 1) q
			LEFT JOIN $2 d ON d.fp <-> q.fp <= 8 GROUP BY n, q.fp ORDER BY n"
}

# The median milliseconds of look-ups of the first 20 queries within k, one
# statement each.
look_up()
{
	local fp all=()

	for fp in $(head -n 20 "$work/peers_queries" | cut -d , -f 1); do
		all+=("$(sql -c "SELECT count(*) FROM docs WHERE fp <-> 1::numeric::simhash64 <= $1" -c '\timing on' \
			-c "SELECT count(*) FROM docs WHERE fp <-> $fp::numeric::simhash64 <= $1" | times)")
	done
	median "${all[@]}"
}

measure_peers()
{
	local rows=$many k name value scanned=docs

	load_data uniform
	sql -c 'CREATE INDEX docs_fp ON docs USING hamming (fp)' \
		-c "CREATE UNLOGGED TABLE fewer AS SELECT * FROM docs WHERE id <= $few" -c 'CREATE EXTENSION pg_trgm' \
		-c 'CREATE TABLE texts (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text, body text)' \
		-c "COPY texts (name, body) FROM STDIN (ENCODING 'UTF8')" <"$work/descriptions"
	sql -c "DELETE FROM texts WHERE id > $described OR length(body) < 40" \
		-c 'ALTER TABLE texts ADD fp simhash64 GENERATED ALWAYS AS (minhash(body)) STORED' \
		-c 'CREATE INDEX texts_fp ON texts USING hamming (fp)' \
		-c 'CREATE INDEX texts_trgm ON texts USING gin (body gin_trgm_ops)' -c 'VACUUM ANALYZE'
	write_peers many 'SELECT id, fp::numeric FROM docs ORDER BY id'
	write_peers few 'SELECT id, fp::numeric FROM fewer ORDER BY id'
	write_peers texts 'SELECT id, body FROM texts ORDER BY id'
	write_queries queries docs
	write_queries few_queries fewer
	pin
	for k in 3 8; do
		put "search $k" "$(look_up $k)"
		turns '' "pairs $k" "SELECT count(*) FROM fewer a JOIN fewer b ON a.fp <-> b.fp <= $k AND a.id < b.id"
	done
	turns '' minhash 'SELECT count(minhash(body)) FROM texts' simhash 'SELECT count(simhash(body)) FROM texts'
	options[trgm]='-c pg_trgm.similarity_threshold=0.6 -c enable_seqscan=off'
	turns '' near "SELECT count(*) FROM texts a JOIN texts b ON a.fp <-> b.fp <= 8 AND a.id <> b.id WHERE a.id % 60 = 0" \
		trgm "SELECT count(*) FROM texts a JOIN texts b ON a.body % b.body AND a.id <> b.id WHERE a.id % 60 = 0"
	put texts "$(sql -c 'SELECT count(*) FROM texts')"
	put probes "$(sql -c 'SELECT count(*) FROM texts WHERE id % 60 = 0')"
	while read -r name value; do
		put "$name" "$value"
	done < <(cd "$work/npm" && taskset -c "$cpu" node peers.mjs "$work" $rounds)
	unpin
	for k in 3 8; do
		[ "$(get "clickhouse_pairs$k")" = "$(get "answer of pairs $k")" ] || fail "ClickHouse has found other pairs"
	done
	show_peers
}

show_peers()
{
	local k call megabytes="SELECT round(pg_relation_size('INDEX') / 1e6, 1)"

	for k in 3 8; do
		show_row Fingerprints "one search within $k, 1 million rows, ms" "$(get "search $k")" \
			"$(calculate "1000 * $(get "clickhouse_k${k}_s")")"
	done
	for k in 3 8; do
		show_row Fingerprints "all pairs within $k, 100,000 rows, s" "$(get "pairs $k")" "$(get "clickhouse_pairs${k}_s")"
	done
	for call in minhash simhash; do
		show_row 'A fingerprint of a description' "$call(body)" \
			"$(calculate "$(get "ms of $call") * 1000 / $(get texts)")"
	done
	for call in ngramSimHash wordShingleSimHash wordShingleMinHash; do
		show_row 'A fingerprint of a description' "ClickHouse: $call(body)" \
			"$(calculate "$(get "clickhouse_${call}_s") * 1e6 / $(get texts)")"
	done
	for k in 3 8; do
		show_row 'Found by pgvector, 100,000 rows' "$k" "$(get "pgvector_k${k}_recall")"
	done
	show_row 'Near-duplicates of a description' 'minhash within 8' "$(calculate "$(get 'ms of near') / $(get probes)")" \
		"$(get 'answer of near')" "$(sql -c "${megabytes/INDEX/texts_fp}")"
	show_row 'Near-duplicates of a description' pg_trgm "$(calculate "$(get 'ms of trgm') / $(get probes)")" \
		"$(get 'answer of trgm')" "$(sql -c "${megabytes/INDEX/texts_trgm}")"
}

print_peers()
{
	cat <<-METHOD
		One processor. simhash and pg_trgm run on the same server, ClickHouse $(get clickhouse_version) in the process of
		Node.js, with one thread and tables in memory. Both have the same fingerprints, and find the same pairs.
		A look-up is a statement with its answer, the median of 20; other times are medians of 3, single ones
		of ClickHouse's pairs. Random fingerprints, a tenth of them 1 to 6 bits from another.

		pgvector $(get pgvector_version) runs in PGlite (WebAssembly), so that only what it finds is compared: an HNSW index
		with its defaults, ORDER BY fp <~> q LIMIT 40, and of these the rows within k.

		Texts are $(get texts) package descriptions. pg_trgm has a GIN index, and a threshold of 0.6.
	METHOD
	table Fingerprints '|---|--:|--:|' statement simhash ClickHouse
	table 'A fingerprint of a description' '|---|--:|' call µs
	table 'Found by pgvector, 100,000 rows' '|---|--:|' 'rows within' recall
	table 'Near-duplicates of a description' '|---|--:|--:|--:|' by 'a text, ms' 'rows found' 'index, MB'
}

bench_peers()
{
	local millions=1 kind=small rounds=3

	command -v npm >/dev/null || fail 'the others are packages of npm'
	say 'Reading package descriptions'
	read_descriptions en >"$work/descriptions"
	mkdir "$work/npm"
	cp "$root/bench/peers.mjs" "$work/npm"
	(cd "$work/npm" && npm install --silent --no-audit --no-fund --ignore-scripts "${peers[@]}") ||
		fail 'npm has not installed the others'
	measure_peers
}
