"""Floating-point arithmetic of f32 and f64: rounding modes, .ftz, .sat."""

import softfloat as sf
from arithmetic.float_rows import MODES, NOTE_NAN, product_rows, result, rows
from core import ANY, Op, elementwise
from softfloat import F32, F64

NAMES = ("a", "b", "c")


def flushed(f, compute, operands, mode):
    """.ftz: subnormal inputs and results are zeros of their sign."""
    operands = [f.flush(x) for x in operands]
    value = compute(f, *operands, mode)
    if value is None:
        return result(f, None)
    below = compute(f, *operands, "rz")
    # Whether a result that rounds up to the smallest normal number is flushed is left open.
    if f.is_subnormal(below) and not f.is_subnormal(value):
        return ANY
    return f.flush(value)


def saturated(f, bits):
    if bits is None:
        return 0
    if f.is_zero(bits):
        return ANY if f.is_negative(bits) else 0
    return 0 if f.is_negative(bits) else min(bits, f.one)


def rounding_ops(instruction, f, compute, columns, type_name, modes=MODES, ftz=False, sat=False):
    names = NAMES[:columns]
    operands = ", ".join(names)
    ops = []
    for mode in modes:
        ops.append(
            Op(
                f"{instruction}.{mode}.{type_name} {{d}}, {operands};",
                f.bits,
                lambda mode=mode, **v: result(f, compute(f, *[v[n] for n in names], mode)),
            )
        )
        if ftz:
            ops.append(
                Op(
                    f"{instruction}.{mode}.ftz.{type_name} {{d}}, {operands};",
                    f.bits,
                    lambda mode=mode, **v: flushed(f, compute, [v[n] for n in names], mode),
                )
            )
    if sat:
        ops.append(
            Op(
                f"{instruction}.rn.sat.{type_name} {{d}}, {operands};",
                f.bits,
                lambda **v: saturated(f, compute(f, *[v[n] for n in names], "rn")),
            )
        )
    return ops


def arithmetic():
    seeds = iter(range(100, 200))
    for type_name, f, ftz in (("f32", F32, True), ("f64", F64, False)):
        notes = NOTE_NAN if f is F64 else []
        for name, compute, columns in (
            ("add", sf.add, 2),
            ("sub", sf.sub, 2),
            ("mul", sf.mul, 2),
            ("fma", sf.fma, 3),
            ("div", sf.div, 2),
        ):
            table = product_rows(next(seeds), f) if name == "fma" else rows(next(seeds), f, columns)
            ops = rounding_ops(
                name, f, compute, columns, type_name, MODES, ftz, sat=ftz and name != "div"
            )
            elementwise(
                f"{type_name}_{name}",
                f"{name}.{{rn,rz,rm,rp}}.{type_name}"
                + (", .ftz" + (", .sat" if name != "div" else "") if ftz else ""),
                dict.fromkeys(NAMES[:columns], f.bits),
                table,
                ops,
                notes=notes,
            )
        ops = rounding_ops("sqrt", f, sf.sqrt, 1, type_name, MODES, ftz)
        ops += rounding_ops(
            "rcp", f, lambda f, a, mode: sf.div(f, f.one, a, mode), 1, type_name, MODES, ftz
        )
        table = rows(next(seeds), f, 1)
        for row in table[::2]:
            row[0] &= f.sign_bit - 1
        elementwise(
            f"{type_name}_sqrt_rcp",
            f"sqrt, rcp .{{rn,rz,rm,rp}}.{type_name}",
            {"a": f.bits},
            table,
            ops,
            notes=notes,
        )


def defaults():
    """Instructions whose rounding is not written round to nearest even."""
    ops = [
        Op(f"{n}.f32 {{d}}, a, b;", 32, lambda a, b, c, x, y, z, g=g: result(F32, g(F32, a, b)))
        for n, g in (("add", sf.add), ("sub", sf.sub), ("mul", sf.mul))
    ]
    ops += [
        Op(f"{n}.f64 {{d}}, x, y;", 64, lambda a, b, c, x, y, z, g=g: result(F64, g(F64, x, y)))
        for n, g in (("add", sf.add), ("sub", sf.sub), ("mul", sf.mul))
    ]
    ops += [
        Op(
            "mad.rn.f32 {d}, a, b, c;",
            32,
            lambda a, b, c, x, y, z: result(F32, sf.fma(F32, a, b, c)),
        ),
        Op(
            "mad.rn.f64 {d}, x, y, z;",
            64,
            lambda a, b, c, x, y, z: result(F64, sf.fma(F64, x, y, z)),
        ),
    ]
    table = [w + n + [0] for w, n in zip(product_rows(201, F64), product_rows(202, F32))]
    fields = {"x": 64, "y": 64, "z": 64, "a": 32, "b": 32, "c": 32, "pad": 32}
    elementwise(
        "float_default_rounding",
        "add, sub, mul .{f32,f64} and mad.rn",
        fields,
        table,
        ops,
        notes=NOTE_NAN,
    )


def write_all():
    for family in (arithmetic, defaults):
        family()
