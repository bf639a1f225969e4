"""mma.sync of every shape and type, and ldmatrix, stmatrix, movmatrix."""

import random

from core import Kernel, prologue
from tensor import TYPES, a_place, b_place, d_place, encode, pack, product

RNG = random.Random(9001)


def small(type_, rng=RNG):
    """A number that every model sums exactly."""
    if type_.kind == "bit":
        return rng.getrandbits(1)
    if type_.kind == "int":
        return rng.getrandbits(type_.bits)
    return encode(type_, rng.randrange(-4, 5) if type_.bits == 8 else rng.randrange(-9, 10))


def register_kind(type_):
    return "f64" if type_.bits == 64 else "b32"


def names(letter, count):
    return "{" + ", ".join(f"{letter}{k}" for k in range(count)) + "}"


def load(letter, count, kind, at):
    size = 8 if kind == "f64" else 4
    lines = [f"  .reg .{kind} {letter}<{count}>;"]
    lines += [
        f"  ld.global.{kind} {letter}{k}, [from+{at + size * k}];" for k in range(count)
    ]
    return "\n".join(lines) + "\n", at + size * count


class Shape:
    """One form of mma: counts of registers, and the matrices as words of lanes."""

    def __init__(self, m, n, k, a, b, d, c=None):
        self.m, self.n, self.k = m, n, k
        self.a, self.b, self.d, self.c = (TYPES[t] for t in (a, b, d, c or d))
        self.halves = m // 8
        self.groups = k // (4 * self.a.per_register)

    def a_count(self):
        return self.halves * self.groups

    def d_count(self, type_):
        return self.halves if type_.bits == 16 else 2 * self.halves

    def text(self):
        return f"m{self.m}n{self.n}k{self.k}"

    def types(self):
        return f"{self.d.name}.{self.a.name}.{self.b.name}.{self.c.name}"

    def a_words(self, a, lane):
        per = self.a.per_register
        for q in range(self.a_count()):
            cells = [a_place(self.a, self.halves, lane, q, j) for j in range(per)]
            yield pack(self.a, [a[row][k] for row, k in cells])

    def b_words(self, b, lane):
        for q in range(self.groups):
            cells = [b_place(self.b, lane, q, j) for j in range(self.b.per_register)]
            yield pack(self.b, [b[k][column] for column, k in cells])

    def d_words(self, type_, d, lane):
        cells = [d_place(lane, r) for r in range(2 * self.halves)]
        values = [d[row][column] for row, column in cells]
        per = type_.per_register
        for r in range(0, len(values), per):
            yield pack(type_, values[r : r + per])


def multiply(shape, a, b, c, **options):
    return [
        [
            product(
                shape.a, shape.b, shape.d, a[i], [b[k][j] for k in range(shape.k)], c[i][j],
                c_type=shape.c, **options,
            )
            for j in range(shape.n)
        ]
        for i in range(shape.m)
    ]


def mma_file(name, shape, matrices, words="", tail="", notes=(), target="sm_80", version="7.0",
             **options):
    """`matrices` are (A, B, C) of bits; one instruction, one warp for each."""
    a_kind, d_kind, c_kind = (register_kind(t) for t in (shape.a, shape.d, shape.c))
    counts = (shape.a_count(), shape.groups, shape.d_count(shape.c))
    loads, at = "", 0
    for letter, count, kind in zip("abc", counts, (a_kind, a_kind, c_kind)):
        if kind == "f64" and at % 8:
            at += 4
        text, at = load(letter, count, kind, at)
        loads += text
    d_count = shape.d_count(shape.d)
    d_size = 8 if d_kind == "f64" else 4
    body = prologue(at, d_size * d_count) + loads + f"  .reg .{d_kind} d<{d_count}>;\n"
    form = f"mma.sync.aligned.{shape.text()}.row.col{words}.{shape.types()}{tail}"
    body += f"  {form} {names('d', d_count)}, {names('a', counts[0])}, {names('b', counts[1])}, "
    body += names("c", counts[2]) + ";\n"
    for r in range(d_count):
        body += f"  st.global.{d_kind} [to+{d_size * r}], d{r};\n"
    cases = []
    for a, b, c in matrices:
        d = multiply(shape, a, b, c, **options)
        for lane in range(32):
            bits = 64 if a_kind == "f64" else 32
            row = [(w, bits) for w in shape.a_words(a, lane)]
            row += [(w, bits) for w in shape.b_words(b, lane)]
            row += [(w, 64 if c_kind == "f64" else 32) for w in shape.d_words(shape.c, c, lane)]
            out = [(w, 64 if d_kind == "f64" else 32) for w in shape.d_words(shape.d, d, lane)]
            cases.append((row, out))
    if shape.d.name == "f16" or (shape.a.name, shape.k) == ("tf32", 4):
        notes = [*notes, f"approximate: {form}"]
    Kernel(name, form, body + "  ret;", cases, block=32, grid=len(matrices), notes=list(notes),
           target=target, version=version).write()


def random_matrices(shape, rng=RNG):
    a = [[small(shape.a, rng) for _ in range(shape.k)] for _ in range(shape.m)]
    b = [[small(shape.b, rng) for _ in range(shape.n)] for _ in range(shape.k)]
    if shape.c.kind == "int":
        c = [[rng.randrange(-999, 1000) & 0xFFFFFFFF for _ in range(8)] for _ in range(shape.m)]
    else:
        c = [[encode(shape.c, rng.randrange(-99, 100)) for _ in range(8)] for _ in range(shape.m)]
    return a, b, c


def one_hot(shape):
    """Every element of A meets a B whose columns differ, and the reverse: a wrong place shows."""
    zeros_a = [[0] * shape.k for _ in range(shape.m)]
    zeros_c = [[0] * 8 for _ in range(shape.m)]
    one = encode(shape.a, 1)
    a = [row[:] for row in zeros_a]
    for i in range(shape.m):
        a[i][(5 * i + 3) % shape.k] = one
    b = [[small(shape.b) for _ in range(8)] for _ in range(shape.k)]
    return a, b, zeros_c


FLOATS = [
    (16, 8, "f16", "f16", "f32"),
    (16, 8, "f16", "f16", "f16"),
    (16, 16, "f16", "f16", "f32"),
    (16, 16, "f16", "f16", "f16"),
    (16, 8, "bf16", "bf16", "f32"),
    (16, 16, "bf16", "bf16", "f32"),
    (16, 4, "tf32", "tf32", "f32"),
    (16, 8, "tf32", "tf32", "f32"),
    (16, 4, "f64", "f64", "f64"),
    (16, 8, "f64", "f64", "f64"),
    (16, 16, "f64", "f64", "f64"),
]
EIGHT_BIT_FLOATS = [
    (16, 16, "e4m3", "e5m2", "f32"),
    (16, 32, "e4m3", "e4m3", "f32"),
    (16, 32, "e5m2", "e4m3", "f32"),
    (16, 32, "e5m2", "e5m2", "f32"),
    (16, 16, "e5m2", "e4m3", "f16"),
    (16, 32, "e4m3", "e5m2", "f16"),
]
INTEGERS = [
    (8, 16, "s8", "s8"),
    (16, 16, "s8", "u8"),
    (16, 32, "u8", "s8"),
    (16, 32, "s8", "s8"),
    (8, 32, "s4", "u4"),
    (16, 32, "u4", "u4"),
    (16, 64, "s4", "s4"),
]
BITS = [(8, 128), (16, 128), (16, 256)]


def floats():
    for m, k, a, b, d in FLOATS + EIGHT_BIT_FLOATS:
        shape = Shape(m, 8, k, a, b, d)
        kwargs = {}
        if a == "f64":
            kwargs = {"target": "sm_90", "version": "7.8"}
        elif a[0] == "e":
            kwargs = {"target": "sm_90", "version": "8.7"}
        mma_file(f"mma_{a}_{b}_{d}_{shape.text()}", shape,
                 [one_hot(shape), random_matrices(shape), random_matrices(shape)], **kwargs)


def integers():
    for m, k, a, b in INTEGERS:
        shape = Shape(m, 8, k, a, b, "s32")
        matrices = [one_hot(shape), random_matrices(shape)]
        mma_file(f"mma_{a}_{b}_{shape.text()}", shape, matrices)
        # C close to the ends: what does not saturate wraps.
        for sums, (x, y, _) in zip((0x7FFFFF00, 0x80000100), (matrices[1], random_matrices(shape))):
            matrices.append((x, y, [[sums] * 8 for _ in range(m)]))
        mma_file(f"mma_{a}_{b}_{shape.text()}_satfinite", shape, matrices[1:], words=".satfinite",
                 saturates=True)
        mma_file(f"mma_{a}_{b}_{shape.text()}_wraps", shape, matrices[2:])
    for m, k in BITS:
        shape = Shape(m, 8, k, "b1", "b1", "s32")
        for op in ("xor", "and"):
            mma_file(f"mma_b1_{op}_{shape.text()}", shape,
                     [random_matrices(shape), one_hot(shape)], tail=f".{op}.popc", version="7.1",
                     bit_op=op)


# ---- ldmatrix, stmatrix, movmatrix ---------------------------------------------------------------


def fragment(matrix, lane, transposed):
    row, column = lane // 4, 2 * (lane % 4)
    if transposed:
        return matrix[column][row] | matrix[column + 1][row] << 16
    return matrix[row][column] | matrix[row][column + 1] << 16


def moves():
    for count in (1, 2, 4):
        for transposed in (False, True):
            tail = ".trans" if transposed else ""
            mode = f"x{count}{'_trans' if transposed else ''}"
            load_file(count, tail, mode, transposed)
            store_file(count, tail, mode, transposed)
    body = prologue(4, 4) + """\
  ld.global.b32 t1, [from];
  movmatrix.sync.aligned.m8n8.trans.b16 t2, t1;
  st.global.b32 [to], t2;
  ret;"""
    matrix = [[RNG.getrandbits(16) for _ in range(8)] for _ in range(8)]
    cases = [
        ([(fragment(matrix, lane, False), 32)], [(fragment(matrix, lane, True), 32)])
        for lane in range(32)
    ]
    Kernel("movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16", body, cases, target="sm_80",
           version="7.8").write()


# Rows of 16 bytes, 48 bytes apart, in an order of their own: lane l names row (5 l + 3) % 32.
PITCH = 48


def row_of_lane(lane):
    return (5 * lane + 3) % 32


def load_file(count, tail, mode, transposed):
    registers = names("d", count)
    body = prologue(16, 8 * count) + f"""\
  .shared .align 16 .b8 tile[{32 * PITCH}];
  .reg .b32 d<4>, e<4>;
  ld.global.v4.b32 {{t1, t2, t3, t4}}, [from];
  mov.u32 t5, tile;
  mad.lo.u32 t6, i, {PITCH}, t5;
  st.shared.v4.b32 [t6], {{t1, t2, t3, t4}};
  bar.sync 0;
  mad.lo.u32 t7, i, 5, 3;
  and.b32 t7, t7, 31;
  mad.lo.u32 t7, t7, {PITCH}, t5;
  ldmatrix.sync.aligned.m8n8.x{count}{tail}.shared.b16 {registers}, [t7];
  cvt.u64.u32 u1, t7;
  cvta.shared.u64 u1, u1;
  ldmatrix.sync.aligned.x{count}.m8n8{tail}.b16 {registers.replace("d", "e")}, [u1];
"""
    for k in range(count):
        body += f"  st.global.v2.b32 [to+{8 * k}], {{d{k}, e{k}}};\n"
    rows = [[RNG.getrandbits(16) for _ in range(8)] for _ in range(32)]
    cases = []
    for lane in range(32):
        words = [rows[lane][k] | rows[lane][k + 1] << 16 for k in range(0, 8, 2)]
        out = []
        for q in range(count):
            matrix = [rows[row_of_lane(8 * q + r)] for r in range(8)]
            out += [(fragment(matrix, lane, transposed), 32)] * 2
        cases.append(([(w, 32) for w in words], out))
    Kernel(f"ldmatrix_{mode}", f"ldmatrix .m8n8.x{count}{tail}, shared and generic", body + "  ret;",
           cases, target="sm_75", version="7.8").write()


def store_file(count, tail, mode, transposed):
    registers = names("d", count)
    body = prologue(4 * count, 16) + f"""\
  .shared .align 16 .b8 tile[{32 * PITCH}];
  .reg .b32 d<4>;
  mov.u32 t5, tile;
  mad.lo.u32 t6, i, {PITCH}, t5;
  mov.u32 t1, 0x5A5A5A5A;
  st.shared.v4.b32 [t6], {{t1, t1, t1, t1}};
"""
    for k in range(count):
        body += f"  ld.global.b32 d{k}, [from+{4 * k}];\n"
    body += f"""\
  bar.sync 0;
  mad.lo.u32 t7, i, 5, 3;
  and.b32 t7, t7, 31;
  mad.lo.u32 t7, t7, {PITCH}, t5;
  stmatrix.sync.aligned.m8n8.x{count}{tail}.shared.b16 [t7], {registers};
  bar.sync 0;
  ld.shared.v4.b32 {{t1, t2, t3, t4}}, [t6];
  st.global.v4.b32 [to], {{t1, t2, t3, t4}};
  ret;"""
    matrices = [[[RNG.getrandbits(16) for _ in range(8)] for _ in range(8)] for _ in range(count)]
    stored = {row_of_lane(8 * q + r): matrices[q][r] for q in range(count) for r in range(8)}
    cases = []
    for lane in range(32):
        row = stored.get(lane, [0x5A5A] * 8)
        out = [(row[k] | row[k + 1] << 16, 32) for k in range(0, 8, 2)]
        cases.append(([(fragment(m, lane, transposed), 32) for m in matrices], out))
    Kernel(f"stmatrix_{mode}", f"stmatrix .m8n8.x{count}{tail}", body, cases, target="sm_90",
           version="7.8").write()


def write_all():
    for family in (floats, integers, moves):
        family()
