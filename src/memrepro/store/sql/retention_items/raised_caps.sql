-- How many scores rest on a reply, of the guard's model or the judge, under a raised token cap.
SELECT
    edition,
    system,
    mode,
    count(*) AS n
FROM retention_score
WHERE raised_cap
GROUP BY edition, system, mode
ORDER BY edition, system, mode
