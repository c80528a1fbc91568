-- Share of tasks whose answer to the indirect query uses the fact, as judged: the paper's figure.
SELECT * FROM share('inmind_score', 'application', 'with_target')
