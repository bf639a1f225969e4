"""cvt between floating-point types: every rounding mode, .sat, .ftz, .relu, packed halves, tf32."""

import random
from fractions import Fraction

from arithmetic.float_nan import narrowed_nan
from arithmetic.float_rows import MODES, random_number, rows, specials
from core import ANY, NAN, Op, elementwise
from softfloat import BF16, F16, F32, F64, TF32


def between_floats():
    def narrow(source, target, a, mode):
        if source.is_nan(a):
            if source is F32:
                return target.canonical_nan
            known = target is F16 and not F64.is_negative(a)  # the rest: cvt_f64_nan.ptx
            return narrowed_nan(target, a) if known else NAN
        if source.is_infinite(a):
            return target.infinity | (target.sign_bit if source.is_negative(a) else 0)
        return target.round(source.value(a), mode, source.is_negative(a))

    def narrowing_rows(seed, source, target, count=56):
        """Ties and near-ties of the target among numbers of the source."""
        rng = random.Random(seed)
        table = rows(seed, source, 1, count // 2)
        while len(table) < count:
            value = target.value(random_number(rng, target))
            size = max(abs(value), target.value(target.smallest_normal))
            half = size / (1 << (target.mantissa_bits + rng.choice([0, 1, 2])))
            bits = source.round(value + rng.choice([half, half / 2, -half, 0]))
            table.append([bits])
        for k, x in enumerate(specials(target)):
            if k % 3 == 0 and not target.is_infinite(x):
                table.append([source.round(target.value(x), "rn", target.is_negative(x))])
        table.append(
            [source.round(target.value(target.largest) * Fraction(1 << 30, (1 << 30) - 1))]
        )
        return table[:64]

    pairs = [("f32", "f64", F64, F32), ("f16", "f32", F32, F16), ("f16", "f64", F64, F16)]
    for to_name, from_name, source, target in pairs:
        ops = [
            Op(
                f"cvt.{mode}.{to_name}.{from_name} {{d}}, a;",
                target.bits,
                lambda a, mode=mode: narrow(source, target, a, mode),
            )
            for mode in MODES
        ]
        if target is F32:

            def sat(a):
                value = narrow(source, target, a, "rn")
                if value == NAN:
                    return 0
                if F32.is_negative(value):
                    return ANY if F32.is_zero(value) else 0
                return min(value, F32.one)

            ops.append(Op("cvt.rn.sat.f32.f64 {d}, a;", 32, sat))

            def ftz(a):
                value, below = narrow(source, target, a, "rn"), narrow(source, target, a, "rz")
                if value == NAN:
                    return value
                return (
                    ANY
                    if F32.is_subnormal(below) and not F32.is_subnormal(value)
                    else F32.flush(value)
                )

            ops.append(Op("cvt.rn.ftz.f32.f64 {d}, a;", 32, ftz))
        elementwise(
            f"cvt_{from_name}_to_{to_name}",
            f"cvt.{{rn,rz,rm,rp}}.{to_name}.{from_name}",
            {"a": source.bits},
            narrowing_rows(340 + target.bits + source.bits, source, target),
            ops,
        )

    def widen(source, target, a):
        if source.is_nan(a):
            return F32.canonical_nan if target is F32 else NAN
        if source.is_infinite(a):
            return target.infinity | (target.sign_bit if source.is_negative(a) else 0)
        return target.round(source.value(a), "rn", source.is_negative(a))

    fields = {"a": 32, "h": 16, "pad": 16}
    table = [[a, h, 0] for (a,), (h,) in zip(rows(350, F32, 1), rows(351, F16, 1))]
    ops = [
        Op("cvt.f64.f32 {d}, a;", 64, lambda a, h: widen(F32, F64, a)),
        Op("cvt.f64.f16 {d}, h;", 64, lambda a, h: widen(F16, F64, h)),
        Op("cvt.f32.f16 {d}, h;", 32, lambda a, h: widen(F16, F32, h)),
        Op("cvt.ftz.f64.f32 {d}, a;", 64, lambda a, h: widen(F32, F64, F32.flush(a))),
    ]
    elementwise("cvt_widen", "cvt.f64.f32, cvt.f64.f16, cvt.f32.f16", fields, table, ops)

    def halves(target, a, b, mode, relu=False):
        parts = []
        for x in (b, a):
            value = narrow(F32, target, x, mode)
            if relu and target.is_negative(value) and not target.is_nan(value):
                value = 0
            parts.append(value)
        return parts[1] << 16 | parts[0]

    table = [
        [a, b] for (a,), (b,) in zip(narrowing_rows(352, F32, BF16), narrowing_rows(353, F32, F16))
    ]
    ops = [
        Op(f"cvt.{m}.bf16.f32 {{d}}, a;", 16, lambda a, b, m=m: narrow(F32, BF16, a, m))
        for m in ("rn", "rz")
    ]
    ops += [
        Op(f"cvt.{m}.{n}.f32 {{d}}, a, b;", 32, lambda a, b, m=m, f=f: halves(f, a, b, m))
        for m in ("rn", "rz")
        for n, f in (("f16x2", F16), ("bf16x2", BF16))
    ]
    ops += [
        Op(f"cvt.rn.relu.{n}.f32 {{d}}, a, b;", 32, lambda a, b, f=f: halves(f, a, b, "rn", True))
        for n, f in (("f16x2", F16), ("bf16x2", BF16))
    ]
    elementwise(
        "cvt_to_packed_halves",
        "cvt to bf16, f16x2, bf16x2 from f32; .relu",
        {"a": 32, "b": 32},
        table,
        ops,
        target="sm_80",
        version="7.1",
    )

    def tensor32(a):
        if F32.is_nan(a):
            return ANY
        if F32.is_infinite(a):
            return a
        return TF32.round(F32.value(a), "rna", F32.is_negative(a)) << 13

    elementwise(
        "cvt_tf32",
        "cvt.rna.tf32.f32: 10 mantissa bits, ties away from zero",
        {"a": 32},
        narrowing_rows(354, F32, TF32),
        [Op("cvt.rna.tf32.f32 {d}, a;", 32, tensor32)],
        target="sm_80",
        version="7.1",
    )

    def from_bf16(h):
        return NAN if BF16.is_nan(h) else h << 16

    elementwise(
        "cvt_bf16_to_f32",
        "cvt.f32.bf16",
        {"h": 16},
        rows(355, BF16, 1, 40),
        [Op("cvt.f32.bf16 {d}, h;", 32, from_bf16)],
        target="sm_90",
        version="7.8",
    )


def tensor32_rounded():
    def meaning(a, mode, relu=False, finite=False):
        if F32.is_nan(a):
            return ANY
        if relu and F32.is_negative(a):
            return 0
        if F32.is_infinite(a):
            result = a >> 13
        else:
            result = TF32.round(F32.value(a), mode, F32.is_negative(a))
        if finite and TF32.is_infinite(result):
            result -= 1
        return result << 13

    ops = [
        Op(
            f"cvt.{mode}{'.relu' if relu else ''}.tf32.f32 {{d}}, a;",
            32,
            lambda a, mode=mode, relu=relu: meaning(a, mode, relu),
        )
        for mode in ("rn", "rz")
        for relu in (False, True)
    ]
    ops.append(
        Op("cvt.rna.satfinite.tf32.f32 {d}, a;", 32, lambda a: meaning(a, "rna", finite=True))
    )
    elementwise(
        "cvt_tf32_rounded",
        "cvt.{rn,rz}{.relu}.tf32.f32, cvt.rna.satfinite.tf32.f32",
        {"a": 32},
        with_ties(360, F32, TF32),
        ops,
        target="sm_90",
        version="8.1",
    )


def with_ties(seed, source, target):
    """Numbers of the source: any, and such as lie near a tie of the target or beyond its largest."""
    rng = random.Random(seed)
    table = rows(seed, source, 1, 28)
    while len(table) < 56:
        value = target.value(random_number(rng, target))
        size = max(abs(value), target.value(target.smallest_normal))
        half = size / (1 << (target.mantissa_bits + rng.choice([0, 1, 2])))
        table.append([source.round(value + rng.choice([half, half / 2, -half, 0]))])
    for scale in (1, Fraction((1 << 13) + 1, 1 << 13), 2):
        largest = source.round(target.value(target.largest) * scale, "rz", False)
        table += [[largest], [largest | source.sign_bit]]
    return table


def finite_halves():
    def half(f, a, mode, relu):
        if F32.is_nan(a):
            return f.canonical_nan
        if relu and F32.is_negative(a):
            return 0
        sign = f.sign_bit if F32.is_negative(a) else 0
        if F32.is_infinite(a):
            return sign | f.largest
        result = f.round(F32.value(a), mode, F32.is_negative(a))
        return sign | f.largest if f.is_infinite(result) else result

    for f, word in ((F16, "f16"), (BF16, "bf16")):
        ops = []
        for mode in ("rn", "rz"):
            for relu in (False, True):

                def one(a, b, f=f, mode=mode, relu=relu):
                    return half(f, a, mode, relu)

                def pair(a, b, f=f, mode=mode, relu=relu):
                    return half(f, a, mode, relu) << 16 | half(f, b, mode, relu)

                middle = f"{mode}{'.relu' if relu else ''}.satfinite"
                ops.append(Op(f"cvt.{middle}.{word}.f32 {{d}}, a;", 16, one))
                ops.append(Op(f"cvt.{middle}.{word}x2.f32 {{d}}, a, b;", 32, pair))
        table = [[a, b] for (a,), (b,) in zip(with_ties(361, F32, f), with_ties(362, F32, f))]
        elementwise(
            f"cvt_{word}_satfinite",
            f"cvt.{{rn,rz}}{{.relu}}.satfinite.{{{word},{word}x2}}.f32",
            {"a": 32, "b": 32},
            table,
            ops,
            target="sm_90",
            version="8.1",
        )


def between_halves():
    def convert(source, target, h, mode):
        if source.is_nan(h):
            return NAN
        if source.is_infinite(h):
            return target.infinity | (target.sign_bit if source.is_negative(h) else 0)
        return target.round(source.value(h), mode, source.is_negative(h))

    pairs = [("bf16", "f16", F16, BF16), ("f16", "bf16", BF16, F16)]
    for to, of, source, target in pairs:
        elementwise(
            f"cvt_{of}_to_{to}",
            f"cvt.{{rn,rz,rm,rp}}.{to}.{of}",
            {"h": 16},
            with_ties(363 + target.mantissa_bits, source, target),
            [
                Op(
                    f"cvt.{mode}.{to}.{of} {{d}}, h;",
                    16,
                    lambda h, s=source, t=target, mode=mode: convert(s, t, h, mode),
                )
                for mode in MODES
            ],
            target="sm_90",
            version="7.8",
        )
    elementwise(
        "cvt_bf16_to_f64",
        "cvt.f64.bf16",
        {"h": 16},
        rows(364, BF16, 1, 40),
        [Op("cvt.f64.bf16 {d}, h;", 64, lambda h: convert(BF16, F64, h, "rn"))],
        target="sm_90",
        version="7.8",
    )


def write_all():
    between_floats()
    tensor32_rounded()
    finite_halves()
    between_halves()
