-- Rows of the Hugging Face edition. The recipient and the task stand in the prompt's request.
WITH request AS (
    SELECT
        *,
        regexp_extract(
            prompt,
            'message to (.+?) to achieve the following purpose: (.+)\.',
            ['recipient', 'task']
        ) AS asked
    FROM imported
)
SELECT
    name::VARCHAR AS name,
    attribute::VARCHAR AS attribute,
    memory_statement::VARCHAR AS statement,
    nullif(asked.recipient, '') AS recipient,
    nullif(asked.task, '') AS task,
    label::DOUBLE AS label
FROM request
