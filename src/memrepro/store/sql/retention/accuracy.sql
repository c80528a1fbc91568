-- Share of all cells that passed.
SELECT * FROM retention_share('retention_score', ['drop', 'store'], 1)
