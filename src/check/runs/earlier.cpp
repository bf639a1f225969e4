#include "check/runs/earlier.h"

#include <algorithm>
#include <cstring>

#include "check/runs/launching.h"
#include "check/runs/run.h"

namespace tessera::checking {
namespace {

constexpr const char* kName = "launch_ahead";
constexpr const char* kText = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry launch_ahead(.param .u64 array, .param .u64 words)
{
.reg .pred %p;
.reg .b32 %r<2>;
.reg .b64 %rd<4>;
ld.param.u64 %rd0, [array];
ld.param.u64 %rd1, [words];
mov.u32 %r0, %tid.x;
cvt.u64.u32 %rd2, %r0;
NEXT:
setp.ge.u64 %p, %rd2, %rd1;
@%p ret;
shl.b64 %rd3, %rd2, 2;
add.s64 %rd3, %rd3, %rd0;
ld.global.u32 %r1, [%rd3];
st.global.u32 [%rd3], %r1;
add.s64 %rd2, %rd2, 256;
bra NEXT;
}
)";

}  // namespace

void launch_ahead(const CheckPlan& plan, const Placed& placed, VirtualDevice& device) {
  const LoadedImage image = device.load(image_of({"", kText}));
  for (const HostArray& array : plan.arrays) {
    if (std::find(plan.earlier.begin(), plan.earlier.end(), array.name) == plan.earlier.end()) {
      continue;
    }
    const std::uint64_t values[2] = {placed.arrays.at(array.name), array.bytes.size() / 4};
    Launch ahead;
    ahead.entry = kName;
    ahead.shape.block = 256;
    ahead.shape.starts_early = true;  // so that those before it are remembered, too
    ahead.params.resize(sizeof values);
    std::memcpy(ahead.params.data(), values, sizeof values);
    device.launch(image, ahead);
  }
  device.take_counts();
}

void name_launch_ahead(vgpu::LaunchReport& report) {
  const std::string name = std::string("kernel ") + kName;
  for (vgpu::Finding& finding : report.findings) {
    const std::size_t at = finding.message.find(name);
    if (at == std::string::npos) continue;
    const bool reads = finding.message.find("still read", at) != std::string::npos;
    finding.message.resize(at);
    finding.message += reads ? "they may still read it" : "by --earlier one of them writes it";
  }
}

}  // namespace tessera::checking
