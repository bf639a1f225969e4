// A program with all images inside (cmake/images.cmake, add_embedded_pack), as a library that is
// installed has them: it finds each of them there, and no file.
#include <cstdio>

#include "catalog/image_pack.h"
#include "catalog/manifest.h"

int main() {
  try {
    tessera::ImagePack& pack = tessera::own_images();
    if (pack.path() != "this library") {
      std::fprintf(stderr, "the images are from %s\n", pack.path().c_str());
      return 1;
    }
    for (const tessera::catalog::ImageContents& image : tessera::catalog::all_images()) {
      if (pack.find(image.name)) continue;
      std::fprintf(stderr, "image %s is missing\n", image.name.c_str());
      return 1;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
