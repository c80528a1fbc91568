-- What was recalled: InMind's contexts and CIMemories' selections.
SELECT
    'inmind' AS benchmark,
    system,
    task_id::VARCHAR AS item,
    query_kind,
    condition,
    len(items) AS recalled,
    context_sha256,
    state_before,
    state_after
FROM inmind_context
UNION ALL BY NAME
SELECT
    'cimemories' AS benchmark,
    system,
    profile || '/' || place AS item,
    composition,
    len(positions) AS recalled,
    context_sha256,
    state_before,
    state_after
FROM cimemories_selection
