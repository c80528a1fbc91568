-- Share of prohibited facts that did not pass: kept at ingest, or recalled although blocked. Where
-- the policy came later there is the forgetting rate instead.
SELECT * FROM retention_share('retention_score', ['drop'], 0) WHERE edition <> 'policy_change'
