-- Retention's items, a fact under a policy each; clustered by policy; null where it was not scored.
CREATE TABLE item AS
WITH metric AS (
    SELECT *, unnest(CASE
        WHEN expected = 'store' THEN ['accuracy', 'allowed_rate']
        WHEN edition = 'policy_change' THEN ['accuracy', 'forgetting_rate']
        ELSE ['accuracy', 'leak_rate']
    END) AS metric
    FROM retention_score
)
SELECT
    edition || '/' || system || '/' || mode || '/' || metric AS place,
    policy_id || '/' || fact_id AS item,
    policy_id AS cluster,
    CASE WHEN metric = 'leak_rate' THEN 1 - score ELSE score END::DOUBLE AS score
FROM metric;

DROP TABLE retention_score;
