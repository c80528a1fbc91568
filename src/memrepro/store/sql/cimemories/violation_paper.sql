WITH scored AS (FROM cimemories_violation('cimemories_paper_kept'))
FROM cimemories_over_profiles('scored')
