// Multiplies two matrices in C++: on the first GPU where there is one, else on the CPU.
#include <cstdio>
#include <vector>

#include "tessera/gemm.hpp"

int main() {
  const tessera::Handle handle(TESSERA_ANY_PLACE);
  const std::vector<float> a(300 * 100, 1), b(100 * 200, 2);
  std::vector<float> d(300 * 200);
  handle.matmul(tessera::row_major(std::span(a), 300, 100),
                tessera::row_major(std::span(b), 100, 200),
                tessera::row_major(std::span(d), 300, 200), {.memory = TESSERA_HOST_MEMORY});
  std::printf("D[0] = %g, with A all 1 and B all 2\n", d[0]);
}
