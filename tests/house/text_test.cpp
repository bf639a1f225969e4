// What every text file of the house has in common: short, formatted, and silent about the machine
// it was written on.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <regex>

#include "tests/house/repository.h"
#include "tests/support/limits.h"

namespace tessera::house {
namespace {

// A home folder or a work folder of somebody's machine.
bool names_a_machine(const std::string& line) {
  static const std::regex kFolders(
      "(^|[^A-Za-z0-9_.$}*])/(work|home|root|Users|mnt)/[A-Za-z0-9_.]");
  return std::regex_search(line, kFolders);
}

TEST(Text, NoFileNamesAMachine) {
  ASSERT_FALSE(all_files().empty()) << "run from the root of the repository";
  for (const SourceFile& file : all_files()) {
    const std::vector<std::string> lines = lines_of(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_FALSE(names_a_machine(lines[i])) << file.path << ":" << i + 1 << ": " << lines[i];
    }
  }
}

TEST(Text, PlantedMachinePathsAreFound) {
  for (const std::string folder : {"work", "home", "root", "Users"}) {
    EXPECT_TRUE(names_a_machine("see /" + folder + "/x/y"));
    EXPECT_TRUE(names_a_machine("(\"/" + folder + "/x\")"));
  }
  EXPECT_FALSE(names_a_machine("framework/work/x"));
  EXPECT_FALSE(names_a_machine("/usr/local/cuda"));
}

// Quotes a path for the shell: source paths hold nothing but these characters.
bool is_plain(const std::string& path) {
  return path.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
             "_-./") == std::string::npos;
}

int format_status(const std::string& paths) {
  const std::string command = "clang-format-14 --dry-run --Werror " + paths;
  return std::system(command.c_str());
}

TEST(Text, ClangFormat14LeavesEverythingAsItIs) {
  if (std::system("command -v clang-format-14 > /dev/null") != 0) {
    GTEST_SKIP() << "clang-format-14 is not installed";
  }
  std::string paths;
  for (const char* folder : {"src/", "tests/", "tools/", "include/", "interpose/", "examples/"}) {
    for (const SourceFile& file : files_in(folder, {".h", ".hpp", ".c", ".cpp", ".cu"})) {
      ASSERT_TRUE(is_plain(file.path)) << file.path;
      paths += " " + file.path;
    }
  }
  EXPECT_EQ(format_status(paths), 0) << "run: make format";
}

TEST(Text, ClangFormat14RefusesAPlantedLine) {
  if (std::system("command -v clang-format-14 > /dev/null") != 0) {
    GTEST_SKIP() << "clang-format-14 is not installed";
  }
  EXPECT_EQ(std::system("echo 'int  x=1 ;' | clang-format-14 | grep -qx 'int x = 1;'"), 0);
}

// A file is one idea: 400 lines hold it. Lists of instructions and data for tests may be longer.
bool is_too_long(const SourceFile& file) {
  const bool is_list = file.path.ends_with(".ptx") || file.path.ends_with(".json") ||
                       file.path == "src/catalog/manifest.txt";
  return !is_list && lines_of(file.text).size() > 400;
}

TEST(Text, FilesAreShort) {
  int files = 0;
  for (const char* folder :
       {"src/", "include/", "python/", "examples/", "tests/", "tools/", "cmake/", "docs/"}) {
    for (const SourceFile& file : files_in(folder, {""})) {
      EXPECT_FALSE(is_too_long(file)) << file.path << " has more than 400 lines";
      ++files;
    }
  }
  EXPECT_GT(files, 500);
}

TEST(Text, APlantedLongFileIsFound) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "line\n";
  EXPECT_FALSE(is_too_long({"tools/tables/a.py", text}));
  EXPECT_TRUE(is_too_long({"tools/tables/a.py", text + "one more\n"}));
  EXPECT_FALSE(is_too_long({"tests/vgpu/instructions/a.ptx", text + "one more\n"}));
  EXPECT_FALSE(is_too_long({"src/catalog/manifest.txt", text + "one more\n"}));
}

// What a person sees at a glance. Folders of .ptx tests are lists, and the rungs are folders.
constexpr int kMostFiles = 25;

std::map<std::string, int> crowded_folders(const std::vector<std::string>& roots) {
  std::map<std::string, int> files;
  for (const std::string& root : roots) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string folder = entry.path().parent_path().string();
      if (entry.is_regular_file() && entry.path().extension() != ".ptx" &&
          !folder.ends_with("__pycache__")) {
        ++files[folder];
      }
    }
  }
  std::erase_if(files, [](const auto& folder) { return folder.second <= kMostFiles; });
  return files;
}

TEST(Text, FoldersAreShort) {
  for (const auto& [folder, files] :
       crowded_folders({"src", "tests", "tools", "docs", "cmake", "include", "python", "examples",
                        "results"})) {
    ADD_FAILURE() << folder << " holds " << files << " files; at most " << kMostFiles
                  << " lie side by side: give those that serve one file a folder of their own, as "
                     "src/cli/check_call";
  }
}

TEST(Text, APlantedCrowdIsFound) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "crowded" / "inside";
  fs::remove_all(folder.parent_path());
  fs::create_directories(folder);
  for (int i = 0; i < kMostFiles; ++i) std::ofstream(folder / std::to_string(i));
  std::ofstream(folder / "test.ptx");
  EXPECT_TRUE(crowded_folders({folder.parent_path().string()}).empty());
  std::ofstream(folder / "one more");
  EXPECT_EQ(crowded_folders({folder.parent_path().string()}).size(), 1u);
}

std::uintmax_t bytes_of_binaries(const std::filesystem::path& folder,
                                 const std::function<bool(const std::string&)>& counts) {
  std::uintmax_t sum = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || !counts(name)) continue;
    std::cout << name << ": " << entry.file_size() / 1000 << " kB\n";
    sum += entry.file_size();
  }
  return sum;
}

// They travel together to machines that have a driver and nothing else: the program, the tests, the
// shared libraries that hold the rooms for the tests, and the compiled kernels.
TEST(Binaries, StayBelowTheirLimitTogether) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::uintmax_t sum = bytes_of_binaries(folder, [](const std::string& name) {
    const bool is_room = name.starts_with("libtessera_") && name.ends_with(".so");
    return name == "tessera" || name == "tessera.images" || name.starts_with("test_") || is_room;
  });
  EXPECT_GT(sum, std::filesystem::file_size("/proc/self/exe") - 1) << folder;
  EXPECT_LT(sum, static_cast<std::uintmax_t>(limit("binaries_bytes")));
}

// What users install instead. It holds the compiled kernels once more, inside.
TEST(Binaries, TheLibraryStaysBelowItsLimit) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  if (!std::filesystem::exists(folder / "libtessera.so")) GTEST_SKIP() << "no libtessera.so here";
  EXPECT_LT(bytes_of_binaries(folder, [](const auto& name) { return name == "libtessera.so"; }),
            static_cast<std::uintmax_t>(limit("library_bytes")));
}

// Code that asks for one type answers for all others by accident: what depends on a type is a row
// of a table, or a switch that refuses what it does not know.
bool asks_for_a_type(const std::string& line) {
  static const std::regex kAsks(
      "[=!]= *(tessera::)?((Element|Compute)Type::k|k[A-Z][A-Za-z0-9]*Types\\b)|"
      "((Element|Compute)Type::k[A-Za-z0-9]+|\\bk[A-Z][A-Za-z0-9]*Types) *[=!]=");
  return std::regex_search(line, kAsks);
}

// The one question that kernels ask, of a constant: whether D has a word for each sum, or one for
// two. Types without a row in kernels/types/storage.h do not compile there.
bool asks_how_d_is_stored(const std::string& line) {
  static const std::regex kAsks("\\bout == ElementType::kF32\\b");
  return std::regex_search(line, kAsks);
}

TEST(Text, NoCodeAsksForOneType) {
  for (const SourceFile& file : files_in("src/", {".h", ".cpp", ".cu"})) {
    const std::vector<std::string> lines = lines_of(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (file.path.starts_with("src/kernels/") && asks_how_d_is_stored(lines[i])) continue;
      EXPECT_FALSE(asks_for_a_type(lines[i])) << file.path << ":" << i + 1 << ": " << lines[i];
    }
  }
}

TEST(Text, PlantedQuestionsForATypeAreFound) {
  EXPECT_TRUE(asks_for_a_type("size = type == ElementType::kF64 ? 8 : 4;"));
  EXPECT_TRUE(asks_for_a_type("if (types != kF32Types) return;"));
  EXPECT_TRUE(asks_for_a_type("if (ComputeType::kTf32 == compute) {"));
  EXPECT_TRUE(asks_how_d_is_stored("if constexpr (out == ElementType::kF32) {"));
  EXPECT_FALSE(asks_how_d_is_stored("if constexpr (out == ElementType::kF16) {"));
  EXPECT_FALSE(asks_how_d_is_stored("if (in == ElementType::kF32) {"));
  EXPECT_FALSE(asks_for_a_type("    case ElementType::kF64:"));
  EXPECT_FALSE(asks_for_a_type("Types types = kF32Types;"));
}

}  // namespace
}  // namespace tessera::house
