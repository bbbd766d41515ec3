"""Parse a regular expression of Go's syntax to postfix code; nothing recurses, whatever the nesting.

What is refused is what ``regexp/syntax/parse.go`` refuses with the flags of ``regexp.Compile``. The limits on the tree
that Go builds are in ``components.cel.regex.tree``; the limit on repetitions inside repetitions (``repeatIsValid``: at
most 1,000 copies of the innermost, and nothing in one that occurs no time counts) is here.
"""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from components.cel.regex.charset import MAX_RUNE, PERL, POSIX, CharSet, Ranges, folded, negated
from components.cel.regex.code import MAX_CODE, Code, RegexError, repeated
from components.cel.regex.names import CATEGORIES, RELEASES, releases_that_know
from components.cel.regex.node import ANY, CLASS, NOT_NEWLINE, PLUS, REPEAT, STAR
from components.cel.regex.tree import Tree, TreeError, UnmeasuredError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, NoReturn

MAX_REPEAT: Final = 1000
_OCTAL: Final = frozenset("01234567")
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_SIMPLE: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_NAME: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_NEWLINE: Final[Ranges] = ((10, 10),)


class _Level:
    """What is open at one parenthesis: how many branches are finished, and the items of the running one.

    The weight of an item is how often what is repeated most in it occurs; an item begins at ``starts`` in the code.
    """

    __slots__ = ("branches", "flags", "starts", "weight", "weights")

    def __init__(self, flags: frozenset[str]) -> None:
        self.flags = flags
        self.branches = 0
        self.weight = 0
        self.starts: list[int] = []
        self.weights: list[int] = []


class RegexParser:
    """One parse."""

    __slots__ = ("_code", "_flags", "_levels", "_pos", "_repeated", "_text", "_tree", "releases", "unsupported")

    def __init__(self, text: str) -> None:
        self._text = text
        self._pos = 0
        self._flags: frozenset[str] = frozenset()
        self._levels = [_Level(frozenset())]
        self._repeated = False
        self._code: Code = []
        self._tree = Tree()
        self.releases = RELEASES  # the releases of Go that take the pattern
        self.unsupported = ""

    def parse(self) -> Code:
        """Give the postfix code of the whole pattern, or raise ``RegexError``."""
        try:
            while self._pos < len(self._text):
                self._item(self._text[self._pos])
            self._tree.end(self._flags)
        except TreeError as error:
            self._fail(str(error))
        except UnmeasuredError:
            self.unsupported = "the pattern is too large"
            return []
        if len(self._levels) > 1:
            self._fail("missing closing )")
        self._finish_level()
        return self._code

    def _item(self, char: str) -> None:
        repeated, self._repeated = self._repeated, False
        if char in "*+?" or (char == "{" and self._counts() is not None):
            self._repeat(again=repeated)
        elif char == "(":
            self._open()
        elif char == ")":
            self._close()
        elif char == "|":
            self._pos += 1
            self._tree.bar(self._flags)
            self._finish_branch()
        else:
            self._single(char)

    def _fail(self, message: str) -> NoReturn:
        raise RegexError.of(message, self._text)

    def _push(self, op: str, value: object) -> None:
        level = self._levels[-1]
        level.starts.append(len(self._code))
        level.weights.append(0)
        self._code.append((op, value, False))

    def _single(self, char: str) -> None:
        """Parse one item that is no parenthesis, bar or repetition."""
        self._pos += 1
        flags = self._flags
        if char == "^":
            self._push_assertion("line-start" if "m" in flags else "start")
        elif char == "$":
            self._push_assertion("line-end" if "m" in flags else "end")
        elif char == ".":
            every = "s" in flags
            self._push_set(CharSet(((0, MAX_RUNE),) if every else negated(_NEWLINE)), ANY if every else NOT_NEWLINE)
        elif char == "[":
            self._class()
        elif char == "\\":
            self._escaped()
        else:
            self._literal(ord(char))

    def _push_assertion(self, kind: str) -> None:
        self._tree.assertion(self._flags)
        self._push("assert", kind)

    def _push_set(self, chars: CharSet, op: int = CLASS) -> None:
        self._tree.chars(chars, self._flags, op)
        self._push("set", chars)

    def _literal(self, code: int) -> None:
        self._tree.literal(code, self._flags)
        ranges: Ranges = ((code, code),)
        self._push("set", CharSet(folded(ranges) if "i" in self._flags else ranges))

    def _escaped(self) -> None:
        char = self._text[self._pos : self._pos + 1]
        assertion = {"A": "start", "z": "end", "b": "word", "B": "no-word"}.get(char)
        if assertion:
            self._pos += 1
            self._push_assertion(assertion)
        elif char == "Q":
            end = self._text.find("\\E", self._pos)
            stop = len(self._text) if end < 0 else end
            for literal in self._text[self._pos + 1 : stop]:
                self._literal(ord(literal))
            self._pos = stop + (0 if end < 0 else 2)
        else:
            named = self._named_class()
            if named is not None:
                self._push_set(named)
            else:
                self._literal(self._escape())

    def _named_class(self) -> CharSet | None:
        """Parse a class of Perl or Unicode; the position is after the backslash."""
        char = self._text[self._pos : self._pos + 1]
        if char and char.lower() in PERL:
            self._pos += 1
            return CharSet(self._group(PERL[char.lower()], negate=char.isupper()))
        if char not in {"p", "P"}:
            return None
        sign = char == "p"
        self._pos += 1
        name = self._text[self._pos : self._pos + 1]
        if name == "{":
            end = self._text.find("}", self._pos)
            if end < 0:
                self._fail("invalid character class range")
            name = self._text[self._pos + 1 : end]
            self._pos = end + 1
        else:
            self._pos += 1
        if name.startswith("^"):
            sign, name = not sign, name[1:]
        self.releases &= releases_that_know(name)
        if not self.releases:
            self._fail("invalid character class range")
        if name == "Any":
            return CharSet(((0, MAX_RUNE),) if sign else ())
        if name in CATEGORIES:
            return CharSet((), ((name, sign),), fold="i" in self._flags)
        self.unsupported = f"the Unicode class {name!r} is not supported"
        return CharSet(())

    def _group(self, ranges: Ranges, *, negate: bool) -> Ranges:
        """Give a class of Perl or POSIX; the case is folded before it is negated (``appendGroup``)."""
        ranges = folded(ranges) if "i" in self._flags else ranges
        return negated(ranges) if negate else ranges

    def _escape(self) -> int:  # noqa: RET503 - the last line always raises
        """Decode an escape that stands for one character; the position is after the backslash."""
        if self._pos >= len(self._text):
            self._fail("trailing backslash at end of expression")
        char = self._text[self._pos]
        self._pos += 1
        if char in _OCTAL:
            end = self._pos
            while end < len(self._text) and end < self._pos + 2 and self._text[end] in _OCTAL:
                end += 1
            if char == "0" or end > self._pos:
                digits = self._text[self._pos - 1 : end]
                self._pos = end
                return int(digits, 8)
        elif char == "x":
            return self._hexadecimal()
        elif char in _SIMPLE:
            return _SIMPLE[char]
        elif ord(char) < 128 and not char.isalnum():
            return ord(char)
        self._fail("invalid escape sequence")

    def _hexadecimal(self) -> int:
        text, pos = self._text, self._pos
        if text[pos : pos + 1] == "{":
            end = text.find("}", pos)
            digits = text[pos + 1 : end] if end > 0 else ""
            self._pos = end + 1
        else:
            digits = text[pos : pos + 2]
            digits = digits if len(digits) == 2 else ""
            self._pos = pos + 2
        if not digits or any(char not in _HEX for char in digits) or int(digits.lstrip("0")[:8] or "0", 16) > MAX_RUNE:
            self._fail("invalid escape sequence")
        return int(digits, 16)

    def _class(self) -> None:
        """Parse a bracket class; the position is after the bracket."""
        text = self._text
        inverted = text[self._pos : self._pos + 1] == "^"
        self._pos += inverted
        ranges: list[tuple[int, int]] = []
        categories: list[tuple[str, bool]] = []
        first = True
        while first or text[self._pos : self._pos + 1] != "]":
            if self._pos >= len(text):
                self._fail("missing closing ]")
            first = False
            found = self._posix() if text.startswith("[:", self._pos) else None
            if found is None and text[self._pos] == "\\":
                self._pos += 1
                found = self._named_class()
                self._pos -= found is None
            if found is not None:
                ranges += found.ranges
                categories += found.categories
                continue
            low = high = self._class_char()
            if text.startswith("-", self._pos) and not text.startswith("-]", self._pos) and self._pos + 1 < len(text):
                self._pos += 1
                high = self._class_char()
                if high < low:
                    self._fail("invalid character class range")
            ranges += self._group(((low, high),), negate=False)
        self._pos += 1
        self._push_set(CharSet(tuple(ranges), tuple(categories), inverted=inverted, fold="i" in self._flags))

    def _posix(self) -> CharSet | None:
        end = self._text.find(":]", self._pos + 2)
        if end < 0:
            return None
        name = self._text[self._pos + 2 : end]
        ranges = POSIX.get(name.removeprefix("^"))
        if ranges is None:
            self._fail("invalid character class range")
        self._pos = end + 2
        return CharSet(self._group(ranges, negate=name.startswith("^")))

    def _class_char(self) -> int:
        char = self._text[self._pos]
        self._pos += 1
        return self._escape() if char == "\\" else ord(char)

    def _open(self) -> None:
        self._pos += 1
        text = self._text
        before = self._flags
        capture = True
        if text.startswith("?", self._pos):
            if text.startswith(("?P<", "?<"), self._pos):
                self._group_name()
            elif not self._read_flags():
                return
            else:
                capture = False
        self._tree.open(before, capture=capture)
        level = _Level(before)
        self._levels[-1].starts.append(len(self._code))
        self._levels.append(level)

    def _group_name(self) -> None:
        start = self._text.index("<", self._pos) + 1
        end = self._text.find(">", start)
        name = self._text[start:end] if end > 0 else ""
        if not name or any(char not in _NAME for char in name):
            self._fail("invalid named capture")
        self._pos = end + 1

    def _read_flags(self) -> bool:  # noqa: RET503 - the last line always raises
        """Read ``?flags:`` or ``?flags)``; tell whether a group was opened."""
        pos = self._pos + 1
        flags = set(self._flags)
        sign, seen = True, False
        while pos < len(self._text):
            char = self._text[pos]
            pos += 1
            if char in "imsU":
                flags.add(char) if sign else flags.discard(char)
                seen = True
            elif char == "-" and sign:
                sign, seen = False, False
            elif char in ":)" and (sign or seen):
                self._flags = frozenset(flags)
                self._pos = pos
                return char == ":"
            else:
                break
        self._fail("invalid or unsupported Perl syntax")

    def _close(self) -> None:
        if len(self._levels) == 1:
            self._fail("unexpected )")
        self._pos += 1
        self._tree.close(self._flags)
        self._flags = self._levels[-1].flags
        weight = self._finish_level()
        self._levels.pop()
        self._levels[-1].weights.append(weight)

    def _finish_branch(self) -> None:
        level = self._levels[-1]
        if len(level.starts) != 1:
            self._code.append(("cat", len(level.starts), False))
        level.branches += 1
        level.weight = max(level.weight, *level.weights, 0)
        level.starts, level.weights = [], []

    def _finish_level(self) -> int:
        """Give the weight of a whole group, whose code is complete then."""
        self._finish_branch()
        level = self._levels[-1]
        if level.branches > 1:
            self._code.append(("alt", level.branches, False))
        return level.weight

    def _counts(self) -> tuple[int, int, int] | None:
        """Read ``{n}``, ``{n,}`` or ``{n,m}``: (least, most or -1, end), or nothing when it is a literal brace."""
        end = self._text.find("}", self._pos)
        body = self._text[self._pos + 1 : end] if end > 0 else ""
        low, comma, high = body.partition(",")
        if not _number(low) or (high and not _number(high)):
            return None
        least = min(int(low[:6]), MAX_REPEAT + 1) if len(low) <= 6 else MAX_REPEAT + 1
        most = least
        if comma:
            most = -1 if not high else int(high[:6]) if len(high) <= 6 else MAX_REPEAT + 1
        return least, most, end + 1

    def _repeat(self, *, again: bool) -> None:
        char = self._text[self._pos]
        counted = self._counts() if char == "{" else None
        least, most, self._pos = counted or ({"*": (0, -1), "+": (1, -1), "?": (0, 1)}[char] + (self._pos + 1,))
        if least > MAX_REPEAT or most > MAX_REPEAT or 0 <= most < least:
            self._fail("invalid repeat count")
        greedy = True
        if self._text.startswith("?", self._pos):
            self._pos += 1
            greedy = False
        if "U" in self._flags:
            greedy = not greedy
        if again:
            self._fail("invalid nested repetition operator")
        self._repeated = True
        level = self._levels[-1]
        if not level.starts:
            self._fail("missing argument to repetition operator")
        op = REPEAT if counted else STAR if char == "*" else PLUS
        self._tree.repeat(op, (least, most), self._flags, greedy=greedy)
        if counted:
            times = most if most >= 0 else least
            weight = 0 if most == 0 else max(level.weights[-1], 1) * max(times, 1)
            if weight > MAX_REPEAT:
                self._fail("invalid repeat count")
            level.weights[-1] = weight
        start = level.starts[-1]
        if start + (len(self._code) - start) * max(least, most, 1) > MAX_CODE:
            self.unsupported = "the repetitions of the pattern are too many"
        else:
            self._code[start:] = repeated(self._code[start:], least, most, greedy=greedy)


def _number(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")
