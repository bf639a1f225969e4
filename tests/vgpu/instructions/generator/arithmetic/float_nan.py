"""Which NaN comes out of f64 arithmetic, of signs and of conversions, which the manual leaves open."""

import softfloat as sf
from arithmetic.float_rows import MODES, nans
from core import NAN, Op, elementwise
from softfloat import BF16, F16, F32, F64


def f64_nan(*operands):
    """The NaN of an f64 operation: the second operand's, else the third's, else the first's."""
    first, *others = operands
    for x in (*others, first):
        if F64.is_nan(x):
            return F64.quieted(x)
    return 0xFFF8000000000000


def nan_choice():
    """Which NaN an f64 operation gives, which the manual leaves open."""

    def choose(compute, *operands):
        value = compute(F64, *operands)
        return f64_nan(*operands) if value is None else value

    def negated(x):
        return x if F64.is_nan(x) else x ^ F64.sign_bit

    quiet, payload, signalling = 0x7FF8000000000000, 0x7FF8000000000123, 0x7FF0000000000456
    negative, minus_inf = payload | F64.sign_bit, F64.infinity | F64.sign_bit
    fields = {"a": 64, "b": 64, "c": 64}
    table = [
        [quiet, F64.one, F64.one],
        [payload, F64.one, F64.one],
        [F64.one, payload, F64.one],
        [payload, payload + 1, F64.one],
        [signalling, F64.one, F64.one],
        [F64.one, signalling, F64.one],
        [negative, F64.one, F64.one],
        [F64.one, F64.one, payload],
        [F64.one, payload, payload + 2],
        [F64.infinity, minus_inf, F64.one],
        [0, F64.infinity, F64.one],
    ]
    ops = [
        Op("add.rn.f64 {d}, a, b;", 64, lambda a, b, c: choose(sf.add, a, b)),
        Op("mul.rn.f64 {d}, a, b;", 64, lambda a, b, c: choose(sf.mul, a, b)),
        Op("fma.rn.f64 {d}, a, b, c;", 64, lambda a, b, c: choose(sf.fma, a, b, c)),
    ]
    elementwise(
        "f64_nan_payload",
        "which NaN add, mul, fma .f64 give",
        fields,
        table,
        ops,
        notes=[
            "HW: measured on an H200: the second operand's before the others', quieted;",
            "where none is a NaN, the negative one without payload",
        ],
    )
    table = [
        [payload, F64.one, payload + 2],
        [payload + 2, F64.one, payload],
        [payload + 2, payload + 1, payload],
        [signalling, payload, quiet],
        [payload, signalling, quiet],
        [negative, F64.one, signalling],
        [F64.one, negative, F64.one],
        [0, F64.infinity, payload],
        [F64.infinity, minus_inf, negative],
    ]
    ops = [
        Op("fma.rn.f64 {d}, a, b, c;", 64, lambda a, b, c: choose(sf.fma, a, b, c)),
        Op("sub.rn.f64 {d}, a, b;", 64, lambda a, b, c: choose(sf.add, a, negated(b))),
        Op("cvt.f64.f64 {d}, a;", 64, lambda a, b, c: a),
    ]
    elementwise(
        "f64_nan_order",
        "which of several NaNs fma, sub .f64 give; cvt.f64.f64",
        fields,
        table,
        ops,
        notes=["HW: an H200 agrees; the expectation was written before it ran there"],
    )


def narrowed_nan(f, x):
    """An f64 NaN in a narrower format: quiet, of its sign, with what fits of its payload."""
    mantissa = F64.quieted(x) & ((1 << F64.mantissa_bits) - 1)
    sign = f.sign_bit if F64.is_negative(x) else 0
    return sign | f.infinity | mantissa >> (F64.mantissa_bits - f.mantissa_bits)


def nan_signs():
    table = [[x64, x32, 0] for x64, x32 in zip(nans(F64), nans(F32))]
    ops = [
        Op("abs.f32 {d}, a;", 32, lambda x, a: F32.canonical_nan),
        Op("neg.f32 {d}, a;", 32, lambda x, a: F32.canonical_nan),
        Op("abs.f64 {d}, x;", 64, lambda x, a: F64.quieted(x)),
        Op("neg.f64 {d}, x;", 64, lambda x, a: F64.quieted(x)),
        Op("cvt.rn.f32.f64 {d}, x;", 32, lambda x, a: narrowed_nan(F32, x)),
        Op("cvt.f64.f32 {d}, a;", 64, lambda x, a: NAN),
    ]
    elementwise(
        "float_nan_sign",
        "abs, neg and widths of NaN",
        {"x": 64, "a": 32, "pad": 32},
        table,
        ops,
        notes=[
            "HW: measured on an H200: .f32 gives the canonical NaN, .f64 and cvt.f32.f64 keep the",
            "sign, neg too, and quiet it",
        ],
    )


def nans_between_floats():
    """What a NaN of f64 becomes, and one of f32 that stays one or becomes f64."""
    wide = nans(F64) + [
        0x7FFFFFFFFFFFFFFF,
        0xFFFFFFFFFFFFFFFF,
        0x7FFDB97531ECA864,
        0xFFF123456789ABCD,
        0x7FF0000020000000,
        0x7FF0040000000000,
        0x7FF4000000000001,
    ]
    single = nans(F32) + [0x7FFFFFFF, 0xFFFFFFFF, 0x7FEDCBA9, 0xFF812345, 0x7FA00000, 0, F32.one]

    def widened(a):
        if not F32.is_nan(a):
            return F64.round(F32.value(a))
        sign = F64.sign_bit if F32.is_negative(a) else 0
        return F64.quieted(sign | F64.infinity | (a & 0x7FFFFF) << 29)

    ops = [
        Op(f"cvt.{mode}.{name}.f64 {{d}}, x;", f.bits, lambda x, a, f=f: narrowed_nan(f, x))
        for name, f, modes in (
            ("f32", F32, ("rn", "rz", "rn.ftz")),
            ("f16", F16, MODES),
            ("bf16", BF16, ("rn", "rz")),
        )
        for mode in modes
    ]
    ops += [
        Op("cvt.f64.f32 {d}, a;", 64, lambda x, a: widened(a)),
        Op("cvt.f32.f32 {d}, a;", 32, lambda x, a: a),
    ]
    elementwise(
        "cvt_f64_nan",
        "NaN from f64 to f32, f16, bf16, from f32 to f64 and f32",
        {"x": 64, "a": 32, "pad": 32},
        [[x, a, 0] for x, a in zip(wide, single)],
        ops,
        target="sm_90",
        version="7.8",
        notes=["HW: an H200 agrees; the expectation was written before it ran there"],
    )


def write_all():
    for family in (nan_choice, nan_signs, nans_between_floats):
        family()
