#include "tools/calibrate/registers/sequence.h"

#include <algorithm>
#include <array>

namespace tessera::calibration {

const Frame& narrow_frame() {
  static const Frame frame{"registers_narrow", 4096, 57, {1, 2, 4, 8}};
  return frame;
}

const Frame& middle_frame() {
  static const Frame frame{"registers_middle", 4096, 121, {1, 2, 4}};
  return frame;
}

const Frame& wide_frame() {
  static const Frame frame{"registers_wide", 4096, 239, {1, 2}};
  return frame;
}

const Frame& alone_frame() {
  static const Frame frame{"registers_narrow", 4096, 57, {1}};
  return frame;
}

const Frame& long_frame() {
  static const Frame frame{"registers_long", 16640, 27, {1, 2, 4, 8}};
  return frame;
}

Pattern places(int count) {
  Pattern pattern{std::to_string(count) + " places", {}};
  for (int lane = 0; lane < 32; ++lane) pattern.offset[lane] = 16U * (lane * count / 32);
  return pattern;
}

Code encode(const std::vector<Fma>& fmas) {
  Code code;
  for (const Fma& f : fmas) {
    code.push_back(with_control(sass::ffma(f.d, f.a, f.b, f.c), {.stall = 1, .reuse = f.reuse}));
  }
  return code;
}

namespace {

std::array<int, 3> sources(const Fma& f) { return {f.a, f.b, f.c}; }

bool is_read_next(const std::vector<Fma>& fmas, std::size_t at, int slot) {
  const int reg = sources(fmas[at])[slot];
  if (reg == sass::kZeroRegister) return false;
  for (std::size_t step = 1; step <= fmas.size(); ++step) {
    if (fmas[(at + step - 1) % fmas.size()].d == reg) return false;
    const int next = sources(fmas[(at + step) % fmas.size()])[slot];
    if (next != sass::kZeroRegister && next % 2 == reg % 2) return next == reg;
  }
  return false;
}

}  // namespace

std::vector<Fma> with_reuse(std::vector<Fma> fmas) {
  for (std::size_t at = 0; at < fmas.size(); ++at) {
    fmas[at].reuse = 0;
    for (int slot = 0; slot < 3; ++slot) {
      if (is_read_next(fmas, at, slot)) fmas[at].reuse |= 1U << slot;
    }
  }
  return fmas;
}

Code operator+(Code first, const Code& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Code times(const Code& code, int count) {
  Code all;
  for (int i = 0; i < count; ++i) all.insert(all.end(), code.begin(), code.end());
  return all;
}

sass::Instruction with_stall(const sass::Instruction& instruction, int stall, bool yields) {
  sass::Control control = sass::control_of(instruction);
  control.stall = stall;
  control.yields = yields;
  return sass::with_control(instruction, control);
}

}  // namespace tessera::calibration
