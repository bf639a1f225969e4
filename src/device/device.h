// Where kernels run. Two implementations behind one small interface: cuda (the driver API, loaded
// at run time) and virtual (our PTX executor on the CPU). Failures throw StatusError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "launch/image.h"
#include "launch/launch.h"
#include "launch/tensor_map.h"
#include "vgpu/observe/observation.h"
#include "vgpu/observe/report.h"
#include "vgpu/observe/signature.h"

namespace tessera {

enum class DeviceKind { kCuda, kVirtual };

struct DeviceInfo {
  DeviceKind kind;
  std::string name;  // "NVIDIA H200", "virtual"
  int sm = 0;        // compute capability, 90
  int sms = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  int clock_khz = 0;   // SM clock ceiling; 0 if unknown
  std::string driver;  // "580.159.04", empty if unknown
};

// Which code of an image a device loaded: "cubin sm_90a", "patched cubin sm_90a", "ptx compute_75
// (compiled by driver)".
struct LoadedImage {
  std::uint64_t handle = 0;
  std::string description;
  std::string hash = {};    // hash_of() the code that was loaded: a cubin, or the PTX
  bool is_patched = false;  // it is the image's patched cubin
};

// An entry of a loaded image, found once: what repeated launches of it need.
struct LoadedEntry {
  std::uint64_t handle = 0;
};

// What the virtual GPU saw during one launch, and of one instruction in it. Tagged exact: it counts
// the PTX.
using LaunchCounts = vgpu::LaunchReport;
using InstructionCount = vgpu::InstructionReport;

// A launch that a kernel's own fault ended, as a finding of the check that it failed: out of
// bounds, deadlock, ... Known on the virtual GPU alone.
class LaunchFault : public StatusError {
 public:
  LaunchFault(Status status, vgpu::Finding finding, std::vector<vgpu::Finding> before = {})
      : StatusError(std::move(status)), finding_(std::move(finding)), before_(std::move(before)) {}
  const vgpu::Finding& finding() const { return finding_; }
  // What the checks had found until then: often why it happened.
  const std::vector<vgpu::Finding>& before() const { return before_; }

 private:
  vgpu::Finding finding_;
  std::vector<vgpu::Finding> before_;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;

  // Throws kUnavailable when the memory cannot be had. Address 0 only for 0 bytes.
  virtual DeviceAddress allocate(std::size_t bytes) = 0;
  virtual void free(DeviceAddress address) = 0;
  virtual void copy_in(DeviceAddress to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, DeviceAddress from, std::size_t bytes) = 0;

  // Loads once a process and image name; later calls return the same handle. Throws kUnavailable
  // when this GPU or driver can load none of the image's codes.
  virtual LoadedImage load(const CodeImage& image) = 0;
  // The entries of a loaded image and what they take; empty on a real GPU.
  virtual std::vector<vgpu::KernelSignature> kernels(const LoadedImage&) const { return {}; }
  // The bytes that stand for this map in a kernel's parameters or memory. Throws kBadArgument where
  // it breaks a rule, kUnsupported where this device cannot run it.
  virtual TensorMapBytes encode_tensor_map(const TensorMapDesc&) {
    throw StatusError(Status::unsupported("this device has no tensor maps"));
  }
  // Moves the tensor of an encoded map to another address, of the alignment that it was encoded
  // for.
  virtual void replace_address(std::span<std::byte, 128>, DeviceAddress) const {
    throw StatusError(Status::unsupported("this device has no tensor maps"));
  }
  // Finds an entry and lets it run with such shapes. Throws kBadArgument where the image has none
  // of this name.
  virtual LoadedEntry entry(const LoadedImage& image, const std::string& name,
                            const LaunchShape& shape) = 0;
  // Asynchronous on a real GPU, and allocates nothing there. `offsets`: where each of several
  // parameters begins in `params`; empty: it is one block. A stream of null is the device's own. A
  // fault (out of bounds, deadlock, ...) throws kFailed here or at the next synchronize(); on the
  // virtual GPU a LaunchFault here.
  virtual void launch(const LoadedEntry& entry, const LaunchShape& shape,
                      std::span<const std::byte> params, std::span<const std::size_t> offsets,
                      void* stream) = 0;
  // All of that for a launch that is made once.
  void launch(const LoadedImage& image, const Launch& launch);
  // The launch's parameters with this device's encoding of each tensor map in its place.
  std::vector<std::byte> params_of(const Launch& launch);
  virtual void synchronize() = 0;

  // Elapsed milliseconds on the device between two marks on its stream; nullopt on the virtual GPU.
  virtual std::uint64_t record_mark() = 0;
  virtual std::optional<double> milliseconds_between(std::uint64_t begin, std::uint64_t end) = 0;

  // Counts of every launch since the last call, in launch order; empty on a real GPU.
  virtual std::vector<LaunchCounts> take_counts() = 0;
  // What the launches to come are watched for; nothing on a real GPU.
  virtual void observe(const vgpu::Observation&) {}

  // The stream that launches and marks run on (a CUstream, which is a cudaStream_t), for a vendor
  // library timed between them; null on the virtual GPU.
  virtual void* native_stream() const { return nullptr; }

 private:
  // Maps that were encoded last, since calls repeat and an encoding costs the host a microsecond.
  const TensorMapBytes& encoded(const TensorMapDesc& desc);
  struct EncodedMap {
    TensorMapDesc desc;
    TensorMapBytes bytes;
  };
  std::vector<EncodedMap> encoded_maps_;
  std::size_t next_encoded_ = 0;
};

// Throws kUnavailable with one sentence that says what is missing.
std::unique_ptr<Device> make_cuda_device();
struct VirtualDeviceOptions {
  int host_threads = 0;          // 0: all cores
  std::size_t memory_bytes = 0;  // 0: no limit but the host's
  int sms = 132;                 // what plans of persistent grids count on; HW: those of an H200
  bool allow_avx512 = true;      // false: the AVX2 path even where the host has AVX-512
  vgpu::Observation observation = {};
};
std::unique_ptr<Device> make_virtual_device(const VirtualDeviceOptions& options = {});

}  // namespace tessera
