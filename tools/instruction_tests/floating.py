"""Floating-point arithmetic of all formats, rounding modes, .ftz and .sat."""

import math
import random
import struct

import softfloat as sf
from core import ANY, NAN, Op, elementwise
from softfloat import BF16, F16, F32, F64

MODES = ("rn", "rz", "rm", "rp")
NOTE_NAN = ["NaN results of f64 may carry any payload here; see f64_nan_payload.ptx"]


def specials(f):
    one, ulp = f.one, 1
    step = 1 << f.mantissa_bits  # doubles a number
    positive = [0, 1, 2, f.smallest_normal - 1, f.smallest_normal, f.smallest_normal + 1, one, one + ulp,
                one - ulp, one + step, one + step + step // 2, one - step, one + step - 1,
                one + f.mantissa_bits * step, one + (f.mantissa_bits + 1) * step,
                one - (f.mantissa_bits + 1) * step, f.largest, f.largest - 1, f.infinity]
    return positive + [x | f.sign_bit for x in positive]


def nans(f):
    quiet = 1 << (f.mantissa_bits - 1)
    return [f.infinity | quiet, f.infinity | quiet | 0x15, f.infinity | 1, f.infinity | f.sign_bit | 2,
            f.sign_bit | f.infinity | quiet | 3]


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
        ops.append(Op(f"{instruction}.{mode}.{type_name} {{d}}, {operands};", f.bits,
                      lambda mode=mode, **v: result(f, compute(f, *[v[n] for n in names], mode))))
        if ftz:
            ops.append(Op(f"{instruction}.{mode}.ftz.{type_name} {{d}}, {operands};", f.bits,
                          lambda mode=mode, **v: flushed(f, compute, [v[n] for n in names], mode)))
    if sat:
        ops.append(Op(f"{instruction}.rn.sat.{type_name} {{d}}, {operands};", f.bits,
                      lambda **v: saturated(f, compute(f, *[v[n] for n in names], "rn"))))
    return ops


def arithmetic():
    seeds = iter(range(100, 200))
    for type_name, f, ftz in (("f32", F32, True), ("f64", F64, False)):
        notes = NOTE_NAN if f is F64 else []
        for name, compute, columns in (("add", sf.add, 2), ("sub", sf.sub, 2), ("mul", sf.mul, 2),
                                       ("fma", sf.fma, 3), ("div", sf.div, 2)):
            table = product_rows(next(seeds), f) if name == "fma" else rows(next(seeds), f, columns)
            ops = rounding_ops(name, f, compute, columns, type_name, MODES, ftz,
                               sat=ftz and name != "div")
            elementwise(f"{type_name}_{name}", f"{name}.{{rn,rz,rm,rp}}.{type_name}"
                        + (", .ftz" + (", .sat" if name != "div" else "") if ftz else ""),
                        dict.fromkeys(NAMES[:columns], f.bits), table, ops, notes=notes)
        ops = rounding_ops("sqrt", f, sf.sqrt, 1, type_name, MODES, ftz)
        ops += rounding_ops("rcp", f, lambda f, a, mode: sf.div(f, f.one, a, mode), 1, type_name, MODES,
                            ftz)
        table = rows(next(seeds), f, 1)
        for row in table[::2]:
            row[0] &= f.sign_bit - 1
        elementwise(f"{type_name}_sqrt_rcp", f"sqrt, rcp .{{rn,rz,rm,rp}}.{type_name}", {"a": f.bits},
                    table, ops, notes=notes)


def defaults():
    """Instructions whose rounding is not written round to nearest even."""
    ops = [Op(f"{n}.f32 {{d}}, a, b;", 32, lambda a, b, c, x, y, z, g=g: result(F32, g(F32, a, b)))
           for n, g in (("add", sf.add), ("sub", sf.sub), ("mul", sf.mul))]
    ops += [Op(f"{n}.f64 {{d}}, x, y;", 64, lambda a, b, c, x, y, z, g=g: result(F64, g(F64, x, y)))
            for n, g in (("add", sf.add), ("sub", sf.sub), ("mul", sf.mul))]
    ops += [Op("mad.rn.f32 {d}, a, b, c;", 32,
               lambda a, b, c, x, y, z: result(F32, sf.fma(F32, a, b, c))),
            Op("mad.rn.f64 {d}, x, y, z;", 64,
               lambda a, b, c, x, y, z: result(F64, sf.fma(F64, x, y, z)))]
    table = [w + n + [0] for w, n in zip(product_rows(201, F64), product_rows(202, F32))]
    fields = {"x": 64, "y": 64, "z": 64, "a": 32, "b": 32, "c": 32, "pad": 32}
    elementwise("float_default_rounding", "add, sub, mul .{f32,f64} and mad.rn", fields, table,
                ops, notes=NOTE_NAN)


def order():
    for type_name, f in (("f32", F32), ("f64", F64)):
        ops = [Op(f"{n}.{type_name} {{d}}, a, b;", f.bits, lambda a, b, g=g: result(f, g(f, a, b)))
               for n, g in (("min", sf.minimum), ("max", sf.maximum))]
        if f is F32:
            ops += [Op(f"{n}.ftz.f32 {{d}}, a, b;", 32,
                       lambda a, b, g=g: result(f, g(f, f.flush(a), f.flush(b))))
                    for n, g in (("min", sf.minimum), ("max", sf.maximum))]
        elementwise(f"{type_name}_min_max", f"min, max .{type_name}", {"a": f.bits, "b": f.bits},
                    rows(210, f, 2), ops, notes=NOTE_NAN if f is F64 else [])

    def xorsign(g, a, b, nan_wins=False):
        value = g(F32, F32.magnitude(a), F32.magnitude(b), nan_wins)
        return result(F32, value) if value is None else value | (a ^ b) & F32.sign_bit

    ops = [Op(f"{n}.NaN.f32 {{d}}, a, b;", 32, lambda a, b, g=g: result(F32, g(F32, a, b, True)))
           for n, g in (("min", sf.minimum), ("max", sf.maximum))]
    ops += [Op(f"{n}.xorsign.abs.f32 {{d}}, a, b;", 32, lambda a, b, g=g: xorsign(g, a, b))
            for n, g in (("min", sf.minimum), ("max", sf.maximum))]
    table = [r for r in rows(211, F32, 2)]
    elementwise("f32_min_max_options", "min, max .NaN.f32 and .xorsign.abs.f32", {"a": 32, "b": 32},
                [r for r in table if not (F32.is_nan(r[0]) and F32.is_nan(r[1]))], ops, target="sm_86",
                version="7.2")


def signs():
    ops = []
    for type_name, f, (a, b) in (("f32", F32, ("a", "b")), ("f64", F64, ("x", "y"))):
        ops += [
            Op(f"abs.{type_name} {{d}}, {a};", f.bits, lambda n=a, f=f, **v: f.magnitude(v[n])),
            Op(f"neg.{type_name} {{d}}, {a};", f.bits, lambda n=a, f=f, **v: v[n] ^ f.sign_bit),
            Op(f"copysign.{type_name} {{d}}, {a}, {b};", f.bits,
               lambda n=a, m=b, f=f, **v: f.magnitude(v[m]) | v[n] & f.sign_bit),
        ]
    ops += [Op("abs.ftz.f32 {d}, a;", 32, lambda a, **_: F32.flush(F32.magnitude(a))),
            Op("neg.ftz.f32 {d}, a;", 32, lambda a, **_: F32.flush(a ^ F32.sign_bit))]
    table = [w + n for w, n in zip(rows(220, F64, 2, with_nans=False),
                                   rows(221, F32, 2, with_nans=False))]
    elementwise("float_sign", "abs, neg, copysign .{f32,f64}; NaN: see float_nan_sign.ptx",
                {"x": 64, "y": 64, "a": 32, "b": 32}, table, ops)
    tests = {
        "finite": lambda f, x: f.magnitude(x) < f.infinity,
        "infinite": lambda f, x: f.is_infinite(x),
        "number": lambda f, x: not f.is_nan(x),
        "notanumber": lambda f, x: f.is_nan(x),
        "normal": lambda f, x: f.smallest_normal <= f.magnitude(x) < f.infinity,
        "subnormal": lambda f, x: f.is_subnormal(x),
    }
    ops = [Op(f"testp.{t}.{n} p, {r};\nselp.b32 {{d}}, 1, 0, p;", 32,
              lambda r=r, f=f, g=g, **v: int(g(f, v[r])))
           for n, f, r in (("f32", F32, "a"), ("f64", F64, "x")) for t, g in tests.items()]
    table = [w + n + [0] for w, n in zip(rows(222, F64, 1, 64), rows(223, F32, 1, 64))]
    elementwise("float_testp", "testp, all six, .{f32,f64}", {"x": 64, "a": 32, "pad": 32}, table, ops)


COMPARES = {
    "eq": lambda o: o == 0, "ne": lambda o: o in (-1, 1), "lt": lambda o: o == -1,
    "le": lambda o: o in (-1, 0), "gt": lambda o: o == 1, "ge": lambda o: o in (0, 1),
    "num": lambda o: o is not None, "nan": lambda o: o is None,
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
        ops = [Op(f"setp.{n}.{type_name} p, a, b;\nselp.b32 {{d}}, 1, 0, p;", 32,
                  lambda a, b, g=g: int(g(sf.compare(f, a, b)))) for n, g in COMPARES.items()]
        if f is F32:
            ops += [Op(f"setp.{n}.ftz.f32 p, a, b;\nselp.b32 {{d}}, 1, 0, p;", 32,
                       lambda a, b, g=COMPARES[n]: int(g(sf.compare(f, f.flush(a), f.flush(b)))))
                    for n in ("eq", "lt", "geu")]
        ops += [Op(f"setp.{n}.{type_name} p|q, a, b;\nselp.b32 {{d}}, 1, 0, q;", 32,
                   lambda a, b, g=COMPARES[n]: int(not g(sf.compare(f, a, b)))) for n in ("lt", "neu")]
        ops += [Op(f"set.{n}.u32.{type_name} {{d}}, a, b;", 32,
                   lambda a, b, g=COMPARES[n]: -int(g(sf.compare(f, a, b)))) for n in ("gt", "equ")]
        ops += [Op(f"set.{n}.f32.{type_name} {{d}}, a, b;", 32,
                   lambda a, b, g=COMPARES[n]: F32.one * int(g(sf.compare(f, a, b))))
                for n in ("ge", "nan")]
        elementwise(f"{type_name}_setp", f"setp.{type_name}, all ordered and unordered comparisons; set",
                    {"a": f.bits, "b": f.bits}, table, ops)


def half():
    """f16 and bf16: one rounding to nearest even; subnormals are kept."""
    def ops_of(f, t, instructions):
        ops = []
        for name, compute, columns in instructions:
            ops.append(Op(f"{name}.{t} {{d}}, {', '.join(NAMES[:columns])};", 16,
                          lambda g=compute, n=columns, **v: result(
                              f, g(f, *[v[k] for k in NAMES[:n]]))))
        return ops

    fields = {"a": 16, "b": 16, "c": 16, "pad": 16}
    basics = [("add.rn", sf.add, 2), ("sub.rn", sf.sub, 2), ("mul.rn", sf.mul, 2), ("fma.rn", sf.fma, 3)]

    def padded(table):
        return [row + [0] for row in table]

    def saturate_op(t, f, name, compute, columns):
        return Op(f"{name}.sat.{t} {{d}}, {', '.join(NAMES[:columns])};", 16,
                  lambda **v: saturated(f, compute(f, *[v[k] for k in NAMES[:columns]])))

    ops = ops_of(F16, "f16", basics)
    ops += [saturate_op("f16", F16, n, g, k) for n, g, k in basics]
    elementwise("f16_arithmetic", "add, sub, mul, fma .rn.f16, .sat", fields,
                padded(product_rows(240, F16, 64)),
                ops)

    def relu(f, bits):
        if bits is None:
            return f.canonical_nan
        if f.is_zero(bits):
            return ANY if f.is_negative(bits) else 0
        return 0 if f.is_negative(bits) else bits

    ops = ops_of(F16, "f16", [("min", sf.minimum, 2), ("max", sf.maximum, 2)])
    ops += [Op("min.NaN.f16 {d}, a, b;", 16, lambda a, b, c: result(F16, sf.minimum(F16, a, b, True))),
            Op("max.NaN.f16 {d}, a, b;", 16, lambda a, b, c: result(F16, sf.maximum(F16, a, b, True))),
            Op("fma.rn.relu.f16 {d}, a, b, c;", 16, lambda a, b, c: relu(F16, sf.fma(F16, a, b, c)))]
    elementwise("f16_min_max", "min, max .f16, .NaN; fma.rn.relu.f16", fields,
                padded(product_rows(241, F16)),
                ops, target="sm_80")

    ops = [Op("fma.rn.bf16 {d}, a, b, c;", 16, lambda a, b, c: result(BF16, sf.fma(BF16, a, b, c))),
           Op("fma.rn.relu.bf16 {d}, a, b, c;", 16, lambda a, b, c: relu(BF16, sf.fma(BF16, a, b, c))),
           Op("min.bf16 {d}, a, b;", 16, lambda a, b, c: result(BF16, sf.minimum(BF16, a, b))),
           Op("max.bf16 {d}, a, b;", 16, lambda a, b, c: result(BF16, sf.maximum(BF16, a, b)))]
    elementwise("bf16_arithmetic", "fma.rn, min, max .bf16", fields, padded(product_rows(242, BF16)),
                ops, target="sm_80")
    ops = [Op(f"{n}.bf16 {{d}}, a, b;", 16, lambda a, b, c, g=g: result(BF16, g(BF16, a, b)))
           for n, g in (("add.rn", sf.add), ("sub.rn", sf.sub), ("mul.rn", sf.mul))]
    elementwise("bf16_sums", "add, sub, mul .rn.bf16", fields, padded(product_rows(243, BF16)),
                ops, target="sm_90",
                version="7.8")


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
    ops = [Op(f"{n}.f16x2 {{d}}, a, b;", 32, lambda a, b, c, g=g: pair(F16, g, (a, b)))
           for n, g in (("add.rn", sf.add), ("sub.rn", sf.sub), ("mul.rn", sf.mul))]
    ops.append(Op("fma.rn.f16x2 {d}, a, b, c;", 32, lambda a, b, c: pair(F16, sf.fma, (a, b, c))))
    elementwise("f16x2_arithmetic", "add, sub, mul, fma .rn.f16x2", fields, rows_of(250, F16), ops)
    ops = [Op("fma.rn.bf16x2 {d}, a, b, c;", 32, lambda a, b, c: pair(BF16, sf.fma, (a, b, c)))]
    elementwise("bf16x2_fma", "fma.rn.bf16x2", fields, rows_of(252, BF16), ops, target="sm_80")

    def compare_pair(a, b, k):
        return sf.compare(F16, (a >> 16 * k) & 0xFFFF, (b >> 16 * k) & 0xFFFF)

    ops = [Op(f"setp.{n}.f16x2 p|q, a, b;\nselp.b32 {{d}}, 1, 0, {r};", 32,
              lambda a, b, c, n=n, k=k: int(COMPARES[n](compare_pair(a, b, k))))
           for n in ("lt", "geu", "eq") for k, r in enumerate("pq")]
    ops += [Op(f"mov.b32 {{{{h0, h1}}}}, a;\nmov.b32 {{{{h2, h3}}}}, b;\nsetp.{n}.f16 p, h0, h2;\n"
               "selp.b32 {d}, 1, 0, p;", 32,
               lambda a, b, c, n=n: int(COMPARES[n](compare_pair(a, b, 0))))
            for n in ("lt", "neu", "nan")]
    elementwise("f16_setp", "setp.f16, setp.f16x2", fields, rows_of(254, F16), ops)


def f32_bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def f32_value(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def approximations():
    rng = random.Random(260)

    def rounded(x):
        return F32.canonical_nan if math.isnan(x) else f32_bits(x)

    table = [[rng.randrange(0x20000000, 0x5F000000), rng.randrange(0x20000000, 0x5F000000)
              | rng.getrandbits(1) << 31] for _ in range(32)]
    forms = {"rcp.approx.f32": lambda a, b: sf.div(F32, F32.one, b),
             "rcp.approx.ftz.f32": lambda a, b: sf.div(F32, F32.one, b),
             "div.approx.f32": lambda a, b: sf.div(F32, a, b),
             "div.full.f32": lambda a, b: sf.div(F32, a, b),
             "sqrt.approx.f32": lambda a, b: sf.sqrt(F32, a),
             "rsqrt.approx.f32": lambda a, b: rounded(1 / math.sqrt(f32_value(a)))}

    def operands(form):
        return "b" if form.startswith("rcp") else "a, b" if form.startswith("div") else "a"

    def write(name, op, forms, table, tolerance, fields, operands, **kwargs):
        ops = [Op(f"{form} {{d}}, {operands(form)};", next(iter(fields.values())), meaning)
               for form, meaning in forms.items()]
        notes = [f"tolerance: {tolerance} ulp", "approximate: " + " ".join(forms)]
        elementwise(name, op, fields, table, ops, notes=notes, **kwargs)

    write("approx_division", "rcp, rsqrt, sqrt, div .approx.f32, div.full.f32", forms, table, 2,
          {"a": 32, "b": 32}, operands)

    table = [[f32_bits(rng.uniform(-20, 20)), rng.randrange(0x10000000, 0x3E000000)
              if k % 2 else rng.randrange(0x40800000, 0x7F000000)] for k in range(32)]
    table[0][0] = 0
    write("approx_exponential", "ex2, lg2 .approx.f32",
          {"ex2.approx.f32": lambda a, b: rounded(2.0 ** f32_value(a)),
           "ex2.approx.ftz.f32": lambda a, b: rounded(2.0 ** f32_value(a)),
           "lg2.approx.f32": lambda a, b: rounded(math.log2(f32_value(b))),
           "lg2.approx.ftz.f32": lambda a, b: rounded(math.log2(f32_value(b)))},
          table, 4, {"a": 32, "b": 32}, lambda form: "a" if form.startswith("ex2") else "b")

    # The error is bounded in absolute terms, so results near zero are left out.
    table = []
    while len(table) < 32:
        a, b = rng.uniform(-6, 6), rng.uniform(-6, 6)
        if abs(math.sin(a)) > 0.3 and abs(math.cos(b)) > 0.3:
            table.append([f32_bits(a), f32_bits(b)])
    write("approx_trigonometric", "sin, cos .approx.f32",
          {"sin.approx.f32": lambda a, b: rounded(math.sin(f32_value(a))),
           "cos.approx.f32": lambda a, b: rounded(math.cos(f32_value(b)))},
          table, 64, {"a": 32, "b": 32}, lambda form: "a" if form.startswith("sin") else "b")
    table = [[f32_bits(rng.uniform(-4, 4))] for _ in range(31)] + [[0]]
    write("approx_tanh", "tanh.approx.f32",
          {"tanh.approx.f32": lambda a: rounded(math.tanh(f32_value(a)))}, table, 12000, {"a": 32},
          lambda form: "a")
    # Only the upper half of the result is computed.
    table = [[rng.randrange(0x2FF0000000000000, 0x4FF0000000000000)] for _ in range(32)]
    write("approx_f64", "rcp, rsqrt .approx.ftz.f64",
          {"rcp.approx.ftz.f64": lambda a: sf.div(F64, F64.one, a & ~0xFFFFFFFF),
           "rsqrt.approx.ftz.f64": lambda a: sf.div(F64, F64.one, sf.sqrt(F64, a & ~0xFFFFFFFF))},
          table, 1 << 34, {"a": 64}, lambda form: "a")


def special_values_of_approximations():
    """What the manual's tables of special operands fix exactly."""
    inf, nan, one, neg = F32.infinity, F32.canonical_nan, F32.one, F32.sign_bit
    tables = {
        "rcp.approx.ftz.f32": {0: inf, neg: neg | inf, inf: 0, neg | inf: neg, nan: nan},
        "rsqrt.approx.ftz.f32": {0: inf, neg: neg | inf, inf: 0, neg | inf: nan, neg | one: nan,
                                 nan: nan},
        "sqrt.approx.ftz.f32": {0: 0, neg: neg, inf: inf, neg | inf: nan, neg | one: nan, nan: nan},
        "ex2.approx.ftz.f32": {0: one, neg: one, inf: inf, neg | inf: 0, nan: nan},
        "lg2.approx.ftz.f32": {0: neg | inf, neg: neg | inf, inf: inf, neg | inf: nan,
                               neg | one: nan, nan: nan},
        "sin.approx.ftz.f32": {0: 0, neg: neg, inf: nan, neg | inf: nan, nan: nan},
        "cos.approx.ftz.f32": {0: one, neg: one, inf: nan, neg | inf: nan, nan: nan},
    }
    ops = [Op(f"{form} {{d}}, a;", 32, lambda a, t=t: t.get(a, ANY)) for form, t in tables.items()]
    table = [[x] for x in (0, neg, inf, neg | inf, neg | one, nan, 0x7F800001)]
    elementwise("approx_special", "special operands of the .approx instructions", {"a": 32}, table, ops,
                notes=["approximate: " + " ".join(tables)])


def nan_questions():
    """Files for what the manual does not fix: the expectation is what a GPU of sm_90 gives."""
    quiet, payload, signalling = 0x7FF8000000000000, 0x7FF8000000000123, 0x7FF0000000000456
    negative = 1 << 63
    table = [[quiet, F64.one, F64.one], [payload, F64.one, F64.one], [F64.one, payload, F64.one],
             [payload, payload + 1, F64.one], [signalling, F64.one, F64.one],
             [F64.one, signalling, F64.one], [payload | negative, F64.one, F64.one],
             [F64.one, F64.one, payload], [F64.one, payload, payload + 2],
             [F64.infinity, F64.infinity | negative, F64.one], [0, F64.infinity, F64.one]]
    canonical = 0xFFF8000000000000

    def first_nan(*operands):
        for x in operands:
            if F64.is_nan(x):
                return x | 1 << 51
        return canonical

    def choose(compute, *operands):
        value = compute(F64, *operands)
        return first_nan(*operands) if value is None else value

    ops = [Op("add.rn.f64 {d}, a, b;", 64, lambda a, b, c: choose(sf.add, a, b)),
           Op("mul.rn.f64 {d}, a, b;", 64, lambda a, b, c: choose(sf.mul, a, b)),
           Op("fma.rn.f64 {d}, a, b, c;", 64, lambda a, b, c: choose(sf.fma, a, b, c))]
    elementwise("f64_nan_payload", "which NaN add, mul, fma .f64 give", {"a": 64, "b": 64, "c": 64},
                table, ops, notes=["unmeasured: written before a GPU ran it"])
    table = [[x64, x32, 0] for x64, x32 in zip(nans(F64), nans(F32))]
    ops = [Op("abs.f32 {d}, a;", 32, lambda x, a: F32.canonical_nan),
           Op("neg.f32 {d}, a;", 32, lambda x, a: F32.canonical_nan),
           Op("abs.f64 {d}, x;", 64, lambda x, a: F64.magnitude(x)),
           Op("neg.f64 {d}, x;", 64, lambda x, a: x ^ F64.sign_bit),
           Op("cvt.rn.f32.f64 {d}, x;", 32, lambda x, a: F32.canonical_nan),
           Op("cvt.f64.f32 {d}, a;", 64, lambda x, a: NAN)]
    elementwise("float_nan_sign", "abs, neg and widths of NaN", {"x": 64, "a": 32, "pad": 32}, table, ops,
                notes=["unmeasured: written before a GPU ran it"])


def write_all():
    for family in (arithmetic, defaults, order, signs, comparisons, half, packed, approximations,
                   special_values_of_approximations, nan_questions):
        family()
