-- Version 1 to 2: tuned and calibrated sets.

CREATE TABLE fitted_set (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL,               -- of kind and body
    kind TEXT NOT NULL CHECK (kind IN ('tuned', 'calibrated')),
    body TEXT NOT NULL,               -- JSON
    version TEXT NOT NULL,
    created TEXT NOT NULL
) STRICT;
