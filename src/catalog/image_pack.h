// All compiled kernels are in one file next to the binaries: tessera.images. The build writes the
// file (cmake/images.cmake). A program unpacks only the images that it needs. libtessera.so
// contains the bytes of the file.
//
// The file begins with lines of text: the commit and the manifest that the file was built from, and
// one line per image. The packed images follow.
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

// The packed parts of an image, as the file stores them. `code`: one cubin per architecture.
// `text`: the PTX and the portable PTX. `patch`: empty, or the patched first cubin, the hash of the
// unpatched cubin and a note (pack() gets the unpatched cubin as `known`). WHY `code` and `text`
// are separate: most programs need only one of them, and unpacking PTX takes ten times as long.
struct PackedImage {
  std::string name;
  std::string portable_arch;             // "compute_75"; "": there is no portable PTX
  std::vector<std::string> cubin_archs;  // "sm_90a"; the first is the PTX's architecture
  std::string text, code, patch;
};

// The commit and the manifest (src/catalog/manifest.txt) that a pack was built from.
struct PackOrigin {
  std::string commit;    // "0123456789ab-dirty"
  std::string manifest;  // the hash of the manifest's text
};

// The bytes of a file that contains these images.
std::string image_file(const PackOrigin& origin, const std::vector<PackedImage>& images);

// The images of one file. An image is valid while the pack exists.
class ImagePack {
 public:
  // Throws kUnavailable, naming the path and the rule, when the file cannot be read, is not an
  // image pack, or has another length than its first lines state. The file must not change in place
  // while the object exists.
  explicit ImagePack(const std::string& path);
  // Reads a pack from `bytes`, which must outlive the object. `path` names the bytes in messages.
  // Throws kUnavailable like the constructor above.
  ImagePack(std::string path, std::string_view bytes);
  ~ImagePack();

  const std::string& path() const { return path_; }
  const PackOrigin& origin() const { return origin_; }
  std::vector<std::string_view> names() const;
  // Returns the image of this name, or nullptr if the pack has no such image. The first call
  // unpacks the image's cubins; the first read of its PTX unpacks the PTX. Any thread may call
  // find(). Each PTX text is followed by a 0 byte, as the driver requires. If bytes of the file
  // were changed, find() and reading the PTX throw kUnavailable.
  const CodeImage* find(std::string_view name);

 private:
  struct Row;
  struct Unpacked;
  void read_header();
  [[noreturn]] void refuse(std::string_view image, const std::string& rule) const;

  std::string path_;
  std::unique_ptr<MappedFile> file_;  // null: the caller owns bytes_
  std::string_view bytes_;
  PackOrigin origin_;
  std::vector<Row> rows_;
  std::map<std::string_view, std::unique_ptr<Unpacked>>
      images_;  // by name; filled when the header is read
};

// The images of a build. `path` is its pack file, or the folder that contains the file.
std::unique_ptr<ImagePack> load_images(const std::string& path);

// The pack of the running program: embedded in the program, or the file next to it. Throws
// kUnavailable if there is no pack, or if the pack belongs to another build.
ImagePack& own_images();

// Throws kUnavailable, with a message that names the pack, if the pack's manifest or commit differs
// from the program's. A program without a commit accepts a pack of any commit.
void check_is_of(const ImagePack& pack, const PackOrigin& program);

// Makes own_images() refuse a pack of another commit than `commit`. A program calls this at start.
void expect_images_of(std::string commit);

}  // namespace tessera
