// Rewrites a kernel's machine code: its values in other registers, its FFMAs in another order, or
// both, each proved equal. The result is timed alternately with ptxas' code, so that only this
// differs.
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
  std::string unavailable;                // why there is no such code; empty: there is
  std::optional<RewrittenLoop> by_model;  // prediction for the main loop
};

class RewrittenCode {
 public:
  struct Wish {
    KernelChoice choice;
    std::vector<std::string> entries;  // entries to be rewritten; others stay as compiled
    Rewriting how;
  };
  // Makes the rewritten codes in the order of the wishes, on all cores; each takes seconds. Images
  // that the build has patched are used unpatched. The code is for sm_90; on any other GPU, and on
  // the virtual one, it does not run.
  std::vector<Rewritten> make(const std::vector<Wish>& wishes);

 private:
  struct Made {
    Kernel kernel;
    std::list<std::string> texts;  // names of its images, hashes
    std::list<std::vector<std::byte>> cubins;
  };
  Rewritten make(const Wish& wish, Made& made) const;

  std::list<Made> made_;
};

}  // namespace tessera::lab
