-- What a run's labels are about, where the data are not at hand: places and positions for names.
CREATE TABLE stage_context AS
SELECT profile, place, place::VARCHAR AS recipient, NULL::VARCHAR AS task
FROM stage_label;

CREATE TABLE stage_attribute AS
SELECT
    profile,
    unnest(range(1, size + 1))::INTEGER AS position,
    profile::VARCHAR AS name,
    position::VARCHAR AS key,
    NULL::VARCHAR AS domain,
    position::VARCHAR AS statement
FROM (SELECT profile, max(length(labels)) AS size FROM stage_label GROUP BY profile);
