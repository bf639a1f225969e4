"""Operands that floating-point instructions are tried on: specials, ties, cancellation, NaN."""

import random

import softfloat as sf
from core import NAN
from softfloat import F64

MODES = ("rn", "rz", "rm", "rp")
NOTE_NAN = ["NaN results of f64 may carry any payload here; see f64_nan_payload.ptx"]


def specials(f):
    one, ulp = f.one, 1
    step = 1 << f.mantissa_bits  # doubles a number
    positive = [
        0,
        1,
        2,
        f.smallest_normal - 1,
        f.smallest_normal,
        f.smallest_normal + 1,
        one,
        one + ulp,
        one - ulp,
        one + step,
        one + step + step // 2,
        one - step,
        one + step - 1,
        one + f.mantissa_bits * step,
        one + (f.mantissa_bits + 1) * step,
        one - (f.mantissa_bits + 1) * step,
        f.largest,
        f.largest - 1,
        f.infinity,
    ]
    return positive + [x | f.sign_bit for x in positive]


def nans(f):
    quiet = 1 << (f.mantissa_bits - 1)
    return [
        f.infinity | quiet,
        f.infinity | quiet | 0x15,
        f.infinity | 1,
        f.infinity | f.sign_bit | 2,
        f.sign_bit | f.infinity | quiet | 3,
    ]


def random_number(rng, f, around=None):
    """Any finite bits, or with an exponent near `around`'s, or few mantissa bits (ties)."""
    exponents = (1 << f.exponent_bits) - 1
    exponent = rng.randrange(exponents)
    if around is not None:
        base = f.magnitude(around) >> f.mantissa_bits
        reach = f.mantissa_bits + 2
        exponent = min(max(base + rng.randint(-reach, reach), 0), exponents - 1)
    mantissa = rng.getrandbits(f.mantissa_bits)
    if rng.random() < 0.4:
        mantissa &= ~((1 << rng.randrange(f.mantissa_bits)) - 1)
    return rng.getrandbits(1) << (f.bits - 1) | exponent << f.mantissa_bits | mantissa


def rows(seed, f, columns, count=56, with_nans=True):
    rng = random.Random(seed)
    pool = specials(f)
    table = []
    for k in range(count):
        if k < count // 2:
            row = [rng.choice(pool) for _ in range(columns)]
        elif k < count * 3 // 4:
            row = [random_number(rng, f, f.one)]
            row += [random_number(rng, f, row[0]) for _ in range(columns - 1)]
        else:
            row = [random_number(rng, f) for _ in range(columns)]
        table.append(row)
    if columns > 1:  # cancellation, whole or but for one unit
        for k in range(count // 2, count, 9):
            table[k][-1] = (table[k][0] ^ f.sign_bit) ^ (k & 1)
    if with_nans:
        for k, nan in enumerate(nans(f)):
            table[3 * k + 1][k % columns] = nan
        table[-1] = [rng.choice(nans(f)) for _ in range(columns)]
    return table


def product_rows(seed, f, count=56):
    """For fma: products and addends of like size, so that one rounding differs from two."""
    table = rows(seed, f, 3, count)
    rng = random.Random(seed + 1)
    for k in range(count // 2, count - 2):
        a, b = random_number(rng, f, f.one), random_number(rng, f, f.one)
        product = sf.mul(f, a, b)
        if product is not None and not f.is_infinite(product):
            table[k] = [a, b, (product ^ f.sign_bit) if k % 3 else random_number(rng, f, product)]
    return table


def result(f, bits):
    if bits is None:
        return NAN if f is F64 else f.canonical_nan
    return bits
