// The catalog line of the kernel that applies an epilogue, with an entry for each type of D.
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

HelperEntry entry_of(const FinishedType& type, bool writes_x) {
  const std::string out = types::find_stored(type.d)->argument;
  return {std::string(kName) + "__" + type.word + (writes_x ? "_x" : ""),
          "finish<" + out + (writes_x ? ",true>" : ">"),
          "tessera::passes::FinishParams",
          passes::kFinishThreads,
          passes::kFinishCtasPerSm,
          kName};
}

Kernel made() {
  Kernel kernel{.name = kName,
                .idea = "scale, bias and activation after a product",
                .types = {},
                .family = {},
                .rows = {},
                .helpers = {}};
  for (const bool writes_x : {false, true}) {
    for (const FinishedType& type : kFinished) kernel.helpers.push_back(entry_of(type, writes_x));
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

const HelperEntry& finish_entry_for(ElementType sum, ElementType d, bool writes_x) {
  const Kernel& kernel = finish_kernel();
  bool is_known = false;
  constexpr std::size_t kTypes = std::size(kFinished);
  for (std::size_t i = 0; i < kTypes; ++i) {
    if (kFinished[i].d == d && kFinished[i].sum == sum) {
      return kernel.helpers[i + (writes_x ? kTypes : 0)];
    }
    is_known = is_known || kFinished[i].d == d;
  }
  if (!is_known) refuse_type("an epilogue", d);
  throw StatusError(Status::unsupported("no launch applies an epilogue to sums in " +
                                        std::string(name_of(sum)) + " and stores D in " +
                                        std::string(name_of(d))));
}

}  // namespace tessera
