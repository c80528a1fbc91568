-- How many facts the guard's model left undecided, and how many of them were blocked.
SELECT
    edition,
    system,
    mode,
    count(*) AS n,
    count(*) FILTER (blocked) AS n_blocked
FROM retention_score
WHERE decided_by = 'undecided'
GROUP BY edition, system, mode
ORDER BY edition, system, mode
