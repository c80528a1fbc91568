-- The paper's Table 2 of a labelled set: what there is to share and to withhold in a kept context.
-- A context with nothing to share or nothing to withhold is discarded.
WITH context AS (
    SELECT
        source,
        profile,
        place,
        length(labels) AS attributes,
        length(labels) - length(replace(labels, 'n', '')) AS to_share,
        length(labels) - length(replace(labels, 'i', '')) AS to_withhold,
        to_share > 0 AND to_withhold > 0 AS kept
    FROM stage_label
),
profile AS (
    SELECT source, profile, max(attributes) AS attributes, count(*) FILTER (kept) AS contexts_kept
    FROM context
    GROUP BY ALL
)
SELECT
    source,
    (SELECT count(*) FROM profile WHERE profile.source = context.source) AS profiles,
    (SELECT favg(attributes ORDER BY attributes) FROM profile
        WHERE profile.source = context.source) AS attributes_a_profile,
    (SELECT favg(contexts_kept ORDER BY contexts_kept) FROM profile
        WHERE profile.source = context.source) AS contexts_kept_a_profile,
    count(*) FILTER (NOT kept) AS contexts_discarded,
    favg(to_share ORDER BY to_share) FILTER (kept) AS to_share_mean,
    stddev_samp(to_share ORDER BY to_share) FILTER (kept) AS to_share_sd,
    favg(to_withhold ORDER BY to_withhold) FILTER (kept) AS to_withhold_mean,
    stddev_samp(to_withhold ORDER BY to_withhold) FILTER (kept) AS to_withhold_sd,
    1 - sum(to_share + to_withhold) / sum(attributes) AS ambiguous_share
FROM context
GROUP BY source
ORDER BY source
