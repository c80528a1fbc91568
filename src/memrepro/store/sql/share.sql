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

-- A CIMemories profile, place and position as one number; up to a million places and positions.
CREATE MACRO cimemories_spot(profile, place, position) AS
    (profile::BIGINT * 1048576 + place) * 1048576 + position;
