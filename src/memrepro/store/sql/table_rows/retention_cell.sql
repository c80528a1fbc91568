-- A fact under a policy: the number by which the memory knows it, and its name.
CREATE VIEW retention_cell AS
SELECT edition, policy_id, fact_id, policy, text, name
FROM retention_input
JOIN retention_judge_only USING (edition, policy_id, fact_id)
