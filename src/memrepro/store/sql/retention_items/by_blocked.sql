-- By what was expected and whether the fact was blocked at ingest: cells, scored, passed, recalled.
SELECT
    edition,
    system,
    mode,
    expected,
    blocked,
    count(*) AS n_total,
    count(score) AS n_scored,
    count(*) FILTER (score = 1) AS n_passed,
    count(*) FILTER (recalled = 1) AS n_recalled
FROM retention_score
GROUP BY edition, system, mode, expected, blocked
ORDER BY edition, system, mode, expected, blocked
