"""The .approx instructions: within a tolerance, and exact for special operands."""

import math
import random
import struct
from fractions import Fraction

import softfloat as sf
from core import ANY, Op, elementwise
from softfloat import BF16, F16, F32, F64


def f32_bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def f32_value(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def approximations():
    rng = random.Random(260)

    def rounded(x):
        return F32.canonical_nan if math.isnan(x) else f32_bits(x)

    table = [
        [
            rng.randrange(0x20000000, 0x5F000000),
            rng.randrange(0x20000000, 0x5F000000) | rng.getrandbits(1) << 31,
        ]
        for _ in range(32)
    ]
    forms = {
        "rcp.approx.f32": lambda a, b: sf.div(F32, F32.one, b),
        "rcp.approx.ftz.f32": lambda a, b: sf.div(F32, F32.one, b),
        "div.approx.f32": lambda a, b: sf.div(F32, a, b),
        "div.full.f32": lambda a, b: sf.div(F32, a, b),
        "sqrt.approx.f32": lambda a, b: sf.sqrt(F32, a),
        "rsqrt.approx.f32": lambda a, b: rounded(1 / math.sqrt(f32_value(a))),
    }

    def operands(form):
        return "b" if form.startswith("rcp") else "a, b" if form.startswith("div") else "a"

    def write(name, op, forms, table, tolerance, fields, operands, **kwargs):
        ops = [
            Op(f"{form} {{d}}, {operands(form)};", next(iter(fields.values())), meaning)
            for form, meaning in forms.items()
        ]
        notes = [f"tolerance: {tolerance} ulp", "approximate: " + " ".join(forms)]
        elementwise(name, op, fields, table, ops, notes=notes, **kwargs)

    write(
        "approx_division",
        "rcp, rsqrt, sqrt, div .approx.f32, div.full.f32",
        forms,
        table,
        2,
        {"a": 32, "b": 32},
        operands,
    )

    table = [
        [
            f32_bits(rng.uniform(-20, 20)),
            (
                rng.randrange(0x10000000, 0x3E000000)
                if k % 2
                else rng.randrange(0x40800000, 0x7F000000)
            ),
        ]
        for k in range(32)
    ]
    table[0][0] = 0
    write(
        "approx_exponential",
        "ex2, lg2 .approx.f32",
        {
            "ex2.approx.f32": lambda a, b: rounded(2.0 ** f32_value(a)),
            "ex2.approx.ftz.f32": lambda a, b: rounded(2.0 ** f32_value(a)),
            "lg2.approx.f32": lambda a, b: rounded(math.log2(f32_value(b))),
            "lg2.approx.ftz.f32": lambda a, b: rounded(math.log2(f32_value(b))),
        },
        table,
        4,
        {"a": 32, "b": 32},
        lambda form: "a" if form.startswith("ex2") else "b",
    )

    # The error is bounded in absolute terms, so results near zero are left out.
    table = []
    while len(table) < 32:
        a, b = rng.uniform(-6, 6), rng.uniform(-6, 6)
        if abs(math.sin(a)) > 0.3 and abs(math.cos(b)) > 0.3:
            table.append([f32_bits(a), f32_bits(b)])
    write(
        "approx_trigonometric",
        "sin, cos .approx.f32",
        {
            "sin.approx.f32": lambda a, b: rounded(math.sin(f32_value(a))),
            "cos.approx.f32": lambda a, b: rounded(math.cos(f32_value(b))),
        },
        table,
        64,
        {"a": 32, "b": 32},
        lambda form: "a" if form.startswith("sin") else "b",
    )
    table = [[f32_bits(rng.uniform(-4, 4))] for _ in range(31)] + [[0]]
    write(
        "approx_tanh",
        "tanh.approx.f32",
        {"tanh.approx.f32": lambda a: rounded(math.tanh(f32_value(a)))},
        table,
        12000,
        {"a": 32},
        lambda form: "a",
    )
    # Only the upper half of the result is computed.
    table = [[rng.randrange(0x2FF0000000000000, 0x4FF0000000000000)] for _ in range(32)]
    write(
        "approx_f64",
        "rcp, rsqrt .approx.ftz.f64",
        {
            "rcp.approx.ftz.f64": lambda a: sf.div(F64, F64.one, a & ~0xFFFFFFFF),
            "rsqrt.approx.ftz.f64": lambda a: sf.div(F64, F64.one, sf.sqrt(F64, a & ~0xFFFFFFFF)),
        },
        table,
        1 << 34,
        {"a": 64},
        lambda form: "a",
    )


def tanh_of_halves():
    rng = random.Random(261)
    # The error is bounded in absolute terms: 2^-10.987 and 2^-8 (PTX ISA, tanh).
    for f, word in ((F16, "f16"), (BF16, "bf16")):
        table = [
            [f.round(Fraction(rng.uniform(0.5, 4)), "rn", False) | rng.getrandbits(1) << (f.bits - 1)]
            for _ in range(64)
        ]

        def meaning(h, f=f):
            x = f.value(h)
            return f.round(Fraction(math.tanh(x)), "rn", x < 0)

        whole = f"tanh.approx.{word}x2"
        ops = [Op(f"tanh.approx.{word} {{d}}, h;", 16, meaning)] + [
            Op(f"mov.b32 t0, {{{{h, h}}}};\n{whole} t0, t0;\nmov.b32 {parts}, t0;", 16, meaning)
            for parts in ("{{{d}, h7}}", "{{h7, {d}}}")
        ]
        forms = f"tanh.approx.{word} {whole}"
        elementwise(
            f"approx_tanh_{word}",
            forms.replace(" ", ", "),
            {"h": 16},
            table,
            ops,
            notes=["tolerance: 4 ulp", f"approximate: {forms}"],
            target="sm_90",
            version="7.8",
        )


def special_values_of_approximations():
    """What the manual's tables of special operands fix exactly."""
    inf, nan, one, neg = F32.infinity, F32.canonical_nan, F32.one, F32.sign_bit
    tables = {
        "rcp.approx.ftz.f32": {0: inf, neg: neg | inf, inf: 0, neg | inf: neg, nan: nan},
        "rsqrt.approx.ftz.f32": {
            0: inf,
            neg: neg | inf,
            inf: 0,
            neg | inf: nan,
            neg | one: nan,
            nan: nan,
        },
        "sqrt.approx.ftz.f32": {0: 0, neg: neg, inf: inf, neg | inf: nan, neg | one: nan, nan: nan},
        "ex2.approx.ftz.f32": {0: one, neg: one, inf: inf, neg | inf: 0, nan: nan},
        "lg2.approx.ftz.f32": {
            0: neg | inf,
            neg: neg | inf,
            inf: inf,
            neg | inf: nan,
            neg | one: nan,
            nan: nan,
        },
        "sin.approx.ftz.f32": {0: 0, neg: neg, inf: nan, neg | inf: nan, nan: nan},
        "cos.approx.ftz.f32": {0: one, neg: one, inf: nan, neg | inf: nan, nan: nan},
    }
    ops = [Op(f"{form} {{d}}, a;", 32, lambda a, t=t: t.get(a, ANY)) for form, t in tables.items()]
    table = [[x] for x in (0, neg, inf, neg | inf, neg | one, nan, 0x7F800001)]
    elementwise(
        "approx_special",
        "special operands of the .approx instructions",
        {"a": 32},
        table,
        ops,
        notes=["approximate: " + " ".join(tables)],
    )


def write_all():
    for family in (approximations, tanh_of_halves, special_values_of_approximations):
        family()
