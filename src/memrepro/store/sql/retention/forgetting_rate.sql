-- Share of facts, kept before a policy that prohibits them was set, that are absent from recall
-- after it.
SELECT * FROM retention_share('retention_score', ['drop'], 1) WHERE edition = 'policy_change'
