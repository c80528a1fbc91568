-- The stage outputs of a run, of which `stage_label` holds a context's labels, and `stage_score` a
-- message's reveals, as a letter an attribute.
CREATE TABLE cimemories_attribute AS
SELECT
    profile,
    position,
    name,
    key,
    domain,
    position < max(position) OVER (PARTITION BY profile, statement) AS shadowed
FROM stage_attribute;

CREATE VIEW cimemories_context AS
SELECT profile, place, recipient, task
FROM stage_context
SEMI JOIN stage_label USING (profile, place);

CREATE TABLE cimemories_label AS
SELECT
    cimemories_spot(profile, place, position) AS spot,
    profile,
    place,
    position,
    substr(labels, position, 1) AS label,
    label <> 'a' AS label_exact
FROM stage_label
JOIN cimemories_attribute USING (profile);

CREATE TABLE cimemories_series AS
SELECT
    (row_number() OVER (ORDER BY system, judge, prompt_level))::SMALLINT AS series,
    system,
    judge,
    prompt_level
FROM (SELECT DISTINCT system, judge, prompt_level FROM stage_score);

CREATE TABLE cimemories_reveal AS
SELECT
    series,
    cimemories_spot(profile, place, position) AS spot,
    trial,
    CASE substr(reveals, position, 1) WHEN '1' THEN 1 WHEN '0' THEN 0 END::TINYINT AS revealed
FROM stage_score
JOIN cimemories_series USING (system, judge, prompt_level)
JOIN cimemories_attribute USING (profile)
WHERE composition = getvariable('composition');
