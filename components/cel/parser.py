"""Parse an expression to its syntax tree, accepting exactly what the parser of Kubernetes accepts.

The grammar is small and has two oddities that this parser keeps: the middle of ``a ? b : c`` takes no unparenthesised
``?``, and ``!`` and ``-`` do not mix without parentheses. Upstream bounds nesting twice, per rule of its grammar and
over all nested operations; both bounds are counted here as there. One nested level costs two interpreter frames, four
where an operator is nested, so that the allowed 250 levels fit the interpreter's own limit from any usual caller.
"""

# ruff: noqa: C901 - one branch per kind of node
# ruff: noqa: PLR0912 - one branch per token
# ruff: noqa: PLR0915 - kept in one frame, see the docstring

from __future__ import annotations

from components.cel import literals
from components.cel.lexer import tokens_of
from components.cel.macros import Macros, expand
from components.cel.problem import SelectorError
from components.cel.syntax import (
    Call,
    Entry,
    Expr,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, NoReturn

MAX_DEPTH: Final = 250
MAX_CODE_POINTS: Final = 100_000
MAX_NODES: Final = 150_000  # more than any text of that length has; only copies that macros make exceed it

_RELATIONS: Final = {
    "<": "_<_", "<=": "_<=_", ">": "_>_", ">=": "_>=_", "==": "_==_", "!=": "_!=_", "in": "@in",
}  # fmt: skip
_SUMS: Final = {"+": "_+_", "-": "_-_"}
_PRODUCTS: Final = {"*": "_*_", "/": "_/_", "%": "_%_"}
_CALCULATIONS: Final = _SUMS | _PRODUCTS
_BINARY: Final = _RELATIONS | _CALCULATIONS
_RESERVED: Final = frozenset({
    "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
    "package", "namespace", "null", "return", "true", "var", "void", "while",
})  # fmt: skip


def parse(expression: str, macros: Macros, *, backquotes: bool = False) -> Expr:
    """Parse one expression; ``backquotes`` admits back-quoted field names."""
    if len(expression) > MAX_CODE_POINTS:
        message = f"the expression has {len(expression)} code points, the limit is {MAX_CODE_POINTS}"
        raise SelectorError("syntax", message)
    return Parser(expression, macros, backquotes=backquotes).parse()


class Parser:
    """One parse; also what macros use to make nodes."""

    __slots__ = (
        "_backquotes",
        "_calc",
        "_expanded",
        "_expr_depth",
        "_ids",
        "_index",
        "_kind",
        "_macros",
        "_relation",
        "_tokens",
        "expression",
    )

    def __init__(self, expression: str, macros: Macros, *, backquotes: bool) -> None:
        self.expression = expression
        self._macros = macros
        self._backquotes = backquotes
        self._tokens = tokens_of(expression)
        self._index = 0
        self._kind = self._tokens[0][0]
        self._ids = 0
        self._expanded = 0
        self._expr_depth = self._relation = self._calc = 0

    def parse(self) -> Expr:
        """Parse the whole expression."""
        node = self._expr()
        if self._kind != "end":
            self._unexpected("the end of the expression")
        if node.height > MAX_DEPTH:
            raise SelectorError("syntax", "max recursion depth exceeded", expression=self.expression)
        return node

    def fresh(self) -> int:
        """Give the next node id."""
        self._ids += 1
        if self._ids > MAX_NODES:
            message = f"the macros expand the expression to more than {MAX_NODES} parts"
            self.fail("unsupported", message, self._expanded)
        return self._ids

    def fail(self, kind: str, message: str, pos: int) -> NoReturn:
        """Refuse the expression."""
        raise SelectorError(kind, message, expression=self.expression, offset=pos)

    def _next(self) -> tuple[str, str, int]:
        token = self._tokens[self._index]
        self._index += 1
        self._kind = self._tokens[self._index][0]
        return token

    def _expect(self, kind: str) -> int:
        if self._kind != kind:
            self._unexpected(repr(kind))
        return self._next()[2]

    def _unexpected(self, wanted: str) -> NoReturn:
        kind, text, pos = self._tokens[self._index]
        found = "the end of the expression" if kind == "end" else repr(text[:40])
        self.fail("syntax", f"found {found} where {wanted} is expected", pos)

    def _too_deep(self) -> NoReturn:
        self.fail("syntax", f"expression recursion limit exceeded: {MAX_DEPTH}", self._tokens[self._index][2])

    def _expr(self, *, ternary: bool = True) -> Expr:
        """Parse a conditional, or only its condition level for the middle operand."""
        if ternary:
            self._expr_depth += 1
            if self._expr_depth > MAX_DEPTH:
                self._too_deep()
        nested = 1 if ternary else 0
        pending: list[tuple[int, Expr, Expr]] = []
        while True:
            ors: list[Expr] = []
            or_pos = -1
            while True:
                ands: list[Expr] = []
                and_pos = -1
                while True:
                    self._relation += 1
                    self._calc += 1
                    if self._relation > MAX_DEPTH or self._calc > MAX_DEPTH:
                        self._too_deep()
                    node = self._operand()
                    if self._kind in _BINARY:
                        node = self._binary(node)
                    else:
                        self._relation = max(0, self._relation - 1)
                        self._calc = max(0, self._calc - 1)
                    ands.append(node)
                    if self._kind != "&&":
                        break
                    pos = self._next()[2]
                    and_pos = pos if and_pos < 0 else and_pos
                ors.append(node if and_pos < 0 else self._logic("_&&_", ands, and_pos))
                if self._kind != "||":
                    break
                pos = self._next()[2]
                or_pos = pos if or_pos < 0 else or_pos
            node = ors[0] if or_pos < 0 else self._logic("_||_", ors, or_pos)
            if not ternary or self._kind != "?":
                break
            pos = self._next()[2]
            middle = self._expr(ternary=False)
            self._expect(":")
            pending.append((pos, node, middle))
            self._expr_depth += 1
            nested += 1
            if self._expr_depth > MAX_DEPTH:
                self._too_deep()
        for pos, condition, middle in reversed(pending):
            height = max(condition.height, middle.height, node.height) + 1
            node = Call(self.fresh(), pos, height, "_?_:_", None, (condition, middle, node))
        self._expr_depth -= nested
        return node

    def _logic(self, function: str, terms: list[Expr], pos: int) -> Expr:
        height = max(term.height for term in terms)
        return Call(self.fresh(), pos, height, function, None, tuple(terms))

    def _binary(self, left: Expr) -> Expr:
        """Parse the rest of a relation whose first operand is there."""
        left = self._calculation(left, 1)
        pushes = 1
        while self._kind in _RELATIONS:
            self._relation = max(0, self._relation - 1) + 1
            pushes += 1
            text, _, pos = self._next()
            self._relation += 1
            self._calc += 1
            if self._relation > MAX_DEPTH or self._calc > MAX_DEPTH:
                self._too_deep()
            right = self._calculation(self._operand(), 1)
            self._relation = max(0, self._relation - 1)
            left = self._call(_RELATIONS[text], left, right, pos)
        self._relation = max(0, self._relation - pushes)
        return left

    def _calculation(self, left: Expr, lowest: int) -> Expr:
        """Parse sums and products that bind at least as tight as ``lowest`` (1 sums, 2 products)."""
        pushes = 1
        while self._kind in _CALCULATIONS:
            tightness = 2 if self._kind in _PRODUCTS else 1
            if tightness < lowest:
                break
            self._calc = max(0, self._calc - 1) + 1
            pushes += 1
            text, _, pos = self._next()
            self._calc += 1
            if self._calc > MAX_DEPTH:
                self._too_deep()
            right = self._calculation(self._operand(), tightness + 1)
            left = self._call(_CALCULATIONS[text], left, right, pos)
        self._calc = self._calc - pushes if self._calc > pushes else 0
        return left

    def _call(self, function: str, left: Expr, right: Expr, pos: int) -> Call:
        return Call(self.fresh(), pos, max(left.height, right.height) + 1, function, None, (left, right))

    def _operand(self) -> Expr:
        """Parse unary operators, a primary and what follows it.

        Long on purpose: every nested expression is entered from here, which keeps a level at two frames.
        """
        prefix, prefix_pos, count = self._kind, -1, 0
        if prefix == "!" or (prefix == "-" and not self._signed_number()):
            while self._kind == prefix:
                pos = self._next()[2]
                prefix_pos = pos if prefix_pos < 0 else prefix_pos
                count += 1
            if self._kind == "-" and not (prefix == "!" and self._signed_number()):
                self._unexpected("an operand")
        kind, text, pos = self._tokens[self._index]
        node: Expr
        if kind == "(":
            self._next()
            node = self._expr()
            self._expect(")")
        elif kind in {"ident", "."}:
            name, pos = self._name()
            if self._kind == "(":
                pos = self._next()[2]
                args: list[Expr] = []
                while self._more(")", args):
                    args.append(self._expr())
                node = self._call_or_macro(pos, name, None, tuple(args), max([arg.height for arg in args], default=0))
            elif self._kind == "{" or (self._kind == "." and self._message_ahead()):
                node = self._literal_of_entries(name)
            else:
                node = Ident(self.fresh(), pos, 0, name)
        elif kind == "[":
            self._next()
            optional: set[int] = set()
            elements: list[Expr] = []
            while self._more("]", elements, trailing=True):
                if self._skip("?"):
                    optional.add(len(elements))
                elements.append(self._expr())
            height = max([element.height for element in elements], default=0)
            node = ListExpr(self.fresh(), pos, height, tuple(elements), frozenset(optional))
        elif kind == "{":
            node = self._literal_of_entries(None)
        else:
            node = self._constant(kind, text, pos)
        while self._kind in {".", "["}:
            kind, _, pos = self._next()
            marked = self._kind == "?" and self._skip("?")
            if kind == "[":
                index = self._expr()
                self._expect("]")
                node = self._call("_[?_]" if marked else "_[_]", node, index, pos)
                continue
            text, name_pos = self._field_name()
            if self._kind == "(" and not marked and not text.startswith("`"):
                pos = self._next()[2]
                args = []
                while self._more(")", args):
                    args.append(self._expr())
                height = max([node.height, *[arg.height for arg in args]]) + 1
                node = self._call_or_macro(pos, text, node, tuple(args), height)
            else:
                node = self._selection(node, text, pos, name_pos, optional=marked)
        if count % 2:
            node = Call(self.fresh(), prefix_pos, node.height, "!_" if prefix == "!" else "-_", None, (node,))
        return node

    def _skip(self, kind: str) -> bool:
        """Take a token when it is there."""
        if self._kind != kind:
            return False
        self._next()
        return True

    def _more(self, close: str, found: list[Expr] | list[Entry], *, trailing: bool = False) -> bool:
        """Take what stands between items; tell whether another one follows."""
        if self._skip(close):
            return False
        if not found:
            if trailing and self._skip(","):
                self._expect(close)
                return False
            return True
        self._expect(",")
        return not (trailing and self._skip(close))

    def _signed_number(self) -> bool:
        """Tell whether a minus sign stands before a number, where it belongs to the literal."""
        return self._kind == "-" and self._tokens[self._index + 1][0] in {"int", "float"}

    def _field_name(self) -> tuple[str, int]:
        """Take a field name; a back-quoted one keeps its quotes."""
        kind, text, pos = self._tokens[self._index]
        if kind == "esc":
            if not self._backquotes:
                self.fail("syntax", "unsupported syntax: '`'", pos)
        elif kind != "ident":
            self._unexpected("a field name")
        self._next()
        return text, pos

    def _selection(self, node: Expr, text: str, pos: int, name_pos: int, *, optional: bool) -> Expr:
        name = text.strip("`")
        if optional:
            literal = Literal(self.fresh(), name_pos, 0, name)
            return Call(self.fresh(), pos, node.height + 1, "_?._", None, (node, literal))
        return Select(self.fresh(), pos, node.height + 1, node, name, test=False)

    def _call_or_macro(self, pos: int, name: str, target: Expr | None, args: tuple[Expr, ...], height: int) -> Expr:
        macro = self._macros.get((name, len(args), target is not None))
        if macro is not None:
            self._expanded = pos
            expanded = expand(self, macro, pos, target, args)
            if expanded is not None:
                expanded.height = height
                return expanded
        return Call(self.fresh(), pos, height, name, target, args)

    def _constant(self, kind: str, text: str, pos: int) -> Expr:
        negative = kind == "-" and self._signed_number()
        if negative:
            self._next()
            kind, text, _ = self._tokens[self._index]
        decode = literals.DECODERS.get(kind)
        if decode is None:
            self._unexpected("an operand")
        try:
            value = decode("-" + text if negative else text)
        except literals.LiteralError as error:
            self.fail(error.kind, error.message, pos)
        self._next()
        return Literal(self.fresh(), pos, 0, value)

    def _name(self) -> tuple[str, int]:
        """Take a name with its leading dot."""
        dot = "." if self._kind == "." and self._skip(".") else ""
        if self._kind != "ident":
            self._unexpected("a name")
        _, name, pos = self._next()
        if name in _RESERVED and not (self._kind == "{" or (self._kind == "." and self._message_ahead())):
            self.fail("syntax", f"reserved identifier: {name}", pos)
        return dot + name, pos

    def _message_ahead(self) -> bool:
        """Tell whether the selections at hand end in an opening brace."""
        tokens, index = self._tokens, self._index
        while tokens[index][0] == "." and tokens[index + 1][0] == "ident":
            index += 2
        return tokens[index][0] == "{"

    def _literal_of_entries(self, name: str | None) -> Expr:
        """Parse a map, or a message whose name begins with ``name``."""
        while name is not None and self._skip("."):
            name += "." + self._next()[1]
        pos = self._next()[2]
        entries: list[Entry] = []
        height = 0
        while self._more("}", entries, trailing=True):
            optional = self._skip("?")
            key = self._expr() if name is None else self._field_name()[0].strip("`")
            colon = self._expect(":")
            entries.append(Entry(colon, key, self._expr(), optional))
            height = max(height, entries[-1].value.height, _key_height(entries[-1]))
        if name is None:
            return MapExpr(self.fresh(), pos, height, tuple(entries))
        return StructExpr(self.fresh(), pos, height, name, tuple(entries))


def _key_height(entry: Entry) -> int:
    return entry.key.height if isinstance(entry.key, Expr) else 0
