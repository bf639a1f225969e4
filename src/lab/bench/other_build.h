// Combines this build's plans with another build's code. Both codes are timed alternately on one
// problem, so that only the code differs.
#pragma once

#include <list>
#include <map>
#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "catalog/image_files.h"

namespace tessera::lab {

// Images of another build. The parameters that plans pass must mean the same in this build and in
// the other one. Nothing can check that beforehand, so kernels are verified before they are timed.
class OtherBuild {
 public:
  // `path` is a build's tessera.images, or a folder of images. Throws a kBadArgument that names
  // `option` if it is neither.
  OtherBuild(std::string path, std::string_view option);

  // Returns the same kernel with the other build's images, which live as long as this object.
  // Throws a kUnsupported that names what the other build lacks: the image, or an entry of the
  // variant.
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
