// Images of another build, read from its tessera.images or from its build/images, whose files the
// build packs into tessera.images. The effect of a code change on speed is visible only if old and
// new images are timed alternately in one program.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "catalog/image_pack.h"
#include "launch/image.h"

namespace tessera {

class ImageFiles {
 public:
  // `path` is a pack, a folder with a tessera.images, or a folder of images' files. For any other
  // path, throws kBadArgument with the name of `option`.
  ImageFiles(std::string path, std::string_view option);
  ~ImageFiles();

  // Returns the image called `name`, with its patched cubin if requested; nullptr if there is no
  // such image. The result is kept in this object, and is called "NAME of PATH".
  const CodeImage* find(std::string_view name, bool with_patch);

  const std::string& path() const { return path_; }
  // The commit that the pack was built from; empty for a folder, whose files do not name a commit.
  std::string commit() const { return pack_ ? pack_->origin().commit : ""; }

 private:
  struct Files;
  bool read(std::string_view name, bool with_patch, Files& files) const;
  bool take(std::string_view name, bool with_patch, Files& files);

  std::string path_;
  std::unique_ptr<ImagePack> pack_;  // null: `path_` is a folder of files
  std::map<std::string, std::unique_ptr<Files>> read_;
};

}  // namespace tessera
