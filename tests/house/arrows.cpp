#include "tests/house/arrows.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

#include "tests/house/repository.h"

namespace tessera::house {
namespace {

using Rooms = std::vector<std::string>;

const std::map<std::string, std::string, std::less<>> kSharedFiles = {
    {"src/problem/params.h", "params"},
    {"src/problem/config.h", "words"},
    {"src/vgpu/observe/report.h", "report"},
    {"src/vgpu/observe/finding.h", "report"},
    {"src/vgpu/observe/signature.h", "report"},
    {"src/vgpu/observe/observation.h", "report"},
    {"src/vgpu/observe/memory_counts.h", "report"},
    {"src/ladder/common.h", "page"},
    {"src/ladder/strip.h", "strips"},
    {"src/ladder/strip_loader.h", "strips"},
    {"src/ladder/async_tile.h", "async"},
    {"src/ladder/async_loop.h", "async"},
    {"src/ladder/packed.h", "packed"}};

// A room may include itself and the rooms named here. "config" stands for the config.h of any
// kernel or rung, and the params.h of a kernel. Rooms under kernels/ and ladder/ are answered by
// allowed_for_kernel().
const std::map<std::string, Rooms, std::less<>> kArrows = {
    {"include", {}},
    {"params", {}},
    {"words", {}},
    {"report", {}},
    {"problem", {"params", "words"}},
    {"arch", {}},
    {"vgpu", {"report"}},
    {"sass", {}},
    {"device", {"problem", "params", "words", "report"}},
    {"device/virtual", {"device", "problem", "params", "words", "vgpu", "report"}},
    {"catalog", {"config", "kernels/scheduler", "problem", "params", "words", "arch"}},
    {"gemm", {"catalog", "device", "problem", "params", "words", "arch", "include"}},
    {"lab", {"sass", "gemm", "catalog", "device", "problem", "params", "words", "arch", "report"}},
    {"cli",
     {"lab", "sass", "gemm", "catalog", "device", "problem", "params", "words", "arch", "report"}},
    {"page", {"params", "words"}},
    {"strips", {"page", "params", "words"}},
    {"async",
     {"strips", "page", "params", "words", "kernels/pipeline", "kernels/tile", "kernels/ptx"}},
    {"packed", {"page", "params", "words"}}};

// Device code, one shelf above the other: a folder may include every lower shelf.
const std::vector<Rooms> kShelves = {
    {"kernels/simt", "kernels/dmma", "kernels/mma", "kernels/wgmma"},
    {"kernels/pipeline", "kernels/scheduler", "kernels/epilogue"},
    {"kernels/tile"},
    {"kernels/ptx"},
    {"arch"}};

bool contains(const Rooms& rooms, std::string_view room) {
  return std::ranges::find(rooms, room) != rooms.end();
}

void append_shelves_from(std::size_t shelf, Rooms& rooms) {
  for (; shelf < kShelves.size(); ++shelf) {
    rooms.insert(rooms.end(), kShelves[shelf].begin(), kShelves[shelf].end());
  }
}

// Rungs 01-06 read plain CUDA and one page, 07-19 also the page of strips, 13-19 that of
// asynchronous copies, 21-29 that of packed blocks; from 11 on all of them the shelves below the
// kernel families.
Rooms allowed_for_rung(std::string_view room) {
  Rooms rooms = {"params", "words", "page"};
  const std::string folder(room.substr(room.find('/') + 1));
  const int number = std::isdigit(static_cast<unsigned char>(folder[0])) ? std::stoi(folder) : 0;
  if (number >= 7 && number < 20) rooms.push_back("strips");
  if (number >= 13 && number < 20) rooms.push_back("async");
  if (number > 20 && number < 30) rooms.push_back("packed");
  if (number > 10) append_shelves_from(1, rooms);
  return rooms;
}

Rooms allowed_for_kernel(std::string_view room) {
  Rooms rooms = {"params", "words"};
  for (std::size_t shelf = 0; shelf < kShelves.size(); ++shelf) {
    if (contains(kShelves[shelf], room)) append_shelves_from(shelf + 1, rooms);
  }
  return rooms;
}

Rooms allowed_for(std::string_view room) {
  if (room.starts_with("ladder/")) return allowed_for_rung(room);
  if (room.starts_with("kernels/")) return allowed_for_kernel(room);
  const auto found = kArrows.find(room);
  return found == kArrows.end() ? Rooms{} : found->second;
}

bool is_config(std::string_view path) {
  const bool kernel = path.starts_with("src/kernels/");
  return (path.ends_with("/config.h") && (kernel || path.starts_with("src/ladder/"))) ||
         (path.ends_with("/params.h") && kernel);
}

bool is_allowed(const std::string& from, const std::string& to) {
  const std::string room = room_of(from), target = room_of(to);
  if (room == target) return true;
  const Rooms rooms = allowed_for(room);
  return contains(rooms, target) || (is_config(to) && contains(rooms, "config"));
}

// "problem/params.h" and "tessera/gemm.h" as files of the repository.
std::string path_of_include(const std::string& written) {
  return (written.starts_with("tessera/") ? "include/" : "src/") + written;
}

std::string sentence(const std::string& path, std::size_t line, const std::string& what) {
  return path + ":" + std::to_string(line + 1) + ": " + what;
}

}  // namespace

std::string room_of(std::string_view path) {
  const auto shared = kSharedFiles.find(path);
  if (shared != kSharedFiles.end()) return shared->second;
  if (path.starts_with("include/")) return "include";
  const std::string_view inside = path.substr(path.find('/') + 1);
  const std::size_t first = inside.find('/');
  const std::string_view top = inside.substr(0, first);
  const std::size_t second = first == inside.npos ? first : inside.find('/', first + 1);
  const bool rooms_inside =
      top == "kernels" || top == "ladder" || inside.starts_with("device/virtual/");
  // A header that lies in ladder/ itself is in no rung: no arrow leads to it.
  return std::string(rooms_inside ? inside.substr(0, second) : top);
}

std::vector<std::string> violations(const std::string& path, const std::string& text) {
  static const std::regex kInclude("^\\s*#\\s*include\\s+[\"<]([^\">]+/[^\">]+)[\">].*");
  static const std::regex kSystem("^\\s*#\\s*include\\s+<.*");
  static const std::regex kAsm("\\b(asm|__asm|__asm__)\\b");
  std::vector<std::string> found;
  const std::vector<std::string> lines = lines_of(text);
  const std::vector<std::string> code = lines_of(without_comments_and_literals(text));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (std::regex_match(lines[i], match, kInclude)) {
      const std::string target = path_of_include(match[1]);
      const bool ours = !std::regex_match(lines[i], kSystem) || target.starts_with("include/");
      if (ours && !is_allowed(path, target)) {
        found.push_back(sentence(path, i, room_of(path) + " may not include " + match[1].str()));
      }
    }
    if (!path.starts_with("src/kernels/ptx/") && std::regex_search(code[i], kAsm)) {
      found.push_back(sentence(path, i, "inline assembly belongs in src/kernels/ptx/"));
    }
  }
  return found;
}

}  // namespace tessera::house
