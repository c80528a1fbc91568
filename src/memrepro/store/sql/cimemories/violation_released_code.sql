WITH scored AS (FROM cimemories_violation('cimemories_released_code'))
FROM cimemories_over_profiles('scored')
