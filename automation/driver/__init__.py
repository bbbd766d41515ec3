"""The driver: reads what is wanted and what exists, schedules between previews, and applies step by step.

Everything it decides is pure and lies elsewhere (``scheduling``, ``planning``); everything it does goes through the
``Runner`` protocol. It prints nothing: it reports to a listener and returns values.
"""
