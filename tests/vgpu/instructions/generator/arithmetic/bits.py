"""Logic, shifts, bit fields, bit counts and byte permutations."""

from arithmetic.integer import write_wide
from core import M32, Op, elementwise, integer_rows, signed


def logic():
    def lut(a, b, c, table):
        return sum(
            ((table >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1))) & 1) << k
            for k in range(32)
        )

    ops = []
    for name, f in {
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
    }.items():
        for bits, (a, b) in {16: ("s0", "s1"), 32: ("a", "b"), 64: ("x", "y")}.items():
            ops.append(
                Op(
                    f"{name}.b{bits} {{d}}, {a}, {b};",
                    bits,
                    lambda f=f, na=a, nb=b, **v: f(v[na], v[nb]),
                )
            )
    for bits, a in {16: "s0", 32: "a", 64: "x"}.items():
        ops.append(Op(f"not.b{bits} {{d}}, {a};", bits, lambda na=a, **v: ~v[na]))
        ops.append(Op(f"cnot.b{bits} {{d}}, {a};", bits, lambda na=a, **v: int(v[na] == 0)))
    write_wide("logic", "and, or, xor, not, cnot .b{16,32,64}", ops, 16)
    lop3 = [
        Op(f"lop3.b32 {{d}}, a, b, c, {t:#04x};", 32, lambda a, b, c, t=t, **_: lut(a, b, c, t))
        for t in (0x00, 0x1A, 0x80, 0x96, 0xCA, 0xE8, 0xFE, 0x2D)
    ]
    write_wide("lop3", "lop3.b32", lop3, 17)
    pred = """and.b32 t0, a, 1;
        setp.eq.u32 p, t0, 1;
        and.b32 t0, b, 1;
        setp.eq.u32 q, t0, 1;
        {op}.pred p, p, q;
        selp.b32 {{d}}, 1, 0, p;"""
    ops = [
        Op(pred.format(op=o), 32, lambda a, b, f=f, **_: f(a & 1, b & 1))
        for o, f in {
            "and": lambda a, b: a & b,
            "or": lambda a, b: a | b,
            "xor": lambda a, b: a ^ b,
        }.items()
    ]
    ops.append(
        Op(
            pred.replace("{op}.pred p, p, q", "not.pred p, p").replace("{{d}}", "{d}"),
            32,
            lambda a, **_: 1 - (a & 1),
        )
    )
    write_wide("logic_predicates", "and, or, xor, not .pred", ops, 18)


def shifts():
    fields = {"x": 64, "a": 32, "b": 32, "c": 32, "s0": 16, "pad": 16}
    rows = integer_rows(19, list(fields.values()), small=(3,))

    def left(v, n, bits):
        return v << n if n < bits else 0

    def right(v, n, bits, kind):
        return (signed(v, bits) if kind == "s" else v) >> min(n, 200)

    ops = [
        Op(f"shl.b{b} {{d}}, {r}, c;", b, lambda r=r, n=b, **v: left(v[r], v["c"], n))
        for b, r in {16: "s0", 32: "a", 64: "x"}.items()
    ]
    ops += [
        Op(f"shr.{k}{b} {{d}}, {r}, c;", b, lambda r=r, n=b, k=k, **v: right(v[r], v["c"], n, k))
        for b, r in {16: "s0", 32: "a", 64: "x"}.items()
        for k in "us"
    ]
    ops.append(Op("shr.b32 {d}, a, c;", 32, lambda a, c, **_: right(a, c, 32, "u")))
    elementwise(
        "shift", "shl.b{16,32,64}, shr.{u,s,b}{16,32,64}: amounts are clamped", fields, rows, ops
    )

    def funnel(direction, mode):
        def run(a, b, c, **_):
            n = min(c, 32) if mode == "clamp" else c & 31
            both = b << 32 | a
            return (both << n) >> 32 if direction == "l" else both >> n

        return Op(f"shf.{direction}.{mode}.b32 {{d}}, a, b, c;", 32, run)

    elementwise(
        "shift_funnel",
        "shf.{l,r}.{clamp,wrap}.b32",
        fields,
        rows,
        [funnel(d, m) for d in "lr" for m in ("clamp", "wrap")],
    )


def bit_fields():
    fields = {"x": 64, "y": 64, "a": 32, "b": 32, "c": 32, "l": 32}
    rows = integer_rows(20, list(fields.values()), 56, small=(4, 5))

    def extract(value, pos, length, bits, kind):
        pos, length = pos & 255, length & 255
        sign_at = min(pos + length - 1, bits - 1)
        fill = value >> sign_at & 1 if kind == "s" and length else 0
        return sum(
            (value >> (pos + k) & 1 if k < length and pos + k < bits else fill) << k
            for k in range(bits)
        )

    def insert(part, base, pos, length, bits):
        pos, length = pos & 255, length & 255
        for k in range(length):
            if pos + k < bits:
                base = base & ~(1 << (pos + k)) | (part >> k & 1 if k < bits else 0) << (pos + k)
        return base

    ops = []
    for kind in "us":
        for bits, r in {32: "a", 64: "x"}.items():
            ops.append(
                Op(
                    f"bfe.{kind}{bits} {{d}}, {r}, c, l;",
                    bits,
                    lambda bits=bits, kind=kind, r=r, **v: extract(
                        v[r], v["c"], v["l"], bits, kind
                    ),
                )
            )
    ops += [
        Op("bfi.b32 {d}, a, b, c, l;", 32, lambda a, b, c, l, **_: insert(a, b, c, l, 32)),
        Op("bfi.b64 {d}, x, y, c, l;", 64, lambda x, y, c, l, **_: insert(x, y, c, l, 64)),
    ]
    elementwise("bit_field", "bfe.{u,s}{32,64}, bfi.b{32,64}", fields, rows, ops)

    def mask(pos, length, mode):
        if mode == "wrap":
            pos, length = pos & 31, length & 31
        pos, length = min(pos, 32), min(length, 32)
        return (((1 << length) - 1) << pos) & M32

    ops = [
        Op(f"bmsk.{m}.b32 {{d}}, c, l;", 32, lambda c, l, m=m, **_: mask(c, l, m))
        for m in ("clamp", "wrap")
    ]

    def sign_or_zero_extend(a, n, mode, kind):
        n = min(n, 32) if mode == "clamp" else n & 31
        if n == 0:
            return 0
        part = a & ((1 << n) - 1)
        return signed(part, n) if kind == "s" else part

    ops += [
        Op(
            f"szext.{m}.{k}32 {{d}}, a, c;",
            32,
            lambda a, c, m=m, k=k, **_: sign_or_zero_extend(a, c, m, k),
        )
        for m in ("clamp", "wrap")
        for k in "us"
    ]
    elementwise(
        "bit_mask",
        "bmsk.{clamp,wrap}.b32, szext.{clamp,wrap}.{u,s}32",
        fields,
        rows,
        ops,
        version="7.6",
    )


def bit_counts():
    def find(value, bits, kind, shift_amount):
        if kind == "s" and value >> (bits - 1):
            value = ~value & ((1 << bits) - 1)
        if value == 0:
            return M32
        top = value.bit_length() - 1
        return bits - 1 - top if shift_amount else top

    ops = []
    for bits, r in {32: "a", 64: "x"}.items():
        ops += [
            Op(f"popc.b{bits} {{d}}, {r};", 32, lambda r=r, **v: bin(v[r]).count("1")),
            Op(
                f"clz.b{bits} {{d}}, {r};", 32, lambda r=r, bits=bits, **v: bits - v[r].bit_length()
            ),
            Op(
                f"brev.b{bits} {{d}}, {r};",
                bits,
                lambda r=r, bits=bits, **v: int(f"{v[r]:0{bits}b}"[::-1], 2),
            ),
        ]
        for kind in "us":
            for suffix in ("", ".shiftamt"):
                ops.append(
                    Op(
                        f"bfind{suffix}.{kind}{bits} {{d}}, {r};",
                        32,
                        lambda r=r, bits=bits, kind=kind, s=suffix, **v: find(
                            v[r], bits, kind, bool(s)
                        ),
                    )
                )
    fields = {"x": 64, "a": 32, "pad": 32}
    elementwise(
        "bit_count",
        "popc, clz, brev .b{32,64}, bfind{.shiftamt}.{u,s}{32,64}",
        fields,
        integer_rows(21, list(fields.values()), 48),
        ops,
    )

    def find_nth(mask, base, offset):
        base &= 31
        if offset == 0:
            return base if mask >> base & 1 else M32
        step, left, at = (1, offset, base) if offset > 0 else (-1, -offset, base)
        while 0 <= at < 32:
            if mask >> at & 1:
                left -= 1
                if left == 0:
                    return at
            at += step
        return M32

    rows = []
    for k, (a,) in enumerate(integer_rows(22, [32], 40)):
        rows.append([a, (k * 7) % 32, ((k % 9) - 4) & M32])
    elementwise(
        "bit_find_nth",
        "fns.b32",
        {"a": 32, "b": 32, "c": 32},
        rows,
        [Op("fns.b32 {d}, a, b, c;", 32, lambda a, b, c: find_nth(a, b, signed(c, 32)))],
    )


def permute():
    def prmt(a, b, c, mode=None):
        source = [(b << 32 | a) >> (8 * k) & 255 for k in range(8)]
        tables = {
            "f4e": [(0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)],
            "b4e": [(0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)],
            "rc8": [(0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)],
            "ecl": [(0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)],
            "ecr": [(0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)],
            "rc16": [(0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)],
        }
        if mode:
            return sum(source[n] << (8 * k) for k, n in enumerate(tables[mode][c & 3]))
        result = 0
        for k in range(4):
            nibble = c >> (4 * k) & 15
            byte = source[nibble & 7]
            result |= (255 * (byte >> 7) if nibble & 8 else byte) << (8 * k)
        return result

    ops = [Op("prmt.b32 {d}, a, b, c;", 32, lambda a, b, c: prmt(a, b, c))]
    ops += [
        Op(f"prmt.b32.{m} {{d}}, a, b, c;", 32, lambda a, b, c, m=m: prmt(a, b, c, m))
        for m in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
    ]
    rows = integer_rows(23, [32] * 3, 24) + [
        [0x03020180, 0x87068504, c] for c in (0x3210, 0x7654, 0xFEDC, 0xBA98, 0x0123, 1, 2, 3)
    ]
    elementwise("prmt", "prmt.b32, and its six modes", {"a": 32, "b": 32, "c": 32}, rows, ops)


def packed_integers():
    def distances(a, b, kind):
        for k in range(4):
            x, y = (a >> 8 * k) & 0xFF, (b >> 8 * k) & 0xFF
            yield abs(signed(x, 8) - signed(y, 8)) if kind == "s" else abs(x - y)

    ops = []
    for kind in "us":
        types = f"u32.{kind}32.{kind}32"
        ops += [
            Op(
                f"vabsdiff4.{types} {{d}}, a, b, c;",
                32,
                lambda a, b, c, kind=kind: sum(
                    d << 8 * k for k, d in enumerate(distances(a, b, kind))
                ),
            ),
            Op(
                f"vabsdiff4.{types}.add {{d}}, a, b, c;",
                32,
                lambda a, b, c, kind=kind: c + sum(distances(a, b, kind)),
            ),
        ]
    fields = {"a": 32, "b": 32, "c": 32}
    elementwise("packed_bytes", "vabsdiff4, .add", fields, integer_rows(24, [32] * 3), ops)

    def halves(combine, a, b, kind):
        parts = []
        for shift in (0, 16):
            x, y = (a >> shift) & 0xFFFF, (b >> shift) & 0xFFFF
            parts.append(
                (combine(signed(x, 16), signed(y, 16)) if kind == "s" else combine(x, y)) & 0xFFFF
            )
        return parts[1] << 16 | parts[0]

    ops = [
        Op(
            f"{n}.{kind}16x2 {{d}}, a, b;",
            32,
            lambda a, b, c, g=g, kind=kind: halves(g, a, b, kind),
        )
        for n, g in (("add", lambda x, y: x + y), ("min", min), ("max", max))
        for kind in "us"
    ]
    elementwise(
        "packed_halves",
        "add, min, max .{u,s}16x2",
        fields,
        integer_rows(25, [32] * 3),
        ops,
        target="sm_90",
        version="8.0",
    )


def write_all():
    for family in (logic, shifts, bit_fields, bit_counts, permute, packed_integers):
        family()
