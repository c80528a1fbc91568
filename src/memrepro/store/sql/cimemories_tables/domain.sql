-- What is told by information domain, in the paper's reading: of the pairs of attribute and kept context, the
-- share told in any trial, where it is inappropriate and where it is necessary.
SELECT
    system, judge, prompt_level, domain,
    CASE WHEN needed THEN 'necessary' ELSE 'inappropriate' END AS label,
    count(*) AS pairs,
    count(*) FILTER (n_revealed > 0) / count(*) AS low,
    count(*) FILTER (n_revealed > 0 OR n_scored < n_total) / count(*) AS high
FROM cimemories_paper
JOIN cimemories_attribute USING (profile, position)
JOIN cimemories_series USING (series)
GROUP BY ALL
ORDER BY ALL
