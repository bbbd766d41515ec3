"""Quantities alone: the two forms, arithmetic, and text."""

import math

import pytest

from components.cel.quantity import MAX_SPAN, Format, Quantity, QuantityError


def q(text: str) -> Quantity:
    """Parse a quantity."""
    return Quantity.parse(text)


@pytest.mark.parametrize(
    ("text", "big"),
    [
        ("99Ti", False),
        ("100Ti", True),
        ("1Pi", True),
        ("1.0", False),
        ("9E", False),
        ("10E", False),
        ("9223372036854775807", True),
        ("0.5Ki", True),
        ("1e-10", True),
    ],
)
def test_the_form_depends_on_how_the_text_is_written(text: str, big: bool) -> None:
    """The value alone does not tell the form."""
    assert q(text).big is big


@pytest.mark.parametrize("text", ["", "1K", "1 Gi", "1Gi1", "Pi", "-Ei", "1e", "1e+", "5Ee3", "1e99999999999999999999"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    """The message never quotes more than a little of the text."""
    with pytest.raises(QuantityError) as caught:
        q(text)
    assert not caught.value.unsupported
    assert len(caught.value.message) < 200


def test_values_compare_across_forms_and_scales() -> None:
    """Equality, order and hash are by value."""
    assert q("1Ki") == q("1024") == q("1.024k")
    assert hash(q("1000m")) == hash(q("1")) == hash(q("1.0"))
    assert hash(q("0")) == hash(q("0e5"))
    assert q("1500m") > q("1") >= q("999m") < q("1.5") <= q("1500m")
    assert q("1e300") > q("1e299") > q("-1e300")
    assert q("1") != "1"
    assert q("1e2000000000") > q("1e1999999999")
    assert q("-1e2000000000") < q("-1e1999999999")


def test_sums_stay_small_until_int64_overflows() -> None:
    """Small and small stays small; anything else is big."""
    assert q("1").add(1) == q("2")
    assert not q("1").add(1).big
    assert q("1500m").add(q("500m")).scale == -3
    assert q("9E").add(2**63 - 1).big
    assert not q("9E").add(q("9E")).is_integer
    assert q("0").add(q("2Gi")).format is Format.BINARY_SI
    assert q("5").sub(q("0")) == q("5")
    assert q("5").sub(7) == q("-2")
    assert q("1Pi").sub(1).big
    assert q("9E").add(q("1n")).big
    assert Quantity(0).sub(Quantity(-(2**63))).mantissa == -(2**63)
    assert Quantity(-5).sub(Quantity(-(2**63))).mantissa == 2**63 - 5


def test_sums_that_need_endless_digits_are_refused() -> None:
    """Refused as unsupported, at once."""
    with pytest.raises(QuantityError) as caught:
        q("1e400000").add(1)
    assert caught.value.unsupported
    with pytest.raises(QuantityError) as caught:
        q(f"1234567890123456789e{MAX_SPAN * 2}")
    assert caught.value.unsupported
    with pytest.raises(QuantityError):
        q("1e400000").ceil()


def test_long_texts_and_exponents_take_no_time() -> None:
    """Ten thousand digits parse and print; an exponent of minus two billion is the smallest unit."""
    digits = "9" * 10_000
    assert str(q(digits)).startswith("999")
    assert q("1e-2147483647") == q("1n")
    assert q("0." + "0" * 9_000 + "1") == q("1n")
    assert q(digits).compare(q("1")) == 1
    assert q("0." + "0" * 30).mantissa == 0


def test_integers_and_rounding() -> None:
    """Whole small values are integers; ``ceil`` rounds away from zero."""
    assert q("2k").as_integer() == 2000
    assert q("0e9999").as_integer() == 0
    with pytest.raises(QuantityError):
        q("1Pi").as_integer()
    assert not q("1e19").is_integer
    assert q("1500m").ceil() == 2
    assert q("-1500m").ceil() == -2
    assert q("3k").ceil() == 3000


def test_floats_follow_go() -> None:
    """Infinity times zero is not a number, and large powers are infinite."""
    assert q("1.5").as_approximate_float() == 1.5
    assert math.isnan(q("0e400").as_approximate_float())
    assert q("1e400").as_approximate_float() == math.inf
    assert q("-1e400").as_approximate_float() == -math.inf
    assert q("1e-9").as_approximate_float() == 1e-9
    assert Quantity(1, -400).as_approximate_float() == 0.0
    assert Quantity(10**400, 0, big=True).as_approximate_float() == math.inf


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (Quantity(0), "0"),
        (Quantity(2048, format=Format.BINARY_SI), "2Ki"),
        (Quantity(1000, format=Format.BINARY_SI), "1k"),
        (Quantity(2500001, -3, format=Format.BINARY_SI), "2500001m"),
        (Quantity(12, 5, format=Format.DECIMAL_EXPONENT), "1200e3"),
        (Quantity(7, format=Format.DECIMAL_EXPONENT), "7"),
        (Quantity(1, 21), "1"),
        (Quantity(2**80, format=Format.BINARY_SI, big=True), "1"),
    ],
    ids=str,
)
def test_text_is_canonical(quantity: Quantity, text: str) -> None:
    """Printed as Kubernetes prints it; beyond its suffixes it prints the bare number, as upstream does."""
    assert str(quantity) == text
