-- What is told by recipient, in the paper's reading: of the pairs of attribute and kept context, the
-- share told in any trial, where it is inappropriate and where it is necessary.
WITH pair AS (
    FROM cimemories_kept('cimemories_paper', 'inappropriate')
    UNION ALL
    FROM cimemories_kept('cimemories_paper', 'necessary')
)
SELECT
    system, judge, prompt_level, recipient, ruled AS label,
    count(*) AS pairs,
    count(*) FILTER (n_revealed > 0) / count(*) AS low,
    count(*) FILTER (n_revealed > 0 OR n_scored < n_total) / count(*) AS high
FROM pair
GROUP BY ALL
ORDER BY ALL
