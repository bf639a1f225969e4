// tessera list: every kernel of the catalog, one row each, with what ptxas made of it.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/options/parser.h"
#include "cli/terminal/output.h"
#include "cli/version.h"
#include "lab/record/json_number.h"
#include "sass/container/cubin.h"

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
  if (!image.patched.bytes.empty())
    codes.push_back(fmt::format("patched cubin {}", image.cubin_arch));
  if (!image.cubin.empty()) codes.push_back(fmt::format("cubin {}", image.cubin_arch));
  if (!image.ptx.empty()) codes.push_back(fmt::format("ptx {}", image.cubin_arch));
  codes.push_back(image.portable_ptx.empty() ? "no portable ptx"
                                             : fmt::format("ptx {}", image.portable_arch));
  return joined(codes);
}

// The kernel's cubin, read; empty where the image holds none.
sass::CubinFile cubin_of(const Kernel& kernel) {
  const CodeImage& image = image_of(kernel);
  return image.cubin.empty() ? sass::CubinFile{} : sass::read_cubin(best_cubin(image));
}

lab::Json json_of(const KernelRow& row, const sass::CubinFile& cubin) {
  lab::Json entry = {{"entry", row.entry},
                     {"config", row.variant},
                     {"block", {row.block.m, row.block.n, row.block.k}},
                     {"threads", row.threads * row.threads_y}};
  if (const sass::CubinKernel* code = cubin.find(row.entry)) {
    entry["registers"] = code->registers;
    entry["shared_bytes"] = code->shared_bytes;
    entry["local_bytes"] = code->local_bytes;
    entry["instructions"] = code->code.size();
  }
  return entry;
}

lab::Json json_of(const Kernel& kernel, const sass::CubinFile& cubin) {
  lab::Json entries = lab::Json::array(), helpers = lab::Json::array();
  for (const HelperEntry& helper : kernel.helpers) helpers.push_back(helper.entry);
  for (const KernelRow& row : kernel.rows) entries.push_back(json_of(row, cubin));
  return {{"kernel", kernel.name},
          {"idea", kernel.idea},
          {"type", lab::json_types(kernel.types)},
          {"configs", variants_of(kernel)},
          {"entries", entries},
          {"helpers", helpers},
          {"image", codes_of(image_of(kernel))}};
}

// Registers and shared bytes are those of the default row.
std::vector<std::string> row_of(const Kernel& kernel, const sass::CubinFile& cubin) {
  const sass::CubinKernel* code = cubin.find(kernel.rows.front().entry);
  return {kernel.name,
          kernel.idea,
          name_of(kernel.types),
          joined(variants_of(kernel)),
          std::to_string(kernel.rows.size() + kernel.helpers.size()),
          code ? std::to_string(code->registers) : "-",
          code ? std::to_string(code->shared_bytes) : "-",
          codes_of(image_of(kernel))};
}

int list(const Options& options) {
  options.output.check();
  Table table{{"kernel", "idea", "type", "configs", "entries", "registers", "shared", "image"}, {}};
  lab::Json object = {
      {"schema", lab::kSchema}, {"version", kVersion}, {"kernels", lab::Json::array()}};
  const Kernel* last = nullptr;
  for (const KernelChoice& choice : kernels_of(options.problem)) {
    if (choice.kernel == last) continue;  // a further variant of the same kernel
    last = choice.kernel;
    const sass::CubinFile cubin = cubin_of(*last);
    table.rows.push_back(row_of(*last, cubin));
    object["kernels"].push_back(json_of(*last, cubin));
  }
  options.output.write(object, table);
  if (options.output.prints_text()) fmt::print("{}", render(table, Format::kText));
  return kOk;
}

}  // namespace

Command list_command() {
  return {"list", "all kernels: idea, type, configs, registers, shared bytes, image",
          "  tessera list\n"
          "  tessera list --type f64 --json -",
          [](Parser& parser) {
            auto options = std::make_shared<Options>();
            add_kernel_options(parser, options->problem);
            options->output.add_options(parser);
            return [options] { return list(*options); };
          }};
}

}  // namespace tessera::cli
