"""f16 and bf16, single and packed."""

import softfloat as sf
from arithmetic.float_order import COMPARES
from arithmetic.float_rows import product_rows, result
from arithmetic.floating import NAMES, saturated
from core import ANY, Op, elementwise
from softfloat import BF16, F16


def half():
    """f16 and bf16: one rounding to nearest even; subnormals are kept."""

    def ops_of(f, t, instructions):
        ops = []
        for name, compute, columns in instructions:
            ops.append(
                Op(
                    f"{name}.{t} {{d}}, {', '.join(NAMES[:columns])};",
                    16,
                    lambda g=compute, n=columns, **v: result(f, g(f, *[v[k] for k in NAMES[:n]])),
                )
            )
        return ops

    fields = {"a": 16, "b": 16, "c": 16, "pad": 16}
    basics = [
        ("add.rn", sf.add, 2),
        ("sub.rn", sf.sub, 2),
        ("mul.rn", sf.mul, 2),
        ("fma.rn", sf.fma, 3),
    ]

    def padded(table):
        return [row + [0] for row in table]

    def saturate_op(t, f, name, compute, columns):
        return Op(
            f"{name}.sat.{t} {{d}}, {', '.join(NAMES[:columns])};",
            16,
            lambda **v: saturated(f, compute(f, *[v[k] for k in NAMES[:columns]])),
        )

    ops = ops_of(F16, "f16", basics)
    ops += [saturate_op("f16", F16, n, g, k) for n, g, k in basics]
    elementwise(
        "f16_arithmetic",
        "add, sub, mul, fma .rn.f16, .sat",
        fields,
        padded(product_rows(240, F16, 64)),
        ops,
    )

    def relu(f, bits):
        if bits is None:
            return f.canonical_nan
        if f.is_zero(bits):
            return ANY if f.is_negative(bits) else 0
        return 0 if f.is_negative(bits) else bits

    ops = ops_of(F16, "f16", [("min", sf.minimum, 2), ("max", sf.maximum, 2)])
    ops += [
        Op("min.NaN.f16 {d}, a, b;", 16, lambda a, b, c: result(F16, sf.minimum(F16, a, b, True))),
        Op("max.NaN.f16 {d}, a, b;", 16, lambda a, b, c: result(F16, sf.maximum(F16, a, b, True))),
        Op("fma.rn.relu.f16 {d}, a, b, c;", 16, lambda a, b, c: relu(F16, sf.fma(F16, a, b, c))),
    ]
    elementwise(
        "f16_min_max",
        "min, max .f16, .NaN; fma.rn.relu.f16",
        fields,
        padded(product_rows(241, F16)),
        ops,
        target="sm_80",
    )

    ops = [
        Op("fma.rn.bf16 {d}, a, b, c;", 16, lambda a, b, c: result(BF16, sf.fma(BF16, a, b, c))),
        Op("fma.rn.relu.bf16 {d}, a, b, c;", 16, lambda a, b, c: relu(BF16, sf.fma(BF16, a, b, c))),
        Op("min.bf16 {d}, a, b;", 16, lambda a, b, c: result(BF16, sf.minimum(BF16, a, b))),
        Op("max.bf16 {d}, a, b;", 16, lambda a, b, c: result(BF16, sf.maximum(BF16, a, b))),
    ]
    elementwise(
        "bf16_arithmetic",
        "fma.rn, min, max .bf16",
        fields,
        padded(product_rows(242, BF16)),
        ops,
        target="sm_80",
    )
    ops = [
        Op(f"{n}.bf16 {{d}}, a, b;", 16, lambda a, b, c, g=g: result(BF16, g(BF16, a, b)))
        for n, g in (("add.rn", sf.add), ("sub.rn", sf.sub), ("mul.rn", sf.mul))
    ]
    elementwise(
        "bf16_sums",
        "add, sub, mul .rn.bf16",
        fields,
        padded(product_rows(243, BF16)),
        ops,
        target="sm_90",
        version="7.8",
    )


def packed():
    """Two halves in a register, each as the scalar instruction."""

    def pair(f, compute, operands):
        parts = []
        for shift in (0, 16):
            parts.append(result(f, compute(f, *[(x >> shift) & 0xFFFF for x in operands])))
        return parts[1] << 16 | parts[0]

    def rows_of(seed, f):
        low, high = product_rows(seed, f, 48), product_rows(seed + 1, f, 48)
        return [[h << 16 | x for x, h in zip(a, b)] for a, b in zip(low, high)]

    fields = {"a": 32, "b": 32, "c": 32}
    ops = [
        Op(f"{n}.f16x2 {{d}}, a, b;", 32, lambda a, b, c, g=g: pair(F16, g, (a, b)))
        for n, g in (("add.rn", sf.add), ("sub.rn", sf.sub), ("mul.rn", sf.mul))
    ]
    ops.append(Op("fma.rn.f16x2 {d}, a, b, c;", 32, lambda a, b, c: pair(F16, sf.fma, (a, b, c))))
    elementwise("f16x2_arithmetic", "add, sub, mul, fma .rn.f16x2", fields, rows_of(250, F16), ops)
    ops = [Op("fma.rn.bf16x2 {d}, a, b, c;", 32, lambda a, b, c: pair(BF16, sf.fma, (a, b, c)))]
    elementwise("bf16x2_fma", "fma.rn.bf16x2", fields, rows_of(252, BF16), ops, target="sm_80")

    def compare_pair(a, b, k):
        return sf.compare(F16, (a >> 16 * k) & 0xFFFF, (b >> 16 * k) & 0xFFFF)

    ops = [
        Op(
            f"mov.b32 {{{{h0, h1}}}}, a;\nmov.b32 {{{{h2, h3}}}}, b;\nsetp.{n}.f16 p, h0, h2;\n"
            "selp.b32 {d}, 1, 0, p;",
            32,
            lambda a, b, c, n=n: int(COMPARES[n](compare_pair(a, b, 0))),
        )
        for n in ("lt", "geu", "eq", "neu", "nan", "num")
    ]
    elementwise("f16_setp", "setp.f16", fields, rows_of(254, F16), ops)

    def set_pair(name, a, b):
        low, high = (F16.one * int(COMPARES[name](compare_pair(a, b, k))) for k in (0, 1))
        return high << 16 | low

    ops = [
        Op(f"set.{n}.f16x2.f16x2 {{d}}, a, b;", 32, lambda a, b, c, n=n: set_pair(n, a, b))
        for n in ("eq", "lt", "geu", "nan")
    ]
    elementwise("f16x2_set", "set.f16x2.f16x2", fields, rows_of(256, F16), ops)


def write_all():
    for family in (half, packed):
        family()
