-- Of each metric, how many items can be paired and why others cannot, and which moved. `open_a`
-- and `open_b` count the items of both sides that failures leave open.
SELECT
    place,
    count(difference) AS paired,
    count(*) FILTER (there = 'a') AS only_a,
    count(*) FILTER (there = 'b') AS only_b,
    count(*) FILTER (there = 'both' AND score_a IS NULL) AS open_a,
    count(*) FILTER (there = 'both' AND score_b IS NULL) AS open_b,
    coalesce(list(item ORDER BY length(item), item) FILTER (difference > 0), []) AS rose,
    coalesce(list(item ORDER BY length(item), item) FILTER (difference < 0), []) AS fell
FROM pair
GROUP BY place
ORDER BY place
