// The matrices of one call, in memory of exactly their size, so that a sanitizer finds one byte
// beyond; and what must be in D after the call.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/gemm.h"
#include "tests/fuzz/input.h"

namespace tessera::fuzz {

// An address that nobody may read or write.
void* no_memory();

// What a problem says of one operand, by the words of gemm.h alone.
struct Extent {
  std::int32_t type = 0;               // tessera_type, TESSERA_AS_A resolved
  std::int64_t lines = 0, line = 0;    // how many, and the elements that are used of each
  std::int64_t ld = 0;                 // never 0
  std::int64_t count = 1, stride = 0;  // matrices, and elements from one to the next
  bool is_row_major = false;           // as it lies in memory
  bool is_list = false;                // each matrix has memory of its own

  __int128 elements() const;  // of a list, of one matrix
};
Extent extent_of(const tessera_problem& problem, char operand);
int bytes_of_type(std::int32_t type);  // 0 for none

// True where the problem is of a size that can be held and multiplied here, or is too large for any
// machine, so that it must be refused.
bool can_be_tried(const tessera_problem& problem);

class Operands {
 public:
  Operands(const tessera_problem& problem, double alpha, double beta, Input& input);
  Operands(const Operands&) = delete;

  // Addresses for a call, of lists where it is a batch of pointers.
  void put_into(tessera_arguments& arguments);
  bool is_in_place() const { return is_in_place_; }  // D is C
  // After a call that was refused: nothing has changed.
  void check_untouched() const;
  // After one that was not: nothing has changed but elements of D; and these are the product, where
  // somebody multiplied.
  void check_done(bool is_computed) const;

 private:
  struct Matrices {
    Extent extent;
    int element_bytes = 1;
    void* instead = nullptr;  // an address that the call must not look at
    bool is_missing = false;  // it gets that one
    std::size_t offset = 0;   // from the memory's first byte, so that addresses may be odd
    std::vector<std::vector<unsigned char>> memory;  // one, or one of each matrix
    std::vector<std::vector<unsigned char>> before;
    std::vector<void*> list;

    // Where an element is: in which memory, and its first byte there.
    struct Place {
      std::size_t memory, byte;
    };
    Place place_of(std::int64_t matrix, std::int64_t row, std::int64_t col) const;
    double was(std::int64_t matrix, std::int64_t row, std::int64_t col) const;
    void* address();
  };

  void make(Matrices& one, char operand, bool is_read, Input& input);
  double product(std::int64_t matrix, std::int64_t row, std::int64_t col) const;

  const tessera_problem problem_;
  const double alpha_, beta_;
  Matrices a_, b_, c_, d_;
  bool is_in_place_ = false;
};

}  // namespace tessera::fuzz
