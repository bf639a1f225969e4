"""cvt from and to integers, cvt.pack, and moves that pack and unpack."""

import random
from fractions import Fraction

from arithmetic.float_rows import nans, result
from core import ANY, M16, M32, M64, Op, elementwise, integer_rows, signed
from softfloat import BF16, F16, F32, F64

FLOATS = {"f16": F16, "f32": F32, "f64": F64, "bf16": BF16}
MODES = ("rn", "rz", "rm", "rp")


def needs(f):
    return {"target": "sm_90", "version": "7.8"} if f is BF16 else {}


def limits(kind, bits):
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind == "s" else (0, (1 << bits) - 1)


def read(kind, bits, x):
    return signed(x, bits) if kind == "s" else x & ((1 << bits) - 1)


def integer_to_integer():
    """The destination register is wider than .u8/.s8: the value is extended to it."""
    sources = {"8": "s0", "16": "s1", "32": "a", "64": "x"}
    fields = {"x": 64, "a": 32, "s0": 16, "s1": 16}
    table = integer_rows(300, list(fields.values()), 40)
    for sat in ("", ".sat"):
        ops = []
        for dk in "us":
            for db in (8, 16, 32, 64):
                for sk in "us":
                    for sb in (8, 16, 32, 64):
                        low, high = limits(sk, sb)
                        if sat and limits(dk, db)[0] <= low and high <= limits(dk, db)[1]:
                            continue  # .sat is legal only where a value may not fit

                        def run(r=sources[str(sb)], dk=dk, db=db, sk=sk, sb=sb, **v):
                            value = read(sk, sb, v[r])
                            if sat:
                                low, high = limits(dk, db)
                                value = max(low, min(high, value))
                            return read(dk, db, value)

                        ops.append(
                            Op(
                                f"cvt{sat}.{dk}{db}.{sk}{sb} {{d}}, {sources[str(sb)]};",
                                max(db, 32),
                                run,
                            )
                        )
        elementwise(
            "cvt_int" + sat.replace(".", "_"),
            f"cvt{sat} between integers",
            fields,
            table[:16] if not sat else table[:20],
            ops,
        )


def has_bytes(name):
    """Whether cvt knows integers of 8 bits beside this type, and wider registers than the integer. The manual has
    both for bf16, too, but ptxas 13.0 and the driver refuse them."""
    return name != "bf16"


def integer_to_float():
    fields = {"x": 64, "a": 32, "s0": 16, "s1": 16}
    rng = random.Random(310)
    table = integer_rows(311, list(fields.values()), 40)
    for row in table[5::4]:  # ties of the formats
        row[0] = (rng.getrandbits(54) << rng.randrange(10)) & M64
        row[1] = (rng.getrandbits(25) << rng.randrange(7)) & M32
    registers = {8: "s0", 16: "s1", 32: "a", 64: "x"}
    for name, f in FLOATS.items():
        ops = []
        for kind in "us":
            for bits, r in registers.items():
                if bits == 8 and not has_bytes(name):
                    continue
                for mode in MODES:

                    def run(r=r, kind=kind, bits=bits, mode=mode, **v):
                        return f.round(Fraction(read(kind, bits, v[r])), mode)

                    ops.append(Op(f"cvt.{mode}.{name}.{kind}{bits} {{d}}, {r};", f.bits, run))
        elementwise(
            f"cvt_int_to_{name}",
            f"cvt.{{rn,rz,rm,rp}}.{name} from integers",
            fields,
            table[:24],
            ops,
            **needs(f),
        )


def to_integral(v, mode):
    floor = v.numerator // v.denominator
    rest = v - floor
    if mode == "rmi":
        return floor
    if mode == "rpi":
        return floor + (rest > 0)
    if mode == "rzi":
        return floor + (v < 0 and rest > 0)
    return floor + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor & 1))


def integral_rows(seed, f, count=48):
    """Values around the limits of the integer types, halves and specials."""
    rng = random.Random(seed)
    table = [
        [x]
        for x in nans(f)[:3]
        + [0, f.sign_bit, 1, f.sign_bit | 1, f.infinity, f.sign_bit | f.infinity, f.largest]
    ]
    for n in (
        0.5,
        1.5,
        2.5,
        0.49,
        0.51,
        3.75,
        126.5,
        127.5,
        128,
        128.5,
        255,
        255.5,
        256,
        32767.5,
        32768,
        65535.5,
        65536,
        2147483520,
        2147483647,
        2147483648,
        4294967040,
        4294967296,
        9223372036854774784,
        9223372036854775808,
        18446744073709549568,
        18446744073709551616,
    ):
        bits = f.round(Fraction(n))
        if not f.is_infinite(bits):
            table += [[bits], [bits | f.sign_bit]]
    while len(table) < count:
        table.append([f.round(Fraction(rng.uniform(-70000, 70000)) / rng.choice([1, 64, 4096]))])
    rng.shuffle(table)
    return table


def float_to_integer():
    for name, f in FLOATS.items():
        ops = []
        for kind in "us":
            for bits in (8, 16, 32, 64) if has_bytes(name) else (16, 32, 64):
                width = max(bits, 32) if has_bytes(name) else bits
                for mode in ("rni", "rzi", "rmi", "rpi"):

                    def run(a, kind=kind, bits=bits, mode=mode):
                        low, high = limits(kind, bits)
                        if f.is_nan(a):
                            if f is not F64 and bits != 64:
                                return 0
                            return ANY if bits < 32 else 1 << (bits - 1)
                        if f.is_infinite(a):
                            value = low if f.is_negative(a) else high
                        else:
                            value = max(low, min(high, to_integral(f.value(a), mode)))
                        return value

                    ops.append(Op(f"cvt.{mode}.{kind}{bits}.{name} {{d}}, a;", width, run))
        if f is F32:
            ops.append(
                Op(
                    "cvt.rzi.ftz.s32.f32 {d}, a;",
                    32,
                    lambda a: next(o for o in ops if o.text.startswith("cvt.rzi.s32")).meaning(a),
                )
            )
            ops.append(
                Op(
                    "cvt.rpi.ftz.u32.f32 {d}, a;",
                    32,
                    lambda a: next(o for o in ops if o.text.startswith("cvt.rpi.u32")).meaning(
                        F32.flush(a)
                    ),
                )
            )
        # A row of 16-bit operands is padded to 64 bits by its neighbours.
        fields = {"a": f.bits}
        elementwise(
            f"cvt_{name}_to_int",
            f"cvt.{{rni,rzi,rmi,rpi}} from {name} to integers; clamped",
            fields,
            integral_rows(320 + f.bits, f)[:40],
            ops,
            **needs(f),
        )

        def integral(a, mode):
            if f.is_nan(a):
                return result(f, None)
            if f.is_infinite(a):
                return a
            return f.round(Fraction(to_integral(f.value(a), mode)), "rn", f.is_negative(a))

        ops = [
            Op(
                f"cvt.{mode}.{name}.{name} {{d}}, a;",
                f.bits,
                lambda a, mode=mode: integral(a, mode),
            )
            for mode in ("rni", "rzi", "rmi", "rpi")
        ]
        if f is F32:
            ops.append(
                Op("cvt.rni.ftz.f32.f32 {d}, a;", 32, lambda a: integral(F32.flush(a), "rni"))
            )
            ops.append(
                Op(
                    "cvt.ftz.f32.f32 {d}, a;",
                    32,
                    lambda a: result(F32, None) if F32.is_nan(a) else F32.flush(a),
                )
            )
            ops.append(
                Op(
                    "cvt.rzi.sat.f32.f32 {d}, a;",
                    32,
                    lambda a: (
                        0
                        if F32.is_nan(a)
                        else (
                            ANY
                            if F32.is_negative(a) and not F32.is_infinite(a)
                            else 0 if F32.is_negative(a) else min(integral(a, "rzi"), F32.one)
                        )
                    ),
                )
            )
        elementwise(
            f"cvt_{name}_integral",
            f"cvt.{{rni,rzi,rmi,rpi}}.{name}.{name}",
            fields,
            integral_rows(330 + f.bits, f),
            ops,
            **needs(f),
        )


def pack():
    def clamp(kind, bits, value):
        low, high = limits(kind, bits)
        return max(low, min(high, value)) & ((1 << bits) - 1)

    ops = [
        Op(
            f"cvt.pack.sat.{k}16.s32 {{d}}, a, b;",
            32,
            lambda a, b, c, k=k: clamp(k, 16, signed(a, 32)) << 16 | clamp(k, 16, signed(b, 32)),
        )
        for k in "us"
    ]
    ops += [
        Op(
            f"cvt.pack.sat.{k}8.s32.b32 {{d}}, a, b, c;",
            32,
            lambda a, b, c, k=k: (c & M16) << 16
            | clamp(k, 8, signed(a, 32)) << 8
            | clamp(k, 8, signed(b, 32)),
        )
        for k in "us"
    ]
    elementwise(
        "cvt_pack",
        "cvt.pack.sat.{u16,s16}.s32 and .{u8,s8}.s32.b32",
        {"a": 32, "b": 32, "c": 32},
        integer_rows(360, [32] * 3, 40),
        ops,
    )


def moves():
    ops = [
        Op(
            "mov.b32 {{h0, h1}}, a;\nmov.b32 {d}, {{h1, h0}};",
            32,
            lambda x, a, b: a >> 16 | (a & M16) << 16,
        ),
        Op(
            "mov.b64 {{t0, t1}}, x;\nmov.b64 {d}, {{t1, t0}};",
            64,
            lambda x, a, b: x >> 32 | (x & M32) << 32,
        ),
        Op(
            "mov.b64 {{h0, h1, h2, h3}}, x;\nmov.b64 {d}, {{h3, h0, h1, h2}};",
            64,
            lambda x, a, b: (x << 16 | x >> 48) & M64,
        ),
        Op("mov.b64 {d}, {{a, b}};", 64, lambda x, a, b: b << 32 | a),
        Op("mov.b64 {{t0, _}}, x;\nmov.b32 {d}, t0;", 32, lambda x, a, b: x & M32),
        Op("mov.b64 {{_, t0}}, x;\nmov.b32 {d}, t0;", 32, lambda x, a, b: x >> 32),
        Op("mov.b32 {d}, a;", 32, lambda x, a, b: a),
        Op("mov.f32 {d}, 0f3FC00000;", 32, lambda x, a, b: 0x3FC00000),
        Op("mov.f64 {d}, 0dBFF8000000000000;", 64, lambda x, a, b: 0xBFF8000000000000),
        Op("mov.f64 {d}, 1.5;", 64, lambda x, a, b: 0x3FF8000000000000),
        Op("mov.f32 {d}, 0.1;", 32, lambda x, a, b: 0x3DCCCCCD),
        Op("mov.u32 {d}, -1;", 32, lambda x, a, b: M32),
        Op("mov.s64 {d}, -2;", 64, lambda x, a, b: M64 - 1),
        Op("mov.u32 {d}, WARP_SZ;", 32, lambda x, a, b: 32),
        Op("{{\n.reg .b32 t0;\nmov.b32 t0, b;\nmov.b32 {d}, t0;\n}}", 32, lambda x, a, b: b),
    ]
    elementwise(
        "mov",
        "mov of every width and literal; pack, unpack, inner scopes",
        {"x": 64, "a": 32, "b": 32},
        integer_rows(370, [64, 32, 32], 32),
        ops,
    )
    ops = [
        Op(
            "{{\n.reg .b8 c, e;\nmov.b16 {{c, e}}, h;\nmov.b16 {d}, {{e, c}};\n}}",
            16,
            lambda h, a: h >> 8 | (h & 0xFF) << 8,
        ),
        Op(
            "{{\n.reg .b8 c;\nmov.b16 {{c, _}}, h;\nmov.b16 {d}, {{c, 0}};\n}}",
            16,
            lambda h, a: h & 0xFF,
        ),
        Op(
            "{{\n.reg .b8 c, e, f, g;\nmov.b32 {{c, e, f, g}}, a;\nmov.b32 {d}, {{f, c, g, e}};\n}}",
            32,
            lambda h, a: (a >> 16 & 0xFF)
            | (a & 0xFF) << 8
            | (a >> 24 & 0xFF) << 16
            | (a >> 8 & 0xFF) << 24,
        ),
    ]
    elementwise(
        "mov_8",
        "mov that packs and unpacks registers of 8 bits",
        {"a": 32, "h": 16, "pad": 16},
        integer_rows(372, [32, 16, 16], 32),
        ops,
        target="sm_90",
        version="8.0",
    )
    ops = [Op("mov.b16 {d}, h;", 16, lambda h: h), Op("mov.u16 {d}, 65535;", 16, lambda h: M16)]
    elementwise("mov_16", "mov of 16 bits", {"h": 16}, integer_rows(371, [16], 32), ops)


def write_all():
    for family in (integer_to_integer, integer_to_float, float_to_integer, pack, moves):
        family()
