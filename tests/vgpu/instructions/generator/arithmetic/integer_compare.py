"""Integer comparison and selection: setp, set, selp, slct."""

from arithmetic.integer import wide_rows, write_wide
from core import Op, signed


def compare_rows(seed):
    """Like wide_rows, with equal operands in every third row."""
    rows = wide_rows(seed)
    for row in rows[::3]:
        row[1], row[4], row[7] = row[0], row[3], row[6]
    return rows


def select_and_compare():
    compares = {
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: a != b,
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
        "gt": lambda a, b: a > b,
        "ge": lambda a, b: a >= b,
    }
    for kind in "su":
        ops = []
        for name, f in compares.items():
            for bits, (a, b) in {16: ("s0", "s1"), 32: ("a", "b"), 64: ("x", "y")}.items():

                def run(f=f, ka=a, kb=b, bits=bits, **v):
                    a, b = ka, kb
                    if kind == "s":
                        return int(f(signed(v[a], bits), signed(v[b], bits)))
                    return int(f(v[a], v[b]))

                ops.append(
                    Op(f"setp.{name}.{kind}{bits} p, {a}, {b};\nselp.b32 {{d}}, 1, 0, p;", 32, run)
                )
        write_wide(
            f"setp_{'signed' if kind == 's' else 'unsigned'}",
            f"setp.{{eq,ne,lt,le,gt,ge}}.{kind}{{16,32,64}}",
            ops,
            24,
            compare_rows(24),
        )

    unsigned = {
        "lo": lambda a, b: a < b,
        "ls": lambda a, b: a <= b,
        "hi": lambda a, b: a > b,
        "hs": lambda a, b: a >= b,
    }
    ops = [
        Op(
            f"setp.{n}.u32 p, a, b;\nselp.b32 {{d}}, 1, 0, p;",
            32,
            lambda a, b, f=f, **_: int(f(a, b)),
        )
        for n, f in unsigned.items()
    ]
    ops += [
        Op(
            f"setp.{n}.b32 p, a, b;\nselp.b32 {{d}}, 1, 0, p;",
            32,
            lambda a, b, f=compares[n], **_: int(f(a, b)),
        )
        for n in ("eq", "ne")
    ]
    for name, f in {
        "and": lambda a, b: a and b,
        "or": lambda a, b: a or b,
        "xor": lambda a, b: a != b,
    }.items():
        for negate in ("", "!"):
            ops.append(
                Op(
                    f"setp.ge.s32 q, c, 0;\nsetp.lt.{name}.s32 p, a, b, {negate}q;\nselp.b32 {{d}}, 1, 0, p;",
                    32,
                    lambda a, b, c, f=f, negate=negate, **_: int(
                        f(signed(a, 32) < signed(b, 32), (signed(c, 32) >= 0) != bool(negate))
                    ),
                )
            )
    # p|q: q gets the negated comparison, combined with the same predicate.
    ops.append(
        Op(
            "setp.lt.s32 p|q, a, b;\nselp.b32 {d}, 1, 0, q;",
            32,
            lambda a, b, **_: int(not signed(a, 32) < signed(b, 32)),
        )
    )
    ops.append(
        Op(
            "setp.ge.s32 q, c, 0;\nsetp.lt.and.s32 p|q, a, b, q;\nselp.b32 {d}, 1, 0, q;",
            32,
            lambda a, b, c, **_: int(not signed(a, 32) < signed(b, 32) and signed(c, 32) >= 0),
        )
    )
    write_wide(
        "setp_combined",
        "setp.{lo,ls,hi,hs}, setp.cmp.{and,or,xor}, both destinations",
        ops,
        25,
        compare_rows(25),
    )

    ops = [
        Op("set.lt.u32.s32 {d}, a, b;", 32, lambda a, b, **_: -int(signed(a, 32) < signed(b, 32))),
        Op("set.eq.s32.u32 {d}, a, b;", 32, lambda a, b, **_: -int(a == b)),
        Op("set.ne.f32.u32 {d}, a, b;", 32, lambda a, b, **_: 0x3F800000 * int(a != b)),
        Op("set.gt.u32.s64 {d}, x, y;", 32, lambda x, y, **_: -int(signed(x, 64) > signed(y, 64))),
        Op("set.ge.u32.u16 {d}, s0, s1;", 32, lambda s0, s1, **_: -int(s0 >= s1)),
        Op(
            "setp.ge.s32 q, c, 0;\nset.lt.or.u32.s32 {d}, a, b, q;",
            32,
            lambda a, b, c, **_: -int(signed(a, 32) < signed(b, 32) or signed(c, 32) >= 0),
        ),
    ]
    write_wide("set_int", "set.{cmp}.{u32,s32,f32} from integers", ops, 26, compare_rows(26))

    ops = [
        Op(
            f"setp.ge.s32 p, c, 0;\nselp.b{n} {{d}}, {a}, {b}, p;",
            n,
            lambda na=a, nb=b, **v: v[na] if signed(v["c"], 32) >= 0 else v[nb],
        )
        for n, (a, b) in {16: ("s0", "s1"), 32: ("a", "b"), 64: ("x", "y")}.items()
    ]
    ops += [
        Op(
            f"slct.b{n}.s32 {{d}}, {a}, {b}, c;",
            n,
            lambda na=a, nb=b, **v: v[na] if signed(v["c"], 32) >= 0 else v[nb],
        )
        for n, (a, b) in {16: ("s0", "s1"), 32: ("a", "b"), 64: ("x", "y")}.items()
    ]

    def select_by_float(c):  # NaN selects b; both zeros select a
        if (c & 0x7FFFFFFF) > 0x7F800000:
            return False
        return c >> 31 == 0 or c == 0x80000000

    ops.append(
        Op("slct.b32.f32 {d}, a, b, c;", 32, lambda a, b, c, **_: a if select_by_float(c) else b)
    )
    rows = wide_rows(27)
    for row, c in zip(
        rows,
        (
            0x80000000,
            0,
            0x7FC00000,
            0xFFC00000,
            0x3F800000,
            0xBF800000,
            0x7F800000,
            0xFF800000,
            0x80400000,
            0x00400000,
        ),
    ):
        row[5] = c
    write_wide("select", "selp.b{16,32,64}, slct.b{16,32,64}.s32, slct.b32.f32", ops, 27, rows)


def write_all():
    select_and_compare()
