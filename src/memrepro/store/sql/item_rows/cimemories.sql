-- CIMemories' items of one reading: an attribute each for violation, a context each for
-- completeness; clustered by person; null where failures leave the item open.
CREATE MACRO cimemories_items(rows, reading) AS TABLE
SELECT
    system || '/' || reading || '/' || metric
        || CASE WHEN judge = 'verbatim' THEN '' ELSE '_model_level_' || prompt_level END AS place,
    first[1] || '/' || first[2] AS item,
    unit::VARCHAR AS cluster,
    CASE WHEN low = high THEN low END AS score
FROM (
    SELECT 'violation' AS metric, series, unit, first, low::DOUBLE AS low, high::DOUBLE AS high
    FROM cimemories_violation_items(rows)
    UNION ALL
    SELECT 'completeness', series, unit, first, low, high
    FROM cimemories_completeness_items(rows)
)
JOIN cimemories_series USING (series);

CREATE TABLE item AS
FROM cimemories_items('cimemories_paper', 'paper');

INSERT INTO item
FROM cimemories_items('cimemories_released_code', 'released-code')
WHERE getvariable('named');
