#include "tools/calibrate/registers/image.h"

#include <span>

#include "tools/calibrate/registers/program.h"

extern "C" {
extern const char calibration_registers_cubin[], calibration_registers_cubin_end[];
extern const char calibration_registers_long_cubin[], calibration_registers_long_cubin_end[];
}

namespace tessera::calibration {
namespace {

std::span<const std::byte> template_of(const Frame& frame) {
  const bool is_long = &frame == &long_frame();
  const char* begin = is_long ? calibration_registers_long_cubin : calibration_registers_cubin;
  const char* end =
      is_long ? calibration_registers_long_cubin_end : calibration_registers_cubin_end;
  return std::as_bytes(std::span(begin, end));
}

int images_made = 0;

}  // namespace

PatchedImage::PatchedImage(const Frame& frame, const Code& code)
    : name_(std::string(frame.entry) + " " + std::to_string(++images_made)),
      cubin_(patched(template_of(frame), frame, code)),
      image_{.name = name_, .cubin = cubin_, .cubin_arch = "sm_90a"} {}

}  // namespace tessera::calibration
