"""Floating-point arithmetic of f32 and f64: rounding modes, .ftz, .sat, comparisons, NaN."""

import random

import softfloat as sf
from core import ANY, NAN, Op, elementwise
from softfloat import F32, F64

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


NAMES = ("a", "b", "c")


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


def write_all():
    for family in (arithmetic, defaults, order, signs, comparisons, nan_choice, nan_signs):
        family()
