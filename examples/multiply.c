/* Multiplies two matrices on the first GPU, in C: D = A B, column-major. A program that uses the
 * CUDA runtime allocates with cudaMalloc; this one calls the driver, so that it needs no CUDA
 * header. After `make library`, without installing anything:
 *   cc examples/multiply.c -Iinclude -Lbuild -ltessera -ldl -Wl,-rpath,build -o multiply */
#include <dlfcn.h>
#include <stdio.h>

#include "tessera/gemm.h"

enum { M = 300, N = 200, K = 100 };
static float a[M * K], b[K * N], d[M * N];

typedef unsigned long long Address;
static int (*allocate)(Address*, size_t);
static int (*copy_in)(Address, const void*, size_t);
static int (*copy_out)(void*, Address, size_t);

static int complain(void) { return fprintf(stderr, "%s\n", tessera_last_message()), 1; }

int main(void) {
  tessera_handle handle;
  tessera_place place = {.size = sizeof place}; /* GPU 0 */
  if (tessera_create(&handle, &place) != TESSERA_OK) return complain();

  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  *(void**)&allocate = dlsym(driver, "cuMemAlloc_v2");
  *(void**)&copy_in = dlsym(driver, "cuMemcpyHtoD_v2");
  *(void**)&copy_out = dlsym(driver, "cuMemcpyDtoH_v2");
  for (int i = 0; i < M * K; ++i) a[i] = 1;
  for (int i = 0; i < K * N; ++i) b[i] = 2;
  Address on_gpu[3];
  if (allocate(&on_gpu[0], sizeof a) || allocate(&on_gpu[1], sizeof b) ||
      allocate(&on_gpu[2], sizeof d) || copy_in(on_gpu[0], a, sizeof a) ||
      copy_in(on_gpu[1], b, sizeof b)) {
    return fprintf(stderr, "no memory on the GPU\n"), 1;
  }

  tessera_problem problem = {.size = sizeof problem, .m = M, .n = N, .k = K, .type_a = TESSERA_F32};
  if (tessera_gemm(handle, &problem, 1, (void*)on_gpu[0], (void*)on_gpu[1], 0, NULL,
                   (void*)on_gpu[2], NULL) != TESSERA_OK) {
    return complain();
  }

  /* The copy waits for the call's stream, which blocks with the null stream. */
  copy_out(d, on_gpu[2], sizeof d);
  char text[1000];
  tessera_explain_text(handle, &problem, NULL, text, sizeof text, NULL);
  printf("D[0] = %g, with A all 1 and B all 2\n%s", d[0], text);
  return tessera_destroy(handle) == TESSERA_OK ? 0 : complain();
}
