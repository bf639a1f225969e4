// Rewrites a kernel's machine code: it renames registers, reorders FFMAs, or both, and proves that
// the results keep their bits. The new code is timed alternately with the code as ptxas wrote it,
// so that only the rewriting differs.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "lab/record/record.h"

namespace tessera::lab {

enum class Rewriting { kAsCompiled, kRemapped, kReordered, kBoth };
std::string_view name_of(Rewriting how);  // "as compiled", "remapped", "reordered" or "both"

struct Rewritten {
  KernelChoice choice;                    // lives as long as the RewrittenCode
  std::string unavailable;                // why there is no rewritten code; empty: there is
  std::optional<RewrittenLoop> by_model;  // prediction for the main loop
};

class RewrittenCode {
 public:
  struct Wish {
    KernelChoice choice;
    std::vector<std::string> entries;  // entries to be rewritten; others stay as compiled
    Rewriting how;
  };
  // Rewrites the kernel of each wish and returns the results in the same order. Uses all cores;
  // each kernel takes seconds. Starts from the code as ptxas wrote it, not from patched images. The
  // code is for sm_90 and does not run on other GPUs or on the virtual GPU.
  std::vector<Rewritten> make(const std::vector<Wish>& wishes);

 private:
  struct Made {
    Kernel kernel;
    std::list<std::string> texts;  // names of the kernel's images, hashes
    std::list<std::vector<std::byte>> cubins;
  };
  Rewritten make(const Wish& wish, Made& made) const;

  std::list<Made> made_;
};

}  // namespace tessera::lab
