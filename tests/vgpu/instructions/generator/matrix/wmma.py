"""wmma.load, wmma.mma and wmma.store of every shape, type and layout: D = A B + C of small integers.

The matrices stand in memory with strides of their own; what the store must not touch is checked too.
"""

import random

from core import Kernel, prologue
from matrix.mma import names, small
from tensor import TYPES, as_integer, encode, parts

RNG = random.Random(9292)


def number_of(type_, bits):
    if type_.kind == "bit":
        return bits
    return as_integer(type_, bits) if type_.kind == "int" else int(parts(type_, bits)[0])


def registers(type_, rows, columns, is_factor):
    """How many registers a fragment has; factors of halves come twice."""
    if is_factor and type_.name == "f16":
        return 8
    return rows * columns // (32 * type_.per_register)


def stride_of(type_, rows, columns, by_rows):
    """In elements: the next multiple of 16 bytes, and 16 bytes more."""
    inner, step = columns if by_rows else rows, 128 // type_.bits
    return (-(-inner // step) + 1) * step


def image_of(type_, matrix, by_rows, stride):
    """Words of 32 bits, padded with a pattern that counts as a wrong number."""
    outer, inner = (len(matrix), len(matrix[0])) if by_rows else (len(matrix[0]), len(matrix))
    bits = (outer - 1) * stride * type_.bits + inner * type_.bits
    image = int("77777777" * (-(-bits // 32)), 16)
    for o in range(outer):
        for i in range(inner):
            at = (o * stride + i) * type_.bits
            value = matrix[o][i] if by_rows else matrix[i][o]
            image = image & ~(((1 << type_.bits) - 1) << at) | value << at
    return [image >> 32 * k & 0xFFFFFFFF for k in range(-(-bits // 32))]


def wmma_file(name, shape, a_type, b_type, c_type, d_type, layouts, space, words="", product="",
              saturates=False, version="7.1", target="sm_80"):
    m, n, k = shape
    a_type, b_type, c_type, d_type = (TYPES[t] for t in (a_type, b_type, c_type, d_type))
    a_rows, b_rows, c_rows, d_rows = (layout == "row" for layout in layouts)
    a = [[small(a_type, RNG) for _ in range(k)] for _ in range(m)]
    b = [[small(b_type, RNG) for _ in range(n)] for _ in range(k)]
    c = [[encode(c_type, RNG.randrange(-99, 100)) for _ in range(n)] for _ in range(m)]
    combine = (lambda x, y: x ^ y) if a_type.kind == "bit" else (lambda x, y: x * y)
    d = [[encode(d_type, number_of(c_type, c[i][j]) + sum(
        combine(number_of(a_type, a[i][p]), number_of(b_type, b[p][j])) for p in range(k)))
        for j in range(n)] for i in range(m)]
    places, image = {}, []
    for letter, type_, matrix, by_rows in (("a", a_type, a, a_rows), ("b", b_type, b, b_rows),
                                           ("c", c_type, c, c_rows)):
        stride = stride_of(type_, len(matrix), len(matrix[0]), by_rows)
        image += [0x77777777] * (-len(image) % 8)
        places[letter] = (4 * len(image), stride)
        image += image_of(type_, matrix, by_rows, stride)
    image += [0x77777777] * (-len(image) % 128)
    d_stride = stride_of(d_type, m, n, d_rows)
    out = image_of(d_type, d, d_rows, d_stride)
    text = f"m{m}n{n}k{k}"
    counts = {
        "a": registers(a_type, m, k, True),
        "b": registers(b_type, k, n, True),
        "c": registers(c_type, m, n, False),
        "d": registers(d_type, m, n, False),
    }
    kind = "f64" if a_type.bits == 64 else "b32"
    body = prologue(0, 0) + "  ld.param.u64 from, [in];\n  ld.param.u64 to, [out];\n"
    for letter, count in counts.items():
        body += f"  .reg .{kind} {letter}<{count}>;\n"
    base = "from"
    if space == "shared":
        body += f"""\
  .shared .align 32 .b8 image[{4 * len(image)}];
  mov.u32 t9, image;
  mul.wide.u32 u1, t0, 16;
  add.u64 u1, from, u1;
  mad.lo.u32 t1, t0, 16, t9;
  mov.u32 t8, 0;
COPY:
  ld.global.v4.b32 {{t2, t3, t4, t5}}, [u1];
  st.shared.v4.b32 [t1], {{t2, t3, t4, t5}};
  add.u64 u1, u1, 512;
  add.u32 t1, t1, 512;
  add.u32 t8, t8, 512;
  setp.lt.u32 p, t8, {4 * len(image)};
  @p bra COPY;
  bar.warp.sync -1;
"""
        base = "t9"
    dotted = {"global": ".global", "shared": ".shared", "generic": ""}[space]
    for letter, type_, layout in (("a", a_type, layouts[0]), ("b", b_type, layouts[1]),
                                  ("c", c_type, layouts[2])):
        at, stride = places[letter]
        body += f"  wmma.load.{letter}.sync.aligned.{layout}.{text}{dotted}.{type_.name} "
        body += f"{names(letter, counts[letter])}, [{base}+{at}], {stride};\n"
    types = f"{d_type.name}.{c_type.name}" if a_type.name == "f16" else (
        f"{d_type.name}.{a_type.name}.{b_type.name}.{c_type.name}")
    form = f"wmma.mma{product}.sync.aligned.{layouts[0]}.{layouts[1]}.{text}.{types}{words}"
    body += f"  {form} {names('d', counts['d'])}, {names('a', counts['a'])}, "
    body += f"{names('b', counts['b'])}, {names('c', counts['c'])};\n"
    body += f"  wmma.store.d.sync.aligned.{layouts[3]}.{text}.global.{d_type.name} [to], "
    body += f"{names('d', counts['d'])}, {d_stride};\n  ret;"
    cases = [([(w, 32) for w in image[k : k + 8]], []) for k in range(0, len(image), 8)]
    untouched = image_of(d_type, [[0] * n for _ in range(m)], d_rows, d_stride)
    ones = image_of(d_type, [[(1 << d_type.bits) - 1] * n for _ in range(m)], d_rows, d_stride)
    for at in range(0, len(out), 8):
        row = []
        for w, low, high in zip(out[at : at + 8], untouched[at : at + 8], ones[at : at + 8]):
            mask = low ^ high  # bits that the store writes
            row.append((w & mask | 0xEEEEEEEE & ~mask, 32))
        cases.append(([], row))
    notes = []
    if "f16" in (c_type.name, d_type.name):
        notes = [f"approximate: {form}"]
    Kernel(name, f"wmma {text} {types}, {' '.join(layouts)}, {space}", body, cases, block=32,
           notes=notes, target=target, version=version).write()


LAYOUTS = [
    ("row", "row", "row", "col"), ("row", "col", "col", "row"),
    ("col", "row", "row", "row"), ("col", "col", "col", "col"),
]
SPACES = ["global", "shared", "generic", "global"]


def write_all():
    shapes = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
    sums = [("f32", "f32"), ("f16", "f16"), ("f32", "f16"), ("f16", "f32")]
    for number, shape in enumerate(shapes):
        short = "m{}n{}k{}".format(*shape)
        for k, layouts in enumerate(LAYOUTS):
            c, d = sums[(k + number) % 4]
            wmma_file(f"wmma_f16_{short}_{layouts[0]}_{layouts[1]}", shape, "f16", "f16", c, d,
                      layouts, SPACES[k])
        layouts = LAYOUTS[number + 1]
        wmma_file(f"wmma_bf16_{short}", shape, "bf16", "bf16", "f32", "f32", LAYOUTS[number],
                  SPACES[number])
        wmma_file(f"wmma_s8_{short}", shape, "s8", "s8", "s32", "s32", layouts, "global")
        wmma_file(f"wmma_u8_{short}", shape, "u8", "u8", "s32", "s32", LAYOUTS[3 - number],
                  "shared", words=".satfinite", saturates=True)
    wmma_file("wmma_tf32_m16n16k8_row_col", (16, 16, 8), "tf32", "tf32", "f32", "f32", LAYOUTS[1],
              "generic")
    wmma_file("wmma_tf32_m16n16k8_col_row", (16, 16, 8), "tf32", "tf32", "f32", "f32", LAYOUTS[2],
              "shared")
    wmma_file("wmma_s4", (8, 8, 32), "s4", "s4", "s32", "s32", LAYOUTS[1], "global")
    wmma_file("wmma_u4", (8, 8, 32), "u4", "u4", "s32", "s32", LAYOUTS[1], "global")
    wmma_file("wmma_b1", (8, 8, 128), "b1", "b1", "s32", "s32", LAYOUTS[1], "global",
              product=".xor.popc")
