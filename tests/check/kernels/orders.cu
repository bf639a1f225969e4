// What the order of warps decides, rightly or not; and shared memory that nobody wrote, read for
// all lanes at once.
extern "C" {

// Each takes the next place.
__global__ void takes_places(int* out, float* values, int* count, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] < 0) return;
  const int place = atomicAdd(count, 1);
  out[place] = i;
  values[place] = in[i];
}

// A list: what is new stands before what was first.
__global__ void links_lists(int* next, int* first) {
  next[threadIdx.x] = atomicExch(first, threadIdx.x);
}

// The number of the last warp stays.
__global__ void last_one_stays(int* out) {
  if (threadIdx.x % 32 == 0) atomicExch(out, threadIdx.x / 32);
}
__global__ void last_one_stays_and_is_timed(float* out, long long* time) {
  const long long begin = clock64();
  if (threadIdx.x % 32 == 0) atomicExch(out, threadIdx.x / 32);
  if (threadIdx.x % 32 == 0) time[threadIdx.x / 32] = clock64() - begin;
}

__global__ void tells_time(float* out, long long* time) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = threadIdx.x;
  if (threadIdx.x % 32 == 0) time[i / 32] = threadIdx.x + clock64();
}

// A slot a warp; the first warp reads 32 of them.
__device__ int slot_of_lane(int value) {
  __shared__ int slots[32];
  if (threadIdx.x % 32 == 31) slots[threadIdx.x / 32] = value;
  __syncthreads();
  return threadIdx.x < 32 ? slots[threadIdx.x] : 0;
}

// Sums up to each slot: those beyond the last warp are not used.
__global__ void scans_slots(int* out, const int* in) {
  int sum = slot_of_lane(in[threadIdx.x]);
  for (int i = 1; i < 32; i *= 2) {
    const int below = __shfl_up_sync(~0u, sum, i);
    if (threadIdx.x % 32 >= i) sum += below;
  }
  if (threadIdx.x < blockDim.x / 32) out[threadIdx.x] = sum;
}

__global__ void adds_slots(int* out, const int* in) {
  const int sum = __reduce_add_sync(~0u, slot_of_lane(in[threadIdx.x]));
  if (threadIdx.x == 0) *out = sum;
}
__global__ void takes_largest_slot(int* out, const int* in) {
  const int largest = __reduce_max_sync(~0u, slot_of_lane(in[threadIdx.x]));
  if (threadIdx.x == 0) *out = largest;
}
__global__ void takes_smallest_slot(int* out, const int* in) {
  const int smallest = __reduce_min_sync(~0u, slot_of_lane(in[threadIdx.x]));
  if (threadIdx.x == 0) *out = smallest;
}

// 0 * infinity, whatever is added to it.
__global__ void adds_slots_to_nan(float* out, const int* in, float zero) {
  const int sum = __reduce_add_sync(~0u, slot_of_lane(in[threadIdx.x]));
  if (threadIdx.x == 0) *out = zero / zero + sum;
}

// Waits until the slots add up to something.
__global__ void waits_for_slots(int* out, const int* in) {
  int sum = __reduce_add_sync(~0u, slot_of_lane(in[threadIdx.x]));
  while (sum > 0) sum = max(sum, *(volatile const int*)in);
  out[threadIdx.x] = 1;
}

// Words and their copies half a tile further on, found by xor: right where the tile begins at a
// multiple of its size.
__global__ void flips_addresses(int* out) {
  __shared__ __align__(4096) int tile[1024];
  const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x));
  tile[512 + threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = *static_cast<int*>(__cvta_shared_to_generic(own ^ 2048u));
}

// The largest number so far, by compare-and-swap of what a plain read found; the last one compares
// with something else.
__device__ void keep_largest(int* word, float value) {
  int old = *word, expected;
  do {
    expected = old;
    old = atomicCAS(word, expected, __float_as_int(fmaxf(value, __int_as_float(expected))));
  } while (old != expected);
}
__global__ void takes_largest(int* out, const float* in) {
  keep_largest(out, in[blockIdx.x * blockDim.x + threadIdx.x]);
}
__global__ void takes_largest_of_block(int* out, const float* in) {
  __shared__ int largest;
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  keep_largest(&largest, in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = largest;
}
__global__ void trusts_what_it_read(int* out, int* count) {
  const int place = *count;
  atomicCAS(count, 0, 1);
  out[blockIdx.x * blockDim.x + threadIdx.x] = place;
}
}
