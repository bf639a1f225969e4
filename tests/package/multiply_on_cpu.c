/* A user's program: multiplies on the CPU and checks what comes out. */
#include <stdio.h>
#include <string.h>
#include <tessera/gemm.h>

int main(void) {
  const double a[] = {1, 2, 3, 4}, b[] = {1, 0, 1, 1}; /* column-major */
  double d[4] = {0};
  tessera_handle handle;
  tessera_place place = {.size = sizeof place, .gpu = TESSERA_CPU};
  tessera_problem problem = {.size = sizeof problem,
                             .m = 2,
                             .n = 2,
                             .k = 2,
                             .type_a = TESSERA_F64,
                             .memory = TESSERA_HOST_MEMORY};
  if (tessera_create(&handle, &place) ||
      tessera_gemm(handle, &problem, 1, a, b, 0, NULL, d, NULL) || tessera_destroy(handle)) {
    return fprintf(stderr, "%s\n", tessera_last_message()), 1;
  }
  if (strcmp(tessera_version(), TESSERA_VERSION) != 0) return 2;
  printf("%g %g %g %g\n", d[0], d[1], d[2], d[3]);
  return d[0] == 1 && d[1] == 2 && d[2] == 4 && d[3] == 6 ? 0 : 3;
}
