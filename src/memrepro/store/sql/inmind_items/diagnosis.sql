-- Where each task's fact was lost. Stored: its direct query brings it back, word for word or as
-- judged. Surfaced: the indirect query does, as judged. Applied: the answer, seen alone, acts on it.
-- A task that lacks a judged score has no diagnosis.
WITH item AS (
    SELECT
        system,
        task_id,
        max(score) FILTER (metric IN ('naive_recall', 'naive_recall_verbatim')) AS stored,
        max(score) FILTER (metric = 'target_recall') AS surfaced,
        max(score) FILTER (metric = 'answer_only') AS applied
    FROM inmind_score
    WHERE condition = 'with_target'
    GROUP BY system, task_id
)
SELECT
    system,
    task_id,
    CASE
        WHEN surfaced IS NULL OR applied IS NULL THEN 'not judged'
        WHEN surfaced = 1 AND applied = 1 THEN 'applied'
        WHEN surfaced = 1 THEN 'surfaced, not applied'
        WHEN applied = 1 THEN 'applied without the fact'
        WHEN stored = 1 THEN 'stored, not surfaced'
        ELSE 'not stored'
    END AS diagnosis
FROM item
ORDER BY system, task_id
