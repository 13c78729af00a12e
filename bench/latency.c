/*
 * latency.c
 *	  Time a prepared statement, once for each of the values of its parameter.
 *
 *		latency STATEMENT <values
 *
 * connects as libpq's environment variables say, goes through the values
 * twice, and prints of the second pass: the median time in microseconds, the
 * number of rows, and a sum over the rows' first columns, which does not
 * depend on the order of a value's rows.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libpq-fe.h>

#define MAX_VALUES 100000
#define VALUE_LENGTH 64

static char values[MAX_VALUES][VALUE_LENGTH];
static double times[MAX_VALUES];

static void
die(PGconn *connection)
{
	fputs(PQerrorMessage(connection), stderr);
	exit(1);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return (x > y) - (x < y);
}

/* The sum over the rows of FNV-1a of the value's number and the column. */
static uint64_t
checksum(uint64_t number, const PGresult *result)
{
	uint64_t sum = 0;
	int row;

	for (row = 0; row < PQntuples(result); row++)
	{
		uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ number;
		const char *c;

		for (c = PQgetvalue(result, row, 0); *c != '\0'; c++)
			hash = (hash ^ (unsigned char) *c) * UINT64_C(0x100000001b3);
		sum += hash;
	}
	return sum;
}

int
main(int argc, char **argv)
{
	PGconn *connection = PQconnectdb("");
	PGresult *result;
	uint64_t sum = 0;
	long rows = 0;
	int count = 0;
	int pass;
	int i;

	if (argc != 2)
		return 2;
	if (PQstatus(connection) != CONNECTION_OK)
		die(connection);
	while (count < MAX_VALUES && scanf("%63s", values[count]) == 1)
		count++;
	result = PQprepare(connection, "q", argv[1], 1, NULL);
	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		die(connection);
	PQclear(result);
	for (pass = 0; pass < 2; pass++)
	{
		rows = 0;
		sum = 0;
		for (i = 0; i < count; i++)
		{
			const char *value = values[i];
			double start = now();

			result = PQexecPrepared(connection, "q", 1, &value, NULL, NULL, 0);
			times[i] = now() - start;
			if (PQresultStatus(result) != PGRES_TUPLES_OK)
				die(connection);
			rows += PQntuples(result);
			sum += checksum(i, result);
			PQclear(result);
		}
	}
	if (count == 0)
		return 1;
	qsort(times, count, sizeof(double), compare);
	printf("%.1f %ld %016llx\n", times[count / 2], rows,
		   (unsigned long long) sum);
	PQfinish(connection);
	return 0;
}
