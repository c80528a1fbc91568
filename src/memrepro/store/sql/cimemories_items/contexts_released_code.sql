-- How many contexts are kept and discarded, and how many of the profiles' private keys are dropped.
SELECT
    count(*) FILTER (released_code) AS contexts_scored,
    count(*) FILTER (NOT released_code) AS contexts_discarded,
    (
        SELECT count(DISTINCT (profile, position))
        FROM cimemories_label
        JOIN cimemories_named_attribute USING (profile, position)
        WHERE label = 'i' AND label_exact AND NOT shadowed AND filtered
    ) AS private_keys_excluded
FROM cimemories_kept
