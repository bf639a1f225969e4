// Nothing has been stored to the register that the shuffle reads where its branch is not taken.
extern "C" __global__ void shuffles_fresh_registers(float* out) {
  float value = threadIdx.x;
  if (threadIdx.x < 24) value += __shfl_down_sync(0xffffff, value, 16);
  if (threadIdx.x == 10) out[1] = value;
}
