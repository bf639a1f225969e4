#!/usr/bin/env python3
"""PyTorch's products by our kernels (tessera.torch_op), and our operator, against PyTorch's own: on the CPU, and where
TESSERA_TEST_DEVICE is cuda, on the GPU. torch_products_test.py LIBRARY"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

os.environ["TESSERA_LIBRARY"] = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

try:
    import torch
except ImportError:
    class Torch(unittest.TestCase):
        @unittest.skip("PyTorch is not installed")
        def test_its_products(self):
            pass
    unittest.main()

import tessera  # noqa: E402
import tessera.torch_op as torch_op  # noqa: E402

DEVICE = os.environ.get("TESSERA_TEST_DEVICE", "cpu").replace("virtual", "cpu")
UNITS = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}


def whole(*shape, dtype=torch.float64, most=3):
    return torch.randint(-most, most + 1, shape, device=DEVICE).to(dtype)


class Products(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        torch_op.enable(DEVICE, allow_tf32=False)
        self.addCleanup(torch_op.disable)

    def same(self, ours, theirs, taken=1, left=0):
        """Results of both, bit for bit, and who computed ours."""
        before = torch_op.counts()
        d = ours()
        after = torch_op.counts()
        torch_op.disable()
        expected = theirs() if callable(theirs) else theirs
        torch_op.enable(DEVICE, allow_tf32=False)
        self.assertEqual((after[0] - before[0], after[1] - before[1]), (taken, left))
        self.assertEqual((d.dtype, d.shape), (expected.dtype, expected.shape))
        self.assertTrue(torch.equal(d, expected), f"{d}\n{expected}")
        return d

    def check(self, call, **counts):
        return self.same(call, call, **counts)

    def test_types_and_orders(self):
        for dtype in UNITS:
            a, b = whole(5, 7, dtype=dtype), whole(7, 6, dtype=dtype)
            for x in (a, a.T.contiguous().T, whole(5, 9, dtype=dtype)[:, 1:8], whole(9, 7, dtype=dtype)[::2]):
                for y in (b, b.T.contiguous().T, whole(8, 11, dtype=dtype)[1:, 3:9]):
                    self.check(lambda: torch.mm(x, y))
                    self.check(lambda: torch.bmm(x.expand(3, 5, 7), torch.stack([y, y, 2 * y])))
                    self.check(lambda: torch.bmm(torch.stack([x, 3 * x]), y.expand(2, 7, 6)))
            self.check(lambda: a @ b[:, 0], taken=0)  # a matrix by a vector is another operator of PyTorch
            self.check(lambda: torch.nn.functional.linear(whole(2, 3, 7, dtype=dtype) * 0 + 1, b.T))

    def test_what_is_copied(self):
        a, b = whole(5, 7), whole(7, 6)
        for x in (whole(10, 14)[::2, ::2], whole(1, 1).expand(5, 7), whole(5).unsqueeze(1).expand(5, 7), whole(7).expand(5, 7)):
            self.check(lambda: torch.mm(x, b))
            self.check(lambda: torch.mm(b.T, x.T))
            self.check(lambda: torch.addmm(b[0], x, b))
            self.check(lambda: torch.bmm(x.expand(3, 5, 7), b.expand(3, 7, 6)))
        x = a.clone().requires_grad_()
        before = torch_op.counts()
        torch.mm(x, b).sum().backward()  # whose gradient is one number, broadcast
        self.assertEqual((torch_op.counts()[0] - before[0], torch_op.counts()[1] - before[1]), (2, 0))
        self.assertTrue(torch.equal(x.grad, b.sum(1).expand(5, 7)))

    def test_sums(self):
        for dtype in UNITS:
            a, b = whole(5, 7, dtype=dtype), whole(7, 6, dtype=dtype)
            full = whole(5, 6, dtype=dtype)
            for addend in (whole(6, dtype=dtype), whole(1, 6, dtype=dtype), whole(5, 1, dtype=dtype), full, whole(5, 9, dtype=dtype)[:, 2:8]):
                self.check(lambda: torch.addmm(addend, a, b))
                self.check(lambda: torch.addmm(addend, a, b, alpha=2))
            self.check(lambda: torch.addmm(full, a, b, beta=-1, alpha=3))
            self.check(lambda: torch.addmm(torch.full_like(full, torch.nan), a, b, beta=0))
            x, y = whole(4, 5, 7, dtype=dtype), whole(4, 7, 6, dtype=dtype)
            self.check(lambda: torch.baddbmm(whole(4, 5, 6, dtype=dtype) * 0 + 2, x, y, beta=-1, alpha=2))
            self.check(lambda: torch.baddbmm(full[0], x, y))
            self.check(lambda: torch.baddbmm(full.expand(4, 5, 6), x, y))

    def test_what_is_left_to_pytorch(self):
        a, b = whole(5, 7), whole(7, 6)
        z = torch.complex(a, a)
        self.check(lambda: z @ torch.complex(b, b), taken=0, left=1)
        self.check(lambda: torch.addmm(whole(1) * 0, a, b), taken=0, left=1)
        self.check(lambda: torch.addmm(whole(6) * 0, a, b, beta=2), taken=0, left=1)
        self.check(lambda: torch.addmm(z @ torch.complex(b, b), z, torch.complex(b, b), beta=1j), taken=0, left=1)
        self.check(lambda: torch.mm(a[:0], b), taken=0, left=1)
        self.check(lambda: torch.mm(a[:, :0], b[:0]), taken=0, left=1)
        if DEVICE == "cpu":
            self.check(lambda: torch.mm(a.long(), b.long()), taken=0, left=1)

    def test_other_keys_are_not_ours(self):
        a, b = whole(5, 7), whole(7, 6)
        self.check(lambda: torch.mm(a.to_sparse(), b), taken=0)
        self.check(lambda: torch.mm(a.to_sparse_csr(), b), taken=0)
        self.assertEqual(torch.mm(a.to("meta"), b.to("meta")).shape, (5, 6))
        torch.use_deterministic_algorithms(True)
        self.addCleanup(torch.use_deterministic_algorithms, False)
        before = torch_op.counts()
        self.assertTrue(torch.equal(torch.mm(a, b), (a.unsqueeze(-1) * b).sum(1)))
        self.assertEqual(torch_op.counts()[0], before[0] + 1)

    def test_errors_are_pytorchs(self):
        a, b = whole(5, 7), whole(7, 6)
        for call in (lambda: torch.mm(a, a), lambda: torch.mm(a, b[0]), lambda: torch.mm(a, b.float()),
                     lambda: torch.addmm(b, a, b), lambda: torch.addmm(b[0], a, a), lambda: torch.bmm(a, b),
                     lambda: torch.bmm(a[None], a[None])):
            with self.assertRaises(RuntimeError) as ours:
                call()
            torch_op.disable()
            with self.assertRaises(RuntimeError) as theirs:
                call()
            torch_op.enable(DEVICE)
            for words in ("cannot be multiplied", "same dtype", "must match"):
                if words in str(theirs.exception):
                    self.assertIn(words, str(ours.exception))

    def test_errors_name_the_shapes(self):
        a, b = whole(5, 7), whole(7, 6)
        for call, words in ((lambda: torch.mm(a, b[0]), r"must be matrices \(5x7 and 6\)"), (lambda: torch.mm(a[0], b), r"must be matrices \(7 and 7x6\)"),
                            (lambda: torch.bmm(a[None], b), r"must be 3D tensors \(1x5x7 and 7x6\)"),
                            (lambda: torch.bmm(a.expand(2, 5, 7), b.expand(3, 7, 6)), r"\(2x5x7 and 3x7x6\)"),
                            (lambda: torch.mm(a, a), r"mat1 and mat2 shapes cannot be multiplied \(5x7 and 5x7\)")):
            with self.assertRaisesRegex(RuntimeError, words):
                call()

    def test_out(self):
        a, b, full = whole(5, 7), whole(7, 6), whole(5, 6)
        x, y, many = whole(4, 5, 7), whole(4, 7, 6), whole(4, 5, 6)
        for call, shape in ((lambda out: torch.mm(a, b, out=out), (5, 6)), (lambda out: torch.bmm(x, y, out=out), (4, 5, 6)),
                            (lambda out: torch.addmm(full[0], a, b, out=out), (5, 6)),
                            (lambda out: torch.addmm(full, a, b, beta=2, out=out), (5, 6)),
                            (lambda out: torch.baddbmm(many, x, y, beta=-1, out=out), (4, 5, 6))):
            for out, taken in ((whole(*shape), 1), (whole(*shape[:-1], 9)[..., 2:8], 1), (whole(*shape, 2)[..., 0], 0), (whole(0), 0)):
                self.assertIs(self.same(lambda: call(out), lambda: call(whole(*shape)), taken=taken, left=1 - taken), out)
        shared = whole(7, 7)
        self.same(lambda: torch.mm(shared, shared, out=shared), shared.clone() @ shared.clone() if DEVICE == "cuda" else shared,
                  taken=0, left=1)
        c = whole(5, 6)
        self.same(lambda: torch.addmm(c, a, b, beta=2, out=c), 2 * c + a @ b)

    def test_gradients_are_pytorchs(self):
        a, b = whole(5, 7).requires_grad_(), whole(7, 6).requires_grad_()
        bias = whole(6).requires_grad_()
        check, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
        before = torch_op.counts()[0]
        self.assertTrue(check(torch.mm, (a, b), check_forward_ad=True) and twice(torch.mm, (a, b)))
        self.assertTrue(check(torch.addmm, (bias, a, b)) and twice(torch.addmm, (bias, a, b)))
        x = whole(2, 5, 7).requires_grad_()
        self.assertTrue(check(torch.bmm, (x, torch.stack([b, b]).detach())))
        self.assertTrue(check(torch.nn.functional.linear, (x, b.T.detach(), bias)))
        self.assertGreater(torch_op.counts()[0], before + 50)

    def test_lazy_bits_autocast_and_vmap(self):
        a, b = whole(5, 7), whole(7, 6)
        self.check(lambda: torch.mm(torch.complex(a, -a).conj().imag, b))
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            self.assertEqual(torch.mm(a.float(), b.float()).dtype, torch.bfloat16)
        many = torch.vmap(torch.mm, in_dims=(0, None))(torch.stack([a, 2 * a]), b)
        self.assertTrue(torch.equal(many[1], 2 * many[0]))

    def test_drawn_shapes_and_strides(self):
        draw = random.Random(11)

        def view(*shape, dtype):
            order = draw.sample(range(len(shape)), len(shape)) if draw.random() < 0.5 else list(range(len(shape)))
            steps = [draw.choice((1, 1, 1, 2)) for _ in shape]
            full = whole(*[shape[i] * steps[i] + draw.choice((0, 0, 3)) for i in order], dtype=dtype)
            x = full.permute([order.index(i) for i in range(len(shape))])
            return x[tuple(slice(draw.randrange(0, 2) if x.shape[i] > n * s else 0, None, s) for i, (n, s) in enumerate(zip(shape, steps)))][
                tuple(slice(0, n) for n in shape)]

        before = torch_op.counts()
        for _ in range(400):
            dtype = draw.choice(list(UNITS))
            m, n, k, batch = (draw.choice((1, 1, 2, 3, 5, 8, 17, 40)) for _ in range(4))
            a, b = view(m, k, dtype=dtype), view(k, n, dtype=dtype)
            x, y = view(batch, m, k, dtype=dtype), view(batch, k, n, dtype=dtype)
            c = view(*draw.choice(((n,), (1, n), (m, 1), (m, n), (1,), (1, 1))), dtype=dtype)
            alpha, beta = draw.choice((1, 1, 2)), draw.choice((1, 1, 0, -1))
            for call, exact in ((lambda: torch.mm(a, b), a.double() @ b.double()), (lambda: torch.bmm(x, y), x.double() @ y.double()),
                                (lambda: torch.addmm(c, a, b, beta=beta, alpha=alpha), alpha * (a.double() @ b.double()) + beta * c.double()),
                                (lambda: torch.baddbmm(c, x, y, beta=beta, alpha=alpha), alpha * (x.double() @ y.double()) + beta * c.double())):
                d = call()
                error = (d.double() - exact).abs().max().item()
                self.assertLessEqual(error, 4 * UNITS[dtype] * exact.abs().max().item(), (dtype, m, n, k, batch, a.stride(), b.stride(), c.shape))
        after = torch_op.counts()
        self.assertGreater(after[0] - before[0], 800)
        self.assertGreater(after[1] - before[1], 100)

    def test_compiled(self):
        layer = torch.nn.Linear(7, 6, device=DEVICE).double()
        x = whole(3, 5, 7)
        for backend in ("aot_eager",) + (("inductor",) if DEVICE == "cuda" else ()):
            compiled = torch.compile(lambda one: torch.relu(layer(one)) @ layer.weight, fullgraph=True, backend=backend)
            before = torch_op.counts()[0]
            d = compiled(x)
            self.assertGreaterEqual(torch_op.counts()[0], before + 2, backend)
            torch_op.disable()
            self.assertTrue(torch.allclose(d, torch.relu(layer(x)) @ layer.weight))
            torch_op.enable(DEVICE)

    def test_enable_and_disable(self):
        a, b = whole(5, 7), whole(7, 6)
        torch_op.enable(DEVICE)
        torch_op.enable(DEVICE)
        self.check(lambda: a @ b)
        torch_op.disable()
        torch_op.disable()
        before = torch_op.counts()
        for call in (lambda: a @ b, lambda: torch.addmm(b[0], a, b), lambda: torch.baddbmm(b[0], a[None], b[None])):
            call()
        self.assertEqual(torch_op.counts(), before)
        with self.assertRaisesRegex(ValueError, "device is 'xpu'"):
            torch_op.enable("xpu")


class Operator(unittest.TestCase):
    """torch.ops.tessera.matmul."""

    def test_shapes_and_gradients(self):
        op = torch.ops.tessera.matmul
        for left, right in (((3, 4), (4, 2)), ((5, 3, 4), (4, 2)), ((5, 1, 3, 4), (6, 4, 2)), ((5, 3, 4), (5, 4, 2))):
            a, b = whole(*left).requires_grad_(), whole(*right).requires_grad_()
            self.assertTrue(torch.equal(op(a, b), a @ b))
            self.assertTrue(torch.equal(op(a.detach(), b.detach()), a @ b))
            self.assertTrue(torch.autograd.gradcheck(op, (a, b)) and torch.autograd.gradgradcheck(op, (a, b)))
            torch.library.opcheck(op.default, (a, b))
        torch_op.enable(DEVICE)
        self.addCleanup(torch_op.disable)
        for left, right in (((3, 4), (4, 2)), ((5, 3, 4), (4, 2)), ((5, 1, 3, 4), (6, 4, 2))):
            a, b = whole(*left).requires_grad_(), whole(*right).requires_grad_()
            before = torch_op.counts()
            self.assertTrue(torch.equal(op(a, b), a @ b))
            op(a, b).square().sum().backward()
            self.assertGreaterEqual(torch_op.counts()[0], before[0] + 5)
            self.assertEqual(torch_op.counts()[1], before[1])
            self.assertTrue(torch.autograd.gradcheck(op, (a, b)) and torch.autograd.gradgradcheck(op, (a, b)))
        with torch.inference_mode():
            self.assertTrue(torch.equal(op(whole(2, 2) * 0 + 1, whole(2, 2) * 0 + 2), whole(2, 2) * 0 + 4))
        self.assertEqual(op(whole(3, 4, dtype=torch.int8), whole(4, 2, dtype=torch.int8)).dtype if DEVICE == "cpu" else torch.int32, torch.int32)

    def test_rows_of_a_batch_that_continue(self):
        op, b = torch.ops.tessera.matmul, whole(7, 6)
        for a, taken in ((whole(3, 5, 7), 1), (whole(64, 1, 7), 1), (whole(2, 3, 5, 7), 1), (whole(3, 5, 9)[..., 1:8], 1),
                         (whole(3, 4, 7)[:, :1], 1), (whole(1, 1, 7), 1), (whole(1, 9, 7)[:, ::2], 1), (whole(1, 7), 1),
                         (whole(3, 6, 7)[:, :5], 0), (whole(5, 3, 7).transpose(0, 1), 0), (whole(2, 5, 3, 7).transpose(1, 2), 0)):
            before = torch_op.counts()[0]
            d = op(a, b)
            self.assertEqual(torch_op.counts()[0] - before, taken, a.stride())
            self.assertEqual(d.shape, (*a.shape[:-1], 6))
            self.assertTrue(d.is_contiguous() and torch.equal(d, a @ b), a.stride())

    def test_packed_operands(self):
        """Read by many products, with the bits of those that are not; on a GPU of compute capability 9.0."""
        w = torch.randn(300, 200, device=DEVICE)
        if DEVICE == "cpu":
            with self.assertRaisesRegex(ValueError, "host memory"):
                tessera.pack(w, compute="f16x3")
            return
        if torch.cuda.get_device_capability() != (9, 0):
            self.skipTest("no GPU of compute capability 9.0")
        with self.assertRaisesRegex(tessera.UnsupportedError, "read operands as they are"):
            tessera.pack(w, compute="f32")
        packed = tessera.pack(w, compute="f16x3")
        for m in (1, 70, 1500):
            x = torch.randn(m, 300, device=DEVICE)
            plain = tessera.matmul(x, w, compute="f16x3")
            self.assertTrue(torch.equal(tessera.matmul(x, packed), plain), m)
            bias = torch.randn(200, device=DEVICE)
            self.assertTrue(torch.equal(tessera.gemm(x, packed, bias=bias, epilogue="relu"),
                                        tessera.gemm(x, w, bias=bias, epilogue="relu", compute="f16x3")), m)
        x = torch.randn(3, 500, 300, device=DEVICE)  # rows of a batch
        self.assertTrue(torch.equal(tessera.matmul(x, packed), tessera.matmul(x, w, compute="f16x3")))
        left = tessera.pack(w.T, compute="f16x3", left=True)
        y = torch.randn(300, 90, device=DEVICE)
        self.assertTrue(torch.equal(tessera.matmul(left, y), tessera.matmul(w.T, y, compute="f16x3")))
        for wrong in (lambda: tessera.matmul(packed, y), lambda: tessera.matmul(x, left),
                      lambda: tessera.matmul(x, packed, compute="f32"), lambda: tessera.matmul(y.T[:, 1:], packed),
                      lambda: tessera.pack(x, compute="f16x3")):
            self.assertRaises(ValueError, wrong)
        x = torch.randn(70, 300, device=DEVICE, requires_grad=True)
        tessera.matmul(x, packed).sum().backward()
        self.assertEqual(x.grad.shape, x.shape)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            of_stream = tessera.matmul(x.detach(), tessera.pack(w, compute="f16x3"))
        stream.synchronize()
        self.assertTrue(torch.equal(of_stream, tessera.matmul(x.detach(), w, compute="f16x3")))

    def test_the_one_in_python(self):
        """Where the operators in C++ are missing."""
        place = dict(os.environ, TESSERA_TORCH_LIBRARY="/nowhere/libtessera_torch.so", PYTHONPATH=str(ROOT / "python"))
        code = ("import torch, tessera.torch_op as t\n"
                f"a = torch.ones(3, 3, device='{DEVICE}', requires_grad=True)\n"
                "torch.ops.tessera.matmul(a, a).sum().backward()\n"
                "assert torch.equal(a.grad, torch.full_like(a, 6)), a.grad\n"
                "try: t.enable()\n"
                "except RuntimeError as refused: assert '/nowhere/' in str(refused), refused\n"
                "else: raise SystemExit('nothing was refused')\n")
        ended = subprocess.run([sys.executable, "-c", code], env=place, capture_output=True, text=True, timeout=120)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)


CHECK = """
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <type_traits>
#include "stable_abi.h"
#define SAME(result, name, parameters) \\
  static_assert(std::is_same_v<decltype(&::name), decltype(tessera::torch_abi::Functions::name)>, #name);
TESSERA_TORCH_FUNCTIONS(SAME)
"""


class StableInterface(unittest.TestCase):
    @unittest.skipIf(shutil.which("g++") is None, "there is no compiler")
    def test_our_declarations_are_pytorchs(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "check.cpp"
            source.write_text(CHECK)
            include = pathlib.Path(torch.__file__).parent / "include"
            command = ["g++", "-std=c++20", "-fsyntax-only", f"-I{include}", f"-I{ROOT / 'python/torch_kernels'}", str(source)]
            compiled = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(compiled.returncode, 0, compiled.stderr)


if __name__ == "__main__":
    unittest.main()
