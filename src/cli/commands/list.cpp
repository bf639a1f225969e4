// tessera list: one row for each kernel of the catalog, with its registers and shared memory.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "catalog/image_pack.h"
#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/options/parser.h"
#include "cli/terminal/fitted.h"
#include "cli/terminal/output.h"
#include "cli/version.h"
#include "lab/json/json_number.h"
#include "sass/container/cubin.h"

namespace tessera::cli {
namespace {

struct ListArguments {
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

// The kernels of all compiled cubins, by the names of their entries.
using Code = std::map<std::string, sass::CubinKernel, std::less<>>;

Code code_of(const Kernel& kernel) {
  Code code;
  const CodeImage* last = nullptr;
  for (const KernelRow& row : kernel.rows) {
    const CodeImage* image = compiled_image_of(kernel, row.entry);
    if (!image || image == last || image->cubin.empty()) continue;
    last = image;
    for (sass::CubinKernel& compiled : sass::read_cubin(best_cubin(*image)).kernels) {
      code.emplace(compiled.name, std::move(compiled));
    }
  }
  return code;
}

const sass::CubinKernel* find(const Code& code, const std::string& entry) {
  const auto found = code.find(entry);
  return found == code.end() ? nullptr : &found->second;
}

// "cubin sm_90a, ptx compute_75", and the number of images that are not compiled.
std::string images_of_kernel(const Kernel& kernel) {
  std::string codes;
  std::size_t missing = 0;
  for (const std::string& name : image_names_of(kernel)) {
    const CodeImage* image = own_images().find(name);
    missing += image == nullptr;
    if (image && codes.empty()) codes = codes_of(*image);
  }
  if (missing == 0) return codes;
  return fmt::format("{}{}{} of {} images not compiled ('make library')", codes,
                     codes.empty() ? "" : "; ", missing, image_names_of(kernel).size());
}

lab::Json json_of(const KernelRow& row, const Code& code) {
  lab::Json entry = {{"entry", row.entry},
                     {"config", row.variant},
                     {"block", {row.block.m, row.block.n, row.block.k}},
                     {"threads", row.threads * row.threads_y}};
  if (const sass::CubinKernel* compiled = find(code, row.entry)) {
    entry["registers"] = compiled->registers;
    entry["shared_bytes"] = compiled->shared_bytes + row.shared_bytes;  // static and dynamic
    entry["local_bytes"] = compiled->local_bytes;
    entry["instructions"] = compiled->code.size();
  }
  return entry;
}

lab::Json json_of(const Kernel& kernel, const Code& code) {
  lab::Json entries = lab::Json::array(), helpers = lab::Json::array();
  for (const HelperEntry& helper : kernel.helpers) helpers.push_back(helper.entry);
  for (const KernelRow& row : kernel.rows) entries.push_back(json_of(row, code));
  return {{"kernel", kernel.name},
          {"idea", kernel.idea},
          {"type", lab::json_types(kernel.types)},
          {"configs", variants_of(kernel)},
          {"entries", entries},
          {"helpers", helpers},
          {"image", images_of_kernel(kernel)}};
}

// Returns the line of a kernel in the list. Registers and shared bytes (static and dynamic) are
// those of the kernel's default config.
std::vector<std::string> row_of(const Kernel& kernel, const Code& code) {
  const KernelRow& row = kernel.rows.front();
  const sass::CubinKernel* first = find(code, row.entry);
  return {kernel.name,
          kernel.idea,
          name_of(kernel.types),
          joined(variants_of(kernel)),
          std::to_string(kernel.rows.size() + kernel.helpers.size()),
          first ? std::to_string(first->registers) : "-",
          first ? std::to_string(first->shared_bytes + row.shared_bytes) : "-",
          images_of_kernel(kernel)};
}

const Fit kListFit{{"type", "idea", "configs", "registers", "shared", "entries", "image"},
                   {"idea", "configs", "image"}};

int list(const ListArguments& options) {
  options.output.check();
  Table table{{"kernel", "idea", "type", "configs", "entries", "registers", "shared", "image"}, {}};
  lab::Json object = {
      {"schema", lab::kSchema}, {"version", kVersion}, {"kernels", lab::Json::array()}};
  const Kernel* last = nullptr;
  for (const KernelChoice& choice : kernels_of(options.problem)) {
    if (choice.kernel == last) continue;  // another variant of this kernel
    last = choice.kernel;
    const Code code = code_of(*last);
    table.rows.push_back(row_of(*last, code));
    object["kernels"].push_back(json_of(*last, code));
  }
  options.output.write(object, table);
  if (options.output.prints_text()) fmt::print("{}", fitted(table, kListFit));
  return kOk;
}

}  // namespace

Command list_command() {
  return {"list", "all kernels: idea, type, configs, registers, shared bytes, image",
          "  tessera list\n"
          "  tessera list --type f64 --json -",
          [](Parser& parser) {
            auto options = std::make_shared<ListArguments>();
            add_kernel_options(parser, options->problem);
            options->output.add_options(parser);
            return [options] { return list(*options); };
          }};
}

}  // namespace tessera::cli
