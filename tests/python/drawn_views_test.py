#!/usr/bin/env python3
"""Products of views drawn by seed, against NumPy: steps of either sign, permuted axes, overlapping and broadcast
operands, `out` in the memory of an operand, producers of DLPack with an offset, mixed types, and sizes beyond the
blocks of the CPU's conversions. Numbers are integers, so that results are equal bit for bit.
drawn_views_test.py LIBRARY [--seed N] [--count N] [--device cpu|gpu]"""
import argparse
import os
import pathlib
import sys
import unittest

parser = argparse.ArgumentParser()
parser.add_argument("library")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--count", type=int, default=1500)
parser.add_argument("--device", help="cpu or gpu; else the faster one")
options = parser.parse_args()
del sys.argv[1:]
os.environ["TESSERA_LIBRARY"] = os.path.abspath(options.library)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
sys.dont_write_bytecode = True

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(0)
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None
from dlpack_producer import Producer  # noqa: E402

import tessera  # noqa: E402

TYPES = ["float64", "float32", "float16", "int8"] + (["bfloat16"] if ml_dtypes else [])
SMALL, LARGE = (1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33), (511, 512, 513, 600, 1025)


def numpy_type(name):
    return numpy.dtype(getattr(ml_dtypes, name) if name == "bfloat16" else name)


class Draw:
    def __init__(self, seed):
        self.random = numpy.random.default_rng([options.seed, seed])

    def one_of(self, *values):
        return values[self.random.integers(len(values))]

    def chance(self, share):
        return self.random.random() < share

    def numbers(self, shape, dtype):
        return self.random.integers(-2, 3, shape).astype(numpy_type(dtype))

    def view(self, shape, dtype, may_share):
        """An array of this shape, of one of many layouts; its elements share memory if they may, now and then."""
        if may_share and shape and self.chance(0.15):
            strides = [int(self.random.integers(0, 4)) for _ in shape]
            memory = self.numbers(sum(s * max(n - 1, 0) for s, n in zip(strides, shape)) + 1, dtype)
            size = memory.itemsize
            return numpy.lib.stride_tricks.as_strided(memory, shape, [s * size for s in strides])
        axes = list(self.random.permutation(len(shape))) if self.chance(0.5) else list(range(len(shape)))
        steps = [int(self.one_of(1, 1, 1, 2, 3, -1, -2)) if self.chance(0.5) else 1 for _ in shape]
        before = [int(self.random.integers(0, 3)) if self.chance(0.4) else 0 for _ in shape]
        lengths = [at + max(n, 1) * abs(step) + int(self.chance(0.3)) for n, step, at in zip(shape, steps, before)]
        memory = self.numbers([lengths[axis] for axis in axes], dtype)
        x = memory.transpose(numpy.argsort(axes)) if shape else memory
        for axis, (n, step, at) in enumerate(zip(shape, steps, before)):
            index = at + numpy.arange(n) * abs(step)
            ends = slice(at, at + n * abs(step), step) if step > 0 else slice(int(index[-1]) if n else 0, (at - 1 if at else None) if n else 0, step)
            x = x[(slice(None),) * axis + (ends,)]
        return x

    def passed(self, x):
        """The array itself, or behind DLPack, at an offset or not."""
        if self.chance(0.75):
            return x
        is_c_order = all(n == 1 or s == e for n, s, e in zip(x.shape, x.strides, numpy.empty(x.shape, x.dtype).strides))
        return Producer(x, int(self.one_of(0, 8, 24, 1000)), self.one_of(None, 0), not (is_c_order and self.chance(0.5)))


class Problem:
    def __init__(self, seed):
        self.draw = draw = Draw(seed)
        is_large = draw.chance(0.04)
        sizes = [int(draw.one_of(*(LARGE if is_large and draw.chance(0.6) else SMALL))) for _ in range(3)]
        if draw.chance(0.04):
            sizes[draw.random.integers(3)] = 0
        self.m, self.n, self.k = sizes
        batch = [] if is_large else [int(x) for x in draw.random.integers(1, 4, draw.one_of(0, 0, 0, 1, 2))]
        left = batch[draw.one_of(0, 0, len(batch)):]
        right = batch[draw.one_of(0, 0, len(batch)):] if len(left) == len(batch) else batch
        left, right = ([1 if draw.chance(0.2) else x for x in part] for part in (left, right))
        shape_a, shape_b = left + [self.m, self.k], right + [self.k, self.n]
        if draw.chance(0.1):
            shape_a = [self.k]
        if draw.chance(0.1):
            shape_b = [self.k]
        dtype = draw.one_of(*TYPES)
        other = draw.one_of(*TYPES) if draw.chance(0.3) else dtype
        if {dtype, other} == {"float16", "bfloat16"}:
            other = dtype
        self.a, self.b = draw.view(shape_a, dtype, True), draw.view(shape_b, other, True)
        self.product = self.a.astype("f8") @ self.b.astype("f8")
        same = numpy_type(dtype) == numpy_type(other)
        self.dtype = numpy_type(dtype) if same else numpy.result_type(numpy_type(dtype), numpy_type(other))
        self.sums = numpy.dtype("f8" if self.dtype == "f8" else "f4")
        if dtype == other == "int8":
            self.dtype = numpy.dtype("int32")


def rounded(x, dtype):
    return numpy.asarray(x).astype("f4" if dtype.itemsize < 4 else dtype).astype(dtype)


class Drawn(unittest.TestCase):
    def check(self, call, arguments, expected, dtype, out, inputs):
        """A result equal to NumPy's and in its place; or a refusal that is true, and nothing has changed."""
        before = None if out is None else out.copy()
        shares = out is not None and any(numpy.shares_memory(out, x) for x in inputs)
        try:
            d = call(**arguments, device=options.device)
        except ValueError as refused:
            self.assertTrue(shares or "out may share memory with" in str(refused), refused)
            self.assertTrue(numpy.array_equal(out, before))
            return "refused"
        if out is not None:
            self.assertIs(d, arguments["out"])
            d = out
        self.assertEqual((numpy.asarray(d).dtype, numpy.shape(d)), (dtype, numpy.shape(expected)))
        self.assertTrue(numpy.array_equal(numpy.asarray(d).astype("f8"), rounded(expected, dtype).astype("f8")))
        return "right"

    def out_for(self, problem):
        draw, shape = problem.draw, list(numpy.shape(problem.product))
        if draw.chance(0.5):
            return None
        if draw.chance(0.3):  # in the memory of an operand
            source = draw.one_of(problem.a, problem.b)
            if source.dtype == problem.dtype and source.base is not None:
                memory = source
                while memory.base is not None and isinstance(memory.base, numpy.ndarray):
                    memory = memory.base
                flat, size = memory.reshape(-1), int(numpy.prod(shape))
                if memory.flags.c_contiguous and memory.flags.writeable and flat.size >= size:
                    at = int(draw.random.integers(0, flat.size - size + 1))
                    return flat[at:at + size].reshape(shape)
        return draw.view(shape, problem.dtype.name, False)

    def test_matmul(self):
        seen = {"refused": 0, "right": 0}
        for seed in range(options.count):
            with self.subTest(seed=seed):
                problem = Problem(seed)
                out = self.out_for(problem)
                arguments = {"a": problem.draw.passed(problem.a), "b": problem.draw.passed(problem.b)}
                if out is not None:
                    arguments["out"] = problem.draw.passed(out)
                seen[self.check(tessera.matmul, arguments, problem.product, problem.dtype, out, (problem.a, problem.b))] += 1
        self.assertGreater(seen["refused"], options.count // 200)
        self.assertGreater(seen["right"], options.count // 2)

    def test_gemm(self):
        for seed in range(options.count, 2 * options.count):
            with self.subTest(seed=seed):
                problem = Problem(seed)
                if problem.dtype == "int32":
                    continue
                draw, shape = problem.draw, list(numpy.shape(problem.product))
                c = out = None
                expected = problem.product * (alpha := int(draw.one_of(1, 2, -1)))
                arguments = {"a": draw.passed(problem.a), "b": draw.passed(problem.b), "alpha": alpha}
                if draw.chance(0.6):
                    part = [1 if draw.chance(0.2) else n for n in shape][draw.one_of(0, 0, len(shape) // 2):]
                    c = draw.view(part, problem.dtype.name, draw.chance(0.5))
                    arguments.update(c=draw.passed(c), beta=(beta := int(draw.one_of(1, -1, 3))))
                    expected = expected + beta * c.astype("f8")
                if draw.chance(0.5):
                    in_place = c is not None and list(c.shape) == shape and draw.chance(0.5) and not numpy.shares_memory(c, problem.a)
                    is_apart = in_place and c.flags.writeable and len(set(_addresses(c))) == c.size
                    out = c if is_apart else draw.view(shape, problem.dtype.name, False)
                    arguments["out"] = arguments["c"] if out is c else draw.passed(out)
                expected = self.with_vectors(problem, arguments, expected)
                self.check(tessera.gemm, arguments, expected, problem.dtype, out,
                           (problem.a, problem.b) + (() if c is None or c is out else (c,)))

    def with_vectors(self, problem, arguments, expected):
        draw, rows = problem.draw, problem.a.ndim > 1
        columns = problem.b.ndim > 1
        for name, dtype in (("scale", problem.sums), ("bias", problem.dtype)):
            if not draw.chance(0.3):
                continue
            shapes = {(True, True): [(problem.n,), (1, problem.n), (problem.m, 1)], (True, False): [(problem.m,), (1,)],
                      (False, True): [(problem.n,), (1,)], (False, False): [()]}[rows, columns]
            vector = draw.view(list(draw.one_of(*shapes)), dtype.name, True)
            arguments[name] = draw.passed(vector)
            wide = vector.astype("f8")
            expected = expected * wide if name == "scale" else expected + wide
        if draw.chance(0.3):
            arguments["epilogue"] = "relu"
            expected = numpy.maximum(expected, 0)
        return expected


def _addresses(x):
    places = numpy.zeros(x.shape, "i8")
    for axis, (n, step) in enumerate(zip(x.shape, x.strides)):
        places += (numpy.arange(n) * step).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return places.reshape(-1).tolist()


class Producers(unittest.TestCase):
    def test_flags(self):
        a = numpy.arange(9.0).reshape(3, 3)
        for offset in (0, 16, 4096):
            self.assertTrue(numpy.array_equal(tessera.matmul(Producer(a, offset), Producer(a.T, offset, 0)), a @ a.T))
            for flags, words in ((1, "out is read-only"), (2, "out is a copy")):
                self.assertTrue(numpy.array_equal(tessera.matmul(Producer(a, offset, flags), a), a @ a))
                out = numpy.full((3, 3), 7.0)
                with self.assertRaisesRegex(ValueError, words):
                    tessera.matmul(a, a, out=Producer(out, offset, flags))
                self.assertTrue((out == 7).all())


if __name__ == "__main__":
    unittest.main()
