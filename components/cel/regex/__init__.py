"""Regular expressions with the meaning of RE2: the syntax of Go, leftmost-first matches, and linear time.

``pattern.compile_pattern`` is the entrance. The interpreter's own ``re`` is only ever used for patterns whose worst
case is small, translated from the parsed form.
"""
