-- What judges said. A message of CIMemories has a verdict an attribute: see reveals.
SELECT 'inmind' AS benchmark, task_id::VARCHAR AS item, * EXCLUDE (task_id)
FROM inmind_verdict
UNION ALL BY NAME
SELECT
    'cimemories' AS benchmark,
    profile || '/' || place AS item,
    'reveals' AS metric,
    * EXCLUDE (profile, place, reveals)
FROM cimemories_verdict
UNION ALL BY NAME
SELECT
    'retention' AS benchmark,
    policy_id || '/' || coalesce(name, fact_id) AS item,
    'recalled' AS metric,
    verdict.* EXCLUDE (policy_id, fact_id)
FROM retention_verdict AS verdict
LEFT JOIN (SELECT edition, policy_id, fact_id, name FROM retention_cell)
    USING (edition, policy_id, fact_id)
