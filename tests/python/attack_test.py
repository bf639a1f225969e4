#!/usr/bin/env python3
"""Whatever a caller may pass to the Python package by mistake: the exception that NumPy's users expect, with shapes,
and outputs as they were. On the CPU; what only a GPU refuses, on the stand-in driver.
attack_test.py LIBRARY FAKE_DRIVER_FOLDER"""
import os
import pathlib
import subprocess
import sys
import unittest

LIBRARY, FOLDER = (str(pathlib.Path(one).resolve()) for one in sys.argv[1:3])
del sys.argv[1:3]
ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["TESSERA_LIBRARY"] = LIBRARY
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(0)
import tessera  # noqa: E402


def numbers(*shape, dtype="float64"):
    return numpy.arange(numpy.prod(shape), dtype=dtype).reshape(shape)


class Attack(unittest.TestCase):
    def refuses(self, kind, words, call, untouched=None):
        before = None if untouched is None else untouched.copy()
        with self.assertRaises(kind) as caught:
            call()
        for word in words:
            self.assertIn(word, str(caught.exception))
        if untouched is not None:
            self.assertTrue(numpy.array_equal(untouched, before))

    def test_every_operand_that_is_no_array(self):
        a = numbers(3, 3)
        for none in (None, 1, 1.5, "text", b"bytes", [[1.0]], (1,), {}, object, object(), lambda: 0, memoryview(b"1234")):
            kind = type(none).__name__
            self.refuses(TypeError, ["a is a " + kind], lambda: tessera.matmul(none, a))
            self.refuses(TypeError, ["b is a " + kind], lambda: tessera.matmul(a, none))
            if none is not None:
                self.refuses(TypeError, ["c is a " + kind], lambda: tessera.gemm(a, a, none))
                self.refuses(TypeError, ["out is a " + kind], lambda: tessera.matmul(a, a, out=none))
                self.refuses(TypeError, ["b is a " + kind], lambda: tessera.Plan(a, none))
            self.refuses(TypeError, ["a is a " + kind], lambda: tessera.explain(none, a))

    def test_every_type_that_has_no_product(self):
        a = numbers(3, 3)
        for dtype in ("bool", "int16", "int64", "uint8", "complex64", "longdouble", "datetime64[s]", "S3", "U2", "O", "V4"):
            x = numpy.zeros((3, 3), dtype)
            self.refuses(TypeError, ["a has elements of type"], lambda: tessera.matmul(x, a))
            self.refuses(TypeError, ["b has elements of type"], lambda: tessera.matmul(a, x))
            self.refuses(TypeError, ["out has elements of type"], lambda: tessera.matmul(a, a, out=x))
        swapped = a.astype(a.dtype.newbyteorder())
        self.refuses(TypeError, ["a has elements of type", "byte order"], lambda: tessera.matmul(swapped, a))
        self.refuses(TypeError, ["out has elements of type"], lambda: tessera.matmul(a, a, out=swapped), swapped)
        masked = numpy.ma.masked_array(a, a > 3)
        self.refuses(TypeError, ["b is a MaskedArray"], lambda: tessera.matmul(a, masked))
        whole = a.astype("int32")
        for other in ("int8", "float16", "float32", "float64"):
            self.refuses(TypeError, ["a has elements of type int32", other],
                         lambda: tessera.matmul(whole, a.astype(other)))

    def test_every_shape_that_does_not_fit(self):
        a, b = numbers(3, 4), numbers(4, 2)
        out = numbers(3, 2)
        for left, right in (((3, 4), (3, 4)), ((4,), (3,)), ((3, 4), (3,)), ((5,), (4, 2)), ((2, 3, 4), (3, 4, 2)),
                            ((3, 0), (1, 2)), ((0, 3), (4, 0))):
            self.refuses(ValueError, [str(left), str(right)], lambda: tessera.matmul(numbers(*left), numbers(*right)))
            self.refuses(ValueError, [str(left), str(right)], lambda: tessera.Plan(numbers(*left), numbers(*right)))
            self.refuses(ValueError, [str(left), str(right)], lambda: tessera.explain(numbers(*left), numbers(*right)))
        self.refuses(ValueError, ["a has shape ()"], lambda: tessera.matmul(numpy.array(1.0), b))
        self.refuses(ValueError, ["b has shape ()"], lambda: tessera.matmul(a, numpy.array(1.0)))
        for shape in ((2, 3), (3, 3), (3, 2, 1), (1, 3, 2), (6,), (), (0, 2)):
            wrong = numbers(*shape)
            self.refuses(ValueError, [f"out has shape {shape}", "(3, 2)"], lambda: tessera.matmul(a, b, out=wrong), wrong)
            if shape != ():
                self.refuses(ValueError, [f"c has shape {shape}", "(3, 2)"], lambda: tessera.gemm(a, b, wrong, out=out), out)

    def test_every_number_that_is_none(self):
        a = numbers(3, 3)
        for none in ("x", None, [1], a, 1j):
            self.refuses((TypeError, ValueError), [], lambda: tessera.gemm(a, a, alpha=none))
            if none is not None:
                self.refuses((TypeError, ValueError), [], lambda: tessera.gemm(a, a, a, beta=none))
        low = a.astype("float32")
        out = numpy.full((3, 3), 7, "float32")
        self.refuses(ValueError, ["alpha is 1e+300", "(3, 3)"], lambda: tessera.gemm(low, low, alpha=1e300, out=out), out)
        self.refuses(ValueError, ["beta is -1e+300", "(3, 3)"], lambda: tessera.gemm(low, low, low, beta=-1e300, out=out), out)
        self.refuses(ValueError, ["beta is 2"], lambda: tessera.gemm(a, a, beta=2))
        bytes_ = a.astype("int8")
        self.refuses(ValueError, ["alpha is 0.5", "whole number"], lambda: tessera.gemm(bytes_, bytes_, alpha=0.5))
        for word in ("f99", "", 7):
            self.refuses(ValueError, [f"compute is {word!r}"], lambda: tessera.matmul(a, a, compute=word))
            self.refuses(ValueError, [f"epilogue is {word!r}"], lambda: tessera.gemm(a, a, epilogue=word))
            self.refuses(ValueError, [f"device is {word!r}"], lambda: tessera.matmul(a, a, device=word))

    def test_outputs_that_cannot_be_written(self):
        a = numbers(3, 3)
        still = numbers(3, 3)
        still.flags.writeable = False
        self.refuses(ValueError, ["out is read-only", "(3, 3)"], lambda: tessera.matmul(a, a, out=still), still)
        shared = numpy.broadcast_to(numpy.zeros(3), (3, 3))
        self.refuses(ValueError, ["out"], lambda: tessera.matmul(a, a, out=shared))
        self.refuses(ValueError, ["out has strides (2, 1)", "may share memory"], lambda: tessera.matmul(
            a, a, out=numpy.lib.stride_tricks.as_strided(numpy.zeros(9), (3, 3), (16, 8))))
        self.refuses(ValueError, ["shares an element with A", "(3, 3)"], lambda: tessera.matmul(a, a, out=a), a)
        rows = numbers(5, 3)
        self.refuses(ValueError, ["shares an element"], lambda: tessera.matmul(rows[:3], a, out=rows[2:]), rows)
        self.refuses(ValueError, ["shares an element with C"], lambda: tessera.gemm(a, a, rows[:3], out=rows[1:4]), rows)

    def test_products_of_a_batch_must_not_write_what_others_read(self):
        both = numbers(2, 2, 3, 3)
        swapped = both.transpose(1, 0, 2, 3)  # product (0, 1) would write what product (1, 0) reads
        self.refuses(ValueError, ["out may share memory with a", "(2, 2, 3, 3)"],
                     lambda: tessera.matmul(both, numbers(2, 2, 3, 3), out=swapped), both)
        self.refuses(ValueError, ["out may share memory with a,"], lambda: tessera.matmul(both, both, out=swapped), both)
        apart = numbers(2, 2, 3, 3)
        self.refuses(ValueError, ["out may share memory with c", "(2, 2, 3, 3)"],
                     lambda: tessera.gemm(apart, apart, both, out=swapped), both)
        expected = both @ both + swapped
        c = swapped.copy().transpose(1, 0, 2, 3).transpose(1, 0, 2, 3)
        self.assertTrue(numpy.array_equal(tessera.gemm(both, both, c, out=c), expected))

    def test_odd_inputs_are_copied(self):
        a = numbers(3, 3)
        packed = numpy.zeros((3, 3), [("byte", "i1"), ("value", "f8")])
        packed["value"] = a
        raw = numpy.zeros(80, "i1")[1:73].view("f8").reshape(3, 3)
        raw[:] = a
        for odd in (packed["value"], raw):
            self.assertTrue(numpy.array_equal(tessera.matmul(odd, odd), a @ a))

    def test_memory_that_nobody_has(self):
        one = numpy.ones((1, 1), "float32")
        tall, wide = numpy.broadcast_to(one, (1 << 20, 1)), numpy.broadcast_to(one, (1, 1 << 20))
        self.refuses(MemoryError, ["(1048576, 1048576)"], lambda: tessera.matmul(tall, wide))
        self.refuses(MemoryError, ["(1048576, 1048576)"],
                     lambda: tessera.matmul(numpy.broadcast_to(one, (1 << 20, 1 << 20)), tall))

    def test_plans(self):
        a = numbers(3, 3)
        plan = tessera.Plan(a, a)
        out = numpy.full((3, 3), 7.0)
        for x, y in ((numbers(4, 3), a), (a, numbers(3, 4)), (a.astype("float32"), a.astype("float32")), (a[:, :2], a[:2])):
            self.refuses(ValueError, ["plan", str(x.shape), str(y.shape)], lambda: plan(x, y))
        self.refuses(ValueError, ["shares an element"], lambda: plan(a, a, out=a), a)
        self.refuses(ValueError, ["out has shape"], lambda: plan(a, a, out=numbers(2, 3)))
        self.refuses(TypeError, ["a is a NoneType"], lambda: plan(None, a))
        self.refuses(ValueError, ["one product", "(2, 3, 3)"], lambda: tessera.Plan(numbers(2, 3, 3), a))
        self.assertIs(plan(a, a, out=out), out)
        self.assertTrue(numpy.array_equal(out, a @ a))


# A GPU with little memory, all of which is taken.
GPU = f"""
import sys
sys.path.insert(0, {str(ROOT / 'python')!r})
import numpy, tessera
a = numpy.ones((300, 200), "float32")
for kind, words, call in (
        (MemoryError, ["not enough device memory", "(300, 200)", "(200, 400)"], lambda: tessera.matmul(a, numpy.ones((200, 400), "float32"), device="gpu")),
        (NotImplementedError, ["larger than device memory", "(300, 200)"], lambda: tessera.matmul(a, numpy.ones((200, 4000), "float32"), device="gpu"))):
    try:
        call()
        sys.exit("nothing was refused")
    except kind as refused:
        missing = [word for word in words if word not in str(refused)]
        if missing:
            sys.exit(f"{{missing}} are not in: {{refused}}")
"""


class OnAGpu(unittest.TestCase):
    def test_memory_of_the_gpu(self):
        place = dict(os.environ, LD_LIBRARY_PATH=FOLDER, FAKE_CUDA_ACCEPT="1", FAKE_CUDA_MEMORY="1300000", FAKE_CUDA_FAIL="cuMemAlloc_v2=2")
        said = subprocess.run([sys.executable, "-c", GPU], env=place, capture_output=True, text=True, timeout=60)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)


if __name__ == "__main__":
    unittest.main()
