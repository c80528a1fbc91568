-- Share of tasks whose direct query brought the fact into context and answer, as the model judges.
SELECT * FROM share('inmind_score', 'naive_recall', 'with_target')
