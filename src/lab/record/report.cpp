#include "lab/record/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "lab/model/resources.h"

namespace tessera::lab {
namespace {

template <class T, class Text>
std::string text_or_empty(const std::optional<T>& value, Text text) {
  return value ? text(*value) : std::string();
}

std::string decimals(double value, int count) { return fmt::format("{:.{}f}", value, count); }

// Returns the value with about four significant digits: 0.01234, 1.234, 1234.
std::string digits(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  return decimals(value, size < 0.1 ? 5 : size < 1 ? 4 : size < 10 ? 3 : size < 100 ? 2 : 1);
}

std::string shape_of(const Record& r) {
  return fmt::format("{}x{}x{}", r.problem.m, r.problem.n, r.problem.k);
}

std::string error_of(const Record& r) {
  if (!r.max_error_ratio) return {};
  return std::isfinite(*r.max_error_ratio) ? decimals(*r.max_error_ratio, 3) : "unbounded";
}

std::string peak_share(const Record& r, double peak_tflops) {
  if (!r.tflops || peak_tflops <= 0) return {};
  return fmt::format("{:.1f}%", 100 * *r.tflops / peak_tflops);
}

std::string fma_ratio(const Record& r) {
  const double ratio = r.counts ? r.counts->fma_per_shared_load() : 0;
  return ratio > 0 ? decimals(ratio, 2) : "";
}

// Returns the sectors per request to global memory, of all kinds of traffic.
std::string sectors_a_request(const Record& r) {
  if (!r.counts || !r.counts->memory.counted) return {};
  const vgpu::GlobalCounts global = r.counts->memory.global();
  return global.requests > 0 ? decimals(global.sectors_per_request(), 2) : "";
}

// Returns the excess wavefronts due to bank conflicts per multiply of a warp, which is comparable
// across sizes.
std::string excess_a_multiply(const Record& r) {
  if (!r.counts || !r.counts->memory.counted) return {};
  const vgpu::LaunchMemory& memory = r.counts->memory;
  vgpu::SharedCounts shared = memory.loads.shared;
  shared += memory.stores.shared;
  const double multiplies = static_cast<double>(r.counts->fma.warp + r.counts->matrix.warp);
  if (shared.requests == 0 || multiplies == 0) return {};
  return decimals(static_cast<double>(banks_of(shared).excess()) / multiplies, 3);
}

std::string requested_intensity(const Record& r) {
  if (!r.counts || !r.counts->memory.counted) return {};
  return digits(r.counts->flop_per_byte().requested);
}

std::string count_text(const Record& r, Count CountSummary::*field) {
  return text_or_empty(r.counts,
                       [&](const CountSummary& c) { return std::to_string((c.*field).thread); });
}

struct Column {
  std::string header;
  std::function<std::string(const Record&)> cell;
};

// Returns a table of the columns that have a value in at least one of the records.
Table make_table(const std::vector<Record>& records, const std::vector<Column>& columns) {
  Table table;
  table.rows.resize(records.size());
  for (const Column& column : columns) {
    std::vector<std::string> cells;
    for (const Record& record : records) cells.push_back(column.cell(record));
    const bool empty =
        std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.empty(); });
    if (empty && !records.empty()) continue;
    table.header.push_back(column.header);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      table.rows[i].push_back(cells[i].empty() ? "-" : cells[i]);
    }
  }
  return table;
}

const Column kKernel{"kernel", [](const Record& r) { return r.kernel; }};
const Column kConfig{"config", [](const Record& r) { return r.config; }};
const Column kIdea{"idea", [](const Record& r) { return r.idea; }};
const Column kShape{"m x n x k", shape_of};
const Column kType{"type", [](const Record& r) {
                     const std::string packed = r.packed.empty() ? "" : ", " + r.packed + " packed";
                     return name_of(r.problem.types) + packed;
                   }};
const Column kLayout{"layout", [](const Record& r) {
                       return layout_of(r.problem) + " " + std::string(name_of(r.problem.order));
                     }};
const Column kDevice{"device", [](const Record& r) { return r.device; }};
const Column kVerified{"verified",
                       [](const Record& r) { return r.verified ? *r.verified : r.reason; }};
const Column kError{"error/bound", error_of};
const Column kReason{"reason", [](const Record& r) { return r.reason; }};
const Column kMode{"mode", [](const Record& r) {
                     return text_or_empty(r.mode, [](Mode m) { return std::string(name_of(m)); });
                   }};
const Column kTime{"ms", [](const Record& r) {
                     return text_or_empty(r.time_ms, [](auto& t) { return digits(t.median); });
                   }};
const Column kRange{"5-95 %", [](const Record& r) {
                      return text_or_empty(r.time_ms, [](const Summary& t) {
                        return digits(t.p5) + " - " + digits(t.p95);
                      });
                    }};
const Column kTflops{"TFLOP/s", [](const Record& r) { return text_or_empty(r.tflops, digits); }};
const Column kVendorTime{"vendor ms", [](const Record& r) {
                           return text_or_empty(r.vendor,
                                                [](auto& v) { return digits(v.time_ms.median); });
                         }};
const Column kRatio{"x vendor", [](const Record& r) {
                      return text_or_empty(r.ratio_to_vendor,
                                           [](double x) { return decimals(x, 3); });
                    }};
// Returns the workspace in MiB: "512", or "33.2 of 64" within a limit; "" if none is needed.
std::string workspace_of(const Record& r) {
  if (!r.workspace_bytes || (*r.workspace_bytes == 0 && !r.workspace_limit)) return {};
  const auto mebibytes = [](std::int64_t bytes) {
    return fmt::format("{:.4g}", static_cast<double>(bytes) / (1 << 20));
  };
  const std::string used = mebibytes(*r.workspace_bytes);
  return r.workspace_limit ? used + " of " + mebibytes(*r.workspace_limit) : used;
}

// Returns the speed of a plan within the vendor's workspace, and in brackets the ratio to the
// vendor's speed.
std::string within_of(const Record& r) {
  if (!r.within_vendor_workspace) return {};
  const Companion& within = *r.within_vendor_workspace;
  if (!within.tflops) return "none";
  const std::string ratio =
      within.ratio_to_vendor ? fmt::format(" ({})", decimals(*within.ratio_to_vendor, 3)) : "";
  return digits(*within.tflops) + ratio;
}

const Column kBuild{"build", [](const Record& r) {
                      return r.rewriting.empty() && r.other_build ? "other" : r.rewriting;
                    }};
// Returns the speed of rewritten code relative to the code as ptxas wrote it; "(other bits)" if D
// differs.
std::string rewritten_of(const Record& r) {
  std::string text;
  for (const Companion& one : r.rewritten) {
    if (!one.speedup) continue;
    text += fmt::format("{}{} {:.3f}{}", text.empty() ? "" : ", ", one.rewriting, *one.speedup,
                        one.same_bits.value_or(true) ? "" : " (other bits)");
  }
  return text;
}
const Column kRewritten{"x as compiled", rewritten_of};
const Column kWorkspace{"workspace MiB", workspace_of};
const Column kWithin{"within 64 MiB", within_of};
const Column kRatioToOther{"x other build", [](const Record& r) {
                             return text_or_empty(r.ratio_to_other,
                                                  [](double x) { return decimals(x, 3); });
                           }};
const Column kInstructions{"lane instructions",
                           [](const Record& r) { return count_text(r, &CountSummary::total); }};
const Column kFma{"FMA", [](const Record& r) { return count_text(r, &CountSummary::fma); }};
const Column kFmaRatio{"FMA:LDS", fma_ratio};
const Column kLimitedBy{"limited by", [](const Record& r) { return r.limited_by; }};
const Column kPredicted{"model ms", [](const Record& r) {
                          return r.predicted ? digits(r.predicted->time_ms) : std::string();
                        }};
const Column kSectors{"sectors/request", sectors_a_request};
const Column kExcess{"excess/FMA", excess_a_multiply};
const Column kIntensity{"FLOP/byte", requested_intensity};
const Column kSeconds{"host s",
                      [](const Record& r) { return text_or_empty(r.host_seconds, digits); }};
const Column kSpeed{"lane instr/s", [](const Record& r) {
                      return text_or_empty(r.lane_instructions_per_s,
                                           [](double x) { return fmt::format("{:.2e}", x); });
                    }};
// The host time of our own code: to plan, and to execute a plan.
const Column kHostTime{"host us", [](const Record& r) {
                         if (!r.host_us) return std::string();
                         return fmt::format("{:.1f} + {:.1f}", r.host_us->plan, r.host_us->execute);
                       }};

}  // namespace

Table bench_table(const std::vector<Record>& records) {
  return make_table(
      records,
      {kKernel,   kConfig,    kBuild,   kShape,        kType,      kLayout,    kDevice,
       kVerified, kError,     kMode,    kTime,         kRange,     kTflops,    kVendorTime,
       kRatio,    kWorkspace, kWithin,  kRatioToOther, kRewritten, kPredicted, kInstructions,
       kFma,      kFmaRatio,  kSeconds, kSpeed,        kHostTime,  kReason});
}

Table verify_table(const std::vector<Record>& records) {
  return make_table(records, {kKernel, kConfig, kShape, kType, kLayout, kDevice, kVerified, kError,
                              kInstructions, kSeconds, kReason});
}

Table ladder_table(const std::vector<Record>& records, double peak_tflops) {
  const Column share{"of peak",
                     [peak_tflops](const Record& r) { return peak_share(r, peak_tflops); }};
  const Column rung{"rung", kKernel.cell};
  return make_table(
      records, {rung, kIdea, kShape, kDevice, kVerified, kError, kLimitedBy, kTime, kTflops, share,
                kRatio, kIntensity, kSectors, kExcess, kFmaRatio, kInstructions, kSeconds});
}

}  // namespace tessera::lab
