"""Many products in one call: batch dimensions are broadcast as NumPy does it."""
import numpy
import tessera

random = numpy.random.default_rng(1)
a = random.standard_normal((8, 1, 32, 64))  # 8 groups
b = random.standard_normal((5, 64, 16))     # 5 matrices that every group meets
d = tessera.matmul(a, b)                    # (8, 5, 32, 16)
print(d.shape, "largest difference to NumPy:", abs(d - a @ b).max())
assert numpy.allclose(d, a @ b)
