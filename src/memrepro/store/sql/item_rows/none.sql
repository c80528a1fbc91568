-- The items of a run without score rows.
CREATE TABLE item (place VARCHAR, item VARCHAR, cluster VARCHAR, score DOUBLE)
