// fp64_feed: times ways to feed the FP64 tensor cores with two operands along k, in turn with the
// library's plan and the vendor's calls. What the probes are, and the prediction: probes.cu.
//
//   ninja -C build fp64_feed
//   build/fp64_feed build/calibration/fp64_feed.cubin [--json FILE]
//   build/fp64_feed build/calibration/fp64_feed.ptx --check     no GPU: right on the virtual one?
//
// Operands are random, and successive calls find cold caches. Samples of each result are recomputed
// on the host. All sizes take a few minutes; the JSON is written after each of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "device/cuda/cuda_device.h"
#include "device/virtual/virtual_device.h"
#include "lab/data/operand_sets.h"
#include "lab/record/record.h"
#include "lab/suite/planned.h"
#include "lab/timing/measure.h"
#include "lab/timing/vendor_choice.h"
#include "tools/calibrate/fp64_feed/params.h"

namespace tessera::fp64_feed {
namespace {

constexpr int kDepth = 16;  // k of a stage

struct Probe {
  const char* entry;
  OutputTile tile;
  int stages, threads, ctas;  // CTAs per SM
  OutputTile cluster = {1, 1};

  int shared_bytes() const { return stages * (tile.m + tile.n) * kDepth * 8 + 256; }
  int cluster_size() const { return cluster.m * cluster.n; }
};
constexpr Probe kProbes[] = {
    {"present_128x128", {128, 128}, 6, 256, 1},
    {"threads_singles_128x128", {128, 128}, 6, 256, 1},
    {"threads_pairs_128x128", {128, 128}, 6, 256, 1},
    {"copied_mixed_128x128", {128, 128}, 7, 384, 1},
    {"copied_singles_128x128", {128, 128}, 7, 384, 1},
    {"copied_pairs_128x128", {128, 128}, 7, 384, 1},
    {"shared_singles_128x128", {128, 128}, 7, 384, 1, {2, 1}},
    {"shared_pairs_128x128", {128, 128}, 7, 384, 1, {2, 1}},
    {"present_128x64", {128, 64}, 4, 128, 2},
    {"threads_singles_128x64", {128, 64}, 4, 128, 2},
    {"threads_pairs_128x64", {128, 64}, 4, 128, 2},
    {"copied_mixed_128x64", {128, 64}, 4, 256, 2},
    {"copied_singles_128x64", {128, 64}, 4, 256, 2},
    {"copied_pairs_128x64", {128, 64}, 4, 256, 2},
    {"shared_singles_128x64", {128, 64}, 4, 256, 2, {1, 2}},
    {"shared_pairs_128x64", {128, 64}, 4, 256, 2, {1, 2}},
};

struct Size {
  std::int64_t m, n, k;
};
constexpr Size kSizes[] = {{2048, 2048, 2048},
                           {4096, 4096, 4096},
                           {8192, 8192, 8192},
                           {1024, 4096, 11008},
                           {16384, 16384, 16384}};

// Row-major, both operands along k.
Problem problem_of(const Size& size) {
  Problem problem{size.m, size.n, size.k, kF64Types, Order::kRowMajor};
  set_layout(problem, "NT");
  return with_default_ld(problem);
}

struct Bound {
  LoadedEntry entry;
  LaunchShape shape;
  Params params;
};

TensorMap map_of(Device& device, std::uint64_t address, std::int64_t rows, std::int64_t k,
                 int box_rows) {
  TensorMapDesc desc;
  desc.type = TensorType::kF64;
  desc.address = address;
  desc.sizes = {static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(rows)};
  desc.strides = {static_cast<std::uint64_t>(k) * 8};
  desc.box = {kDepth, static_cast<std::uint32_t>(box_rows)};
  desc.swizzle = TensorSwizzle::k128B;
  desc.promotion = TensorPromotion::k256B;
  const TensorMapBytes bytes = device.encode_tensor_map(desc);
  TensorMap map;
  std::memcpy(&map, bytes.bytes.data(), sizeof map);
  return map;
}

// `most`: a limit of the number of CTAs, a multiple of the cluster.
Bound bind(Device& device, const LoadedImage& image, const Probe& probe, const Size& size,
           const Operands& operands, int most) {
  Bound bound{};
  const OutputTile across{probe.tile.m * probe.cluster.m, probe.tile.n * probe.cluster.n};
  Params& p = bound.params;
  p.raster = {static_cast<int>(size.m) / across.m, static_cast<int>(size.n) / across.n, 8, 1};
  p.products = 1;
  p.k_tiles = static_cast<int>(size.k) / kDepth;
  p.a_map = map_of(device, operands.a, size.m, size.k, probe.tile.m / probe.cluster.n);
  p.b_map = map_of(device, operands.b, size.n, size.k, probe.tile.n / probe.cluster.m);
  p.gemm = {.a = reinterpret_cast<const void*>(operands.a),
            .b = reinterpret_cast<const void*>(operands.b),
            .c = nullptr,
            .d = reinterpret_cast<void*>(operands.d),
            .m = size.m,
            .n = size.n,
            .k = size.k,
            .a_row = size.k,
            .a_col = 1,
            .b_row = 1,
            .b_col = size.k,
            .c_row = size.n,
            .d_row = size.n,
            .alpha = 1,
            .beta = 0};
  const int tiles = p.raster.tiles() * probe.cluster_size();
  bound.shape = {.grid = std::min(tiles, most),
                 .block = probe.threads,
                 .shared_bytes = probe.shared_bytes(),
                 .cluster = {probe.cluster_size(), 1, 1}};
  bound.entry = device.entry(image, probe.entry, bound.shape);
  return bound;
}

void launch(Device& device, const Bound& bound) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&bound.params);
  // WHY an offset: only the driver knows where a parameter block aligned to 64 bytes begins.
  constexpr std::size_t kOffset = 0;
  device.launch(bound.entry, bound.shape, {bytes, sizeof bound.params}, {&kOffset, 1}, nullptr);
}

// The largest error of `count` entries that a seed draws, over the sum of the products' magnitudes.
double largest_error(Device& device, const Size& size, const Operands& operands, int count) {
  const auto row_of = [&](std::uint64_t matrix, std::int64_t row) {
    std::vector<double> elements(static_cast<std::size_t>(size.k));
    device.copy_out(elements.data(), matrix + static_cast<std::uint64_t>(row * size.k * 8),
                    elements.size() * 8);
    return elements;
  };
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const auto bits = 2 * static_cast<std::uint64_t>(i);
    const auto row = static_cast<std::int64_t>(lab::mix_bits(bits) % size.m);
    const auto column = static_cast<std::int64_t>(lab::mix_bits(bits + 1) % size.n);
    const std::vector<double> a = row_of(operands.a, row), b = row_of(operands.b, column);
    double sum = 0, magnitude = 0, got = 0;
    for (std::size_t l = 0; l < a.size(); ++l) {
      sum += a[l] * b[l];
      magnitude += std::abs(a[l] * b[l]);
    }
    device.copy_out(&got, operands.d + static_cast<std::uint64_t>((row * size.n + column) * 8), 8);
    const double error = std::abs(got - sum) / magnitude;
    worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
    if (worst == HUGE_VAL) break;
  }
  return worst;
}

// Fills D with numbers that no product has.
void spoil(Device& device, const Size& size, const Operands& operands) {
  const std::vector<double> row(static_cast<std::size_t>(size.n), 1e300);
  for (std::int64_t i = 0; i < size.m; ++i) {
    device.copy_in(operands.d + static_cast<std::uint64_t>(i * size.n * 8), row.data(),
                   row.size() * 8);
  }
}

lab::Json run_size(Device& device, const LoadedImage& image, lab::Vendor* vendor,
                   const Size& size) {
  lab::DeviceTimer timer(device);
  fmt::print(stderr, "{} x {} x {}\n", size.m, size.n, size.k);
  const Problem problem = problem_of(size);
  const lab::OperandSets sets(device, problem, {lab::Fill::kUniform, 3});
  const lab::PlannedCall ours(device, problem, sets[0], {});
  const lab::OperandsOf of = [&](std::int64_t i) -> const Operands& { return sets[i]; };
  std::vector<lab::Candidate> candidates{{"library", [&](std::int64_t i) { ours.run(sets[i]); }}};
  std::vector<lab::VendorCall> calls;
  if (vendor) {
    lab::MeasureOptions choice;
    choice.rounds = 1, choice.idle_ms = 50, choice.burst_ms = 10;
    calls = lab::choose_vendor_calls(device, timer, vendor->calls(problem), of, choice);
  }
  for (const auto& call : calls) candidates.push_back(lab::candidate_of(call, of));

  std::vector<std::vector<Bound>> bound;
  lab::Json errors = lab::Json::object();
  for (const Probe& probe : kProbes) {
    bound.emplace_back();
    for (std::int64_t i = 0; i < sets.size(); ++i) {
      bound.back().push_back(
          bind(device, image, probe, size, sets[i], device.info().sms * probe.ctas));
    }
    spoil(device, size, sets[0]);
    launch(device, bound.back().front());
    device.synchronize();
    errors[probe.entry] = largest_error(device, size, sets[0], 64);
  }
  for (std::size_t i = 0; i < bound.size(); ++i) {
    candidates.push_back({kProbes[i].entry, [&device, &one = bound[i]](std::int64_t call) {
                            launch(device, one[static_cast<std::size_t>(call) % one.size()]);
                          }});
  }
  const auto samples = lab::measure(timer, candidates, lab::Mode::kBurst, {.seed = 7, .rounds = 3});
  const double tflop = 2e-12 * static_cast<double>(size.m * size.n) * static_cast<double>(size.k);
  lab::Json out{{"m", size.m}, {"n", size.n}, {"k", size.k}, {"errors", errors}};
  out["plan"] = lab::name_of(ours.plan().offers.front());
  fmt::print("\n{} x {} x {}, library: {}\n", size.m, size.n, size.k,
             out["plan"].get<std::string>());
  for (const auto& of_candidate : samples) {
    const lab::Summary s = lab::summarize(of_candidate.milliseconds);
    const double error = errors.value(of_candidate.name, 0.0);
    fmt::print("{:<34} {:9.4f} ms ({:.4f} to {:.4f}) {:6.2f} TFLOP/s{}\n", of_candidate.name,
               s.median, s.p5, s.p95, tflop / (s.median * 1e-3), error < 1e-12 ? "" : "  WRONG");
    out["runs"].push_back({{"name", of_candidate.name},
                           {"ms", {s.median, s.p5, s.p95}},
                           {"tflops", tflop / (s.median * 1e-3)}});
  }
  return out;
}

std::vector<std::byte> bytes_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// Nine stages, and several tiles per CTA, on the virtual GPU: 1 where a result is wrong.
int check(const std::vector<std::byte>& ptx) {
  const std::unique_ptr<Device> device = make_virtual_device();
  const LoadedImage image =
      device->load({.name = "fp64_feed",
                    .ptx = std::string_view(reinterpret_cast<const char*>(ptx.data()), ptx.size()),
                    .cubin = {},
                    .cubin_arch = {},
                    .portable_ptx = {},
                    .portable_arch = {}});
  const Size size{512, 384, 9 * kDepth};
  const lab::OperandSets sets(*device, problem_of(size), {lab::Fill::kUniform, 3});
  int wrong = 0;
  for (const Probe& probe : kProbes) {
    spoil(*device, size, sets[0]);
    launch(*device, bind(*device, image, probe, size, sets[0], 4));
    device->synchronize();
    const double error = largest_error(*device, size, sets[0], 20000);
    wrong += error < 1e-14 ? 0 : 1;
    fmt::print("{}: largest error {:.1e}\n", probe.entry, error);
  }
  return wrong > 0 ? 1 : 0;
}

int time_all(const std::vector<std::byte>& cubin, const char* json) {
  const std::unique_ptr<Device> device = make_cuda_device();
  const LoadedImage image = device->load({.name = "fp64_feed",
                                          .ptx = {},
                                          .cubin = cubin,
                                          .cubin_arch = "sm_90a",
                                          .portable_ptx = {},
                                          .portable_arch = {}});
  lab::Environment environment = lab::describe_environment(*device);
  std::unique_ptr<lab::Vendor> vendor;
  try {
    vendor = lab::Vendor::load(*device);
    environment.vendor = vendor->version();
  } catch (const std::exception& error) {
    fmt::print(stderr, "without the vendor's library: {}\n", error.what());
  }
  lab::Json out{{"schema", "tessera.fp64_feed/1"},
                {"environment", to_json(environment)},
                {"sizes", lab::Json::array()}};
  for (const Size& size : kSizes) {
    out["sizes"].push_back(run_size(*device, image, vendor.get(), size));
    if (json) lab::write_file(json, out.dump(1) + "\n", "--json");
  }
  return 0;
}

int run(int count, char** words) {
  const std::string option = count > 2 ? words[2] : "";
  if (count == 3 && option == "--check") return check(bytes_of(words[1]));
  if (count == 2) return time_all(bytes_of(words[1]), nullptr);
  if (count == 4 && option == "--json") return time_all(bytes_of(words[1]), words[3]);
  fmt::print(stderr, "usage: fp64_feed CUBIN [--json FILE], or fp64_feed PTX --check\n");
  return 2;
}

}  // namespace
}  // namespace tessera::fp64_feed

int main(int count, char** words) {
  try {
    return tessera::fp64_feed::run(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fp64_feed: {}\n", error.what());
    return 1;
  }
}
