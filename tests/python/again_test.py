#!/usr/bin/env python3
"""The short way of products like an earlier one, on the stand-in driver, with objects that look like PyTorch's
tensors on a GPU. again_test.py LIBRARY FAKE_DRIVER_FOLDER"""
import ctypes
import os
import pathlib
import sys
import types
import unittest
import unittest.mock

LIBRARY, FOLDER = (str(pathlib.Path(one).resolve()) for one in sys.argv[1:3])
del sys.argv[1:3]
if FOLDER not in os.environ.get("LD_LIBRARY_PATH", ""):
    os.environ["LD_LIBRARY_PATH"] = FOLDER
    os.execv(sys.executable, [sys.executable, __file__, LIBRARY, FOLDER] + sys.argv[1:])
os.environ.update(TESSERA_LIBRARY=LIBRARY, FAKE_CUDA_ACCEPT="1", FAKE_CUDA_MEMORY="100000000000")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
sys.dont_write_bytecode = True
fake = ctypes.CDLL(FOLDER + "/libcuda.so.1")
fake.fake_cuda_calls.restype = ctypes.c_char_p


from pretended_torch import Tensor, install  # noqa: E402

torch = install()
import tessera  # noqa: E402
from tessera import _again, _library, _product  # noqa: E402


def launches(call):
    fake.fake_cuda_clear()
    result = call()
    lines = fake.fake_cuda_calls().decode().splitlines()
    return result, [line for line in lines if line.startswith("cuLaunchKernel")]


class Again(unittest.TestCase):
    def setUp(self):
        _again._known.clear()
        self.a, self.b = Tensor((300, 100), torch.float32), Tensor((100, 200), torch.float32)
        self.described = 0
        plain = _product.Product.__init__

        def counted(product, *arguments, **named):
            self.described += 1
            plain(product, *arguments, **named)

        _product.Product.__init__ = counted
        self.addCleanup(setattr, _product.Product, "__init__", plain)

    def test_launches_the_same_on_other_addresses(self):
        out = Tensor((300, 200), torch.float32)
        _, first = launches(lambda: tessera.matmul(self.a, self.b, out=out))
        again, second = launches(lambda: tessera.matmul(self.a, self.b, out=out))
        self.assertEqual(self.described, 1)
        self.assertIs(again, out)
        self.assertEqual(first, second)
        other = Tensor((100, 200), torch.float32)
        _, third = launches(lambda: tessera.matmul(self.a, other, out=out))
        self.assertEqual(self.described, 1)
        self.assertEqual(third, second)

    def test_makes_a_result(self):
        for _ in range(2):
            d, lines = launches(lambda: tessera.matmul(self.a, self.b))
            self.assertEqual((d.shape, d.dtype), ((300, 200), torch.float32))
            self.assertGreater(len(lines), 0)
        self.assertEqual(self.described, 1)

    def test_describes_what_is_not_like_it(self):
        def described_by(*arguments, **named):
            before = self.described
            tessera.matmul(*arguments, **named)
            return self.described - before
        self.assertEqual(described_by(self.a, self.b), 1)
        turned = Tensor((100, 200), torch.float32, (1, 100))
        self.assertEqual(described_by(self.a, turned), 1)
        self.assertEqual(described_by(self.a, self.b, compute="tf32"), 1)
        self.assertEqual(described_by(Tensor((301, 100), torch.float32), self.b), 1)
        self.assertEqual(described_by(Tensor((300, 100), torch.float64), Tensor((100, 200), torch.float64)), 1)
        self.assertEqual(described_by(self.a, self.b, out=Tensor((300, 200), torch.float32, (1, 300))), 1)
        self.assertEqual(described_by(self.a, turned), 0)

    def test_does_not_keep_what_was_copied(self):
        gaps = Tensor((300, 100), torch.float32, (400, 2))
        for _ in range(2):
            tessera.matmul(gaps, self.b)
        self.assertEqual(self.described, 2)
        plan = tessera.Plan(gaps, self.b)
        plan(gaps, self.b)
        self.assertEqual(self.described, 4)

    def test_after_a_warm_up_a_first_product_loads_nothing(self):
        for compute, dtype in ((None, torch.float64), ("tf32", torch.float32)):
            a, b = Tensor((500, 96), dtype), Tensor((96, 352), dtype)
            self.assertEqual(launches(lambda: tessera.warm_up([(a, b)], compute=compute))[1], [])
            for calls in (lambda: tessera.matmul(a, b, compute=compute),
                          lambda: tessera.gemm(a, b, Tensor((500, 352), dtype), compute=compute)):
                self.assertGreater(len(launches(calls)[1]), 0)
                made = fake.fake_cuda_calls().decode()
                self.assertFalse(any(c in made for c in ("cuModule", "cuMemAlloc", "cuTensorMapEncode")), made)

    def test_of_a_named_kernel(self):
        choices = tessera.Plan(self.a, self.b).explain().choices
        self.assertGreater(len(choices), 1)
        for choice in choices:
            plan = tessera.Plan(self.a, self.b, kernel=choice.plan)
            again = plan.explain()
            self.assertEqual((again.kernel, len(again.choices)), (choice.kernel, 1))
            self.assertEqual(again.choices[0].plan, choice.plan)
            self.assertGreater(len(launches(lambda: plan(self.a, self.b))[1]), 0)
        with self.assertRaisesRegex(ValueError, "kernel is 'none', but must be"):
            tessera.Plan(self.a, self.b, kernel="none")

    def test_says_what_is_wrong_as_before(self):
        tessera.matmul(self.a, self.b)
        with self.assertRaisesRegex(ValueError, "a has 100 columns, but b has 99 rows"):
            tessera.matmul(self.a, Tensor((99, 200), torch.float32))
        with self.assertRaisesRegex(ValueError, "shares an element with A"):
            out = Tensor((300, 200), torch.float32)
            tessera.matmul(self.a, self.b, out=out)
            out.address = self.a.address
            tessera.matmul(self.a, self.b, out=out)

    def test_of_a_plan(self):
        plan = tessera.Plan(self.a, self.b)
        before = self.described
        d, first = launches(lambda: plan(self.a, self.b))
        self.assertEqual((self.described, d.shape), (before, (300, 200)))
        self.assertGreater(len(first), 0)
        with self.assertRaisesRegex(ValueError, "not like those of the plan"):
            plan(self.a, Tensor((100, 200), torch.float32, (1, 100)))
        plan(self.a, self.b, d, alpha=2)
        self.assertEqual(self.described, before + 2)



class PytorchsRules(unittest.TestCase):
    """On the short way as on the long one."""

    def setUp(self):
        _again._known.clear()
        self.a, self.b = Tensor((300, 100), torch.float32), Tensor((100, 200), torch.float32)
        self.out = Tensor((300, 200), torch.float32)
        self.read, self.streams = [], []
        for name in ("tessera_gemm", "tessera_gemm_with", "tessera_plan_run"):
            self.watch(name)
        plain = _library.plan_run_packed

        def watched(plan, packed):
            x = _library.Arguments.from_buffer_copy(packed)
            self.assertEqual((x.size, x.beta, x.c, x.scale, x.bias), (len(packed), 0.0, None, None, None))
            self.streams.append(x.stream or 0)
            self.read.append((x.a, x.b, x.d, x.workspace))
            return plain(plan, packed)
        _library.plan_run_packed = watched
        self.addCleanup(setattr, _library, "plan_run_packed", plain)

    def watch(self, name):
        """Keeps what the library is handed: addresses of A, B and D, and the workspace."""
        plain = getattr(_library.lib, name)

        def watched(*arguments):
            if name == "tessera_gemm":
                self.read.append((arguments[3], arguments[4], arguments[7], None))
            else:
                x = arguments[-1]
                self.read.append((x.a, x.b, x.d, x.workspace))
            return plain(*arguments)
        for holder, called in ((_library.lib, name), (_again, "_gemm")):
            if holder is _library.lib or name == "tessera_gemm":
                setattr(holder, called, watched)
                self.addCleanup(setattr, holder, called, plain)

    def test_negated_tensors_are_resolved(self):
        for negative in (self.a, self.b):
            for warm in (False, True):
                for call in (tessera.matmul, tessera.Plan(self.a, self.b)):
                    if warm:
                        call(self.a, self.b)
                    negative.negative = True
                    call(self.a, self.b)
                    self.assertNotIn(negative.address, self.read[-1][:2])
                    negative.negative = False
        tessera.matmul(self.a, self.b)
        self.assertEqual(self.read[-1][:2], (self.a.address, self.b.address))

    def test_a_negated_out_is_written_by_a_copy(self):
        for _ in range(2):
            self.out.negative = True
            self.assertIs(tessera.matmul(self.a, self.b, out=self.out), self.out)
            self.assertNotEqual(self.read[-1][2], self.out.address)
            self.assertEqual([x.address for x in self.out.copies], [self.read[-1][2]])
            self.out.copies.clear()
            self.out.negative = False
            tessera.matmul(self.a, self.b, out=self.out)
            self.assertEqual(self.read[-1][2], self.out.address)

    def test_tensors_that_are_zero_without_memory(self):
        tessera.matmul(self.a, self.b)
        self.a.zero = True
        tessera.matmul(self.a, self.b)
        self.assertTrue(self.read[-1][0])

    def test_tensors_without_strides(self):
        def none():
            raise RuntimeError("sparse CSR tensors have no strides")
        self.a.stride, self.a.layout = none, types.SimpleNamespace(__str__=lambda: "torch.sparse_csr")
        with self.assertRaisesRegex(TypeError, "a is a tensor of layout"):
            tessera.matmul(self.a, self.b)

    def test_out_with_gradients_is_refused(self):
        plan = tessera.Plan(self.a, self.b)
        for warm in (False, True):
            for one in (self.a, self.b, self.out):
                one.requires_grad = True
                for call in (tessera.matmul, tessera.gemm, plan):
                    with self.assertRaisesRegex(RuntimeError, "needs a gradient"):
                        call(self.a, self.b, out=self.out)
                with torch.no_grad():
                    tessera.matmul(self.a, self.b, out=self.out)
                one.requires_grad = False
            tessera.matmul(self.a, self.b, out=self.out)
        self.out.inference = True
        for call in (tessera.matmul, plan):
            with self.assertRaisesRegex(RuntimeError, "inference_mode"):
                call(self.a, self.b, out=self.out)

    def test_a_plan_with_gradients_is_refused(self):
        plan = tessera.Plan(self.a, self.b)
        self.b.requires_grad = True
        with self.assertRaisesRegex(RuntimeError, "a plan computes none"):
            plan(self.a, self.b)
        torch.autograd.forward_ad._current_level = 0
        self.addCleanup(setattr, torch.autograd.forward_ad, "_current_level", -1)
        self.assertIsNone(_again.key_of(self.a, self.a, None, None))

    def test_out_gets_a_new_version(self):
        plan = tessera.Plan(self.a, self.b)
        for count, call in enumerate((tessera.matmul, tessera.matmul, tessera.gemm, plan), 1):
            call(self.a, self.b, out=self.out)
            self.assertEqual(self.out.version, count)
        plan(self.a, self.b, alpha=2, out=self.out)
        self.assertEqual(self.out.version, 5)

    def test_a_plan_has_a_workspace_for_each_stream(self):
        a, b = Tensor((256, 40000), torch.float32), Tensor((40000, 256), torch.float32)
        out = Tensor((256, 256), torch.float32)
        plan = tessera.Plan(a, b)
        self.assertGreater(plan._planned.workspace_bytes, 0)
        used = []
        self.addCleanup(setattr, torch, "stream", 0)
        for stream in (0, made_stream(), made_stream()):
            torch.stream = stream
            for key in (plan._key, None):  # the short way, and the long one
                plan._key, short = key, plan._key
                torch.allocated.clear()
                plan(a, b, out=out)
                plan._key = short
                (on, memory), = torch.allocated
                self.assertEqual(on, stream)
                used.append(self.read[-1][3])
                self.assertIn(used[-1] - memory.address, range(256))
                self.assertGreaterEqual(memory.shape[0], plan._planned.workspace_bytes + used[-1] - memory.address)
        self.assertEqual(len(set(used)), len(used))
        self.assertEqual(len(set(self.streams)), 3)

    def test_explains_a_batch(self):
        a, b = Tensor((64, 1, 4096), torch.float32, (4096, 4096, 1)), Tensor((4096, 1024), torch.float32)
        why = tessera.explain(a, b)
        self.assertEqual((why.folded, why.where), (64, "GPU"))
        self.assertIn("the batch of 64 is one product", str(why))
        self.assertEqual(tessera.explain(self.a, self.b).folded, 0)
        apart = Tensor((4, 64, 32), torch.float32, (5000, 32, 1))
        self.assertEqual(tessera.explain(apart, Tensor((32, 64), torch.float32)).folded, 0)

    def test_a_product_that_needs_a_gradient_has_one(self):
        from tessera import _calls
        for name in ("product_with_gradient", "gemm_with_gradient"):
            self.addCleanup(setattr, _calls, name, getattr(_calls, name))
            setattr(_calls, name, lambda *arguments, **named: "with a gradient")
        for call in (tessera.matmul, tessera.gemm):
            for needs in ((), (self.a,), (self.b,), (self.a, self.b)):
                for x in needs:
                    x.requires_grad = True
                found = call(self.a, self.b)
                self.assertEqual(isinstance(found, str), bool(needs), call)
                for x in needs:
                    x.requires_grad = False

    def test_an_array_of_jax_is_waited_for(self):
        from tessera import _making
        stream = made_stream()
        for kind, on_gpu in (("jax", True), ("jax", False), ("torch", True)):
            with unittest.mock.patch.multiple(_making, kind_of=lambda x: kind, is_on_gpu=lambda x: on_gpu):
                fake.fake_cuda_clear()
                _making.finish(object(), stream)
            waited = b"cuStreamSynchronize" in fake.fake_cuda_calls()
            self.assertEqual(waited, kind == "jax" and on_gpu)

    def test_operands_in_two_places_are_refused(self):
        host = Tensor((100, 200), torch.float32)
        host.is_cuda, host.device = False, types.SimpleNamespace(type="cpu", index=None)
        with self.assertRaisesRegex(ValueError, "a is in GPU 0, but b in host memory"):
            tessera.matmul(self.a, host)
        with self.assertRaisesRegex(ValueError, "a is in GPU 0, but out in host memory"):
            host.shape = (300, 200)
            tessera.matmul(self.a, self.b, out=host)

    def test_where_arrays_of_other_libraries_are(self):
        from tessera import _arrays
        for kind, on_gpu in ((1, False), (2, True), (3, False), (13, True)):
            for index in (0, 1, 2):
                array = types.SimpleNamespace(__dlpack_device__=lambda: (kind, index))
                self.assertEqual(_arrays.is_on_gpu(array), on_gpu)

    def test_a_plan_of_an_unknown_library_borrows_the_workspace_of_the_handle(self):
        from tessera import _plan
        a, b = Tensor((256, 40000), torch.float32), Tensor((40000, 256), torch.float32)
        plan = tessera.Plan(a, b)
        plain = _plan.kind_of
        _plan.kind_of = lambda x: "numpy"
        self.addCleanup(setattr, _plan, "kind_of", plain)
        plan._key = None
        plan(a, b, out=Tensor((256, 256), torch.float32))
        self.assertIsNone(self.read[-1][3])


def made_stream():
    stream = ctypes.c_void_p()
    assert fake.cuStreamCreate(ctypes.byref(stream), 0) == 0
    return stream.value


if __name__ == "__main__":
    unittest.main()
