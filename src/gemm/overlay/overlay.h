// A user's own measurements: for each problem, the plan that was fastest on this GPU. An overlay
// outranks the cost model. It is a cache: a wrong entry or file is ignored, and never makes a call
// fail.
//
//   tessera overlay 1
//   gpu NVIDIA H200
//   driver 580.159.04
//   library 1a2b3c4d5e6f
//   8.1 9.3 simt_f32/128x64:whole type=f32 order=col layout=NN m=300 ... workspace=any
//   end 1 0123456789abcdef
//
// An entry has the plan's median in microseconds, the median of the model's choice, the plan, and
// the problem's key (call_text.h). Entries are sorted by key. The last line has their number and a
// hash of all text before it, so that a file that was cut or changed is noticed.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace tessera::gemm {

// The GPU, driver and build that an overlay was measured with. The driver is stored but not
// compared: it does not change the machine code.
struct OverlayOrigin {
  std::string gpu;      // "NVIDIA H200"
  std::string driver;   // may be empty
  std::string library;  // the commit of the images
};

struct OverlayEntry {
  std::string plan;                // Candidate::name()
  double us = 0, by_model_us = 0;  // medians in microseconds: of the plan, of the model's choice

  bool operator==(const OverlayEntry&) const = default;
};

struct Overlay {
  std::string path;
  OverlayOrigin origin;
  std::map<std::string, OverlayEntry, std::less<>> entries;  // by key_of()
  std::string ignored;  // why the entries of a file were dropped; else empty
};

// A longer file is ignored without reading it. The limit is about 20,000 entries.
inline constexpr std::size_t kMostOverlayBytes = std::size_t{4} << 20;

std::string text_of(const Overlay& overlay);
// Does not throw for any text: an overlay that cannot be read has no entries, but a reason.
Overlay overlay_of(std::string_view text, std::string path);
// Drops the entries of another GPU or of another version of the library, and sets `ignored`.
void ignore_if_foreign(Overlay& overlay, const OverlayOrigin& here);

}  // namespace tessera::gemm
