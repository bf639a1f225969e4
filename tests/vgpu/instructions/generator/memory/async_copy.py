"""cp.async and barrier objects."""

from core import M32, Kernel, prologue

SM90 = {"target": "sm_90a", "version": "8.6"}


def words(seed, count):
    return [((seed + k) * 2654435761 + 12345) & M32 for k in range(count)]


def copies():
    # Each thread copies 16 bytes in several ways into its own 64 bytes, then stores what it finds.
    body = prologue(16, 64) + """\
  .reg .b32 own;
  .shared .align 16 .b8 cells[2048];
  mov.u32 own, cells;
  mad.lo.u32 own, t0, 64, own;
  mov.u32 t1, 0x55555555;
  st.shared.v4.b32 [own], {t1, t1, t1, t1};
  st.shared.v4.b32 [own+16], {t1, t1, t1, t1};
  st.shared.v4.b32 [own+32], {t1, t1, t1, t1};
  st.shared.v4.b32 [own+48], {t1, t1, t1, t1};
  and.b32 t2, i, 15;
  setp.lt.u32 p, t2, 8;
"""
    forms = {
        "cp_async_sizes": (
            """\
  cp.async.cg.shared.global [own], [from], 16;
  cp.async.ca.shared.global [own+16], [from+8], 8;
  cp.async.ca.shared.global [own+24], [from+4], 4;
  cp.async.ca.shared.global [own+32], [from], 16;""",
            lambda w, k: w + [w[2], w[3], w[1], 0x55555555] + w + [0x55555555] * 4,
        ),
        "cp_async_source_bytes": (
            """\
  cp.async.ca.shared.global [own], [from], 16, t2;
  cp.async.cg.shared.global [own+16], [from], 16, 8;
  cp.async.cg.shared.global [own+32], [from], 16, 0;
  cp.async.ca.shared.global [own+48], [from], 8, 4;""",
            lambda w, k: cut(w, k & 15) + w[:2] + [0] * 6 + [w[0], 0, 0x55555555, 0x55555555],
        ),
        "cp_async_ignore_source": (
            """\
  cp.async.cg.shared.global [own], [from], 16, p;
  @p cp.async.cg.shared.global [own+16], [from], 16;
  cp.async.ca.shared.global [own+32], [from], 4, !p;""",
            lambda w, k: ([0] * 4 if k & 15 < 8 else w)
            + (w if k & 15 < 8 else [0x55555555] * 4)
            + [w[0] if k & 15 < 8 else 0]
            + [0x55555555] * 7,
        ),
        "cp_async_hints": (
            """\
  createpolicy.fractional.L2::evict_last.b64 u0, 1.0;
  cp.async.cg.shared.global.L2::128B [own], [from], 16;
  cp.async.ca.shared.global.L2::64B [own+16], [from], 4;
  cp.async.cg.shared.global.L2::cache_hint [own+32], [from], 16, u0;
  cp.async.cg.shared.global.L2::cache_hint.L2::256B [own+48], [from], 16, 12, u0;""",
            lambda w, k: w + [w[0]] + [0x55555555] * 3 + w + w[:3] + [0],
        ),
    }
    for name, (text, meaning) in forms.items():
        rest = """
  cp.async.commit_group;
  cp.async.wait_group 0;
  ld.shared.v4.b32 {t3, t4, t5, t6}, [own];
  st.global.v4.b32 [to], {t3, t4, t5, t6};
  ld.shared.v4.b32 {t3, t4, t5, t6}, [own+16];
  st.global.v4.b32 [to+16], {t3, t4, t5, t6};
  ld.shared.v4.b32 {t3, t4, t5, t6}, [own+32];
  st.global.v4.b32 [to+32], {t3, t4, t5, t6};
  ld.shared.v4.b32 {t3, t4, t5, t6}, [own+48];
  st.global.v4.b32 [to+48], {t3, t4, t5, t6};
  ret;"""
        cases = []
        for k in range(32):
            w = words(4 * k, 4)
            cases.append(([(v, 32) for v in w], [(v, 32) for v in meaning(w, k)]))
        Kernel(name, "cp.async: " + name[9:].replace("_", " "), body + text + rest, cases, **SM90).write()


def cut(values, count):
    """The first `count` bytes of 32-bit words, then zeros."""
    data = b"".join(v.to_bytes(4, "little") for v in values)
    data = data[:count] + bytes(len(data) - count)
    return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]


def groups():
    # Four copies in three groups, one of them empty: the oldest are there after each wait.
    body = prologue(16, 16) + """\
  .reg .b32 own;
  .shared .align 16 .b8 cells[512];
  mov.u32 own, cells;
  mad.lo.u32 own, t0, 16, own;
  cp.async.ca.shared.global [own], [from], 4;
  cp.async.commit_group;
  cp.async.ca.shared.global [own+4], [from+4], 4;
  cp.async.ca.shared.global [own+8], [from+8], 4;
  cp.async.commit_group;
  cp.async.commit_group;
  cp.async.ca.shared.global [own+12], [from+12], 4;
  cp.async.wait_group 2;
  ld.shared.b32 t1, [own];
  cp.async.wait_group 1;
  ld.shared.b32 t2, [own+4];
  ld.shared.b32 t3, [own+8];
  cp.async.wait_all;
  ld.shared.b32 t4, [own+12];
  st.global.v4.b32 [to], {t1, t2, t3, t4};
  ret;"""
    cases = []
    for k in range(32):
        w = [(v, 32) for v in words(4 * k, 4)]
        cases.append((w, w))
    Kernel("cp_async_groups", "cp.async.{commit_group,wait_group,wait_all}", body, cases, **SM90).write()

    body = prologue(16, 16) + """\
  .reg .b32 own, bar, plain;
  .reg .b64 state;
  .shared .align 16 .b8 cells[1024];
  .shared .align 8 .b64 bars[2];
  mov.u32 own, cells;
  mad.lo.u32 own, t0, 16, own;
  mov.u32 bar, bars;
  setp.ne.u32 p, t0, 0;
  @!p mbarrier.init.shared.b64 [bar], 64;
  @!p mbarrier.init.shared.b64 [bar+8], 128;
  bar.sync 0;
  cp.async.cg.shared.global [own], [from], 16;
  cp.async.mbarrier.arrive.shared.b64 [bar];
  cp.async.mbarrier.arrive.noinc.shared.b64 [bar+8];
  mbarrier.arrive.shared.b64 state, [bar];
  mbarrier.arrive.shared.b64 _, [bar+8];
WAIT:
  mbarrier.try_wait.shared.b64 q, [bar], state;
  @!q bra WAIT;
AGAIN:
  mbarrier.test_wait.parity.shared.b64 q, [bar+8], 0;
  @!q bra AGAIN;
  xor.b32 t1, t0, 63;
  mov.u32 own, cells;
  mad.lo.u32 own, t1, 16, own;
  ld.shared.v4.b32 {t3, t4, t5, t6}, [own];
  st.global.v4.b32 [to], {t3, t4, t5, t6};
  ret;"""
    rows = [[(v, 32) for v in words(4 * k, 4)] for k in range(64)]
    cases = [(rows[k], rows[k ^ 63]) for k in range(64)]
    Kernel(
        "cp_async_mbarrier", "cp.async.mbarrier.arrive[.noinc]", body, cases, **SM90
    ).write()


def phases():
    # One thread tries everything that an object can do; what it finds goes out word by word.
    steps = [
        # A fresh object: parity 1 is over, parity 0 is not.
        ("mbarrier.test_wait.parity.shared::cta.b64 q, [bar], 1;", 1),
        ("mbarrier.test_wait.parity.shared::cta.b64 q, [bar], 0;", 0),
        ("mbarrier.arrive.shared::cta.b64 s0, [bar];\n  mbarrier.test_wait.shared.b64 q, [bar], s0;", 0),
        ("mbarrier.arrive.release.cta.shared::cta.b64 s1, [bar], 2;\n"
         "  mbarrier.test_wait.shared.b64 q, [bar], s1;", 1),
        ("mbarrier.test_wait.acquire.cta.shared.b64 q, [bar], s0;", 1),
        ("mbarrier.try_wait.parity.shared.b64 q, [bar], 0;", 1),
        ("mbarrier.test_wait.parity.shared.b64 q, [bar], 1;", 0),
        # Bytes are waited for too; they may come before they are expected.
        ("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 64;\n"
         "  mbarrier.arrive.shared.b64 _, [bar], 2;\n"
         "  mbarrier.test_wait.parity.shared.b64 q, [bar], 1;", 0),
        ("mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n"
         "  mbarrier.try_wait.parity.shared.b64 q, [bar], 1, 100;", 1),
        ("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 s0, [bar], 100;\n"
         "  mbarrier.arrive.noComplete.shared.b64 s1, [bar], 1;\n"
         "  mbarrier.arrive.shared.b64 _, [bar];\n"
         "  mbarrier.test_wait.shared.b64 q, [bar], s0;", 0),
        ("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 28;\n"
         "  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 100;\n"
         "  mbarrier.test_wait.parity.shared.b64 q, [bar], 0;", 0),
        ("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 28;\n"
         "  mbarrier.test_wait.parity.shared.b64 q, [bar], 0;", 1),
        # One arrival less from now on.
        ("mbarrier.arrive_drop.shared.b64 _, [bar];\n"
         "  mbarrier.arrive.shared.b64 _, [bar], 2;\n"
         "  mbarrier.test_wait.parity.shared.b64 q, [bar], 1;", 1),
        ("mbarrier.arrive.shared.b64 s0, [bar], 2;\n"
         "  mbarrier.test_wait.parity.shared.b64 q, [bar], 0;", 1),
    ]
    body = prologue(0, 4 * (len(steps) + 4)) + """\
  .reg .b32 bar;
  .reg .b64 s0, s1, wide;
  .shared .align 8 .b64 object;
  mov.u32 bar, object;
  mbarrier.init.shared.b64 [bar], 3;
"""
    for k, (text, _) in enumerate(steps):
        body += f"  {text}\n  selp.u32 t1, 1, 0, q;\n  st.global.u32 [to+{4 * k}], t1;\n"
    at = 4 * len(steps)
    body += f"""\
  mbarrier.pending_count.b64 t1, s0;
  st.global.u32 [to+{at}], t1;
  mbarrier.inval.shared.b64 [bar];
  mbarrier.init.shared::cta.b64 [bar], 5;
  mbarrier.arrive.shared.b64 s0, [bar], 2;
  mbarrier.arrive.shared.b64 s1, [bar];
  mbarrier.pending_count.b64 t1, s0;
  mbarrier.pending_count.b64 t2, s1;
  st.global.u32 [to+{at + 4}], t1;
  st.global.u32 [to+{at + 8}], t2;
  cvt.u64.u32 wide, bar;
  cvta.shared.u64 wide, wide;
  mbarrier.arrive.b64 s0, [wide], 2;
  mbarrier.test_wait.b64 q, [wide], s0;
  selp.u32 t1, 1, 0, q;
  st.global.u32 [to+{at + 12}], t1;
  ret;"""
    row = [expected for _, expected in steps] + [2, 5, 3, 1]
    Kernel(
        "mbarrier_phases",
        "mbarrier: a fresh object, states and parities, bytes before they are expected, drops",
        body,
        [([], [(v, 32) for v in row])],
        **SM90,
    ).write()


def ring():
    # Warp 0 fills a ring of two stages for warp 1, by turns of full and empty barriers.
    body = prologue(0, 4) + """\
  .reg .b32 full, empty, cells, stage, round, phase, at, cell, sum;
  .shared .align 8 .b64 fulls[2];
  .shared .align 8 .b64 empties[2];
  .shared .align 4 .b8 ring[256];
  mov.u32 full, fulls;
  mov.u32 empty, empties;
  mov.u32 cells, ring;
  setp.ne.u32 p, t0, 0;
  @p bra READY;
  mbarrier.init.shared.b64 [full], 32;
  mbarrier.init.shared.b64 [full+8], 32;
  mbarrier.init.shared.b64 [empty], 32;
  mbarrier.init.shared.b64 [empty+8], 32;
READY:
  bar.sync 0;
  mov.u32 round, 0;
  mov.u32 sum, 0;
  and.b32 t1, t0, 31;
  setp.ge.u32 q, t0, 32;
LOOP:
  and.b32 stage, round, 1;
  shr.u32 phase, round, 1;
  and.b32 phase, phase, 1;
  mad.lo.u32 cell, stage, 128, cells;
  mad.lo.u32 cell, t1, 4, cell;
  @q bra CONSUME;
  xor.b32 phase, phase, 1;
  mad.lo.u32 at, stage, 8, empty;
FREE:
  mbarrier.try_wait.parity.shared.b64 p, [at], phase;
  @!p bra FREE;
  mad.lo.u32 t2, round, 100, t1;
  st.shared.u32 [cell], t2;
  mad.lo.u32 at, stage, 8, full;
  mbarrier.arrive.shared.b64 _, [at];
  bra NEXT;
CONSUME:
  mad.lo.u32 at, stage, 8, full;
FILLED:
  mbarrier.try_wait.parity.shared.b64 p, [at], phase;
  @!p bra FILLED;
  mad.lo.u32 t2, stage, 128, cells;
  sub.u32 t3, 31, t1;
  mad.lo.u32 t2, t3, 4, t2;
  ld.shared.u32 t2, [t2];
  mad.lo.u32 sum, sum, 3, t2;
  mad.lo.u32 at, stage, 8, empty;
  mbarrier.arrive.shared.b64 _, [at];
NEXT:
  add.u32 round, round, 1;
  setp.lt.u32 p, round, 9;
  @p bra LOOP;
  st.global.u32 [to], sum;
  ret;"""
    def total(lane):
        value = 0
        for k in range(9):
            value = (3 * value + 100 * k + 31 - lane) & M32
        return value
    cases = [([], [(0 if k < 32 else total(k - 32), 32)]) for k in range(64)]
    Kernel("mbarrier_ring", "a ring of two stages between two warps", body, cases, **SM90).write()


def write_all():
    copies()
    groups()
    phases()
    ring()
