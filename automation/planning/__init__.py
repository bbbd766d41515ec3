"""From a schedule to a target lock, and from what exists to the target in safe steps; all of it pure."""
