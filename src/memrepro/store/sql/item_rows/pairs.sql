-- The items of two runs side by side; `there` says on which sides an item stands at all.
CREATE TABLE pair AS
SELECT
    place,
    item,
    coalesce(a.cluster, b.cluster) AS cluster,
    a.score AS score_a,
    b.score AS score_b,
    b.score - a.score AS difference,
    CASE WHEN b.item IS NULL THEN 'a' WHEN a.item IS NULL THEN 'b' ELSE 'both' END AS there
FROM side_a.item AS a
FULL JOIN side_b.item AS b USING (place, item)
