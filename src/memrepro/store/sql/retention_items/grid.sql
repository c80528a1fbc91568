-- Policy × category: how many facts of a category, how many scored, how many passed.
SELECT
    edition,
    system,
    mode,
    policy_id,
    category,
    count(*) AS n_total,
    count(score) AS n_scored,
    count(*) FILTER (score = 1) AS n_passed
FROM retention_score
GROUP BY edition, system, mode, policy_id, category
ORDER BY edition, system, mode, policy_id, category
