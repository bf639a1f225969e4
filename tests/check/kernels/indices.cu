// Kernels whose accesses depend on what integers hold.
extern "C" {

// Updates of one counter by several threads are lost.
__global__ void counts_values(int* counts, const int* values, int n, int bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && values[i] < bins) counts[values[i]] += 1;
}

// Right where no two places are the same.
__global__ void scatters(int* out, const int* places, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[places[i]] = i;
}

// Columns are shorter than there are elements.
__global__ void multiplies_sparse(float* y, const int* rows, const int* columns,
                                  const float* values, const float* x, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int k = rows[row]; k < rows[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}
}

int main() {
  const int n = 1 << 12, wide = 100, elements = 9000;
  int *counts, *values, *out, *places, *rows, *columns;
  float *y, *x, *v;
  cudaMalloc(&counts, n * sizeof(int));
  cudaMalloc(&values, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMalloc(&places, n * sizeof(int));
  cudaMalloc(&rows, (n + 1) * sizeof(int));
  cudaMalloc(&columns, elements * sizeof(int));
  cudaMalloc(&y, n * sizeof(float));
  cudaMalloc(&x, wide * sizeof(float));
  cudaMalloc(&v, elements * sizeof(float));
  counts_values<<<n / 256, 256>>>(counts, values, n, n);
  scatters<<<n / 256, 256>>>(out, places, n);
  multiplies_sparse<<<n / 256, 256>>>(y, rows, columns, v, x, n);
}
