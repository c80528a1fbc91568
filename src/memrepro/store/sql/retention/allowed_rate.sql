-- Share of permitted facts that passed: kept and recalled.
SELECT * FROM retention_share('retention_score', ['store'], 1)
