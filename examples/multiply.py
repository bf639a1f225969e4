"""Multiplies two matrices in Python: on the GPU where there is one, else on the CPU."""
import numpy
import tessera

a, b = numpy.ones((300, 100), "float32"), numpy.full((100, 200), 2, "float32")
d = tessera.matmul(a, b)
print("d[0, 0] =", d[0, 0])
print(tessera.explain(a, b))
assert (d == a @ b).all()
