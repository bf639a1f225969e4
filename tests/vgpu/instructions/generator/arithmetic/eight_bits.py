"""cvt between pairs of 8-bit floats and floats or halves. The nearest number is looked for among all
of them; a tie takes the one whose last bit is 0."""

import random
from fractions import Fraction

from core import NAN, Op, elementwise
from softfloat import F16, F32

# Name: bits of the mantissa, bias, code of the largest number.
FORMATS = {"e4m3": (3, 7, 0x7E), "e5m2": (2, 15, 0x7B)}


def value(name, code):
    """Of a code without a sign."""
    mantissa_bits, bias, _ = FORMATS[name]
    exponent, mantissa = code >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
    lead = 0 if exponent == 0 else 1 << mantissa_bits
    return Fraction(lead + mantissa) * Fraction(2) ** (max(exponent, 1) - bias - mantissa_bits)


def narrow(name, source, x, relu=False):
    largest = FORMATS[name][2]
    if source.is_nan(x):
        return 0x7F
    if relu and source.is_negative(x):
        return 0
    sign = 0x80 if source.is_negative(x) else 0
    if source.is_infinite(x):
        return sign | largest
    size = abs(source.value(x))
    code = min(range(largest + 1), key=lambda c: (abs(value(name, c) - size), c & 1))
    return sign | code


def widen(name, code, relu=False):
    size = code & 0x7F
    if name == "e4m3" and size == 0x7F or name == "e5m2" and size > 0x7C:
        return NAN
    if relu and code & 0x80:
        return 0
    sign = F16.sign_bit if code & 0x80 else 0
    if name == "e5m2" and size == 0x7C:
        return sign | F16.infinity
    return sign | F16.round(value(name, size), "rn", False)


def source_rows(seed, source, count=48):
    """Numbers, ties and near-ties of both formats, and what is special."""
    rng = random.Random(seed)
    table = [source.infinity, source.infinity | source.sign_bit, source.canonical_nan, 0]
    table += [source.sign_bit, source.round(Fraction(464), "rn", False)]
    while len(table) < count:
        name = rng.choice(list(FORMATS))
        code = rng.randrange(FORMATS[name][2])
        low, high = value(name, code), value(name, code + 1)
        size = rng.choice([low, (low + high) / 2, (3 * low + high) / 4, high * 2])
        bits = source.round(size, "rn", False) + rng.choice([0, 0, 0, 1])
        table.append(bits | (source.sign_bit if rng.random() < 0.4 else 0))
    return table


def write_all():
    floats = [[a, b] for a, b in zip(source_rows(361, F32), reversed(source_rows(362, F32)))]
    ops = [
        Op(
            f"cvt.rn.satfinite{'.relu' if relu else ''}.{name}x2.f32 {{d}}, a, b;",
            16,
            lambda a, b, n=name, r=relu: narrow(n, F32, a, r) << 8 | narrow(n, F32, b, r),
        )
        for name in FORMATS
        for relu in (False, True)
    ]
    target = {"target": "sm_90", "version": "8.1"}
    elementwise(
        "cvt_floats_to_eight_bits",
        "cvt.rn.satfinite{.relu}.{e4m3x2,e5m2x2}.f32",
        {"a": 32, "b": 32},
        floats,
        ops,
        **target,
    )
    halves = [
        [a << 16 | b] for a, b in zip(source_rows(363, F16), reversed(source_rows(364, F16)))
    ]
    ops = [
        Op(
            f"cvt.rn.satfinite{'.relu' if relu else ''}.{name}x2.f16x2 {{d}}, a;",
            16,
            lambda a, n=name, r=relu: narrow(n, F16, a >> 16, r) << 8
            | narrow(n, F16, a & 0xFFFF, r),
        )
        for name in FORMATS
        for relu in (False, True)
    ]
    elementwise(
        "cvt_halves_to_eight_bits",
        "cvt.rn.satfinite{.relu}.{e4m3x2,e5m2x2}.f16x2",
        {"a": 32},
        halves,
        ops,
        **target,
    )

    # Every code once; NaN is 0x7fff in each half (PTX ISA, cvt: canonical NaN).
    def both(name, relu, h):
        parts = [widen(name, code, relu) for code in (h >> 8, h & 0xFF)]
        high, low = (0x7FFF if part == NAN else part for part in parts)
        return high << 16 | low

    ops = [
        Op(
            f"cvt.rn{'.relu' if relu else ''}.f16x2.{name}x2 {{d}}, h;",
            32,
            lambda h, n=name, r=relu: both(n, r, h),
        )
        for name in FORMATS
        for relu in (False, True)
    ]
    elementwise(
        "cvt_eight_bits_to_halves",
        "cvt.rn{.relu}.f16x2.{e4m3x2,e5m2x2}",
        {"h": 16, "pad": 16},
        [[(2 * i + 1) << 8 | 2 * i, 0] for i in range(128)],
        ops,
        **target,
    )
