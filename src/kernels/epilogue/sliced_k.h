// Small tiles leave an SM with few warps. With sliced K, several groups of warps ("slices") compute
// the same outputs, each over its share of every stage's k; at the end they exchange partial sums
// through shared memory, and each slice adds and stores its share of the rows.
#pragma once

#include "kernels/ptx/named_barrier.h"
#include "kernels/tile/thread_accumulators.h"

namespace tessera::epilogue {

// `threads`: threads per slice. A thread exchanges sums with the same thread of other slices,
// without bank conflicts. Uses the barriers `named_barrier` and `named_barrier` + 1 exclusively.
template <class Accumulators, int slices, int threads, int named_barrier>
struct SlicedK {
  static constexpr int kRows = Accumulators::kThread.m / slices;  // of a thread, for each slice
  static constexpr int kVectors = Accumulators::kThread.n / tile::kVector;

  using Share = float4[kRows][kVectors][threads];
  Share sent[slices][slices - 1];  // by sender and receiver

  // Adds the sums of all slices and calls `store` with this slice's rows, as a RowsConstant. All
  // threads of all slices call it.
  template <class Store>
  __device__ void reduce_and_store(int slice, int thread, Accumulators& accumulators,
                                   const Store& store) {
    send(slice, thread, accumulators);
    ptx::barrier_sync(named_barrier, slices * threads);
    reduce_rows_of<0>(slice, thread, accumulators, store);
  }

 private:
  __device__ Share& share(int sender, int receiver) {
    return sent[sender][receiver - (receiver > sender)];
  }

  __device__ void send(int slice, int thread, const Accumulators& accumulators) {
#pragma unroll
    for (int i = 0; i < Accumulators::kThread.m; ++i) {
      const int receiver = i / kRows;
      if (receiver == slice) continue;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const float* x = &accumulators.sum[i][v * tile::kVector];
        share(slice, receiver)[i % kRows][v][thread] = {x[0], x[1], x[2], x[3]};
      }
    }
  }

  // Adds all slices' sums of the rows of slice `receiver`, in ascending order.
  template <int receiver>
  __device__ void receive(int thread, Accumulators& accumulators) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        float* mine = &accumulators.sum[receiver * kRows + i][v * tile::kVector];
        const float4 own = {mine[0], mine[1], mine[2], mine[3]};
        float4 total;
#pragma unroll
        for (int sender = 0; sender < slices; ++sender) {
          const float4 more = sender == receiver ? own : share(sender, receiver)[i][v][thread];
          if (sender == 0) total = more;
          if (sender > 0) tile::add(total, more);
        }
        mine[0] = total.x, mine[1] = total.y, mine[2] = total.z, mine[3] = total.w;
      }
    }
  }

  // WHY a template per slice: registers cannot be indexed at run time.
  template <int receiver, class Store>
  __device__ void reduce_rows_of(int slice, int thread, Accumulators& accumulators,
                                 const Store& store) {
    if (receiver == slice) {
      receive<receiver>(thread, accumulators);
      ptx::barrier_sync(named_barrier + 1, slices * threads);  // all threads have read `sent`
      store(tile::RowsConstant<tile::Rows{receiver * kRows, kRows}>{}, accumulators);
    } else if constexpr (receiver + 1 < slices) {
      reduce_rows_of<receiver + 1>(slice, thread, accumulators, store);
    }
  }
};

// One slice has nothing to exchange.
template <class Accumulators, int threads, int named_barrier>
struct SlicedK<Accumulators, 1, threads, named_barrier> {
  template <class Store>
  __device__ void reduce_and_store(int, int, Accumulators& accumulators, const Store& store) {
    store(tile::RowsConstant<Accumulators::kAllRows>{}, accumulators);
  }
};

}  // namespace tessera::epilogue
