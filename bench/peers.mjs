// The same searches by ClickHouse (chdb) and by pgvector (in PGlite), on the
// fingerprints and texts that bench/peers.sh has written.  Prints "NAME VALUE".

import fs from 'node:fs';
import { createRequire } from 'node:module';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';

const [folder, roundsArgument] = process.argv.slice(2);
const rounds = Number(roundsArgument);
const require = createRequire(import.meta.url);
const { Session } = require('chdb');

const lines = name => fs.readFileSync(`${folder}/${name}`, 'utf8').trim().split('\n');
const put = (name, value) => console.log(name, value);
const queries = lines('peers_queries').map(line => line.split(','));    // unsigned integer, rows within 3 and 8

function seconds(run) {
    const start = process.hrtime.bigint();
    run();
    return Number(process.hrtime.bigint() - start) / 1e9;
}

const median = values => values.sort((a, b) => a - b)[values.length >> 1];

// the median of some runs
function timed(name, run, runs = rounds) {
    put(name, median(Array.from({ length: runs }, () => seconds(run))).toFixed(4));
}

function clickhouse() {
    const session = new Session();
    const sql = (text, settings = '') =>
        session.query(`${text} SETTINGS max_threads = 1, max_memory_usage = 8000000000${settings}`, 'CSV').trim();

    put('clickhouse_version', sql('SELECT version()').replaceAll('"', ''));
    session.query('CREATE DATABASE d ENGINE = Atomic');
    for (const table of ['many', 'few']) {
        session.query(`CREATE TABLE d.${table} (id UInt32, fp UInt64) ENGINE = Memory`);
        session.query(`INSERT INTO d.${table} SELECT * FROM file('${folder}/peers_${table}', 'CSV', 'id UInt32, fp UInt64')`);
    }
    session.query('CREATE TABLE d.texts (id UInt32, body String) ENGINE = Memory');
    session.query(`INSERT INTO d.texts SELECT * FROM file('${folder}/peers_texts', 'CSV', 'id UInt32, body String')`);
    for (const k of [3, 8]) {
        let found = 0;
        const times = queries.slice(0, 20).map(([fp]) => seconds(() => {
            found += Number(sql(`SELECT count() FROM d.many WHERE bitHammingDistance(fp, toUInt64('${fp}')) <= ${k}`));
        }));
        put(`clickhouse_k${k}_s`, median(times).toFixed(4));
        put(`clickhouse_k${k}_found`, found);
        timed(`clickhouse_pairs${k}_s`, () => put(`clickhouse_pairs${k}`, sql(`SELECT count() FROM d.few a
            CROSS JOIN d.few b WHERE bitHammingDistance(a.fp, b.fp) <= ${k} AND a.id < b.id`)), 1);
    }
    for (const call of ['ngramSimHash', 'wordShingleSimHash', 'wordShingleMinHash'])
        timed(`clickhouse_${call}_s`, () => sql(`SELECT count(ignore(${call}(body))) FROM d.texts`));
    session.cleanup();
}

// HNSW indexes answer by the nearest: LIMIT and hnsw.ef_search bound what is found.
async function pgvector() {
    const db = await PGlite.create({ extensions: { vector } });
    const bits = fp => BigInt(fp).toString(2).padStart(64, '0');

    await db.exec('CREATE EXTENSION vector; CREATE TABLE docs (id int, fp bit(64))');
    const rows = lines('peers_few').map(line => line.split(','));
    for (let i = 0; i < rows.length; i += 10000)
        await db.query('INSERT INTO docs SELECT * FROM unnest($1::int[], $2::bit(64)[])',
            [rows.slice(i, i + 10000).map(r => r[0]), rows.slice(i, i + 10000).map(r => bits(r[1]))]);
    put('pgvector_version', (await db.query("SELECT extversion FROM pg_extension WHERE extname = 'vector'")).rows[0].extversion);
    await db.exec('CREATE INDEX ON docs USING hnsw (fp bit_hamming_ops)');
    for (const k of [3, 8]) {
        let found = 0;
        let all = 0;
        for (const query of lines('peers_few_queries').map(line => line.split(','))) {
            const near = await db.query(`SELECT distance FROM
                (SELECT fp <~> $1::bit(64) AS distance FROM docs ORDER BY 1 LIMIT 40) s WHERE distance <= ${k}`, [bits(query[0])]);
            found += near.rows.length;
            all += Number(query[k === 3 ? 1 : 2]);
        }
        put(`pgvector_k${k}_recall`, (found / all).toFixed(3));
    }
    await db.close();
}

clickhouse();
await pgvector();
