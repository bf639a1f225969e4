"""Questions to the silicon: how tensor cores add up. The expectation is the model's answer.

Each file is one instruction form on numbers that tell models apart. Where a real GPU disagrees, the
model (src/vgpu/exec/ops/matrix/matrix_model.h, and tensor.py here) changes, not the file.
"""

import random
from fractions import Fraction

from core import Kernel
from matrix.mma import Shape, mma_file
from matrix.wgmma import Operand, accumulator_words, descriptor_code, prologue_of
from tensor import TYPES, exponent_of, product, round_nearest

RNG = random.Random(9393)


def bits_of(type_, value):
    """To nearest, for values that the type does not hold exactly."""
    if type_.name == "tf32" and value:
        unit = Fraction(2) ** (exponent_of(value) - 10)
        value = round(value / unit) * unit
    bits = round_nearest(type_, Fraction(value))
    if type_.name == "e4m3" and bits & 0x7F == 0x7F:
        bits -= 1  # its NaN stands where an infinity would
    return bits


# ---- rows of A, columns of B and starts that ask one question each -------------------------------


def power(exponent):
    return Fraction(2) ** exponent


def questions(a_type, b_type, c_type, k):
    """(name, row of A, column of B, C) as numbers; the rest of row and column is zero."""
    low = {"f16": -14, "bf16": -60, "tf32": -60, "e4m3": -6, "e5m2": -14}[a_type.name]
    high = {"f16": 15, "bf16": 60, "tf32": 60, "e4m3": 8, "e5m2": 15}[a_type.name]
    one, half = Fraction(1), Fraction(1, 2)
    found = []

    def ask(pairs, c):
        row = [p[0] for p in pairs] + [Fraction(0)] * (k - len(pairs))
        column = [p[1] for p in pairs] + [Fraction(0)] * (k - len(pairs))
        found.append((row, column, Fraction(c)))

    # How far below the largest summand one survives: C = 1, a product of 2^-d, and its negative.
    for d in (11, 12, 13, 14, 15, 22, 23, 24, 25, 26, 27):
        x = power(-(d // 2)), power(-(d - d // 2))
        if -(d - d // 2) < low:
            continue
        for sign in (1, -1):
            ask([(sign * x[0], x[1])], 1)
            ask([(sign * x[0], x[1])] * min(k, 8), 1)
            # The same below a product, C being nothing; and between two that cancel.
            ask([(one, one), (sign * x[0], x[1])], 0)
            ask([(one, one), (sign * x[0], x[1]), (-one, one)], 0)
    # A product of 1.5 * 1.5 is above 2: does it count with the exponent 0 or 1?
    for d in range(11, 27):
        x = power(-(d // 2)), power(-(d - d // 2))
        if -(d - d // 2) >= low:
            ask([(3 * half, 3 * half), (x[0], x[1])], Fraction(-9, 4))
    # Sums beyond the next power of two, and what is cut from them.
    for n in range(1, min(k, 16) + 1):
        ask([(one + half, one + half)] * n, 1 + power(-10))
    # All summands as large as their exponents allow: the sum has the most bits.
    top = 2 - power(-a_type.format.mantissa_bits if a_type.name != "tf32" else -10)
    for sign in (1, -1):
        ask([(sign * top, top)] * k, sign * top)
    # Large ones that cancel: what is left of the small ones, in which place they stand.
    for at in range(0, k, max(1, k // 8)):
        pairs = [(Fraction(0), one)] * k
        pairs[at] = (power(min(high, 8)), power(min(high, 6)))
        pairs[(at + k // 2) % k] = (-power(min(high, 8)), power(min(high, 6)))
        pairs[(at + 1) % k] = (one, power(max(low, -6)))
        ask(pairs, power(-5))
    # Ties and last bits of the result.
    for c in (1, 3, 5, 7):
        ask([(one, half)], c * 8)
        ask([(one, power(max(low, -6)))] * 3, c * 8)
    return found


def random_rows(a_type, b_type, c_type, k, count):
    """Full mantissas over some powers of two, which no short question replaces."""
    rows = []
    for _ in range(count):
        spread = RNG.choice([1, 4, 8])

        def draw():
            return Fraction(RNG.uniform(-1, 1)) * power(RNG.randrange(-spread // 2, spread // 2 + 1))

        rows.append(([draw() for _ in range(k)], [draw() for _ in range(k)], draw() * 2))
    return rows


def special_bits(a_type, b_type, c_type):
    """(two of A, two of B, C) as bits: infinities, NaN, zeros of both signs, subnormal numbers."""
    def of(type_):
        f = type_.format
        if type_.name == "e4m3":
            return {"nan": 0x7F, "one": f.one, "tiny": 1, "huge": 0x7E, "minus": f.sign_bit}
        infinity = f.infinity
        quiet = infinity | 1 << (f.mantissa_bits - 1) | (0x4000 if type_.name == "tf32" else 1)
        tiny = 1 << 13 if type_.name == "tf32" else 1
        return {"inf": infinity, "nan": quiet, "one": f.one, "tiny": tiny, "huge": infinity - tiny,
                "minus": f.sign_bit}

    a, b, c = of(a_type), of(b_type), of(c_type)
    rows = []
    for x in a:
        for y in b:
            if "minus" in (x, y):
                continue
            rows.append((a[x], 0, b[y], 0, 0))
            rows.append((a[x] | a["minus"], a[x], b[y], b[y], c["one"]))
    for z in c:
        rows.append((a["one"], a["one"], b["one"], b["one"] | b["minus"], c[z]))
        rows.append((0, 0, 0, 0, c[z] | c["minus"]))
        rows.append((a["huge"], a["huge"], b["huge"], b["huge"], c[z]))
    rows.append((a["minus"], a["minus"], b["one"], b["one"], c["minus"]))
    return rows


def tested(a_type, b_type, c_type, k, randoms):
    """All questions as bits: (row, column, c)."""
    rows = questions(a_type, b_type, c_type, k) + random_rows(a_type, b_type, c_type, k, randoms)
    asked = []
    for row, column, c in rows:
        asked.append((
            [bits_of(a_type, x) for x in row],
            [bits_of(b_type, x) for x in column],
            bits_of(c_type, c),
        ))
    for x0, x1, y0, y1, c in special_bits(a_type, b_type, c_type):
        asked.append(([x0, x1] + [0] * (k - 2), [y0, y1] + [0] * (k - 2), c))
    return asked


# ---- instructions --------------------------------------------------------------------------------


def matrices_of(asked, m):
    """Question i stands in row and column i of a product; every other entry is one more."""
    RNG.shuffle(asked)
    asked = asked + asked[: -len(asked) % 8]
    for first in range(0, len(asked), 8):
        columns = asked[first : first + 8]
        rows = columns + [RNG.choice(asked) for _ in range(m - 8)]
        a = [row for row, _, _ in rows]
        b = [list(line) for line in zip(*(column for _, column, _ in columns))]
        c = [[columns[j][2] if i == j else RNG.choice(asked)[2] for j in range(8)]
             for i in range(m)]
        yield a, b, c


MMA = [
    (16, "f16", "f16", "f32"),
    (8, "f16", "f16", "f32"),
    (16, "f16", "f16", "f16"),
    (16, "bf16", "bf16", "f32"),
    (8, "bf16", "bf16", "f32"),
    (8, "tf32", "tf32", "f32"),
    (4, "tf32", "tf32", "f32"),
    (32, "e4m3", "e4m3", "f32"),
    (16, "e5m2", "e4m3", "f32"),
    (32, "e5m2", "e5m2", "f16"),
]


def mma():
    for k, a, b, d in MMA:
        shape = Shape(16, 8, k, a, b, d)
        asked = tested(shape.a, shape.b, shape.c, k, 40)
        kwargs = {"target": "sm_90", "version": "8.7"} if a[0] == "e" else {}
        if (a, k) == ("tf32", 4):  # one sum below the normal numbers ends a bit lower on an H200
            kwargs["notes"] = ["tolerance: 1 ulp"]
        mma_file(f"calibrate_mma_{a}_{b}_{d}_k{k}", shape, list(matrices_of(asked, 16)), **kwargs)


WGMMA = [
    ("f16", "f16", "f32"),
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "f32"),
    ("tf32", "tf32", "f32"),
    ("e4m3", "e4m3", "f32"),
    ("e5m2", "e4m3", "f16"),
]
PRODUCTS = 5  # in a file


def wgmma():
    for a, b, d in WGMMA:
        a_type, b_type, d_type = TYPES[a], TYPES[b], TYPES[d]
        depth = 256 // a_type.bits
        asked = tested(a_type, b_type, d_type, depth, 40)
        wgmma_file(a_type, b_type, d_type, depth, list(matrices_of(asked, 64))[:PRODUCTS])


def wgmma_file(a_type, b_type, d_type, depth, matrices):
    form = f"wgmma.mma_async.sync.aligned.m64n8k{depth}.{d_type.name}.{a_type.name}.{b_type.name}"
    count = 4 * d_type.bits // 32
    registers = "{" + ", ".join(f"d{r}" for r in range(count)) + "}"
    image, code = bytearray(), ""
    for number, (a, b, _) in enumerate(matrices):
        for register, operand, matrix in (
            ("u1", Operand(a_type, 64, 32), a),
            ("u2", Operand(b_type, 8, 32), [list(column) for column in zip(*b)]),
        ):
            start = len(image)
            image += bytes(operand.lay_out())
            operand.write(image, start, matrix)
            code += descriptor_code(register, operand, start)
        scales = ", 1, 1" + (", 0, 0" if a_type.bits == 16 else "")
        for r in range(count):
            code += f"  ld.global.b32 d{r}, [from+{4 * (number * count + r)}];\n"
        code += "  wgmma.fence.sync.aligned;\n"
        code += f"  {form} {registers}, u1, u2, 1{scales};\n"
        code += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
        for r in range(count):
            code += f"  st.global.b32 [to+{4 * (number * count + r)}], d{r};\n"
    image += bytes(-len(image) % 2048)
    row = 4 * count * len(matrices)
    body = prologue_of(len(image), row, row) + f"  .reg .b32 d<{count}>;\n" + code + "  ret;"
    cases = [
        ([(int.from_bytes(image[k : k + 4], "little"), 32) for k in range(at, at + 32, 4)], [])
        for at in range(0, len(image), 32)
    ]
    sums = [
        [[product(a_type, b_type, d_type, a[i], [b[k][j] for k in range(depth)], c[i][j],
                  warpgroup=True) for j in range(8)] for i in range(64)]
        for a, b, c in matrices
    ]
    for thread in range(128):
        left, right = [], []
        for (_, _, c), d in zip(matrices, sums):
            left += [(w, 32) for w in accumulator_words(d_type, c, thread, range(count))]
            right += [(w, 32) for w in accumulator_words(d_type, d, thread, range(count))]
        cases.append((left, right))
    name = f"calibrate_wgmma_{a_type.name}_{b_type.name}_{d_type.name}"
    notes = [f"approximate: {form}"] if d_type.name == "f16" else []
    Kernel(name, form, body, cases, block=128, notes=notes, target="sm_90a",
           version="8.4", shared=len(image),
           header=".extern .shared .align 1024 .b8 image[];").write()


def write_all():
    mma()
    wgmma()
