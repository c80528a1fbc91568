-- Why cells did not pass, or have no score: how many of each reason.
SELECT
    edition,
    system,
    mode,
    reason,
    count(*) AS n
FROM retention_score
WHERE reason IS NOT NULL
GROUP BY edition, system, mode, reason
ORDER BY edition, system, mode, reason
