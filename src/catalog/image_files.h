// Images of another build, read from the files that it left behind (its build/images): what a
// change of the code does to its speed shows only where both are timed in turn, in one program.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "launch/image.h"

namespace tessera {

class ImageFiles {
 public:
  // Throws kBadArgument, naming `option`, when the folder holds no image.
  ImageFiles(std::string folder, std::string_view option);
  ~ImageFiles();

  // The image of that name under the name "NAME of FOLDER", with its patched cubin where asked for;
  // kept. Throws kUnsupported when the folder has none.
  const CodeImage& find(std::string_view name, bool with_patch);

  const std::string& folder() const { return folder_; }

 private:
  struct Files;
  std::string folder_;
  std::map<std::string, std::unique_ptr<Files>> read_;
};

}  // namespace tessera
