#include "gemm/call/prepare.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tessera::gemm {
namespace {

// HW: the most bytes of parameters that a kernel can have before CUDA 12.1 (CUDA C++ Programming
// Guide, __global__ function parameters). Our kernels have far fewer.
constexpr std::size_t kMaxParams = 4096;

// The tensor's address in an encoded tensor map, until a launch replaces it. Only its alignment
// matters.
constexpr DeviceAddress kSomewhere = 1 << 20;

void write_map(const Modules& modules, const MapPatch& map, std::vector<std::byte>& params) {
  TensorMapDesc desc = map.desc;
  desc.address = kSomewhere;
  const TensorMapBytes encoded = modules.encode_tensor_map(desc);
  std::copy(encoded.bytes.begin(), encoded.bytes.end(),
            params.begin() + static_cast<std::ptrdiff_t>(map.offset));
}

// Loads each image once, although several entries may be in the same image.
class Images {
 public:
  explicit Images(Modules& modules) : modules_(modules) {}

  // `entry` must outlive the object.
  const LoadedImage& with(const Kernel& kernel, std::string_view entry) {
    for (const Loaded& known : loaded_) {
      if (known.kernel == &kernel && known.entry == entry) return known.image;
    }
    const CodeImage& code = image_of(kernel, entry);
    const auto same = std::find_if(loaded_.begin(), loaded_.end(),
                                   [&](const Loaded& known) { return known.code == &code; });
    LoadedImage image = same != loaded_.end() ? same->image : modules_.load(code);
    return loaded_.emplace_back(Loaded{&kernel, entry, &code, std::move(image)}).image;
  }

 private:
  struct Loaded {
    const Kernel* kernel;
    std::string_view entry;
    const CodeImage* code;
    LoadedImage image;
  };
  Modules& modules_;
  std::vector<Loaded> loaded_;
};

}  // namespace

PreparedStep::PreparedStep(Modules& modules, const LoadedImage& image, const Step& step)
    : params_(step.launch.params) {
  const Launch& launch = step.launch;
  if (launch.params.size() > kMaxParams) {
    throw StatusError(Status::unsupported(
        launch.entry + " takes " + std::to_string(launch.params.size()) +
        " bytes of parameters, but a launch has at most " + std::to_string(kMaxParams)));
  }
  entry_ = modules.entry(image, launch.entry, launch.shape);
  for (const MapPatch& map : step.maps) write_map(modules, map, params_);
}

PreparedStep::PreparedStep(Modules& modules, const Step& step)
    : PreparedStep(modules, modules.load(image_of(*step.kernel, step.launch.entry)), step) {}

void PreparedStep::launch(const Modules& modules, const Stream& stream, const Step& step,
                          const Arguments& arguments, void* on) const {
  alignas(64) std::array<std::byte, kMaxParams> storage;
  const std::span<std::byte> params(storage.data(), params_.size());
  std::memcpy(params.data(), params_.data(), params.size());
  patch(step, arguments, params);
  for (const MapPatch& map : step.maps) {
    modules.replace_address(params.subspan(map.offset).first<128>(),
                            address_of(map.address, arguments));
  }
  stream.launch(entry_, step.launch.shape, params, step.launch.param_offsets, on);
}

Prepared prepare(Modules& modules, const Stream& stream, Plan plan) {
  Prepared prepared(modules, stream, std::move(plan));
  if (prepared.plan_.steps.empty()) return prepared;
  Images images(modules);
  prepared.image_ = images.with(prepared.plan_.kernel(), prepared.plan_.row().entry);
  for (const Step& step : prepared.plan_.steps) {
    prepared.launches_.emplace_back(modules, images.with(*step.kernel, step.launch.entry), step);
  }
  return prepared;
}

void Prepared::launch(std::size_t number, const Arguments& of_batch, void* stream) const {
  const std::size_t index = number % launches_.size();
  const Arguments arguments = of_round(plan_, of_batch, number / launches_.size());
  launches_[index].launch(*modules_, *stream_, plan_.steps[index], arguments, stream);
}

void execute(const Prepared& prepared, const Arguments& arguments, void* stream) {
  require(check(prepared.plan(), arguments));
  std::size_t launched = 0;
  try {
    for (; launched < prepared.launches(); ++launched) prepared.launch(launched, arguments, stream);
  } catch (const StatusError& error) {
    // WHY kFailed: any other status means that nothing was launched.
    if (launched > 0) throw StatusError(Status::failed(error.what()));
    throw;
  }
}

}  // namespace tessera::gemm
