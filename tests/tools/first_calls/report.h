// First calls as gpu_first_calls times them, as text between its processes and in its report.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace tessera {

// Microseconds of the host.
struct FirstCall {
  double total_us = 0;   // of tessera_gemm_with
  double vendor_us = 0;  // 0: its library has no call for this problem
  double plan_us = 0, unpack_us = 0, load_us = 0, maps_us = 0, entry_us = 0, launch_us = 0;
  std::string kernel;
};

inline std::string line_of(const FirstCall& c) {
  return fmt::format("call {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {}", c.total_us,
                     c.vendor_us, c.plan_us, c.unpack_us, c.load_us, c.maps_us, c.entry_us,
                     c.launch_us, c.kernel);
}

class FirstCallsReport {
 public:
  void add(const std::string& lines) {
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);) {
      std::istringstream words(line);
      std::string key;
      words >> key;
      if (key == "gpu" || key == "driver" || key == "vendor") {
        names_[key] = line.substr(key.size() + 1);
      } else if (key == "call") {
        FirstCall& c = calls_.emplace_back();
        words >> c.total_us >> c.vendor_us >> c.plan_us >> c.unpack_us >> c.load_us >> c.maps_us >>
            c.entry_us >> c.launch_us >> c.kernel;
      } else if (double ms = 0; words >> ms) {
        handles_[key].push_back(ms);
      }
    }
  }

  std::string text() const {
    std::string text = fmt::format("{} first calls, microseconds\n", calls_.size());
    for (const auto& [name, values] : columns()) {
      text += fmt::format("  {:12} median {:8.1f}  95 % {:8.1f}  most {:8.1f}\n", name,
                          at(values, 0.5), at(values, 0.95), at(values, 1));
    }
    for (const auto& [name, values] : handles_) {
      text += fmt::format("  {:12} median {:8.2f} ms  most {:8.2f} ms\n", name, at(values, 0.5),
                          at(values, 1));
    }
    return text;
  }

  std::string json(const std::string& command, const std::string& commit) const {
    std::string text = fmt::format(
        "{{\n \"what\": \"Microseconds on the host of the first call for a problem of the drawn "
        "suite, ours (call) and cuBLAS's default (vendor), in random order, the GPU idle before; "
        "then the call again by parts on a second device object: plan, unpack (the images, from "
        "another pack), load (cuModuleLoadDataEx), maps (of tensors), entries "
        "(cuModuleGetFunction), launch. "
        "Milliseconds of making a context (context_ms), a handle after it (handle_ms), a handle "
        "alone (alone_ms), and the vendor's library and handles after the context "
        "(vendor_ms).\",\n \"command\": \"{}\",\n \"gpu\": \"{}\",\n \"driver\": \"{}\",\n "
        "\"vendor\": \"{}\",\n \"commit\": \"{}\",\n \"calls\": {},\n",
        command, name("gpu"), name("driver"), name("vendor"), commit, calls_.size());
    for (const auto& [column, values] : columns()) text += row(column + "_us", values);
    for (const auto& [column, values] : handles_) text += row(column, values);
    return text + " \"slowest\": [\n" + slowest() + " ]\n}\n";
  }

 private:
  using Column = std::pair<std::string, std::vector<double>>;

  static double at(std::vector<double> values, double share) {
    if (values.empty()) return std::nan("");
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }

  static std::string row(const std::string& column, const std::vector<double>& values) {
    return fmt::format(" \"{}\": {{\"p50\": {:.2f}, \"p95\": {:.2f}, \"max\": {:.2f}}},\n", column,
                       at(values, 0.5), at(values, 0.95), at(values, 1));
  }

  std::string name(const std::string& key) const {
    const auto found = names_.find(key);
    return found == names_.end() ? "" : found->second;
  }

  std::vector<Column> columns() const {
    std::vector<Column> all{{"call", {}}, {"vendor", {}}, {"plan", {}},    {"unpack", {}},
                            {"load", {}}, {"maps", {}},   {"entries", {}}, {"launch", {}}};
    for (const FirstCall& c : calls_) {
      const double values[] = {c.total_us, c.vendor_us, c.plan_us,  c.unpack_us,
                               c.load_us,  c.maps_us,   c.entry_us, c.launch_us};
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (i != 1 || c.vendor_us > 0) all[i].second.push_back(values[i]);
      }
    }
    return all;
  }

  // The ten calls that took longest.
  std::string slowest() const {
    std::vector<FirstCall> calls = calls_;
    std::sort(calls.begin(), calls.end(),
              [](const auto& x, const auto& y) { return x.total_us > y.total_us; });
    calls.resize(std::min<std::size_t>(10, calls.size()));
    std::string text;
    for (const FirstCall& c : calls) {
      text += fmt::format(
          "{}  {{\"entry\": \"{}\", \"call_us\": {:.1f}, \"plan_us\": {:.1f}, \"unpack_us\": "
          "{:.1f}, \"load_us\": {:.1f}, \"entries_us\": {:.1f}, \"launch_us\": {:.1f}}}",
          text.empty() ? "" : ",\n", c.kernel, c.total_us, c.plan_us, c.unpack_us, c.load_us,
          c.entry_us, c.launch_us);
    }
    return text + "\n";
  }

  std::vector<FirstCall> calls_;
  std::map<std::string, std::vector<double>> handles_;
  std::map<std::string, std::string> names_;
};

}  // namespace tessera
