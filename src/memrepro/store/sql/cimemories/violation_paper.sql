WITH scored AS (FROM cimemories_violation('cimemories_paper'))
FROM cimemories_over_profiles('scored')
