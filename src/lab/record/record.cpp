#include "lab/record/record.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lab/counts/counts_json.h"
#include "lab/data/parallel.h"
#include "lab/json/json_number.h"
#include "lab/verify/products.h"

namespace tessera::lab {
namespace {

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Returns null for an infinite error, since JSON has no infinity; the run is then "failed".
Json finite_json(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json to_json(const PredictedTime& p) {
  return {{"gpu", p.gpu}, {"time_ms", p.time_ms}, {"bound", p.bound}, {"model", p.model}};
}

Json to_json(const Summary& s) {
  return {{"median", s.median}, {"p5", s.p5}, {"p95", s.p95}, {"n", s.n}};
}

Json to_json(const Batch& batch) {
  if (batch.kind == BatchKind::kPointers) {
    return {{"kind", "pointers"}, {"count", batch.count}, {"alignment", batch.alignment}};
  }
  return {{"kind", "strided"},          {"count", batch.count},       {"stride_a", batch.stride_a},
          {"stride_b", batch.stride_b}, {"stride_c", batch.stride_c}, {"stride_d", batch.stride_d}};
}

Json to_json(const Telemetry& t) {
  return {{"sm_clock_mhz", t.sm_clock_mhz},         {"memory_clock_mhz", t.memory_clock_mhz},
          {"max_sm_clock_mhz", t.max_sm_clock_mhz}, {"power_w", t.power_w},
          {"power_limit_w", t.power_limit_w},       {"temperature_c", t.temperature_c}};
}

Json to_json(const EnergyUse& e) {
  return {{"joules_per_tflop", e.joules_per_tflop},
          {"vendor_joules_per_tflop", optional_json(e.vendor_joules_per_tflop)}};
}

Json to_json(const HostTime& t) {
  return {{"plan", t.plan},
          {"prepare", t.prepare},
          {"execute", t.execute > 0 ? Json(t.execute) : Json(nullptr)},
          {"launches", t.launches}};
}

Json to_json(const std::optional<VendorTime>& vendor) {
  if (!vendor) return nullptr;
  return {{"name", vendor->name},
          {"time_ms", to_json(vendor->time_ms)},
          {"workspace_bytes", vendor->workspace_bytes}};
}

Json to_json(const RewrittenLoop& loop) {
  return {{"tag", "model"},
          {"cycles_before", loop.cycles_before},
          {"cycles", loop.cycles},
          {"crowded_ffmas_before", loop.crowded_before},
          {"crowded_ffmas", loop.crowded}};
}

Json to_json(const Companion& c) {
  Json json = {{"kernel", c.kernel},
               {"config", c.config},
               {"image_hash", text_or_null(c.image_hash)},
               {"workspace_limit", optional_json(c.workspace_limit)},
               {"workspace_bytes", optional_json(c.workspace_bytes)},
               {"verified", optional_json(c.verified)},
               {"reason", text_or_null(c.reason)},
               {"time_ms", optional_json(c.time_ms)},
               {"tflops", optional_json(c.tflops)},
               {"ratio_to_vendor", optional_json(c.ratio_to_vendor)}};
  if (c.rewriting.empty()) return json;
  json["rewriting"] = c.rewriting;
  json["same_bits"] = optional_json(c.same_bits);
  json["speedup"] = optional_json(c.speedup);
  json["main_loop"] = c.by_model ? to_json(*c.by_model) : Json(nullptr);
  return json;
}

template <class T>
Json object_or_null(const std::optional<T>& value) {
  return value ? to_json(*value) : Json(nullptr);
}

Json rewritten_json(const std::vector<Companion>& all) {
  if (all.empty()) return nullptr;
  Json list = Json::array();
  for (const Companion& one : all) list.push_back(to_json(one));
  return list;
}

// Returns the origin of the code: "this" build, the "other" one, or how this build's code was
// rewritten.
std::string build_of(const Record& r) {
  if (!r.rewriting.empty()) return r.rewriting;
  return r.other_build ? "other" : "this";
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

}  // namespace

Environment describe_environment(const Device& device) {
  Environment environment;
  environment.date = utc_now();
  environment.host_cpu = cpu_name();
  environment.host_cores = host_threads();
  environment.device = device.info();
  if (const OpenBlas* blas = OpenBlas::load()) environment.openblas = blas->version();
  if (device.info().kind != DeviceKind::kCuda) return environment;
  if (const auto nvml = Nvml::load(device.info().pci_bus_id)) {
    environment.telemetry = nvml->read();
    if (environment.device.driver.empty()) environment.device.driver = nvml->driver_version();
  }
  return environment;
}

Json to_json(const Problem& p) {
  Json json = {{"m", p.m},
               {"n", p.n},
               {"k", p.k},
               {"type", json_types(p.types)},
               {"layout", layout_of(p)},
               {"order", name_of(p.order)},
               {"lda", p.lda},
               {"ldb", p.ldb},
               {"ldc", p.ldc},
               {"ldd", p.ldd},
               {"alpha", json_number(p.alpha)},
               {"beta", json_number(p.beta)}};
  if (p.batch.kind != BatchKind::kNone) json["batch"] = to_json(p.batch);
  if (!p.epilogue.is_identity()) json["epilogue"] = name_of(p.epilogue);
  return json;
}

Json to_json(const Record& r) {
  const auto mode = r.mode ? std::optional(std::string(name_of(*r.mode))) : std::nullopt;
  return {{"kernel", r.kernel},
          {"config", r.config},
          {"plan", text_or_null(r.plan)},
          {"image", text_or_null(r.image)},
          {"image_hash", text_or_null(r.image_hash)},
          {"image_is_patched", r.image_is_patched},
          {"build", build_of(r)},
          {"d_hash", text_or_null(r.d_hash)},
          {"problem", to_json(r.problem)},
          {"device", r.device},
          {"verified", optional_json(r.verified)},
          {"max_error_ratio", finite_json(r.max_error_ratio)},
          {"reason", text_or_null(r.reason)},
          {"fill", text_or_null(r.fill)},
          {"integers", text_or_null(r.integers)},
          {"reference", text_or_null(r.reference)},
          {"mode", optional_json(mode)},
          {"time_ms", object_or_null(r.time_ms)},
          {"tflops", optional_json(r.tflops)},
          {"workspace_bytes", optional_json(r.workspace_bytes)},
          {"workspace_limit", optional_json(r.workspace_limit)},
          {"packed", text_or_null(r.packed)},
          {"order_seed", optional_json(r.order_seed)},
          {"rounds", r.rounds ? Json(r.rounds) : Json(nullptr)},
          {"vendor", to_json(r.vendor)},
          {"ratio_to_vendor", optional_json(r.ratio_to_vendor)},
          {"within_vendor_workspace", object_or_null(r.within_vendor_workspace)},
          {"other_image", object_or_null(r.other_image)},
          {"ratio_to_other", optional_json(r.ratio_to_other)},
          {"rewritten", rewritten_json(r.rewritten)},
          {"telemetry", object_or_null(r.telemetry)},
          {"energy", object_or_null(r.energy)},
          {"calls_per_sample", r.calls_per_sample ? Json(r.calls_per_sample) : Json(nullptr)},
          {"samples_ms", r.samples_ms.empty() ? Json(nullptr) : Json(r.samples_ms)},
          {"counts", object_or_null(r.counts)},
          {"limited_by", text_or_null(r.limited_by)},
          {"predicted", object_or_null(r.predicted)},
          {"host_seconds", optional_json(r.host_seconds)},
          {"lane_instructions_per_s", optional_json(r.lane_instructions_per_s)},
          {"host_us", object_or_null(r.host_us)},
          {"idea", text_or_null(r.idea)},
          {"command", text_or_null(r.command)}};
}

Json to_json(const Environment& e) {
  const DeviceInfo& d = e.device;
  Json object = {
      {"program", e.program},
      {"version", e.version},
      {"commit", text_or_null(e.commit)},
      {"date", e.date},
      {"command", text_or_null(e.command)},
      {"seed", e.seed},
      {"host", {{"cpu", e.host_cpu}, {"cores", e.host_cores}}},
      {"device",
       {{"kind", d.kind == DeviceKind::kCuda ? "cuda" : "virtual"},
        {"name", d.name},
        {"sm", d.sm},
        {"multiprocessors", d.sms},
        {"memory_bytes", d.memory_bytes},
        {"l2_bytes", d.l2_bytes},
        {"clock_khz", d.clock_khz},
        {"driver", text_or_null(d.driver)}}},
      {"telemetry", object_or_null(e.telemetry)},
      {"libraries", {{"vendor", text_or_null(e.vendor)}, {"openblas", text_or_null(e.openblas)}}}};
  if (!e.other_commit.empty()) object["other_commit"] = e.other_commit;
  return object;
}

Json to_json(const Environment& environment, const std::vector<Record>& records) {
  Json runs = Json::array();
  for (const Record& record : records) {
    runs.push_back(to_json(record));
    // WHY each run has the commit: after files are merged, a figure must still name the code that
    // it was measured with.
    runs.back()["commit"] = text_or_null(environment.commit);
  }
  return {{"schema", kSchema}, {"environment", to_json(environment)}, {"runs", std::move(runs)}};
}

}  // namespace tessera::lab
