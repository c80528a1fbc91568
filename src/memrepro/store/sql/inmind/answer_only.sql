-- Share of tasks whose answer to the indirect query, seen alone, acts on the fact.
SELECT * FROM share('inmind_score', 'answer_only', 'with_target')
