"""The command line: one module per verb, and the sinks that everything is printed through.

Importing a verb's module costs nothing: the engine, cloud SDKs and models are imported when the verb runs, so that
``berth --help`` answers at once.
"""
