#include "cli/sass_call/sass_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/status.h"
#include "cli/options/card_kernel.h"
#include "cli/options/options.h"
#include "gemm/plan/plan.h"
#include "sass/container/fatbin.h"

namespace tessera::cli {
namespace {

bool names(const std::string& entry, const std::string& kernel) {
  return entry.empty() || kernel.find(entry) != std::string::npos;
}

void add_cubin(std::span<const std::byte> bytes, const std::string& from, int sm,
               std::vector<MachineKernel>& found) {
  const sass::CubinFile cubin = sass::read_cubin(bytes);
  if (sm != 0 && cubin.sm != sm) return;
  for (const sass::CubinKernel& kernel : cubin.kernels) {
    found.push_back({from, cubin.sm, kernel, std::nullopt, nullptr, {}});
  }
}

std::vector<MachineKernel> kernels_of_file(const std::string& path, int sm) {
  std::vector<MachineKernel> found;
  std::string trouble;
  const sass::FoundCode code = sass::find_code(file_bytes(path));
  for (const sass::FoundCubin& cubin : code.cubins) {
    try {
      add_cubin(cubin.bytes, path, sm, found);
    } catch (const std::runtime_error& error) {
      trouble = error.what();
    }
  }
  if (!found.empty()) return found;
  if (!trouble.empty()) throw std::runtime_error(trouble);
  if (sm == 0 && !code.cubins.empty()) throw std::runtime_error("a cubin without code");
  throw std::runtime_error(
      sm != 0
          ? fmt::format("no machine code for sm_{}", sm)
          : fmt::format("no machine code, but {} PTX texts, which the driver compiles", code.ptx));
}

// The only cubin in a file; if `sm` is not 0, the only one for this architecture.
std::vector<std::byte> cubin_of_file(const std::string& path, int sm) {
  std::vector<std::vector<std::byte>> found;
  try {
    for (const sass::FoundCubin& cubin : sass::find_code(file_bytes(path)).cubins) {
      if (sm == 0 || sass::read_cubin(cubin.bytes).sm == sm) found.push_back(cubin.bytes);
    }
  } catch (const std::runtime_error& trouble) {
    throw StatusError(Status::bad_argument(fmt::format("'{}': {}", path, trouble.what())));
  }
  if (found.size() == 1) return found.front();
  throw StatusError(Status::bad_argument(
      fmt::format("'{}' holds {} cubins, but one is needed; --sm chooses", path, found.size())));
}

// The entry that is shown by default: the row that an H200 runs for column-major NN problems.
const KernelRow* default_row(const KernelChoice& choice) {
  const Problem problem{.m = 1024, .n = 1024, .k = 1024, .types = choice.kernel->types};
  const int sm = std::clamp(90, choice.kernel->first_sm, choice.kernel->last_sm);
  return &gemm::plan(problem, {}, {.sm = sm, .sms = 132}, {.kernel = choice}).row();
}

// The row whose entry has exactly this name; null if there is none.
const KernelRow* row_called(const KernelChoice& choice, const std::string& entry) {
  for (const KernelRow& row : choice.kernel->rows) {
    if (row.variant == choice.variant && row.entry == entry) return &row;
  }
  return nullptr;
}

// The PTX that the image's cubin was made from; cubins for older cards come from the portable PTX.
std::string_view ptx_of(const CodeImage& image) {
  return image.cubin_arch.starts_with("sm_90") ? image.ptx : image.portable_ptx;
}

// The machine code of one kernel on one card. Reads each cubin once.
class CatalogCode {
 public:
  CatalogCode(const KernelChoice& choice, const arch::Gpu& gpu)
      : choice_(choice), card_(gpu), kernel_(*card_.on_card(choice).kernel) {}

  // Adds the code of an entry: of a row of the catalog or, if `row` is null, of a helper.
  void add(const std::string& entry, const KernelRow* row, std::vector<MachineKernel>& found) {
    const CodeImage& image = image_of(kernel_, entry);
    if (image_ != &image) cubin_ = sass::read_cubin(best_cubin(image));
    image_ = &image;
    const sass::CubinKernel* kernel = cubin_.find(entry);
    if (!kernel) return;
    found.push_back({choice_.kernel->name, cubin_.sm, *kernel,
                     row ? std::optional(choice_) : std::nullopt, row, ptx_of(image)});
  }

 private:
  const KernelChoice& choice_;
  CardKernels card_;
  const Kernel& kernel_;
  const CodeImage* image_ = nullptr;
  sass::CubinFile cubin_;
};

void add_catalog_kernel(const KernelChoice& choice, const std::string& entry, const arch::Gpu& gpu,
                        std::vector<MachineKernel>& found) {
  CatalogCode code(choice, gpu);
  const KernelRow* wanted = entry.empty() ? default_row(choice) : row_called(choice, entry);
  for (const KernelRow& row : choice.kernel->rows) {
    if (row.variant != choice.variant || (wanted && &row != wanted)) continue;
    if (names(entry, row.entry)) code.add(row.entry, &row, found);
  }
  if (wanted) return;
  for (const HelperEntry& helper : choice.kernel->helpers) {
    if (names(entry, helper.entry)) code.add(helper.entry, nullptr, found);
  }
}

// The first eight names, for a message.
std::string some_names(const std::vector<MachineKernel>& kernels) {
  std::set<std::string> all;
  for (const MachineKernel& kernel : kernels) all.insert(kernel.kernel.name);
  std::string text;
  std::size_t shown = 0;
  for (const std::string& name : all) {
    if (++shown > 8) return text + ", ...";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

// The first entry of the kernel whose name contains `part`; else the first entry of the kernel.
std::string entry_with(const KernelChoice& choice, const std::string& part) {
  for (const KernelRow& row : rows_of(*choice.kernel, choice.variant)) {
    if (row.entry.find(part) != std::string::npos) return row.entry;
  }
  return first_entry_of(choice);
}

// Chooses kernels like choose_kernels(), with this command's argument in error messages.
std::vector<KernelChoice> catalog_kernels(const std::string& target) {
  ProblemOptions options;
  options.kernel = target;
  options.kernel_argument = "KERNEL";
  return kernels_of(options);
}

[[noreturn]] void fail_to_find(const std::string& entry, const std::vector<MachineKernel>& all) {
  throw StatusError(Status::bad_argument(fmt::format(
      "--kernel is '{}', but the kernels are {}; name one of them", entry, some_names(all))));
}

}  // namespace

std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && !file.eof()) {
    throw StatusError(Status::bad_argument(
        fmt::format("'{}' cannot be read; give the path of a cubin, or a kernel's name", path)));
  }
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> cubin_bytes(const std::string& target, const std::string& entry, int sm,
                                   const arch::Gpu& gpu, CubinKind kind) {
  std::error_code error;
  if (std::filesystem::is_regular_file(target, error)) return cubin_of_file(target, sm);
  const std::vector<KernelChoice> kernels = catalog_kernels(target);
  if (kernels.size() != 1) {
    throw StatusError(Status::bad_argument(fmt::format(
        "'{}' names {} kernels, but must name one or a cubin; 'tessera list' shows the names",
        target, kernels.size())));
  }
  CardKernels card(gpu);
  const KernelChoice choice = card.on_card(kernels.front());
  const CodeImage& image = image_of(*choice.kernel, entry_with(choice, entry));
  const auto bytes = kind == CubinKind::kUnpatched ? image.cubin : best_cubin(image);
  return {bytes.begin(), bytes.end()};
}

std::vector<MachineKernel> machine_kernels(const std::string& target, const std::string& entry,
                                           int sm, const arch::Gpu& gpu) {
  std::vector<MachineKernel> found;
  std::error_code error;
  if (std::filesystem::is_regular_file(target, error)) {
    std::vector<MachineKernel> all;
    try {
      all = kernels_of_file(target, sm);
    } catch (const std::runtime_error& trouble) {
      throw StatusError(Status::bad_argument(fmt::format("'{}': {}", target, trouble.what())));
    }
    for (const MachineKernel& kernel : all) {
      if (names(entry, kernel.kernel.name)) found.push_back(kernel);
    }
    if (found.empty()) fail_to_find(entry, all);
    return found;
  }
  if (target.find('/') != target.npos && target.find('.') != target.npos) {
    throw StatusError(
        Status::bad_argument(fmt::format("'{}' is not a file that can be read; give the path of a "
                                         "cubin, or a kernel's name",
                                         target)));
  }
  std::vector<MachineKernel> all;
  for (const KernelChoice& choice : catalog_kernels(target)) {
    add_catalog_kernel(choice, entry, gpu, found);
    if (found.empty()) {
      for (const KernelRow& row : choice.kernel->rows) {
        all.push_back({choice.kernel->name, 0, {.name = row.entry}, std::nullopt, nullptr, {}});
      }
    }
  }
  if (found.empty()) fail_to_find(entry, all);
  return found;
}

}  // namespace tessera::cli
