"""Integer arithmetic: sums, products, quotients, carry chains, dot products."""

from core import M16, M32, M64, Op, elementwise, integer_rows, signed


def per_width(template, meaning, widths=(16, 32, 64), kinds="su"):
    """The op for every type: template with {t}; meaning takes values as the type reads them."""
    names = {16: ("s0", "s1", "s2"), 32: ("a", "b", "c"), 64: ("x", "y", "z")}
    ops = []
    for bits in widths:
        for kind in kinds:
            na, nb, nc = names[bits]
            text = template.replace("{t}", f"{kind}{bits}")
            for generic, actual in (("A", na), ("B", nb), ("C", nc)):
                text = text.replace(f"%{generic}", actual)

            def run(bits=bits, kind=kind, na=na, nb=nb, nc=nc, **v):
                def read(n):
                    return signed(v[n], bits) if kind == "s" else v[n]

                return meaning(bits, kind, read(na), read(nb), read(nc))

            ops.append(Op(text, bits, run))
    return ops


# Three words of each width.
WIDE = {
    "x": 64,
    "y": 64,
    "z": 64,
    "a": 32,
    "b": 32,
    "c": 32,
    "s0": 16,
    "s1": 16,
    "s2": 16,
    "pad1": 16,
    "pad2": 16,
    "pad3": 16,
}


def wide_rows(seed, count=40):
    return integer_rows(seed, list(WIDE.values()), count)


def write_wide(name, op, ops, seed, rows=None, **kwargs):
    elementwise(name, op, WIDE, rows or wide_rows(seed), ops, **kwargs)


def clamp_signed(value, bits):
    return max(-(1 << (bits - 1)), min((1 << (bits - 1)) - 1, value))


def truncated_divide(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def nonzero_rows(seed):
    """Divisors are not zero and no quotient overflows: the manual leaves both open."""
    rows = []
    for row in wide_rows(seed, 48):
        x, y, z, a, b, c, e, f, *_ = row
        if not y or not b or not f:
            continue
        overflow = (x == 1 << 63 and y == M64) or (a == 1 << 31 and b == M32)
        if overflow or (e == 1 << 15 and f == M16):
            continue
        rows.append(row)
    return rows


def add_sub():
    write_wide(
        "int_add",
        "add.{u,s}{16,32,64}, add.sat.s32",
        per_width("add.{t} {d}, %A, %B;", lambda n, k, a, b, c: a + b)
        + [
            Op(
                "add.sat.s32 {d}, a, b;",
                32,
                lambda a, b, **_: clamp_signed(signed(a, 32) + signed(b, 32), 32),
            )
        ],
        1,
    )
    write_wide(
        "int_sub",
        "sub.{u,s}{16,32,64}, sub.sat.s32",
        per_width("sub.{t} {d}, %A, %B;", lambda n, k, a, b, c: a - b)
        + [
            Op(
                "sub.sat.s32 {d}, a, b;",
                32,
                lambda a, b, **_: clamp_signed(signed(a, 32) - signed(b, 32), 32),
            )
        ],
        2,
    )


def widened(instruction, combine):
    """mul.wide and mad.wide of both widths."""
    ops = []
    for kind in "su":
        for bits, (a, b, c) in {16: ("s0", "s1", "a"), 32: ("a", "b", "x")}.items():

            def run(bits=bits, kind=kind, names=(a, b, c), **v):
                def read(n):
                    return signed(v[n], bits) if kind == "s" else v[n]

                return combine(read(names[0]), read(names[1]), v[names[2]])

            third = f", {c}" if instruction == "mad" else ""
            ops.append(
                Op(f"{instruction}.wide.{kind}{bits} {{d}}, {a}, {b}{third};", 2 * bits, run)
            )
    return ops


def mul_mad():
    write_wide(
        "int_mul_lo",
        "mul.lo.{u,s}{16,32,64}",
        per_width("mul.lo.{t} {d}, %A, %B;", lambda n, k, a, b, c: a * b),
        3,
    )
    write_wide(
        "int_mul_hi",
        "mul.hi.{u,s}{16,32,64}",
        per_width("mul.hi.{t} {d}, %A, %B;", lambda n, k, a, b, c: (a * b) >> n),
        4,
    )
    write_wide("int_mul_wide", "mul.wide.{u,s}{16,32}", widened("mul", lambda a, b, c: a * b), 5)
    write_wide(
        "int_mad_lo",
        "mad.lo.{u,s}{16,32,64}",
        per_width("mad.lo.{t} {d}, %A, %B, %C;", lambda n, k, a, b, c: a * b + c),
        6,
    )
    write_wide(
        "int_mad_hi",
        "mad.hi.{u,s}{16,32,64}, mad.hi.sat.s32",
        per_width("mad.hi.{t} {d}, %A, %B, %C;", lambda n, k, a, b, c: ((a * b) >> n) + c)
        + [
            Op(
                "mad.hi.sat.s32 {d}, a, b, c;",
                32,
                lambda a, b, c, **_: clamp_signed(
                    ((signed(a, 32) * signed(b, 32)) >> 32) + signed(c, 32), 32
                ),
            )
        ],
        7,
    )
    write_wide(
        "int_mad_wide", "mad.wide.{u,s}{16,32}", widened("mad", lambda a, b, c: a * b + c), 8
    )


def mul24():
    ops = []
    for kind in "su":

        def product(a, b, kind=kind):
            return signed(a, 24) * signed(b, 24) if kind == "s" else (a & 0xFFFFFF) * (b & 0xFFFFFF)

        ops += [
            Op(f"mul24.lo.{kind}32 {{d}}, a, b;", 32, lambda a, b, c, f=product: f(a, b)),
            Op(f"mul24.hi.{kind}32 {{d}}, a, b;", 32, lambda a, b, c, f=product: f(a, b) >> 16),
            Op(f"mad24.lo.{kind}32 {{d}}, a, b, c;", 32, lambda a, b, c, f=product: f(a, b) + c),
            Op(
                f"mad24.hi.{kind}32 {{d}}, a, b, c;",
                32,
                lambda a, b, c, f=product: (f(a, b) >> 16) + c,
            ),
        ]
    # The operands hold 24-bit values; what the upper bits do is left open.
    rows = []
    for a, b, c in integer_rows(9, [32] * 3):
        rows.append([a & 0x7FFFFF, b & 0x7FFFFF, c])
    elementwise(
        "int_mul24", "mul24.{lo,hi}, mad24.{lo,hi} .{u,s}32", {"a": 32, "b": 32, "c": 32}, rows, ops
    )


def divide():
    rows = nonzero_rows(10)
    write_wide(
        "int_div",
        "div.{u,s}{16,32,64}",
        per_width("div.{t} {d}, %A, %B;", lambda n, k, a, b, c: truncated_divide(a, b)),
        10,
        rows,
    )
    write_wide(
        "int_rem",
        "rem.{u,s}{16,32,64}",
        per_width("rem.{t} {d}, %A, %B;", lambda n, k, a, b, c: a - b * truncated_divide(a, b)),
        10,
        rows,
    )


def unary_and_order():
    write_wide(
        "int_abs_neg",
        "abs.s{16,32,64}, neg.s{16,32,64}",
        per_width("abs.{t} {d}, %A;", lambda n, k, a, b, c: abs(a), kinds="s")
        + per_width("neg.{t} {d}, %A;", lambda n, k, a, b, c: -a, kinds="s"),
        11,
    )
    write_wide(
        "int_min_max",
        "min, max .{u,s}{16,32,64}",
        per_width("min.{t} {d}, %A, %B;", lambda n, k, a, b, c: min(a, b))
        + per_width("max.{t} {d}, %A, %B;", lambda n, k, a, b, c: max(a, b)),
        12,
    )
    write_wide(
        "int_sad",
        "sad.{u,s}{16,32,64}",
        per_width("sad.{t} {d}, %A, %B, %C;", lambda n, k, a, b, c: abs(a - b) + c),
        13,
    )


def carry():
    """128-bit sums and products in 32-bit and 64-bit pieces; each op runs a whole carry chain."""
    ops = [
        Op(
            "add.cc.u32 t0, a, b;\naddc.u32 {d}, c, b;",
            32,
            lambda a, b, c, x, y, z: c + b + ((a + b) >> 32),
        ),
        Op(
            "sub.cc.u32 t0, a, b;\nsubc.u32 {d}, c, b;",
            32,
            lambda a, b, c, x, y, z: c - b - (a < b),
        ),
        Op(
            "add.cc.u32 t0, a, b;\naddc.cc.u32 t1, c, b;\naddc.u32 {d}, 0, 0;",
            32,
            lambda a, b, c, x, y, z: (c + b + ((a + b) >> 32)) >> 32,
        ),
        Op(
            "sub.cc.u32 t0, a, b;\nsubc.cc.u32 t1, c, b;\nsubc.u32 {d}, 0, 0;",
            32,
            lambda a, b, c, x, y, z: -(c - b - (a < b) < 0),
        ),
        Op(
            "add.cc.u64 u0, x, y;\naddc.u64 {d}, z, y;",
            64,
            lambda a, b, c, x, y, z: z + y + ((x + y) >> 64),
        ),
        Op(
            "sub.cc.u64 u0, x, y;\nsubc.u64 {d}, z, y;",
            64,
            lambda a, b, c, x, y, z: z - y - (x < y),
        ),
        Op(
            "mad.lo.cc.u32 t0, a, b, c;\nmadc.hi.u32 {d}, a, b, c;",
            32,
            lambda a, b, c, x, y, z: (a * b >> 32) + c + (((a * b & M32) + c) >> 32),
        ),
        Op(
            "mad.hi.cc.u32 t0, a, b, c;\nmadc.lo.u32 {d}, a, b, c;",
            32,
            lambda a, b, c, x, y, z: a * b + c + (((a * b >> 32) + c) >> 32),
        ),
        Op(
            "mad.lo.cc.u64 u0, x, y, z;\nmadc.hi.u64 {d}, x, y, z;",
            64,
            lambda a, b, c, x, y, z: (x * y >> 64) + z + (((x * y & M64) + z) >> 64),
        ),
        Op(
            "add.cc.u32 t0, a, b;\nmadc.lo.cc.u32 t1, a, b, c;\naddc.u32 {d}, 0, 0;",
            32,
            lambda a, b, c, x, y, z: ((a * b & M32) + c + ((a + b) >> 32)) >> 32,
        ),
        # Without .cc a sum leaves the code as it was.
        Op(
            "add.cc.u32 t0, a, b;\naddc.u32 t1, c, b;\naddc.u32 {d}, a, 0;",
            32,
            lambda a, b, c, x, y, z: a + ((a + b) >> 32),
        ),
    ]
    # In the last row it is the carry that comes in alone that carries.
    last = [2**64 - 1, 1, 2**64 - 2, 2**32 - 1, 1, 2**32 - 2, 0]
    fields = {"x": 64, "y": 64, "z": 64, "a": 32, "b": 32, "c": 32, "pad": 32}
    elementwise(
        "int_carry",
        "add.cc, addc, sub.cc, subc, mad.cc, madc .{u32,u64}",
        fields,
        [*integer_rows(14, list(fields.values())), last],
        ops,
    )


def dot_products():
    def split(value, kind, size):
        parts = [(value >> (size * k)) & ((1 << size) - 1) for k in range(32 // size)]
        return [signed(p, size) if kind == "s" else p for p in parts]

    ops = []
    for ka in "us":
        for kb in "us":

            def dp4a(a, b, c, ka=ka, kb=kb):
                return c + sum(p * q for p, q in zip(split(a, ka, 8), split(b, kb, 8)))

            def dp2a(a, b, c, half, ka=ka, kb=kb):
                pairs = split(b, kb, 8)[half : half + 2]
                return c + sum(p * q for p, q in zip(split(a, ka, 16), pairs))

            types = f"{ka}32.{kb}32"
            ops += [
                Op(f"dp4a.{types} {{d}}, a, b, c;", 32, dp4a),
                Op(f"dp2a.lo.{types} {{d}}, a, b, c;", 32, lambda a, b, c, f=dp2a: f(a, b, c, 0)),
                Op(f"dp2a.hi.{types} {{d}}, a, b, c;", 32, lambda a, b, c, f=dp2a: f(a, b, c, 2)),
            ]
    elementwise(
        "int_dot",
        "dp4a, dp2a.{lo,hi}, all sign pairs",
        {"a": 32, "b": 32, "c": 32},
        integer_rows(15, [32] * 3),
        ops,
    )


def write_all():
    for family in (add_sub, mul_mad, mul24, divide, unary_and_order, carry, dot_products):
        family()
