-- What a bootstrap of the paired differences draws: a cluster each with its sum and number of
-- items; items without a cluster, which are units of their own, by how many have one difference.
SELECT
    place,
    cluster,
    sum(difference ORDER BY difference) AS total,
    count(*) AS items,
    1 AS times
FROM pair
WHERE difference IS NOT NULL AND cluster IS NOT NULL
GROUP BY place, cluster
UNION ALL
SELECT place, NULL, difference, 1, count(*)
FROM pair
WHERE difference IS NOT NULL AND cluster IS NULL
GROUP BY place, difference
ORDER BY ALL
