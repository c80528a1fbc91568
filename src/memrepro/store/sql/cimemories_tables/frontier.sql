-- Completeness against violation in the paper's reading, a row a system, judge and prompt level.
-- On the frontier: no other row tells more of what is needed without telling more of what is not.
-- Bounds in the place of a value that failures leave open.
WITH violation AS (
    WITH scored AS (FROM cimemories_violation('cimemories_paper_kept'))
    FROM cimemories_over_profiles('scored')
),
completeness AS (
    WITH scored AS (FROM cimemories_completeness('cimemories_paper_kept'))
    FROM cimemories_over_profiles('scored')
),
point AS (
    SELECT
        system, judge, prompt_level,
        violation.low AS violation_low,
        violation.high AS violation_high,
        completeness.low AS completeness_low,
        completeness.high AS completeness_high
    FROM violation
    JOIN completeness USING (system, judge, prompt_level)
)
SELECT
    *,
    NOT EXISTS (
        SELECT 1
        FROM point AS other
        WHERE other.judge = point.judge
        AND other.violation_high <= point.violation_low
        AND other.completeness_low >= point.completeness_high
        AND (
            other.violation_high < point.violation_low
            OR other.completeness_low > point.completeness_high
        )
    ) AS on_frontier
FROM point
ORDER BY system, judge, prompt_level
