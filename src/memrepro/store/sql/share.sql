-- Of the rows of one metric and condition, the share scored 1, by system. `value` is null unless all
-- are scored; `low` and `high` count each failure as 0, as 1. A metric's file names its rows.
CREATE MACRO share(scores, metric_name, condition_name) AS TABLE
SELECT
    system,
    count(*) AS n_total,
    count(score) AS n_scored,
    CASE WHEN count(score) = count(*) THEN count(*) FILTER (score = 1) / count(*) END AS value,
    count(*) FILTER (score = 1) / count(*) AS low,
    (count(*) FILTER (score = 1) + count(*) - count(score)) / count(*) AS high
FROM query_table(scores)
WHERE metric = metric_name AND condition = condition_name
GROUP BY system
ORDER BY system;

-- Of InMind's tasks, whether both of two metrics hold, by system: `low` and `high` take a failure for
-- 0, for 1, and are equal once that is known whatever the failures were.
CREATE MACRO both_hold(scores, one, other, condition_name) AS TABLE
SELECT
    system,
    task_id,
    coalesce(max(score) FILTER (metric = one), 0)
        * coalesce(max(score) FILTER (metric = other), 0) AS low,
    coalesce(max(score) FILTER (metric = one), 1)
        * coalesce(max(score) FILTER (metric = other), 1) AS high
FROM query_table(scores)
WHERE condition = condition_name AND metric IN (one, other)
GROUP BY system, task_id;

-- A CIMemories profile, place and position as one number; up to a million places and positions.
CREATE MACRO cimemories_spot(profile, place, position) AS
    (profile::BIGINT * 1048576 + place) * 1048576 + position;
