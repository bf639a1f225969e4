// Which lines of a matrix allow access by 16 bytes.
#pragma once

namespace tessera::gemm {

// Whether a number of elements, of a size that divides 16 bytes, are whole vectors. WHY not in
// bytes: the leading dimension of a matrix of one line may be the largest number.
constexpr bool are_whole_vectors(long long elements, int element_bytes) {
  return elements % (16 / element_bytes) == 0;
}

}  // namespace tessera::gemm
