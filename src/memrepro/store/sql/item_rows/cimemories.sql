-- CIMemories' items of one reading: an attribute each for violation, a context each for
-- completeness; clustered by profile; null where failures leave the item open.
CREATE MACRO cimemories_items(reading, reading_name) AS TABLE
SELECT
    system || '/' || reading_name || '/' || metric
        || CASE WHEN judge = 'verbatim' THEN '' ELSE '_model_level_' || prompt_level END AS place,
    item,
    coalesce(unit::VARCHAR, name) AS cluster,
    CASE WHEN low = high THEN low END AS score
FROM (
    SELECT 'violation' AS metric, system, judge, prompt_level, name, unit, item,
        low::DOUBLE AS low, high::DOUBLE AS high
    FROM cimemories_violation_items(reading)
    UNION ALL
    SELECT 'completeness', system, judge, prompt_level, name, unit, item, low, high
    FROM cimemories_completeness_items(reading)
);

CREATE TABLE item AS
FROM cimemories_items('cimemories_paper', 'paper');

INSERT INTO item
FROM cimemories_items('cimemories_released_code', 'released-code')
WHERE getvariable('named');
