#!/usr/bin/env python3
"""The auxiliary output of gemm on the CPU, against NumPy: what the activation is applied to.
auxiliary_test.py LIBRARY"""
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["TESSERA_LIBRARY"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "python"))

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(0)

import tessera  # noqa: E402


def numbers(*shape, seed=1):
    return numpy.random.default_rng(seed).standard_normal(shape)


def silu(x):
    return x / (1 + numpy.exp(-x))


class Auxiliary(unittest.TestCase):
    def near(self, d, expected):
        self.assertEqual(d.shape, expected.shape)
        self.assertLessEqual(numpy.max(abs(d - expected)), 1e-5 * (1 + numpy.max(abs(expected))))

    def test_what_the_activation_takes(self):
        a, b, bias = numbers(2, 6, 4), numbers(4, 7), numbers(7, seed=2)
        before = a @ b + bias
        for dtype in ("float64", "float32"):
            aux, out = numpy.zeros((2, 6, 9), dtype)[:, :, :7], numpy.empty((2, 6, 7), dtype)
            d = tessera.gemm(a.astype(dtype), b.astype(dtype), bias=bias.astype(dtype), out=out,
                             epilogue="silu", aux=aux)
            self.assertIs(d, out)
            self.near(aux, before)
            self.near(d, silu(before))
        aux = numpy.zeros(7)
        self.near(tessera.gemm(a[0, 0], b, bias=bias, epilogue="relu", aux=aux),
                  numpy.maximum(before[0, 0], 0))
        self.near(aux, before[0, 0])
        every_other = numpy.zeros((6, 14))[:, ::2]  # written by a copy
        tessera.gemm(a[0], b, epilogue="relu", aux=every_other)
        self.near(every_other, a[0] @ b)

    def test_refusals(self):
        a, b = numbers(6, 4), numbers(4, 7)
        for kind, words, wrong in ((ValueError, "aux has shape (6, 6)", numpy.zeros((6, 6))),
                                   (TypeError, "must have float64", numpy.zeros((6, 7), "f4")),
                                   (ValueError, "of one order", numpy.zeros((7, 6)).T)):
            with self.assertRaises(kind) as caught:
                tessera.gemm(a, b, epilogue="relu", aux=wrong)
            self.assertIn(words, str(caught.exception))
        same = numpy.zeros((6, 7))
        with self.assertRaises(ValueError) as caught:
            tessera.gemm(a, b, epilogue="relu", out=same, aux=same)
        self.assertIn("D shares an element with X", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
