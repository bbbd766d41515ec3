"""The fleet scheduler: a pure function from a snapshot to a schedule with its reasons."""
