/* A layer of a network in one call, in C: D = gelu(A B + bias), row-major, with a bias for each
 * column; on the first GPU where there is one, else on the CPU. After `make library`:
 *   cc examples/epilogue.c -Iinclude -Lbuild -ltessera -Wl,-rpath,build -o epilogue */
#include <stdio.h>

#include "tessera/gemm.h"

enum { M = 3, N = 4, K = 2 };
static const float a[M * K] = {1, 2, 3, 4, 5, 6};
static const float b[K * N] = {1, 0, -1, 0.5f, 0, 1, -1, -0.5f};
static const float bias[N] = {0, -2, 1, 0.5f};
static float d[M * N];

static int complain(void) { return fprintf(stderr, "%s\n", tessera_last_message()), 1; }

int main(void) {
  tessera_handle handle;
  const tessera_place place = {.size = sizeof place, .gpu = TESSERA_ANY_PLACE};
  if (tessera_create(&handle, &place) != TESSERA_OK) return complain();
  const tessera_problem layer = {.size = sizeof layer,
                                 .m = M,
                                 .n = N,
                                 .k = K,
                                 .type_a = TESSERA_F32,
                                 .order = TESSERA_ROW_MAJOR,
                                 .bias = TESSERA_BIAS_PER_COLUMN,
                                 .activation = TESSERA_GELU,
                                 .memory = TESSERA_HOST_MEMORY};
  const tessera_arguments in = {
      .size = sizeof in, .alpha = 1, .a = a, .b = b, .d = d, .bias = bias};
  if (tessera_gemm_with(handle, &layer, NULL, &in) != TESSERA_OK) return complain();
  for (int row = 0; row < M; ++row) {
    for (int column = 0; column < N; ++column) printf("%8.4f", d[row * N + column]);
    printf("\n");
  }
  return tessera_destroy(handle) == TESSERA_OK ? 0 : complain();
}
