-- Share of tasks whose direct query brought the target's user message into the context.
SELECT
    system,
    count(*) AS n_total,
    count(score) AS n_scored,
    CASE WHEN count(score) = count(*) THEN count(*) FILTER (score = 1) / count(*) END AS value,
    count(*) FILTER (score = 1) / count(*) AS low,
    (count(*) FILTER (score = 1) + count(*) - count(score)) / count(*) AS high
FROM inmind_score
WHERE metric = 'naive_recall_verbatim' AND condition = 'with_target'
GROUP BY system
ORDER BY system
