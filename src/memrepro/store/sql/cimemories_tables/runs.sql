-- Violation@n for each n up to the number of trials, in the paper's reading.
WITH kept AS (SELECT DISTINCT spot, profile, position FROM cimemories_paper WHERE withheld),
attribute AS (
    SELECT
        series, profile, position,
        min(trial) FILTER (revealed = 1) AS first_told,
        min(trial) FILTER (revealed IS DISTINCT FROM 0) AS first_maybe
    FROM cimemories_reveal
    JOIN kept USING (spot)
    GROUP BY ALL
),
one_person AS (
    SELECT
        series, profile, runs.trial + 1 AS n,
        count(*) FILTER (first_told <= runs.trial) / count(*) AS low,
        count(*) FILTER (first_maybe <= runs.trial) / count(*) AS high
    FROM attribute
    JOIN (
        SELECT DISTINCT series, trial FROM cimemories_reveal
    ) AS runs USING (series)
    GROUP BY ALL
)
SELECT
    system, judge, prompt_level, n,
    favg(low ORDER BY low) AS low,
    favg(high ORDER BY high) AS high
FROM one_person
JOIN cimemories_series USING (series)
GROUP BY ALL
ORDER BY ALL
