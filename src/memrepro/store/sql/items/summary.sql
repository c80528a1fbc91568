-- Of each metric, how many items can be paired and why others cannot, and which moved. `open_a`
-- and `open_b` count the items of both sides that failures leave open. Ids are in the order of their
-- numbers.
WITH ordered AS (
    SELECT
        *,
        row(length(split_part(item, '/', 1)), split_part(item, '/', 1), length(item), item)
            AS turn
    FROM pair
)
SELECT
    place,
    count(difference) AS paired,
    count(*) FILTER (there = 'a') AS only_a,
    count(*) FILTER (there = 'b') AS only_b,
    count(*) FILTER (there = 'both' AND score_a IS NULL) AS open_a,
    count(*) FILTER (there = 'both' AND score_b IS NULL) AS open_b,
    coalesce(list(item ORDER BY turn) FILTER (difference > 0), []) AS rose,
    coalesce(list(item ORDER BY turn) FILTER (difference < 0), []) AS fell
FROM ordered
GROUP BY place
ORDER BY place
