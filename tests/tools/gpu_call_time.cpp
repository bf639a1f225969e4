// What a call of the C interface costs the host on a GPU, in turn with the vendor's library in one
// run: a plan's run and the one-shot call with a warm cache, cublasGemmEx and cublasLtMatmul with
// everything made before. Groups of calls of each candidate in random order; the host's time alone.
//   gpu_call_time [--size N] [--rounds R] [--json FILE]    beside the images of the build
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "catalog/image_pack.h"
#include "device/buffer.h"
#include "device/cuda/cuda_device.h"
#include "lab/timing/vendor.h"
#include "tessera/gemm.h"
#include "tests/tools/timed_calls.h"

namespace tessera {
namespace {

constexpr int kGroup = 100, kWarm = 200;

struct Options {
  std::int64_t size = 64;
  int rounds = 60;
  std::string json;
};

struct Case {
  const char* name;
  std::int32_t type;
  Types types;
};

// The operands of one product on the GPU, filled with zeros: only the host's time is of interest.
struct Matrices {
  Matrices(Device& device, std::int64_t size, ElementType type)
      : bytes(static_cast<std::size_t>(size * size * size_of(type))),
        a(device, bytes),
        b(device, bytes),
        d(device, bytes),
        workspace(device, std::size_t{64} << 20) {
    const std::vector<std::byte> zeros(bytes);
    for (const DeviceBuffer* one : {&a, &b, &d}) {
      device.copy_in(one->address(), zeros.data(), bytes);
    }
  }
  std::size_t bytes;
  DeviceBuffer a, b, d, workspace;
};

void* pointer(const DeviceBuffer& buffer) { return reinterpret_cast<void*>(buffer.address()); }

class Calls {
 public:
  Calls(Device& device, const Case& one, std::int64_t size)
      : device_(device), operands_(device, size, one.types.a) {
    problem_.size = sizeof problem_;
    problem_.m = problem_.n = problem_.k = size;
    problem_.type_a = one.type;
    tessera_place place{};
    place.size = sizeof place;
    demand(tessera_create(&handle_, &place));
    demand(tessera_plan_create(&plan_, handle_, &problem_, nullptr));
    in_.size = sizeof in_;
    in_.alpha = 1;
    in_.a = pointer(operands_.a);
    in_.b = pointer(operands_.b);
    in_.d = pointer(operands_.d);
    in_.workspace = pointer(operands_.workspace);
    in_.workspace_bytes = operands_.workspace.bytes();
    in_.stream = device.native_stream();
  }
  ~Calls() {
    tessera_plan_destroy(plan_);
    tessera_destroy(handle_);
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  std::vector<Candidate> candidates(lab::Vendor& vendor, const Problem& problem) {
    std::vector<Candidate> all;
    all.push_back({"tessera_plan_run", [this] { demand(tessera_plan_run(plan_, &in_)); }});
    all.push_back(
        {"tessera_gemm", [this] {
           demand(tessera_gemm(handle_, &problem_, 1, in_.a, in_.b, 0, nullptr, in_.d, in_.stream));
         }});
    const auto of_vendor = vendor.calls(problem);
    const Operands at{operands_.a.address(), operands_.b.address(), 0, operands_.d.address()};
    for (std::size_t i = 0; i < std::min<std::size_t>(2, of_vendor.size()); ++i) {
      const std::string name = i == 0 ? "cublasGemmEx" : "cublasLtMatmul";
      all.push_back({name, [call = of_vendor[i].call, at] { call(at); }});
    }
    return all;
  }

 private:
  Device& device_;
  Matrices operands_;
  tessera_problem problem_{};
  tessera_arguments in_{};
  tessera_handle handle_ = nullptr;
  tessera_plan plan_ = nullptr;
};

void time_in_turn(Device& device, std::vector<Candidate>& all, int rounds) {
  using Clock = std::chrono::steady_clock;
  std::mt19937 random(std::random_device{}());
  std::vector<Candidate*> order;
  for (Candidate& one : all) {
    for (int i = 0; i < kWarm; ++i) one.call();
    device.synchronize(device.native_stream());
    order.push_back(&one);
  }
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (Candidate* one : order) {
      for (int i = 0; i < kGroup; ++i) {
        const Clock::time_point begin = Clock::now();
        one->call();
        one->us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
      }
      device.synchronize(device.native_stream());
    }
  }
}

std::string measure(Device& device, lab::Vendor& vendor, const Case& one, const Options& options) {
  const std::int64_t size = options.size;
  Problem problem{.m = size, .n = size, .k = size};
  problem.types = one.types;
  Calls calls(device, one, size);
  std::vector<Candidate> all = calls.candidates(vendor, with_default_ld(problem));
  time_in_turn(device, all, options.rounds);
  std::string rows;
  for (Candidate& c : all) {
    std::printf("%-5s %4lld  %-18s p50 %6.2f us  p99 %6.2f us\n", one.name,
                static_cast<long long>(size), c.name.c_str(), c.at(0.5), c.at(0.99));
    rows += fmt::format(
        "{}  {{\"call\": \"{}\", \"type\": \"{}\", \"size\": {}, \"p50_us\": {:.3f}, \"p99_us\": "
        "{:.3f}, \"n\": {}}}",
        rows.empty() ? "" : ",\n", c.name, one.name, size, c.at(0.5), c.at(0.99), c.us.size());
  }
  return rows;
}

int run(const Options& options) {
  const auto device = make_cuda_device(0);
  const auto vendor = lab::Vendor::load(*device);
  std::string rows;
  for (const Case& one : {Case{"f32", TESSERA_F32, kF32Types}, Case{"f64", TESSERA_F64, kF64Types},
                          Case{"bf16", TESSERA_BF16, parse_types("type", "bf16")}}) {
    rows += (rows.empty() ? "" : ",\n") + measure(*device, *vendor, one, options);
  }
  if (options.json.empty()) return 0;
  std::ofstream(options.json) << fmt::format(
      "{{\n \"what\": \"Microseconds on the host of one call of the C interface and of the "
      "vendor's "
      "library, in groups of {} of each candidate in random order, {} rounds, in one run.\",\n"
      " \"command\": \"build/gpu_call_time --size {} --rounds {}\",\n \"gpu\": \"{}\",\n"
      " \"driver\": \"{}\",\n \"vendor\": \"{}\",\n \"commit\": \"{}\",\n \"calls\": [\n{}\n "
      "]\n}}\n",
      kGroup, options.rounds, options.size, options.rounds, device->info().name,
      device->info().driver, vendor->version(), own_images().origin().commit, rows);
  return 0;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  tessera::Options options;
  try {
    tessera::for_each_option(argc, argv, [&](const std::string& name, const std::string& value) {
      if (name == "--size") return options.size = tessera::parse_integer(name, value), true;
      if (name == "--json") return options.json = value, true;
      if (name != "--rounds") return false;
      options.rounds = static_cast<int>(tessera::parse_integer(name, value));
      return true;
    });
    return tessera::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_call_time: %s\n", error.what());
    return 1;
  }
}
