#include "lab/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "lab/resources.h"

namespace tessera::lab {
namespace {

// Columns that a terminal needs for UTF-8 text: its characters, not its bytes.
std::size_t width_of(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.+-e%x ") == std::string_view::npos;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return right ? space + text : text + space;
}

std::string render_text(const Table& table) {
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (std::size_t c = 0; c < table.header.size(); ++c) {
    std::size_t width = width_of(table.header[c]);
    bool numbers = true;
    for (const auto& row : table.rows) {
      width = std::max(width, width_of(row[c]));
      numbers = numbers && (row[c].empty() || row[c] == "-" || is_number(row[c]));
    }
    widths.push_back(width);
    right.push_back(numbers);
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      text += (c ? "  " : "") + padded(cells[c], widths[c], right[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line(table.header);
  std::vector<std::string> rules;
  for (std::size_t width : widths) rules.emplace_back(width, '-');
  line(rules);
  for (const auto& row : table.rows) line(row);
  return out;
}

std::string joined(const std::vector<std::string>& cells, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i)
    out += (i ? std::string(separator) : "") + cells[i];
  return out;
}

// The text with `mark` put before every `special`.
std::string escaped(std::string_view text, char special, char mark) {
  std::string out;
  for (char c : text) {
    if (c == special) out += mark;
    out += c;
  }
  return out;
}

std::string markdown_line(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = escaped(cell, '|', '\\');
  return fmt::format("| {} |\n", joined(cells, " | "));
}

std::string render_markdown(const Table& table) {
  std::string out = markdown_line(table.header);
  out += fmt::format("|{}|\n", joined(std::vector<std::string>(table.header.size(), "---"), "|"));
  for (const auto& row : table.rows) out += markdown_line(row);
  return out;
}

std::string csv_line(std::vector<std::string> cells) {
  for (std::string& cell : cells) {
    const bool quoted = cell.find_first_of(",\"\n") != std::string::npos;
    if (quoted) cell = fmt::format("\"{}\"", escaped(cell, '"', '"'));
  }
  return joined(cells, ",") + '\n';
}

std::string render_csv(const Table& table) {
  std::string out = csv_line(table.header);
  for (const auto& row : table.rows) out += csv_line(row);
  return out;
}

template <class T, class Text>
std::string text_or_empty(const std::optional<T>& value, Text text) {
  return value ? text(*value) : std::string();
}

std::string decimals(double value, int count) { return fmt::format("{:.{}f}", value, count); }

// Four significant digits whatever the size: 0.01234, 1.234, 1234.
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

// Global memory of all kinds of traffic.
std::string sectors_a_request(const Record& r) {
  if (!r.counts || !r.counts->memory.counted) return {};
  const vgpu::GlobalCounts global = r.counts->memory.global();
  return global.requests > 0 ? decimals(global.sectors_per_request(), 2) : "";
}

// Wavefronts that conflicts add, for each multiply of a warp: comparable across sizes.
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

// All columns that say something about any of the records.
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
const Column kType{"type", [](const Record& r) { return std::string(name_of(r.problem.type)); }};
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

}  // namespace

std::string render(const Table& table, Format format) {
  if (format == Format::kMarkdown) return render_markdown(table);
  return format == Format::kCsv ? render_csv(table) : render_text(table);
}

Table bench_table(const std::vector<Record>& records) {
  return make_table(records,
                    {kKernel,    kConfig,       kShape, kType,     kLayout,  kDevice,     kVerified,
                     kError,     kMode,         kTime,  kRange,    kTflops,  kVendorTime, kRatio,
                     kPredicted, kInstructions, kFma,   kFmaRatio, kSeconds, kSpeed,      kReason});
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
