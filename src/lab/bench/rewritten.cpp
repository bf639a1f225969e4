#include "lab/bench/rewritten.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "base/hash.h"
#include "lab/data/parallel.h"
#include "sass/rewrite/patch.h"

namespace tessera::lab {
namespace {

// Keeps the loop with the most multiply-adds. If several loops have that many, keeps the shortest
// one, which has no guards.
void keep_main_loop(const sass::KernelPatch& patch, std::optional<RewrittenLoop>& main) {
  const sass::LoopChange* found = nullptr;
  for (const sass::LoopChange& loop : patch.loops) {
    const auto rank = [](const sass::LoopChange& one) {
      return std::pair(-one.after.ffmas, one.instructions);
    };
    if (!found || rank(loop) < rank(*found)) found = &loop;
  }
  if (!found || main) return;
  main = {found->before.cycles, found->after.cycles, found->before.crowded, found->after.crowded};
}

// Returns the cubin with one kernel rewritten. Throws std::runtime_error if that is impossible or
// gains nothing.
std::vector<std::byte> rewritten(std::span<const std::byte> cubin, const std::string& entry,
                                 Rewriting how, std::optional<RewrittenLoop>& main) {
  sass::PatchOptions options;
  options.kernel = entry;
  options.remaps = how != Rewriting::kReordered;
  options.reorders = how != Rewriting::kRemapped;
  sass::PatchResult result = sass::optimise(cubin, options);
  for (const sass::KernelPatch& patch : result.kernels) {
    if (!patch.left_alone.empty()) throw std::runtime_error(patch.left_alone);
    if (!patch.is_changed()) {
      throw std::runtime_error(entry + ": by the port model nothing is gained.");
    }
    keep_main_loop(patch, main);
  }
  return std::move(result.cubin);
}

// Returns the kernel with its images as ptxas wrote them. The images get new names, because devices
// keep loaded code by name, and each wish changes the code in another way.
Kernel unpatched(const RewrittenCode::Wish& wish, std::list<std::string>& names) {
  const Kernel& kernel = *wish.choice.kernel;
  Kernel copy = kernel;
  std::string what(name_of(wish.how));
  for (const std::string& entry : wish.entries) what += " " + entry;
  const auto add = [&](const std::string& name, const std::string& entry) {
    const CodeImage* image = compiled_image_of(kernel, entry);
    if (!image || copy.own_images.contains(name)) return;
    names.push_back(name + ", " + what);
    CodeImage& own = copy.own_images.emplace(name, *image).first->second;
    own.name = names.back();
    own.patched = {};
  };
  copy.own_images.clear();
  for (const KernelRow& row : kernel.rows) add(row.image, row.entry);
  for (const HelperEntry& helper : kernel.helpers) add(helper.image, helper.entry);
  return copy;
}

const KernelRow* row_of(const Kernel& kernel, const std::string& entry) {
  const auto found = std::ranges::find(kernel.rows, entry, &KernelRow::entry);
  return found == kernel.rows.end() ? nullptr : &*found;
}

}  // namespace

std::string_view name_of(Rewriting how) {
  constexpr std::string_view kNames[] = {"as compiled", "remapped", "reordered", "both"};
  return kNames[static_cast<int>(how)];
}

Rewritten RewrittenCode::make(const Wish& wish, Made& made) const {
  Rewritten result{{&made.kernel, wish.choice.variant}, "", std::nullopt};
  if (wish.how == Rewriting::kAsCompiled) return result;
  try {
    for (const std::string& entry : wish.entries) {
      const KernelRow* row = row_of(made.kernel, entry);
      if (!row) continue;
      const auto found = made.kernel.own_images.find(row->image);
      if (found == made.kernel.own_images.end()) {
        throw std::runtime_error("image " + row->image + " is not compiled");
      }
      CodeImage& image = found->second;
      made.cubins.push_back(rewritten(best_cubin(image), entry, wish.how, result.by_model));
      made.texts.push_back(hash_of(image.cubin));
      image.patched = {made.cubins.back(), made.texts.back(), name_of(wish.how)};
    }
    if (made.cubins.empty()) result.unavailable = "the kernel launches nothing for this problem";
  } catch (const std::runtime_error& error) {
    result.unavailable = error.what();
  }
  return result;
}

std::vector<Rewritten> RewrittenCode::make(const std::vector<Wish>& wishes) {
  std::vector<Made*> made;
  for (const Wish& wish : wishes) {
    Made& one = made_.emplace_back();
    one.kernel = unpatched(wish, one.texts);
    made.push_back(&one);
  }
  std::vector<Rewritten> results(wishes.size());
  // WHY each thread takes single wishes, not ranges: one wish can take ten times as long as
  // another.
  std::atomic<std::size_t> next = 0;
  parallel_for(host_threads(), 1, [&](std::int64_t, std::int64_t) {
    for (std::size_t i = next++; i < wishes.size(); i = next++)
      results[i] = make(wishes[i], *made[i]);
  });
  return results;
}

}  // namespace tessera::lab
