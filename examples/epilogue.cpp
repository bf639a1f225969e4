// A layer of a network in one call, in C++: d = relu(scale (a b) + bias), with a scale for each row
// and a bias for each column; on the first GPU where there is one, else on the CPU.
#include <cstdio>
#include <vector>

#include "tessera/gemm.hpp"

int main() {
  const tessera::Handle handle(TESSERA_ANY_PLACE);
  const std::vector<float> a(300 * 100, 1), b(100 * 200, 2);
  const std::vector<float> scale(300, 0.5f);
  std::vector<float> bias(200, -40), d(300 * 200);
  bias[1] = -400;
  handle.matmul(tessera::row_major(std::span(a), 300, 100),
                tessera::row_major(std::span(b), 100, 200),
                tessera::row_major(std::span(d), 300, 200),
                {.memory = TESSERA_HOST_MEMORY,
                 .scale = tessera::per_row(std::span(scale)),
                 .bias = tessera::per_column(std::span(bias)),
                 .activation = TESSERA_RELU});
  std::printf("D[0] = %g and D[1] = %g\n", d[0], d[1]);
}
