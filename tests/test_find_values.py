"""Numbers as papers write them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paper2code.find import values
from paper2code.find.values import numbers, spans


@pytest.mark.parametrize("text, value", [
    ("3e-4", "3e-4"), ("1E-6", "1e-6"), ("1e−4", "1e-4"), ("2.5e5", "2.5e5"), ("$1$e$-4$", "1e-4"),
    (r"$3\mathrm{e}{-4}$", "3e-4"), (r"$5\text{e-}4$", "5e-4"), ("$5e^{-4}$", "5e-4"),
    ("$10^{-4}$", "1e-4"), ("10^-4", "1e-4"), ("10⁻⁴", "1e-4"), ("10−4", "1e-4"), ("$10^{ - 9 }$", "1e-9"), ("$10^5$", "1e5"),
    (r"$2\times 10^{-4}$", "2e-4"), (r"$5 \cdot 10^{-5}$", "5e-5"), ("2×10−4", "2e-4"), ("2 × 10⁻⁴", "2e-4"), ("6 x 10^6", "6e6"),
    (r"10\textsuperscript{-3}", "1e-3"), (r"$1.5{\times}10^{3}$", "1500"),
    ("100k", "100000"), ("100K", "100000"), ("0.25M", "250000"), ("7B", "7e9"), ("14.8T", "14.8e12"), ("$100$k", "100000"),
    ("300 million", "3e8"), ("1.2 billion", "1.2e9"), ("2 thousand", "2000"), ("60 M parameters", "6e7"),
    ("1,000", "1000"), ("25,000", "25000"), ("1{,}024", "1024"), (r"1\,000\,000", "1000000"), ("100_000", "100000"),
    ("twenty-four", "24"), ("six", "6"), ("two hundred and fifty thousand", "250000"), ("twelve million", "12e6"),
    (".9", "0.9"), ("-0.5", "-0.5"), ("$-1$", "-1"), ("$2^{15}$", "32768"), ("½", "0.5"), ("$\\sim 30$", "30"),
])
def test_one_number_is_read(text, value):
    found = numbers(text)
    assert [number.value for number in found] == [Decimal(value)], found


@pytest.mark.parametrize("text, expected", [
    ("{64,128,256}", ["64", "128", "256"]), (r"$\{16, 32, 64\}$", ["16", "32", "64"]), ("(3,5,7)", ["3", "5", "7"]),
    ("0.1–0.3", ["0.1", "0.3"]), ("64-128", ["64", "128"]), ("1e-5 to 1e-3", ["0.00001", "0.001"]),
    ("16×16", ["16", "16"]), ("224x224", ["224", "224"]), ("$224^2$", ["50176"]),
])
def test_several_numbers_stay_several(text, expected):
    assert [number.value for number in numbers(text)] == [Decimal(value) for value in expected]


@pytest.mark.parametrize("text, yes, no", [
    ("10%", ["10", "0.1"], ["1", "0.01"]), (r"0.1\%", ["0.1", "0.001"], ["10"]), ("50 per cent", ["0.5"], ["5"]),
    ("32K tokens", ["32000", "32768"], ["32"]), ("100k", ["100000"], ["100"]), ("300 million", ["3e8"], ["300"]),
    ("$10^{-4}$", ["0.0001", "1e-4"], ["10", "4", "-4", "10000"]), ("0.15", ["0.15", "0.150"], ["0.1", "15"]),
    ("$224^2$", ["224", "50176"], ["2"]),
])
def test_readings(text, yes, no):
    (number,) = numbers(text)
    assert all(number.equals(value) for value in yes) and not any(number.equals(value) for value in no)


def test_a_lost_superscript_is_offered_as_a_second_reading():
    assert any(number.equals("2e5") for number in numbers("for 2×105 steps"))


@pytest.mark.parametrize("text, unit", [
    ("100k steps", "step"), ("300 training epochs", "epoch"), ("0.25M tokens", "token"), ("a 12-layer model", "layer"),
    ("8 P100 GPUs", "gpu"), ("3.5 days", "day"), ("six identical layers", "layer"), ("12h", "hour"), ("10 %", "%"),
    ("$d=512$ $h=8$", None), ("10 random seeds", "seed"), ("128 in all", None),
])
def test_units(text, unit):
    assert numbers(text)[0].unit == unit


@pytest.mark.parametrize("text, kind", [
    ("ResNet-50", "name"), ("CIFAR-10", "name"), ("V100", "name"), ("top-1", "name"),
    (r"$\beta_1$", "index"), ("β1", "index"), ("$x_{12}$", "index"),
    ("Section 3.2", "place"), ("Eq. (4)", "place"), ("Tables 2 and 3", "place"),
    ("[12]", "place"), ("[3, 5]", "place"), ("§5.3", "place"),
    ("Kingma et al., 2014", "year"), ("WMT 2014 data", "year"), ("batch size of 256", "value"),
    ("2048 steps", "value"), ("in $[0, 1]$", "value"),
    (r"$\beta_1 = 0.9$", "value"), ("version 1.2.3", "name"), ("size-64", "name"),
])
def test_what_kind_of_number_it_is(text, kind):
    assert numbers(text)[-1].kind == kind or numbers(text)[0].kind == kind


def test_spans_are_exact():
    text = r"We train for 100k steps at $2\times 10^{-4}$, with 10\% dropout and $\beta_2=0.98$."
    for number in numbers(text):
        assert text[number.span[0]:number.span[1]] == number.text
    assert [number.text for number in numbers(text) if number.kind == "value"] == ["100k", r"2\times 10^{-4}", r"10\%", "0.98"]


@pytest.mark.parametrize("text, kind, held", [
    ("from 1e-5 to 1e-3", "range", ["1e-5", "1e-3"]), ("between 2 and 4", "range", ["2", "4"]),
    ("0.1–0.3", "range", ["0.1", "0.3"]),
    (r"over $\{16, 32, 64\}$", "set", ["16", "32", "64"]), ("of 16, 32 and 64", "set", ["16", "32", "64"]),
    ("either 0.1 or 0.3", "set", ["0.1", "0.3"]),
    ("in $[10^{-5}, 10^{-2}]$", "range", ["1e-5", "1e-2"]),
])
def test_ranges_and_sets(text, kind, held):
    (found,) = spans(text)
    assert found.kind == kind and [number.value for number in found.numbers] == [Decimal(value) for value in held]


@given(st.text(alphabet="0123456789.,-−–eEkKMB^{}$\\ ×x%_[]()~\nabt½⁻⁴", max_size=60))
def test_nothing_breaks_it(text):
    for number in numbers(text):
        assert text[slice(*number.span)] == number.text and number.value.is_finite()
    spans(text)


@given(st.decimals(min_value="1e-12", max_value="1e12", places=None, allow_nan=False))
def test_plain_and_scientific_forms_agree(value):
    value = Decimal(f"{value:.6g}")
    mantissa, exponent = f"{value:.5e}".split("e")
    forms = [f"{value:.5e}", rf"${mantissa}\times 10^{{{int(exponent)}}}$", f"{mantissa} × 10^{int(exponent)}"]
    for form in forms:
        assert numbers(form)[0].equals(value), form


def test_long_white_space_costs_little():
    values.numbers("1" + " " * 20000 + "e-4" + "$" * 5000 + "1" + "{" * 5000)


def test_an_absurd_exponent_is_no_number():
    assert numbers("1e999999999") == [] and numbers("$10^{100000}$") == []
