-- Of the cells with one of the wanted expectations, the share with the counted score, by edition,
-- system and mode. `value` is null unless all are scored; `low` and `high` leave each failure out
-- of the count, in the count.
CREATE MACRO retention_share(scores, wanted, counted) AS TABLE
SELECT
    edition,
    system,
    mode,
    count(*) AS n_total,
    count(score) AS n_scored,
    CASE
        WHEN count(score) = count(*) THEN count(*) FILTER (score = counted) / count(*)
    END AS value,
    count(*) FILTER (score = counted) / count(*) AS low,
    (count(*) FILTER (score = counted) + count(*) - count(score)) / count(*) AS high
FROM query_table(scores)
WHERE list_contains(wanted, expected)
GROUP BY edition, system, mode
ORDER BY edition, system, mode
