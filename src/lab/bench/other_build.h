// This build's plans with another build's code: both are timed in turn on one problem, so that only
// the code differs.
#pragma once

#include <list>
#include <map>
#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "catalog/image_files.h"

namespace tessera::lab {

// The parameters that the plans hand over must mean the same in both builds. Nothing can check that
// ahead of time, so results of both are verified before they are timed.
class OtherBuild {
 public:
  // `path`: a build's tessera.images, or a folder of its images. Throws kBadArgument, naming
  // `option`, when it is neither.
  OtherBuild(std::string path, std::string_view option);

  // The same kernel, its images the other build's. Lives as long as this object. Throws
  // kUnsupported, naming what that build lacks: the image, or an entry of the variant.
  KernelChoice with_its_code(const KernelChoice& choice);

  std::string commit() const { return files_.commit(); }  // empty where it is not known

 private:
  struct Copy {
    Kernel kernel;
    std::map<std::string, std::string> entries;  // our names to theirs
  };
  const Copy& copy_of(const Kernel& kernel);

  ImageFiles files_;
  std::list<Copy> copies_;
};

}  // namespace tessera::lab
