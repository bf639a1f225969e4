// promoted: times the candidates of the promoting main loop beside a plain FP16 product of three
// times the k, in turn, by the protocol of every table (burst).
//
//   build/promoted build/calibration/promoted.cubin [--json FILE]
//   build/promoted build/calibration/promoted.ptx --check     no GPU: right on the virtual one?
//
// The operands' planes hold random numbers; a sample of each result is recomputed on the host.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/elements.h"
#include "device/buffer.h"
#include "device/cuda/cuda_device.h"
#include "device/virtual/virtual_device.h"
#include "lab/data/fill.h"
#include "lab/data/operand_sets.h"
#include "lab/record/record.h"
#include "lab/suite/planned.h"
#include "lab/timing/measure.h"
#include "lab/timing/vendor_choice.h"
#include "tools/calibrate/promoted/params.h"

namespace tessera::promoted {
namespace {

struct Probe {
  const char* entry;
  int m, n, stages;
  int shared_bytes() const { return stages * (m + n) * 128 + 1024 + 256; }
};
constexpr Probe kProbes[] = {{"one_chain_128x192", 128, 192, 5},
                             {"in_turns_128x192", 128, 192, 5},
                             {"two_chains_128x192", 128, 192, 5},
                             {"two_chains_128x256", 128, 256, 4}};

struct Size {
  std::int64_t m, n, k;
};
// Whole tiles of both widths, and whole waves of 128x192 on 132 SMs.
constexpr Size kSizes[] = {{2816, 2304, 2048}, {5632, 4608, 4096}, {8448, 8448, 8192}};

// One operand's planes, random, as the kernels read them; on the host and on the device.
struct Planes {
  lab::HostMatrix host;
  DeviceBuffer device;

  Planes(Device& gpu, std::int64_t rows, std::int64_t k, std::uint64_t seed)
      : host(ElementType::kF16, {rows, 2 * k, 2 * k, 1}, 0), device(gpu, host.total_bytes()) {
    lab::fill(host, {lab::Fill::kUniform, seed});
    gpu.copy_in(device.address(), host.bytes(), host.total_bytes());
  }
  double at(std::int64_t row, std::int64_t k, bool low) const {
    return host.at(row, k / 32 * 64 + (low ? 32 : 0) + k % 32);
  }
  TensorMapDesc map(int box_rows) const {
    TensorMapDesc desc;
    desc.type = TensorType::kF16;
    desc.address = device.address();
    desc.sizes = {static_cast<std::uint64_t>(host.view().cols),
                  static_cast<std::uint64_t>(host.view().rows)};
    desc.strides = {static_cast<std::uint64_t>(host.view().cols) * 2};
    desc.box = {64, static_cast<std::uint32_t>(box_rows)};
    desc.swizzle = TensorSwizzle::k128B;
    desc.promotion = TensorPromotion::k256B;
    return desc;
  }
};

struct Bound {
  Probe probe;
  LoadedEntry entry;
  LaunchShape shape;
  Params params;
};

Bound bind(Device& device, const LoadedImage& image, const Probe& probe, const Size& size,
           const Planes& a, const Planes& b, DeviceAddress d) {
  Bound bound{probe, {}, {}, {}};
  bound.shape = {.grid = device.info().sms, .block = 384, .shared_bytes = probe.shared_bytes()};
  bound.entry = device.entry(image, probe.entry, bound.shape);
  const auto encode = [&](const Planes& planes, int rows, TensorMap& to) {
    const TensorMapBytes bytes = device.encode_tensor_map(planes.map(rows));
    std::memcpy(&to, bytes.bytes.data(), sizeof to);
  };
  encode(a, probe.m, bound.params.a_map);
  encode(b, probe.n, bound.params.b_map);
  bound.params.d = reinterpret_cast<float*>(d);
  bound.params.ldd = size.n;
  bound.params.raster = {static_cast<int>(size.m / probe.m), static_cast<int>(size.n / probe.n), 8,
                         1};
  bound.params.stages = static_cast<int>(size.k / 32);
  return bound;
}

void launch(Device& device, const Bound& bound) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&bound.params);
  // WHY an offset: only the driver knows where a parameter block aligned to 64 bytes begins.
  constexpr std::size_t kOffset = 0;
  device.launch(bound.entry, bound.shape, {bytes, sizeof bound.params}, {&kOffset, 1}, nullptr);
}

// The largest error of 64 entries, over the sum of the products' magnitudes.
double largest_error(Device& device, const Size& size, const Planes& a, const Planes& b,
                     DeviceAddress d) {
  double worst = 0;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const auto row = static_cast<std::int64_t>(lab::mix_bits(2 * i) % size.m);
    const auto col = static_cast<std::int64_t>(lab::mix_bits(2 * i + 1) % size.n);
    double sum = 0, magnitude = 0;
    for (std::int64_t l = 0; l < size.k; ++l) {
      const double ah = a.at(row, l, false), al = a.at(row, l, true);
      const double bh = b.at(col, l, false), bl = b.at(col, l, true);
      sum += ah * bh + ah * bl + al * bh;
      magnitude += std::abs(ah * bh) + std::abs(ah * bl) + std::abs(al * bh);
    }
    float got = 0;
    device.copy_out(&got, d + (row * size.n + col) * 4, 4);
    worst = std::max(worst, std::abs(got - sum) / magnitude);
  }
  return worst;
}

lab::Json run_size(Device& device, const LoadedImage& image, lab::Vendor& vendor,
                   const Size& size) {
  lab::DeviceTimer timer(device);
  fmt::print(stderr, "planes of k = {}\n", size.k);
  const Planes a(device, size.m, size.k, 1), b(device, size.n, size.k, 2);
  const DeviceBuffer d(device, static_cast<std::size_t>(size.m * size.n * 4));
  // Row-major, both operands along k.
  Problem plain{size.m, size.n, 3 * size.k, kF16ToF32Types, Order::kRowMajor};
  set_layout(plain, "NT");
  plain = with_default_ld(plain);
  const lab::OperandSets sets(device, plain, {lab::Fill::kUniform, 3});
  const lab::PlannedCall ours(device, plain, sets[0], {});
  const lab::OperandsOf of = [&](std::int64_t i) -> const Operands& { return sets[i]; };
  fmt::print(stderr, "the vendor's candidate\n");
  lab::MeasureOptions choice;
  choice.rounds = 1, choice.idle_ms = 50, choice.burst_ms = 10;
  const auto calls = lab::choose_vendor_calls(device, timer, vendor.calls(plain), of, choice);
  std::vector<Bound> bound;
  lab::Json probes = lab::Json::array();
  std::vector<lab::Candidate> candidates{{"ours", [&](std::int64_t i) { ours.run(sets[i]); }}};
  for (const auto& call : calls) candidates.push_back(lab::candidate_of(call, of));
  for (const Probe& probe : kProbes) {
    fmt::print(stderr, "{} at k = {}\n", probe.entry, size.k);
    bound.push_back(bind(device, image, probe, size, a, b, d.address()));
    launch(device, bound.back());
    device.synchronize();
    probes.push_back({{"probe", probe.entry},
                      {"largest_error", largest_error(device, size, a, b, d.address())}});
  }
  for (const Bound& one : bound) {
    candidates.push_back({one.probe.entry, [&](std::int64_t) { launch(device, one); }});
  }
  fmt::print(stderr, "timing\n");
  const auto samples = lab::measure(timer, candidates, lab::Mode::kBurst, {.seed = 7});
  const double tflop = 6e-12 * static_cast<double>(size.m * size.n) * static_cast<double>(size.k);
  lab::Json out{{"m", size.m}, {"n", size.n}, {"k", size.k}, {"runs", lab::Json::array()}};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const lab::Summary s = lab::summarize(samples[i].milliseconds);
    out["runs"].push_back({{"name", samples[i].name},
                           {"ms", {s.median, s.p5, s.p95}},
                           {"tflops_of_products", tflop / (s.median * 1e-3)}});
  }
  out["plan"] = lab::name_of(ours.plan().offers.front());
  out["errors"] = probes;
  return out;
}

std::vector<std::byte> bytes_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// Seven chains of two tiles each, on the virtual GPU: 1 where a result is wrong.
int check(const std::vector<std::byte>& ptx) {
  const std::unique_ptr<Device> device = make_virtual_device();
  const LoadedImage image =
      device->load({.name = "promoted",
                    .ptx = std::string_view(reinterpret_cast<const char*>(ptx.data()), ptx.size()),
                    .cubin = {},
                    .cubin_arch = {},
                    .portable_ptx = {},
                    .portable_arch = {}});
  const Size size{256, 768, 448};
  const Planes a(*device, size.m, size.k, 1), b(*device, size.n, size.k, 2);
  int wrong = 0;
  for (const Probe& probe : kProbes) {
    const DeviceBuffer d(*device, static_cast<std::size_t>(size.m * size.n * 4));
    const std::vector<float> nothing(static_cast<std::size_t>(size.m * size.n), 1e9F);
    device->copy_in(d.address(), nothing.data(), nothing.size() * 4);
    launch(*device, bind(*device, image, probe, size, a, b, d.address()));
    device->synchronize();
    const double error = largest_error(*device, size, a, b, d.address());
    wrong += error < 1e-6 ? 0 : 1;
    fmt::print("{}: largest error {:.1e}\n", probe.entry, error);
  }
  return wrong > 0 ? 1 : 0;
}

int time_all(const std::vector<std::byte>& cubin, const char* json) {
  const std::unique_ptr<Device> device = make_cuda_device();
  const LoadedImage image = device->load({.name = "promoted",
                                          .ptx = {},
                                          .cubin = cubin,
                                          .cubin_arch = "sm_90a",
                                          .portable_ptx = {},
                                          .portable_arch = {}});
  const auto vendor = lab::Vendor::load(*device);
  lab::Environment environment = lab::describe_environment(*device);
  environment.vendor = vendor->version();
  lab::Json out{{"schema", "tessera.promoted/1"},
                {"environment", to_json(environment)},
                {"sizes", lab::Json::array()}};
  for (const Size& size : kSizes) {
    out["sizes"].push_back(run_size(*device, image, *vendor, size));
    fmt::print("{}\n", out["sizes"].back().dump(1));
  }
  if (json) lab::write_file(json, out.dump(1) + "\n", "--json");
  return 0;
}

int run(int count, char** words) {
  const std::string option = count > 2 ? words[2] : "";
  if (count == 3 && option == "--check") return check(bytes_of(words[1]));
  if (count == 2) return time_all(bytes_of(words[1]), nullptr);
  if (count == 4 && option == "--json") return time_all(bytes_of(words[1]), words[3]);
  fmt::print(stderr, "usage: promoted CUBIN [--json FILE], or promoted PTX --check\n");
  return 2;
}

}  // namespace
}  // namespace tessera::promoted

int main(int count, char** words) {
  try {
    return tessera::promoted::run(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "promoted: {}\n", error.what());
    return 1;
  }
}
