WITH scored AS (FROM cimemories_completeness('cimemories_paper_kept'))
FROM cimemories_over_profiles('scored')
