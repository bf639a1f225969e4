"""Writes one `.ptx` file: a kernel, and above it the memory that it reads and must write.

The expectation of each file is computed here, in plain integer and rational arithmetic, from what the
PTX manual says. Nothing of the virtual GPU is used, so a file judges it as a real GPU would.
"""

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

FOLDER = Path(__file__).resolve().parents[1]
# Tests that no family writes.
HAND_WRITTEN = ("bar_after_exit", "mma_f64_nan", "mov_pred", "wgmma_meets")
WRITTEN = set()  # names, each of which may be written once

M8, M16, M32, M64 = 0xFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
ANY = "any"  # an output word that the manual leaves open
NAN = "nan"  # any NaN of the word's width


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def word(value, bits):
    """A word as the files write it: hex digits, as many as it has bits."""
    digits = bits // 4
    if value == ANY:
        return "." * digits
    if value == NAN:
        return "n" * digits
    return f"{value & ((1 << bits) - 1):0{digits}x}"


@dataclass
class Op:
    """One result: PTX with {d} for the destination, and its meaning for the inputs by name."""

    text: str
    bits: int
    meaning: Callable


@dataclass
class Kernel:
    """A file: `cases` are rows of (input words, output words), each word a (value, bits) pair."""

    name: str
    op: str
    body: str
    cases: list
    block: int = 0
    grid: int = 1
    shared: int = 0
    target: str = "sm_75"
    version: str = "7.0"
    header: str = ""
    notes: list = field(default_factory=list)

    def write(self):
        lines = [f"// op: {self.op}"] + [f"// {note}" for note in self.notes]
        lines.append(
            f"// grid: {self.grid}  block: {self.block or len(self.cases)}  shared: {self.shared}"
        )
        for inputs, outputs in self.cases:
            left = "".join(word(v, b) + " " for v, b in inputs)
            right = "".join(" " + word(v, b) for v, b in outputs)
            lines.append(f"// case: {left}->{right}")
        lines.append(f".version {self.version}\n.target {self.target}\n.address_size 64\n")
        if self.header:
            lines.append(self.header.strip("\n") + "\n")
        lines.append(".visible .entry test(.param .u64 in, .param .u64 out)\n{")
        lines.append(self.body.strip("\n"))
        lines.append("}")
        assert self.name not in WRITTEN, f"two tests are called {self.name}"
        assert self.name not in HAND_WRITTEN, f"{self.name}.ptx is written by hand"
        WRITTEN.add(self.name)
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.path().write_text("\n".join(lines) + "\n")

    def path(self):
        return FOLDER / f"{self.name}.ptx"


REGISTERS = """\
  .reg .pred p, q;
  .reg .b16 h<8>;
  .reg .b32 i, n, t<16>;
  .reg .b64 from, to, u<16>;"""


# i: linear thread; from, to: this thread's row.
def prologue(row_in, row_out):
    return f"""\
{REGISTERS}
  ld.param.u64 from, [in];
  ld.param.u64 to, [out];
  mov.u32 i, %ctaid.x;
  mov.u32 n, %ntid.x;
  mov.u32 t0, %tid.x;
  mad.lo.u32 i, i, n, t0;
  mad.wide.u32 from, i, {row_in}, from;
  mad.wide.u32 to, i, {row_out}, to;
"""


def register_bits(bits):
    return max(bits, 16)


def layout(widths):
    """Offsets of words that follow each other; each must fall on its own alignment."""
    offsets, at = [], 0
    for bits in widths:
        size = bits // 8
        assert at % size == 0, "order the fields so that each is aligned"
        offsets.append(at)
        at += size
    largest = max(widths, default=8) // 8
    assert at % largest == 0, "pad the row"
    return offsets, at


def elementwise(name, op, fields, rows, ops, **kwargs):
    """One thread a row: loads `fields` (name -> bits), runs every op, stores every result.

    Fields named pad fill the row up to its alignment; no op sees them.
    """
    names, widths = list(fields), list(fields.values())
    ops = sorted(ops, key=lambda o: -o.bits)
    out_widths = [o.bits for o in ops]
    while sum(out_widths) % max(out_widths) != 0:
        out_widths.append(out_widths[-1])
    in_offsets, row_in = layout(widths)
    out_offsets, row_out = layout(out_widths)
    body = prologue(row_in, row_out)
    for n, bits in fields.items():
        body += f"  .reg .b{register_bits(bits)} {n};\n"
    for k, o in enumerate(ops):
        body += f"  .reg .b{register_bits(o.bits)} d{k};\n"
    for n, bits, offset in zip(names, widths, in_offsets):
        body += f"  ld.global.{'u8' if bits == 8 else f'b{bits}'} {n}, [from+{offset}];\n"
    for k, (o, offset) in enumerate(zip(ops, out_offsets)):
        for line in o.text.format(d=f"d{k}").strip().split("\n"):
            body += f"  {line.strip()}\n"
        body += f"  st.global.b{o.bits} [to+{offset}], d{k};\n"
    body += "  ret;"
    cases = []
    for row in rows:
        assert len(row) == len(names)
        inputs = {n: v for n, v in zip(names, row) if not n.startswith("pad")}
        outputs = [(o.meaning(**inputs), o.bits) for o in ops]
        outputs += [(ANY, b) for b in out_widths[len(ops) :]]
        cases.append((list(zip(row, widths)), outputs))
    Kernel(name, op, body, cases, **kwargs).write()


INTEGERS = {
    16: [0, 1, 2, 3, 7, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF, 0x1234],
    32: [
        0,
        1,
        2,
        3,
        31,
        32,
        33,
        0xFF,
        0x7FFFFF,
        0x800000,
        0xFFFFFF,
        0x7FFFFFFF,
        0x80000000,
        0x80000001,
        0xFFFFFFFE,
        0xFFFFFFFF,
        0x12345678,
    ],
    64: [
        0,
        1,
        2,
        63,
        64,
        0x7FFFFFFF,
        0x80000000,
        0xFFFFFFFF,
        0x100000000,
        0x7FFFFFFFFFFFFFFF,
        0x8000000000000000,
        0x8000000000000001,
        0xFFFFFFFFFFFFFFFF,
        0x123456789ABCDEF0,
    ],
}


def integer_rows(seed, widths, count=40, small=()):
    """Adversarial and random words; columns in `small` hold values up to 40 (shift amounts)."""
    rng = random.Random(seed)
    rows = []
    for k in range(count):
        row = []
        for column, bits in enumerate(widths):
            if column in small:
                row.append(rng.choice([0, 1, 4, 7, 8, 15, 16, 24, 31, 32, 33, 40, 63, 64, 65, 255]))
            elif k < count * 2 // 3:
                row.append(
                    rng.choice(INTEGERS[bits]) if bits in INTEGERS else rng.getrandbits(bits)
                )
            else:
                row.append(rng.getrandbits(bits))
        rows.append(row)
    return rows
