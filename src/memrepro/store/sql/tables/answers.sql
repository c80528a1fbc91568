-- What models answered.
SELECT 'inmind' AS benchmark, task_id::VARCHAR AS item, * EXCLUDE (task_id)
FROM inmind_answer
UNION ALL BY NAME
SELECT 'cimemories' AS benchmark, profile || '/' || place AS item, * EXCLUDE (profile, place)
FROM cimemories_answer
