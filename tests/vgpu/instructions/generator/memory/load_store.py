"""ld and st of global memory: every type, vectors, qualifiers."""

from core import M32, M64, Kernel, prologue, signed
from memory.random_words import RNG, words


def widths():
    """ld and st of every type; the sign of a narrow type is spread over a wider register."""
    types = [
        "u8",
        "s8",
        "b8",
        "u16",
        "s16",
        "b16",
        "u32",
        "s32",
        "b32",
        "f32",
        "u64",
        "s64",
        "b64",
        "f64",
    ]
    body = prologue(16, 8 * len(types))
    for k, t in enumerate(types):
        bits = int(t[1:])
        body += f"  ld.global.{t} {'u1' if t[0] != 'f' or bits == 64 else 't1'}, [from+{8 - bits // 8}];\n"
        if t == "f32":
            body += "  cvt.u64.u32 u1, t1;\n"
        body += f"  st.global.b64 [to+{8 * k}], u1;\n"
    cases = []
    for low, high in zip(words(16, 64) + [0x8000000000000000, M64, 0], words(19, 64)):
        outputs = []
        for t in types:
            bits = int(t[1:])
            part = low >> (64 - bits)
            outputs.append((signed(part, bits) if t[0] == "s" else part, 64))
        cases.append(([(low, 64), (high, 64)], outputs))
    Kernel(
        "ld_widths", "ld.global of every type, into wider registers", body + "  ret;", cases
    ).write()

    body = prologue(8, 32) + """\
  ld.global.u64 u0, [from];
  st.global.u64 [to], 0;
  st.global.u64 [to+8], 0;
  st.global.b8 [to], u0;
  st.global.u16 [to+2], u0;
  st.global.b32 [to+4], u0;
  cvt.u16.u64 h0, u0;
  st.global.s8 [to+9], h0;
  cvt.u32.u64 t0, u0;
  st.global.u16 [to+10], t0;
  st.global.f32 [to+12], t0;
  st.global.f64 [to+16], u0;
  st.global.s64 [to+24], u0;
  ret;"""
    cases = []
    for x in words(16, 64):
        second = (x & 0xFF) << 8 | (x & 0xFFFF) << 16 | (x & M32) << 32
        cases.append(
            (
                [(x, 64)],
                [
                    ((x & 0xFF) | (x & 0xFFFF) << 16 | (x & M32) << 32, 64),
                    (second, 64),
                    (x, 64),
                    (x, 64),
                ],
            )
        )
    Kernel("st_widths", "st.global of every width, from wider registers", body, cases).write()


def vectors():
    body = prologue(32, 64) + """\
  .reg .f32 f<4>;
  .reg .f64 w<2>;
  ld.global.v4.u32 {t0, t1, t2, t3}, [from];
  st.global.v4.b32 [to], {t3, t2, t1, t0};
  ld.global.v2.u64 {u0, u1}, [from+16];
  st.global.v2.b64 [to+16], {u1, u0};
  ld.global.v4.u8 {h0, h1, h2, h3}, [from+4];
  st.global.v4.u8 [to+32], {h3, h1, h2, h0};
  ld.global.v2.s16 {h0, h1}, [from+8];
  st.global.v2.b16 [to+36], {h1, h0};
  ld.global.v2.f32 {f0, f1}, [from+24];
  st.global.v2.f32 [to+40], {f1, f0};
  ld.global.v2.f64 {w0, w1}, [from];
  st.global.v2.f64 [to+48], {w0, w1};
  ret;"""
    cases = []
    for _ in range(8):
        raw = RNG.randbytes(32)
        b4, s = list(raw[4:8]), raw[8:12]
        out = b"".join(raw[k : k + 4] for k in (12, 8, 4, 0)) + raw[24:32] + raw[16:24]
        out += (
            bytes([b4[3], b4[1], b4[2], b4[0]])
            + s[2:4]
            + s[0:2]
            + raw[28:32]
            + raw[24:28]
            + raw[0:16]
        )
        cases.append((as_words(raw), as_words(out)))
    Kernel("ld_st_vectors", "ld, st .v2 and .v4 of 8 to 64 bits", body, cases).write()


def as_words(raw):
    return [(int.from_bytes(raw[k : k + 4], "little"), 32) for k in range(0, len(raw), 4)]


def qualifiers():
    """Qualifiers for caches and memory order change when a value is seen, never which."""
    loads = [
        "ld.global.ca",
        "ld.global.cg",
        "ld.global.cs",
        "ld.global.lu",
        "ld.global.cv",
        "ld.global.nc",
        "ld.volatile.global",
        "ld.relaxed.gpu.global",
        "ld.acquire.gpu.global",
        "ld.relaxed.cta.global",
        "ld.acquire.sys.global",
        "ld.weak.global",
        "ld.global.L1::no_allocate",
        "ld.global.nc.L1::evict_last",
        "ld.global.L2::128B",
        "ld",
        "ld.volatile",
        "ld.relaxed.sys",
    ]
    stores = [
        "st.global.wb",
        "st.global.cg",
        "st.global.cs",
        "st.global.wt",
        "st.volatile.global",
        "st.relaxed.gpu.global",
        "st.release.gpu.global",
        "st.release.sys.global",
        "st.weak.global",
        "st.global.L1::no_allocate",
        "st",
        "st.volatile",
        "st.relaxed.cta",
        "st.release.gpu",
        "st.global",
        "st.global",
        "st.global",
        "st.global",
    ]
    body = prologue(4, 4 * len(loads))
    for k, (load, store) in enumerate(zip(loads, stores)):
        body += (
            f"  {load}.u32 t1, [from];\n  add.u32 t1, t1, {k};\n  {store}.u32 [to+{4 * k}], t1;\n"
        )
    body += """\
  prefetch.global.L1 [from];
  prefetch.global.L2 [from];
  prefetchu.L1 [from];
  ret;"""
    cases = [([(x, 32)], [(x + k, 32) for k in range(len(loads))]) for x in words(8, 32)]
    Kernel(
        "ld_st_qualifiers",
        "cache, volatile, relaxed, acquire and release forms; prefetch",
        body,
        cases,
        version="7.4",
    ).write()


def write_all():
    for family in (widths, vectors, qualifiers):
        family()
