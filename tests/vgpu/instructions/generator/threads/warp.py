"""Instructions of a whole warp: shuffles, votes, matches, reductions, matrices."""

import random
import struct

from core import M32, Kernel, prologue, signed

RNG = random.Random(500)


def shuffle(mode, lane, b, c, values, mask):
    """The manual's rule: (value, predicate)."""
    limit, segment = c & 31, c >> 8 & 31
    low = lane & segment
    high = low | limit & ~segment
    j = {
        "up": lane - (b & 31),
        "down": lane + (b & 31),
        "bfly": lane ^ (b & 31),
        "idx": low | (b & 31) & ~segment,
    }[mode]
    inside = j >= high if mode == "up" else j <= high
    return (values[j] if inside else values[lane]), int(inside)


def shuffles():
    for mode in ("up", "down", "bfly", "idx"):
        settings = [
            (0, 31),
            (1, 31),
            (5, 31),
            (31, 31),
            (3, 0x1807),
            (7, 0x1C03),
            (2, 0x100F | 0x1000),
        ]
        if mode == "up":
            settings = [(b, c & 0x1F00) for b, c in settings]
        body = prologue(8, 8 * len(settings) + 8) + "  ld.global.v2.u32 {t1, t2}, [from];\n"
        for k, (b, c) in enumerate(settings):
            body += f"  shfl.sync.{mode}.b32 t3|p, t1, {b}, {c:#x}, -1;\n  selp.u32 t4, 1, 0, p;\n"
            body += f"  st.global.v2.u32 [to+{8 * k}], {{t3, t4}};\n"
        # A lane of each lane's choice; the same segments.
        last = 0 if mode == "up" else 31
        body += f"  shfl.sync.{mode}.b32 t3, t1, t2, {last}, 0xFFFFFFFF;\n"
        body += f"  st.global.v2.u32 [to+{8 * len(settings)}], {{t3, t2}};\n  ret;"
        values = [RNG.getrandbits(32) for _ in range(32)]
        choice = [RNG.randrange(32) for _ in range(32)]
        cases = []
        for lane in range(32):
            outputs = []
            for b, c in settings:
                value, inside = shuffle(mode, lane, b, c, values, M32)
                outputs += [(value, 32), (inside, 32)]
            value, _ = shuffle(mode, lane, choice[lane], last, values, M32)
            outputs += [(value, 32), (choice[lane], 32)]
            cases.append(([(values[lane], 32), (choice[lane], 32)], outputs))
        Kernel(
            f"shfl_{mode}", f"shfl.sync.{mode}.b32 with segments and predicates", body, cases
        ).write()

    body = prologue(4, 4) + """\
  ld.global.u32 t1, [from];
  and.b32 t2, i, 1;
  setp.eq.u32 p, t2, 0;
  mov.u32 t3, 0;
  @p bra EVEN;
  shfl.sync.bfly.b32 t3, t1, 2, 31, 0xAAAAAAAA;
  bra JOIN;
EVEN:
  shfl.sync.bfly.b32 t3, t1, 4, 31, 0x55555555;
JOIN:
  st.global.u32 [to], t3;
  ret;"""
    values = [RNG.getrandbits(32) for _ in range(32)]
    Kernel(
        "shfl_divergent",
        "shfl.sync with the masks of two branches",
        body,
        [([(v, 32)], [(values[k ^ (2 if k & 1 else 4)], 32)]) for k, v in enumerate(values)],
    ).write()


def votes():
    body = prologue(4, 32) + """\
  ld.global.u32 t1, [from];
  setp.ne.u32 p, t1, 0;
  vote.sync.all.pred q, p, -1;
  selp.u32 t2, 1, 0, q;
  vote.sync.any.pred q, p, -1;
  selp.u32 t3, 1, 0, q;
  vote.sync.uni.pred q, p, -1;
  selp.u32 t4, 1, 0, q;
  vote.sync.ballot.b32 t5, p, 0xFFFFFFFF;
  vote.sync.ballot.b32 t6, !p, -1;
  vote.sync.all.pred q, !p, -1;
  selp.u32 t7, 1, 0, q;
  activemask.b32 t8;
  setp.lt.u32 p, i, 16;
  mov.u32 t9, 0;
  @!p bra JOIN;
  setp.gt.u32 q, t1, 1;
  vote.sync.ballot.b32 t9, q, 0xFFFF;
JOIN:
  st.global.v4.u32 [to], {t2, t3, t4, t5};
  st.global.v4.u32 [to+16], {t6, t7, t8, t9};
  ret;"""
    for name, values in (
        ("mixed", [k * 7 % 3 for k in range(32)]),
        ("all", [2] * 32),
        ("none", [0] * 32),
    ):
        ballot = sum((v != 0) << k for k, v in enumerate(values))
        some = sum((v > 1) << k for k, v in enumerate(values[:16]))
        outputs = [
            int(ballot == M32),
            int(ballot != 0),
            int(ballot in (0, M32)),
            ballot,
            ballot ^ M32,
            int(ballot == 0),
            M32,
        ]
        Kernel(
            f"vote_{name}",
            "vote.sync.{all,any,uni,ballot}, activemask",
            body,
            [
                ([(v, 32)], [(o, 32) for o in outputs + [some if k < 16 else 0]])
                for k, v in enumerate(values)
            ],
        ).write()


def matches():
    body = prologue(16, 24) + """\
  ld.global.u64 u1, [from];
  ld.global.u32 t1, [from+8];
  match.any.sync.b32 t2, t1, -1;
  match.any.sync.b64 t3, u1, -1;
  match.all.sync.b32 t4|p, t1, -1;
  selp.u32 t5, 1, 0, p;
  mov.u32 t6, 5;
  match.all.sync.b32 t6|q, t6, -1;
  selp.u32 t7, 1, 0, q;
  st.global.v2.u32 [to], {t2, t3};
  st.global.v2.u32 [to+8], {t4, t5};
  st.global.v2.u32 [to+16], {t6, t7};
  ret;"""
    a = [k % 5 for k in range(32)]
    x = [(k % 3) << 40 | k % 2 for k in range(32)]
    cases = []
    for k in range(32):
        any32 = sum((v == a[k]) << j for j, v in enumerate(a))
        any64 = sum((v == x[k]) << j for j, v in enumerate(x))
        cases.append(
            (
                [(x[k], 64), (a[k], 32), (0, 32)],
                [(any32, 32), (any64, 32), (0, 32), (0, 32), (M32, 32), (1, 32)],
            )
        )
    Kernel("match", "match.any.sync.{b32,b64}, match.all.sync.b32", body, cases).write()


def reductions():
    body = prologue(4, 32) + """\
  ld.global.u32 t1, [from];
  redux.sync.add.u32 t2, t1, -1;
  redux.sync.min.s32 t3, t1, -1;
  redux.sync.max.s32 t4, t1, -1;
  redux.sync.min.u32 t5, t1, -1;
  redux.sync.max.u32 t6, t1, -1;
  redux.sync.and.b32 t7, t1, -1;
  redux.sync.or.b32 t8, t1, -1;
  redux.sync.xor.b32 t9, t1, -1;
  st.global.v4.u32 [to], {t2, t3, t4, t5};
  st.global.v4.u32 [to+16], {t6, t7, t8, t9};
  ret;"""
    values = [RNG.getrandbits(32) | 0x10 for _ in range(32)]
    s = [signed(v, 32) for v in values]
    both, either, odd = M32, 0, 0
    for v in values:
        both, either, odd = both & v, either | v, odd ^ v
    outputs = [sum(values), min(s), max(s), min(values), max(values), both, either, odd]
    Kernel(
        "redux",
        "redux.sync of every operation",
        body,
        [([(v, 32)], [(o, 32) for o in outputs]) for v in values],
        target="sm_80",
    ).write()

    body = prologue(0, 8) + """\
  elect.sync t1|p, -1;
  selp.u32 t2, 1, 0, p;
  vote.sync.ballot.b32 t3, p, -1;
  popc.b32 t3, t3;
  setp.lt.u32 q, t1, 32;
  selp.u32 t4, 1, 0, q;
  shfl.sync.idx.b32 t5, t2, t1, 31, -1;
  add.u32 t4, t4, t5;
  st.global.v2.u32 [to], {t3, t4};
  ret;"""
    Kernel(
        "elect",
        "elect.sync names one leader, and all lanes agree on it",
        body,
        [([], [(1, 32), (2, 32)])] * 32,
        target="sm_90",
        version="8.0",
    ).write()


def f64(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def matrices():
    """D = A B + C with small integers, which every order of summation gives exactly."""
    for row_a in (True, False):
        for row_b in (True, False):
            layout_a, layout_b = ("row" if row_a else "col"), ("row" if row_b else "col")
            layout_d = "row" if row_a == row_b else "col"
            lda, ldb, ldd = 6, 9, 10
            body = prologue(0, 0) + f"""\
  .reg .f64 a, b, c<2>, d<2>;
  ld.param.u64 from, [in];
  ld.param.u64 to, [out];
  add.u64 u1, from, {8 * 96};
  add.u64 u2, from, {8 * 192};
  wmma.load.a.sync.aligned.{layout_a}.m8n8k4.global.f64 {{a}}, [from], {lda if row_a else ldb};
  wmma.load.b.sync.aligned.m8n8k4.{layout_b}.f64 {{b}}, [u1], {ldb if row_b else lda};
  wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {{c0, c1}}, [u2], 8;
  wmma.mma.sync.aligned.{layout_a}.{layout_b}.m8n8k4.f64.f64.f64.f64 {{d0, d1}}, {{a}}, {{b}}, {{c0, c1}};
  wmma.store.d.sync.aligned.{layout_d}.m8n8k4.global.f64 [to], {{d0, d1}}, {ldd};
  ret;"""
            a = [[RNG.randrange(-9, 10) for _ in range(4)] for _ in range(8)]
            b = [[RNG.randrange(-9, 10) for _ in range(8)] for _ in range(4)]
            c = [[RNG.randrange(-99, 100) for _ in range(8)] for _ in range(8)]
            memory = [0.5] * 256
            for m in range(8):
                for k in range(4):
                    memory[m * lda + k if row_a else k * ldb + m] = a[m][k]
            for k in range(4):
                for n in range(8):
                    memory[96 + (k * ldb + n if row_b else n * lda + k)] = b[k][n]
            for m in range(8):
                for n in range(8):
                    memory[192 + 8 * m + n] = c[m][n]
            out = [None] * 80
            for m in range(8):
                for n in range(8):
                    value = sum(a[m][k] * b[k][n] for k in range(4)) + c[m][n]
                    out[m * ldd + n if layout_d == "row" else n * ldd + m] = value
            untouched = 0xEEEEEEEEEEEEEEEE
            cases = [([(f64(x), 64) for x in memory[k : k + 8]], []) for k in range(0, 256, 8)]
            cases += [
                ([], [(untouched if x is None else f64(x), 64) for x in out[k : k + 10]])
                for k in range(0, 80, 10)
            ]
            Kernel(
                f"wmma_f64_{layout_a}_{layout_b}",
                "wmma.{load,mma,store} .m8n8k4.f64",
                body,
                cases,
                block=32,
                target="sm_80",
            ).write()

    # mma.sync has the same shape with a documented fragment: A row lane/4, k lane%4; C two columns.
    body = prologue(32, 16) + """\
  .reg .f64 a, b, c<2>, d<2>;
  ld.global.v2.f64 {a, b}, [from];
  ld.global.v2.f64 {c0, c1}, [from+16];
  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {d0, d1}, {a}, {b}, {c0, c1};
  st.global.v2.f64 [to], {d0, d1};
  ret;"""
    lanes = [[RNG.randrange(-9, 10) for _ in range(4)] for _ in range(32)]
    cases = []
    for lane in range(32):
        g, t = lane // 4, lane % 4
        outputs = []
        for j in range(2):
            n = 2 * t + j
            outputs.append(
                sum(lanes[4 * g + k][0] * lanes[4 * n + k][1] for k in range(4))
                + lanes[lane][2 + j]
            )
        cases.append(([(f64(x), 64) for x in lanes[lane]], [(f64(x), 64) for x in outputs]))
    Kernel("mma_f64", "mma.sync.m8n8k4.f64", body, cases, target="sm_80").write()


def write_all():
    for family in (shuffles, votes, matches, reductions, matrices):
        family()
