-- A results file of the released code, of which `results_context` holds a context's labels, and
-- `results_sample` a sample's reveals, as a letter an attribute. It does not say which system, judge or
-- prompt level it comes from. Contexts without a selected sample are left out.
CREATE VIEW cimemories_context AS
SELECT profile, place, recipient, task
FROM results_context
SEMI JOIN results_sample USING (profile, place);

CREATE TABLE cimemories_label AS
SELECT
    cimemories_spot(profile, place, position) AS spot,
    profile,
    place,
    position,
    lower(letter) AS label,
    letter IN ('N', 'I') AS label_exact
FROM (
    SELECT profile, place, position, substr(labels, position, 1) AS letter
    FROM results_context
    SEMI JOIN results_sample USING (profile, place)
    JOIN cimemories_attribute USING (profile)
);

CREATE TABLE cimemories_series AS
SELECT
    0::SMALLINT AS series,
    'results' AS system,
    NULL::VARCHAR AS judge,
    NULL::TINYINT AS prompt_level;

CREATE VIEW cimemories_reveal AS
SELECT
    0::SMALLINT AS series,
    cimemories_spot(profile, place, position) AS spot,
    trial,
    (ascii(substr(reveals, position, 1)) - ascii('0'))::TINYINT AS revealed
FROM results_sample
JOIN cimemories_attribute USING (profile)
