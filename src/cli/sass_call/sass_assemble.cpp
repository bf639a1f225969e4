#include "cli/sass_call/sass_assemble.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "base/status.h"
#include "cli/sass_call/sass_input.h"
#include "lab/record/record.h"
#include "sass/assemble/assembly.h"
#include "sass/rewrite/check_code.h"

namespace tessera::cli {
namespace {

constexpr std::size_t kMostHazards = 8;  // printed per kernel

void write_bytes(const std::string& path, const std::vector<std::byte>& bytes) {
  lab::write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "--out");
}

std::string findings_text(const sass::CheckedKernel& kernel) {
  if (!kernel.not_checked.empty()) {
    return fmt::format("{}: hazards not checked: {}\n", kernel.name, kernel.not_checked);
  }
  std::string text;
  for (const std::string& hazard : kernel.hazards) {
    if (&hazard == &kernel.hazards[0] + kMostHazards) {
      return text + fmt::format("  and {} more\n", kernel.hazards.size() - kMostHazards);
    }
    text += fmt::format("hazard: {}\n", hazard);
  }
  return text;
}

}  // namespace

std::string write_assembly(const std::string& target, const std::string& kernel, int sm,
                           const arch::Gpu& gpu, const std::string& out) {
  const std::vector<std::byte> cubin = cubin_bytes(target, kernel, sm, gpu);
  std::string text;
  try {
    text = sass::assembly_text(cubin, kernel);
  } catch (const std::runtime_error& error) {
    throw StatusError(Status::bad_argument(fmt::format("'{}': {}", target, error.what())));
  }
  lab::write_file(out, text, "--out");
  return fmt::format("{}: {} lines; tessera sass --assemble {} -o OUT makes the cubin again.\n",
                     out, std::count(text.begin(), text.end(), '\n'), out);
}

AssembledFile assemble_file(const std::string& path, const std::string& out) {
  const std::vector<std::byte> bytes = file_bytes(path);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::byte> cubin;
  try {
    cubin = sass::assemble(text);
  } catch (const std::runtime_error& error) {
    throw StatusError(Status::bad_argument(fmt::format("'{}', {}", path, error.what())));
  }
  write_bytes(out, cubin);
  AssembledFile assembled{fmt::format("{}: {} bytes\n", out, cubin.size()), true};
  std::size_t checked = 0;
  for (const sass::CheckedKernel& kernel : sass::check_code(cubin)) {
    assembled.text += findings_text(kernel);
    assembled.is_clean = assembled.is_clean && kernel.hazards.empty();
    checked += kernel.not_checked.empty() ? 1 : 0;
  }
  if (assembled.is_clean && checked > 0) {
    assembled.text += fmt::format("hazards: none in {} kernels\n", checked);
  }
  return assembled;
}

}  // namespace tessera::cli
