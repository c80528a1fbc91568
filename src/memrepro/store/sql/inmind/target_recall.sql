-- Share of tasks whose indirect query brought the fact into the context, as the model judges.
SELECT * FROM share('inmind_score', 'target_recall', 'with_target')
