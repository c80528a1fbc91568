-- A scored cell with what the memory did, which knows the fact by a number alone.
SELECT score.*, rule, guard_key, n_recalled, policy, text
FROM retention_score AS score
LEFT JOIN (
    SELECT edition, policy_id, fact_id AS number, name AS fact_id, policy, text
    FROM retention_cell
) USING (edition, policy_id, fact_id)
LEFT JOIN (
    SELECT edition, mode, policy_id, fact_id AS number, system, rule, guard_key, n_recalled
    FROM retention_observation
) USING (edition, mode, policy_id, number, system)
