#include "cli/options/gpu_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "arch/gpus.h"
#include "base/numbers.h"
#include "base/status.h"
#include "cli/options/parser.h"

namespace tessera::cli {
namespace {

const arch::Gpu& known(const std::string& name) {
  for (const arch::Gpu& gpu : arch::kGpus) {
    if (name == gpu.name) return gpu;
  }
  throw StatusError(
      Status::bad_argument(fmt::format("--gpu is '{}', but must be one of: {}; or an assumed card, "
                                       "'name=paper,bandwidth=1000,peak=10'",
                                       name, names_of_gpus())));
}

double rate_of(const char* what, const std::string& text) {
  const double value = parse_real("--gpu", text);
  if (value > 0 && std::isfinite(value)) return value;
  throw StatusError(
      Status::bad_argument(fmt::format("--gpu has {}={}, but a rate must be above 0", what, text)));
}

// The words that describe an assumed card; bandwidth in GB/s, peak in TFLOP/s.
struct Words {
  std::string name = "assumed", like = "h200";
  double bandwidth = 0, peak = 0;
};

Words words_of(const std::string& text) {
  Words words;
  for (const std::string& pair : split(text, ',')) {
    const std::size_t at = pair.find('=');
    const std::string key = pair.substr(0, at);
    const std::string value = at == pair.npos ? "" : pair.substr(at + 1);
    if (key == "name" && !value.empty()) {
      words.name = value;
    } else if (key == "like") {
      words.like = value;
    } else if (key == "bandwidth") {
      words.bandwidth = rate_of("bandwidth", value);
    } else if (key == "peak") {
      words.peak = rate_of("peak", value);
    } else {
      throw StatusError(Status::bad_argument(fmt::format(
          "--gpu has '{}', but an assumed card is described by name=, bandwidth= (GB/s), "
          "peak= (TFLOP/s of FP32) and like= (a known card); write one of these",
          pair)));
    }
  }
  if (words.bandwidth > 0 && words.peak > 0) return words;
  throw StatusError(Status::bad_argument(fmt::format(
      "--gpu is '{}', but an assumed card needs both bandwidth= (GB/s) and peak= (TFLOP/s)",
      text)));
}

// Assumed cards live as long as the program, like known cards.
const arch::Gpu& assumed(const std::string& text) {
  struct Card {
    std::string name;
    arch::Gpu gpu;
  };
  static std::deque<Card> cards;
  const Words words = words_of(text);
  Card& card = cards.emplace_back(words.name, known(words.like));
  card.gpu.name = card.gpu.match = card.name.c_str();
  card.gpu.clock_ghz *= words.peak / card.gpu.fp32_peak();
  card.gpu.memory_gbs = words.bandwidth;
  card.gpu.assumed_copy = words.bandwidth;
  card.gpu.measured_fp32 = card.gpu.estimated_fp64 = 0;
  return card.gpu;
}

}  // namespace

std::string names_of_gpus() {
  std::string names;
  for (const arch::Gpu& gpu : arch::kGpus)
    names += (names.empty() ? "" : ", ") + std::string(gpu.name);
  return names;
}

void add_gpu_option(Parser& parser, std::string& gpu) {
  parser
      .add_option("--gpu", gpu,
                  fmt::format("GPU whose rates are used: {} (default h200), or an assumed card: "
                              "'name=paper,bandwidth=1000,peak=10' (GB/s, TFLOP/s; like=NAME "
                              "gives the rest)",
                              names_of_gpus()))
      .type_name("NAME");
}

gemm::DeviceLimits limits_of(const arch::Gpu& gpu) {
  constexpr int kOldestSm = 75;  // HW: the lowest SM that nvcc of CUDA 13 compiles for
  return {.sm = std::max(gpu.sm, kOldestSm),
          .sms = gpu.sms,
          .l2_bytes = std::int64_t{gpu.l2_kib} << 10,
          .costs = &gemm::costs_for(gpu.match)};
}

const arch::Gpu& gpu_of(const std::string& text) {
  if (text.empty()) return arch::kH200;
  if (text.find('=') != text.npos) return assumed(text);
  return known(text);
}

}  // namespace tessera::cli
