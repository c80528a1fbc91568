-- What a metric's interval is drawn from: the items of each cluster, how many are scored, and what
-- those sum up to. Items without a cluster are counted together.
SELECT
    place,
    cluster,
    coalesce(sum(score ORDER BY score), 0) AS total,
    count(score) AS scored,
    count(*) AS items
FROM item
GROUP BY place, cluster
ORDER BY ALL
