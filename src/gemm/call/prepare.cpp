#include "gemm/call/prepare.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tessera::gemm {
namespace {

// HW: of a kernel's parameters, before CUDA 12.1 (CUDA C++ Programming Guide, __global__ function
// parameters). All of ours are far smaller.
constexpr std::size_t kMaxParams = 4096;

// The placeholder address of a map's tensor; well aligned.
constexpr DeviceAddress kSomewhere = 1 << 20;

void write_map(const Modules& modules, const MapPatch& map, std::vector<std::byte>& params) {
  TensorMapDesc desc = map.desc;
  desc.address = kSomewhere;
  const TensorMapBytes encoded = modules.encode_tensor_map(desc);
  std::copy(encoded.bytes.begin(), encoded.bytes.end(),
            params.begin() + static_cast<std::ptrdiff_t>(map.offset));
}

// Each image that the entries of kernels ask for, once.
class Images {
 public:
  explicit Images(Modules& modules) : modules_(modules) {}

  const LoadedImage& with(const Kernel& kernel, const std::string& entry) {
    const CodeImage& code = image_of(kernel, entry);
    for (const auto& [known, image] : loaded_) {
      if (known == &code) return image;
    }
    return loaded_.emplace_back(&code, modules_.load(code)).second;
  }

 private:
  Modules& modules_;
  std::vector<std::pair<const CodeImage*, LoadedImage>> loaded_;
};

}  // namespace

Prepared prepare(Modules& modules, const Stream& stream, Plan plan) {
  Prepared prepared(modules, stream, std::move(plan));
  if (prepared.plan_.steps.empty()) return prepared;
  Images images(modules);
  prepared.image_ = images.with(prepared.plan_.kernel(), prepared.plan_.row().entry);
  for (const Step& planned : prepared.plan_.steps) {
    const Launch& launch = planned.launch;
    if (launch.params.size() > kMaxParams) {
      throw StatusError(Status::unsupported(
          launch.entry + " takes " + std::to_string(launch.params.size()) +
          " bytes of parameters, but a launch has at most " + std::to_string(kMaxParams)));
    }
    prepared.launches_.push_back(
        {modules.entry(images.with(*planned.kernel, launch.entry), launch.entry, launch.shape),
         launch.params});
    for (const MapPatch& map : planned.maps) {
      write_map(modules, map, prepared.launches_.back().params);
    }
  }
  return prepared;
}

void Prepared::launch(std::size_t number, const Arguments& of_batch, void* stream) const {
  const std::size_t index = number % launches_.size();
  const Arguments arguments = of_round(plan_, of_batch, number / launches_.size());
  const Ready& ready = launches_[index];
  const Step& planned = plan_.steps[index];
  alignas(64) std::array<std::byte, kMaxParams> storage;
  const std::span<std::byte> params(storage.data(), ready.params.size());
  std::memcpy(params.data(), ready.params.data(), params.size());
  patch(planned, arguments, params);
  for (const MapPatch& map : planned.maps) {
    modules_->replace_address(params.subspan(map.offset).first<128>(),
                              address_of(map.address, arguments));
  }
  stream_->launch(ready.entry, planned.launch.shape, params, planned.launch.param_offsets, stream);
}

void execute(const Prepared& prepared, const Arguments& arguments, void* stream) {
  require(check(prepared.plan(), arguments));
  std::size_t launched = 0;
  try {
    for (; launched < prepared.launches(); ++launched) prepared.launch(launched, arguments, stream);
  } catch (const StatusError& error) {
    // WHY: any other status says that nothing was launched.
    if (launched > 0) throw StatusError(Status::failed(error.what()));
    throw;
  }
}

}  // namespace tessera::gemm
