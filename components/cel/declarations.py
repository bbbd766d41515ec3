"""The functions of the language as Kubernetes declares them: names, overloads, call style and types.

One line per overload: ``function id style arguments -> result``, the style being ``g`` for a global call and ``m`` for
a member call whose first argument is the receiver. Upper-case letters are type parameters. The order of overloads is
upstream's, because the first that fits decides the result type. Parsed once, at the first compile.
"""

from __future__ import annotations

from functools import cache

from components.cel import types as t
from components.cel.record import Record, put
from components.cel.types import Type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final


class Overload(Record):
    """One signature of a function."""

    __slots__ = ("args", "id", "member", "params", "result")

    id: str
    member: bool
    args: tuple[Type, ...]
    result: Type
    params: tuple[str, ...]

    def __init__(
        self, name: str, args: tuple[Type, ...], result: Type, params: tuple[str, ...], *, member: bool
    ) -> None:
        put(self, "id", name)
        put(self, "member", member)
        put(self, "args", args)
        put(self, "result", result)
        put(self, "params", params)


class Function(Record):
    """A function with its overloads in order."""

    __slots__ = ("name", "overloads")

    name: str
    overloads: tuple[Overload, ...]

    def __init__(self, name: str, overloads: tuple[Overload, ...]) -> None:
        put(self, "name", name)
        put(self, "overloads", overloads)


_TEXT: Final = """
_?_:_ conditional g bool,A,A -> A
_&&_ logical_and g bool,bool -> bool
_||_ logical_or g bool,bool -> bool
!_ logical_not g bool -> bool
@not_strictly_false not_strictly_false g bool -> bool
_==_ equals g A,A -> bool
_!=_ not_equals g A,A -> bool
_+_ add_bytes g bytes,bytes -> bytes
_+_ add_double g double,double -> double
_+_ add_duration_duration g Duration,Duration -> Duration
_+_ add_duration_timestamp g Duration,Timestamp -> Timestamp
_+_ add_timestamp_duration g Timestamp,Duration -> Timestamp
_+_ add_int64 g int,int -> int
_+_ add_list g list(A),list(A) -> list(A)
_+_ add_string g string,string -> string
_+_ add_uint64 g uint,uint -> uint
_/_ divide_double g double,double -> double
_/_ divide_int64 g int,int -> int
_/_ divide_uint64 g uint,uint -> uint
_%_ modulo_int64 g int,int -> int
_%_ modulo_uint64 g uint,uint -> uint
_*_ multiply_double g double,double -> double
_*_ multiply_int64 g int,int -> int
_*_ multiply_uint64 g uint,uint -> uint
-_ negate_double g double -> double
-_ negate_int64 g int -> int
_-_ subtract_double g double,double -> double
_-_ subtract_duration_duration g Duration,Duration -> Duration
_-_ subtract_int64 g int,int -> int
_-_ subtract_timestamp_duration g Timestamp,Duration -> Timestamp
_-_ subtract_timestamp_timestamp g Timestamp,Timestamp -> Duration
_-_ subtract_uint64 g uint,uint -> uint
_[_] index_list g list(A),int -> A
_[_] index_map g map(A,B),A -> B
_[_] optional_list_index_int g opt(list(V)),int -> opt(V)
_[_] optional_map_index_value g opt(map(K,V)),K -> opt(V)
_?._ select_optional_field g dyn,string -> opt(V)
_[?_] list_optindex_optional_int g list(V),int -> opt(V)
_[?_] optional_list_optindex_optional_int g opt(list(V)),int -> opt(V)
_[?_] map_optindex_optional_value g map(K,V),K -> opt(V)
_[?_] optional_map_optindex_optional_value g opt(map(K,V)),K -> opt(V)
@in in_list g A,list(A) -> bool
@in in_map g A,map(A,B) -> bool
size size_bytes g bytes -> int
size bytes_size m bytes -> int
size size_list g list(A) -> int
size list_size m list(A) -> int
size size_map g map(A,B) -> int
size map_size m map(A,B) -> int
size size_string g string -> int
size string_size m string -> int
type type g A -> type(A)
bool bool_to_bool g bool -> bool
bool string_to_bool g string -> bool
bytes bytes_to_bytes g bytes -> bytes
bytes string_to_bytes g string -> bytes
double double_to_double g double -> double
double int64_to_double g int -> double
double string_to_double g string -> double
double uint64_to_double g uint -> double
duration duration_to_duration g Duration -> Duration
duration int64_to_duration g int -> Duration
duration string_to_duration g string -> Duration
dyn to_dyn g A -> dyn
int int64_to_int64 g int -> int
int double_to_int64 g double -> int
int duration_to_int64 g Duration -> int
int string_to_int64 g string -> int
int timestamp_to_int64 g Timestamp -> int
int uint64_to_int64 g uint -> int
string string_to_string g string -> string
string bool_to_string g bool -> string
string bytes_to_string g bytes -> string
string double_to_string g double -> string
string duration_to_string g Duration -> string
string int64_to_string g int -> string
string timestamp_to_string g Timestamp -> string
string uint64_to_string g uint -> string
string ip_to_string g IP -> string
string cidr_to_string g CIDR -> string
timestamp timestamp_to_timestamp g Timestamp -> Timestamp
timestamp int64_to_timestamp g int -> Timestamp
timestamp string_to_timestamp g string -> Timestamp
uint uint64_to_uint64 g uint -> uint
uint double_to_uint64 g double -> uint
uint int64_to_uint64 g int -> uint
uint string_to_uint64 g string -> uint
contains contains_string m string,string -> bool
endsWith ends_with_string m string,string -> bool
startsWith starts_with_string m string,string -> bool
matches matches g string,string -> bool
matches matches_string m string,string -> bool
optional.of optional_of g V -> opt(V)
optional.ofNonZeroValue optional_ofNonZeroValue g V -> opt(V)
optional.none optional_none g -> opt(V)
optional.unwrap optional_unwrap g list(opt(V)) -> list(V)
value optional_value m opt(V) -> V
hasValue optional_hasValue m opt(V) -> bool
or optional_or_optional m opt(V),opt(V) -> opt(V)
orValue optional_orValue_value m opt(V),V -> V
unwrapOpt optional_unwrapOpt m list(opt(V)) -> list(V)
first list_first m list(V) -> opt(V)
last list_last m list(V) -> opt(V)
cel.@mapInsert @mapInsert_map_key_value g map(K,V),K,V -> map(K,V)
cel.@mapInsert @mapInsert_map_map g map(K,V),map(K,V) -> map(K,V)
charAt string_char_at_int m string,int -> string
format string_format m string,list(dyn) -> string
indexOf list_a_index_of_int m list(A),A -> int
indexOf string_index_of_string m string,string -> int
indexOf string_index_of_string_int m string,string,int -> int
join list_join m list(string) -> string
join list_join_string m list(string),string -> string
lastIndexOf list_a_last_index_of_int m list(A),A -> int
lastIndexOf string_last_index_of_string m string,string -> int
lastIndexOf string_last_index_of_string_int m string,string,int -> int
lowerAscii string_lower_ascii m string -> string
replace string_replace_string_string m string,string,string -> string
replace string_replace_string_string_int m string,string,string,int -> string
split string_split_string m string,string -> list(string)
split string_split_string_int m string,string,int -> list(string)
strings.quote strings_quote g string -> string
substring string_substring_int m string,int -> string
substring string_substring_int_int m string,int,int -> string
trim string_trim m string -> string
upperAscii string_upper_ascii m string -> string
sets.contains list_sets_contains_list g list(T),list(T) -> bool
sets.equivalent list_sets_equivalent_list g list(T),list(T) -> bool
sets.intersects list_sets_intersects_list g list(T),list(T) -> bool
find string_find_string m string,string -> string
findAll string_find_all_string m string,string -> list(string)
findAll string_find_all_string_int m string,string,int -> list(string)
url string_to_url g string -> URL
isURL is_url_string g string -> bool
getEscapedPath url_get_escaped_path m URL -> string
getHost url_get_host m URL -> string
getHostname url_get_hostname m URL -> string
getPort url_get_port m URL -> string
getQuery url_get_query m URL -> map(string,list(string))
getScheme url_get_scheme m URL -> string
ip string_to_ip g string -> IP
ip cidr_ip m CIDR -> IP
isIP is_ip g string -> bool
ip.isCanonical ip_is_canonical g string -> bool
family ip_family m IP -> int
isGlobalUnicast ip_is_global_unicast m IP -> bool
isLinkLocalMulticast ip_is_link_local_multicast m IP -> bool
isLinkLocalUnicast ip_is_link_local_unicast m IP -> bool
isLoopback ip_is_loopback m IP -> bool
isUnspecified ip_is_unspecified m IP -> bool
cidr string_to_cidr g string -> CIDR
isCIDR is_cidr g string -> bool
containsCIDR cidr_contains_cidr_string m CIDR,string -> bool
containsCIDR cidr_contains_cidr m CIDR,CIDR -> bool
containsIP cidr_contains_ip_string m CIDR,string -> bool
containsIP cidr_contains_ip_ip m CIDR,IP -> bool
masked cidr_masked m CIDR -> CIDR
prefixLength cidr_prefix_length m CIDR -> int
format.named format-named g string -> opt(Format)
validate format-validate m Format,string -> opt(list(string))
quantity string_to_quantity g string -> Quantity
isQuantity is_quantity_string g string -> bool
sign quantity_sign g Quantity -> int
isGreaterThan quantity_is_greater_than m Quantity,Quantity -> bool
isGreaterThan semver_is_greater_than m Semver,Semver -> bool
isLessThan quantity_is_less_than m Quantity,Quantity -> bool
isLessThan semver_is_less_than m Semver,Semver -> bool
compareTo quantity_compare_to m Quantity,Quantity -> int
compareTo semver_compare_to m Semver,Semver -> int
asApproximateFloat quantity_get_float m Quantity -> double
asInteger quantity_get_int m Quantity -> int
isInteger quantity_is_integer m Quantity -> bool
add quantity_add m Quantity,Quantity -> Quantity
add quantity_add_int m Quantity,int -> Quantity
sub quantity_sub m Quantity,Quantity -> Quantity
sub quantity_sub_int m Quantity,int -> Quantity
semver string_to_semver g string -> Semver
semver string_bool_to_semver g string,bool -> Semver
isSemver is_semver_string g string -> bool
isSemver is_semver_string_bool g string,bool -> bool
major semver_major m Semver -> int
minor semver_minor m Semver -> int
patch semver_patch m Semver -> int
slice list_slice m list(T),int,int -> list(T)
flatten list_flatten m list(list(T)) -> list(T)
flatten list_flatten_int m list(dyn),int -> list(dyn)
lists.range lists_range g int -> list(int)
reverse list_reverse m list(T) -> list(T)
distinct list_distinct m list(T) -> list(T)
includes dra_includes_dyn_dyn m dyn,dyn -> bool
allowed decision_allowed m Decision -> bool
check pathcheck_check m PathCheck,string -> Decision
check resourcecheck_check m ResourceCheck,string -> Decision
error decision_error m Decision -> string
errored decision_errored m Decision -> bool
fieldSelector authorizer_fieldselector m ResourceCheck,string -> ResourceCheck
group authorizer_group m Authorizer,string -> GroupCheck
labelSelector authorizer_labelselector m ResourceCheck,string -> ResourceCheck
name resourcecheck_name m ResourceCheck,string -> ResourceCheck
namespace resourcecheck_namespace m ResourceCheck,string -> ResourceCheck
path authorizer_path m Authorizer,string -> PathCheck
reason decision_reason m Decision -> string
resource groupcheck_resource m GroupCheck,string -> ResourceCheck
serviceAccount authorizer_serviceaccount m Authorizer,string,string -> Authorizer
subresource resourcecheck_subresource m ResourceCheck,string -> ResourceCheck
"""

_AUTHORIZATION: Final = ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
_NAMES: Final = {
    "bool": t.BOOL, "bytes": t.BYTES, "double": t.DOUBLE, "dyn": t.DYN, "int": t.INT, "string": t.STRING,
    "uint": t.UINT, "Duration": t.DURATION, "Timestamp": t.TIMESTAMP, "Quantity": t.QUANTITY, "Semver": t.SEMVER,
    "URL": t.URL, "IP": t.IP, "CIDR": t.CIDR, "Format": t.FORMAT,
    **{name: Type(t.Kind.STRUCT, f"kubernetes.authorization.{name}") for name in _AUTHORIZATION},
}  # fmt: skip
_ORDERED: Final = ("int", "uint", "double", "bool", "Duration", "Timestamp", "string", "bytes")
_SHORT: Final = {"Duration": "duration", "Timestamp": "timestamp"}
_COMPARED: Final = (
    "bool", "int64", "int64_double", "int64_uint64", "uint64", "uint64_double", "uint64_int64", "double",
    "double_int64", "double_uint64", "string", "bytes", "timestamp", "duration",
)  # fmt: skip
_COMPARISONS: Final = {"_<_": "less", "_<=_": "less_equals", "_>_": "greater", "_>=_": "greater_equals"}
_COMPARED_NAMES: Final = {"int64": "int", "uint64": "uint", "timestamp": "Timestamp", "duration": "Duration"}
_GETTERS: Final = {
    "getDate": "day_of_month_1_based", "getDayOfMonth": "day_of_month", "getDayOfWeek": "day_of_week",
    "getDayOfYear": "day_of_year", "getFullYear": "year", "getHours": "hours", "getMilliseconds": "milliseconds",
    "getMinutes": "minutes", "getMonth": "month", "getSeconds": "seconds",
}  # fmt: skip
FORMAT_NAMES: Final = (
    "byte", "date", "datetime", "dns1035Label", "dns1035LabelPrefix", "dns1123Label", "dns1123LabelPrefix",
    "dns1123Subdomain", "dns1123SubdomainPrefix", "labelValue", "qualifiedName", "uri", "uuid",
)  # fmt: skip


@cache
def all_functions() -> dict[str, Function]:
    """Give every function that any minor declares."""
    found: dict[str, list[Overload]] = {}
    for line in [*_TEXT.strip().splitlines(), *_templates()]:
        name, overload, style, rest = line.split(" ", 3)
        args, result = rest.split("-> ")
        parsed = tuple(_parse_types(args.strip()))
        returned = next(_parse_types(result))
        params = sorted({letter for one in (*parsed, returned) for letter in _params_of(one)})
        found.setdefault(name, []).append(Overload(overload, parsed, returned, tuple(params), member=style == "m"))
    return {name: Function(name, tuple(overloads)) for name, overloads in found.items()}


def _templates() -> list[str]:
    lines: list[str] = []
    for operator, prefix in _COMPARISONS.items():
        for pair in _COMPARED:
            left, _, right = pair.partition("_")
            first = _COMPARED_NAMES.get(left, left)
            second = _COMPARED_NAMES.get(right, right) if right else first
            lines.append(f"{operator} {prefix}_{pair} g {first},{second} -> bool")
    for getter, suffix in _GETTERS.items():
        zone = f"timestamp_to_{suffix}_tz" if getter == "getSeconds" else f"timestamp_to_{suffix}_with_tz"
        lines += [f"{getter} timestamp_to_{suffix} m Timestamp -> int", f"{getter} {zone} m Timestamp,string -> int"]
        if suffix in {"hours", "milliseconds", "minutes", "seconds"}:
            lines.append(f"{getter} duration_to_{suffix} m Duration -> int")
    for name in _ORDERED:
        short, full = _SHORT.get(name, name), _NAMES[name].name
        lines.append(f"isSorted list_{short}_is_sorted_bool m list({name}) -> bool")
        lines += [f"{call} list_{short}_{call}_{short} m list({name}) -> {name}" for call in ("min", "max")]
        lines.append(f"sort list_{full}_sort m list({name}) -> list({name})")
        lines.append(f"@sortByAssociatedKeys list_{full}_sortByAssociatedKeys m list(T),list({name}) -> list(T)")
        if name in {"int", "uint", "double", "Duration"}:
            lines.append(f"sum list_{short}_sum_{short} m list({name}) -> {name}")
    lines += [f"format.{name} format.{name} g -> Format" for name in FORMAT_NAMES]
    return lines


def _parse_types(text: str) -> Iterator[Type]:
    """Read a comma-separated list of types."""
    depth, start = 0, 0
    for index, char in enumerate(text + ","):
        depth += (char == "(") - (char == ")")
        if char == "," and not depth and index > start:
            yield _parse_type(text[start:index])
            start = index + 1


def _parse_type(text: str) -> Type:
    if text in _NAMES:
        return _NAMES[text]
    name, _, inner = text.partition("(")
    if not inner:
        return t.param(text)
    params = tuple(_parse_types(inner[:-1]))
    if name == "opt":
        return t.optional_of(params[0])
    if name == "type":
        return t.type_of(params[0])
    return t.list_of(params[0]) if name == "list" else t.map_of(params[0], params[1])


def _params_of(value: Type) -> set[str]:
    if value.kind is t.Kind.PARAM:
        return {value.name}
    return {letter for one in value.params for letter in _params_of(one)}
