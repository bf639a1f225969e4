// Writes src/catalog/manifest.txt, from which the build learns which images to compile:
// write_manifest [FILE]. Run from the root of the repository after a table of configs has changed.
#include <cstdio>
#include <fstream>

#include "catalog/manifest.h"

int main(int argc, char** argv) {
  const char* const path = argc > 1 ? argv[1] : "src/catalog/manifest.txt";
  std::ofstream file(path, std::ios::binary);
  file << tessera::catalog::manifest_text();
  if (file.flush()) return 0;
  std::fprintf(stderr, "write_manifest: cannot write %s\n", path);
  return 1;
}
