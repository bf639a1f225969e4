"""Bulk copies of runs of bytes: loads, stores, reductions, and copies to another CTA of a cluster."""

from struct import pack, unpack

from core import M32
from memory.bulk import DUMP, MapKernel, rows, start, wait, words


def runs():
    data = words(1, 128)
    body = start(16, 16) + """\
  @q bra READY;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [first], 256, [bar];
  createpolicy.fractional.L2::evict_first.b64 state, 1.0;
  mov.u32 t5, 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [buffer+256], [first+256], t5, [bar], state;
  cp.async.bulk.prefetch.L2.global [first], 512;
READY:
""" + wait() + DUMP
    MapKernel("bulk_load", "cp.async.bulk from global memory", body, rows(data, data)).write()

    # The bytes come before anybody says how many are expected.
    body = start(16, 16) + """\
  @q bra READY;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [first], 512, [bar];
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
READY:
""" + wait() + DUMP
    MapKernel(
        "bulk_load_before_expect", "bytes that come before their expect_tx", body, rows(data, data)
    ).write()

    body = start(0, 4) + """\
  mad.lo.u32 at, t0, 4, buffer;
  mad.lo.u32 t1, t0, 3, 7;
  st.shared.u32 [at], t1;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @q exit;
  cp.async.bulk.global.shared::cta.bulk_group [last], [buffer], 64;
  cp.async.bulk.commit_group;
  cp.async.bulk.commit_group;
  cp.async.bulk.global.shared::cta.bulk_group [last+64], [buffer+64], 64;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 1;
  st.shared.u32 [buffer], 99;
  cp.async.bulk.wait_group 0;
  ret;"""
    MapKernel(
        "bulk_store",
        "cp.async.bulk to global memory, with groups",
        body,
        [([], [(3 * k + 7, 32)]) for k in range(32)],
    ).write()

    reductions()
    remote()


def reductions():
    def half(x):
        return unpack("<H", pack("<e", x))[0]

    def single(x):
        return unpack("<I", pack("<f", x))[0]

    minus = 0xFFFFFFFF
    # (operation, word in global memory, word in shared memory, result)
    cases = [
        ("add.u32", 5, 0xFFFFFFFF, 4),
        ("add.s32", 0x7FFFFFFF, 1, 0x80000000),
        ("min.u32", 5, minus, 5),
        ("max.u32", 5, minus, minus),
        ("min.s32", 5, minus, minus),
        ("max.s32", 5, minus, 5),
        ("inc.u32", 5, 5, 0),
        ("dec.u32", 0, 9, 9),
        ("and.b32", 0xF0F0, 0xFF, 0xF0),
        ("or.b32", 0xF0F0, 0xFF, 0xF0FF),
        ("xor.b32", 0xF0F0, 0xFF, 0xF00F),
        ("add.f32", single(1.5), single(2.25), single(3.75)),
        ("add.noftz.f16", half(1.5) << 16 | half(-2.0), half(0.25) << 16 | half(1.0),
         half(1.75) << 16 | half(-1.0)),
        ("min.f16", half(1.5) << 16 | half(-2.0), half(0.25) << 16 | half(1.0),
         half(0.25) << 16 | half(-2.0)),
        ("add.noftz.bf16", 0x3F80_4000, 0x3F80_C000, 0x4000_0000),
        ("max.bf16", 0x3F80_4000, 0x3F00_C000, 0x3F80_4000),
    ]
    # Thread k fills 16 bytes of both, which operation k combines.
    body = start(8, 16) + """\
  ld.global.v2.b32 {t1, t2}, [from];
  st.global.v4.b32 [to], {t1, t1, t1, t1};
  mad.lo.u32 at, t0, 16, buffer;
  st.shared.v4.b32 [at], {t2, t2, t2, t2};
  fence.proxy.async;
  bar.sync 0;
  @q exit;
"""
    for k, (name, _, _, _) in enumerate(cases):
        body += (
            f"  cp.reduce.async.bulk.global.shared::cta.bulk_group.{name} "
            f"[last+{16 * k}], [buffer+{16 * k}], 16;\n"
        )
    body += "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n  ret;"
    MapKernel(
        "bulk_reduce",
        "cp.reduce.async.bulk to global memory",
        body,
        [([(a, 32), (b, 32)], [(d, 32)] * 4) for _, a, b, d in cases],
    ).write()


def remote():
    # Each of two CTAs sends 128 bytes and some words to the other one.
    more = "  .reg .b32 peer, there, rank;\n"
    body = start(0, 8, count=1, more=more) + """\
  mov.u32 rank, %cluster_ctarank;
  xor.b32 rank, rank, 1;
  mapa.shared::cluster.u32 peer, buffer, rank;
  mapa.shared::cluster.u32 there, bar, rank;
  mad.lo.u32 at, t0, 4, buffer;
  mad.lo.u32 t1, i, 5, 1;
  st.shared.u32 [at], t1;
  st.shared.u32 [at+1024], 100;
  fence.proxy.async;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  @!q mbarrier.arrive.expect_tx.shared.b64 _, [bar], 524;
  @q bra SENT;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [peer+512], [buffer], 128, [there];
  cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [peer+1024], [buffer], 128, [there];
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [peer+1024], 7, [there];
  mov.u64 state, 0x1122334455667788;
  st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [peer+768], state, [there];
SENT:
  setp.ge.u32 p, t0, 16;
  add.u32 t2, t0, 50;
  mad.lo.u32 t3, t0, 16, peer;
  @!p st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [t3+2048], {t1, t2, t1, t2}, [there];
""" + wait() + """\
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.shared.u32 t1, [at+512];
  ld.shared.u32 t2, [at+1024];
  ld.shared.u32 t3, [buffer+768];
  ld.shared.u32 t4, [at+2048];
  xor.b32 t1, t1, t4;
  add.u32 t2, t2, t3;
  st.global.v2.b32 [to], {t1, t2};
  ret;"""
    outputs = []
    for k in range(64):
        cta, t = divmod(k, 32)
        other = (1 - cta) * 32
        copied = (other + t) * 5 + 1
        reduced = 100 + copied + (7 if t == 0 else 0) + 0x55667788
        lane = t // 4
        sent = (other + lane) * 5 + 1 if t % 2 == 0 else lane + 50
        outputs.append([(copied ^ sent, 32), (reduced & M32, 32)])
    # 128 + 128 + 4 + 8 + 16 * 16 = 524
    MapKernel(
        "bulk_remote",
        "cp.async.bulk, st.async and red.async to another CTA of the cluster",
        body,
        [([], o) for o in outputs],
        block=32,
        grid=2,
        cluster=2,
    ).write()

    data = words(9, 64)
    body = start(16, 16) + """\
  .reg .b32 rank;
  .reg .b16 both;
  mov.u32 rank, %cluster_ctarank;
  mov.u16 both, 3;
  @!q mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  @q bra SENT;
  mul.wide.u32 state, rank, 128;
  add.u64 first, first, state;
  mad.lo.u32 t1, rank, 128, buffer;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [t1], [first], 128, [bar], both;
SENT:
""" + wait() + """\
  barrier.cluster.arrive;
  barrier.cluster.wait;
""" + DUMP
    MapKernel(
        "bulk_multicast",
        "cp.async.bulk with .multicast::cluster",
        body,
        rows(data, data + data),
        block=16,
        grid=2,
        cluster=2,
    ).write()


def write_all():
    runs()
