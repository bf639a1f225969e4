"""Clusters: their special registers, barrier and shared memories."""

from core import Kernel, prologue

SM90 = {"target": "sm_90a", "version": "8.0"}


class ClusterKernel(Kernel):
    """A kernel whose clusters have the shape `cluster`."""

    def __init__(self, cluster, *args, **kwargs):
        super().__init__(*args, **SM90, **kwargs)
        self.cluster = cluster

    def write(self):
        super().write()
        path = self.path()
        shape = ", ".join(str(c) for c in self.cluster)
        text = path.read_text()
        path.write_text(text.replace(".u64 out)\n{", f".u64 out)\n.reqnctapercluster {shape}\n{{"))


def special_registers():
    names = (
        ["%is_explicit_cluster"]
        + [f"%{r}.{c}" for r in ("cluster_ctaid", "cluster_nctaid") for c in "xyz"]
        + ["%cluster_ctarank", "%cluster_nctarank"]
        + [f"%{r}.{c}" for r in ("clusterid", "nclusterid") for c in "xyz"]
    )
    body = prologue(0, 64)
    body += "  setp.ne.u32 p, t0, 0;\n  @p exit;\n"
    for k, name in enumerate(names):
        if name == "%is_explicit_cluster":
            body += f"  mov.pred q, {name};\n  selp.u32 t1, 1, 0, q;\n"
        else:
            body += f"  mov.u32 t1, {name};\n"
        body += f"  st.global.u32 [to+{4 * k}], t1;\n"
    body += "  ret;"
    cases = []
    for cta in range(8):
        rank, cluster = cta % 4, cta // 4
        row = [1, rank, 0, 0, 4, 1, 1, rank, 4, cluster, 0, 0, 2, 1, 1, 0xEEEEEEEE]
        cases.append(([], [(v, 32) for v in row]))
    ClusterKernel(
        (4, 1, 1),
        "cluster_special_registers",
        "special registers in clusters of four CTAs",
        body,
        cases,
        block=1,
        grid=8,
    ).write()


def distributed_shared_memory():
    # Each thread leaves a word in its CTA and reads that of the next CTA, in each way there is.
    body = prologue(0, 24) + """\
  .reg .b32 r, next, own, peer;
  .reg .b64 wide, far;
  .shared .align 8 .b8 cells[512];
  mov.u32 r, %cluster_ctarank;
  mov.u32 own, cells;
  mad.lo.u32 own, t0, 8, own;
  mul.lo.u32 t1, i, 17;
  st.shared.u32 [own], t1;
  add.u32 next, r, 1;
  and.b32 next, next, 3;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mapa.shared::cluster.u32 peer, own, next;
  ld.shared::cluster.u32 t2, [peer];
  cvt.u64.u32 wide, own;
  cvta.shared.u64 wide, wide;
  mapa.u64 far, wide, next;
  ld.u32 t3, [far];
  getctarank.shared::cluster.u32 t4, peer;
  getctarank.u64 t5, far;
  isspacep.shared::cluster p, far;
  selp.u32 t6, 1, 0, p;
  isspacep.shared::cta p, far;
  selp.u32 t7, 2, 0, p;
  add.u32 t6, t6, t7;
  isspacep.shared::cta p, wide;
  selp.u32 t7, 4, 0, p;
  add.u32 t6, t6, t7;
  mul.lo.u32 t8, i, 3;
  st.shared::cluster.u32 [peer+4], t8;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  ld.shared.u32 t9, [own+4];
  st.global.v2.u32 [to], {t2, t3};
  st.global.v2.u32 [to+8], {t4, t5};
  st.global.v2.u32 [to+16], {t6, t9};
  ret;"""
    cases = []
    for i in range(8 * 32):
        cta, t = divmod(i, 32)
        base = cta // 4 * 4
        after, before = base + (cta + 1) % 4, base + (cta + 3) % 4
        row = [17 * (after * 32 + t)] * 2 + [after % 4] * 2 + [5, 3 * (before * 32 + t)]
        cases.append(([], [(v, 32) for v in row]))
    ClusterKernel(
        (4, 1, 1),
        "cluster_shared_memory",
        "mapa, getctarank, ld and st of another CTA's shared memory",
        body,
        cases,
        block=32,
        grid=8,
    ).write()

    body = prologue(0, 4) + """\
  .reg .b32 own, peer;
  .reg .b64 wide;
  .shared .align 4 .b8 sum[16];
  mov.u32 own, sum;
  st.shared.v2.u32 [own], {0, 0};
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mapa.shared::cluster.u32 peer, own, 0;
  add.u32 t1, i, 1;
  atom.shared::cluster.add.u32 t2, [peer], t1;
  red.relaxed.cluster.shared::cluster.add.u32 [peer], 1000;
  cvt.u64.u32 wide, own;
  cvta.shared.u64 wide, wide;
  mapa.u64 wide, wide, 1;
  atom.add.u32 t2, [wide+4], t1;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.shared.v2.u32 {t3, t4}, [own];
  add.u32 t3, t3, t4;
  st.global.u32 [to], t3;
  ret;"""
    body = body.replace(".align 4 .b8 sum", ".align 8 .b8 sum")
    total = sum(range(1, 129))
    ClusterKernel(
        (2, 1, 1),
        "cluster_atomics",
        "atom and red on another CTA's shared memory",
        body,
        [([], [(total + 64 * 0 + 128 * 1000 if k < 64 else total, 32)]) for k in range(128)],
        block=64,
        grid=2,
    ).write()


def barriers():
    # Arrive, work, wait; part of the threads leave early and are no longer waited for.
    body = prologue(0, 4) + """\
  .reg .b32 own, peer, r;
  .shared .align 4 .b8 cell[4];
  mov.u32 own, cell;
  mov.u32 r, %cluster_ctarank;
  setp.ge.u32 p, t0, 40;
  @p exit;
  setp.ne.u32 q, t0, 0;
  mul.lo.u32 t1, r, 5;
  add.u32 t1, t1, 7;
  @!q st.shared.u32 [own], t1;
  mov.u32 t4, 0;
  mov.u32 t5, 0;
ROUND:
  barrier.cluster.arrive.release;
  add.u32 t5, t5, 1;
  barrier.cluster.wait.acquire;
  add.u32 t2, r, t5;
  and.b32 t2, t2, 1;
  mapa.shared::cluster.u32 peer, own, t2;
  ld.shared::cluster.u32 t3, [peer];
  add.u32 t4, t4, t3;
  barrier.cluster.arrive.relaxed;
  barrier.cluster.wait;
  add.u32 t3, t5, t1;
  @!q st.shared.u32 [own], t3;
  setp.lt.u32 p, t5, 3;
  @p bra ROUND;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  st.global.u32 [to], t4;
  ret;"""
    def expected(cta):
        total, rank = 0, cta % 2
        cells = [7, 12]
        for step in (1, 2, 3):
            total += cells[(rank + step) % 2]
            cells = [step + 7, step + 12]
        return total
    cases = [
        ([], [(expected(k // 64) if k % 64 < 40 else 0xEEEEEEEE, 32)]) for k in range(256)
    ]
    ClusterKernel(
        (2, 1, 1),
        "cluster_barrier",
        "barrier.cluster in a loop, with threads that have left",
        body,
        cases,
        block=64,
        grid=4,
    ).write()


def write_all():
    special_registers()
    distributed_shared_memory()
    barriers()
