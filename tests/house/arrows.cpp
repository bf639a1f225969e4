#include "tests/house/arrows.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

#include "tests/house/repository.h"

namespace tessera::house {
namespace {

using Rooms = std::vector<std::string>;

// Pages of the ladder that not every rung may read.
const std::map<std::string, std::string, std::less<>> kPages = {
    {"src/ladder/shared/common.h", "page"},
    {"src/ladder/shared/vec4.h", "vectors"},
    {"src/ladder/shared/vec4_loader.h", "vectors"},
    {"src/ladder/shared/async_tile.h", "async"},
    {"src/ladder/shared/async_loop.h", "async"},
    {"src/ladder/shared/packed.h", "packed"},
    {"src/ladder/shared/store_sums.h", "warpgroups"},
    {"src/ladder/shared/store_panels.h", "warpgroups"},
    {"src/ladder/shared/warpgroups.h", "warpgroups"},
    {"src/ladder/shared/warpgroup_config.h", "warpgroups"}};

// A room may include itself and the rooms named here; a name means its sub-rooms, too, but
// "device" is not "device/virtual". "config" stands for the config.h of any kernel or rung
// (portable_config.h, too), and the params.h of a kernel (likewise). Rooms under kernels/ and
// ladder/ are answered by functions below.
const std::map<std::string, Rooms, std::less<>> kArrows = {
    {"include", {}},
    {"interpose", {"include"}},
    {"python", {"include"}},
    {"examples", {"include"}},
    {"base", {}},
    {"problem", {"base"}},
    {"launch", {"base"}},
    {"arch", {"base"}},
    {"vgpu", {"base"}},
    {"sass", {"base"}},
    {"catalog", {"config", "kernels/types", "launch", "problem", "arch", "base"}},
    {"device", {"launch", "base"}},
    {"device/virtual", {"device", "vgpu", "launch", "base"}},
    {"gemm",
     {"catalog", "device", "config", "kernels/schedule", "kernels/tile", "kernels/types", "problem",
      "launch", "arch", "base", "include"}},
    {"lab",
     {"gemm", "catalog", "device", "device/virtual", "vgpu/observe", "vgpu/report", "sass",
      "problem", "launch", "arch", "base"}},
    {"check",
     {"lab/data", "lab/counts", "lab/explain", "lab/model", "device", "device/virtual",
      "vgpu/observe", "vgpu/report", "launch", "base"}},
    {"cli",
     {"check", "lab", "gemm", "catalog", "device", "device/virtual", "vgpu/observe", "vgpu/report",
      "sass", "problem", "launch", "arch", "base", "include"}},
    {"page", {"launch", "base"}},
    {"vectors", {"page", "launch", "base"}},
    {"async", {"vectors", "page", "launch", "base", "kernels/copy", "kernels/tile", "kernels/ptx"}},
    {"packed", {"page", "launch", "base"}}};

// Device code, one shelf above the other: a folder may include every lower shelf.
const std::vector<Rooms> kShelves = {
    {"kernels/families"}, {"kernels/mainloop", "kernels/passes"},
    {"kernels/epilogue"}, {"kernels/copy", "kernels/pipeline", "kernels/schedule"},
    {"kernels/tile"},     {"kernels/types"},
    {"kernels/ptx"},      {"launch", "arch", "base"}};

// Inside a room, one floor above the other: a folder may include itself, its floor and the lower
// ones. "" stands for files in the room itself.
const std::map<std::string, std::vector<Rooms>, std::less<>> kFloors = {
    {"gemm",
     {{"c_api"},
      {"host"},
      {"call"},
      {"plan"},
      {"rewrites"},
      {"families"},
      {"steps"},
      {"overlay"},
      {"cost", ""}}},
    {"check", {{"propose"}, {"report"}, {"runs"}, {""}, {"words"}, {"compile"}}},
    {"cli",
     {{"app"},
      {"commands"},
      {"check_call"},
      {"sass_call"},
      {"files"},
      {"terminal"},
      {"options"},
      {""}}},
    {"sass", {{"report"}, {"assemble"}, {"rewrite"}, {"model"}, {"container"}, {"decode"}}},
    {"lab",
     {{"tune"},
      {"suite"},
      {"bench"},
      {"explain"},
      {"draw"},
      {"record"},
      {"timing"},
      {"model"},
      {"sites"},
      {"counts"},
      {"verify"},
      {"data"},
      {"json"}}},
    {"vgpu",
     {{""}, {"observe"}, {"exec"}, {"async"}, {"program"}, {"memory"}, {"ptx"}, {"report"}}}};

// What is not yet where it belongs: one include each, allowed until its file moves. None today.
struct Exception {
  std::string_view from, to;  // how the paths begin
};
const std::vector<Exception> kNotYet = {};

bool is_not_yet(std::string_view from, std::string_view to) {
  return std::ranges::any_of(kNotYet, [&](const Exception& exception) {
    return from.starts_with(exception.from) && to.starts_with(exception.to);
  });
}

bool contains(const Rooms& rooms, std::string_view room) {
  return std::ranges::any_of(rooms, [&](std::string_view name) {
    return room == name || (name != "device" && room.starts_with(name) && room[name.size()] == '/');
  });
}

void append_shelves_from(std::size_t shelf, Rooms& rooms) {
  for (; shelf < kShelves.size(); ++shelf) {
    rooms.insert(rooms.end(), kShelves[shelf].begin(), kShelves[shelf].end());
  }
}

// Rungs 01-06 read plain CUDA and one page, 07-19 also the page of vectors, 13-19 that of
// asynchronous copies, 21-29 that of packed blocks, 33-49 those of warpgroups; from 11 on all of
// them the shelves below the kernel families.
Rooms allowed_for_rung(std::string_view room) {
  Rooms rooms = {"launch", "base", "page"};
  const std::string folder(room.substr(room.find('/') + 1));
  const int number = std::isdigit(static_cast<unsigned char>(folder[0])) ? std::stoi(folder) : 0;
  if (number >= 7 && number < 20) rooms.push_back("vectors");
  if (number >= 13 && number < 20) rooms.push_back("async");
  if (number > 20 && number < 30) rooms.push_back("packed");
  if (number > 32 && number < 50) rooms.push_back("warpgroups");
  if (number > 10) append_shelves_from(1, rooms);
  return rooms;
}

Rooms allowed_for_kernel(std::string_view room) {
  Rooms rooms;
  for (std::size_t shelf = 0; shelf < kShelves.size(); ++shelf) {
    if (contains(kShelves[shelf], room)) append_shelves_from(shelf + 1, rooms);
  }
  return rooms;
}

Rooms allowed_for(std::string_view room) {
  if (room.starts_with("ladder/")) return allowed_for_rung(room);
  if (room == "warpgroups") return allowed_for_rung("ladder/33");
  if (room.starts_with("kernels/")) return allowed_for_kernel(room);
  const auto found = kArrows.find(room);
  if (found != kArrows.end()) return found->second;
  const auto top = kArrows.find(room.substr(0, room.find('/')));
  return top == kArrows.end() ? Rooms{} : top->second;
}

bool is_config(std::string_view path) {
  const bool kernel = path.starts_with("src/kernels/");
  return (path.ends_with("config.h") && (kernel || path.starts_with("src/ladder/"))) ||
         (path.ends_with("params.h") && kernel);
}

// Rooms whose folders are one room to each other. Families and rungs are not, nor are the shelves.
bool is_one_room(std::string_view room, std::string_view target) {
  if (room == target) return true;
  const std::string_view top = room.substr(0, room.find('/'));
  return (top == "lab" || top == "vgpu") && top == target.substr(0, target.find('/'));
}

// "lab" of "src/lab/data/fill.h"; "" outside of src/.
std::string_view top_of(std::string_view path) {
  if (!path.starts_with("src/")) return "";
  path.remove_prefix(std::string_view("src/").size());
  return path.substr(0, path.find('/'));
}

// The floor of a file in a room that has some; the number of floors for a folder of none.
std::size_t floor_of(const std::vector<Rooms>& floors, std::string_view path) {
  const std::string_view inside =
      path.substr(std::string_view("src/").size() + top_of(path).size() + 1);
  const std::size_t slash = inside.find('/');
  const std::string_view folder = slash == inside.npos ? "" : inside.substr(0, slash);
  const auto floor = std::ranges::find_if(
      floors, [&](const Rooms& rooms) { return std::ranges::find(rooms, folder) != rooms.end(); });
  return static_cast<std::size_t>(floor - floors.begin());
}

bool goes_down(std::string_view from, std::string_view to) {
  const auto floors = kFloors.find(top_of(from));
  if (floors == kFloors.end() || top_of(from) != top_of(to)) return true;
  const std::size_t of_from = floor_of(floors->second, from);
  return of_from < floors->second.size() && of_from <= floor_of(floors->second, to);
}

// The readers of host code have one header in front of them.
bool passes_the_front(std::string_view from, std::string_view to) {
  constexpr std::string_view kFolder = "src/check/propose/", kFront = "src/check/propose/propose.h";
  return !to.starts_with(kFolder) || to == kFront || !from.starts_with("src/") ||
         from.starts_with(kFolder);
}

bool is_allowed(const std::string& from, const std::string& to) {
  const std::string room = room_of(from), target = room_of(to);
  if (!goes_down(from, to) || !passes_the_front(from, to)) return false;
  if (room == "tests") return true;
  if (room == "tools") return target != "tests";
  if (is_one_room(room, target) || is_not_yet(from, to)) return true;
  const Rooms rooms = allowed_for(room);
  return contains(rooms, target) || (is_config(to) && contains(rooms, "config"));
}

// "launch/params.h" and "tessera/gemm.h" as files of the repository.
std::string path_of_include(const std::string& written) {
  if (written.starts_with("tests/") || written.starts_with("tools/")) return written;
  return (written.starts_with("tessera/") ? "include/" : "src/") + written;
}

std::string sentence(const std::string& path, std::size_t line, const std::string& what) {
  return path + ":" + std::to_string(line + 1) + ": " + what;
}

}  // namespace

std::string room_of(std::string_view path) {
  const auto page = kPages.find(path);
  if (page != kPages.end()) return page->second;
  const std::size_t slash = path.find('/');
  if (!path.starts_with("src/")) return std::string(path.substr(0, slash));
  const std::string_view inside = path.substr(slash + 1);
  const std::size_t first = inside.find('/');
  const std::string_view top = inside.substr(0, first);
  std::size_t end = first;
  const auto next = [&] { end = end == inside.npos ? end : inside.find('/', end + 1); };
  // A header that lies in ladder/ itself is in no rung: no arrow leads to it.
  if (top == "kernels" || top == "ladder" || top == "lab" ||
      inside.starts_with("device/virtual/") || inside.starts_with("vgpu/observe/") ||
      inside.starts_with("vgpu/report/")) {
    next();
  }
  if (inside.starts_with("kernels/families/")) next();
  return std::string(inside.substr(0, end));
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
