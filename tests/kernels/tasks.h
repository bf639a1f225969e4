// What the kernels with planted bugs are asked to compute, and the right answer. Small integers, so
// that every order of summing gives the same bits.
#pragma once

#include "tests/kernels/run_kernel.h"

namespace tessera {

struct Task {
  Bytes in;
  Bytes out;       // before the launch
  Bytes expected;  // after it
  int n = 0;       // the kernel's n: elements of `in`
};

// `threads` elements.
Task copied(int n);
Task reversed(int n);
Task reversed_and_padded(int n, int padded);     // the first n, then zeros
Task sum_of_reversed_rounds(int rounds, int n);  // of n elements each
Task sum_of_shares(int blocks, int n);           // a share is n elements
Task sum_of_shares_kept(int blocks, int n);      // the shares follow the sum
Task sum_in_all(int n, int threads);             // every thread has the sum
Task sum_plus_reversed_index(int n);
Task sum_of_neighbours(int n, int lanes);  // l and l ^ 1 below n; the others unchanged
Task sum_of_fours(int n, int threads);     // thread t: elements 4 t to 4 t + 3
Task sum_modulo_8(int n);
Task a_times_a_transposed();  // f64, 8 x 4
// The sum of factor * X * X^T over bf16 tiles X of 64 x 64, which are stored in wgmma's layout.
Task tiles_times_transposed(int tiles, float factor = 1);
Task neighbours_exchanged(int n);  // halves of n elements each

}  // namespace tessera
