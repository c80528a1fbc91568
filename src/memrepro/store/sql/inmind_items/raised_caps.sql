-- Scores that rest on a reply under a raised token cap. A gated score rests on two.
WITH row AS (
    SELECT system, task_id, metric FROM inmind_score WHERE raised_cap
    UNION
    SELECT system, task_id, 'application_gated'
    FROM inmind_score
    WHERE raised_cap AND metric IN ('application', 'target_recall')
)
SELECT system, metric, count(*) AS n FROM row GROUP BY system, metric ORDER BY system, metric
