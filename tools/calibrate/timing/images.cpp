#include "tools/calibrate/timing/images.h"

extern "C" {
extern const char calibration_shared_memory_ptx[], calibration_shared_memory_ptx_end[];
extern const char calibration_shared_memory_cubin[], calibration_shared_memory_cubin_end[];
extern const char calibration_shared_memory_portable_ptx[],
    calibration_shared_memory_portable_ptx_end[];
extern const char calibration_global_memory_ptx[], calibration_global_memory_ptx_end[];
extern const char calibration_global_memory_cubin[], calibration_global_memory_cubin_end[];
extern const char calibration_global_memory_portable_ptx[],
    calibration_global_memory_portable_ptx_end[];
extern const char calibration_matrix_ptx[], calibration_matrix_ptx_end[];
extern const char calibration_pipes_ptx[], calibration_pipes_ptx_end[];
extern const char calibration_matrix_cubin[], calibration_matrix_cubin_end[];
extern const char calibration_pipes_cubin[], calibration_pipes_cubin_end[];
extern const char calibration_matrix_portable_ptx[], calibration_matrix_portable_ptx_end[];
extern const char calibration_pipes_portable_ptx[], calibration_pipes_portable_ptx_end[];
extern const char calibration_control_ptx[], calibration_control_ptx_end[];
extern const char calibration_control_cubin[], calibration_control_cubin_end[];
extern const char calibration_control_portable_ptx[], calibration_control_portable_ptx_end[];
extern const char calibration_collisions_ptx[], calibration_collisions_ptx_end[];
extern const char calibration_collisions_cubin[], calibration_collisions_cubin_end[];
extern const char calibration_collisions_portable_ptx[], calibration_collisions_portable_ptx_end[];
extern const char calibration_atomics_ptx[], calibration_atomics_ptx_end[];
extern const char calibration_atomics_cubin[], calibration_atomics_cubin_end[];
extern const char calibration_atomics_portable_ptx[], calibration_atomics_portable_ptx_end[];
}

namespace tessera::calibration {
namespace {

// WHY: the texts are followed by a 0 byte, as the driver wants them.
std::string_view text(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

CodeImage image(std::string_view name, std::string_view ptx, std::string_view cubin,
                std::string_view portable) {
  return {.name = name,
          .ptx = ptx,
          .cubin = std::as_bytes(std::span(cubin)),
          .cubin_arch = "sm_90a",
          .portable_ptx = portable,
          .portable_arch = "compute_80"};
}

}  // namespace

const CodeImage& shared_memory_image() {
  static const CodeImage made = image(
      "calibration_shared_memory",
      text(calibration_shared_memory_ptx, calibration_shared_memory_ptx_end),
      text(calibration_shared_memory_cubin, calibration_shared_memory_cubin_end),
      text(calibration_shared_memory_portable_ptx, calibration_shared_memory_portable_ptx_end));
  return made;
}
const CodeImage& global_memory_image() {
  static const CodeImage made = image(
      "calibration_global_memory",
      text(calibration_global_memory_ptx, calibration_global_memory_ptx_end),
      text(calibration_global_memory_cubin, calibration_global_memory_cubin_end),
      text(calibration_global_memory_portable_ptx, calibration_global_memory_portable_ptx_end));
  return made;
}
const CodeImage& matrix_image() {
  static const CodeImage made =
      image("calibration_matrix", text(calibration_matrix_ptx, calibration_matrix_ptx_end),
            text(calibration_matrix_cubin, calibration_matrix_cubin_end),
            text(calibration_matrix_portable_ptx, calibration_matrix_portable_ptx_end));
  return made;
}
const CodeImage& pipes_image() {
  static const CodeImage made =
      image("calibration_pipes", text(calibration_pipes_ptx, calibration_pipes_ptx_end),
            text(calibration_pipes_cubin, calibration_pipes_cubin_end),
            text(calibration_pipes_portable_ptx, calibration_pipes_portable_ptx_end));
  return made;
}
const CodeImage& control_image() {
  static const CodeImage made =
      image("calibration_control", text(calibration_control_ptx, calibration_control_ptx_end),
            text(calibration_control_cubin, calibration_control_cubin_end),
            text(calibration_control_portable_ptx, calibration_control_portable_ptx_end));
  return made;
}
const CodeImage& collisions_image() {
  static const CodeImage made = image(
      "calibration_collisions", text(calibration_collisions_ptx, calibration_collisions_ptx_end),
      text(calibration_collisions_cubin, calibration_collisions_cubin_end),
      text(calibration_collisions_portable_ptx, calibration_collisions_portable_ptx_end));
  return made;
}
const CodeImage& atomics_image() {
  static const CodeImage made =
      image("calibration_atomics", text(calibration_atomics_ptx, calibration_atomics_ptx_end),
            text(calibration_atomics_cubin, calibration_atomics_cubin_end),
            text(calibration_atomics_portable_ptx, calibration_atomics_portable_ptx_end));
  return made;
}

}  // namespace tessera::calibration
