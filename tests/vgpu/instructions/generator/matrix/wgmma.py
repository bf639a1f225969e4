"""wgmma.mma_async of every type, swizzle and majorness; operands from descriptors and registers.

Inputs are small integers, so every sum is exact.
"""

import random
from dataclasses import dataclass

from core import REGISTERS, Kernel
from tensor import TYPES, a_place, as_integer, encode, pack, parts

RNG = random.Random(9090)
SWIZZLE_CODES = {128: 1, 64: 2, 32: 3, 0: 0}


@dataclass
class Operand:
    """A or B in shared memory: rows of k elements, in the layout that its descriptor tells.

    `swizzle` is 128, 64, 32 or 0 bytes; `step` moves the start by so many k within the pattern.
    """

    type: object
    rows: int
    swizzle: int = 128
    mn_major: bool = False
    step: int = 0
    leading: int = 0
    stride: int = 0

    @property
    def depth(self):
        return 256 // self.type.bits

    def lay_out(self):
        """Sets the distances; gives the number of bytes that the operand takes."""
        width, depth = self.swizzle or 16, self.depth
        if not self.mn_major:
            # Groups of eight rows follow each other; few of them a little apart.
            gap = 128 if self.swizzle == 0 else 1024 * (width == 128 and self.rows < 32)
            self.stride = 8 * width + gap
            self.leading = (self.rows // 8) * self.stride + 128 if self.swizzle == 0 else 0
            return (self.rows // 8) * self.stride + self.leading * (self.swizzle == 0)
        if self.swizzle == 0:
            self.leading = 128  # from eight k to the next
            self.stride = (depth // 8) * self.leading + 128
            return (self.rows // 8) * self.stride
        self.stride = 8 * width
        self.leading = (depth // 8) * self.stride + 1024 * (width == 128)
        atoms = -(-self.rows * self.type.bits // 8 // width)
        return atoms * self.leading

    def address(self, row, k):
        """Of an element, in bits, before the swizzle; from the start of the matrix."""
        bits, width = self.type.bits, self.swizzle or 16
        if not self.mn_major:
            at = k * bits
            base = (row // 8) * self.stride + (row % 8) * width
            if self.swizzle == 0:
                return 8 * (base + at // 128 * self.leading) + at % 128
            return 8 * base + at + 256 * self.step
        per_row = 8 * width // bits
        base = k // 8 * (self.leading if self.swizzle == 0 else self.stride) + k % 8 * width
        base += row // per_row * (self.stride if self.swizzle == 0 else self.leading)
        return 8 * base + row % per_row * bits

    def place(self, start, row, k):
        """Byte and bit of an element; the pattern is that of the address itself."""
        bit = self.address(row, k)
        byte = start + bit // 8
        if self.swizzle:
            byte ^= (byte >> 7 & (self.swizzle // 16 - 1)) << 4
        return byte, bit % 8

    def write(self, image, start, matrix):
        for row in range(self.rows):
            for k in range(self.depth):
                byte, bit = self.place(start, row, k)
                value = matrix[row][k]
                for at in range(0, max(self.type.bits, 8), 8):
                    if self.type.bits < 8:
                        image[byte] = image[byte] & ~(1 << bit) | value << bit
                    else:
                        image[byte + at // 8] = value >> at & 0xFF

    def descriptor(self):
        """All fields but the start address."""
        return (
            self.leading >> 4 << 16 | self.stride >> 4 << 32 | SWIZZLE_CODES[self.swizzle] << 62
        )


def number(type_, rng):
    if type_.kind == "bit":
        return rng.getrandbits(1)
    if type_.kind == "int":
        return rng.getrandbits(type_.bits)
    return encode(type_, rng.randrange(-4, 5))


def as_number(type_, bits):
    if type_.kind == "bit":
        return bits
    return as_integer(type_, bits) if type_.kind == "int" else int(parts(type_, bits)[0])


def names(letter, count):
    return "{" + ", ".join(f"{letter}{k}" for k in range(count)) + "}"


@dataclass
class Product:
    """One instruction: operands, and what stands behind them in the PTX."""

    a: Operand
    b: Operand
    a_in_registers: bool = False
    accumulates: bool = True
    negate_a: bool = False
    negate_b: bool = False


def descriptor_code(register, operand, start):
    return f"""\
  add.u32 t1, t9, {start + 32 * operand.step};
  shr.u32 t1, t1, 4;
  and.b32 t1, t1, 0x3fff;
  cvt.u64.u32 {register}, t1;
  or.b64 {register}, {register}, {operand.descriptor():#x};
"""


def instruction(product, d_type, form, count, words=""):
    a, b = product.a, product.b
    text = f"  setp.ne.b32 p, t8, {0 if product.accumulates else 8};\n"
    text += f"  wgmma.mma_async.sync.aligned.{form}{words} {names('d', count)}, "
    text += "{a0, a1, a2, a3}" if product.a_in_registers else "u1"
    text += ", u2, p"
    if a.type.kind == "float":
        text += f", {-1 if product.negate_a else 1}, {-1 if product.negate_b else 1}"
    if a.type.bits == 16:
        if not product.a_in_registers:
            text += f", {int(a.mn_major)}"
        text += f", {int(b.mn_major)}"
    return text + ";\n"


def expected(products, matrices, c, d_type, saturates):
    """D as numbers."""
    d = c
    for product, (a, b) in zip(products, matrices):
        sign = -1 if product.negate_a != product.negate_b else 1
        rows = [[as_number(product.a.type, x) for x in row] for row in a]
        columns = [[as_number(product.b.type, x) for x in row] for row in b]
        combine = sign
        d = [
            [
                (d[i][j] if product.accumulates else 0)
                + combine * sum(x * y for x, y in zip(row, column))
                for j, column in enumerate(columns)
            ]
            for i, row in enumerate(rows)
        ]
        if saturates:
            d = [[max(-(2**31), min(2**31 - 1, x)) for x in row] for row in d]
    return d


def wgmma_file(name, d_type, products, words="", stored=None, start_values=lambda: None,
               c_range=99, c_base=0):
    """`stored`: which registers of D are stored; all if None."""
    d_type = TYPES[d_type]
    first = products[0]
    n, depth = first.b.rows, first.b.depth
    form = f"m64n{n}k{depth}.{d_type.name}.{first.a.type.name}.{first.b.type.name}"
    if first.a.type.kind == "bit":
        words += ".and.popc"
    image, code, matrices = bytearray(), "", []
    in_registers = first.a_in_registers
    count = n // 2 * d_type.bits // 32
    for k, product in enumerate(products):
        a = [[number(product.a.type, RNG) for _ in range(depth)] for _ in range(64)]
        b = [[number(product.b.type, RNG) for _ in range(depth)] for _ in range(n)]
        matrices.append((a, b))
        for register, operand, matrix in (("u1", product.a, a), ("u2", product.b, b)):
            if register == "u1" and product.a_in_registers:
                continue
            start = -(-len(image) // 1024) * 1024
            image += bytes(start + operand.lay_out() - len(image))
            operand.write(image, start, matrix)
            code += descriptor_code(register, operand, start)
        code += instruction(product, d_type, form, count, words)
    image += bytes(-len(image) % 2048)
    stored = list(range(count)) if stored is None else stored
    a_words = 4 if in_registers else 0
    row_in = 4 * (a_words + len(stored))
    body = prologue_of(len(image), row_in, 4 * len(stored))
    body += f"  .reg .b32 d<{count}>, a<4>;\n"
    for q in range(a_words):
        body += f"  ld.global.b32 a{q}, [from+{4 * q}];\n"
    for r in range(count):
        if r in stored:
            body += f"  ld.global.b32 d{r}, [from+{4 * (a_words + stored.index(r))}];\n"
        else:
            body += f"  mov.b32 d{r}, 0;\n"
    body += "  wgmma.fence.sync.aligned;\n" + code
    body += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
    for k, r in enumerate(stored):
        body += f"  st.global.b32 [to+{4 * k}], d{r};\n"
    c = [[c_base + RNG.randrange(-c_range, c_range + 1) for _ in range(n)] for _ in range(64)]
    for row in range(64):
        for column in range(n):
            if register_of(d_type, row, column) not in stored:
                c[row][column] = 0
    d = expected(products, matrices, c, d_type, ".satfinite" in words)
    cases = [
        ([(int.from_bytes(image[k : k + 4], "little"), 32) for k in range(at, at + 32, 4)], [])
        for at in range(0, len(image), 32)
    ]
    c_bits, d_bits = ([[encode(d_type, x) for x in row] for row in matrix] for matrix in (c, d))
    for thread in range(128):
        row = []
        if in_registers:
            for q in range(4):
                cells = [a_place(first.a.type, 2, thread % 32, q, j)
                         for j in range(first.a.type.per_register)]
                warp = thread // 32
                row.append((pack(first.a.type, [matrices[0][0][16 * warp + m][k] for m, k in cells]), 32))
        row += [(w, 32) for w in accumulator_words(d_type, c_bits, thread, stored)]
        out = [(w, 32) for w in accumulator_words(d_type, d_bits, thread, stored)]
        cases.append((row, out))
    form = f"wgmma.mma_async.sync.aligned.{form}{words}"
    notes = [f"approximate: {form}"] if d_type.name == "f16" else []
    Kernel(name, form, body + "  ret;", cases, block=128, notes=notes, target="sm_90a",
           version="8.4", shared=len(image),
           header=".extern .shared .align 1024 .b8 image[];").write()


def prologue_of(image_bytes, row_in, row_out):
    """Copies the image to shared memory; from, to: this thread's rows behind it."""
    return f"""\
{REGISTERS}
  ld.param.u64 from, [in];
  ld.param.u64 to, [out];
  mov.u32 i, %tid.x;
  mov.u32 t9, image;
  mul.wide.u32 u1, i, 16;
  add.u64 u1, from, u1;
  mad.lo.u32 t1, i, 16, t9;
  mov.u32 t8, 0;
COPY:
  ld.global.v4.b32 {{t2, t3, t4, t5}}, [u1];
  st.shared.v4.b32 [t1], {{t2, t3, t4, t5}};
  add.u64 u1, u1, 2048;
  add.u32 t1, t1, 2048;
  add.u32 t8, t8, 2048;
  setp.lt.u32 p, t8, {image_bytes};
  @p bra COPY;
  fence.proxy.async;
  bar.sync 0;
  mov.u32 t8, 8;
  add.u64 from, from, {image_bytes};
  mad.wide.u32 from, i, {row_in}, from;
  mad.wide.u32 to, i, {row_out}, to;
"""


def register_of(d_type, row, column):
    r = 4 * (column // 8) + 2 * (row % 16 // 8) + column % 2
    return r // d_type.per_register


def accumulator_words(d_type, d, thread, stored):
    """The thread's stored registers of a matrix of bits."""
    warp, lane = thread // 32, thread % 32
    per = d_type.per_register
    for r in stored:
        elements = []
        for k in range(r * per, r * per + per):
            row = 16 * warp + lane // 4 + 8 * (k // 2 % 2)
            elements.append(d[row][8 * (k // 4) + 2 * (lane % 4) + k % 2])
        yield pack(d_type, elements)


def pair(a, b, n, a_layout=(128, False, 0), b_layout=None, **options):
    b_layout = b_layout or a_layout
    return Product(Operand(TYPES[a], 64, *a_layout), Operand(TYPES[b], n, *b_layout), **options)


def k_major():
    for swizzle in (128, 64, 32, 0):
        name = f"{swizzle}b" if swizzle else "plain"
        steps = [(swizzle, False, k) for k in range(max(1, swizzle // 32))]
        wgmma_file(f"wgmma_bf16_k_major_{name}", "f32",
                   [pair("bf16", "bf16", 24, layout) for layout in steps[-2:]])
    wgmma_file("wgmma_f16_f32", "f32", [pair("f16", "f16", 64)])
    wgmma_file("wgmma_f16_f16", "f16", [pair("f16", "f16", 40, (64, False, 1))])
    wgmma_file("wgmma_tf32", "f32", [pair("tf32", "tf32", 16, (128, False, 3), (64, False, 1))])
    last = list(range(124, 128))
    wgmma_file("wgmma_bf16_n256", "f32", [pair("bf16", "bf16", 256)], stored=[0, 1, 63, 64] + last)


def mn_major():
    for swizzle in (128, 64, 32, 0):
        name = f"{swizzle}b" if swizzle else "plain"
        layout = (swizzle, True, 0)
        wgmma_file(f"wgmma_f16_mn_major_{name}", "f32", [pair("f16", "f16", 48, layout)])
    wgmma_file("wgmma_bf16_mn_major_n136", "f32",
               [pair("bf16", "bf16", 136, (128, False, 0), (128, True, 0))],
               stored=[0, 1, 2, 3, 32, 35, 64, 67])


def eight_bits():
    for a, b, n in (("e4m3", "e4m3", 32), ("e5m2", "e4m3", 8)):
        wgmma_file(f"wgmma_{a}_{b}_f32", "f32", [pair(a, b, n, (128, False, 2))], c_range=9)
        wgmma_file(f"wgmma_{a}_{b}_f16", "f16", [pair(a, b, n, (32, False, 0))], c_range=9)
    for a, b, n in (("s8", "s8", 32), ("s8", "u8", 16), ("u8", "s8", 24), ("u8", "u8", 8)):
        wgmma_file(f"wgmma_{a}_{b}", "s32", [pair(a, b, n, (64, False, 1))], c_range=9999)
    for base, name in ((0x7FFFFE00, "up"), (-0x7FFFFE00, "down")):
        wgmma_file(f"wgmma_s8_satfinite_{name}", "s32", [pair("s8", "s8", 8)], c_base=base,
                   words=".satfinite")
    wgmma_file("wgmma_b1", "s32", [pair("b1", "b1", 16, (0, False, 0))], c_range=9999)


def a_from_registers():
    for a, b, d in (("bf16", "bf16", "f32"), ("f16", "f16", "f16"), ("tf32", "tf32", "f32"),
                    ("e5m2", "e5m2", "f32"), ("s8", "s8", "s32"), ("b1", "b1", "s32")):
        wgmma_file(f"wgmma_a_in_registers_{a}", d, [pair(a, b, 16, a_in_registers=True)], c_range=9)


def scales():
    wgmma_file("wgmma_scale_d", "f32", [
        pair("bf16", "bf16", 16, accumulates=False),
        pair("bf16", "bf16", 16, negate_a=True),
        pair("bf16", "bf16", 16, negate_b=True),
        pair("bf16", "bf16", 16, negate_a=True, negate_b=True),
    ])
    wgmma_file("wgmma_scale_tf32", "f32", [
        pair("tf32", "tf32", 8, negate_a=True), pair("tf32", "tf32", 8, accumulates=False)
    ])


def write_all():
    for family in (k_major, mn_major, eight_bits, a_from_registers, scales):
        family()
