-- The groups are those of simhash_cluster; each led row is a partner of its leader,
-- and no two leaders are partners.
SELECT count(DISTINCT cluster) = count(DISTINCT truth) AND count(DISTINCT (cluster, truth)) = count(DISTINCT truth)
	AND count(cluster) = count(*)
	AND (SELECT count(*) FROM news LEFT JOIN news l ON l.id = news.leader
		WHERE (l.leader = l.id AND (news.id = l.id OR news.fp <-> l.fp <= 10 AND alike(news.body, l.body))) IS NOT TRUE) = 0
	AND (SELECT count(*) FROM news a JOIN news b ON a.fp <-> b.fp <= 10 AND a.id < b.id AND alike(a.body, b.body)
		WHERE a.leader = a.id AND b.leader = b.id) = 0 AS right,
	count(*) AS rows, count(DISTINCT cluster) AS groups, (SELECT count(*) FROM news) AS led
FROM (SELECT cluster, coalesce(simhash_cluster(fp, 10, 'connected', body, 0.8) OVER (), -id) AS truth FROM docs) compared;
