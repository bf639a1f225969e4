// Detects that a machine which stores nothing returns to an earlier state: then it never ends.
// Brent's algorithm for cycles: one state is kept, and replaced by a later one more and more
// rarely.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

class RepeatWatch {
 public:
  enum class Verdict : std::uint8_t { kMoves, kRepeats, kTakesLong };

  // `effects` grows with whatever the state does not show; `state` is a hash of the rest.
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
  // Looks without any effect after which a loop is taken for endless even if it moves: it may count
  // or read a clock.
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
