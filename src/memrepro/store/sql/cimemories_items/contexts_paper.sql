-- How many contexts are kept and discarded. No key is dropped.
SELECT
    count(*) FILTER (paper) AS contexts_scored,
    count(*) FILTER (NOT paper) AS contexts_discarded,
    0 AS private_keys_excluded
FROM cimemories_kept
