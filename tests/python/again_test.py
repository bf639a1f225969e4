#!/usr/bin/env python3
"""The short way of products like an earlier one, on the stand-in driver, with objects that look like PyTorch's
tensors on a GPU. again_test.py LIBRARY FAKE_DRIVER_FOLDER"""
import ctypes
import os
import pathlib
import sys
import types
import unittest

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


class Type:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "torch." + self.name


class Tensor:
    """Of no memory at all: the stand-in never looks."""
    next_address = 1 << 40
    is_cuda = True
    device = types.SimpleNamespace(type="cuda", index=0)

    def __init__(self, shape, dtype, strides=None):
        self.shape, self.dtype = tuple(shape), dtype
        self.strides = strides or ((shape[1], 1) if len(shape) == 2 else (1,))
        self.address = Tensor.next_address = Tensor.next_address + (1 << 32)

    def stride(self):
        return self.strides

    def get_device(self):
        return 0

    def data_ptr(self):
        return self.address

    def new_empty(self, shape, dtype):
        return Tensor(shape, dtype)

    def contiguous(self):
        return Tensor(self.shape, self.dtype)


Tensor.__module__ = "torch"
torch = types.ModuleType("torch")
torch.Tensor, torch.float32, torch.float64 = Tensor, Type("float32"), Type("float64")
torch.int8 = Type("int8")
torch.empty = lambda shape, dtype, device: Tensor(shape, dtype)
torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda index: 0)
torch.cuda = types.SimpleNamespace(
    current_stream=lambda device: types.SimpleNamespace(cuda_stream=0))
sys.modules["torch"] = torch

import tessera  # noqa: E402
from tessera import _again, _calls  # noqa: E402


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
        plain = _calls._Product.__init__

        def counted(product, *arguments, **named):
            self.described += 1
            plain(product, *arguments, **named)

        _calls._Product.__init__ = counted
        self.addCleanup(setattr, _calls._Product, "__init__", plain)

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


if __name__ == "__main__":
    unittest.main()
