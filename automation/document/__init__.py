"""Documents about scheduling: a snapshot and its answer as files that people read, keep and send."""
