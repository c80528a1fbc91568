-- By policy: cells, scored and passed, and of the prohibited ones as many as passed.
SELECT
    edition,
    system,
    mode,
    policy_id,
    count(*) AS n_total,
    count(score) AS n_scored,
    count(*) FILTER (score = 1) AS n_passed,
    count(*) FILTER (expected = 'drop') AS n_prohibited,
    count(*) FILTER (expected = 'drop' AND score = 1) AS n_prohibited_passed
FROM retention_score
GROUP BY edition, system, mode, policy_id
ORDER BY edition, system, mode, policy_id
