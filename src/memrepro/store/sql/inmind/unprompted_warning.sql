-- Share of tasks whose answer acts on the fact though the history never held it: over-warning.
SELECT * FROM share('inmind_score', 'unprompted_warning', 'without_target')
