"""Whether this run has printed its one document for machines.

A plan that may not be applied is printed and then fails: the plan is the document, the error goes to stderr and into
the exit code.
"""


class Answered:
    """One run's mark."""

    given = False


ANSWERED = Answered()
"""The mark of the run in this process; the command line clears it when it begins."""
