// Detects that a program that stores nothing has returned to an earlier state: then it never ends.
// Uses Brent's cycle detection: one state is kept, and replaced by the current one at growing
// intervals.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

class RepeatWatch {
 public:
  enum class Verdict : std::uint8_t { kMoves, kRepeats, kTakesLong };

  // `state` is a hash. `effects` counts the changes that are not visible in the hash.
  Verdict look(std::uint64_t effects, std::uint64_t state) {
    if (effects != effects_ || looks_ == 0) {
      effects_ = effects;
      looks_ = 0;
      return keep(state, 1);
    }
    if (state == kept_) return Verdict::kRepeats;
    if (++looks_ > kPatience) return Verdict::kTakesLong;
    if (--until_next_ == 0) return keep(state, 2 * span_);
    return Verdict::kMoves;
  }
  void forget() { looks_ = 0; }
  std::uint64_t looks() const { return looks_; }  // without any effect in between

 private:
  // The number of checks without an effect after which a loop counts as endless although its state
  // changes: it may count or read a clock.
  static constexpr std::uint64_t kPatience = 4096;

  Verdict keep(std::uint64_t state, std::uint64_t span) {
    kept_ = state;
    until_next_ = span_ = span;
    if (looks_ == 0) looks_ = 1;
    return Verdict::kMoves;
  }

  std::uint64_t effects_ = 0, kept_ = 0, looks_ = 0, span_ = 1, until_next_ = 1;
};

}  // namespace tessera::vgpu
