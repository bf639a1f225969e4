// Measures times. A kernel that is timed after a cooler one looks up to 20 % faster than it is, so
// candidates alternate in random order, and two figures are kept apart: burst (a rested GPU) and
// sustained (a hot one). Clocks come through an interface, so all of this is tested without a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "lab/timing/statistics.h"

namespace tessera::lab {

enum class Mode { kBurst, kSustained };
std::string_view name_of(Mode mode);

// Marks on the device's stream, and idling.
class Timer {
 public:
  virtual ~Timer() = default;
  virtual std::uint64_t mark() = 0;
  virtual double milliseconds_between(std::uint64_t begin, std::uint64_t end) = 0;
  virtual void synchronize() = 0;
  virtual void idle(double milliseconds) = 0;
};

// Throws kUnavailable on a device without a clock (the virtual GPU).
class DeviceTimer : public Timer {
 public:
  explicit DeviceTimer(Device& device) : device_(device) {}
  std::uint64_t mark() override;
  double milliseconds_between(std::uint64_t begin, std::uint64_t end) override;
  void synchronize() override;
  void idle(double milliseconds) override;

 private:
  Device& device_;
};

// Something to time. call(i) enqueues one call; i counts the candidate's calls and picks the
// operand buffers, so that successive calls find cold caches.
struct Candidate {
  std::string name;
  std::function<void(std::int64_t)> call;
};

struct MeasureOptions {
  std::uint64_t seed = 1;  // seed of the order
  int rounds = 5;
  double idle_ms = 250;
  int warm_ups = 3;
  int min_calls = 8, max_calls = 200;
  double burst_ms = 50;
  double long_call_ms = 300;                 // above it: 1 warm-up, 3 calls
  double sustained_ms = 100;                 // untimed, then as much timed
  int max_samples = 200;                     // samples per group; more calls share a pair of marks
  std::function<bool()> stop;                // asked before each group; true keeps what there is
  std::function<void(int, int)> progress;    // groups done, groups in all
  std::function<void(std::size_t)> on_busy;  // candidate whose timed calls are queued or running
};

// 0 ... count-1 in an order that the seed draws.
std::vector<std::size_t> shuffled_order(std::size_t count, std::uint64_t seed);
// The order of the candidates' groups in one round.
std::vector<std::size_t> order_of_round(std::size_t count, std::uint64_t seed, int round);

// Another one each time: an order that is always the same favours the same candidate each time. 32
// bits, so that every reader of JSON holds it.
std::uint64_t drawn_seed();

// All samples of a candidate, in milliseconds a call, over all rounds.
struct Samples {
  std::string name;
  std::vector<double> milliseconds;
  std::int64_t calls = 0;             // timed
  std::int64_t calls_per_sample = 1;  // calls between two neighbouring marks
  int rounds = 0;                     // in which it was timed
};

// Groups of all candidates, in seeded random order in each round. Neighbouring calls share a mark,
// so a sample is one call plus what the stream needs between two calls; calls are queued ahead, so
// the host's launch time shows only where it exceeds the kernel's.
std::vector<Samples> measure(Timer& timer, const std::vector<Candidate>& candidates, Mode mode,
                             const MeasureOptions& options = {});

}  // namespace tessera::lab
