"""Parse a regular expression of Go's syntax to postfix code; nothing recurses, whatever the nesting."""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from components.cel.regex.charset import CATEGORIES, MAX_RUNE, PERL, POSIX, CharSet, Ranges, folded, negated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, NoReturn, TypeAlias

Op: TypeAlias = tuple[str, object, bool]
Code: TypeAlias = list[Op]
MAX_REPEAT: Final = 1000
MAX_CODE: Final = 20_000
_MAX_HEIGHT: Final = 1000
_OCTAL: Final = frozenset("01234567")
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_SIMPLE: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_NAME: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_NEWLINE: Final[Ranges] = ((10, 10),)
_SCRIPT_LIKE: Final = _NAME | {" ", "-"}


class RegexError(ValueError):
    """The pattern is refused; ``unsupported`` when Go would take it and this engine does not."""

    def __init__(self, message: str, *, unsupported: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.unsupported = unsupported


class _Level:
    """What is open at one parenthesis: finished branches and the items of the running one, with their repeats."""

    __slots__ = ("branches", "flags", "items", "weights")

    def __init__(self, flags: frozenset[str]) -> None:
        self.flags = flags
        self.branches: list[Code] = []
        self.items: list[Code] = []
        self.weights: list[int] = []


class RegexParser:
    """One parse."""

    __slots__ = ("_flags", "_levels", "_pos", "_repeated", "_text", "unsupported")

    def __init__(self, text: str) -> None:
        self._text = text
        self._pos = 0
        self._flags: frozenset[str] = frozenset()
        self._levels = [_Level(frozenset())]
        self._repeated = False
        self.unsupported = ""

    def parse(self) -> Code:
        """Give the postfix code of the whole pattern."""
        while self._pos < len(self._text):
            char = self._text[self._pos]
            repeated, self._repeated = self._repeated, False
            if char in "*+?" or (char == "{" and self._counts() is not None):
                self._repeat(again=repeated)
            elif char == "(":
                self._open()
            elif char == ")":
                self._close()
            elif char == "|":
                self._pos += 1
                self._finish_branch(self._levels[-1])
            else:
                self._single(char)
        if len(self._levels) > 1:
            self._fail("missing closing )")
        return self._level_code(self._levels[0])[0]

    def _fail(self, message: str) -> NoReturn:
        raise RegexError(f"error parsing regexp: {message}: `{self._text[:60]}`")

    def _push(self, code: Code, weight: int = 0) -> None:
        level = self._levels[-1]
        level.items.append(code)
        level.weights.append(weight)

    def _single(self, char: str) -> None:
        """Parse one item that is no parenthesis, bar or repetition."""
        self._pos += 1
        flags = self._flags
        if char == "^":
            self._push([("assert", "line-start" if "m" in flags else "start", False)])
        elif char == "$":
            self._push([("assert", "line-end" if "m" in flags else "end", False)])
        elif char == ".":
            self._push_set(CharSet(((0, MAX_RUNE),) if "s" in flags else negated(_NEWLINE)))
        elif char == "[":
            self._class()
        elif char == "\\":
            self._escaped()
        else:
            self._literal(ord(char))

    def _push_set(self, chars: CharSet) -> None:
        self._push([("set", chars, False)])

    def _literal(self, code: int) -> None:
        ranges: Ranges = ((code, code),)
        self._push_set(CharSet(folded(ranges) if "i" in self._flags else ranges))

    def _escaped(self) -> None:
        char = self._text[self._pos : self._pos + 1]
        assertion = {"A": "start", "z": "end", "b": "word", "B": "no-word"}.get(char)
        if assertion:
            self._pos += 1
            self._push([("assert", assertion, False)])
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

    def _named_class(self) -> CharSet | None:  # noqa: RET503 - the last line always raises
        """Parse a class of Perl or Unicode; the position is after the backslash."""
        char = self._text[self._pos : self._pos + 1]
        if char and char.lower() in PERL:
            self._pos += 1
            ranges = PERL[char.lower()]
            return CharSet(negated(ranges) if char.isupper() else ranges)
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
        if name == "Any":
            return CharSet(((0, MAX_RUNE),) if sign else ())
        if name in CATEGORIES:
            return CharSet((), ((name, sign),))
        if len(name) > 2 and name[0].isupper() and all(part in _SCRIPT_LIKE for part in name):
            self.unsupported = f"the Unicode class {name!r} is not supported"
            return CharSet(())
        self._fail("invalid character class range")

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
            ranges.append((low, high))
        self._pos += 1
        joined = folded(tuple(ranges)) if "i" in self._flags else tuple(ranges)
        self._push_set(CharSet(joined, tuple(categories), inverted=inverted))

    def _posix(self) -> CharSet | None:
        end = self._text.find(":]", self._pos + 2)
        if end < 0:
            return None
        name = self._text[self._pos + 2 : end]
        ranges = POSIX.get(name.removeprefix("^"))
        if ranges is None:
            self._fail("invalid character class range")
        self._pos = end + 2
        return CharSet(negated(ranges) if name.startswith("^") else ranges)

    def _class_char(self) -> int:
        char = self._text[self._pos]
        self._pos += 1
        return self._escape() if char == "\\" else ord(char)

    def _open(self) -> None:
        if len(self._levels) >= _MAX_HEIGHT:
            self._fail("expression nests too deeply")
        self._pos += 1
        text = self._text
        before = self._flags
        if text.startswith("?", self._pos):
            if text.startswith(("?P<", "?<"), self._pos) and not text.startswith(("?<=", "?<!"), self._pos):
                self._group_name()
            elif not self._read_flags():
                return
        self._levels.append(_Level(before))

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
        level = self._levels.pop()
        self._pos += 1
        self._flags = level.flags
        code, weight = self._level_code(level)
        self._push(code, weight)

    def _finish_branch(self, level: _Level) -> None:
        code: Code = [op for item in level.items for op in item]
        code.append(("cat", len(level.items), False))
        level.branches.append(code)
        level.weights = [max(level.weights, default=0)]
        level.items = []

    def _level_code(self, level: _Level) -> tuple[Code, int]:
        self._finish_branch(level)
        weight = max(level.weights, default=0)
        if len(level.branches) == 1:
            return level.branches[0], weight
        code: Code = [op for branch in level.branches for op in branch]
        code.append(("alt", len(level.branches), False))
        return code, weight

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
        if not level.items:
            self._fail("missing argument to repetition operator")
        code, weight = level.items.pop(), level.weights.pop()
        if counted:
            times = max(least, most, 1)
            weight = max(weight, 1) * times
            if weight > MAX_REPEAT:
                self._fail("invalid repeat count")
        self._push(self._expanded(code, least, most, greedy=greedy), weight)

    def _expanded(self, code: Code, least: int, most: int, *, greedy: bool) -> Code:
        """Write counted repetition out."""
        if (least, most) == (0, -1):
            return [*code, ("star", None, greedy)]
        if (least, most) == (1, -1):
            return [*code, ("plus", None, greedy)]
        if len(code) * max(least, most, 1) > MAX_CODE:
            self.unsupported = "the repetitions of the pattern are too many"
            return code
        found: Code = []
        count = least
        for _ in range(least if most >= 0 else least - 1):
            found += code
        if most < 0:
            found += [*code, ("plus", None, greedy)]
        elif most > least:
            extra = most - least
            found += code * extra
            found += [("quest", None, greedy), *([("cat", 2, False), ("quest", None, greedy)] * (extra - 1))]
            count += 1
        found.append(("cat", count, False))
        return found


def _number(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")
