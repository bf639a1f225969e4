#!/usr/bin/env python3
"""Where the Python package follows NumPy to the letter: subclasses, scalars, promotion, any `out`, epilogues of
vectors, copies of plans, read-only arrays. On the CPU. numpy_rules_test.py LIBRARY"""
import copy
import gc
import os
import pathlib
import pickle
import sys
import types
import unittest
import unittest.mock

if len(sys.argv) > 1 and sys.argv[1].endswith((".so", ".so.0")):
    os.environ["TESSERA_LIBRARY"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
sys.dont_write_bytecode = True

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(0)
import tessera  # noqa: E402
from tessera._library import ACTIVATIONS  # noqa: E402
from tessera._torch import _activated  # noqa: E402


def numbers(*shape, dtype="float64", seed=0):
    return numpy.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


class Foreign:
    """An array of a library that only speaks DLPack."""

    def __init__(self, x, has_versions=True):
        self.x, self.has_versions = x, has_versions

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, **options):
        if not self.has_versions and "max_version" in options:
            raise TypeError("max_version is not known")
        return self.x.__dlpack__(**options)


class Activations(unittest.TestCase):
    def test_bfloat16_by_float32(self):
        ml_dtypes = sys.modules.get("ml_dtypes") or self.skipTest("ml_dtypes is not imported")
        a, b = numbers(9, 7).astype(ml_dtypes.bfloat16), numbers(7, 5, seed=2).astype("float32")
        for x, y in ((a, b), (b.T, a.T)):
            d = tessera.matmul(x, y)
            self.assertTrue(d.dtype == "float32" and numpy.array_equal(d, x.astype("float32") @ y.astype("float32")))

    def test_every_one_has_its_name_in_pytorch(self):
        """PyTorch's gradients take it from torch.nn.functional, which need not be installed here."""
        taken = []
        functional = types.SimpleNamespace(**{
            name: lambda x, name=name, **how: taken.append((name, how)) or x for name in ("relu", "gelu", "silu")})
        stand_in = types.SimpleNamespace(nn=types.SimpleNamespace(functional=functional))
        with unittest.mock.patch.dict(sys.modules, torch=stand_in):
            for epilogue in ACTIVATIONS:
                self.assertEqual(_activated(epilogue, 7), 7)
        self.assertEqual(taken, [("relu", {}), ("gelu", {"approximate": "tanh"}), ("gelu", {}), ("silu", {})])


class Subclasses(unittest.TestCase):
    def test_every_masked_array_is_refused(self):
        class Below(numpy.ma.MaskedArray):
            pass

        class FurtherBelow(Below):
            pass

        a = numbers(3, 3)
        for kind in (numpy.ma.MaskedArray, Below, FurtherBelow):
            masked = kind(a, mask=a > 2)
            for name, call in (("a", lambda: tessera.matmul(masked, a)), ("b", lambda: tessera.matmul(a, masked)),
                               ("c", lambda: tessera.gemm(a, a, masked)), ("out", lambda: tessera.matmul(a, a, out=masked)),
                               ("bias", lambda: tessera.gemm(a, a, bias=masked[0])),
                               ("a", lambda: tessera.Plan(masked, a))):
                with self.assertRaisesRegex(TypeError, f"{name} is a {kind.__name__}.*mask would be lost"):
                    call()

    def test_one_that_multiplies_in_its_own_way_is_refused(self):
        class Metres(numpy.ndarray):
            def __array_ufunc__(self, *inputs, **options):
                return NotImplemented

        a = numbers(3, 3)
        with self.assertRaisesRegex(TypeError, "b is a Metres, which computes products in its own way"):
            tessera.matmul(a, a.view(Metres))

    def test_others_are_arrays(self):
        a = numbers(3, 3)
        for kind in (numpy.matrix, numpy.recarray):
            self.assertTrue(numpy.array_equal(tessera.matmul(a.view(kind), a), a @ a))


class Scalars(unittest.TestCase):
    def test_two_vectors_give_a_number(self):
        for dtype in ("float16", "float32", "float64"):
            a, b = numbers(5, dtype=dtype), numbers(5, dtype=dtype, seed=1)
            for d, expected in ((tessera.matmul(a, b), a @ b), (tessera.gemm(a, b, alpha=2), 2 * (a @ b)),
                                (tessera.Plan(a, b)(a, b), a @ b)):
                self.assertIs(type(d), numpy.dtype(dtype).type)
                self.assertEqual(d, expected)
        batch = tessera.matmul(numbers(2, 3, 5), numbers(5))
        self.assertIs(type(batch), numpy.ndarray)
        self.assertEqual(batch.shape, (2, 3))

    def test_out_is_given_back_itself(self):
        a, b = numbers(3, 5), numbers(5, 4)
        for x, y in ((a, b), (a[0], b), (a, b[:, 0]), (a[0], b[:, 0])):
            out = numpy.full(numpy.shape(x @ y), 7.0)
            self.assertIs(tessera.matmul(x, y, out=out), out)
            self.assertTrue(numpy.array_equal(out, x @ y))


class Promotion(unittest.TestCase):
    def test_two_types_are_promoted_as_numpy_does(self):
        types = [numpy.dtype(x) for x in ("int8", "float16", "float32", "float64")]
        try:
            import ml_dtypes
            types.append(numpy.dtype(ml_dtypes.bfloat16))
        except ImportError:
            pass
        for left in types:
            for right in types:
                if left == right:
                    continue
                with self.subTest(left=left, right=right):
                    a, b = numbers(4, 5).astype(left), numbers(5, 3, seed=1).astype(right)
                    try:
                        numpy.result_type(left, right)
                    except TypeError:
                        self.assertRaisesRegex(TypeError, "no common type", tessera.matmul, a, b)
                        continue
                    for x, y in ((a, b), (a[::-1, ::2], b[::-2]), (a[0], b), (a, b[:, 1])):
                        d = tessera.matmul(x, y)
                        self.assertEqual(d.dtype, numpy.result_type(left, right))
                        self.assertTrue(numpy.array_equal(d.astype("f8"), x.astype("f8") @ y.astype("f8")))

    def test_no_digit_is_lost_on_the_way(self):
        a, b = numpy.full((1, 1), 2049, "float32"), numpy.ones((1, 1), "float16")
        self.assertEqual(tessera.matmul(a, b)[0, 0], 2049)
        self.assertEqual(tessera.matmul(b, a)[0, 0], 2049)
        self.assertEqual(tessera.gemm(b, b, a)[0, 0], 2050)
        self.assertEqual(tessera.Plan(a, b)(a, b)[0, 0], 2049)
        big = numpy.full((1, 1), 2.0**24 + 1)
        self.assertEqual(tessera.matmul(b, big)[0, 0], 2.0**24 + 1)
        self.assertEqual(tessera.matmul(Foreign(b), big)[0, 0], 2.0**24 + 1)


class AnyOut(unittest.TestCase):
    def test_strides_of_every_kind(self):
        for m, n in ((4, 6), (1, 6), (4, 1), (1, 1)):
            a, b = numbers(m, 5), numbers(5, n, seed=2)
            room = numpy.zeros((3 * m, 3 * n))
            for rows in (slice(0, m), slice(0, 2 * m, 2), slice(m - 1, None, -1), slice(2 * m, m, -1), slice(3 * m - 1, None, -3)):
                for columns in (slice(0, n), slice(1, 2 * n, 2), slice(n - 1, None, -1), slice(3 * n - 1, None, -3)):
                    for view in (room, numpy.zeros((3 * n, 3 * m)).T):
                        view[:] = 7
                        out = view[rows, columns]
                        self.assertEqual(out.shape, (m, n))
                        self.assertIs(tessera.matmul(a, b, out=out), out)
                        self.assertTrue(numpy.array_equal(out, a @ b), out.strides)
                        out[:] = 7
                        self.assertTrue((view == 7).all(), "elements around out were written to")

    def test_vectors_of_every_step(self):
        a, b = numbers(3, 5), numbers(5, 4)
        for step in (1, 2, -1, -3):
            room = numpy.full(12, 7.0)
            for x, y in ((a[0], b), (a, b[:, 0])):
                n = len(x @ y)
                out = room[:n * abs(step):step] if step > 0 else room[n * -step - 1::step]
                self.assertIs(tessera.matmul(x, y, out=out), out)
                self.assertTrue(numpy.array_equal(out, x @ y))

    def test_records_and_odd_addresses(self):
        a = numbers(3, 3)
        packed = numpy.zeros((3, 3), [("byte", "i1"), ("value", "f8")])
        raw = numpy.zeros(80, "i1")[1:73].view("f8").reshape(3, 3)
        for out in (packed["value"], raw):
            self.assertIs(tessera.matmul(a, a, out=out), out)
            self.assertTrue(numpy.array_equal(out, a @ a))
        self.assertTrue((packed["byte"] == 0).all())

    def test_c_in_another_order(self):
        a, b, c = numbers(3, 4), numbers(4, 5), numbers(3, 5, seed=4)
        for given in (c, numpy.asfortranarray(c), c[::-1], numbers(6, 10)[::2, ::2]):
            for out in (numpy.empty((3, 5)), numpy.empty((5, 3)).T, numpy.empty((6, 10))[::2, ::2]):
                self.assertIs(tessera.gemm(a, b, given, out=out), out)
                self.assertTrue(numpy.array_equal(out, a @ b + given))
        odd = numbers(6, 10)[::2, ::2]
        expected = a @ b - odd
        tessera.gemm(a, b, odd, beta=-1, out=odd)
        self.assertTrue(numpy.array_equal(odd, expected))

    def test_read_only_arrays(self):
        a = numbers(3, 3)
        still = numbers(3, 3)
        still.flags.writeable = False
        self.assertTrue(numpy.array_equal(tessera.matmul(still, still), still @ still))
        self.assertTrue(numpy.array_equal(tessera.matmul(Foreign(still), a), still @ a))
        before = still.copy()
        for out in (still, Foreign(still), still[::2, ::2]):
            x = a[:2] if out.__class__ is numpy.ndarray and out.shape == (2, 2) else a
            with self.assertRaisesRegex(ValueError, "out is read-only"):
                tessera.matmul(x, x.T if x is not a else a, out=out)
        self.assertTrue(numpy.array_equal(still, before))

    def test_out_through_dlpack(self):
        a, b = numbers(3, 4), numbers(4, 5)
        for has_versions in (True, False):
            for view in (numpy.zeros((3, 5)), numpy.zeros((5, 3)).T, numpy.zeros((9, 9))[2:8:2, 1:6], numpy.zeros((6, 10))[::2, ::2]):
                out = Foreign(view, has_versions)
                self.assertIs(tessera.matmul(a, b, out=out), out)
                self.assertTrue(numpy.array_equal(view, a @ b))


class OneCall(unittest.TestCase):
    def setUp(self):
        from tessera import _library
        self.calls, plain = [], _library.lib.tessera_gemm_with

        def watched(handle, problem, options, arguments):
            self.calls.append((problem.batch_count, arguments.a, arguments.b, arguments.d))
            return plain(handle, problem, options, arguments)
        _library.lib.tessera_gemm_with = watched
        self.addCleanup(setattr, _library.lib, "tessera_gemm_with", plain)

    def test_batches_whose_strides_continue(self):
        b = numbers(5, 6)
        for a, count in ((numbers(2, 3, 4, 5), 6), (numbers(2, 3, 4, 5)[:, :, ::-1][:, :, ::-1], 6), (numbers(7, 4, 5)[::2], 4),
                         (numpy.broadcast_to(numbers(4, 5), (3, 4, 5)), 3)):
            self.calls.clear()
            self.assertTrue(numpy.array_equal(tessera.matmul(a, b), a @ b))
            self.assertEqual([one[0] for one in self.calls], [count])

    def test_nothing_is_copied_that_can_be_read(self):
        a, b, out = numbers(9, 12), numbers(12, 9), numpy.empty((9, 9))
        for x, y, z in ((a, b, out), (a.T[:9], b.T[:, :7], out[:, :7]), (a[::2, 1:], b[1:, 2:], out[:5, :7]),
                        (numpy.broadcast_to(a, (3, 9, 12)), b, numpy.empty((3, 9, 9))), (a[3:4][::-1], b[:, 4:5], out[2:3, 5:6]),
                        (a[:, 3][::2], b[:5], out[4]), (a, b[:, 3], out[:, 7]),
                        (a[:, ::2][:, 2:3], b[3:4], out), (a, b[:, ::2][:, 2:3], out[:, ::2][:, 3:4])):
            self.calls.clear()
            tessera.matmul(x, y, out=z)
            self.assertEqual([one[1:] for one in self.calls], [tuple(w.__array_interface__["data"][0] for w in (x, y, z))])


class VectorsOfTheEpilogue(unittest.TestCase):
    def same(self, d, expected):
        self.assertEqual(numpy.shape(d), numpy.shape(expected))
        self.assertTrue(numpy.array_equal(d, expected))

    def test_shapes_are_those_that_the_caller_sees(self):
        a, b = numbers(3, 4), numbers(4, 5)
        per_row, per_column, one = numbers(3, seed=3), numbers(5, seed=4), numbers(1, seed=5)
        for name, apply in (("bias", numpy.add), ("scale", numpy.multiply)):
            for x, y, vector in ((a, b[:, 0], per_row), (a[0], b, per_column), (a, b[:, 0], one), (a[0], b, one),
                                 (a[0], b[:, 0], numpy.array(3.0)), (a, b, per_column), (a, b, per_row[:, None]),
                                 (a, b[:, 0], numbers(6, seed=8)[::2]), (a, b[:, 0], per_row[::-1])):
                with self.subTest(name=name, a=x.shape, b=y.shape, vector=vector.shape):
                    self.same(tessera.gemm(x, y, **{name: vector}), apply(x @ y, vector))
        batch = numbers(2, 3, 4)
        self.same(tessera.gemm(batch, b[:, 0], bias=per_row), batch @ b[:, 0] + per_row)

    def test_refusals_name_them(self):
        a, b = numbers(3, 4), numbers(4, 5)
        for x, y, wrong, rule in ((a, b[:, 0], (3, 1), r"must be \(3,\), a value for each element"),
                                  (a, b[:, 0], (5,), r"must be \(3,\), a value for each element"),
                                  (a[0], b, (1, 5), r"must be \(5,\), a value for each element"),
                                  (a[0], b[:, 0], (1,), r"must be \(\), since the result is one number"),
                                  (a, b, (3,), r"must be \(5,\), a value for each column of the result, or \(3, 1\)")):
            for name in ("bias", "scale"):
                with self.assertRaisesRegex(ValueError, rf"{name} has shape .*{rule}"):
                    tessera.gemm(x, y, **{name: numbers(*wrong)})
        with self.assertRaisesRegex(ValueError, r"c has shape \(1, 5\).*it must be \(5,\)"):
            tessera.gemm(a[0], b, numbers(1, 5))


class Plans(unittest.TestCase):
    def test_a_copy_survives_the_other(self):
        a = numbers(3, 3)
        for copied in (copy.copy, copy.deepcopy):
            plan = tessera.Plan(a, a)
            other = copied(plan)
            del plan
            gc.collect()
            tessera.Plan(a + 1, a, epilogue="relu")  # takes the freed memory, if it was freed
            self.assertTrue(numpy.array_equal(other(a, a), a @ a))
            self.assertEqual(other.explain().where, "CPU")
        with self.assertRaisesRegex(TypeError, "cannot be pickled"):
            pickle.dumps(other)

    def test_the_last_one_frees_it(self):
        from tessera import _library
        freed, plain = [], _library.lib.tessera_plan_destroy

        def watched(plan):
            freed.append(plan.value)
            return plain(plan)
        _library.lib.tessera_plan_destroy = watched
        self.addCleanup(setattr, _library.lib, "tessera_plan_destroy", plain)
        plan = tessera.Plan(numbers(3, 3), numbers(3, 3))
        other = copy.copy(plan)
        del plan
        gc.collect()
        self.assertEqual(freed, [])
        del other
        gc.collect()
        self.assertEqual(len(freed), 1)

    def test_another_c(self):
        a, b, c = numbers(3, 4), numbers(4, 5), numbers(3, 5)
        plan, wide = tessera.Plan(a, b, c), numbers(3, 9, seed=4)[:, :5]
        self.assertTrue(numpy.array_equal(plan(a, b, c), a @ b + c))
        with self.assertRaisesRegex(ValueError, "not like those of the plan"):
            plan(a, b, wide)
        self.assertTrue(numpy.array_equal(tessera.Plan(a, b, wide)(a, b, wide), a @ b + wide))
        self.assertTrue(numpy.array_equal(tessera.Plan(a, b, wide)(a, b), a @ b))

    def test_any_out(self):
        a, b = numbers(3, 4), numbers(4, 5)
        plan = tessera.Plan(a, b)
        out = numpy.zeros((6, 10))[::-2, ::2]
        self.assertIs(plan(a, b, out=out), out)
        self.assertTrue(numpy.array_equal(out, a @ b))


class PackedOperands(unittest.TestCase):
    def test_they_are_of_a_gpu(self):
        w = numpy.ones((4, 3), "float32")
        with self.assertRaisesRegex(ValueError, "host memory.*pack one on a GPU"):
            tessera.pack(w, compute="f16x3")
        with self.assertRaisesRegex(ValueError, "compute is 'f17'"):
            tessera.pack(w, compute="f17")


class Tensors(numpy.ndarray):
    """What the gradient of a product asks of PyTorch's tensors, by NumPy."""
    to = numpy.ndarray.astype

    def dim(self):
        return self.ndim

    def unsqueeze(self, axis):
        return numpy.expand_dims(self, axis)

    def sum_to_size(self, shape):
        extra = self.ndim - len(shape)
        axes = tuple(range(extra)) + tuple(extra + i for i, n in enumerate(shape) if n == 1 and self.shape[extra + i] > 1)
        return numpy.sum(self, axes).reshape(shape).view(Tensors)

    @property
    def mT(self):
        return numpy.swapaxes(self, -1, -2)


class GradientOfAProduct(unittest.TestCase):
    def test_each_operand_in_every_form(self):
        from tessera import _calls, _torch
        pretended = types.SimpleNamespace(autograd=types.SimpleNamespace(Function=object))

        def product_of(a, b, **how):
            self.assertEqual(how, {"compute": None, "device": "cpu"})
            return numpy.matmul(a, b).view(Tensors)
        with unittest.mock.patch.dict(sys.modules, torch=pretended), unittest.mock.patch.object(_calls, "matmul", product_of):
            backward = _torch._product_function().backward
        for left, right in (((3, 4), (4, 2)), ((4,), (4, 2)), ((3, 4), (4,)), ((4,), (4,)), ((5, 3, 4), (4, 2)),
                            ((3, 4), (5, 4, 2)), ((1, 3, 4), (5, 4, 2)), ((2, 1, 3, 4), (5, 4, 2)), ((5, 3, 4), (4,))):
            a, b = (numbers(*shape).view(Tensors) for shape in (left, right))
            gradient = numpy.asarray(numbers(*(a @ b).shape, seed=1)).view(Tensors)

            def by_parts(x, f):
                """Of something linear, from all its parts."""
                found = numpy.zeros(x.shape)
                for at in numpy.ndindex(x.shape):
                    one = numpy.zeros(x.shape)
                    one[at] = 1
                    found[at] = numpy.sum(numpy.asarray(gradient) * f(one))
                return found
            expected = by_parts(a, lambda x: x @ numpy.asarray(b)), by_parts(b, lambda x: numpy.asarray(a) @ x)
            for needs in ((True, True), (True, False), (False, True)):
                ctx = types.SimpleNamespace(saved_tensors=(a, b), needs_input_grad=needs, how={"compute": None, "device": "cpu"})
                found = backward(ctx, gradient)
                self.assertEqual(found[2:], (None, None))
                for one, wanted, needed in zip(found, expected, needs):
                    self.assertEqual(one is not None, needed)
                    if needed:
                        self.assertEqual(one.shape, wanted.shape, (left, right))
                        self.assertTrue(numpy.array_equal(one, wanted), (left, right))


if __name__ == "__main__":
    unittest.main()
