-- Application where target recall holds too: its prompt demands both, and its judge grants one
-- without the other. An item is scored once its product is known whatever the failures were.
WITH item AS (
    SELECT
        system,
        task_id,
        max(score) FILTER (metric = 'target_recall') AS recalled,
        max(score) FILTER (metric = 'application') AS applied
    FROM inmind_score
    WHERE condition = 'with_target' AND metric IN ('target_recall', 'application')
    GROUP BY system, task_id
),
bound AS (
    SELECT
        system,
        coalesce(recalled, 0) * coalesce(applied, 0) AS low,
        coalesce(recalled, 1) * coalesce(applied, 1) AS high
    FROM item
)
SELECT
    system,
    count(*) AS n_total,
    count(*) FILTER (low = high) AS n_scored,
    CASE WHEN sum(low) = sum(high) THEN sum(low) / count(*) END AS value,
    sum(low) / count(*) AS low,
    sum(high) / count(*) AS high
FROM bound
GROUP BY system
ORDER BY system
