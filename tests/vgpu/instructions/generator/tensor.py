"""What tensor cores multiply and how they add up, in exact arithmetic; and where registers hold what.

The sums follow docs/tensor-arithmetic.md. Integers small enough are summed exactly by any model.
"""

from dataclasses import dataclass
from fractions import Fraction

from softfloat import Format

LOWEST_SUM_EXPONENT = -126


@dataclass(frozen=True)
class Type:
    """An element or accumulator type; `kind` is float, int or bit."""

    name: str
    kind: str
    bits: int
    format: Format = None

    @property
    def per_register(self):
        return max(1, 32 // self.bits)

    @property
    def is_signed(self):
        return self.name[0] == "s"


F16, BF16, F32 = Format(5, 10), Format(8, 7), Format(8, 23)
TYPES = {
    t.name: t
    for t in (
        Type("f16", "float", 16, F16),
        Type("bf16", "float", 16, BF16),
        Type("tf32", "float", 32, F32),
        Type("f32", "float", 32, F32),
        Type("e4m3", "float", 8, Format(4, 3)),
        Type("e5m2", "float", 8, Format(5, 2)),
        Type("f64", "float", 64, Format(11, 52)),
        Type("s8", "int", 8),
        Type("u8", "int", 8),
        Type("s4", "int", 4),
        Type("u4", "int", 4),
        Type("b1", "bit", 1),
        Type("s32", "int", 32),
    )
}

NAN, INFINITY = "nan", "infinity"


def parts(type_, bits):
    """(value, exponent), or (NAN, 0), or (±INFINITY, 0). Zero has no exponent: None."""
    f = type_.format
    if type_.name == "tf32":
        bits &= 0xFFFFE000
    sign = -1 if bits & f.sign_bit else 1
    magnitude = bits & (f.sign_bit - 1)
    if type_.name == "e4m3":
        if magnitude == 0x7F:
            return NAN, 0
    elif magnitude > f.infinity:
        return NAN, 0
    elif magnitude == f.infinity:
        return (INFINITY, sign), 0
    field, mantissa = magnitude >> f.mantissa_bits, magnitude & (1 << f.mantissa_bits) - 1
    if magnitude == 0:
        return Fraction(0), None
    exponent = max(field, 1) - f.bias
    whole = mantissa + (1 << f.mantissa_bits if field else 0)
    return sign * Fraction(whole) * Fraction(2) ** (exponent - f.mantissa_bits), exponent


def encode(type_, value):
    """The bits of a number that the type holds exactly."""
    if type_.kind == "int":
        return int(value) & (1 << type_.bits) - 1
    if type_.kind == "bit":
        return int(value)
    f, value = type_.format, Fraction(value)
    if value == 0:
        return 0
    sign, size = (f.sign_bit, -value) if value < 0 else (0, value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, 1 - f.bias)
    whole = size / Fraction(2) ** (exponent - f.mantissa_bits)
    assert whole.denominator == 1, f"{value} is no {type_.name}"
    whole = int(whole)
    return sign | ((exponent + f.bias - 1 << f.mantissa_bits) + whole)


def cut(value, unit):
    """Towards zero, to a multiple of the unit."""
    quotient = abs(value) / unit
    return (-1 if value < 0 else 1) * (quotient.numerator // quotient.denominator) * unit


def exponent_of(value):
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= size else exponent - 1


def round_cut(value, kept):
    """To single precision with `kept` fraction bits, towards zero; bits."""
    if value == 0:
        return 0
    exponent = max(exponent_of(value), LOWEST_SUM_EXPONENT)
    if exponent > 127:
        return 0xFF800000 if value < 0 else 0x7F800000
    value = cut(value, Fraction(2) ** (exponent - kept))
    return encode(TYPES["f32"], value) if value else 0


def round_nearest(type_, value):
    """To nearest even; bits."""
    f = type_.format
    if value == 0:
        return 0
    sign, size = (f.sign_bit, -value) if value < 0 else (0, value)
    exponent = max(exponent_of(size), 1 - f.bias)
    scaled = size / Fraction(2) ** (exponent - f.mantissa_bits)
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1)
    return sign | min((exponent + f.bias - 1 << f.mantissa_bits) + whole, f.infinity)


@dataclass(frozen=True)
class Sum:
    """How one instruction adds."""

    fraction: int = 25
    kept: int = 23
    group: int = 16
    by_halves: bool = False


def sum_of(a_type, warpgroup=False):
    if a_type.bits == 8:
        return Sum(13, 13, 32) if warpgroup else Sum(group=0, by_halves=True)
    return Sum(group=256 // a_type.bits)


def fused(products, c, c_type, d_type, how):
    """One group: products are pairs of parts; c is bits. Gives bits of d_type."""
    start, start_exponent = parts(c_type, c)
    summands, special = [(start, start_exponent)], []
    for (x, x_exponent), (y, y_exponent) in products:
        odd = [v for v in (x, y) if not isinstance(v, Fraction)]
        if odd:
            if NAN in odd or x == 0 or y == 0:
                special.append(NAN)
                continue
            sign = 1
            for v in (x, y):
                sign *= v[1] if isinstance(v, tuple) else (1 if v > 0 else -1)
            special.append((INFINITY, sign))
        elif x == 0 or y == 0:
            summands.append((Fraction(0), None))
        else:
            summands.append((x * y, x_exponent + y_exponent))
    if not isinstance(start, Fraction):
        special.append(start)
        summands.pop(0)
    f = d_type.format
    if special:
        if NAN in special or len({s[1] for s in special}) > 1:
            return f.canonical_nan
        return f.infinity | (f.sign_bit if special[0][1] < 0 else 0)
    largest = max([LOWEST_SUM_EXPONENT] + [e for _, e in summands if e is not None])
    unit = Fraction(2) ** (largest - how.fraction)
    total = sum(cut(v, unit) for v, _ in summands)
    if d_type.name == "f32":
        return round_cut(total, how.kept)
    half = round_nearest(d_type, total)
    return 0 if half == f.sign_bit else half  # silicon: never -0


def signed_sum(value, saturates):
    if saturates:
        value = max(-(2**31), min(2**31 - 1, value))
    return value & 0xFFFFFFFF


def as_integer(type_, bits):
    return bits - (1 << type_.bits) if type_.is_signed and bits >> type_.bits - 1 else bits


def product(a_type, b_type, d_type, row, column, c, *, c_type=None, warpgroup=False, saturates=False,
            bit_op=None, negate=False):
    """One element of D from a row of A, a column of B (bits each) and an element of C (bits)."""
    c_type = c_type or d_type
    if a_type.kind == "bit":
        combine = (lambda x, y: x & y) if bit_op == "and" else (lambda x, y: x ^ y)
        return signed_sum(as_integer(d_type, c) + sum(map(combine, row, column)), False)
    if a_type.kind == "int":
        total = sum(as_integer(a_type, x) * as_integer(b_type, y) for x, y in zip(row, column))
        return signed_sum(as_integer(d_type, c) + total, saturates)
    if a_type.name == "f64":
        total = parts(d_type, c)[0]
        for x, y in zip(row, column):
            total += parts(a_type, x)[0] * parts(b_type, y)[0]
        return encode(d_type, total)  # tests take numbers that are exact at every step
    pairs = [(parts(a_type, x), parts(b_type, y)) for x, y in zip(row, column)]
    if negate:
        pairs = [((-x[0], x[1]) if isinstance(x[0], Fraction) else x, y) for x, y in pairs]
    how = sum_of(a_type, warpgroup)
    if not how.by_halves:
        for first in range(0, len(pairs), how.group):
            c = fused(pairs[first : first + how.group], c, c_type, d_type, how)
            c_type = d_type
        return c
    total = 0
    for lowest in (0, 2):
        group = [pair for k, pair in enumerate(pairs) if k % 4 in (lowest, lowest + 1)]
        total = fused(group, total, d_type, d_type, how)
    x, y = parts(d_type, total)[0], parts(c_type, c)[0]
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return round_nearest(d_type, x + y)
    f, odd = d_type.format, [v for v in (x, y) if not isinstance(v, Fraction)]
    if NAN in odd or len({v[1] for v in odd}) > 1:
        return f.canonical_nan
    return f.infinity | (f.sign_bit if odd[0][1] < 0 else 0)


# ---- fragments: (lane, register, element) -> (row or column, k) or (row, column) -----------------


def a_place(type_, halves, lane, register, element):
    row = lane // 4 + 8 * (register % halves)
    return row, (register // halves * 4 + lane % 4) * type_.per_register + element


def b_place(type_, lane, register, element):
    return lane // 4, (register * 4 + lane % 4) * type_.per_register + element


def d_place(lane, register):
    """Of 32-bit accumulators; half precision packs neighbouring registers."""
    return lane // 4 + 8 * (register // 2), 2 * (lane % 4) + register % 2


def pack(type_, elements):
    """Registers of 32 bits; the first element stands lowest."""
    word = 0
    for k, bits in enumerate(elements):
        word |= bits << (k * type_.bits)
    return word
