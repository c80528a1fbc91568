-- Number of policies all of whose facts passed. A policy is scored once its outcome is known: one
-- fact that did not pass decides it, whatever the failures were.
WITH policy AS (
    SELECT
        edition,
        system,
        mode,
        policy_id,
        CAST(min(coalesce(score, 0)) AS INTEGER) AS low,
        CAST(min(coalesce(score, 1)) AS INTEGER) AS high
    FROM retention_score
    GROUP BY edition, system, mode, policy_id
)
SELECT
    edition,
    system,
    mode,
    count(*) AS n_total,
    count(*) FILTER (low = high) AS n_scored,
    CASE WHEN sum(low) = sum(high) THEN CAST(sum(low) AS INTEGER) END AS value,
    CAST(sum(low) AS INTEGER) AS low,
    CAST(sum(high) AS INTEGER) AS high
FROM policy
GROUP BY edition, system, mode
ORDER BY edition, system, mode
