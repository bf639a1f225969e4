"""Shared, local, constant and parameter memory, and generic addresses."""

from core import M32, REGISTERS, Kernel, prologue, signed
from memory.random_words import words


def shared():
    body = prologue(8, 16) + """\
  .shared .align 8 .b8 tile[256];
  .shared .align 4 .u32 word;
  ld.global.u64 u0, [from];
  mov.u32 t1, tile;
  mad.lo.u32 t2, i, 8, t1;
  st.shared.u64 [t2], u0;
  setp.eq.u32 p, i, 3;
  @p st.shared.u32 [word], 77;
  bar.sync 0;
  xor.b32 t3, i, 31;
  mad.lo.u32 t3, t3, 8, t1;
  ld.shared.v2.u32 {t4, t5}, [t3];
  ld.shared.u8 t6, [tile+9];
  ld.shared.u32 t7, [word];
  add.u32 t6, t6, t7;
  st.global.v4.u32 [to], {t4, t5, t6, i};
  ret;"""
    values = words(32, 64)
    cases = [
        (
            [(x, 64)],
            [
                (values[k ^ 31] & M32, 32),
                (values[k ^ 31] >> 32, 32),
                ((values[1] >> 8 & 0xFF) + 77, 32),
                (k, 32),
            ],
        )
        for k, x in enumerate(values)
    ]
    Kernel("shared_static", "st.shared, ld.shared, two static variables", body, cases).write()

    body = prologue(4, 8) + """\
  ld.global.u32 t1, [from];
  mov.u32 t2, dynamic;
  mad.lo.u32 t3, i, 4, t2;
  st.shared.u32 [t3], t1;
  mov.u32 t4, fixed;
  mad.lo.u32 t4, i, 4, t4;
  st.shared.u32 [t4], i;
  bar.sync 0;
  sub.u32 t5, 63, i;
  mad.lo.u32 t3, t5, 4, t2;
  ld.shared.u32 t6, [t3];
  ld.shared.u32 t7, [t4];
  st.global.v2.u32 [to], {t6, t7};
  ret;"""
    values = words(64, 32)
    cases = [([(x, 32)], [(values[63 - k], 32), (k, 32)]) for k, x in enumerate(values)]
    Kernel(
        "shared_dynamic",
        "dynamic shared memory behind a static array",
        body,
        cases,
        shared=256,
        header=".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .b8 fixed[256];",
    ).write()


def local():
    body = prologue(16, 16) + """\
  .local .align 16 .b8 depot[64];
  ld.global.v4.u32 {t0, t1, t2, t3}, [from];
  mov.u64 u0, depot;
  st.local.v4.u32 [u0+16], {t0, t1, t2, t3};
  st.local.u32 [depot+4], i;
  and.b32 t4, i, 3;
  mad.wide.u32 u1, t4, 4, u0;
  ld.local.u32 t5, [u1+16];
  cvta.local.u64 u2, u0;
  ld.u32 t6, [u2+4];
  st.u8 [u2+5], 1;
  ld.local.u32 t7, [depot+4];
  ld.local.s16 t8, [u0+18];
  st.global.v4.u32 [to], {t5, t6, t7, t8};
  ret;"""
    cases = []
    for k in range(40):
        v = words(4, 32)
        cases.append(
            (
                [(x, 32) for x in v],
                [(v[k & 3], 32), (k, 32), (k | 256, 32), (signed(v[0] >> 16, 16), 32)],
            )
        )
    Kernel(
        "local", "ld.local, st.local, indexed and generic; each thread has its own", body, cases
    ).write()


def constant():
    header = """\
.const .align 4 .u32 table[8] = {1, 2, 3, 5, 8, 13, 21, 34};
.const .f64 half = 0d3FE0000000000000;
.global .align 4 .s16 start[2][3] = {{-1, -2}, {7, 8, 9}};
.global .u64 counter = 40;
.global .u64 pointers[2] = {counter, generic(start)+8};"""
    body = prologue(4, 40) + """\
  ld.global.u32 t1, [from];
  mov.u64 u0, table;
  mad.wide.u32 u1, t1, 4, u0;
  ld.const.u32 t2, [u1];
  ld.const.u32 t3, [table+12];
  ld.const.f64 u2, [half];
  cvta.const.u64 u3, u1;
  ld.u32 t4, [u3];
  mov.u64 u4, start;
  ld.global.s16 t5, [u4+2];
  ld.global.u64 u8, [pointers+8];
  ld.u16 t6, [u8];
  cvta.global.u64 u5, u4;
  ld.s16 t7, [u5+4];
  ld.global.u64 u7, [pointers];
  ld.global.u64 u6, [u7];
  st.global.u64 [to], u2;
  st.global.u64 [to+8], u6;
  st.global.v2.u32 [to+16], {t2, t3};
  st.global.v2.u32 [to+24], {t4, t5};
  st.global.v2.u32 [to+32], {t6, t7};
  ret;"""
    table = [1, 2, 3, 5, 8, 13, 21, 34]
    start = [-1, -2, 7, 8, 9, 0]
    cases = [
        (
            [(k, 32)],
            [
                (0x3FE0000000000000, 64),
                (40, 64),
                (table[k], 32),
                (5, 32),
                (table[k], 32),
                (start[1], 32),
                (start[4], 32),
                (start[2], 32),
            ],
        )
        for k in range(8)
    ]
    Kernel(
        "const_and_global_variables",
        "ld.const; .const and .global variables with initial values",
        body,
        cases,
        header=header,
        notes=["HW: measured on an H200: a short row of a list is not filled up with zeros"],
    ).write()


def generic():
    header = ".shared .align 8 .b8 tile[256];\n.const .u32 fixed = 99;"
    body = prologue(4, 48) + """\
  .local .align 8 .b8 depot[16];
  ld.global.u32 t1, [from];
  mov.u64 u0, tile;
  cvta.shared.u64 u1, u0;
  mad.wide.u32 u2, i, 8, u1;
  st.u32 [u2], t1;
  bar.sync 0;
  cvta.to.shared.u64 u3, u2;
  ld.shared.u32 t2, [u3];
  ld.volatile.u32 t3, [u2];
  cvta.to.global.u64 u4, from;
  ld.global.u32 t4, [u4];
  mov.u64 u5, depot;
  cvta.local.u64 u6, u5;
  st.u32 [u6+8], i;
  cvta.to.local.u64 u7, u6;
  ld.local.u32 t5, [u7+8];
  mov.u64 u8, fixed;
  cvta.const.u64 u9, u8;
  ld.u32 t6, [u9];
  st.global.v2.u32 [to], {t2, t3};
  st.global.v2.u32 [to+8], {t4, t5};
  isspacep.shared p, u2;
  selp.u32 t7, 1, 0, p;
  isspacep.global p, u2;
  selp.u32 t8, 2, 0, p;
  isspacep.global p, from;
  selp.u32 t9, 4, 0, p;
  isspacep.shared p, from;
  selp.u32 t10, 8, 0, p;
  isspacep.local p, u6;
  selp.u32 t11, 16, 0, p;
  isspacep.local p, from;
  selp.u32 t12, 32, 0, p;
  isspacep.const p, u9;
  selp.u32 t13, 64, 0, p;
  add.u32 t7, t7, t8;
  add.u32 t7, t7, t9;
  add.u32 t7, t7, t10;
  add.u32 t7, t7, t11;
  add.u32 t7, t7, t12;
  add.u32 t7, t7, t13;
  st.global.v2.u32 [to+16], {t6, t7};
  ld.param.u64 u10, [in];
  sub.u64 u10, from, u10;
  st.global.u64 [to+24], u10;
  st.global.u64 [to+32], 0;
  st.global.u64 [to+40], 0;
  ret;"""
    cases = [
        (
            [(x, 32)],
            [
                (x, 32),
                (x, 32),
                (x, 32),
                (k, 32),
                (99, 32),
                (1 + 4 + 16 + 64, 32),
                (4 * k, 64),
                (0, 64),
                (0, 64),
            ],
        )
        for k, x in enumerate(words(16, 32))
    ]
    Kernel(
        "generic_addresses",
        "cvta, cvta.to, isspacep; ld and st through generic addresses",
        body,
        cases,
        header=header,
    ).write()


def parameters():
    body = f"""\
{REGISTERS}
  ld.param.u64 to, [out];
  ld.param.u32 t0, [in];
  ld.param.u32 t1, [in+4];
  ld.param.u64 from, [in];
  mov.b64 u0, {{t0, t1}};
  setp.eq.u64 p, u0, from;
  selp.u32 t2, 1, 0, p;
  ld.param.u8 t3, [in+1];
  bfe.u32 t4, t0, 8, 8;
  setp.eq.u32 p, t3, t4;
  selp.u32 t3, 1, 0, p;
  ld.param.v2.u32 {{t5, t6}}, [out];
  mov.b64 u1, {{t5, t6}};
  setp.eq.u64 p, u1, to;
  selp.u32 t5, 1, 0, p;
  mov.b64 u2, in;
  ld.param.u64 u3, [u2];
  setp.eq.u64 p, u3, from;
  selp.u32 t6, 1, 0, p;
  st.global.v4.u32 [to], {{t2, t3, t5, t6}};
  ret;"""
    Kernel(
        "ld_param",
        "ld.param of parts, of vectors and through a register",
        body,
        [([], [(1, 32)] * 4)],
        block=1,
    ).write()


def write_all():
    for family in (shared, local, constant, generic, parameters):
        family()
