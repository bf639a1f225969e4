// The launch that applies an epilogue, for each type of D.
#include "catalog/catalog.h"
#include "kernels/passes/finish_params.h"
#include "kernels/types/stored.h"

namespace tessera {
namespace {

constexpr const char* kName = "finish";

struct FinishedType {
  ElementType sum, d;
  const char* word;  // part of the entry's name
};
using enum ElementType;
constexpr FinishedType kFinished[] = {
    {kF64, kF64, "f64"}, {kF32, kF32, "f32"}, {kF32, kBf16, "bf16"}, {kF32, kF16, "f16"}};

std::string entry_of(const FinishedType& type) { return std::string(kName) + "__" + type.word; }

Kernel made() {
  Kernel kernel{.name = kName,
                .idea = "scale, bias and activation after a product",
                .types = {},
                .family = {},
                .rows = {},
                .helpers = {}};
  for (const FinishedType& type : kFinished) {
    kernel.helpers.push_back(
        {entry_of(type), "finish<" + std::string(types::find_stored(type.d)->argument) + ">",
         "tessera::passes::FinishParams", passes::kFinishThreads, passes::kFinishCtasPerSm, kName});
  }
  kernel.first_sm = 75;
  kernel.source = "kernels/passes/finish.cu";
  kernel.name_space = "tessera::passes";
  kernel.params = "tessera::passes::FinishParams";
  return kernel;
}

}  // namespace

const Kernel& finish_kernel() {
  static const Kernel kernel = made();
  return kernel;
}

const HelperEntry& finish_entry_for(ElementType sum, ElementType d) {
  const Kernel& kernel = finish_kernel();
  bool is_known = false;
  for (std::size_t i = 0; i < std::size(kFinished); ++i) {
    if (kFinished[i].d == d && kFinished[i].sum == sum) return kernel.helpers[i];
    is_known = is_known || kFinished[i].d == d;
  }
  if (!is_known) refuse_type("an epilogue", d);
  throw StatusError(Status::unsupported("no launch applies an epilogue to sums in " +
                                        std::string(name_of(sum)) + " and stores D in " +
                                        std::string(name_of(d))));
}

}  // namespace tessera
