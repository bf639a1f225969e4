// Runs every .ptx file of this folder through the Device interface: on the virtual GPU, or with
// TESSERA_TEST_DEVICE=cuda in the environment on a real one, which then judges the expectations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "device/cuda/cuda_device.h"
#include "device/device.h"
#include "device/virtual/virtual_device.h"
#include "tests/vgpu/instructions/case_file.h"

namespace tessera::vgpu {
namespace {

const std::filesystem::path kFolder = TESSERA_SOURCE_DIR "/tests/vgpu/instructions";

// The devices that every file runs on, made once: a CUDA context takes long to make. The virtual
// GPU comes twice, because its operations are compiled for AVX2 and for AVX-512.
const std::vector<std::unique_ptr<Device>>& devices() {
  static const auto all = [] {
    const char* wish = std::getenv("TESSERA_TEST_DEVICE");
    std::vector<std::unique_ptr<Device>> list;
    if (wish != nullptr && std::string_view(wish) == "cuda") {
      list.push_back(make_cuda_device());
    } else {
      VirtualDeviceOptions like_silicon;
      like_silicon.observation.warpgroups_meet = true;
      list.push_back(make_virtual_device(like_silicon));
      VirtualDeviceOptions narrow = like_silicon;
      narrow.allow_avx512 = false;
      list.push_back(make_virtual_device(narrow));
    }
    return list;
  }();
  return all;
}

bool is_virtual(const Device& device) { return device.info().kind == DeviceKind::kVirtual; }

class DeviceBuffer {
 public:
  DeviceBuffer(Device& device, std::size_t bytes)
      : device_(device), address_(device.allocate(std::max<std::size_t>(bytes, 16))) {}
  ~DeviceBuffer() { device_.free(address_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  DeviceAddress address() const { return address_; }

 private:
  Device& device_;
  DeviceAddress address_;
};

// What the kernel left in `out`, which starts as 0xEE bytes.
std::vector<std::byte> run_kernel(Device& device, const CaseFile& file, const std::string& name) {
  const std::string arch = "compute_" + file.target.substr(3);
  CodeImage image;
  image.name = name;
  image.ptx = image.portable_ptx = file.text;
  image.cubin_arch = image.portable_arch = arch;
  std::vector<std::byte> output(file.output_bytes(), std::byte{0xEE});
  const DeviceBuffer in(device, file.input.size()), out(device, output.size());
  device.copy_in(in.address(), file.input.data(), file.input.size());
  device.copy_in(out.address(), output.data(), output.size());
  Launch launch;
  launch.entry = "test";
  launch.shape.grid = file.grid;
  launch.shape.block = file.block;
  launch.shape.shared_bytes = file.shared_bytes;
  launch.params.resize(file.maps.empty() ? 16 : 64 + 128 * file.maps.size());
  const DeviceAddress addresses[2] = {in.address(), out.address()};
  std::memcpy(launch.params.data(), addresses, sizeof addresses);
  launch.param_offsets = {0, 8};
  for (std::size_t i = 0; i < file.maps.size(); ++i) {
    launch.param_offsets.push_back(64 + 128 * i);
    TensorMapDesc desc = file.maps[i].desc;
    desc.address = file.maps[i].of_output ? out.address() : in.address();
    const TensorMapBytes map = device.encode_tensor_map(desc);
    std::memcpy(launch.params.data() + 64 + 128 * i, map.bytes.data(), map.bytes.size());
  }
  device.launch(device.load(image), launch);
  device.synchronize();
  device.copy_out(output.data(), out.address(), output.size());
  return output;
}

void expect_output(const CaseFile& file, const std::vector<std::byte>& output) {
  std::size_t offset = 0;
  int failures = 0, word_in_case = 0, last_line = 0;
  for (const ExpectedWord& word : file.output) {
    word_in_case = word.line == last_line ? word_in_case + 1 : 0;
    last_line = word.line;
    std::uint64_t actual = 0;
    std::memcpy(&actual, output.data() + offset, word.bytes);
    offset += word.bytes;
    if (matches(word, actual, file.tolerance_ulp)) continue;
    if (++failures <= 12) {
      ADD_FAILURE() << "line " << word.line << ", word " << word_in_case
                    << " of the right side: " << std::hex << actual << " instead of " << word.value;
    }
  }
  EXPECT_EQ(failures, 0) << "words differ";
}

void expect_approximate_forms(Device& device, const CaseFile& file) {
  std::vector<std::string> reported;
  for (const LaunchCounts& counts : take_counts(device)) {
    reported.insert(reported.end(), counts.approximate_forms.begin(),
                    counts.approximate_forms.end());
  }
  for (const std::string& form : file.approximate_forms) {
    EXPECT_NE(std::find(reported.begin(), reported.end(), form), reported.end())
        << form << " ran and was not reported as approximate";
  }
  if (file.approximate_forms.empty()) {
    EXPECT_TRUE(reported.empty()) << reported.front() << " was reported as approximate";
  }
}

void expect_fault(Device& device, const CaseFile& file, const std::string& name) {
  try {
    run_kernel(device, file, name);
  } catch (const StatusError& error) {
    const std::string message = error.what();
    for (const std::string& word : file.fault_words) {
      EXPECT_NE(message.find(word), std::string::npos) << "no \"" << word << "\" in: " << message;
    }
    if (file.fault_line != 0) {
      const std::string line = "PTX line " + std::to_string(file.fault_line);
      EXPECT_NE(message.find(line), std::string::npos) << "no \"" << line << "\" in: " << message;
    }
    return;
  }
  ADD_FAILURE() << "no fault";
}

class Instructions : public testing::TestWithParam<std::string> {};

TEST_P(Instructions, Agree) {
  const CaseFile file = read_case_file(kFolder / (GetParam() + ".ptx"));
  for (std::size_t i = 0; i < devices().size(); ++i) {
    SCOPED_TRACE(i == 0 ? "first device" : "virtual GPU without AVX-512");
    Device& device = *devices()[i];
    if (!file.on_silicon && !is_virtual(device)) {
      GTEST_SKIP() << "real GPUs do something else";
    }
    if (!file.expects_fault()) {
      expect_output(file, run_kernel(device, file, GetParam()));
      if (is_virtual(device)) expect_approximate_forms(device, file);
    } else if (is_virtual(device)) {
      expect_fault(device, file, GetParam());
    } else {
      GTEST_SKIP() << "a fault would end the context of a real GPU";
    }
  }
}

std::vector<std::string> file_names() {
  std::vector<std::string> names;
  std::error_code error;  // no folder: no names, and the suite fails for want of a test
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, error)) {
    if (entry.path().extension() == ".ptx") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Ptx, Instructions, testing::ValuesIn(file_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tessera::vgpu
