WITH scored AS (FROM cimemories_completeness('cimemories_released_code_kept'))
FROM cimemories_over_profiles('scored')
