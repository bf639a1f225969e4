#include "lab/explain/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "sass/container/cubin.h"

namespace tessera::lab {
namespace {

std::string title_of(const Explanation& e) { return e.kernel + "/" + e.config; }

// Returns a number without thousands separators, because spreadsheets would not read 1,048,576 as a
// number.
std::string digits(double value) {
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string times(double before, double after) {
  if (before == after) return "=";
  return before > 0 ? fmt::format("{:.3g}", after / before) : "new";
}

void add_row(Table& table, const std::string& what, double before, double after) {
  if (before == 0 && after == 0) return;
  table.rows.push_back({what, digits(before), digits(after), times(before, after)});
}

Table new_table(const char* what, const Explanation& before, const Explanation& after) {
  return {{what, title_of(before), title_of(after), "after/before"}, {}};
}

double per(double a, double b) { return b > 0 ? a / b : 0; }

// ---- counts -----------------------------------------------------------------------------------

// A row of the table: a name, and the count of an explanation.
struct CountRow {
  const char* what;
  double (*value)(const Explanation&);
};

using Memory = vgpu::MemoryCounts;
using Launch = vgpu::LaunchMemory;

// Returns the requests to one memory by address, so requests at generic addresses are included.
template <class Counts>
double requests_of(const Explanation& e, Counts Memory::*memory,
                   std::initializer_list<Memory Launch::*> kinds) {
  double sum = 0;
  for (const auto kind : kinds) {
    sum += static_cast<double>((e.counts.memory.*kind.*memory).requests);
  }
  return sum;
}

constexpr CountRow kCountRows[] = {
    {"warp instructions", [](const Explanation& e) { return double(e.counts.total.warp); }},
    {"FMAs that ran", [](const Explanation& e) { return double(e.counts.fma.warp); }},
    {"useful FMAs", [](const Explanation& e) { return e.counts.useful_fmas(); }},
    {"matrix multiplies", [](const Explanation& e) { return double(e.counts.matrix.warp); }},
    {"barriers", [](const Explanation& e) { return double(e.counts.barrier.warp); }},
    {"global loads",
     [](const Explanation& e) {
       return requests_of(e, &Memory::global, {&Launch::loads, &Launch::copies_in});
     }},
    {"global stores",
     [](const Explanation& e) {
       return requests_of(
           e, &Memory::global,
           {&Launch::stores, &Launch::atomics, &Launch::copies_out, &Launch::copies_reduce});
     }},
    {"shared loads",
     [](const Explanation& e) { return requests_of(e, &Memory::shared, {&Launch::loads}); }},
    {"shared stores",
     [](const Explanation& e) {
       return requests_of(e, &Memory::shared,
                          {&Launch::stores, &Launch::atomics, &Launch::copies_in});
     }},
    {"FMA : shared load", [](const Explanation& e) { return e.counts.fma_per_shared_load(); }},
    {"sectors of global memory",
     [](const Explanation& e) { return e.evidence.totals.sector_bytes / vgpu::kSectorBytes; }},
    {"sectors a request",
     [](const Explanation& e) {
       return per(e.evidence.totals.sector_bytes / vgpu::kSectorBytes,
                  e.evidence.totals.global_requests);
     }},
    {"shared wavefronts",
     [](const Explanation& e) {
       return e.evidence.totals.wavefronts.shared + e.evidence.totals.wavefronts.conflicts;
     }},
    {"excess wavefronts",
     [](const Explanation& e) { return e.evidence.totals.wavefronts.conflicts; }},
    {"wavefronts of the load/store unit",
     [](const Explanation& e) { return e.evidence.totals.wavefronts.sum(); }},
    {"FLOP / requested byte", [](const Explanation& e) { return e.intensities.requested; }},
    {"FLOP / sector byte", [](const Explanation& e) { return e.intensities.sector; }},
    {"FLOP / footprint byte", [](const Explanation& e) { return e.intensities.footprint; }},
};

Table counts_table(const Explanation& before, const Explanation& after) {
  Table table = new_table("count", before, after);
  for (const CountRow& row : kCountRows)
    add_row(table, row.what, row.value(before), row.value(after));
  table.rows.push_back({"limited by", before.limited_by, after.limited_by, ""});
  return table;
}

// ---- code -------------------------------------------------------------------------------------

sass::CubinKernel code_of(const CountedRun& run) {
  const CodeImage& image = image_of(*run.kernel, run.row->entry);
  if (image.cubin.empty()) return {};
  const sass::CubinFile cubin = sass::read_cubin(image.cubin);
  const sass::CubinKernel* code = cubin.find(run.row->entry);
  return code ? *code : sass::CubinKernel{};
}

double count_in(const sass::CubinKernel& code, const std::string& name) {
  const auto found = code.histogram.find(name);
  return found == code.histogram.end() ? 0 : found->second;
}

double instructions_in(const sass::CubinKernel& code) {
  double sum = 0;
  for (const auto& [name, count] : code.histogram) sum += name == "NOP" ? 0 : count;
  return sum;
}

Table code_table(const Explanation& before, const Explanation& after, const sass::CubinKernel& a,
                 const sass::CubinKernel& b) {
  Table table = new_table("in the cubin", before, after);
  add_row(table, "registers per thread", a.registers, b.registers);
  // Dynamic shared memory is part of the launch, not of the cubin.
  add_row(table, "shared bytes per block", double(before.evidence.placement.shared_bytes),
          double(after.evidence.placement.shared_bytes));
  add_row(table, "stack bytes per thread", double(a.local_bytes), double(b.local_bytes));
  add_row(table, "instructions", instructions_in(a), instructions_in(b));
  std::set<std::string> names;
  for (const sass::CubinKernel* code : {&a, &b}) {
    for (const auto& [name, count] : code->histogram) names.insert(name);
  }
  for (const std::string& name : names) {
    const double x = count_in(a, name), y = count_in(b, name);
    if (name != "NOP" && x != y) add_row(table, name, x, y);
  }
  return table;
}

// ---- times ------------------------------------------------------------------------------------

bool is_like(const Measured& row, const Explanation& e) {
  return row.kernel == e.kernel && row.config == e.config && row.mode == "burst" &&
         row.layout == layout_of(e.problem) && row.order == name_of(e.problem.order) &&
         row.alpha == 1 && row.beta == 0;
}

Table times_table(const Explanation& before, const Explanation& after, const SourceTree& tree) {
  Table table = new_table("time, ms", before, after);
  table.header.emplace_back("from");
  const auto bound = [](const Explanation& e) {
    return e.evidence.resources.empty() ? 0 : e.evidence.resources.front().ms;
  };
  const Problem& p = before.problem;
  table.rows.push_back({fmt::format("at least, {}x{}x{}", p.m, p.n, p.k),
                        fmt::format("{:.4g}", bound(before)), fmt::format("{:.4g}", bound(after)),
                        times(bound(before), bound(after)),
                        fmt::format("model: longest resource, {}", before.gpu.name)});
  if (before.prediction && after.prediction) {
    const double a = before.prediction->time_ms, b = after.prediction->time_ms;
    table.rows.push_back({fmt::format("predicted, {}x{}x{}", p.m, p.n, p.k),
                          fmt::format("{:.4g}", a), fmt::format("{:.4g}", b), times(a, b),
                          fmt::format("model, {}", before.gpu.name)});
  }
  if (!tree.is_there()) return table;
  const std::vector<Measured> runs = measured_runs(tree.root());
  std::set<std::string> seen;
  for (const Measured& a : runs) {
    if (!is_like(a, before)) continue;
    for (const Measured& b : runs) {
      const bool pairs = is_like(b, after) && b.file == a.file && b.device == a.device &&
                         b.m == a.m && b.n == a.n && b.k == a.k;
      if (!pairs || !seen.insert(fmt::format("{}x{}x{} {}", a.m, a.n, a.k, a.device)).second) {
        continue;
      }
      table.rows.push_back({fmt::format("measured, {}x{}x{}", a.m, a.n, a.k),
                            fmt::format("{:.4g}", a.ms), fmt::format("{:.4g}", b.ms),
                            times(a.ms, b.ms), fmt::format("{}: {}", a.device, a.file)});
    }
  }
  return table;
}

// ---- text -------------------------------------------------------------------------------------

std::string diff_text(const FileDiff& file, bool colour) {
  std::string text = fmt::format("--- {}\n+++ {}\n", file.before, file.after);
  for (const DiffLine& line : file.lines) {
    const char* paint = line.mark == '-' ? "\x1b[31m" : line.mark == '+' ? "\x1b[32m" : "\x1b[36m";
    const bool painted = colour && line.mark != ' ';
    const std::string mark = line.mark == '@' ? "" : std::string(1, line.mark);
    text +=
        fmt::format("{}{}{}{}\n", painted ? paint : "", mark, line.text, painted ? "\x1b[0m" : "");
  }
  return text;
}

Json table_json(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c) object[c == 0 ? "what" : table.header[c]] = row[c];
    rows.push_back(object);
  }
  return rows;
}

}  // namespace

std::vector<FileDiff> source_diffs(const Kernel& before, const Kernel& after,
                                   const SourceTree& tree) {
  std::vector<FileDiff> files;
  for (const char* name : {"config.h", "kernel.cu"}) {
    FileDiff file{fmt::format("src/ladder/{}/{}", before.name, name),
                  fmt::format("src/ladder/{}/{}", after.name, name),
                  {}};
    const auto a = tree.file(file.before), b = tree.file(file.after);
    if (!a || !b) continue;
    file.lines = unified_diff(*a, *b);
    if (!file.lines.empty()) files.push_back(std::move(file));
  }
  return files;
}

Step compare_step(const CountedRun& before, const CountedRun& after, const arch::Gpu& gpu,
                  const SourceTree& tree) {
  const Explanation a = explain(before, gpu, tree), b = explain(after, gpu, tree);
  Step step;
  step.before = title_of(a);
  step.after = title_of(b);
  step.files = source_diffs(*before.kernel, *after.kernel, tree);
  if (step.files.empty()) {
    step.source_note =
        tree.is_there() ? "Both have the same source." : "The source tree is not there: no diff.";
  }
  step.counts = counts_table(a, b);
  step.code = code_table(a, b, code_of(before), code_of(after));
  step.times = times_table(a, b, tree);
  return step;
}

std::string render(const Step& step, bool colour) {
  std::string text;
  for (const FileDiff& file : step.files) text += diff_text(file, colour) + "\n";
  if (!step.source_note.empty()) text += step.source_note + "\n\n";
  for (const Table* table : {&step.counts, &step.code, &step.times}) {
    text += render(*table, Format::kText) + (table == &step.times ? "" : "\n");
  }
  return text;
}

Json to_json(const Step& step) {
  Json files = Json::array();
  for (const FileDiff& file : step.files) {
    std::string text;
    for (const DiffLine& line : file.lines) {
      text += (line.mark == '@' ? "" : std::string(1, line.mark)) + line.text + "\n";
    }
    files.push_back({{"before", file.before}, {"after", file.after}, {"diff", text}});
  }
  return {{"before", step.before},
          {"after", step.after},
          {"source", files},
          {"counts", table_json(step.counts)},
          {"code", table_json(step.code)},
          {"times", table_json(step.times)}};
}

}  // namespace tessera::lab
