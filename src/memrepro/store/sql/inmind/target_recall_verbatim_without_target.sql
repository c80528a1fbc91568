-- The same on the history that never held the target: what is found there is not recall.
SELECT * FROM share('inmind_score', 'target_recall_verbatim', 'without_target')
