#!/usr/bin/env python3
"""NumPy's own tests of matmul (MatmulCommon, which its wheel ships), over tessera.matmul: on the CPU, or with host
operands on the GPU of the machine. Products of types that we do not have must be refused by name, and are then NumPy's.
clients/numpy_matmul.py LIBRARY [cpu|gpu]"""
import collections
import os
import pathlib
import sys
import time
import unittest

os.environ["TESSERA_LIBRARY"] = os.path.abspath(sys.argv.pop(1))
DEVICE = sys.argv.pop(1) if len(sys.argv) > 1 else "cpu"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))
sys.dont_write_bytecode = True

try:
    import numpy
    from numpy._core.tests.test_multiarray import MatmulCommon
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)
import tessera  # noqa: E402

OURS = "efdb"  # half, single, double, and 8-bit integers
calls = collections.Counter()


def refused_by_name(a, b):
    try:
        tessera.matmul(a, b, device=DEVICE)
    except TypeError as refused:
        if f"a has elements of type {a.dtype}" not in str(refused):
            raise AssertionError(f"{a.dtype} is refused, but not by name: {refused}") from refused
    else:
        raise AssertionError(f"{a.dtype} was multiplied")


def matmul(a, b):
    if a.dtype.char not in OURS or b.dtype.char not in OURS:
        if a.dtype != "int32":  # which the CPU multiplies
            refused_by_name(a, b)
        calls["not ours: " + a.dtype.name] += 1
        return numpy.matmul(a, b)
    calls[a.dtype.name] += 1
    try:
        d = tessera.matmul(a, b, device=DEVICE)
    except NotImplementedError as refused:  # on a GPU other than Hopper
        assert DEVICE == "gpu" and a.dtype == "int8" and "s8 x s8" in str(refused), refused
        d = tessera.matmul(a, b, device="cpu")
    # The one rule of ours that is not NumPy's: products of 8-bit integers are summed in 32 bits.
    if a.dtype == b.dtype == "int8":
        assert d.dtype == "int32", d.dtype
        return d.astype("int8")
    return d


class TestOurMatmul(MatmulCommon, unittest.TestCase):
    matmul = staticmethod(matmul)


if __name__ == "__main__":
    begin = time.time()
    where = tessera.explain(numpy.ones((3, 3)), numpy.ones((3, 3)), device=DEVICE).where
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(TestOurMatmul)
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    print(f"{time.time() - begin:.1f} s, a 3 x 3 product on the {where}; products: "
          + ", ".join(f"{name} {count}" for name, count in sorted(calls.items())))
    if suite.countTestCases() < 8 or any(calls[name] < 20 for name in ("float16", "float32", "float64", "int8")):
        sys.exit("NumPy's tests are fewer than they were: did their names change?")
    sys.exit(0 if result.wasSuccessful() else 1)
