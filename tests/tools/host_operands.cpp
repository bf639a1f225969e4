// Products whose operands are in host memory, on a machine with a GPU: the CPU, the plain way (copy
// in, multiply, copy out, through pinned buffers that are kept), our way on the GPU, and the C
// interface, which takes the faster side, in turn in one run, by size. Times are those of whole
// calls on the host.
//   host_operands [--type f32|f64|bf16] [--sizes N,N,...] [--shapes MxNxK,...] [--seconds S]
//                 [--json FILE]                                   with the images of the build
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/elements.h"
#include "base/numbers.h"
#include "catalog/image_pack.h"
#include "device/buffer.h"
#include "device/cuda/cuda_device.h"
#include "gemm/call/multiply.h"
#include "gemm/host/cpu.h"
#include "gemm/host/on_gpu.h"
#include "tessera/gemm.h"
#include "tests/tools/timed_calls.h"

namespace tessera {
namespace {

constexpr int kRounds = 5, kGroup = 40;
constexpr auto kIdle = std::chrono::milliseconds(50);

struct Options {
  std::string type = "f32";
  std::vector<std::array<std::int64_t, 3>> shapes;
  double seconds = 2;  // of all candidates of a shape
  std::string json;
};

std::vector<std::byte> random_matrix(ElementType type, std::int64_t elements,
                                     std::mt19937& random) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(elements * size_of(type)));
  std::uniform_real_distribution<double> values(-1, 1);
  for (std::int64_t i = 0; i < elements; ++i) {
    store_element(type, values(random), bytes.data() + i * size_of(type));
  }
  return bytes;
}

struct Matrices {
  Matrices(const Problem& p, std::mt19937& random)
      : a(random_matrix(p.types.a, p.m * p.k, random)),
        b(random_matrix(p.types.b, p.k * p.n, random)),
        d(static_cast<std::size_t>(p.m * p.n * size_of(p.types.d))) {}
  std::vector<std::byte> a, b, d;
};

// Copy in, multiply, copy out.
class PlainWay {
 public:
  PlainWay(Device& device, gemm::Handle& handle) : device_(device), handle_(handle) {}
  ~PlainWay() { release(); }
  PlainWay(const PlainWay&) = delete;
  PlainWay& operator=(const PlainWay&) = delete;

  void prepare(const Matrices& host) {
    release();
    const std::vector<std::byte>* all[] = {&host.a, &host.b, &host.d};
    for (int i = 0; i < 3; ++i) {
      on_device_[i] = DeviceBuffer(device_, all[i]->size());
      pinned_[i] = device_.allocate_pinned(all[i]->size());
    }
  }
  void run(const Problem& problem, Matrices& host) {
    void* const stream = device_.native_stream();
    in(0, host.a, stream);
    in(1, host.b, stream);
    gemm::multiply(handle_, problem,
                   {on_device_[0].address(), on_device_[1].address(), 0, on_device_[2].address()},
                   {}, stream);
    const std::size_t bytes = host.d.size();
    device_.copy_out(pinned_[2], on_device_[2].address(), {bytes, 1, bytes, bytes}, stream);
    device_.synchronize(stream);
    std::memcpy(host.d.data(), pinned_[2], bytes);
  }

 private:
  void in(int i, const std::vector<std::byte>& from, void* stream) {
    const std::size_t bytes = from.size();
    std::memcpy(pinned_[i], from.data(), bytes);
    device_.copy_in(on_device_[i].address(), pinned_[i], {bytes, 1, bytes, bytes}, stream);
  }
  void release() {
    for (void*& memory : pinned_) {
      if (memory) device_.free_pinned(memory);
      memory = nullptr;
    }
  }
  Device& device_;
  gemm::Handle& handle_;
  std::array<DeviceBuffer, 3> on_device_;
  std::array<void*, 3> pinned_ = {};
};

class Bench {
 public:
  explicit Bench(Options options)
      : options_(std::move(options)), types_(parse_types("--type", options_.type)) {
    tessera_place place{};
    place.size = sizeof place;
    place.gpu = TESSERA_ANY_PLACE;
    demand(tessera_create(&handle_, &place));
  }
  ~Bench() { tessera_destroy(handle_); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void run() {
    std::printf("%20s %12s %12s %12s %12s %8s  %s\n", "m x n x k", "CPU us", "plain us", "GPU us",
                "ours us", "ours/t", "side");
    for (const auto& [m, n, k] : options_.shapes) one(m, n, k);
    if (!options_.json.empty()) write();
  }

 private:
  void one(std::int64_t m, std::int64_t n, std::int64_t k) {
    const Problem problem = with_default_ld({.m = m, .n = n, .k = k, .types = types_});
    Matrices host(problem, random_), other(problem, random_);
    plain_.prepare(host);
    const Operands at{reinterpret_cast<std::uint64_t>(host.a.data()),
                      reinterpret_cast<std::uint64_t>(host.b.data()), 0,
                      reinterpret_cast<std::uint64_t>(host.d.data())};
    tessera_problem asked{};
    asked.size = sizeof asked;
    asked.m = m, asked.n = n, asked.k = k;
    asked.type_a = c_type();
    asked.memory = TESSERA_HOST_MEMORY;
    std::vector<Candidate> all;
    all.push_back({"cpu", [&] { gemm::host::multiply_on_cpu(problem, at); }});
    all.push_back({"plain", [&] { plain_.run(problem, host); }});
    all.push_back({"gpu", [&] {
                     gemm::host::multiply_from_host(of_plain_, staging_, problem, at, {}, nullptr);
                   }});
    all.push_back({"tessera", [&] {
                     demand(tessera_gemm(handle_, &asked, 1, host.a.data(), host.b.data(), 0,
                                         nullptr, host.d.data(), nullptr));
                   }});
    measure(all);
    const double t = std::min(all[0].at(0.5), all[2].at(0.5)), ours = all[3].at(0.5);
    const std::string side = side_of(asked);
    std::printf("%20s %12.1f %12.1f %12.1f %12.1f %8.2f  %s\n",
                fmt::format("{} x {} x {}", m, n, k).c_str(), all[0].at(0.5), all[2].at(0.5),
                all[1].at(0.5), ours, ours / t, side.c_str());
    std::fflush(stdout);
    rows_ += fmt::format("{}\n    {{\"m\": {}, \"n\": {}, \"k\": {}, \"side\": \"{}\"",
                         rows_.empty() ? "" : ",", m, n, k, side);
    for (Candidate& one : all) {
      rows_ += fmt::format(
          ", \"{}_us\": {{\"median\": {:.2f}, \"p5\": {:.2f}, \"p95\": {:.2f}, \"n\": {}}}",
          one.name, one.at(0.5), one.at(0.05), one.at(0.95), one.us.size());
    }
    rows_ += "}";
  }

  // Groups of calls in random order, round by round. WHY idle before a group: the threads of
  // OpenBLAS spin for a while after a call, and slow down what another candidate does.
  void measure(std::vector<Candidate>& all) {
    using Clock = std::chrono::steady_clock;
    const auto seconds_since = [](Clock::time_point begin) {
      return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    for (int round = 0; round < kRounds; ++round) {
      std::shuffle(all.begin(), all.end(), random_);
      for (Candidate& one : all) {
        std::this_thread::sleep_for(kIdle);
        one.call();
        const Clock::time_point begin = Clock::now();
        for (int call = 0; call < kGroup; ++call) {
          const Clock::time_point start = Clock::now();
          one.call();
          one.us.push_back(seconds_since(start) * 1e6);
          if (seconds_since(begin) > options_.seconds / kRounds / 4) break;
        }
      }
    }
    std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) {
      return x.name < y.name;
    });  // cpu, gpu, plain, tessera
  }

  std::int32_t c_type() const {
    return types_.a == ElementType::kF64    ? TESSERA_F64
           : types_.a == ElementType::kBf16 ? TESSERA_BF16
           : types_.a == ElementType::kF16  ? TESSERA_F16
                                            : TESSERA_F32;
  }
  std::string side_of(const tessera_problem& asked) {
    tessera_explanation why{};
    why.size = sizeof why;
    demand(tessera_explain(handle_, &asked, nullptr, &why, nullptr, 0));
    return why.where == TESSERA_ON_CPU ? "cpu" : "gpu";
  }
  void write() {
    std::ofstream(options_.json) << fmt::format(
        "{{\n  \"what\": \"products of operands in host memory\",\n  \"commit\": \"{}\", \"gpu\": "
        "\"{}\", "
        "\"driver\": \"{}\",\n  \"cpu\": \"{}\", \"cores\": {},\n  \"type\": \"{}\",\n  \"rows\": "
        "[{}\n  ]\n}}\n",
        own_images().origin().commit, device_->info().name, device_->info().driver,
        gemm::host::cpu_library(), std::thread::hardware_concurrency(), options_.type, rows_);
  }

  Options options_;
  Types types_;
  std::mt19937 random_{20261126};
  std::unique_ptr<Device> device_ = make_cuda_device(0);
  gemm::Handle of_plain_{*device_};
  PlainWay plain_{*device_, of_plain_};
  gemm::host::Staging staging_{*device_};
  tessera_handle handle_ = nullptr;
  std::string rows_;
};

std::array<std::int64_t, 3> shape_of(const std::string& text) {
  const std::vector<std::string> extents = split(text, 'x');
  if (extents.size() != 3) {
    throw StatusError(Status::bad_argument("--shapes has '" + text + "', not MxNxK"));
  }
  return {parse_integer("--shapes", extents[0]), parse_integer("--shapes", extents[1]),
          parse_integer("--shapes", extents[2])};
}

Options options_of(int argc, char** argv) {
  Options options;
  for_each_option(argc, argv, [&](const std::string& name, const std::string& value) {
    if (name == "--type") return options.type = value, true;
    if (name == "--seconds") return options.seconds = parse_real(name, value), true;
    if (name == "--json") return options.json = value, true;
    if (name == "--sizes") {
      for (const std::int64_t n : parse_sizes(name, value)) options.shapes.push_back({n, n, n});
      return true;
    }
    if (name != "--shapes") return false;
    for (const std::string& shape : split(value, ',')) options.shapes.push_back(shape_of(shape));
    return true;
  });
  return options;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  try {
    tessera::Bench(tessera::options_of(argc, argv)).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "host_operands: %s\n", error.what());
    return 2;
  }
}
