-- Violation and completeness by prompt level, over the systems whose messages a model composed, in
-- the paper's reading: the mean over systems of each one's mean over profiles.
WITH violation AS (
    WITH scored AS (FROM cimemories_violation('cimemories_paper_kept'))
    FROM cimemories_over_profiles('scored')
),
completeness AS (
    WITH scored AS (FROM cimemories_completeness('cimemories_paper_kept'))
    FROM cimemories_over_profiles('scored')
)
SELECT
    prompt_level,
    count(*) AS systems,
    favg(violation.low ORDER BY violation.low) AS violation_low,
    favg(violation.high ORDER BY violation.high) AS violation_high,
    favg(completeness.low ORDER BY completeness.low) AS completeness_low,
    favg(completeness.high ORDER BY completeness.high) AS completeness_high
FROM violation
JOIN completeness USING (system, judge, prompt_level)
WHERE judge = 'model'
GROUP BY prompt_level
ORDER BY prompt_level
