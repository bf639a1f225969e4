// Compiled kernels in one file next to the binaries: tessera.images. The build writes it
// (cmake/images.cmake); a program unpacks only the images that it needs. libtessera.so contains the
// same bytes.
//
// The file begins with text, one line per image, and names the commit and the manifest that it was
// built from; then come the images, packed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/mapped_file.h"
#include "launch/image.h"

namespace tessera {

// An image as stored in the file. `code` holds one cubin per architecture; `text` holds the PTX and
// the portable PTX; `patch` is empty, or holds the patched form of the first cubin, the hash of its
// unpatched form, and a note (packed with that cubin). WHY `code` and `text` are apart: most users
// need only one of them, and PTX takes ten times as long to unpack as a cubin.
struct PackedImage {
  std::string name;
  std::string portable_arch;             // "compute_75"; "": there is no portable PTX
  std::vector<std::string> cubin_archs;  // the first is that of the PTX
  std::string text, code, patch;
};

// The commit and manifest that a pack was built from.
struct PackOrigin {
  std::string commit;    // "0123456789ab-dirty"
  std::string manifest;  // hash of its text
};

// The bytes of a file of images.
std::string image_file(const PackOrigin& origin, const std::vector<PackedImage>& images);

// The images of one file. They live as long as the pack.
class ImagePack {
 public:
  // Throws kUnavailable, naming the path and the rule, when the file cannot be read, is not an
  // image pack, or has another length than its first lines state.
  explicit ImagePack(const std::string& path);
  // Like the constructor above, for bytes that the caller keeps alive. `path` names the bytes in
  // messages.
  ImagePack(std::string path, std::string_view bytes);
  ~ImagePack();

  const std::string& path() const { return path_; }
  const PackOrigin& origin() const { return origin_; }
  std::vector<std::string_view> names() const;
  // Returns the image of this name, or nullptr if there is none. Its cubins are unpacked at the
  // first call, and kept; its PTX is unpacked when it is read. Any thread may call this. PTX texts
  // are followed by a 0 byte, as the driver requires. Throws kUnavailable, as reading the PTX does,
  // if the bytes differ from those that were written.
  const CodeImage* find(std::string_view name);

 private:
  struct Row;
  struct Unpacked;
  void read_header();
  [[noreturn]] void refuse(std::string_view image, const std::string& rule) const;

  std::string path_;
  std::unique_ptr<MappedFile> file_;  // null: bytes_ are another's
  std::string_view bytes_;
  PackOrigin origin_;
  std::vector<Row> rows_;
  std::map<std::string_view, std::unique_ptr<Unpacked>>
      images_;  // by name, once the header is read
};

// The images of a build, from its pack file, or from the folder that contains it.
std::unique_ptr<ImagePack> load_images(const std::string& path);

// The pack of the running program: embedded in it, or the file next to it. Throws kUnavailable if
// there is none, or if it belongs to another build.
ImagePack& own_images();

// Throws kUnavailable, with a message that names the pack, if the pack's manifest or commit differs
// from the program's. A program without a commit accepts a pack of any commit.
void check_is_of(const ImagePack& pack, const PackOrigin& program);

// From now on own_images() refuses the pack of another commit. Called once, when a program starts.
void expect_images_of(std::string commit);

}  // namespace tessera
