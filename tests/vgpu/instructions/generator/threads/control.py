"""Branches, divergence, calls, special registers."""

from core import M32, Kernel, prologue


def collatz_steps(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def branches():
    body = prologue(4, 4) + """\
  ld.global.u32 t1, [from];
  mov.u32 t2, 0;
LOOP:
  setp.eq.u32 p, t1, 1;
  @p bra DONE;
  and.b32 t3, t1, 1;
  setp.eq.u32 q, t3, 0;
  @q bra EVEN;
  mad.lo.u32 t1, t1, 3, 1;
  bra NEXT;
EVEN:
  shr.u32 t1, t1, 1;
NEXT:
  add.u32 t2, t2, 1;
  bra.uni LOOP;
DONE:
  st.global.u32 [to], t2;
  ret;"""
    Kernel(
        "branch_divergent_loop",
        "bra, @p bra, @!p; lanes leave a loop one by one",
        body,
        [([(n, 32)], [(collatz_steps(n), 32)]) for n in range(1, 49)],
    ).write()

    body = prologue(4, 8) + """\
  ld.global.u32 t1, [from];
  mov.u32 t2, 0;
  setp.gt.u32 p, t1, 10;
  @p add.u32 t2, t2, 1;
  @!p add.u32 t2, t2, 2;
  @p bra OUTER_ELSE;
  setp.gt.u32 q, t1, 5;
  @q bra INNER_ELSE;
  add.u32 t2, t2, 16;
  bra INNER_END;
INNER_ELSE:
  add.u32 t2, t2, 32;
  setp.eq.u32 q, t1, 7;
  @q bra LEAVE;
INNER_END:
  add.u32 t2, t2, 64;
  bra OUTER_END;
OUTER_ELSE:
  setp.eq.u32 q, t1, 20;
  @q exit;
  add.u32 t2, t2, 128;
OUTER_END:
  add.u32 t2, t2, 256;
LEAVE:
  activemask.b32 t3;
  setp.ne.u32 p, t3, 0;
  selp.u32 t3, 1, 0, p;
  st.global.v2.u32 [to], {t2, t3};
  ret;"""

    def nested(n):
        value = 1 if n > 10 else 2
        if n > 10:
            return value + 128 + 256
        if n > 5:
            value += 32
            return value if n == 7 else value + 64 + 256
        return value + 16 + 64 + 256

    cases = []
    for n in (0, 3, 5, 6, 7, 8, 10, 11, 15, 20, 21, 30, 7, 20, 2, 9):
        output = [(0xEEEEEEEE, 32)] * 2 if n == 20 else [(nested(n), 32), (1, 32)]
        cases.append(([(n, 32)], output))
    Kernel(
        "branch_nested",
        "nested divergence, guarded instructions, exit of single lanes",
        body,
        cases,
    ).write()

    body = prologue(4, 4) + """\
  ld.global.u32 t1, [from];
  mov.u32 t2, 7;
TABLE: .branchtargets L0, L1, L2, L3;
  setp.gt.u32 p, t1, 3;
  @p bra LAST;
  brx.idx t1, TABLE;
L0:
  add.u32 t2, t2, 10;
L1:
  add.u32 t2, t2, 100;
  bra LAST;
L2:
  mul.lo.u32 t2, t2, 3;
  bra LAST;
L3:
  mov.u32 t2, 0;
LAST:
  st.global.u32 [to], t2;
  ret;"""
    results = [117, 107, 21, 0, 7]
    Kernel(
        "branch_indexed",
        "brx.idx through .branchtargets, each lane its own target",
        body,
        [([(n % 5, 32)], [(results[n % 5], 32)]) for n in range(40)],
        version="7.0",
    ).write()

    # Lanes of one warp wait for each other: independent thread scheduling must let the producer run.
    body = prologue(0, 4) + """\
  .shared .align 4 .u32 flag;
  setp.eq.u32 p, i, 0;
  @p st.volatile.shared.u32 [flag], 0;
  bar.sync 0;
  setp.eq.u32 p, i, 5;
  @p bra PRODUCE;
WAIT:
  ld.volatile.shared.u32 t1, [flag];
  setp.eq.u32 q, t1, 0;
  @q bra WAIT;
  bra DONE;
PRODUCE:
  st.volatile.shared.u32 [flag], 42;
  mov.u32 t1, 43;
DONE:
  st.global.u32 [to], t1;
  ret;"""
    Kernel(
        "branch_lane_waits_for_lane",
        "31 lanes spin until another lane of their warp writes",
        body,
        [([], [(43 if k == 5 else 42, 32)]) for k in range(32)],
    ).write()


def calls():
    header = """\
.func (.param .b32 result) triangle(.param .b32 n)
{
  .reg .pred p;
  .reg .b32 a, b;
  ld.param.u32 a, [n];
  setp.eq.u32 p, a, 0;
  mov.u32 b, 0;
  @p bra LEAVE;
  sub.u32 b, a, 1;
  {
    .param .b32 n0;
    .param .b32 result0;
    st.param.b32 [n0], b;
    call (result0), triangle, (n0);
    ld.param.b32 b, [result0];
  }
  add.u32 b, b, a;
LEAVE:
  st.param.b32 [result], b;
  ret;
}
.func (.param .align 16 .b8 pair[16]) swapped(.param .align 16 .b8 given[16], .param .b64 add)
{
  .reg .b64 x, y, z;
  ld.param.u64 x, [given];
  ld.param.u64 y, [given+8];
  ld.param.u64 z, [add];
  add.u64 x, x, z;
  st.param.v2.b64 [pair], {y, x};
  ret;
}
.func store(.param .b64 where, .param .b32 what)
{
  .reg .b64 address;
  .reg .b32 value;
  .local .align 4 .b8 spill[8];
  ld.param.u64 address, [where];
  ld.param.u32 value, [what];
  st.local.u32 [spill+4], value;
  ld.local.u32 value, [spill+4];
  st.global.u32 [address], value;
  ret;
}"""
    body = prologue(8, 32) + """\
  ld.global.v2.u32 {t1, t2}, [from];
  and.b32 t3, t1, 15;
  {
    .param .b32 n;
    .param .b32 result;
    st.param.b32 [n], t3;
    call (result), triangle, (n);
    ld.param.b32 t4, [result];
  }
  cvt.u64.u32 u0, t1;
  cvt.u64.u32 u1, t2;
  {
    .param .align 16 .b8 given[16];
    .param .b64 add;
    .param .align 16 .b8 pair[16];
    st.param.v2.b64 [given], {u0, u1};
    st.param.b64 [add], 5;
    call.uni (pair), swapped, (given, add);
    ld.param.u64 u2, [pair];
    ld.param.u64 u3, [pair+8];
  }
  add.u32 t5, t1, t2;
  st.global.u64 [to], u2;
  st.global.u64 [to+8], u3;
  st.global.v2.u32 [to+16], {t4, t5};
  st.global.u64 [to+24], 0;
  setp.gt.u32 p, t3, 7;
  add.u64 u4, to, 24;
  {
    .param .b64 where;
    .param .b32 what;
    st.param.b64 [where], u4;
    st.param.b32 [what], t2;
    @p call store, (where, what);
  }
  ret;"""
    cases = []
    for k in range(20):
        a, b = (k * 2654435761) & M32, (k * 40503 + 77) & M32
        n = a & 15
        cases.append(
            (
                [(a, 32), (b, 32)],
                [
                    (b, 64),
                    (a + 5, 64),
                    (n * (n + 1) // 2, 32),
                    (a + b, 32),
                    (b if n > 7 else 0, 64),
                ],
            )
        )
    Kernel(
        "call",
        "call of .func: by value, recursive, divergent, guarded; local frames",
        body,
        cases,
        header=header,
    ).write()

    header = """\
.func (.param .b32 r) twice(.param .b32 a)
{
  .reg .b32 x;
  ld.param.u32 x, [a];
  shl.b32 x, x, 1;
  st.param.b32 [r], x;
  ret;
}
.func (.param .b32 r) square(.param .b32 a)
{
  .reg .b32 x;
  ld.param.u32 x, [a];
  mul.lo.u32 x, x, x;
  st.param.b32 [r], x;
  ret;
}
.global .align 8 .u64 table[2] = {twice, square};"""
    body = prologue(4, 4) + """\
  ld.global.u32 t1, [from];
  and.b32 t2, t1, 1;
  setp.eq.u32 p, t2, 0;
  mov.u64 u0, twice;
  ld.global.u64 u1, [table+8];
  selp.b64 u2, u0, u1, p;
  {
    .param .b32 a;
    .param .b32 r;
    st.param.b32 [a], t1;
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r), u2, (a), prototype;
    ld.param.b32 t3, [r];
  }
  st.global.u32 [to], t3;
  ret;"""
    Kernel(
        "call_indirect",
        "call through a register, each lane its own callee; a table of functions",
        body,
        [([(n, 32)], [(2 * n if n % 2 == 0 else n * n, 32)]) for n in range(32)],
        header=header,
    ).write()


def special_registers():
    names = [
        "%tid.x",
        "%tid.y",
        "%tid.z",
        "%ntid.x",
        "%ntid.y",
        "%ntid.z",
        "%ctaid.x",
        "%ctaid.y",
        "%ctaid.z",
        "%nctaid.x",
        "%nctaid.y",
        "%nctaid.z",
        "%laneid",
        "%lanemask_eq",
        "%lanemask_le",
        "%lanemask_lt",
        "%lanemask_ge",
        "%lanemask_gt",
    ]
    body = prologue(0, 4 * len(names))
    for k, name in enumerate(names):
        body += f"  mov.u32 t1, {name};\n  st.global.u32 [to+{4 * k}], t1;\n"
    cases = []
    for cta in range(3):
        for t in range(40):
            lane = t % 32
            eq = 1 << lane
            cases.append(
                (
                    [],
                    [
                        (v, 32)
                        for v in (
                            t,
                            0,
                            0,
                            40,
                            1,
                            1,
                            cta,
                            0,
                            0,
                            3,
                            1,
                            1,
                            lane,
                            eq,
                            2 * eq - 1,
                            eq - 1,
                            M32 ^ (eq - 1),
                            M32 ^ (2 * eq - 1),
                        )
                    ],
                )
            )
    Kernel(
        "special_registers",
        "tid, ntid, ctaid, nctaid, laneid, lanemask_*",
        body + "  ret;",
        cases,
        grid=3,
        block=40,
    ).write()

    body = prologue(0, 8) + """\
  mov.u32 t1, %clock;
  mov.u64 u1, %clock64;
  mov.u64 u2, %globaltimer;
  nanosleep.u32 100;
  mov.u64 u3, %clock64;
  setp.gt.u64 p, u3, u1;
  selp.u32 t2, 1, 0, p;
  setp.ne.u64 p, u2, 0;
  selp.u32 t3, 1, 0, p;
  mov.u32 t4, %warpid;
  mov.u32 t5, %nwarpid;
  mov.u32 t6, %smid;
  mov.u32 t7, %nsmid;
  setp.lt.u32 p, t4, t5;
  selp.u32 t4, 1, 0, p;
  setp.le.u32 p, t6, t7;
  selp.u32 t6, 1, 0, p;
  mov.u32 t8, %dynamic_smem_size;
  and.b32 t4, t4, t6;
  and.b32 t4, t4, t3;
  and.b32 t4, t4, t2;
  st.global.v2.u32 [to], {t4, t8};
  ret;"""
    Kernel(
        "special_registers_of_the_machine",
        "clock, globaltimer, warpid, smid, dynamic_smem_size",
        body,
        [([], [(1, 32), (512, 32)])] * 64,
        shared=512,
        notes=["approximate: mov.u32 mov.u64"],
    ).write()


def write_all():
    for family in (branches, calls, special_registers):
        family()
