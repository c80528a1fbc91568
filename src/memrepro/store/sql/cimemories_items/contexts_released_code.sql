-- How many contexts are kept and discarded, and how many of the profiles' private keys are dropped.
SELECT
    count(*) FILTER (released_code) AS contexts_scored,
    count(*) FILTER (NOT released_code) AS contexts_discarded,
    (
        SELECT count(DISTINCT (profile, position))
        FROM cimemories_ruling
        WHERE released_code_dropped
    ) AS private_keys_excluded
FROM cimemories_kept
