-- The compositions of a run, and how many messages each has.
SELECT composition, count(*) AS messages
FROM stage_score
GROUP BY ALL
ORDER BY ALL
