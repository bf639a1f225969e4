// Writes the conclusion of a drawing in words, from the numbers of the drawing's parts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lab/draw/pieces.h"

namespace tessera::lab {
namespace {

std::int64_t outputs_of_lane(const KernelPicture& picture) {
  if (picture.outputs.empty()) return 0;
  const std::uint32_t own = picture.outputs.front().lane;
  return std::ranges::count(picture.outputs, own, &DrawnOutput::lane);
}

// Returns the excess wavefronts of all drawn accesses to shared memory.
int excess_of(const KernelPicture& picture) {
  int excess = 0;
  for (const DrawnBanks& banks : picture.shared) excess += banks.excess();
  return excess;
}

std::size_t wavefronts_of(const KernelPicture& picture) {
  std::size_t count = 0;
  for (const DrawnBanks& banks : picture.shared) count += banks.wavefronts.size();
  return count;
}

// Returns the first request of the wanted operand in the wanted direction; nullptr if there is
// none.
const DrawnRequest* request_like(const KernelPicture& picture, const DrawnRequest& wanted) {
  const auto found = std::ranges::find_if(picture.global, [&](const DrawnRequest& one) {
    return one.name == wanted.name && one.is_store == wanted.is_store;
  });
  return found == picture.global.end() ? nullptr : &*found;
}

std::string name_of(const KernelPicture& picture, const DrawnRequest& request) {
  return fmt::format("{} of {}", request.is_store ? "store" : "load",
                     name_in_call(picture, request.name));
}

// Returns the sectors per 32 words, so that wide accesses are comparable: "4" for 16 sectors and 16
// bytes per lane.
std::string per_32_words(const DrawnRequest& request) {
  return fmt::format("{:.3g}", request.sectors() * 4.0 / request.bytes);
}

std::string conflicts_of(const KernelPicture& picture) {
  if (picture.shared.empty()) return "";
  const int excess = excess_of(picture);
  return excess == 0 ? "no bank conflicts"
                     : fmt::format("{} of {} wavefronts are bank conflicts", excess,
                                   wavefronts_of(picture));
}

std::string sentence(std::vector<std::string> facts) {
  std::string all = fmt::format("{}.", fmt::join(facts, "; "));
  all.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(all.front())));
  return all;
}

// For each request of both kernels, adds a fact if its number of sectors or 128-byte rows differs.
void add_sectors(const KernelPicture& before, const KernelPicture& after,
                 std::vector<std::string>& facts) {
  for (const DrawnRequest& now : after.global) {
    const DrawnRequest* const then = request_like(before, now);
    if (!then || &now != request_like(after, now)) continue;
    const std::string old_one = per_32_words(*then), new_one = per_32_words(now);
    if (old_one != new_one) {
      facts.push_back(fmt::format("a {} touches {} instead of {} sectors for 32 words",
                                  name_of(after, now), new_one, old_one));
    } else if (now.bytes == then->bytes && now.rows.size() != then->rows.size()) {
      facts.push_back(fmt::format("a {} touches {} of 128 bytes instead of {}", name_of(after, now),
                                  plural(static_cast<std::int64_t>(now.rows.size()), "row"),
                                  then->rows.size()));
    }
  }
}

bool loads(const KernelPicture& picture) {
  return std::ranges::any_of(picture.global, [](const DrawnRequest& one) { return !one.is_store; });
}

void add_loads(const KernelPicture& before, const KernelPicture& after,
               std::vector<std::string>& facts) {
  if (loads(before) == loads(after)) return;
  facts.push_back(loads(after)
                      ? "the warp that computes loads from global memory itself"
                      : "the warp that computes no longer loads from global memory itself");
}

void add_conflicts(const KernelPicture& before, const KernelPicture& after,
                   std::vector<std::string>& facts) {
  if (after.shared.empty()) return;
  if (before.shared.empty()) {
    facts.push_back("shared memory: " + conflicts_of(after));
    return;
  }
  bool is_named = false;
  for (const DrawnBanks& now : after.shared) {
    const auto then = std::ranges::find_if(before.shared, [&](const DrawnBanks& one) {
      return one.name == now.name && one.is_store == now.is_store && one.bytes == now.bytes;
    });
    if (then == before.shared.end() || then->wavefronts.size() == now.wavefronts.size()) continue;
    facts.push_back(
        fmt::format("a {} {} takes {} instead of {}", now.is_store ? "store to" : "load from",
                    now.name, plural(static_cast<std::int64_t>(now.wavefronts.size()), "wavefront"),
                    then->wavefronts.size()));
    is_named = true;
  }
  const int then = excess_of(before), now = excess_of(after);
  if (is_named || then == now) return;
  const auto share = [](const KernelPicture& picture, int excess) {
    return fmt::format("{} of {}", excess, wavefronts_of(picture));
  };
  facts.push_back(fmt::format("bank conflicts are {} wavefronts, {} before", share(after, now),
                              share(before, then)));
}

void add_feed(const KernelPicture& before, const KernelPicture& after,
              std::vector<std::string>& facts) {
  const double then = before.fma_per_shared_load, now = after.fma_per_shared_load;
  if (then <= 0 || now <= 0 || then == now) return;
  facts.push_back(
      fmt::format("a load from shared memory feeds {:.3g} FMAs instead of {:.3g}", now, then));
}

// Adds facts that accesses do not show: instructions, and cycles lost to register ports, per
// multiply of the main loop.
void add_loop(const DrawnLoop& before, const DrawnLoop& after, std::vector<std::string>& facts) {
  if (before.instructions == 0 || after.instructions == 0) return;
  const auto add = [&](const char* words, double then, double now) {
    const std::string old_one = fmt::format("{:.3f}", then), new_one = fmt::format("{:.3f}", now);
    if (old_one != new_one) facts.push_back(fmt::format(fmt::runtime(words), new_one, old_one));
  };
  add("the main loop issues {} instead of {} instructions for each multiply", before.instructions,
      after.instructions);
  add("register ports cost the main loop {} instead of {} cycles for each multiply (model)",
      before.port_cycles, after.port_cycles);
}

}  // namespace

std::string conclusion_of(const KernelPicture& picture) {
  std::vector<std::string> facts = {
      fmt::format("a lane computes {}", plural(outputs_of_lane(picture), "element"))};
  for (const DrawnRequest& request : picture.global) {
    if (&request != request_like(picture, request)) continue;
    facts.push_back(fmt::format("a {} touches {}", name_of(picture, request),
                                plural(request.sectors(), "sector")));
  }
  if (!picture.shared.empty()) facts.push_back(conflicts_of(picture));
  return sentence(facts);
}

std::string conclusion_of(const KernelPicture& before, const KernelPicture& after) {
  std::vector<std::string> facts;
  const std::int64_t then = outputs_of_lane(before), now = outputs_of_lane(after);
  if (then != now && then > 0 && now > 0) {
    facts.push_back(fmt::format("a lane computes {} instead of {}", plural(now, "element"), then));
  }
  if (before.block.m != after.block.m || before.block.n != after.block.n) {
    facts.push_back(fmt::format("a block computes {} x {} instead of {} x {}", after.block.m,
                                after.block.n, before.block.m, before.block.n));
  }
  add_loads(before, after, facts);
  add_sectors(before, after, facts);
  add_conflicts(before, after, facts);
  add_feed(before, after, facts);
  if (!facts.empty()) return sentence(facts);
  add_loop(before.loop, after.loop, facts);
  const std::string same = "Both touch the same";
  return facts.empty() ? same + ": what differs is when, or by which instructions."
                       : same + ". " + sentence(facts);
}

}  // namespace tessera::lab
