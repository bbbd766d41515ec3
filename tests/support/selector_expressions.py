"""Random selectors for the laws: typed expressions over one device, and soups of words."""

from typing import Any, Final

from hypothesis import strategies as st

from components.cel.device import DeviceView

DRIVER: Final = "gpu.nvidia.com"
STRINGS: Final = ("Hopper", "Ampere", "", "a.b", "\U0001f600", "10", "true")
ATTRIBUTES: Final[dict[str, dict[str, object]]] = {
    "arch": {"string": "Hopper"},
    "empty": {"string": ""},
    "index": {"int": 3},
    "big": {"int": 2**63 - 1},
    "mig": {"bool": False},
    "nvlink": {"bool": True},
    "cc": {"version": "9.0.0"},
    "other.example.com/arch": {"string": "a.b"},
}
CAPACITY: Final = {"memory": "80Gi", "cores": "132", "tiny": "100m"}
VIEW: Final = DeviceView.from_class_device(driver=DRIVER, attributes=ATTRIBUTES, capacity=CAPACITY)

_A: Final = f'device.attributes["{DRIVER}"]'
_NAMES: Final = {
    "string": ("arch", "empty"),
    "int": ("index", "big"),
    "bool": ("mig", "nvlink"),
    "dyn": ("arch", "index", "nope", "big"),
}
_WORDS: Final = [
    "device", "device.driver", _A, ".arch", "[", "]", "(", ")", "{", "}", ".", ",", ":", "?", "!", "-", "+", "*",
    "/", "%", "&&", "||", "==", "!=", "<", "<=", ">", ">=", "in", "has", "all", "exists", "map", "filter", "x",
    "size", "quantity", "semver", "cel.bind", "optional.of", ".?", "[?", "1", "-1", "9223372036854775808", "1u",
    "1.5", "0x", '"a"', "'b'", 'r"\\"', 'b"a"', '"""', '"\\u00"', "`a`", "null", "true", "false", "//", "\n", "\t",
    "@", "\x00", "�", "😀", "matches", "sortBy", "ip", "cidr", "url", "format", "int", "dyn", "type", "\\",
]  # fmt: skip
SOUPS: Final = st.lists(st.sampled_from(_WORDS) | st.text(max_size=3), max_size=24).map(" ".join) | st.lists(
    st.sampled_from(_WORDS), max_size=12
).map("".join)


def quoted(text: str) -> str:
    """Write a string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


_INTS: Final = st.integers(-3, 12) | st.sampled_from([2**63 - 1, -(2**63), 132])
_LEAVES: Final = {
    "bool": st.sampled_from(["true", "false"]),
    "int": _INTS.map(lambda number: f"({number})" if number < 0 else str(number)),
    "string": st.sampled_from(STRINGS).map(quoted),
}


def _attribute(kind: str) -> st.SearchStrategy[str]:
    return st.sampled_from(_NAMES[kind]).map(lambda name: f"{_A}.{name}")


def _join(pattern: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map(lambda made: pattern.format(*made))


def expressions(*, common: bool) -> st.SearchStrategy[str]:
    """Make selectors; ``common`` keeps to what the oracle speaks too."""
    levels: dict[str, st.SearchStrategy[str]] = {}
    kinds: dict[str, st.SearchStrategy[str]] = {kind: leaf | _attribute(kind) for kind, leaf in _LEAVES.items()}
    for _ in range(3):
        levels = dict(kinds)
        kinds = {kind: levels[kind] | grown for kind, grown in _grown(levels, common=common).items()}
    return kinds["bool"]


def _grown(old: dict[str, st.SearchStrategy[str]], *, common: bool) -> dict[str, st.SearchStrategy[str]]:
    boolean, number, text = old["bool"], old["int"], old["string"]
    dyn = _attribute("dyn")
    compare = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
    test = st.sampled_from(["startsWith", "endsWith", "contains"])
    fold = st.sampled_from(["all", "exists", "exists_one"])
    numbers = _listed(_LEAVES["int"] if common else number)  # Kubernetes refuses a list literal of mixed types
    texts = _listed(_LEAVES["string"] if common else text)
    booleans: list[st.SearchStrategy[str]] = [
        _join("({} && {})", boolean, boolean),
        _join("({} || {})", boolean, boolean),
        _join("!({})", boolean),
        _join("({} ? {} : {})", boolean, boolean, boolean),
        _join("({} {} {})", number, compare, number),
        _join("({} {} {})", text, compare, text),
        _join("({} == {})", dyn, number | text | boolean),
        _join("({} in {})", number, numbers),
        _join("({} in {})", text, texts),
        _join("{}.{}({})", text, test, text),
        _join("has({})", st.sampled_from([f"{_A}.arch", f"{_A}.nope", f"{_A}.index"])),
        _join("{}.{}(x, x == {})", numbers, fold, number),
        _join("{}.{}(x, {}.startsWith(x))", texts, fold, text),
        _join("{}.exists(x, x > {} && {})", numbers, number, boolean),
    ]
    integers: list[st.SearchStrategy[str]] = [
        _join("({} {} {})", number, st.sampled_from(["+", "-", "*", "/", "%"]), number),
        _join("{}.size()", text),
        _join("size({})", numbers),
        _join("({} ? {} : {})", boolean, number, number),
        _join("{}.map(x, x + 1)[{}]", numbers, st.sampled_from(["0", "1"])),
        _join("{}.filter(x, x > {}).size()", numbers, number),
    ]
    strings: list[st.SearchStrategy[str]] = [
        _join("({} + {})", text, text),
        _join("({} ? {} : {})", boolean, text, text),
        st.just("device.driver"),
    ]
    if not common:
        memory = st.sampled_from([f'device.capacity["{DRIVER}"].{name}' for name in [*CAPACITY, "nope"]])
        quantity = memory | st.sampled_from(['quantity("1Gi")', 'quantity("100m")', 'quantity("80Gi")'])
        quantity |= _join("{}.add({})", quantity, quantity)
        version = st.sampled_from([f"{_A}.cc", 'semver("9.0.0")', 'semver("1.2.3-rc.1")', f"{_A}.arch"])
        booleans += [
            _join("({}.compareTo({}) {} {})", quantity, quantity, compare, st.sampled_from(["0", "1", "-1"])),
            _join("{}.isGreaterThan({})", quantity, quantity),
            _join("{}.isLessThan({})", version, version),
            _join("({} == {})", quantity, quantity),
            _join("({} == {})", version | dyn, version | text),
            _join("({} in {})", dyn, numbers | texts),
            _join('"{}" in device.attributes', st.sampled_from([DRIVER, "nope"])),
            _join('{}.matches("{}")', text | dyn, st.sampled_from(["^H", "a.b", "(a|b)*", "\\\\d+$"])),
            _join("cel.bind(y, {}, y && {})", boolean, boolean),
            _join("dyn({}) == {}", number | text, boolean | number),
            _join('device.attributes[?"{}"].arch.orValue({}) == "a.b"', st.sampled_from([DRIVER, "no"]), text),
        ]
        integers += [_join("{}.asInteger()", quantity), _join("{}.compareTo({})", version, version)]
        strings += [
            _join("{}.lowerAscii()", text),
            _join("{}.substring({})", text, number),
            _join("{}.replace({}, {})", text, text, text),
            _join('{}.split(".")[{}]', text, number),
            _join("string({})", number | boolean | dyn),
        ]
    return {"bool": st.one_of(booleans), "int": st.one_of(integers), "string": st.one_of(strings)}


def _listed(element: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(element, max_size=3).map(lambda made: "[" + ", ".join(made) + "]")


def as_plain() -> dict[str, Any]:
    """Give the device as nested dictionaries, without versions and capacities."""
    attributes: dict[str, dict[str, Any]] = {DRIVER: {}}
    for key, value in ATTRIBUTES.items():
        ((kind, plain),) = value.items()
        domain, _, name = key.rpartition("/")
        if kind != "version":
            attributes.setdefault(domain or DRIVER, {})[name] = plain
    return {"driver": DRIVER, "attributes": attributes, "capacity": {}}
