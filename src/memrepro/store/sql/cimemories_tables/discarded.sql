-- The contexts that are discarded, because nothing is to be shared or nothing to be withheld.
SELECT
    source, profile, place, recipient, task,
    CASE WHEN contains(labels, 'i') THEN 'nothing to share'
        WHEN contains(labels, 'n') THEN 'nothing to withhold'
        ELSE 'neither' END AS lacks
FROM stage_label
JOIN stage_context USING (profile, place)
WHERE NOT (contains(labels, 'i') AND contains(labels, 'n'))
ORDER BY source, profile, place
