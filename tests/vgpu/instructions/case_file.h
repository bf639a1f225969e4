// One instruction test: a .ptx file whose comments hold the memory that its kernel reads and the
// memory that it must write. The same file runs on the virtual GPU and on a real one.
//
//   // op: what is tested, in words
//   // grid: 1  block: 32  shared: 0
//   // case: 00000001 ffffffff -> 00000000
//   // tolerance: 2 ulp                      optional, for floating-point words
//   // approximate: sin.approx.f32           optional: the virtual GPU must say so of these forms
//   // map: in f32 sizes 8 4 strides 32 box 4 2   optional: a tensor map over `in` or `out`, a
//   third
//                                  parameter; also: steps 1 2, swizzle 128, fill nan
//   // silicon: no                           optional: not for a real GPU
//   // fault: barrier                        optional: the launch must fail and say all these words
//
// The kernel is `test(in, out)`. Words are hexadecimal, as wide as they have digits, little endian;
// all left sides together are `in`, all right sides are `out`. "........" stands for any word,
// "nnnnnnnn" for any NaN. A line of PTX that ends in "// <- fault" must be the line of the fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "launch/tensor_map.h"

namespace tessera::vgpu {

enum class Expect : std::uint8_t { kExactly, kAnything, kNan };

struct ExpectedWord {
  Expect expect = Expect::kExactly;
  int bytes = 0;
  std::uint64_t value = 0;
  int line = 0;  // of its case in the file
};

struct CaseFile {
  std::string text;    // the whole file is the PTX
  std::string target;  // "sm_75"
  std::int64_t grid = 1;
  int block = 0, shared_bytes = 0;
  std::uint64_t tolerance_ulp = 0;
  bool on_silicon = true;
  std::vector<std::byte> input;
  std::vector<ExpectedWord> output;
  struct Map {
    TensorMapDesc desc;
    bool of_output = false;
  };
  std::vector<Map> maps;
  std::vector<std::string> approximate_forms;
  std::vector<std::string> fault_words;
  int fault_line = 0;

  std::size_t output_bytes() const;
  bool expects_fault() const { return !fault_words.empty() || fault_line != 0; }
};

// Throws std::runtime_error that names the file and the line.
CaseFile read_case_file(const std::filesystem::path& path);

// Whether `actual`, as wide as the word, is what the word allows.
bool matches(const ExpectedWord& word, std::uint64_t actual, std::uint64_t tolerance_ulp);

}  // namespace tessera::vgpu
