-- InMind's items, a task each: by the metric's place in the metrics file, the score of each task,
-- null where it failed. The metrics' own files say the same of the rows they count.
CREATE VIEW item AS
SELECT
    system || '/' || metric
        || CASE WHEN condition = 'without_target' AND suffix(metric, '_verbatim')
            THEN '_without_target' ELSE '' END AS place,
    task_id::VARCHAR AS item,
    NULL::VARCHAR AS cluster,
    score::DOUBLE AS score
FROM inmind_score
WHERE condition = 'with_target' OR suffix(metric, '_verbatim') OR metric = 'unprompted_warning'
UNION ALL
SELECT
    system || '/application_gated',
    task_id::VARCHAR,
    NULL::VARCHAR,
    CASE WHEN low = high THEN low END::DOUBLE
FROM both_hold('inmind_score', 'target_recall', 'application', 'with_target')
