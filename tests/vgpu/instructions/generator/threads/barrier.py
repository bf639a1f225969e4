"""Barriers of the CTA and of a warp, and fences."""

from core import M32, Kernel, prologue


def barriers():
    body = prologue(4, 4) + """\
  .shared .align 4 .b8 cells[512];
  ld.global.u32 t1, [from];
  mov.u32 t2, cells;
  mad.lo.u32 t3, i, 4, t2;
  mov.u32 t4, 0;
ROUND:
  st.shared.u32 [t3], t1;
  barrier.sync 0;
  add.u32 t5, i, 33;
  rem.u32 t5, t5, 96;
  mad.lo.u32 t5, t5, 4, t2;
  ld.shared.u32 t1, [t5];
  bar.sync 0;
  add.u32 t4, t4, 1;
  setp.lt.u32 p, t4, 5;
  @p bra ROUND;
  st.global.u32 [to], t1;
  ret;"""
    values = [(k * 2654435761) & M32 for k in range(96)]
    Kernel(
        "bar_sync",
        "bar.sync and barrier.sync in a loop over three warps",
        body,
        [([(v, 32)], [(values[(k + 5 * 33) % 96], 32)]) for k, v in enumerate(values)],
    ).write()

    forms = [
        "bar.cta.sync 1",
        "barrier.cta.sync 2",
        "barrier.sync.aligned 3",
        "barrier.cta.sync.aligned 4, 64",
        "bar.sync 15, 64",
    ]
    body = prologue(4, 4) + """\
  .shared .align 4 .b8 cells[256];
  ld.global.u32 t1, [from];
  mov.u32 t2, cells;
  mad.lo.u32 t3, i, 4, t2;
  xor.b32 t4, i, 32;
  mad.lo.u32 t4, t4, 4, t2;
"""
    for form in forms:
        body += f"  st.shared.u32 [t3], t1;\n  {form};\n  ld.shared.u32 t1, [t4];\n  {form};\n"
    body += "  st.global.u32 [to], t1;\n  ret;"
    Kernel(
        "bar_forms",
        "bar.cta.sync, barrier.cta.sync, barrier.sync.aligned",
        body,
        [([(v, 32)], [(values[k ^ 32], 32)]) for k, v in enumerate(values[:64])],
        version="7.8",
    ).write()

    # Warp 0 produces for warp 1 through bar.arrive; warps 2 and 3 meet at a barrier of their own.
    body = prologue(0, 4) + """\
  .shared .align 4 .b8 cells[256];
  mov.u32 t1, cells;
  and.b32 t2, i, 31;
  mad.lo.u32 t3, t2, 4, t1;
  shr.u32 t4, i, 5;
  setp.eq.u32 p, t4, 0;
  @p bra PRODUCER;
  setp.eq.u32 p, t4, 1;
  @p bra CONSUMER;
  setp.eq.u32 p, t4, 2;
  mul.lo.u32 t5, i, 3;
  @p st.shared.u32 [t3+128], t5;
  bar.sync 2, 64;
  ld.shared.u32 t6, [t3+128];
  bra DONE;
PRODUCER:
  mul.lo.u32 t5, i, 7;
  st.shared.u32 [t3], t5;
  bar.arrive 1, 64;
  mov.u32 t6, 1;
  bra DONE;
CONSUMER:
  mov.u32 t7, 1;
  bar.sync t7, 64;
  ld.shared.u32 t6, [t3];
DONE:
  st.global.u32 [to], t6;
  ret;"""
    cases = [
        ([], [(1 if k < 32 else 7 * (k - 32) if k < 64 else 3 * (64 + k % 32), 32)])
        for k in range(128)
    ]
    Kernel(
        "bar_arrive", "bar.arrive and bar.sync with counts; barriers of part of a CTA", body, cases
    ).write()

    body = prologue(4, 16) + """\
  ld.global.u32 t1, [from];
  setp.ne.u32 p, t1, 0;
  bar.red.popc.u32 t2, 0, p;
  bar.red.and.pred q, 0, p;
  selp.u32 t3, 1, 0, q;
  bar.red.or.pred q, 0, p;
  selp.u32 t4, 1, 0, q;
  barrier.red.popc.u32 t5, 1, 64, !p;
  st.global.v4.u32 [to], {t2, t3, t4, t5};
  ret;"""
    for name, values in (("bar_red", [k % 3 for k in range(64)]), ("bar_red_all", [1] * 64)):
        n = sum(v != 0 for v in values)
        Kernel(
            name,
            "bar.red.{popc,and,or}, barrier.red",
            body,
            [
                ([(v, 32)], [(n, 32), (int(n == 64), 32), (int(n > 0), 32), (64 - n, 32)])
                for v in values
            ],
        ).write()

    body = prologue(4, 8) + """\
  .shared .align 4 .b8 cells[256];
  ld.global.u32 t1, [from];
  mov.u32 t2, cells;
  mad.lo.u32 t3, i, 4, t2;
  st.shared.u32 [t3], t1;
  bar.warp.sync 0xFFFFFFFF;
  xor.b32 t4, i, 1;
  mad.lo.u32 t4, t4, 4, t2;
  ld.shared.u32 t5, [t4];
  and.b32 t6, i, 1;
  setp.eq.u32 p, t6, 0;
  @p bra EVEN;
  bar.warp.sync 0xAAAAAAAA;
  bra JOIN;
EVEN:
  bar.warp.sync 0x55555555;
JOIN:
  membar.cta;
  membar.gl;
  membar.sys;
  fence.acq_rel.cta;
  fence.sc.gpu;
  fence.acq_rel.sys;
  nanosleep.u32 20;
  st.global.v2.u32 [to], {t5, t6};
  ret;"""
    values = [(k * 40503) & M32 for k in range(64)]
    Kernel(
        "bar_warp_and_fences",
        "bar.warp.sync, membar, fence, nanosleep",
        body,
        [([(v, 32)], [(values[k ^ 1], 32), (k & 1, 32)]) for k, v in enumerate(values)],
    ).write()

    body = prologue(0, 4) + """\
  setp.ge.u32 p, i, 64;
  @p exit;
  bar.sync 0;
  st.global.u32 [to], 9;
  ret;"""
    Kernel(
        "bar_after_warps_exit",
        "warps that have ended do not count at bar.sync 0",
        body,
        [([], [(9 if k < 64 else 0xEEEEEEEE, 32)]) for k in range(96)],
    ).write()


def write_all():
    barriers()
