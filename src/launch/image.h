// Compiled code, as bytes, which the catalog passes to a device. Pure data, so that catalog/ and
// device/ need none of each other's headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

using DeviceAddress = std::uint64_t;

// A text of an image, such as its PTX. The text may still be packed: PTX is most of an image, and a
// GPU that runs a cubin needs no PTX.
class CodeText {
 public:
  // Unpacks a text when it is first read, by any thread, and keeps it as long as the source exists.
  class Source {
   public:
    virtual ~Source() = default;
    virtual std::string_view text(int part) const = 0;
  };

  CodeText() = default;
  CodeText(std::string_view text) : text_(text) {}
  CodeText(const char* text) : text_(text) {}
  CodeText(const std::string& text) : text_(text) {}
  CodeText(const Source& source, int part) : source_(&source), part_(part) {}

  std::string_view view() const { return source_ ? source_->text(part_) : text_; }
  operator std::string_view() const { return view(); }
  bool empty() const { return !source_ && text_.empty(); }  // a source has no empty texts

 private:
  std::string_view text_;
  const Source* source_ = nullptr;  // null: the text is above
  int part_ = 0;
};

// A cubin for one architecture.
struct Cubin {
  std::string_view arch;  // "sm_86"
  std::span<const std::byte> bytes;
};

// A cubin whose machine code the build has reordered. A patched cubin is used only if it was made
// from the plain cubin of its image.
struct PatchedCubin {
  std::span<const std::byte> bytes;  // empty: there is no patched cubin
  std::string_view made_from;        // hash_of() the plain cubin (base/hash.h)
  std::string_view note;             // what was changed and proved, or why nothing was changed
  bool is_checked = false;           // made_from is known to match: loading need not compare
};

// Compiled code of kernels, as the catalog holds it: PTX for sm_90a and a cubin made from it;
// portable PTX and cubins made from the portable PTX.
struct CodeImage {
  std::string_view name;                       // "07_vector_access__32x32x32"
  CodeText ptx;                                // for sm_90a; the virtual GPU runs this PTX
  std::span<const std::byte> cubin;            // made from ptx
  std::string_view cubin_arch;                 // "sm_90a"
  CodeText portable_ptx;                       // for older cards; the driver compiles it
  std::string_view portable_arch;              // "compute_75"
  std::span<const Cubin> further_cubins = {};  // for other GPUs, made from portable_ptx
  PatchedCubin patched = {};                   // made from `cubin`, and preferred to `cubin`
};

// The cubin that should run: the patched cubin if there is one, else the plain cubin.
inline std::span<const std::byte> best_cubin(const CodeImage& image) {
  return image.patched.bytes.empty() ? image.cubin : image.patched.bytes;
}

}  // namespace tessera
