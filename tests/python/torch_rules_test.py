#!/usr/bin/env python3
"""Where the Python package follows PyTorch's rules: lazy bits, gradients, `out`, what is no plain tensor. On the CPU,
and where TESSERA_TEST_DEVICE is cuda, on the GPU. torch_rules_test.py LIBRARY"""
import os
import pathlib
import sys
import unittest

os.environ["TESSERA_LIBRARY"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
sys.dont_write_bytecode = True

try:
    import torch
except ImportError:
    class Torch(unittest.TestCase):
        @unittest.skip("PyTorch is not installed")
        def test_its_rules(self):
            pass
    unittest.main()
import torch.autograd.forward_ad as forward_ad  # noqa: E402

import tessera  # noqa: E402
import tessera.torch_op  # noqa: E402
from tessera._library import ACTIVATIONS  # noqa: E402

DEVICE = os.environ.get("TESSERA_TEST_DEVICE", "cpu").replace("virtual", "cpu")
torch.manual_seed(7)


def numbers(*shape, dtype=torch.float64):
    return torch.randint(-4, 5, shape, device=DEVICE).to(dtype)


def negated(x):
    """The same values in a tensor whose bytes are those of -x."""
    lazy = torch.complex(torch.zeros_like(x), -x).conj().imag
    assert lazy.is_neg() and torch.equal(lazy, x)
    return lazy


class LazyBits(unittest.TestCase):
    def same(self, d, expected):
        self.assertTrue(torch.equal(d, expected), f"{d} {expected}")

    def test_operands(self):
        a, b, c = numbers(3, 4), numbers(4, 5), numbers(3, 5)
        bias, scale = numbers(5), numbers(3, 1)
        for dtype in (torch.float64, torch.float32):
            x, y, z, v, w = (one.to(dtype) for one in (a, b, c, bias, scale))
            plan = tessera.Plan(x, y)
            for left in (x, negated(x)):
                for right in (y, negated(y)):
                    for _ in range(2):
                        self.same(tessera.matmul(left, right), x @ y)
                        self.same(plan(left, right), x @ y)
                        self.same(torch.ops.tessera.matmul(left, right), x @ y)
                    self.same(tessera.gemm(left, right, negated(z), beta=-1), x @ y - z)
                    self.same(tessera.gemm(left, right, scale=negated(w), bias=negated(v)), x @ y * w + v)
            self.same(tessera.matmul(negated(x)[0], y), x[0] @ y)
            self.same(tessera.gemm(x, y, negated(z)[0]), x @ y + z[0])

    def test_out(self):
        a, b = numbers(3, 4), numbers(4, 5)
        plan = tessera.Plan(a, b)
        for call in (tessera.matmul, tessera.gemm, plan):
            out = negated(numbers(3, 5))
            self.assertIs(call(a, b, out=out), out)
            self.assertTrue(out.is_neg())
            self.same(out, a @ b)
        out = negated(numbers(3, 5))
        expected = a @ b - out
        tessera.gemm(a, b, out, beta=-1, out=out)
        self.same(out, expected)

    def test_zeros_without_memory(self):
        a, zero = numbers(3, 3), torch._efficientzerotensor((3, 3), dtype=torch.float64, device=DEVICE)
        for _ in range(2):
            self.same(tessera.matmul(a, a), a @ a)
            self.same(tessera.matmul(zero, a), torch.zeros_like(a))
            self.same(tessera.gemm(a, a, zero), a @ a)


class Gradients(unittest.TestCase):
    def setUp(self):
        self.a, self.b = (x.requires_grad_() for x in (numbers(3, 4), numbers(4, 5)))

    def test_of_matmul(self):
        a, b = self.a, self.b
        check, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
        for x, y in ((a, b), (a[0], b), (a, b[:, 1]), (a[1], b[:, 0]), (a, b.detach()), (a.detach(), b)):
            x, y = (one.detach().requires_grad_(one.requires_grad) for one in (x, y))
            self.assertTrue(check(tessera.matmul, (x, y), check_forward_ad=True))
            self.assertTrue(twice(tessera.matmul, (x, y)))
        self.assertTrue(check(lambda x, y: tessera.matmul(x.expand(2, 3, 4), y.expand(6, 1, 4, 5)), (a, b)))
        low = [x.detach().float().requires_grad_() for x in (a, b)]
        self.assertTrue(tessera.matmul(*low, compute="tf32").requires_grad)
        with torch.no_grad():
            self.assertFalse(tessera.matmul(a, b).requires_grad)

    def test_of_gemm(self):
        a, b = self.a, self.b
        c, scale, bias = (torch.rand(shape, dtype=torch.float64, device=DEVICE).requires_grad_()
                          for shape in ((3, 5), (5,), (3, 1)))
        for epilogue in ACTIVATIONS:
            def product(*x, epilogue=epilogue):
                return tessera.gemm(*x[:3], alpha=2, beta=-0.37, scale=x[3], bias=x[4], epilogue=epilogue)
            self.assertTrue(torch.autograd.gradcheck(product, (a, b, c, scale, bias)))
            self.assertTrue(torch.autograd.gradgradcheck(product, (a, b, c, scale, bias)))
        square = numbers(4, 4).requires_grad_()
        self.assertTrue(torch.autograd.gradcheck(lambda x: tessera.gemm(x, x, x), (square,)))
        self.assertTrue(tessera.gemm(a.detach(), b.detach(), c).requires_grad)
        self.assertFalse(tessera.gemm(a.detach(), b.detach(), c, beta=0).requires_grad)

    def test_of_reduced_precision(self):
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            a, b = (torch.randn(shape, device=DEVICE).to(dtype).requires_grad_() for shape in ((30, 40), (40, 20)))
            scale = torch.rand(20, device=DEVICE).requires_grad_()
            ours = torch.autograd.grad(tessera.gemm(a, b, scale=scale, epilogue="gelu").float().sum(), (a, b, scale))
            def theirs(x, y, z):
                return torch.nn.functional.gelu((x.double() @ y.double()) * z.double(), approximate="tanh").sum()
            for x, y in zip(ours, torch.autograd.grad(theirs(a, b, scale), (a, b, scale))):
                self.assertEqual(x.dtype, y.dtype)
                self.assertLess((x.double() - y.double()).abs().max(), 0.02 * (1 + y.double().abs().max()))

    def refuses(self, words, call):
        with self.assertRaisesRegex(RuntimeError, words):
            call()

    def test_out_is_refused_where_pytorch_refuses_it(self):
        a, b = self.a.detach(), self.b.detach()
        plan = tessera.Plan(a, b)
        for call in (tessera.matmul, tessera.gemm, plan):
            for x, y, out in ((self.a, b, numbers(3, 5)), (a, self.b, numbers(3, 5)), (a, b, numbers(3, 5).requires_grad_()),
                              (a, b, numbers(3, 5).requires_grad_() * 2)):
                before = out.detach().clone()
                self.assertRaises(RuntimeError, torch.matmul, x, y, out=out)
                self.refuses("needs a gradient", lambda: call(x, y, out=out))
                self.assertTrue(torch.equal(out.detach(), before))
                with torch.no_grad():
                    call(x, y, out=out)
                    self.assertTrue(torch.equal(out, a @ b))
        self.refuses("needs a gradient", lambda: tessera.gemm(a, b, numbers(3, 5).requires_grad_(), out=numbers(3, 5)))
        self.refuses("a plan computes none", lambda: plan(self.a, b))
        with torch.inference_mode():
            frozen = numbers(3, 5)
            tessera.matmul(a, b, out=frozen)
        for _ in range(2):
            self.assertRaises(RuntimeError, torch.matmul, a, b, out=frozen)
            self.refuses("inference_mode", lambda: tessera.matmul(a, b, out=frozen))
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(a, torch.ones_like(a))
            self.refuses("needs a gradient", lambda: tessera.matmul(dual, b, out=numbers(3, 5)))
            self.assertTrue(torch.equal(forward_ad.unpack_dual(tessera.matmul(dual, b)).tangent, torch.ones_like(a) @ b))
            self.assertRaises((RuntimeError, NotImplementedError), tessera.gemm, dual, b)

    def test_an_out_that_was_saved_is_noticed(self):
        a, b = self.a.detach(), self.b.detach()
        plan = tessera.Plan(a, b)
        for call in (tessera.matmul, tessera.matmul, tessera.gemm, plan, lambda *x, out: plan(*x, alpha=2, out=out)):
            out = numbers(3, 5)
            x = numbers(3, 5).requires_grad_()
            result = (x * out).sum()
            call(a, b, out=out)
            self.refuses("modified by an inplace operation", result.backward)


class PlainTensors(unittest.TestCase):
    def test_others_are_refused_by_name(self):
        a = numbers(3, 3)

        class Wrapped(torch.Tensor):
            @classmethod
            def __torch_dispatch__(cls, function, kinds, arguments=(), options=None):
                raise AssertionError("nothing is computed")

        wrapped = torch.Tensor._make_wrapper_subclass(Wrapped, (3, 3), dtype=torch.float64, device=DEVICE)
        nested = torch.nested.nested_tensor([a, a])
        for odd, word in ((a.to_sparse(), "layout sparse_coo"), (a.to_sparse_csr(), "layout sparse_csr"),
                          (wrapped, "a is a Wrapped"), (nested, "layout nested")):
            with self.assertRaisesRegex(TypeError, word):
                tessera.matmul(odd, a)
        with self.assertRaisesRegex(TypeError, "meta"):
            tessera.matmul(a.to("meta"), a)

    def test_subclasses_without_rules_are_tensors(self):
        class Named(torch.Tensor):
            pass

        a = numbers(3, 3)
        for x in (torch.nn.Parameter(a, requires_grad=False), a.as_subclass(Named)):
            self.assertTrue(torch.equal(torch.Tensor(tessera.matmul(x, x)), torch.Tensor(a @ a)))

    def test_one_type_as_for_torch_matmul(self):
        a = numbers(3, 3)
        for other in (torch.float32, torch.float16, torch.int8):
            self.assertRaises(RuntimeError, torch.matmul, a, a.to(other))
            with self.assertRaisesRegex(TypeError, "PyTorch multiplies tensors of one type alone"):
                tessera.matmul(a, a.to(other))

    def test_any_out(self):
        a, b = numbers(3, 4), numbers(4, 5)
        for out in (numbers(6, 10)[::2, ::2], numbers(10, 3).T[:, ::2], numbers(3, 5, 2)[..., 1]):
            self.assertIs(tessera.matmul(a, b, out=out), out)
            self.assertTrue(torch.equal(out, a @ b))
        number = tessera.matmul(a[0], b[:, 0])
        self.assertEqual((number.shape, float(number)), ((), float(a[0] @ b[:, 0])))
        with self.assertRaisesRegex(ValueError, "may share memory"):
            tessera.matmul(a, b, out=torch.zeros(5, dtype=torch.float64, device=DEVICE).expand(3, 5))


if __name__ == "__main__":
    unittest.main()
