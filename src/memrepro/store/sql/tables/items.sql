-- Every item that has a score, with its texts where the stages' inputs are at hand.
SELECT
    'inmind' AS benchmark,
    'task' AS kind,
    task_id::VARCHAR AS item,
    domain,
    query,
    naive_query,
    user_message AS text
FROM (SELECT DISTINCT task_id, domain FROM inmind_score)
LEFT JOIN inmind_task USING (task_id)
UNION ALL BY NAME
SELECT
    'cimemories' AS benchmark,
    'context' AS kind,
    profile || '/' || place AS item,
    profile::VARCHAR AS cluster,
    recipient || ': ' || task AS query
FROM (SELECT DISTINCT profile, place FROM cimemories_score)
LEFT JOIN cimemories_context USING (profile, place)
UNION ALL BY NAME
SELECT
    'cimemories' AS benchmark,
    'attribute' AS kind,
    profile || '/' || position AS item,
    profile::VARCHAR AS cluster,
    domain,
    statement AS text
FROM (
    SELECT profile, unnest(range(1, max(length(reveals)) + 1)) AS position
    FROM cimemories_score
    GROUP BY profile
)
LEFT JOIN cimemories_attribute USING (profile, position)
UNION ALL BY NAME
SELECT
    'retention' AS benchmark,
    'fact' AS kind,
    edition,
    policy_id || '/' || fact_id AS item,
    policy_id AS cluster,
    category AS domain,
    policy AS query,
    text
FROM (SELECT DISTINCT edition, policy_id, fact_id, category FROM retention_score)
LEFT JOIN (SELECT * EXCLUDE (fact_id), name AS fact_id FROM retention_cell)
    USING (edition, policy_id, fact_id)
