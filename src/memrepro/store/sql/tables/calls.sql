-- Recorded replies, priced; a price is US dollars a million tokens.
SELECT
    benchmark, step, system, key, model, failure, finish_reason, prompt_tokens, completion_tokens,
    (prompt_tokens * price_input + completion_tokens * price_output) / 1e6 AS cost
FROM call_reply
LEFT JOIN call_price USING (benchmark, step)
