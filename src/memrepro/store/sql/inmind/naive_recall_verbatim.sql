-- Share of tasks whose direct query brought the target's user message into the context.
SELECT * FROM share('inmind_score', 'naive_recall_verbatim', 'with_target')
