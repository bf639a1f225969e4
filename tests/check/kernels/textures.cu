// Kernels that read through texture objects and say by assert() what must come. Arrays are f(i) = i
// unless said otherwise, n texels a dimension.
#include <cassert>

__global__ void fetched(cudaTextureObject_t t, int n) {
  const int i = threadIdx.x;
  assert(tex1Dfetch<float>(t, i) == static_cast<float>(i));
  assert(tex1Dfetch<float>(t, -1) == 0 && tex1Dfetch<float>(t, n) == 0);
}

// A texel is the half-open interval from its number on; outside the nearest one counts.
__global__ void points(cudaTextureObject_t t, int n) {
  const int i = threadIdx.x;
  assert(tex1D<float>(t, i) == static_cast<float>(i));
  assert(tex1D<float>(t, i + 0.99f) == static_cast<float>(i));
  assert(tex1D<float>(t, -3) == 0 && tex1D<float>(t, n + 5) == static_cast<float>(n - 1));
}

// Texels lie at their middle; weights have 8 bits.
__global__ void between(cudaTextureObject_t t, int n) {
  const int i = threadIdx.x;
  assert(tex1D<float>(t, i + 0.5f) == static_cast<float>(i));
  if (i + 1 < n) {
    assert(tex1D<float>(t, i + 1.0f) == i + 0.5f);
    assert(tex1D<float>(t, i + 0.75f) == i + 0.25f);
    assert(tex1D<float>(t, i + 0.5f + 1 / 1024.0f) == static_cast<float>(i));
    assert(tex1D<float>(t, i + 0.5f + 3 / 1024.0f) == i + 1 / 256.0f);
  }
  assert(tex1D<float>(t, 0.25f) == 0 && tex1D<float>(t, n + 9.0f) == static_cast<float>(n - 1));
}

__global__ void plane(cudaTextureObject_t t, int width) {
  const int x = threadIdx.x, y = threadIdx.y;
  assert(tex2D<float>(t, x + 0.5f, y + 0.5f) == static_cast<float>(y * width + x));
  assert(tex2D<float>(t, -9, y + 0.5f) == static_cast<float>(y * width));
}

__global__ void plane_between(cudaTextureObject_t t, int width) {
  const int x = threadIdx.x, y = threadIdx.y;
  if (x + 1 == width || y + 1 == blockDim.y) return;
  assert(tex2D<float>(t, x + 1.0f, y + 1.0f) == y * width + x + 0.5f * (width + 1));
}

__global__ void volume(cudaTextureObject_t t, int n) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  assert(tex3D<float>(t, x, y, z) == static_cast<float>((z * n + y) * n + x));
}

// Coordinates from 0 to 1; n is a power of two.
__global__ void around(cudaTextureObject_t t, int n, bool mirrored) {
  const int i = threadIdx.x, back = mirrored ? n - 1 - i : i;
  assert(tex1D<float>(t, (i + 0.5f) / n) == static_cast<float>(i));
  assert(tex1D<float>(t, 1 + (i + 0.5f) / n) == static_cast<float>(back));
  assert(tex1D<float>(t, -1 + (i + 0.5f) / n) == static_cast<float>(back));
  assert(tex1D<float>(t, 2 + (i + 0.5f) / n) == static_cast<float>(i));
}

// The array is 1 everywhere.
__global__ void border(cudaTextureObject_t t, int n, float half) {
  assert(tex1D<float>(t, -0.5f) == 0 && tex1D<float>(t, n + 0.5f) == 0);
  assert(tex1D<float>(t, 0.5f) == 1 && tex1D<float>(t, 0.0f) == half);
}

__global__ void bytes(cudaTextureObject_t t, unsigned char* out) {
  const int i = threadIdx.x;
  assert(tex2D<unsigned char>(t, i, 1) == blockDim.x + i);
  out[i] = tex2D<unsigned char>(t, i, 0);
}
__global__ void fractions(cudaTextureObject_t t) {
  assert(tex1D<float>(t, threadIdx.x) == threadIdx.x / 255.0f);
}
__global__ void signed_fractions(cudaTextureObject_t t) {  // the array is -128
  assert(tex1D<float>(t, threadIdx.x) == -1);
}
__global__ void four_channels(cudaTextureObject_t t) {
  const float4 texel = tex1Dfetch<float4>(t, threadIdx.x);
  const float first = 4 * threadIdx.x;
  assert(texel.x == first && texel.y == first + 1 && texel.z == first + 2 && texel.w == first + 3);
}
__global__ void integers(cudaTextureObject_t t) {
  assert(tex1Dfetch<int>(t, threadIdx.x) == static_cast<int>(threadIdx.x));
}

// Warp 1 reads what warp 0 writes.
__global__ void written(cudaTextureObject_t t, float* a, float* out) {
  if (threadIdx.x < 32) a[threadIdx.x] = 1;
  if (threadIdx.x >= 32) out[threadIdx.x - 32] = tex1Dfetch<float>(t, threadIdx.x - 32);
}

// Without mip levels there is one, and any level that is asked for is that one.
__global__ void levels(cudaTextureObject_t t, int width) {
  const int x = threadIdx.x, y = threadIdx.y;
  assert(tex2DLod<float>(t, x + 0.5f, y + 0.5f, 0) == static_cast<float>(y * width + x));
  assert(tex2DLod<float>(t, x + 0.5f, y + 0.5f, y) == static_cast<float>(y * width + x));
}
