"""Floating-point formats in exact arithmetic: bits to rationals and, correctly rounded, back."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt


@dataclass(frozen=True)
class Format:
    exponent_bits: int
    mantissa_bits: int

    @property
    def bits(self):
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def bias(self):
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def sign_bit(self):
        return 1 << (self.bits - 1)

    @property
    def infinity(self):
        return ((1 << self.exponent_bits) - 1) << self.mantissa_bits

    @property
    def largest(self):
        return self.infinity - 1

    @property
    def smallest_normal(self):
        return 1 << self.mantissa_bits

    @property
    def one(self):
        return self.bias << self.mantissa_bits

    # The NaN that arithmetic gives: all bits set but the sign.
    @property
    def canonical_nan(self):
        return self.sign_bit - 1

    def quieted(self, nan):
        return nan | 1 << (self.mantissa_bits - 1)

    def magnitude(self, x):
        return x & (self.sign_bit - 1)

    def is_nan(self, x):
        return self.magnitude(x) > self.infinity

    def is_infinite(self, x):
        return self.magnitude(x) == self.infinity

    def is_zero(self, x):
        return self.magnitude(x) == 0

    def is_subnormal(self, x):
        return 0 < self.magnitude(x) < self.smallest_normal

    def is_negative(self, x):
        return bool(x & self.sign_bit)

    def flush(self, x):
        return x & self.sign_bit if self.is_subnormal(x) else x

    def value(self, x):
        """A finite number as a fraction; the sign of zero is lost."""
        m = self.magnitude(x)
        exponent, mantissa = m >> self.mantissa_bits, m & (self.smallest_normal - 1)
        if exponent:
            mantissa |= self.smallest_normal
        else:
            exponent = 1
        scale = exponent - self.bias - self.mantissa_bits
        v = Fraction(mantissa) * (Fraction(2) ** scale)
        return -v if self.is_negative(x) else v

    def round(self, v, mode="rn", zero_negative=False):
        """The bits of the fraction v; `mode` is PTX's. A zero gets the sign that is asked for."""
        if v == 0:
            return self.sign_bit if zero_negative else 0
        negative, v = v < 0, abs(v)
        # 2^e <= v < 2^(e+1)
        e = v.numerator.bit_length() - v.denominator.bit_length()
        if Fraction(2) ** e > v:
            e -= 1
        e = max(e, 1 - self.bias)
        scaled = v / Fraction(2) ** (e - self.mantissa_bits)
        whole = scaled.numerator // scaled.denominator
        rest = scaled - whole
        up = {
            "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1),
            "rna": rest >= Fraction(1, 2),
            "rz": False,
            "rm": negative and rest > 0,
            "rp": not negative and rest > 0,
        }[mode]
        whole += bool(up)
        result = ((e + self.bias - 1) << self.mantissa_bits) + whole
        if result >= self.infinity:
            toward_zero = (
                mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative)
            )
            result = self.largest if toward_zero else self.infinity
        return result | (self.sign_bit if negative else 0)


F16, BF16, F32, F64 = Format(5, 10), Format(8, 7), Format(8, 23), Format(11, 52)
TF32 = Format(8, 10)


def sum_sign(mode, a_negative, b_negative):
    """The sign of an exact zero sum."""
    return a_negative if a_negative == b_negative else mode == "rm"


def fma(f, a, b, c, mode="rn"):
    """a * b + c rounded once; None for a NaN."""
    if f.is_nan(a) or f.is_nan(b) or f.is_nan(c):
        return None
    sign = f.is_negative(a) != f.is_negative(b)
    if f.is_infinite(a) or f.is_infinite(b):
        if f.is_zero(a) or f.is_zero(b):
            return None
        if f.is_infinite(c) and f.is_negative(c) != sign:
            return None
        return f.infinity | (f.sign_bit if sign else 0)
    if f.is_infinite(c):
        return c
    v = f.value(a) * f.value(b) + f.value(c)
    return f.round(v, mode, sum_sign(mode, sign, f.is_negative(c)))


def add(f, a, b, mode="rn"):
    return fma(f, a, f.one, b, mode)


def sub(f, a, b, mode="rn"):
    return add(f, a, b ^ f.sign_bit, mode)


def mul(f, a, b, mode="rn"):
    """A product keeps its own sign, also as zero."""
    if f.is_nan(a) or f.is_nan(b):
        return None
    sign = f.is_negative(a) != f.is_negative(b)
    if f.is_infinite(a) or f.is_infinite(b):
        return None if f.is_zero(a) or f.is_zero(b) else f.infinity | (f.sign_bit if sign else 0)
    return f.round(f.value(a) * f.value(b), mode, sign)


def div(f, a, b, mode="rn"):
    if f.is_nan(a) or f.is_nan(b):
        return None
    sign = f.sign_bit if f.is_negative(a) != f.is_negative(b) else 0
    if f.is_infinite(a):
        return None if f.is_infinite(b) else f.infinity | sign
    if f.is_infinite(b):
        return sign
    if f.is_zero(b):
        return None if f.is_zero(a) else f.infinity | sign
    return f.round(f.value(a) / f.value(b), mode, bool(sign))


def sqrt(f, a, mode="rn"):
    if f.is_nan(a) or (f.is_negative(a) and not f.is_zero(a)):
        return None
    if f.is_zero(a) or f.is_infinite(a):
        return a
    v = f.value(a)
    # Enough bits that a half stands for whatever follows: never a tie, never exact by accident.
    shift = 2 * (f.mantissa_bits + f.bias + 40)
    scaled = v * (1 << shift)
    assert scaled.denominator == 1
    root = isqrt(scaled.numerator)
    exact = root * root == scaled.numerator
    return f.round((Fraction(root) + (0 if exact else Fraction(1, 2))) / (1 << (shift // 2)), mode)


def compare(f, a, b):
    """-1, 0, 1, or None for unordered."""
    if f.is_nan(a) or f.is_nan(b):
        return None

    def key(x):
        m = f.magnitude(x)
        return -m if f.is_negative(x) else m

    return (key(a) > key(b)) - (key(a) < key(b))


def minimum(f, a, b, nan_wins=False):
    """IEEE minimumNumber, or minimum when NaN wins; -0 is less than +0. None for a NaN."""
    if f.is_nan(a) or f.is_nan(b):
        if nan_wins or (f.is_nan(a) and f.is_nan(b)):
            return None
        return b if f.is_nan(a) else a
    order = compare(f, a, b)
    if order == 0:
        return a if f.is_negative(a) else b
    return a if order < 0 else b


def maximum(f, a, b, nan_wins=False):
    if f.is_nan(a) or f.is_nan(b):
        return minimum(f, a, b, nan_wins)
    return b if minimum(f, a, b) == a else a
