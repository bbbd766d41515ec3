"""What is shown: pure models of a plan, a status, an explanation, and their text, tables and JSON.

A renderer takes frozen values and returns lines of styled spans or plain JSON; it opens no terminal and knows no
colour codes. ``automation.cli`` prints what it returns.
"""
