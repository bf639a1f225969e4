#include "cli/options/card_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/status.h"
#include "check/compile/nvcc.h"
#include "launch/code_arch.h"

namespace tessera::cli {
namespace {

constexpr int kOldestSm = 75;  // HW: the lowest SM that nvcc of CUDA 13 compiles for

int code_sm(const arch::Gpu& gpu) { return std::max(gpu.sm, kOldestSm); }

std::string version(int sm) { return fmt::format("{}.{}", sm / 10, sm % 10); }

}  // namespace

std::string why_not_on(const Kernel& kernel, const arch::Gpu& gpu) {
  const int sm = code_sm(gpu);
  const bool only_one = kernel.first_sm == kernel.last_sm;
  if (sm >= kernel.first_sm && sm <= kernel.last_sm) return "";
  return fmt::format("its code runs on SM {}{}, and {} is SM {}", version(kernel.first_sm),
                     only_one ? " alone" : " and later", gpu.name, version(gpu.sm));
}

void CardKernels::add_code(const CodeImage& image, OnCard& card) const {
  std::vector<std::byte>& cubin = card.cubins.emplace_back();
  const auto built =
      std::ranges::find(image.further_cubins, std::string_view(card.arch), &Cubin::arch);
  if (built != image.further_cubins.end()) {
    cubin.assign(built->bytes.begin(), built->bytes.end());
  } else {
    cubin = checking::assemble_ptx(image.portable_ptx, card.arch);
  }
  CodeImage code = image;
  code.cubin = cubin;
  code.cubin_arch = card.arch;
  code.patched = {};
  card.kernel.own_images.emplace(image.name, code);
}

KernelChoice CardKernels::on_card(const KernelChoice& choice) {
  const Kernel& kernel = *choice.kernel;
  if (cubin_fits(image_of(kernel, first_entry_of(choice)).cubin_arch, gpu_.sm)) return choice;
  if (const std::string why = why_not_on(kernel, gpu_); !why.empty()) {
    throw StatusError(Status::unsupported(kernel.name + ": " + why));
  }
  OnCard& card = kernels_.emplace_back(kernel, fmt::format("sm_{}", code_sm(gpu_)));
  for (const KernelRow& row : rows_of(kernel, choice.variant)) {
    if (!card.kernel.own_images.contains(row.image)) add_code(image_of(kernel, row.entry), card);
  }
  return {&card.kernel, choice.variant};
}

}  // namespace tessera::cli
