"""atom and red: every operation on every type, in global, shared and generic space."""

import softfloat as sf
from core import M32, M64, Kernel, prologue, signed
from softfloat import F32, F64


def wrap_increment(old, limit):
    return 0 if old >= limit else old + 1


def wrap_decrement(old, limit):
    return limit if old == 0 or old > limit else old - 1


def float_add(f, a, b):
    value = sf.add(f, a, b)
    return f.canonical_nan if value is None else value


OPERATIONS = {
    "add.u32": (32, lambda a, b: a + b),
    "add.s32": (32, lambda a, b: a + b),
    "add.u64": (64, lambda a, b: a + b),
    "and.b32": (32, lambda a, b: a & b),
    "or.b32": (32, lambda a, b: a | b),
    "xor.b32": (32, lambda a, b: a ^ b),
    "and.b64": (64, lambda a, b: a & b),
    "or.b64": (64, lambda a, b: a | b),
    "xor.b64": (64, lambda a, b: a ^ b),
    "min.u32": (32, min),
    "max.u32": (32, max),
    "min.s32": (32, lambda a, b: min(signed(a, 32), signed(b, 32))),
    "max.s32": (32, lambda a, b: max(signed(a, 32), signed(b, 32))),
    "min.u64": (64, min),
    "max.u64": (64, max),
    "min.s64": (64, lambda a, b: min(signed(a, 64), signed(b, 64))),
    "max.s64": (64, lambda a, b: max(signed(a, 64), signed(b, 64))),
    "inc.u32": (32, wrap_increment),
    "dec.u32": (32, wrap_decrement),
    "add.f32": (32, lambda a, b: float_add(F32, a, b)),
    "add.f64": (64, lambda a, b: float_add(F64, a, b)),
}


def global_add(a, b):
    """In global memory add.f32 flushes subnormal operands and results; in shared it does not."""
    return F32.flush(float_add(F32, F32.flush(a), F32.flush(b)))


IN_GLOBAL = {**OPERATIONS, "add.f32": (32, global_add)}
EXCHANGES = {"exch.b32": (32, lambda a, b: b), "exch.b64": (64, lambda a, b: b)}

SAMPLES = {
    32: [(5, 3), (0xFFFFFFFF, 1), (0x80000000, 0x7FFFFFFF), (0, 0), (7, 7), (3, 9)],
    64: [(5, 3), (M64, 1), (1 << 63, (1 << 63) - 1), (0, 0), (7, 1 << 40), (3, 9)],
    "f32": [
        (0x3F800000, 0x33800000),
        (0x3F800000, 0xBF800000),
        (0x4B800000, 0x3F800000),
        (0x40490FDB, 0x402DF854),
        (0x7F7FFFFF, 0x7F7FFFFF),
        (0x00800000, 0x80400000),
    ],
    "f64": [
        (0x3FF0000000000000, 0x3CA0000000000000),
        (0x3FF0000000000000, 0xBFF0000000000000),
        (0x4340000000000000, 0x3FF0000000000000),
        (0x400921FB54442D18, 0x4005BF0A8B145769),
        (0x7FEFFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF),
        (0x0010000000000000, 0x8008000000000000),
    ],
}


def samples(operation):
    kind = operation.split(".")[1]
    return SAMPLES.get(kind, SAMPLES[int(kind[1:])])


def single(name, op, operations, space):
    """One thread a row, one word an operation: old value and new value."""
    columns = [(o, bits, f) for o, (bits, f) in sorted(operations.items(), key=lambda x: -x[1][0])]
    row_in = 16 * len(columns)
    body = prologue(row_in, row_in)
    if space == "shared":
        body += (
            "  .shared .align 8 .b8 cells[256];\n  mov.u32 t8, cells;\n  mad.lo.u32 t8, i, 8, t8;\n"
        )
    for k, (o, bits, _) in enumerate(columns):
        value, old = ("u1", "u2") if bits == 64 else ("t1", "t2")
        fresh = "u3" if bits == 64 else "t3"
        body += f"  ld.global.b{bits} {fresh}, [from+{16 * k}];\n"
        body += f"  ld.global.b{bits} {value}, [from+{16 * k + 8}];\n"
        cell = {"shared": "t8", "global": f"to+{16 * k + 8}", "": f"to+{16 * k + 8}"}[space]
        dot = f".{space}" if space else ""
        body += f"  st{dot}.b{bits} [{cell}], {fresh};\n"
        body += f"  atom{dot}.{o} {old}, [{cell}], {value};\n"
        body += f"  st.global.b64 [to+{16 * k}], 0;\n  st.global.b{bits} [to+{16 * k}], {old};\n"
        if space == "shared":
            body += f"  ld.shared.b{bits} {fresh}, [t8];\n"
            body += f"  st.global.b64 [to+{16 * k + 8}], 0;\n"
            body += f"  st.global.b{bits} [to+{16 * k + 8}], {fresh};\n"
        elif bits == 32:
            body += f"  st.global.b32 [to+{16 * k + 12}], 0;\n"
    cases = []
    for row in range(6):
        inputs, outputs = [], []
        for o, bits, f in columns:
            a, b = samples(o)[row]
            inputs += [(a, 64), (b, 64)]
            outputs += [(a, 64), (f(a, b) & ((1 << bits) - 1), 64)]
        cases.append((inputs, outputs))
    Kernel(name, op, body + "  ret;", cases).write()


def compare_and_swap():
    body = prologue(48, 32) + """\
  ld.global.u64 u0, [from];
  ld.global.u64 u1, [from+8];
  ld.global.u64 u2, [from+16];
  st.global.u64 [to+8], u0;
  atom.global.cas.b64 u3, [to+8], u1, u2;
  st.global.u64 [to], u3;
  ld.global.u32 t1, [from+24];
  ld.global.u32 t2, [from+32];
  ld.global.u32 t3, [from+40];
  st.global.u64 [to+16], 0;
  st.global.u64 [to+24], 0;
  st.global.u32 [to+24], t1;
  atom.global.cas.b32 t4, [to+24], t2, t3;
  st.global.u32 [to+16], t4;
  ret;"""
    cases = []
    for a, b, c in ((1, 1, 2), (1, 3, 2), (M64, M64, 0), (1 << 63, 0, 5), (1 << 32, 0, 7)):
        w = (a & M32, b & M32, c & M32)
        cases.append(
            (
                [(x, 64) for x in (a, b, c)] + [(x, 64) for x in w],
                [
                    (a, 64),
                    (c if a == b else a, 64),
                    (w[0], 64),
                    (w[2] if w[0] == w[1] else w[0], 64),
                ],
            )
        )
    Kernel("atom_cas", "atom.global.cas.{b32,b64}", body, cases).write()

    body = prologue(16, 16) + """\
  ld.global.u16 h0, [from];
  ld.global.u16 h1, [from+2];
  ld.global.u16 h2, [from+4];
  st.global.u64 [to], 0;
  st.global.u64 [to+8], 0;
  st.global.u16 [to+2], h0;
  atom.global.cas.b16 h3, [to+2], h1, h2;
  st.global.u16 [to+8], h3;
  ret;"""
    cases = []
    for a, b, c in ((1, 1, 2), (1, 3, 2), (0xFFFF, 0xFFFF, 0x1234)):
        new = c if a == b else a
        cases.append(([(a, 16), (b, 16), (c, 16), (0, 16), (0, 64)], [(new << 16, 64), (a, 64)]))
    Kernel("atom_cas_16", "atom.global.cas.b16 leaves its neighbours alone", body, cases).write()


def contended():
    """64 threads on one word: the sum does not depend on their order, nor do the old values' set."""
    body = prologue(0, 0) + """\
  .shared .align 8 .b8 cells[64];
  ld.param.u64 to, [out];
  setp.lt.u32 p, i, 16;
  mov.u32 t1, cells;
  mad.lo.u32 t2, i, 4, t1;
  @p st.shared.u32 [t2], 0;
  bar.sync 0;
  red.shared.add.u32 [cells], i;
  red.shared.max.u32 [cells+4], i;
  red.shared.or.b32 [cells+8], i;
  atom.shared.inc.u32 t3, [cells+12], 9;
  red.shared.add.f32 [cells+16], 0f3F800000;
  red.shared.add.u64 [cells+24], 0x100000001;
  atom.shared.add.u32 t4, [cells+32], 1;
  shl.b32 t5, 1, t4;
  setp.lt.u32 p, t4, 32;
  @p red.shared.or.b32 [cells+36], t5;
  sub.u32 t4, t4, 32;
  shl.b32 t5, 1, t4;
  @!p red.shared.or.b32 [cells+40], t5;
  red.shared.min.s32 [cells+44], -5;
SPIN:
  atom.shared.cas.b32 t6, [cells+48], 0, 1;
  setp.ne.u32 p, t6, 0;
  @p bra SPIN;
  ld.volatile.shared.u32 t7, [cells+52];
  add.u32 t7, t7, 1;
  st.volatile.shared.u32 [cells+52], t7;
  membar.cta;
  atom.shared.exch.b32 t6, [cells+48], 0;
  bar.sync 0;
  setp.lt.u32 p, i, 14;
  @!p bra DONE;
  ld.shared.u32 t8, [t2];
  mad.wide.u32 u1, i, 4, to;
  st.global.u32 [u1], t8;
DONE:
  ret;"""
    values = [sum(range(64)), 63, 63, 64 % 10, 0x42800000, 0, 64, 64, 64, M32, M32, -5, 0, 64]
    Kernel(
        "atom_contended",
        "atom, red .shared by 64 threads on one word; a spin lock",
        body,
        [([], [(v, 32)]) for v in values],
        block=64,
    ).write()

    body = prologue(0, 0) + """\
  ld.param.u64 from, [in];
  ld.param.u64 to, [out];
  setp.eq.u32 p, i, 0;
  red.global.add.u32 [total], 1;
  atom.global.add.u32 t1, [ticket], 1;
  setp.ne.u32 p, t1, 127;
  @p bra DONE;
  membar.gl;
  ld.volatile.global.u32 t2, [total];
  st.global.u32 [to], t2;
DONE:
  ret;"""
    Kernel(
        "atom_grid",
        "red.global over a grid: the last thread sees the whole sum",
        body,
        [([], [(128, 32)])],
        grid=4,
        block=32,
        header=".global .u32 total = 0;\n.global .u32 ticket = 0;",
    ).write()


def reductions():
    """red gives no old value."""
    columns = sorted(IN_GLOBAL.items(), key=lambda x: -x[1][0])
    body = prologue(16 * len(columns), 8 * len(columns))
    for k, (o, (bits, _)) in enumerate(columns):
        value, fresh = ("u1", "u3") if bits == 64 else ("t1", "t3")
        body += f"  ld.global.b{bits} {fresh}, [from+{16 * k}];\n"
        body += f"  ld.global.b{bits} {value}, [from+{16 * k + 8}];\n"
        body += f"  st.global.b64 [to+{8 * k}], 0;\n  st.global.b{bits} [to+{8 * k}], {fresh};\n"
        body += f"  red.global.{o} [to+{8 * k}], {value};\n"
    cases = []
    for row in range(6):
        pairs = [samples(o)[row] for o, _ in columns]
        cases.append(
            (
                [(x, 64) for p in pairs for x in p],
                [
                    (f(a, b) & ((1 << bits) - 1), 64)
                    for (a, b), (_, (bits, f)) in zip(pairs, columns)
                ],
            )
        )
    Kernel("red_global", "red.global of every operation", body + "  ret;", cases).write()


def qualifiers():
    forms = [
        "atom.relaxed.gpu.global.add.u32",
        "atom.acquire.cta.global.add.u32",
        "atom.release.sys.global.add.u32",
        "atom.acq_rel.gpu.global.add.u32",
        "atom.cta.global.add.u32",
        "atom.sys.add.u32",
        "atom.add.noftz.f16",
        "red.relaxed.gpu.global.add.u32",
    ]
    body = prologue(8, 8 * len(forms)) + "  ld.global.v2.u32 {t1, t2}, [from];\n"
    for k, form in enumerate(forms):
        body += f"  st.global.v2.u32 [to+{8 * k}], {{t1, t1}};\n"
        if form.startswith("red"):
            body += f"  {form} [to+{8 * k}], t2;\n  mov.u32 t3, t1;\n"
        elif form.endswith("f16"):
            body += f"  mov.u16 h0, 0x3C00;\n  st.global.u32 [to+{8 * k}], 0x12344000;\n"
            body += f"  {form} h1, [to+{8 * k}], h0;\n  cvt.u32.u16 t3, h1;\n"
        else:
            body += f"  {form} t3, [to+{8 * k}], t2;\n"
        body += f"  st.global.u32 [to+{8 * k + 4}], t3;\n"
    cases = []
    for a, b in ((1, 2), (0xFFFFFFFF, 1)):
        outputs = []
        for form in forms:
            outputs += (
                [(0x12344200, 32), (0x4000, 32)] if form.endswith("f16") else [(a + b, 32), (a, 32)]
            )
        cases.append(([(a, 32), (b, 32)], outputs))
    Kernel(
        "atom_qualifiers", "atom with order and scope; atom.add.noftz.f16", body + "  ret;", cases
    ).write()


def write_all():
    single("atom_global", "atom.global of every operation", {**IN_GLOBAL, **EXCHANGES}, "global")
    single("atom_shared", "atom.shared of every operation", {**OPERATIONS, **EXCHANGES}, "shared")
    single(
        "atom_generic",
        "atom through generic addresses",
        {
            k: v
            for k, v in {**IN_GLOBAL, **EXCHANGES}.items()
            if k in ("add.u32", "exch.b64", "add.f32", "max.s64")
        },
        "",
    )
    for family in (reductions, compare_and_swap, contended, qualifiers):
        family()
