"""A layer of a network in one call: gelu(x @ w.T + bias), and with a residual added before that."""
import math

import numpy
import tessera

random = numpy.random.default_rng(1)
x = random.standard_normal((64, 96), "float32")
w = random.standard_normal((80, 96), "float32")
bias = random.standard_normal(80, "float32")         # a value for each column
residual = random.standard_normal((64, 80), "float32")

y = tessera.gemm(x, w.T, bias=bias, epilogue="gelu")
z = tessera.gemm(x, w.T, residual, bias=bias, epilogue="relu")


def gelu(v):
    return v / 2 * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3)))


exact = x.astype("float64") @ w.T.astype("float64") + bias
print("largest difference:", abs(y - gelu(exact)).max(), abs(z - (exact + residual).clip(0)).max())
assert numpy.allclose(y, gelu(exact), atol=1e-4)
assert numpy.allclose(z, (exact + residual).clip(0), atol=1e-4)
