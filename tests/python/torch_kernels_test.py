#!/usr/bin/env python3
"""The operators in C++ over a stand-in for PyTorch, so that they are tested where it is not installed: results on the
CPU, every tensor freed once, and on the stand-in driver the stream, the handle and what is left to PyTorch.
torch_kernels_test.py LIBRARY TORCH_LIBRARY FAKE_TORCH_FOLDER FAKE_DRIVER_FOLDER"""
import ctypes
import os
import pathlib
import random
import struct
import sys
import unittest
from ctypes import c_char_p, c_int32, c_int64, c_uint64, c_void_p

LIBRARY, OPERATORS, TORCH, DRIVER = (str(pathlib.Path(one).resolve()) for one in sys.argv[1:5])
if DRIVER not in os.environ.get("LD_LIBRARY_PATH", ""):
    os.environ["LD_LIBRARY_PATH"] = DRIVER
    os.execv(sys.executable, [sys.executable, __file__, LIBRARY, OPERATORS, TORCH, DRIVER] + sys.argv[5:])
del sys.argv[1:5]
os.environ.update(FAKE_CUDA_ACCEPT="1", FAKE_CUDA_MEMORY="100000000000")

driver = ctypes.CDLL(DRIVER + "/libcuda.so.1")
driver.fake_cuda_calls.restype = c_char_p
native = ctypes.CDLL(OPERATORS)
for _name in ("open", "register", "enable"):
    getattr(native, "tessera_torch_" + _name).restype = c_char_p
without_pytorch = native.tessera_torch_open(LIBRARY.encode())
torch = ctypes.CDLL(TORCH + "/libtorch_cpu.so")
cuda = ctypes.CDLL(TORCH + "/libtorch_cuda.so")
torch.fake_torch_tensor.restype = torch.fake_torch_address.restype = c_void_p
torch.fake_torch_tensor.argtypes = [c_void_p, c_int64, c_void_p, c_void_p, c_int32, c_int32, c_int32, c_int32]
torch.fake_torch_address.argtypes = torch.fake_torch_delete.argtypes = [c_void_p]
torch.fake_torch_live.restype = c_int64
torch.fake_torch_call.argtypes = [c_char_p, c_void_p, c_uint64]
torch.fake_torch_call.restype = torch.fake_torch_calls.restype = c_char_p
torch.fake_torch_take_optional.argtypes, torch.fake_torch_take_optional.restype = [c_uint64], c_uint64
torch.aoti_torch_get_sizes.argtypes = torch.aoti_torch_get_strides.argtypes = torch.aoti_torch_get_dim.argtypes = [c_void_p, c_void_p]
cuda.fake_torch_set_stream.argtypes = [c_void_p]
TF32, F16X3 = 3, 6  # TESSERA_COMPUTE_...
CPU, CUDA, DOUBLE, FLOAT, LONG, STRIDED, SPARSE = 0, 1, 7, 6, 4, 0, 1


class Matrix:
    """Whole numbers in doubles, of any shape and strides, and what they are as lists."""

    def __init__(self, shape, strides=None, seed=0, fill=None):
        self.shape = list(shape)
        self.strides = list(strides) if strides else in_order(shape)
        reach = 1 + sum((n - 1) * s for n, s in zip(shape, self.strides)) if all(shape) else 1
        draw = random.Random(seed)
        self.memory = (ctypes.c_double * reach)(*(draw.randint(-4, 4) if fill is None else fill for _ in range(reach)))

    def __getitem__(self, index):
        return self.memory[sum(i * s for i, s in zip(index, self.strides))]

    def tensor(self, dtype=DOUBLE, layout=STRIDED):
        dims = len(self.shape)
        return torch.fake_torch_tensor(ctypes.addressof(self.memory), dims, (c_int64 * dims)(*self.shape),
                                       (c_int64 * dims)(*self.strides), dtype, CPU, -1, layout)


def in_order(shape):
    strides = [1]
    for n in reversed(shape[1:]):
        strides.insert(0, strides[0] * n)
    return strides


def result(handle):
    """Shape and elements of a tensor in C order; the tensor is deleted."""
    dims = c_int64()
    torch.aoti_torch_get_dim(handle, ctypes.byref(dims))
    sizes, strides = (ctypes.POINTER(c_int64)() for _ in range(2))
    torch.aoti_torch_get_sizes(handle, ctypes.byref(sizes))
    torch.aoti_torch_get_strides(handle, ctypes.byref(strides))
    shape = sizes[:dims.value]
    assert strides[:dims.value] == in_order(shape), strides[:dims.value]
    count = 1
    for n in shape:
        count *= n
    address = torch.fake_torch_address(handle)
    values = list((ctypes.c_double * count).from_address(address)) if address else None
    torch.fake_torch_delete(handle)
    return shape, values


def product(a, b, c=None, alpha=1.0, beta=0.0):
    """Of matrices, or of batches of as many; a in more dimensions with one b, too."""
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    values = []
    for flat in range(size_of(a.shape[:-2])):
        at = unflat(flat, a.shape[:-2])
        at_b = at if len(b.shape) == len(a.shape) else []
        for i in range(m):
            for j in range(n):
                x = alpha * sum(a[at + [i, t]] * b[at_b + [t, j]] for t in range(k))
                index = (at + [i, j])[-len(c.shape):] if c else []
                values.append(x + (beta * c[[0 if e == 1 else i for i, e in zip(index, c.shape)]] if c else 0))
    return a.shape[:-2] + [m, n], values


def size_of(shape):
    total = 1
    for n in shape:
        total *= n
    return total


def unflat(flat, shape):
    index = []
    for n in reversed(shape):
        index.insert(0, flat % n)
        flat //= n
    return index


def bits(number):
    return struct.unpack("Q", struct.pack("d", number))[0]


def counts():
    both = (c_uint64 * 2)()
    native.tessera_torch_counts(both)
    return both[0], both[1]


class Kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        assert without_pytorch == b"PyTorch is not loaded", without_pytorch
        assert native.tessera_torch_open(LIBRARY.encode()) is None
        for key in (b"CPU", b"CUDA"):
            assert native.tessera_torch_register(key) is None

    def setUp(self):
        self.assertIsNone(native.tessera_torch_enable(b"CPU", 0))
        self.addCleanup(native.tessera_torch_disable)
        torch.fake_torch_calls()
        self.live = torch.fake_torch_live()

    def tearDown(self):
        self.assertEqual(torch.fake_torch_live(), self.live, "tensors are left, or were freed twice")

    def call(self, kernel, *values):
        stack = (c_uint64 * 8)(*values)
        words = torch.fake_torch_call(kernel.encode(), stack, len(values)).decode()
        return words, stack[0]

    def check(self, kernel, a, b, taken=True):
        before = counts()
        words, handle = self.call(kernel, a.tensor(), b.tensor())
        after = counts()
        self.assertEqual(words, "")
        found = result(handle)
        if taken:
            self.assertEqual(found, product(a, b), (a.shape, a.strides, b.shape, b.strides))
        self.assertEqual((after[0] - before[0], after[1] - before[1]), (1, 0) if taken else (0, 1))

    def test_products(self):
        for a in (Matrix((5, 7)), Matrix((5, 7), (1, 5)), Matrix((5, 7), (9, 1)), Matrix((5, 7), (1, 8)), Matrix((5, 7), (20, 2)),
                  Matrix((5, 7), (0, 0)), Matrix((5, 7), (0, 1)), Matrix((5, 7), (3, 1)), Matrix((1, 7), (50, 1)), Matrix((1, 7), (0, 3)), Matrix((5, 1), (3, 90))):
            for b in (Matrix((a.shape[1], 6), seed=1), Matrix((a.shape[1], 6), (1, a.shape[1] + 2), 1), Matrix((a.shape[1], 1), (2, 70), 1)):
                self.check("aten CPU mm", a, b)
                self.check("tessera CPU matmul", a, b)
        for batch in (1, 2, 3):
            for a in (Matrix((batch, 5, 7)), Matrix((batch, 5, 7), (1, 7 * batch, batch)), Matrix((batch, 5, 7), (0, 7, 1)), Matrix((batch, 5, 7), (40, 1, 5))):
                self.check("aten CPU bmm", a, Matrix((batch, 7, 4), seed=2))
                self.check("tessera CPU matmul", a, Matrix((batch, 7, 4), (1, 4 * batch, batch), 3))

    def test_rows_that_continue(self):
        b = Matrix((7, 3), seed=5)
        for shape, strides, taken in (((3, 5, 7), None, True), ((4, 1, 7), (7, 99, 1), True), ((2, 3, 5, 7), None, True), ((3, 5, 7), (50, 10, 1), True),
                                      ((3, 5, 7), (36, 7, 1), False), ((3, 5, 7), (7, 21, 1), False), ((1, 1, 7), (3, 3, 1), True), ((2, 1, 2, 7), (14, 1, 7, 1), True)):
            self.check("tessera CPU matmul", Matrix(shape, strides), b, taken)
        self.assertEqual(torch.fake_torch_calls(), b"tessera::matmul_any\n" * 2)

    def add(self, c, a, b, beta=1.0, alpha=1.0, dims=2, taken=True):
        before = counts()
        words, value = self.call("tessera CPU add_product", c.tensor(), a.tensor(), b.tensor(), bits(beta), bits(alpha), dims)
        self.assertEqual((words, counts()[0] - before[0]), ("", int(taken)))
        handle = torch.fake_torch_take_optional(value)
        self.assertEqual(bool(handle), taken)
        if taken:
            expected = product(a, b, c if beta else None, alpha, beta)
            self.assertEqual(result(handle), expected, (c.shape, c.strides, alpha, beta))

    def test_sums(self):
        a, b = Matrix((5, 7)), Matrix((7, 6), seed=1)
        for c in (Matrix((6,), seed=2), Matrix((1, 6), (99, 1), 2), Matrix((5, 1), (1, 50), 2), Matrix((5, 6), seed=2), Matrix((5, 6), (9, 1), 2)):
            for alpha in (1.0, -2.0):
                self.add(c, a, b, 1.0, alpha)
            self.add(c, a, b, 3.0, taken=c.shape == [5, 6])
            self.add(c, a, b, 0.0)
        for c in (Matrix((6,), (2,), 2), Matrix((1,), seed=2), Matrix((5,), seed=2), Matrix((1, 6), (1, 3), 2), Matrix((5, 1), (2, 1), 2), Matrix((5, 6), (1, 5), 2),
                  Matrix((1, 1), seed=2), Matrix((6, 5), seed=2), Matrix((5, 6), (18, 3), 2), Matrix((1, 5, 6), seed=2)):
            self.add(c, a, b, taken=False)
        x, y = Matrix((2, 5, 7)), Matrix((2, 7, 6), seed=3)
        for c in (Matrix((2, 5, 6), seed=4), Matrix((2, 5, 6), (0, 6, 1), 4), Matrix((2, 5, 6), (50, 8, 1), 4)):
            self.add(c, x, y, -1.0, 2.0, dims=3)
        self.add(Matrix((6,), seed=4), x, y, dims=3)
        for c in (Matrix((3, 5, 6)), Matrix((2, 6, 5)), Matrix((2, 5, 6), (36, 1, 6))):
            self.add(c, x, y, dims=3, taken=False)
        self.add(Matrix((6,)), x, y, dims=2, taken=False)
        self.add(Matrix((6,)), a, y, dims=2, taken=False)
        for dtype, layout in ((FLOAT, STRIDED), (LONG, STRIDED), (DOUBLE, SPARSE)):
            words, value = self.call("tessera CPU add_product", Matrix((6,)).tensor(dtype, layout), a.tensor(), b.tensor(), bits(1.0), bits(1.0), 2)
            self.assertEqual((words, value), ("", 0))
            words, value = self.call("tessera CPU add_product", Matrix((6,)).tensor(dtype, layout), a.tensor(), b.tensor(), bits(0.0), bits(1.0), 2)
            self.assertEqual(result(torch.fake_torch_take_optional(value)), product(a, b))
        self.add(Matrix((6,)), a, b, dims=3, taken=False)

    def test_out(self):
        a, b, c = Matrix((5, 7)), Matrix((7, 6), seed=1), Matrix((5, 6), seed=2)
        for strides, taken in ((None, True), ((9, 1), True), ((1, 5), False), ((12, 2), False)):
            for kernel in ("aten CPU mm.out", "tessera CPU add_product_out"):
                out = Matrix((5, 6), strides, fill=99)
                handle = out.tensor()
                values = (c.tensor(), a.tensor(), b.tensor(), bits(2.0), bits(1.0), 2, handle) if "add" in kernel else (a.tensor(), b.tensor(), handle)
                words, value = self.call(kernel, *values)
                self.assertEqual(words, "")
                if "add" in kernel:
                    self.assertEqual(value, int(taken))
                elif taken:
                    self.assertEqual(value, handle)
                    torch.fake_torch_delete(handle)
                else:
                    result(value)
                if taken:
                    expected = product(a, b, *((c, 1.0, 2.0) if "add" in kernel else ()))[1]
                    self.assertEqual([out[[i, j]] for i in range(5) for j in range(6)], expected)
                    self.assertEqual(sum(x == 99 for x in out.memory), len(out.memory) - 30)
        words, value = self.call("aten CPU mm.out", a.tensor(), b.tensor(), Matrix((5, 6)).tensor(FLOAT))
        self.assertEqual((words, torch.fake_torch_calls()[-24:]), ("", b"tessera::pytorch_mm_out\n"))
        result(value)
        for shape in ((6, 5), (5, 5), (30,), (1, 5, 6)):
            words, value = self.call("aten CPU mm.out", a.tensor(), b.tensor(), Matrix(shape).tensor())
            self.assertEqual(words, "")
            result(value)
        batch, right = Matrix((2, 5, 7)), Matrix((2, 7, 6), seed=1)
        out = Matrix((2, 5, 6), (40, 7, 1), fill=99)
        words, value = self.call("aten CPU bmm.out", batch.tensor(), right.tensor(), out.tensor())
        torch.fake_torch_delete(value)
        self.assertEqual([out[[h, i, j]] for h in range(2) for i in range(5) for j in range(6)], product(batch, right)[1])

    def test_what_is_left_to_pytorch(self):
        a, b = Matrix((5, 7)), Matrix((7, 6))
        for kernel, name in (("aten CPU mm", b"tessera::pytorch_mm\n"), ("tessera CPU matmul", b"tessera::matmul_any\n")):
            for x, y in (((a, LONG, STRIDED), (b, LONG, STRIDED)), ((a, DOUBLE, SPARSE), (b, DOUBLE, STRIDED)), ((a, DOUBLE, STRIDED), (b, DOUBLE, SPARSE))):
                words, value = self.call(kernel, x[0].tensor(*x[1:]), y[0].tensor(*y[1:]))
                self.assertEqual((words, torch.fake_torch_calls()), ("", name))
                result(value)
        for x, y in ((a, Matrix((2, 7, 6))), (Matrix((2, 5, 7)), Matrix((3, 7, 6))), (Matrix((7,)), b)):
            words, value = self.call("tessera CPU matmul", x.tensor(), y.tensor())
            self.assertEqual((words, torch.fake_torch_calls()), ("", b"tessera::matmul_any\n"))
            result(value)
        for x, y in ((Matrix((0, 7)), b), (a, Matrix((7, 0))), (Matrix((5, 0)), Matrix((0, 6)))):
            words, value = self.call("aten CPU mm", x.tensor(), y.tensor())
            self.assertEqual((words, torch.fake_torch_calls()), ("", b"tessera::pytorch_mm\n"))
            result(value)
        words, value = self.call("aten CPU bmm", Matrix((0, 5, 7)).tensor(), Matrix((0, 7, 6)).tensor())
        self.assertEqual((words, torch.fake_torch_calls()), ("", b"tessera::pytorch_bmm\n"))
        result(value)

    def test_errors(self):
        a, b, x = Matrix((5, 7)), Matrix((7, 6)), Matrix((2, 7, 6))
        for kernel, left, right, said in (("aten CPU mm", a, a, "mat1 and mat2 shapes cannot be multiplied (5x7 and 5x7)"),
                                          ("aten CPU mm", a, Matrix((7,)), "self and mat2 must be matrices (5x7 and 7)"),
                                          ("aten CPU mm", x, x, "self and mat2 must be matrices (2x7x6 and 2x7x6)"),
                                          ("aten CPU bmm", a, b, "batch1 and batch2 must be 3D tensors (5x7 and 7x6)"),
                                          ("aten CPU bmm", Matrix((3, 5, 7)), x, "mat1 and mat2 shapes cannot be multiplied (3x5x7 and 2x7x6)"),
                                          ("aten CPU bmm", x, x, "mat1 and mat2 shapes cannot be multiplied (2x7x6 and 2x7x6)")):
            words, _ = self.call(kernel, left.tensor(), right.tensor())
            self.assertEqual(words, said)
        words, _ = self.call("aten CPU mm", a.tensor(), b.tensor(FLOAT))
        self.assertEqual(words, "expected mat1 and mat2 to have the same dtype (5x7 and 7x6)")
        self.addCleanup(torch.fake_torch_set_memory, 1)
        torch.fake_torch_set_memory(0)
        for kernel in ("aten CPU mm", "tessera CPU matmul"):
            words, _ = self.call(kernel, a.tensor(), b.tensor())
            self.assertRegex(words, "^CUDA out of memory")
        words, _ = self.call("aten CPU mm", a.tensor(LONG), b.tensor(LONG))
        self.assertIn("tessera::pytorch_mm: PyTorch's own kernel refused", words)

    def test_kernels_are_given_back(self):
        self.assertIsNone(native.tessera_torch_enable(b"CPU", 0))
        native.tessera_torch_disable()
        for name in ("mm", "mm.out", "bmm", "bmm.out"):
            self.assertEqual(self.call("aten CPU " + name)[0], "there is no such kernel")
        native.tessera_torch_disable()
        self.assertIsNone(native.tessera_torch_enable(b"CPU", 0))
        self.check("aten CPU mm", Matrix((5, 7)), Matrix((7, 6)))


class OnAGpu(unittest.TestCase):
    """On the stand-in driver, which launches nothing."""

    def setUp(self):
        native.tessera_torch_enable(b"CUDA", 0)
        self.addCleanup(native.tessera_torch_disable)

    def tensor(self, shape, address, dtype=FLOAT, gpu=0):
        dims = len(shape)
        return torch.fake_torch_tensor(address, dims, (c_int64 * dims)(*shape), (c_int64 * dims)(*in_order(shape)), dtype, CUDA, gpu, STRIDED)

    def launches(self, left, right):
        """Of a product into memory at an address that no test reads."""
        driver.fake_cuda_clear()
        out = self.tensor((left[0], right[1]), 3 << 40)
        stack = (c_uint64 * 4)(self.tensor(left, 1 << 40), self.tensor(right, 2 << 40), out)
        words = torch.fake_torch_call(b"aten CUDA mm.out", stack, 3).decode()
        self.assertEqual(words, "")
        torch.fake_torch_delete(stack[0])
        return [line.split()[1] for line in driver.fake_cuda_calls().decode().splitlines() if line.startswith("cuLaunchKernel")]

    def test_the_type_that_was_allowed(self):
        self.assertTrue(self.launches((512, 512), (512, 512))[0].startswith("simt_f32"))
        native.tessera_torch_enable(b"CUDA", TF32)
        self.assertIn("tf32", self.launches((512, 512), (512, 512))[0])
        native.tessera_torch_enable(b"CUDA", F16X3)
        self.assertEqual(self.launches((2048, 2048), (2048, 2048))[0], "wgmma_f16x3__terms")
        native.tessera_torch_enable(b"CUDA", 0)
        self.assertTrue(self.launches((512, 512), (512, 512))[0].startswith("simt_f32"))

    def test_the_stream_of_pytorch(self):
        self.addCleanup(cuda.fake_torch_set_stream, None)
        stream = c_void_p()
        self.assertGreater(len(self.launches((64, 64), (64, 64))), 0)
        assert driver.cuStreamCreate(ctypes.byref(stream), 0) == 0
        cuda.fake_torch_set_stream(stream)
        self.assertGreater(len(self.launches((64, 64), (64, 64))), 0)
        before = counts()
        cuda.fake_torch_set_stream(12345)  # is none: the driver refuses the launch
        self.launches((64, 64), (64, 64))
        self.assertEqual((counts()[0] - before[0], counts()[1] - before[1]), (0, 1))
        self.assertEqual(torch.fake_torch_calls(), b"tessera::pytorch_mm_out\n")


if __name__ == "__main__":
    unittest.main()
