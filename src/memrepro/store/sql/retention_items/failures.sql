-- Every cell that did not pass or has no score, with its reason.
SELECT
    edition,
    system,
    mode,
    policy_id,
    fact_id,
    category,
    expected,
    blocked,
    recalled,
    reason
FROM retention_score
WHERE reason IS NOT NULL
ORDER BY edition, system, mode, policy_id, fact_id
