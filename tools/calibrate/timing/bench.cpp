#include "tools/calibrate/timing/bench.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "sass/container/cubin.h"

namespace tessera::calibration {
namespace {

constexpr int kRepeats = 3;
constexpr int kLonger = 3;  // the longer run has so many times the iterations
constexpr std::size_t kClockBytes = std::size_t{8} << 20;
constexpr std::size_t kSinkBytes = 4096;

int threads_of(const Work& work) { return work.threads ? work.threads : 32 * work.warps; }

}  // namespace

Bench::Bench(Device& device, std::size_t bytes) : device_(device), bytes_(bytes) {
  data_ = device_.allocate(bytes);
  offsets_ = device_.allocate(sizeof(Pattern::offset));
  clocks_ = device_.allocate(kClockBytes);
  sink_ = device_.allocate(kSinkBytes);
  clear(bytes_);
  const std::vector<char> zeros(kSinkBytes);
  device_.copy_in(sink_, zeros.data(), zeros.size());
}

Bench::~Bench() {
  for (DeviceAddress address : {data_, offsets_, clocks_, sink_}) device_.free(address);
}

void Bench::copy_in(const void* from, std::size_t bytes) { device_.copy_in(data_, from, bytes); }

void Bench::clear(std::size_t bytes) {
  const std::vector<char> zeros(std::min(bytes, std::size_t{64} << 20));
  for (std::size_t at = 0; at < bytes; at += zeros.size()) {
    device_.copy_in(data_ + at, zeros.data(), std::min(zeros.size(), bytes - at));
  }
}

void Bench::launch(const Work& work, int iterations) {
  const auto pointer = [](DeviceAddress address) { return reinterpret_cast<char*>(address); };
  Params params{};
  params.offsets = reinterpret_cast<const unsigned*>(offsets_);
  params.data = pointer(data_);
  params.clocks = reinterpret_cast<long long*>(clocks_);
  params.sink = reinterpret_cast<unsigned*>(sink_);
  params.cta_stride = work.cta_stride;
  params.warp_stride = work.warp_stride;
  params.bytes = work.bytes;
  if (work.shift) params.start = work.shift * launches_++ % work.bytes;
  params.iterations = iterations;
  params.first = work.first;
  params.second = work.second;
  params.mask = work.mask;
  params.step = work.step;
  Launch launch;
  launch.entry = work.entry;
  launch.shape.grid = work.ctas;
  launch.shape.block = threads_of(work);
  launch.params.resize(sizeof params);
  std::memcpy(launch.params.data(), &params, sizeof params);
  device_.launch(device_.load(*work.image), launch);
}

// From the first warp's begin to the last one's end, the median over the CTAs.
double Bench::clocks(const Work& work) {
  const int warps = (threads_of(work) + 31) / 32;
  std::vector<long long> marks(2 * static_cast<std::size_t>(warps) * work.ctas);
  device_.copy_out(marks.data(), clocks_, marks.size() * sizeof marks[0]);
  std::vector<double> spans;
  for (int cta = 0; cta < work.ctas; ++cta) {
    long long begin = std::numeric_limits<long long>::max(), end = 0;
    for (int w = 0; w < warps; ++w) {
      const std::size_t at = 2 * (static_cast<std::size_t>(cta) * warps + w);
      begin = std::min(begin, marks[at]);
      end = std::max(end, marks[at + 1]);
    }
    spans.push_back(static_cast<double>(end - begin));
  }
  std::nth_element(spans.begin(), spans.begin() + spans.size() / 2, spans.end());
  return spans[spans.size() / 2];
}

std::optional<double> Bench::cycles(const Work& work) {
  device_.copy_in(offsets_, work.pattern.offset.data(), sizeof work.pattern.offset);
  if (!has_clock()) {
    launch(work, 1);
    device_.synchronize();
    return std::nullopt;
  }
  launch(work, kLonger * work.iterations);  // fills the caches
  double best = 0;
  for (int r = 0; r < kRepeats; ++r) {
    launch(work, work.iterations);
    const double shorter = clocks(work);
    launch(work, kLonger * work.iterations);
    const double longer = clocks(work);
    const double each = (longer - shorter) / ((kLonger - 1) * work.iterations);
    if (r == 0 || each < best) best = each;
  }
  return best;
}

std::optional<double> Bench::milliseconds(const Work& work, int launches) {
  device_.copy_in(offsets_, work.pattern.offset.data(), sizeof work.pattern.offset);
  launch(work, work.iterations);
  device_.synchronize();
  std::optional<double> best;
  for (int r = 0; r < kRepeats && (has_clock() || r == 0); ++r) {
    const std::uint64_t begin = device_.record_mark();
    for (int i = 0; i < launches; ++i) launch(work, work.iterations);
    const std::uint64_t end = device_.record_mark();
    const auto time = device_.milliseconds_between(begin, end);
    if (time && (!best || *time < *best)) best = time;
  }
  return best;
}

std::optional<std::pair<double, double>> Bench::cycles_and_milliseconds(const Work& work) {
  const auto time = milliseconds(work, 1);
  if (!time) return std::nullopt;
  return std::pair(clocks(work), *time);
}

Json Bench::loop_of(const CodeImage& image, const std::string& entry) {
  const sass::CubinFile cubin = sass::read_cubin(image.cubin);
  const sass::CubinKernel* kernel = cubin.find(entry);
  if (!kernel || kernel->loops.empty()) return nullptr;
  const auto size = [](const sass::Loop& loop) { return loop.end - loop.begin; };
  const sass::Loop& largest = *std::ranges::max_element(kernel->loops, {}, size);
  return Json(largest.histogram);
}

}  // namespace tessera::calibration
