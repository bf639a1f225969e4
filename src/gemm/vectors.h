// Which rows or columns of a matrix can be accessed in vectors of 16 bytes.
#pragma once

namespace tessera::gemm {

// Whether `elements` elements fill whole vectors of 16 bytes; an element's size divides 16. WHY
// count elements, not bytes: a matrix of one line may have the largest number as leading dimension.
constexpr bool are_whole_vectors(long long elements, int element_bytes) {
  return elements % (16 / element_bytes) == 0;
}

}  // namespace tessera::gemm
