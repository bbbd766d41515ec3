"""The driver: scheduling, planning, the engine, and the command line."""
