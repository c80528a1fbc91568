-- Scores that rest on a reply under a raised token cap.
SELECT system, judge, prompt_level, count(*) AS n
FROM stage_score
WHERE raised_cap
GROUP BY ALL
ORDER BY ALL
