// Measures times. A kernel that is timed after a cooler one looks up to 20 % faster than it is, so
// candidates alternate in random order, and two figures are kept apart: burst (a rested GPU) and
// sustained (a hot one). Clocks are read through an interface, so all of this is tested without a
// GPU.
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

// Makes marks on the device's stream, and lets the device idle.
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

// Something to time. call(i) enqueues call number i of this candidate; i selects the operand
// buffers, so that successive calls find cold caches.
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
  double long_call_ms = 300;                 // longer calls get 1 warm-up and 3 calls
  double sustained_ms = 100;                 // ms without timing, then as many ms with timing
  int max_samples = 200;                     // samples per group; more calls share a pair of marks
  std::function<bool()> stop;                // asked before each group; true keeps what there is
  std::function<void(int, int)> progress;    // groups done, groups in all
  std::function<void(std::size_t)> on_busy;  // candidate whose timed calls are queued or running
};

// Returns 0 ... count-1 in an order that the seed draws.
std::vector<std::size_t> shuffled_order(std::size_t count, std::uint64_t seed);
// Returns the order of the candidates' groups in one round.
std::vector<std::size_t> order_of_round(std::size_t count, std::uint64_t seed, int round);

// Returns another seed each time: an order that never changes always favours the same candidate. It
// has 32 bits, so that every reader of JSON can hold it.
std::uint64_t drawn_seed();

// All samples of a candidate over all rounds, in milliseconds per call.
struct Samples {
  std::string name;
  std::vector<double> milliseconds;
  std::int64_t calls = 0;             // timed calls
  std::int64_t calls_per_sample = 1;  // calls between two neighbouring marks
  int rounds = 0;                     // rounds in which the candidate was timed
};

// Times groups of calls of all candidates, in seeded random order in each round. Neighbouring calls
// share a mark, so a sample is one call plus the time that the stream needs between two calls.
// Calls are queued ahead, so the host's launch time shows only if it exceeds the kernel's time.
std::vector<Samples> measure(Timer& timer, const std::vector<Candidate>& candidates, Mode mode,
                             const MeasureOptions& options = {});

}  // namespace tessera::lab
