"""Kernels that must be stopped, each at the marked line."""

from core import Kernel, prologue


def write(name, op, words, body, block=1, **kwargs):
    Kernel(
        name, op, body, [], block=block, notes=["fault: " + words] if words else [], **kwargs
    ).write()


MARK = "  // <- fault"


def write_all():
    write(
        "fault_unknown_instruction",
        "an instruction that nobody knows",
        "frobnicate.b32",
        prologue(0, 0) + f"  frobnicate.b32 t1, t2;{MARK}\n  ret;",
    )
    write(
        "fault_unknown_modifier",
        "a known instruction in a form that does not exist",
        "add.rn.s32",
        prologue(0, 0) + f"  add.rn.s32 t1, t2, t3;{MARK}\n  ret;",
    )
    write(
        "fault_syntax",
        "text that is not PTX",
        "",
        prologue(0, 0) + f"  add.s32 t1, t2 t3;{MARK}\n  ret;",
    )
    write(
        "fault_global_read_behind",
        "a read behind the end of an allocation",
        "ld.global.u32 test thread 3 address",
        prologue(0, 0) + f"""\
  ld.param.u64 from, [in];
  setp.eq.u32 p, i, 3;
  selp.u32 t1, 4096, 0, p;
  cvt.u64.u32 u1, t1;
  add.u64 u1, from, u1;
  ld.global.u32 t2, [u1];{MARK}
  ret;""",
        block=8,
    )
    write(
        "fault_global_write_before",
        "a write before the start of an allocation",
        "st.global.u32 test",
        prologue(0, 0) + f"  ld.param.u64 to, [out];\n  st.global.u32 [to+-4], 1;{MARK}\n  ret;",
    )
    write(
        "fault_global_null",
        "a read through a null pointer",
        "ld.global.u64",
        prologue(0, 0) + f"  mov.u64 u1, 0;\n  ld.global.u64 u2, [u1];{MARK}\n  ret;",
    )
    write(
        "fault_global_straddle",
        "a vector that begins inside and ends outside",
        "ld.global.v4.u32",
        prologue(0, 0) + f"""\
  ld.param.u64 from, [in];
  ld.global.v4.u32 {{t1, t2, t3, t4}}, [from+16];{MARK}
  ret;""",
    )
    write(
        "fault_global_misaligned",
        "an address that is no multiple of its access",
        "ld.global.u32",
        prologue(0, 0) + f"  ld.param.u64 from, [in];\n  ld.global.u32 t1, [from+2];{MARK}\n  ret;",
    )
    write(
        "fault_vector_misaligned",
        "a vector aligned to its elements only",
        "ld.global.v2.u32",
        prologue(0, 0) + f"""\
  ld.param.u64 from, [in];
  ld.global.v2.u32 {{t1, t2}}, [from+4];{MARK}
  ret;""",
    )
    write(
        "fault_shared_bounds",
        "an access behind all shared memory",
        "st.shared.u32",
        prologue(0, 0) + f"""\
  .shared .align 4 .b8 tile[64];
  mov.u32 t1, tile;
  st.shared.u32 [t1+1024], t1;{MARK}
  ret;""",
    )
    write(
        "fault_shared_dynamic_bounds",
        "an access behind the dynamic shared memory of this launch",
        "ld.shared.u32",
        prologue(0, 0) + f"""\
  ld.shared.u32 t1, [dynamic+124];
  ld.shared.u32 t1, [dynamic+128];{MARK}
  ret;""",
        shared=128,
        header=".extern .shared .align 4 .b8 dynamic[];",
    )
    write(
        "fault_shared_misaligned",
        "a misaligned access of shared memory",
        "ld.shared.v4.f32",
        prologue(0, 0) + f"""\
  .shared .align 16 .b8 tile[64];
  .reg .f32 f<4>;
  mov.u32 t1, tile;
  ld.shared.v4.f32 {{f0, f1, f2, f3}}, [t1+8];{MARK}
  ret;""",
    )
    write(
        "fault_local_bounds",
        "an access behind the local memory of the function",
        "st.local.u32",
        prologue(0, 0) + f"""\
  .local .align 4 .b8 depot[16];
  mov.u64 u1, depot;
  st.local.u32 [u1+65536], i;{MARK}
  ret;""",
    )
    write(
        "fault_local_misaligned",
        "a misaligned access of local memory",
        "ld.local.u64",
        prologue(0, 0) + f"""\
  .local .align 8 .b8 depot[16];
  mov.u64 u1, depot;
  ld.local.u64 u2, [u1+4];{MARK}
  ret;""",
    )
    write(
        "fault_const_bounds",
        "a read behind constant memory",
        "ld.const.u32",
        prologue(0, 0) + f"""\
  mov.u64 u1, table;
  ld.const.u32 t1, [u1+1048576];{MARK}
  ret;""",
        header=".const .align 4 .u32 table[4] = {1, 2, 3, 4};",
    )
    write(
        "fault_generic_bounds",
        "a generic address that belongs to nobody",
        "ld.u32",
        prologue(0, 0) + f"  mov.u64 u1, 64;\n  ld.u32 t1, [u1];{MARK}\n  ret;",
    )
    write(
        "fault_atom_bounds",
        "an atomic operation outside of memory",
        "atom.global.add.u32",
        prologue(0, 0) + f"""\
  ld.param.u64 to, [out];
  atom.global.add.u32 t1, [to+4096], 1;{MARK}
  ret;""",
    )
    write(
        "fault_atom_misaligned",
        "a misaligned atomic operation",
        "atom.global.add.u32",
        prologue(0, 0) + f"""\
  ld.param.u64 to, [out];
  atom.global.add.u32 t1, [to+1], 1;{MARK}
  ret;""",
    )
    write("fault_trap", "trap", "trap", prologue(0, 0) + f"  trap;{MARK}\n  ret;")
    write(
        "fault_deadlock",
        "a barrier that half of the warps never reach",
        "deadlock bar.sync",
        prologue(0, 0) + f"""\
  setp.lt.u32 p, i, 32;
  @p bra LEFT;
  bar.sync 1, 64;{MARK}
  bra DONE;
LEFT:
  bar.sync 2, 64;
DONE:
  ret;""",
        block=64,
    )
    write(
        "fault_deadlock_at_exit",
        "warps wait with a count for warps that have ended",
        "deadlock",
        prologue(0, 0) + f"""\
  setp.lt.u32 p, i, 32;
  @p exit;
  bar.sync 0, 64;{MARK}
  ret;""",
        block=64,
    )
    write(
        "fault_barrier_divergent",
        "bar.sync by a part of a warp",
        "bar.sync",
        prologue(0, 0) + f"""\
  setp.lt.u32 p, i, 16;
  @p bar.sync 0;{MARK}
  ret;""",
        block=32,
    )
    write(
        "fault_barrier_number",
        "a barrier number beyond 15",
        "bar.sync",
        prologue(0, 0) + f"  mov.u32 t1, 16;\n  bar.sync t1;{MARK}\n  ret;",
        block=32,
    )
    write(
        "fault_barrier_count",
        "a thread count that is no multiple of a warp",
        "bar.sync",
        prologue(0, 0) + f"  mov.u32 t1, 33;\n  bar.sync 1, t1;{MARK}\n  ret;",
        block=64,
    )
    write(
        "fault_barrier_counts_differ",
        "two counts at one barrier",
        "bar.sync",
        prologue(0, 0) + f"""\
  setp.lt.u32 p, i, 32;
  selp.u32 t1, 64, 96, p;
  bar.sync 1, t1;{MARK}
  ret;""",
        block=96,
    )
