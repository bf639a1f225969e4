"""What compares floating-point numbers or looks at their signs and classes: min, setp, abs, testp."""

import softfloat as sf
from arithmetic.float_rows import NOTE_NAN, result, rows
from core import Op, elementwise
from softfloat import F32, F64


def order():
    for type_name, f in (("f32", F32), ("f64", F64)):
        ops = [
            Op(f"{n}.{type_name} {{d}}, a, b;", f.bits, lambda a, b, g=g: result(f, g(f, a, b)))
            for n, g in (("min", sf.minimum), ("max", sf.maximum))
        ]
        if f is F32:
            ops += [
                Op(
                    f"{n}.ftz.f32 {{d}}, a, b;",
                    32,
                    lambda a, b, g=g: result(f, g(f, f.flush(a), f.flush(b))),
                )
                for n, g in (("min", sf.minimum), ("max", sf.maximum))
            ]
        elementwise(
            f"{type_name}_min_max",
            f"min, max .{type_name}",
            {"a": f.bits, "b": f.bits},
            rows(210, f, 2),
            ops,
            notes=NOTE_NAN if f is F64 else [],
        )

    def xorsign(g, a, b, nan_wins=False):
        value = g(F32, F32.magnitude(a), F32.magnitude(b), nan_wins)
        return result(F32, value) if value is None else value | (a ^ b) & F32.sign_bit

    ops = [
        Op(f"{n}.NaN.f32 {{d}}, a, b;", 32, lambda a, b, g=g: result(F32, g(F32, a, b, True)))
        for n, g in (("min", sf.minimum), ("max", sf.maximum))
    ]
    ops += [
        Op(f"{n}.xorsign.abs.f32 {{d}}, a, b;", 32, lambda a, b, g=g: xorsign(g, a, b))
        for n, g in (("min", sf.minimum), ("max", sf.maximum))
    ]
    table = [r for r in rows(211, F32, 2)]
    elementwise(
        "f32_min_max_options",
        "min, max .NaN.f32 and .xorsign.abs.f32",
        {"a": 32, "b": 32},
        [r for r in table if not (F32.is_nan(r[0]) and F32.is_nan(r[1]))],
        ops,
        target="sm_86",
        version="7.2",
    )


def signs():
    ops = []
    for type_name, f, (a, b) in (("f32", F32, ("a", "b")), ("f64", F64, ("x", "y"))):
        ops += [
            Op(f"abs.{type_name} {{d}}, {a};", f.bits, lambda n=a, f=f, **v: f.magnitude(v[n])),
            Op(f"neg.{type_name} {{d}}, {a};", f.bits, lambda n=a, f=f, **v: v[n] ^ f.sign_bit),
            Op(
                f"copysign.{type_name} {{d}}, {a}, {b};",
                f.bits,
                lambda n=a, m=b, f=f, **v: f.magnitude(v[m]) | v[n] & f.sign_bit,
            ),
        ]
    ops += [
        Op("abs.ftz.f32 {d}, a;", 32, lambda a, **_: F32.flush(F32.magnitude(a))),
        Op("neg.ftz.f32 {d}, a;", 32, lambda a, **_: F32.flush(a ^ F32.sign_bit)),
    ]
    table = [
        w + n
        for w, n in zip(rows(220, F64, 2, with_nans=False), rows(221, F32, 2, with_nans=False))
    ]
    elementwise(
        "float_sign",
        "abs, neg, copysign .{f32,f64}; NaN: see float_nan_sign.ptx",
        {"x": 64, "y": 64, "a": 32, "b": 32},
        table,
        ops,
    )
    tests = {
        "finite": lambda f, x: f.magnitude(x) < f.infinity,
        "infinite": lambda f, x: f.is_infinite(x),
        "number": lambda f, x: not f.is_nan(x),
        "notanumber": lambda f, x: f.is_nan(x),
        "normal": lambda f, x: f.magnitude(x) < f.infinity and not f.is_subnormal(x),
        "subnormal": lambda f, x: f.is_subnormal(x),
    }
    ops = [
        Op(
            f"testp.{t}.{n} p, {r};\nselp.b32 {{d}}, 1, 0, p;",
            32,
            lambda r=r, f=f, g=g, **v: int(g(f, v[r])),
        )
        for n, f, r in (("f32", F32, "a"), ("f64", F64, "x"))
        for t, g in tests.items()
    ]
    table = [w + n + [0] for w, n in zip(rows(222, F64, 1, 64), rows(223, F32, 1, 64))]
    elementwise(
        "float_testp",
        "testp, all six, .{f32,f64}",
        {"x": 64, "a": 32, "pad": 32},
        table,
        ops,
        notes=["HW: measured on an H200: zero is a normal number"],
    )


COMPARES = {
    "eq": lambda o: o == 0,
    "ne": lambda o: o in (-1, 1),
    "lt": lambda o: o == -1,
    "le": lambda o: o in (-1, 0),
    "gt": lambda o: o == 1,
    "ge": lambda o: o in (0, 1),
    "num": lambda o: o is not None,
    "nan": lambda o: o is None,
}
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    COMPARES[_name + "u"] = lambda o, g=COMPARES[_name]: o is None or g(o)


def comparisons():
    for type_name, f in (("f32", F32), ("f64", F64)):
        table = rows(230, f, 2, 60)
        for row in table[2::5]:
            row[1] = row[0]
        for row in table[4::11]:
            row[0], row[1] = 0, f.sign_bit
        ops = [
            Op(
                f"setp.{n}.{type_name} p, a, b;\nselp.b32 {{d}}, 1, 0, p;",
                32,
                lambda a, b, g=g: int(g(sf.compare(f, a, b))),
            )
            for n, g in COMPARES.items()
        ]
        if f is F32:
            ops += [
                Op(
                    f"setp.{n}.ftz.f32 p, a, b;\nselp.b32 {{d}}, 1, 0, p;",
                    32,
                    lambda a, b, g=COMPARES[n]: int(g(sf.compare(f, f.flush(a), f.flush(b)))),
                )
                for n in ("eq", "lt", "geu")
            ]
        ops += [
            Op(
                f"setp.{n}.{type_name} p|q, a, b;\nselp.b32 {{d}}, 1, 0, q;",
                32,
                lambda a, b, g=COMPARES[n]: int(not g(sf.compare(f, a, b))),
            )
            for n in ("lt", "neu")
        ]
        ops += [
            Op(
                f"set.{n}.u32.{type_name} {{d}}, a, b;",
                32,
                lambda a, b, g=COMPARES[n]: -int(g(sf.compare(f, a, b))),
            )
            for n in ("gt", "equ")
        ]
        ops += [
            Op(
                f"set.{n}.f32.{type_name} {{d}}, a, b;",
                32,
                lambda a, b, g=COMPARES[n]: F32.one * int(g(sf.compare(f, a, b))),
            )
            for n in ("ge", "nan")
        ]
        elementwise(
            f"{type_name}_setp",
            f"setp.{type_name}, all ordered and unordered comparisons; set",
            {"a": f.bits, "b": f.bits},
            table,
            ops,
        )


def write_all():
    for family in (order, signs, comparisons):
        family()
