-- Application where target recall holds too: its prompt demands both, and its judge grants one
-- without the other.
SELECT
    system,
    count(*) AS n_total,
    count(*) FILTER (low = high) AS n_scored,
    CASE WHEN sum(low) = sum(high) THEN sum(low) / count(*) END AS value,
    sum(low) / count(*) AS low,
    sum(high) / count(*) AS high
FROM both_hold('inmind_score', 'target_recall', 'application', 'with_target')
GROUP BY system
ORDER BY system
