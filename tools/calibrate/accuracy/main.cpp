// accuracy: how far products of FP32 are from the exact ones, by compute type and kind of numbers.
// Errors are in units of u (|A| |B|), u = 2^-24, entry by entry.
//
//   build/accuracy [--json FILE]    on a GPU: m = n = 1024, k from 256 to 65536; 64 rows of D
//   build/accuracy --check          on the virtual GPU, small: 1 where a worst error is too large
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/divide.h"
#include "device/buffer.h"
#include "device/cuda/cuda_device.h"
#include "device/virtual/virtual_device.h"
#include "gemm/call/prepare.h"
#include "gemm/steps/terms.h"
#include "kernels/families/promoted/config.h"
#include "lab/record/record.h"
#include "tools/calibrate/accuracy/data.h"

namespace tessera::accuracy {
namespace {

struct Way {
  const char* name;
  Types types;
  const char* kernel;  // "": the model's choice
};
// Named: the model would leave such small products of terms to FFMAs.
constexpr Way kWays[] = {{"f32", kF32Types, ""}, {"f16x3", kF16x3Types, "wgmma_f16x3"}};

// Some rows of D as they should be, and of |A| |B|: one in `step`.
struct Exact {
  std::int64_t step;
  std::vector<double> d, size;
};

Exact exact_rows(const Operands& o, std::int64_t count) {
  const std::int64_t rows = std::min(o.m, count);
  Exact exact{o.m / rows, std::vector<double>(rows * o.n), std::vector<double>(rows * o.n)};
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::jthread> running;
  for (int first = 0; first < threads; ++first) {
    running.emplace_back([&, first] {
      for (std::int64_t i = first; i < rows; i += threads) {
        double* const d = &exact.d[i * o.n];
        double* const size = &exact.size[i * o.n];
        for (std::int64_t l = 0; l < o.k; ++l) {
          const double a = o.a[i * exact.step * o.k + l];
          const float* const b = &o.b[l * o.n];
          for (std::int64_t j = 0; j < o.n; ++j) {
            d[j] += a * b[j];
            size[j] += std::abs(a * b[j]);
          }
        }
      }
    });
  }
  running.clear();
  return exact;
}

struct Grades {
  double worst = 0, mean = 0, signed_mean = 0, at_95 = 0;
  std::string by;  // what multiplied where FP16 terms did not suffice
};

Grades grades_of(const Exact& exact, std::int64_t n, const std::vector<float>& d) {
  Grades grades;
  std::vector<double> all(exact.d.size());
  const auto count = static_cast<double>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) / n * exact.step;
    const float got = d[row * n + static_cast<std::int64_t>(i) % n];
    // Signed: positive where D is too large in magnitude.
    const double error = (got - exact.d[i]) / (exact.size[i] * std::ldexp(1.0, -24));
    all[i] = std::abs(error);
    grades.mean += all[i] / count;
    grades.signed_mean += (exact.d[i] < 0 ? -error : error) / count;
  }
  std::sort(all.begin(), all.end());
  grades.worst = all.back();
  grades.at_95 = all[static_cast<std::size_t>(0.95 * (count - 1))];
  return grades;
}

Grades measure(Device& device, const Way& way, const Operands& o, const Exact& exact) {
  const auto uploaded = [&](const std::vector<float>& x) {
    DeviceBuffer buffer(device, x.size() * sizeof(float));
    device.copy_in(buffer.address(), x.data(), buffer.bytes());
    return buffer;
  };
  Problem problem{o.m, o.n, o.k, way.types, Order::kRowMajor};
  gemm::PlanOptions options;
  if (*way.kernel) options.kernel = choose_kernels(way.kernel).front();
  const gemm::Prepared prepared = prepare(
      device, gemm::plan(with_default_ld(problem), {}, gemm::limits_of(device.info()), options));
  const DeviceBuffer a = uploaded(o.a), b = uploaded(o.b);
  const DeviceBuffer d(device, static_cast<std::size_t>(o.m * o.n) * sizeof(float));
  const auto bytes = static_cast<std::size_t>(prepared.plan().workspace_bytes());
  const DeviceBuffer workspace(device, std::max<std::size_t>(bytes, 1));
  execute(prepared, {.operands = {a.address(), b.address(), 0, d.address()},
                     .alpha = 1,
                     .beta = 0,
                     .workspace = workspace.address(),
                     .workspace_bytes = static_cast<std::int64_t>(bytes)});
  device.synchronize();
  std::vector<float> result(static_cast<std::size_t>(o.m * o.n));
  device.copy_out(result.data(), d.address(), d.bytes());
  Grades grades = grades_of(exact, o.n, result);
  if (*way.kernel) {  // what the launch that splits has found
    const auto layout = gemm::workspace_layout(prepared.plan().offers.front().all_temps());
    for (const int operand : {0, 1}) {
      const gemm::TermsForm form{operand == 0 ? o.m : o.n, o.k,
                                 round_up(o.k, std::int64_t{promoted::kStageK})};
      std::vector<int> lost(static_cast<std::size_t>(form.ctas()));
      device.copy_out(lost.data(), workspace.address() + layout.begins[operand] + form.lost(),
                      lost.size() * sizeof(int));
      if (std::any_of(lost.begin(), lost.end(), std::identity())) grades.by = "FFMAs";
    }
  }
  return grades;
}

// What is aimed at: a worst error of at most that of FP32 or 4, a mean of at most 1.5 times that of
// FP32 or 1/2.
bool is_good(const Grades& grades, const Grades& native) {
  return grades.worst <= std::max(native.worst, 4.0) &&
         grades.mean <= std::max(1.5 * native.mean, 0.5);
}

// All kinds and ways. Returns the worst error.
double measure_all(Device& device, std::int64_t side, const std::vector<std::int64_t>& depths,
                   lab::Json& rows) {
  double worst = 0;
  for (const Kind& kind : kinds()) {
    for (const std::int64_t k : depths) {
      Operands o{side, side, k, std::vector<float>(side * k), std::vector<float>(k * side)};
      kind.fill(o, 1000 + static_cast<std::uint64_t>(k));
      const Exact exact = exact_rows(o, 64);
      Grades native;
      for (const Way& way : kWays) {
        const Grades g = measure(device, way, o, exact);
        if (&way == kWays) native = g;
        const bool passes = is_good(g, native);
        worst = std::max(worst, g.worst);
        fmt::print(
            "{:10} k {:6} {:6}  worst {:9.3f}  mean {:8.4f}  signed {:8.4f}  95 % {:8.3f}{}{}\n",
            kind.name, k, way.name, g.worst, g.mean, g.signed_mean, g.at_95,
            g.by.empty() ? "" : "  by " + g.by, passes ? "" : "  misses the aim");
        rows.push_back({{"kind", kind.name},
                        {"text", kind.text},
                        {"k", k},
                        {"compute", way.name},
                        {"worst", g.worst},
                        {"mean", g.mean},
                        {"signed_mean", g.signed_mean},
                        {"at_95", g.at_95},
                        {"by", g.by},
                        {"passes", passes}});
      }
    }
  }
  return worst;
}

int run(int count, char** words) {
  const std::string option = count > 1 ? words[1] : "";
  lab::Json rows = lab::Json::array();
  if (count == 2 && option == "--check") {
    constexpr double kMost = 20;  // chains that are not promoted, or terms that are lost: far more
    return measure_all(*make_virtual_device({.sms = 2}), 24, {64, 300}, rows) <= kMost ? 0 : 1;
  }
  if (count != 1 && !(count == 3 && option == "--json")) {
    fmt::print(stderr, "usage: accuracy [--json FILE], or accuracy --check\n");
    return 2;
  }
  constexpr std::int64_t kSide = 1024;
  const std::unique_ptr<Device> device = make_cuda_device();
  measure_all(*device, kSide, {256, 4096, 65536}, rows);
  const lab::Json out{{"schema", "tessera.accuracy/2"},
                      {"environment", to_json(lab::describe_environment(*device))},
                      {"m", kSide},
                      {"n", kSide},
                      {"rows", rows}};
  if (count == 3) lab::write_file(words[2], out.dump(1) + "\n", "--json");
  return 0;
}

}  // namespace
}  // namespace tessera::accuracy

int main(int count, char** words) {
  try {
    return tessera::accuracy::run(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "accuracy: {}\n", error.what());
    return 1;
  }
}
