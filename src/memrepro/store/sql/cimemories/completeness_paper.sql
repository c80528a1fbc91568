WITH scored AS (FROM cimemories_completeness('cimemories_paper'))
FROM cimemories_over_profiles('scored')
