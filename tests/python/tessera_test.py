#!/usr/bin/env python3
"""The Python package on the CPU, against NumPy's own products, and PyTorch's where it is installed.
tessera_test.py LIBRARY"""
import ctypes
import math
import os
import pathlib
import subprocess
import sys
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
if len(sys.argv) > 1 and sys.argv[1].endswith((".so", ".so.0")):
    os.environ["TESSERA_LIBRARY"] = sys.argv.pop(1)
if "--installed" in sys.argv:
    sys.argv.remove("--installed")
else:
    sys.path.insert(0, str(ROOT / "python"))

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(0)
try:
    import torch
except ImportError:
    torch = None

import tessera  # noqa: E402
from tessera._library import ACTIVATIONS  # noqa: E402

# WHY: in a process of its own; in this one PyTorch has threads, and a child of such a process may wait for ever.
FORK = f"""
import os, signal, sys
sys.path[:0] = {sys.path!r}
import numpy, tessera
a = numpy.arange(9, dtype="float32").reshape(3, 3)
expected = tessera.matmul(a, a)
child = os.fork()
if child == 0:
    signal.alarm(20)
    result = 1
    try:
        result = 0 if numpy.array_equal(tessera.matmul(a, a), expected) else 2
    except Exception as refused:
        print(refused, flush=True)
        result = 0 if "fork" in str(refused) else 3
    finally:
        os._exit(result)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def numbers(*shape, dtype="float64", seed=0):
    random = numpy.random.default_rng(seed)
    return random.integers(-4, 5, shape).astype(dtype)


class Matmul(unittest.TestCase):
    def same(self, d, expected):
        self.assertEqual(d.dtype, expected.dtype)
        self.assertEqual(d.shape, expected.shape)
        self.assertTrue(numpy.array_equal(d, expected))

    def test_shapes_as_numpy_has_them(self):
        for left, right in (((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)),
                            ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((2, 3), (5, 3, 4)),
                            ((7, 1, 2, 3), (5, 3, 4)), ((7, 5, 2, 3), (1, 3, 4)),
                            ((5, 2, 3), (3,)), ((3,), (5, 3, 4)), ((1, 1), (1, 1)),
                            ((2, 0), (0, 3)), ((0, 3), (3, 2)), ((0, 2, 3), (3, 4)),
                            ((4, 0, 3), (4, 3, 2)), ((6, 2, 1, 3), (2, 3, 1))):
            with self.subTest(left=left, right=right):
                a, b = numbers(*left), numbers(*right, seed=1)
                d = tessera.matmul(a, b)
                expected = a @ b
                self.assertEqual(numpy.shape(d), numpy.shape(expected))
                self.assertTrue(numpy.array_equal(d, expected))

    def test_types(self):
        for dtype in ("float64", "float32", "float16"):
            a, b = numbers(9, 7, dtype=dtype), numbers(7, 5, dtype=dtype, seed=2)
            self.same(tessera.matmul(a, b), a @ b)
        a, b = numbers(9, 7, dtype="int8"), numbers(7, 5, dtype="int8", seed=2)
        self.same(tessera.matmul(a, b), a.astype("int32") @ b.astype("int32"))

    def test_bfloat16(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        a, b = numbers(9, 7).astype(ml_dtypes.bfloat16), numbers(7, 5).astype(ml_dtypes.bfloat16)
        d = tessera.matmul(a, b)
        self.assertEqual(d.dtype, ml_dtypes.bfloat16)
        self.assertTrue(numpy.array_equal(d.astype("float64"),
                                          a.astype("float64") @ b.astype("float64")))

    def test_views(self):
        a, b = numbers(20, 30), numbers(30, 20, seed=3)
        for x, y in ((a, b), (b.T, a.T), (a[::2, :], b), (a[:, ::2], b[::2]), (a[::-1], b),
                     (a[:, ::-1], b), (a[3:9, 2:7], b[2:7, 1:5]), (a.T[2:5].T, b[2:5]),
                     (a, b[:, :1]), (a[:1], b), (a[:, :1], b[:1]), (a[:, 3], b[3:4].T[:20])):
            with self.subTest(a=x.strides, b=y.strides):
                if x.ndim == 1:
                    self.same(numpy.asarray(tessera.matmul(x, y)), numpy.asarray(x @ y))
                else:
                    self.same(tessera.matmul(x, y), x @ y)
        batch = numbers(4, 6, 5, 3)
        swapped = batch.transpose(1, 0, 3, 2)
        other = numbers(6, 4, 5, 2, seed=5)
        self.same(tessera.matmul(swapped, other), swapped @ other)

    def test_out(self):
        a, b = numbers(3, 4), numbers(4, 2, seed=1)
        for out in (numpy.empty((3, 2)), numpy.empty((2, 3)).T, numpy.empty((6, 4))[::2, :2]):
            self.assertIs(tessera.matmul(a, b, out=out), out)
            self.assertTrue(numpy.array_equal(out, a @ b))
        v = numpy.empty(2)
        self.assertTrue(numpy.array_equal(tessera.matmul(a[0], b, out=v), a[0] @ b))
        self.assertTrue(numpy.array_equal(v, a[0] @ b))
        w = numpy.empty(3)
        tessera.matmul(a, b[:, 0].copy(), out=w)
        self.assertTrue(numpy.array_equal(w, a @ b[:, 0]))
        wide = numpy.empty((3, 2), "float32")
        low = tessera.matmul(a.astype("float16"), b.astype("float16"), out=wide)
        self.assertTrue(numpy.array_equal(low, a @ b))

    def test_gemm(self):
        a, b, c = numbers(5, 4), numbers(4, 6, seed=1), numbers(5, 6, seed=2)
        self.same(tessera.gemm(a, b), a @ b)
        self.same(tessera.gemm(a, b, c), a @ b + c)
        self.same(tessera.gemm(a, b, c, alpha=2, beta=-3), 2 * (a @ b) - 3 * c)
        self.same(tessera.gemm(a, b, numpy.asfortranarray(c)), a @ b + c)
        expected = a @ b - c
        self.assertIs(tessera.gemm(a, b, c, beta=-1, out=c), c)
        self.assertTrue(numpy.array_equal(c, expected))
        for shape in ((6,), (1, 6), (5, 1), (1,), ()):
            part = numbers(*shape, seed=4)
            self.same(tessera.gemm(a, b, part, beta=2), a @ b + 2 * part)
        left = numbers(3, 5, 4, seed=5)
        self.same(tessera.gemm(left, b, c), left @ b + c)
        self.same(tessera.gemm(left, b, c[0]), left @ b + c[0])
        self.same(tessera.gemm(a, b[:, 0], c[:, 1]), a @ b[:, 0] + c[:, 1])
        self.same(tessera.gemm(a[0], b, c[2]), a[0] @ b + c[2])
        poisoned = numpy.full((5, 6), numpy.nan)
        self.same(tessera.gemm(a, b, poisoned, beta=0), a @ b)

    def test_other_libraries_through_dlpack(self):
        class Foreign:
            def __init__(self, x):
                self.x = x

            def __dlpack_device__(self):
                return self.x.__dlpack_device__()

            def __dlpack__(self, **options):
                return self.x.__dlpack__(**options)

        a, b = numbers(5, 4), numbers(4, 6, seed=1)
        self.same(tessera.matmul(Foreign(a), Foreign(b)), a @ b)
        self.same(tessera.matmul(Foreign(b.T), Foreign(a.T)), b.T @ a.T)
        self.same(tessera.matmul(Foreign(a[1:, 1:]), b[1:]), a[1:, 1:] @ b[1:])
        with self.assertRaisesRegex(TypeError, "DLPack type"):
            tessera.matmul(Foreign(a.astype("int16")), b)

    def test_plan(self):
        a, b = numbers(5, 4), numbers(4, 6, seed=1)
        plan = tessera.Plan(a, b)
        self.same(plan(a, b), a @ b)
        self.same(plan(a + 1, b, alpha=2), 2 * ((a + 1) @ b))
        with self.assertRaisesRegex(ValueError, "not like those of the plan"):
            plan(a[:3], b)
        self.assertEqual(plan.explain().where, "CPU")
        with self.assertRaisesRegex(ValueError, "operands in the memory of a GPU alone"):
            tessera.Plan(a, b, kernel="simt_f32")

    def test_a_warm_up_is_for_arrays_on_a_gpu(self):
        with self.assertRaisesRegex(ValueError, "memory of a GPU alone"):
            tessera.warm_up([(numbers(5, 4), numbers(4, 6, seed=1))])

    def test_large(self):
        a, b = numbers(700, 600, dtype="float32"), numbers(600, 650, dtype="float32", seed=1)
        self.same(tessera.matmul(a, b), a @ b)

    def test_threads(self):
        a, b = numbers(50, 40), numbers(40, 60, seed=1)
        wrong = []

        def work():
            for _ in range(30):
                if not numpy.array_equal(tessera.matmul(a, b), a @ b):
                    wrong.append(1)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_fork(self):
        """A child multiplies on the CPU; where the parent used a GPU, it is refused in words, and never waits."""
        child = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60)
        self.assertEqual(child.returncode, 0, child.stdout + child.stderr)


def activated(name, x):
    x = numpy.asarray(x, "float64")
    return {"relu": lambda: numpy.maximum(x, 0),
            "gelu": lambda: x / 2 * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))),
            "gelu_erf": lambda: x / 2 * (1 + numpy.vectorize(math.erf)(x / math.sqrt(2))),
            "silu": lambda: x / (1 + numpy.exp(-x)),
            "identity": lambda: x, None: lambda: x}[name]()


class Epilogues(unittest.TestCase):
    def near(self, d, expected, tolerance=1e-5):
        self.assertEqual(d.shape, expected.shape)
        self.assertLessEqual(numpy.max(abs(d.astype("float64") - expected), initial=0),
                             tolerance * (1 + numpy.max(abs(expected), initial=0)))

    def test_every_one(self):
        m, k, n = 6, 5, 7
        for dtype, sums in (("float64", "float64"), ("float32", "float32"),
                            ("float16", "float32")):
            a, b, c = numbers(m, k, dtype=dtype), numbers(k, n, dtype=dtype), numbers(m, n, dtype=dtype)
            rows, columns = numbers(m, 1, seed=3), numbers(n, seed=4)
            for epilogue in ACTIVATIONS:
                for scale, bias in ((None, rows), (rows, columns), (columns, None),
                                    (columns.reshape(1, n), rows)):
                    with self.subTest(dtype=dtype, epilogue=epilogue):
                        d = tessera.gemm(
                            a, b, c, alpha=2, beta=-1, epilogue=epilogue,
                            scale=None if scale is None else scale.astype(sums),
                            bias=None if bias is None else bias.astype(dtype))
                        x = 2 * (a.astype("float64") @ b) - c
                        x = x * (1 if scale is None else scale) + (0 if bias is None else bias)
                        self.assertEqual(d.dtype, numpy.dtype(dtype))
                        self.near(d, activated(epilogue, x), 1e-3 if dtype == "float16" else 1e-5)

    def test_batches_views_and_orders(self):
        a, b = numbers(4, 3, 5, 6), numbers(6, 7, seed=1)
        bias = numbers(7, seed=2)
        self.near(tessera.gemm(a, b, bias=bias, epilogue="relu"), activated("relu", a @ b + bias))
        every_other = numbers(14, seed=2)[::2]
        self.near(tessera.gemm(a[0, 0], b, bias=every_other), a[0, 0] @ b + every_other)
        out = numpy.empty((7, 5)).T
        rows = numbers(5, 1, seed=5)
        self.near(tessera.gemm(a[0, 0], b, bias=rows, scale=bias, out=out), a[0, 0] @ b * bias + rows)
        self.near(tessera.gemm(a[0, 0], b[:, 0], bias=rows[:, 0], scale=numpy.ones(1)),
                  a[0, 0] @ b[:, 0] + rows[:, 0])

    def test_a_plan_has_its_epilogue(self):
        a, b, bias = numbers(4, 3), numbers(3, 5), numbers(5, seed=9)
        plan = tessera.Plan(a, b, bias=bias, epilogue="relu")
        self.near(plan(a, b, bias=bias), activated("relu", a @ b + bias))
        self.near(plan(a, b, bias=2 * bias), activated("relu", a @ b + 2 * bias))
        with self.assertRaises(ValueError):
            plan(a, b)
        with self.assertRaises(ValueError):
            plan(a, b, bias=numbers(4, 1))

    def test_refusals_name_shapes_and_types(self):
        a, b = numbers(4, 3), numbers(3, 5)
        for shape in ((4,), (5, 1), (1, 4), (), (1, 1, 5), (6,), (0,)):
            for name in ("bias", "scale"):
                with self.subTest(shape=shape), self.assertRaises(ValueError) as caught:
                    tessera.gemm(a, b, **{name: numbers(*shape)})
                self.assertIn(f"{name} has shape {shape}, but must be (5,)", str(caught.exception))
        for name, wanted in (("bias", "must have float64, as the result"),
                             ("scale", "must have float64, in which products are summed")):
            with self.assertRaises(TypeError) as caught:
                tessera.gemm(a, b, **{name: numbers(5, dtype="float32")})
            self.assertIn(wanted, str(caught.exception))
        with self.assertRaises(TypeError):
            tessera.gemm(a, b, bias=[1, 2, 3, 4, 5])
        with self.assertRaises(NotImplementedError) as caught:
            tessera.gemm(a.astype("int8"), b.astype("int8"), epilogue="relu")
        self.assertIn("epilogue (relu) of sums in s32", str(caught.exception))
        d = numpy.zeros((4, 5))
        with self.assertRaises(ValueError) as caught:
            tessera.gemm(a, b, bias=d[0], out=d)
        self.assertIn("D shares an element with the bias", str(caught.exception))


class Refusals(unittest.TestCase):
    def refuses(self, kind, words, call):
        with self.assertRaises(kind) as caught:
            call()
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_shapes(self):
        a, b = numbers(3, 4), numbers(5, 2)
        self.refuses(ValueError, ["(3, 4)", "(5, 2)", "4 columns"], lambda: tessera.matmul(a, b))
        self.refuses(ValueError, ["(2, 3, 4)", "(3, 4, 2)", "batch"],
                     lambda: tessera.matmul(numbers(2, 3, 4), numbers(3, 4, 2)))
        self.refuses(ValueError, ["out has shape (3, 3)", "(3, 2)"],
                     lambda: tessera.matmul(a, numbers(4, 2), out=numpy.empty((3, 3))))
        self.refuses(ValueError, ["c has shape (2,"],
                     lambda: tessera.gemm(a, numbers(4, 2), numbers(2, 2)))
        self.refuses(ValueError, ["a has shape ()"], lambda: tessera.matmul(numpy.array(1.0), b))
        shared = numpy.lib.stride_tricks.as_strided(numpy.empty(8), (3, 2), (16, 16))
        self.refuses(ValueError, ["out has strides (2, 2) in elements", "may share memory"],
                     lambda: tessera.matmul(a, numbers(4, 2), out=shared))

    def test_types(self):
        a = numbers(3, 3)
        self.refuses(TypeError, ["a is a list"], lambda: tessera.matmul([[1.0]], a))
        self.refuses(TypeError, ["b is a NoneType"], lambda: tessera.matmul(a, None))
        self.refuses(TypeError, ["complex128"], lambda: tessera.matmul(a.astype(complex), a))
        self.refuses(TypeError, ["a has elements of type int32, b of float64", "no common type"],
                     lambda: tessera.matmul(a.astype("int32"), a))
        self.refuses(ValueError, ["compute is 'f99'"],
                     lambda: tessera.matmul(a, a, compute="f99"))
        self.refuses(ValueError, ["epilogue is 'tanh'"],
                     lambda: tessera.gemm(a, a, epilogue="tanh"))
        self.refuses(ValueError, ["device is 'gpu7'"],
                     lambda: tessera.matmul(a, a, device="gpu7"))

    def test_values(self):
        a = numbers(3, 3)
        self.refuses(ValueError, ["beta is 2, but c is None"], lambda: tessera.gemm(a, a, beta=2))
        self.refuses(ValueError, ["alpha is 1e+300"],
                     lambda: tessera.gemm(a.astype("float32"), a.astype("float32"), alpha=1e300))
        self.refuses(ValueError, ["D shares an element with A", "(3, 3)"],
                     lambda: tessera.matmul(a, a, out=a))
        self.refuses(NotImplementedError, ["compute is f16"],
                     lambda: tessera.matmul(a, a, compute="f16"))

    def test_devices(self):
        self.assertIsInstance(tessera.devices(), list)
        self.assertRegex(tessera.version(), r"^\d+\.\d+\.\d+$")
        if not tessera.devices():
            self.refuses(tessera.Error, [], lambda: tessera.matmul(numbers(3, 3), numbers(3, 3), device="gpu"))
        self.assertIn("on the CPU", str(tessera.explain(numbers(3, 3), numbers(3, 3),
                                                        device="cpu")))

    def test_structs_are_those_of_the_header(self):
        """Field by field, in the header's order."""
        import re
        from tessera import _library
        text = (ROOT / "include/tessera/gemm.h").read_text()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        text = re.sub(r"#.*", "", text)
        for name, struct in (("place", _library.Place), ("problem", _library.Problem),
                             ("plan_options", _library.PlanOptions),
                             ("arguments", _library.Arguments), ("device", _library.DeviceInfo),
                             ("choice", _library.Choice),
                             ("explanation", _library.Explanation)):
            body = re.search(r"typedef struct tessera_%s \{(.*?)\} tessera_%s;" % (name, name),
                             text, flags=re.S).group(1)
            fields = []
            for declaration in body.split(";")[:-1]:
                kind, names = re.match(r"\s*(?:const\s+)?(\w+)(.*)", declaration, flags=re.S).groups()
                for star, field, length in re.findall(r"(\*?)\s*(\w+)(?:\[(\d+)\])?\s*(?:,|$)", names):
                    bytes_ = 8 if star else {"char": 1, "int32_t": 4}.get(kind, 8)
                    fields.append((field, bytes_ * int(length or 1)))
            self.assertEqual([(f, ctypes.sizeof(kind)) for f, kind in struct._fields_], fields, name)


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Torch(unittest.TestCase):
    def test_tensors(self):
        for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
            a = torch.randint(-3, 4, (4, 5, 6)).to(dtype)
            b = torch.randint(-3, 4, (6, 7)).to(dtype)
            d = tessera.matmul(a, b)
            self.assertEqual(d.dtype, dtype)
            self.assertTrue(torch.equal(d, a @ b))
            self.assertTrue(torch.equal(tessera.matmul(b.T, a.transpose(1, 2)),
                                        b.T @ a.transpose(1, 2)))

    def test_gradients(self):
        import tessera.torch_op  # noqa: F401
        op = torch.ops.tessera.matmul
        for left, right in (((3, 4), (4, 2)), ((5, 3, 4), (4, 2)), ((5, 1, 3, 4), (6, 4, 2))):
            a = torch.randn(left, dtype=torch.float64, requires_grad=True)
            b = torch.randn(right, dtype=torch.float64, requires_grad=True)
            self.assertTrue(torch.allclose(op(a, b), a @ b))
            self.assertTrue(torch.autograd.gradcheck(op, (a, b)))

    def test_the_operator_keeps_pytorchs_rules(self):
        import tessera.torch_op  # noqa: F401
        a = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
        b = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
        torch.library.opcheck(torch.ops.tessera.matmul.default, (a, b))

    def test_compiled(self):
        import tessera.torch_op  # noqa: F401

        @torch.compile(fullgraph=True, backend="aot_eager")
        def f(a, b):
            return torch.relu(torch.ops.tessera.matmul(a, b)) + 1
        a, b = torch.randn(3, 4), torch.randn(4, 2)
        self.assertTrue(torch.allclose(f(a, b), torch.relu(a @ b) + 1, atol=1e-6))


if __name__ == "__main__":
    unittest.main()
