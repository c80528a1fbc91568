-- Share of tasks whose indirect query brought the target's user message into the context.
SELECT * FROM share('inmind_score', 'target_recall_verbatim', 'with_target')
