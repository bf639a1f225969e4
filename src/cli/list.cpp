// tessera list: every kernel of the catalog, one row each.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/version.h"

namespace tessera::cli {
namespace {

struct Options {
  ProblemOptions problem;
  Output output;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string codes_of(const CodeImage& image) {
  std::vector<std::string> codes;
  if (!image.cubin.empty()) codes.push_back(fmt::format("cubin {}", image.cubin_arch));
  if (!image.ptx.empty()) codes.push_back(fmt::format("ptx {}", image.cubin_arch));
  if (!image.portable_ptx.empty()) codes.push_back(fmt::format("ptx {}", image.portable_arch));
  return joined(codes);
}

lab::Json json_of(const Kernel& kernel) {
  lab::Json entries = lab::Json::array();
  for (const KernelRow& row : kernel.rows) {
    entries.push_back({{"entry", row.entry},
                       {"config", row.variant},
                       {"block", {row.block.m, row.block.n, row.block.k}},
                       {"threads", row.threads * row.threads_y}});
  }
  return {{"kernel", kernel.name},
          {"idea", kernel.idea},
          {"type", name_of(kernel.type)},
          {"configs", variants_of(kernel)},
          {"entries", entries},
          {"helpers", kernel.helpers},
          {"image", codes_of(image_of(kernel))}};
}

std::vector<std::string> row_of(const Kernel& kernel) {
  return {kernel.name,
          kernel.idea,
          std::string(name_of(kernel.type)),
          joined(variants_of(kernel)),
          std::to_string(kernel.rows.size() + kernel.helpers.size()),
          codes_of(image_of(kernel))};
}

int list(const Options& options) {
  options.output.check();
  lab::Table table{{"kernel", "idea", "type", "configs", "entries", "image"}, {}};
  lab::Json object = {
      {"schema", lab::kSchema}, {"version", kVersion}, {"kernels", lab::Json::array()}};
  const Kernel* last = nullptr;
  for (const KernelChoice& choice : kernels_of(options.problem)) {
    if (choice.kernel == last) continue;  // a further variant of the same kernel
    last = choice.kernel;
    table.rows.push_back(row_of(*last));
    object["kernels"].push_back(json_of(*last));
  }
  options.output.write(object, table);
  if (options.output.prints_text()) fmt::print("{}", lab::render(table, lab::Format::kText));
  return kOk;
}

}  // namespace

Command list_command() {
  return {"list", "all kernels: idea, type, configs, entries, image",
          "  tessera list\n"
          "  tessera list --type f64 --json -",
          [](CLI::App& app) {
            auto options = std::make_shared<Options>();
            add_kernel_options(app, options->problem);
            options->output.add_options(app);
            return [options] { return list(*options); };
          }};
}

}  // namespace tessera::cli
