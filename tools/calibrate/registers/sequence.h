// What an experiment on register ports runs: a short pattern of instructions, repeated. Two copies
// counts of the same pattern are timed, so that the loop around it drops out.
#pragma once

#include <string>
#include <vector>

#include "sass/rewrite/encode.h"
#include "tools/calibrate/timing/bench.h"

namespace tessera::calibration {

using Code = std::vector<sass::Instruction>;

// A kernel with room for code (tools/calibrate/kernels/register_frame.h) and what it has room for.
struct Frame {
  const char* entry;
  int slots;
  int last_register;            // the highest that code may use
  std::vector<int> warps = {};  // a sub-core, as many as the registers allow
};
const Frame& narrow_frame();  // R57, up to 8 warps a sub-core
const Frame& middle_frame();  // R121, up to 4
const Frame& wide_frame();    // R239, up to 2
const Frame& alone_frame();   // the narrow one, for one warp
const Frame& long_frame();    // R27, up to 8, room for 16384 instructions

// Registers below hold what the frame keeps, the loop counter and addresses.
inline constexpr int kFirstRegister = 14;
// Hold the lane's number times 4, and the lane's offset of the sequence's pattern, in either bank.
inline constexpr int kLaneTimes4 = 8, kOffsetOdd = 9, kOffsetEven = 12;
inline constexpr int kUniformRegister = 20;  // holds a number
inline constexpr int kSharedBase = 0x400;    // where a CTA's own shared memory begins

// 16 bytes a place; `count` of them, neighbouring lanes at the same one.
Pattern places(int count);

struct Sequence {
  std::string experiment, name;
  Code pattern;
  Code other = {};  // for every second warp of a sub-core; empty: all run the pattern
  const Frame* frame = &narrow_frame();
  Pattern lanes = places(32);  // where loads read
};

// An FFMA whose flags and control field are still to be chosen.
struct Fma {
  int d, a, b, c;
  unsigned reuse = 0;  // bits 0, 1, 2: operands A, B, C
};
inline constexpr unsigned kA = 1, kB = 2, kC = 4;

Code encode(const std::vector<Fma>& fmas);
// Flags every operand whose slot is read next, in its bank, for the same unwritten register; the
// list is taken as a loop.
std::vector<Fma> with_reuse(std::vector<Fma> fmas);

Code operator+(Code first, const Code& second);
Code times(const Code& code, int count);
sass::Instruction with_stall(const sass::Instruction& instruction, int stall, bool yields = false);

// A thread's tile for one k without conflicts of banks: 2x2 order, accumulators not in A's bank.
std::vector<Fma> good_block(int rows, int columns);

// The experiments, by file.
std::vector<Sequence> bank_sequences();
std::vector<Sequence> reuse_sequences();
std::vector<Sequence> block_sequences();
std::vector<Sequence> issue_sequences();
std::vector<Sequence> random_sequences();
// One warp alone: which banks the operands of neighbouring FFMAs lie in, by enumeration.
std::vector<Sequence> shape_sequences();
std::vector<Sequence> load_sequences();
std::vector<Sequence> yield_sequences();

}  // namespace tessera::calibration
