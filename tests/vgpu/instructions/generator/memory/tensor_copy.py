"""Copies of boxes of tensors by tensor maps: loads, stores, reductions, multicast, edited maps."""

from itertools import product

from core import M32, NAN
from fault import MARK
from memory.bulk import DUMP, MapKernel, as_bytes, as_words, rows, start, wait, words


class Tensor:
    """A tensor over bytes, and how a box of it stands in shared memory."""

    def __init__(self, kind, size, sizes, strides, box, steps=None, swizzle=0, fill=0):
        self.kind, self.size, self.sizes, self.strides = kind, size, sizes, strides
        self.box, self.steps = box, steps or [1] * len(box)
        self.swizzle, self.fill = swizzle, fill

    def spec(self, where):
        def listed(values):
            return " ".join(str(v) for v in values)

        text = f"{where} {self.kind} sizes {listed(self.sizes)}"
        if self.strides:
            text += f" strides {listed(self.strides)}"
        text += f" box {listed(self.box)} steps {listed(self.steps)} swizzle {self.swizzle}"
        return text + (" fill nan" if self.fill == NAN else "")

    def counts(self):
        return [-(-b // s) if d else b for d, (b, s) in enumerate(zip(self.box, self.steps))]

    def bytes(self):
        total = self.size
        for count in self.counts():
            total *= count
        return total

    def elements(self, at, stores=False):
        """(offset in the tensor or None, place in shared memory) of each element of a box."""
        linear = 0
        for index in product(*[range(c) for c in reversed(self.counts())]):
            index = index[::-1]
            x = [a + i * (s if d else 1) for d, (a, i, s) in enumerate(zip(at, index, self.steps))]
            if stores:  # whole chunks of 16 bytes: what counts is where the chunk begins
                first = x[0] - x[0] % (16 // self.size)
                inside = all(0 <= v < n for v, n in zip([first] + x[1:], self.sizes))
            else:
                inside = all(0 <= v < n for v, n in zip(x, self.sizes))
            offset = x[0] * self.size + sum(v * s for v, s in zip(x[1:], self.strides))
            yield (offset if inside else None), self.place(linear * self.size)
            linear += 1

    def place(self, address):
        bits = {0: 0, 32: 1, 64: 3, 128: 7}[self.swizzle]
        return address ^ ((address >> 7 & bits) << 4)

    def load(self, data, at):
        """Words of shared memory; NaN where one fills."""
        assert self.size == 4 or self.fill != NAN
        found = bytearray(self.bytes())
        nans = set()
        for offset, place in self.elements(at):
            if offset is not None:
                found[place : place + self.size] = data[offset : offset + self.size]
            elif self.fill == NAN:
                nans.add(place // 4)
        return [NAN if k in nans else w for k, w in enumerate(as_words(bytes(found)))]


def load_body(tensor, at, mark=""):
    rank = len(tensor.box)
    coordinates = ", ".join(f"c{d}" for d in range(rank))
    body = start(16, 16, more="  .reg .b32 c<5>;\n", buffer=max(1024, tensor.bytes()))
    for d, value in enumerate(at):
        body += f"  mov.b32 c{d}, {value};\n"
    return body + f"""\
  mov.b64 map, map0;
  cvta.param.u64 map, map;
  @q bra READY;
  prefetch.tensormap [map];
  cp.async.bulk.prefetch.tensor.{rank}d.L2.global.tile [map, {{{coordinates}}}];
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], {tensor.bytes()};
  cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [buffer], [map, {{{coordinates}}}], [bar];{mark}
READY:
""" + wait() + DUMP


def loads():
    plain = words(3, 512)
    data = as_bytes(plain)

    def test(name, op, tensor, at):
        assert tensor.bytes() % 16 == 0
        found = tensor.load(data, at)
        MapKernel(
            name,
            op,
            load_body(tensor, at),
            rows(plain, found),
            block=tensor.bytes() // 16,
            maps=[tensor.spec("in")],
        ).write()

    test("tensor_load_1d", "a box of one dimension", Tensor("u32", 4, [500], [], [64]), [8])
    for swizzle, inner in ((0, 8), (32, 8), (64, 16), (128, 32)):
        tensor = Tensor("f32", 4, [32, 16], [128], [inner, 16], swizzle=swizzle)
        test(
            f"tensor_load_swizzle_{swizzle}",
            f"a box with a swizzle of {swizzle} bytes",
            tensor,
            [0 if inner == 32 else 4, 0],
        )
    for name, at in (("low", [-4, -2]), ("high", [28, 13]), ("outside", [40, 3])):
        tensor = Tensor("f32", 4, [31, 15], [128], [8, 6], swizzle=32)
        test(f"tensor_load_{name}", f"a box at {at}: elements outside are zeros", tensor, at)
    tensor = Tensor("f32", 4, [31, 15], [128], [8, 6], fill=NAN)
    test("tensor_load_nan_fill", "elements outside are NaNs", tensor, [28, -1])
    # Not run on a GPU, where these are illegal instructions.
    for swizzle in (0, 32, 128):
        tensor = Tensor("f32", 4, [31, 15], [128], [8, 6], swizzle=swizzle)
        MapKernel(
            f"fault_tensor_start_{swizzle}",
            "a box of two dimensions that starts within 16 bytes",
            load_body(tensor, [3, -2], MARK),
            [],
            block=tensor.bytes() // 16,
            maps=[tensor.spec("in")],
            more_notes=["fault: cp.async.bulk.tensor.2d innermost 16"],
        ).write()
    tensor = Tensor("bf16", 2, [63, 16], [128], [64, 8], swizzle=128)
    test("tensor_load_bf16", "16-bit elements with a 128-byte swizzle", tensor, [-8, 11])
    tensor = Tensor("u8", 1, [64, 8, 4], [64, 512], [16, 4, 2])
    test("tensor_load_u8_3d", "bytes, three dimensions", tensor, [16, 6, 1])
    tensor = Tensor("u32", 4, [16, 8, 4], [64, 512], [4, 8, 4], steps=[1, 3, 2])
    test("tensor_load_steps", "element strides", tensor, [4, 1, -1])
    tensor = Tensor("u32", 4, [4, 4, 4, 4, 2], [16, 64, 256, 1024], [4, 2, 3, 2, 2])
    test("tensor_load_5d", "five dimensions", tensor, [0, 1, -1, 3, 1])
    tensor = Tensor("u64", 8, [8, 4, 2, 4], [64, 256, 512], [2, 2, 2, 2])
    test("tensor_load_4d", "four dimensions of 64-bit elements", tensor, [6, 0, 0, 2])


def stores():
    def store(name, op, tensor, at, instruction, combine, initial):
        # Shared memory holds words by place; the tensor is `out`, all of it `initial` at first.
        rank = len(tensor.box)
        coordinates = ", ".join(f"c{d}" for d in range(rank))
        source = words(20, tensor.bytes() // 4)
        threads = tensor.bytes() // 16
        whole = 4 * max(threads, 128)
        body = start(16, 16, more="  .reg .b32 c<5>, cell;\n  .reg .b64 place;\n")
        for d, value in enumerate(at):
            body += f"  mov.b32 c{d}, {value};\n"
        body += f"""\
  mov.u32 t5, 0;
  mov.u32 t6, {initial};
FILL:
  add.u32 t7, t5, t0;
  mul.wide.u32 place, t7, 16;
  add.u64 place, place, last;
  setp.lt.u32 p, t7, {whole // 4};
  @p st.global.v4.b32 [place], {{t6, t6, t6, t6}};
  add.u32 t5, t5, {threads};
  setp.lt.u32 p, t5, {whole // 4};
  @p bra FILL;
  ld.global.v4.b32 {{t1, t2, t3, t4}}, [from];
  mad.lo.u32 at, t0, 16, buffer;
  st.shared.v4.b32 [at], {{t1, t2, t3, t4}};
  fence.proxy.async;
  bar.sync 0;
  mov.b64 map, map0;
  cvta.param.u64 map, map;
  @q exit;
  {instruction.format(rank=rank, coordinates=coordinates)}
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;"""
        target = bytearray(as_bytes([initial] * whole))
        given = as_bytes(source)
        for offset, place in tensor.elements(at, stores=True):
            if offset is None:
                continue
            new = given[place : place + tensor.size]
            target[offset : offset + tensor.size] = combine(
                bytes(target[offset : offset + tensor.size]), new
            )
        MapKernel(
            name,
            op,
            body,
            rows(source, as_words(bytes(target))),
            block=threads,
            maps=[tensor.spec("out")],
        ).write()

    plain = (
        "cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group "
        "[map, {{{coordinates}}}], [buffer];"
    )

    def replace(old, new):
        return new

    for swizzle, inner in ((0, 8), (32, 8), (64, 16), (128, 32)):
        tensor = Tensor("f32", 4, [31, 15], [128], [inner, 8], swizzle=swizzle)
        store(
            f"tensor_store_swizzle_{swizzle}",
            "a store leaves out chunks of 16 bytes outside of the tensor",
            tensor,
            [24 if inner < 32 else 4, 9],
            plain,
            replace,
            0xEEEEEEEE,
        )
    tensor = Tensor("u16", 2, [20, 4, 4], [48, 192], [16, 3, 2])
    store("tensor_store_3d", "three dimensions of 16-bit elements", tensor, [8, 2, 1], plain,
          replace, 0x12345678)

    def combined(function):
        def combine(old, new):
            a, b = int.from_bytes(old, "little"), int.from_bytes(new, "little")
            return (function(a, b) & M32).to_bytes(4, "little")

        return combine

    for name, function in (
        ("add", lambda a, b: a + b),
        ("min", min),
        ("max", max),
        ("inc", lambda a, b: 0 if a >= b else a + 1),
        ("dec", lambda a, b: b if a == 0 or a > b else a - 1),
        ("and", lambda a, b: a & b),
        ("or", lambda a, b: a | b),
        ("xor", lambda a, b: a ^ b),
    ):
        reduce = (
            f"cp.reduce.async.bulk.tensor.{{rank}}d.global.shared::cta.{name}.tile.bulk_group "
            "[map, {{{coordinates}}}], [buffer];"
        )
        tensor = Tensor("u32", 4, [30, 6], [128], [16, 4], swizzle=64)
        store(f"tensor_reduce_{name}", f"a box combined by {name}", tensor, [20, 3], reduce,
              combined(function), 0x7F00FF11)


def multicast():
    # Each of two CTAs loads one half of a tile for both.
    plain = words(7, 256)
    tensor = Tensor("f32", 4, [8, 32], [32], [8, 4], swizzle=32)
    body = start(16, 16, more="  .reg .b32 rank, row, part;\n  .reg .b16 both;\n") + """\
  mov.u32 rank, %cluster_ctarank;
  mov.u16 both, 3;
  @!q mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.b64 map, map0;
  cvta.param.u64 map, map;
  shl.b32 row, rank, 2;
  add.u32 row, row, 3;
  mad.lo.u32 part, rank, 128, buffer;
  @q bra SENT;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [part], [map, {0, row}], [bar], both;
SENT:
""" + wait() + """\
  barrier.cluster.arrive;
  barrier.cluster.wait;
""" + DUMP
    data = as_bytes(plain)
    # The second half begins at 128 bytes, where the swizzle goes on.
    whole = Tensor("f32", 4, [8, 32], [32], [8, 8], swizzle=32).load(data, [0, 3])
    MapKernel(
        "tensor_multicast",
        "cp.async.bulk.tensor with .multicast::cluster",
        body,
        rows(plain, whole + whole),
        block=16,
        grid=2,
        cluster=2,
        maps=[tensor.spec("in")],
    ).write()


def edited_maps():
    # A copy of the map in shared memory is edited, published to global memory, and used from there.
    plain = words(11, 512)
    before = Tensor("u32", 4, [32, 16], [128], [8, 4])
    after = Tensor("u32", 4, [29, 9], [64], [16, 5], steps=[1, 2], swizzle=64)
    edits = [
        ("global_dim", 0, 29), ("global_dim", 1, 9), ("box_dim", 0, 16), ("box_dim", 1, 5),
        ("element_stride", 1, 2),
    ]
    body = start(16, 16, more="  .reg .b32 own;\n  .reg .b64 from_map;\n"
                 "  .shared .align 128 .b8 edited[128];\n") + """\
  mov.b64 from_map, map0;
  cvta.param.u64 from_map, from_map;
  mov.u32 own, edited;
  setp.ge.u32 p, t0, 16;
  mul.wide.u32 map, t0, 8;
  add.u64 map, from_map, map;
  mad.lo.u32 t1, t0, 8, own;
  @!p ld.b64 state, [map];
  @!p st.shared.b64 [t1], state;
  bar.sync 0;
  @q bra EDITED;
"""
    for field, ordinal, value in edits:
        body += f"  tensormap.replace.tile.{field}.shared::cta.b1024.b32 [own], {ordinal}, {value};\n"
    body += """\
  tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [own], 0, 64;
  tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [own], 2;
  add.u64 state, first, 256;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [own], state;
EDITED:
  bar.sync 0;
  setp.ge.u32 p, t0, 32;
  @p bra PUBLISHED;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [place], [own], 128;
  fence.proxy.tensormap::generic.acquire.gpu [place], 128;
PUBLISHED:
  @q bra READY;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], %d;
  mov.b64 map, place;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [buffer], [map, {4, 2}], [bar];
READY:
""" % after.bytes() + wait() + f"  setp.ge.u32 p, t0, {after.bytes() // 16};\n  @p exit;\n" + DUMP
    found = after.load(as_bytes(plain)[256:], [4, 2])
    MapKernel(
        "tensormap_replace",
        "tensormap.replace, tensormap.cp_fenceproxy and the map in global memory",
        body,
        rows(plain, found),
        block=32,
        maps=[before.spec("in")],
        header=".visible .global .align 128 .b8 place[128];",
    ).write()


def write_all():
    for family in (loads, stores, multicast, edited_maps):
        family()
