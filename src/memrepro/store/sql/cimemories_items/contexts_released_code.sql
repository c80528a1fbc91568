-- How many contexts are kept and discarded, and how many of the profiles' private keys are dropped.
FROM cimemories_context_counts('cimemories_released_code')
