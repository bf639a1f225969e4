"""Matrix instructions that must be refused or stopped, and mma.m8n8k4 on halves."""

import random

from core import Kernel, prologue
from fault import MARK, write
from tensor import TYPES, encode, pack

RNG = random.Random(9494)


def faults():
    warp = {"block": 32, "target": "sm_90a", "version": "8.0"}
    tile = "  .shared .align 1024 .b8 tile[2048];\n  .reg .b32 a<8>, d<8>;\n  mov.u32 t1, tile;\n"
    write("fault_ldmatrix_misaligned", "a row of ldmatrix that is not on 16 bytes",
          "misaligned ldmatrix", prologue(0, 0) + tile + f"""\
  mad.lo.u32 t1, i, 8, t1;
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{a0}}, [t1];{MARK}
  ret;""", **warp)
    write("fault_ldmatrix_bounds", "a row of ldmatrix behind shared memory", "shared ldmatrix",
          prologue(0, 0) + tile + f"""\
  mad.lo.u32 t1, i, 64, t1;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{a0, a1, a2, a3}}, [t1+64];{MARK}
  ret;""", **warp)
    write("fault_stmatrix_bounds", "a row of stmatrix behind shared memory", "shared stmatrix",
          prologue(0, 0) + tile + f"""\
  stmatrix.sync.aligned.m8n8.x1.shared.b16 [t1+4096], {{a0}};{MARK}
  ret;""", **warp)
    write("fault_ldmatrix_half_warp", "ldmatrix by half a warp", "all 32 lanes",
          prologue(0, 0) + tile + f"""\
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{a0}}, [t1];{MARK}
  ret;""", block=16, target="sm_90a", version="8.0")
    refused = [
        ("ldmatrix_b8", "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {a0, a1}, [t1];", "m16n16"),
        ("mma_sparse", "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, "
         "{a0, a1}, {a2, a3}, {d0, d1, d2, d3}, a4, 0x0;", "sp"),
        ("mma_shape", "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, "
         "{a0, a1, a2, a3}, {a4, a5}, {d0, d1, d2, d3};", "shape"),
        ("mma_types", "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {d0, d1, d2, d3}, "
         "{a0, a1, a2, a3}, {a4, a5}, {d0, d1, d2, d3};", "together"),
        ("mma_registers", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, "
         "{a0, a1, a2}, {a4, a5}, {d0, d1, d2, d3};", "registers"),
        ("wgmma_shape", "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {d0, d1, d2, d3}, u1, "
         "u1, p, 1, 1, 0, 0;", "shape"),
        ("wgmma_majors", "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {d0, d1, d2, d3}, u1, "
         "u1, p, 1, 1, 0, 0;", "operand count"),
        ("wgmma_scale", "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {d0, d1, d2, d3}, u1, "
         "u1, p, 1, 2;", "1 or -1"),
        ("wmma_layout", "wmma.load.a.sync.aligned.m16n16k16.shared.f16 {d0, d1, d2, d3, d4, d5, "
         "d6, d7}, [t1];", "layout"),
    ]
    for name, text, words in refused:
        form = text.split()[0]
        write(f"fault_{name}", "a matrix instruction that does not exist on sm_90", form,
              prologue(0, 0) + tile + f"  {text}{MARK}\n  ret;", **warp)
    write("fault_wgmma_bounds", "a descriptor that leads out of shared memory", "shared wgmma",
          prologue(0, 0) + tile + f"""\
  shr.u32 t1, t1, 4;
  cvt.u64.u32 u1, t1;
  or.b64 u1, u1, 0x4000004000010000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{d0, d1, d2, d3}}, u1, u1, 0, 1, 1, 0, 0;{MARK}
  ret;""", block=128, target="sm_90a", version="8.0")


# ---- mma.m8n8k4 ----------------------------------------------------------------------------------


def quad_place(lane):
    """(product, first row or column, row or column or k within it)"""
    return lane // 4 % 4, lane // 16 * 4, lane % 4


def accumulator_place(type_, lane, i):
    _, base, line = quad_place(lane)
    if type_.bits == 16:
        return base + line, i
    return base + (lane & 1) + (i & 2), (i & 4) + (lane & 2) + (i & 1)


def quads():
    """Not for a real GPU since Volta: ptxas makes something else of it. Run here alone."""
    half = TYPES["f16"]
    for a_layout, b_layout, d, c in (("row", "col", "f32", "f32"), ("col", "row", "f16", "f16"),
                                     ("row", "row", "f32", "f16"), ("col", "col", "f32", "f32")):
        d_type, c_type = TYPES[d], TYPES[c]
        a = [[[RNG.randrange(-9, 10) for _ in range(4)] for _ in range(8)] for _ in range(4)]
        b = [[[RNG.randrange(-9, 10) for _ in range(8)] for _ in range(4)] for _ in range(4)]
        cs = [[[RNG.randrange(-99, 100) for _ in range(8)] for _ in range(8)] for _ in range(4)]
        counts = {"a": 2, "b": 2, "c": 4 if c == "f16" else 8, "d": 4 if d == "f16" else 8}
        row_in = 4 * (4 + counts["c"])
        body = prologue(row_in, 4 * counts["d"])
        at = 0
        for letter in "abcd":
            body += f"  .reg .b32 {letter}<{counts[letter]}>;\n"
        for letter in "abc":
            for r in range(counts[letter]):
                body += f"  ld.global.b32 {letter}{r}, [from+{at}];\n"
                at += 4
        form = f"mma.sync.aligned.m8n8k4.{a_layout}.{b_layout}.{d}.f16.f16.{c}"
        listed = ["{" + ", ".join(f"{x}{r}" for r in range(counts[x])) + "}" for x in "dabc"]
        body += f"  {form} {', '.join(listed)};\n"
        for r in range(counts["d"]):
            body += f"  st.global.b32 [to+{4 * r}], d{r};\n"
        cases = []
        for lane in range(32):
            product, base, line = quad_place(lane)
            x = [a[product][base + line][i] if a_layout == "row" else a[product][base + i][line]
                 for i in range(4)]
            y = [b[product][i][base + line] if b_layout == "col" else b[product][line][base + i]
                 for i in range(4)]

            def words(type_, matrix):
                values = []
                for i in range(8):
                    row, column = accumulator_place(type_, lane, i)
                    values.append(encode(type_, matrix[row][column]))
                per = type_.per_register
                return [(pack(type_, values[k : k + per]), 32) for k in range(0, 8, per)]

            sums = [[cs[product][i][j] + sum(a[product][i][k] * b[product][k][j] for k in range(4))
                     for j in range(8)] for i in range(8)]
            left = [(pack(half, [encode(half, v) for v in z[k : k + 2]]), 32)
                    for z in (x, y) for k in (0, 2)]
            cases.append((left + words(c_type, cs[product]), words(d_type, sums)))
        Kernel(f"volta_m8n8k4_{a_layout}_{b_layout}_{d}_{c}", form, body + "  ret;", cases,
               notes=[f"approximate: {form}", "silicon: no"], target="sm_70", version="7.0").write()


def write_all():
    faults()
    quads()
