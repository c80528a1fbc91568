WITH scored AS (FROM cimemories_completeness('cimemories_released_code'))
FROM cimemories_over_profiles('scored')
