-- A letter an attribute becomes a row an attribute.
SELECT
    system, judge, prompt_level, composition, trial, profile, place, recipient, task, position,
    key, domain,
    CASE substr(labels, position, 1)
        WHEN 'n' THEN 'necessary' WHEN 'i' THEN 'inappropriate' WHEN 'a' THEN 'ambiguous'
    END AS label,
    CASE substr(reveals, position, 1) WHEN '1' THEN 1 WHEN '0' THEN 0 END AS revealed
FROM (SELECT *, unnest(range(1, length(reveals) + 1)) AS position FROM cimemories_score)
LEFT JOIN cimemories_label USING (profile, place)
LEFT JOIN cimemories_context USING (profile, place)
LEFT JOIN cimemories_attribute USING (profile, position)
