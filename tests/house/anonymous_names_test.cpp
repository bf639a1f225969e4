// A build without ccache compiles the files of a folder as one (cmake/rooms.cmake, tessera_united),
// so their anonymous namespaces are one, too. A build with ccache would not notice a name that two
// of them give to different things. This is a reader of text, not of C++: it sees what starts a
// line.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>

#include "tests/house/repository.h"

namespace tessera::house {
namespace {

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// "(int, std::string,)" of "(int a, std::string b = {})": what makes two functions overloads.
std::string types_of(const std::string& parameters) {
  std::string types, parameter;
  int depth = 0;
  const auto end_parameter = [&] {
    parameter = std::regex_replace(parameter, std::regex("\\s*=.*"), "");
    types += std::regex_replace(parameter, std::regex("([^\\s])\\s+\\w+\\s*$"), "$1") + ",";
    parameter.clear();
  };
  for (const char c : parameters) {
    depth += c == '<' || c == '(' || c == '{' ? 1 : c == '>' || c == ')' || c == '}' ? -1 : 0;
    if (depth < 0) break;
    if (c == ',' && depth == 0) {
      end_parameter();
    } else {
      parameter += c;
    }
  }
  end_parameter();
  return "(" + std::regex_replace(types, std::regex("\\s+"), " ") + ")";
}

// What a line at the margin of a namespace defines: "Search", "kRows", "name_of(Kind,)".
std::optional<std::string> defined_by(const std::string& line, const std::string& following) {
  static const std::regex type(
      R"((?:struct|class|enum|enum class)\s+(\w+)\s*(?:final\s*)?[:{;].*)");
  static const std::regex constant(R"([\w:<>,&*\s]*\b(k[A-Z]\w*)\b\s*[\[={;].*)");
  static const std::regex function(R"((?:\[\[\w+\]\]\s*)?[\w:<>,&*\s]+\b(\w+)\(.*)");
  std::smatch found;
  if (std::regex_match(line, found, type)) return found[1];
  if (std::regex_match(line, found, constant)) return found[1];
  if (line.starts_with("using") || !std::regex_match(line, found, function)) return {};
  const std::string whole = line + " " + following;
  return found[1].str() + types_of(whole.substr(whole.find('(', found.position(1)) + 1));
}

using Names = std::map<std::string, std::set<std::string>>;  // of each, the files

void add_names(const SourceFile& file, Names& names) {
  const std::vector<std::string> raw = lines_of(file.text);
  const std::vector<std::string> code = lines_of(without_comments_and_literals(file.text));
  bool inside = false;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (raw[i] == "namespace {") inside = true;
    if (raw[i] == "}  // namespace") inside = false;
    if (!inside || code[i].empty() || code[i].find_first_of(" }#") == 0) continue;
    std::string following;
    for (std::size_t k = i + 1; k < std::min(i + 5, code.size()); ++k) following += code[k] + " ";
    if (const auto name = defined_by(code[i], following)) names[*name].insert(file.path);
  }
}

std::vector<std::string> shared_names(const std::vector<SourceFile>& files) {
  std::map<std::string, Names> folders;
  for (const SourceFile& file : files) add_names(file, folders[folder_of(file.path)]);
  std::vector<std::string> found;
  for (const auto& [folder, names] : folders) {
    for (const auto& [name, paths] : names) {
      if (paths.size() > 1)
        found.push_back(name + " of " + *paths.begin() + " and " + *paths.rbegin());
    }
  }
  return found;
}

// The folders that the build compiles as one.
std::regex united_folders() {
  for (const SourceFile& file : files_in("cmake/", {"rooms.cmake"})) {
    std::smatch found;
    if (std::regex_search(file.text, found, std::regex(R"re(set\(tessera_united "(.*)"\))re"))) {
      return std::regex(found[1].str());
    }
  }
  throw std::runtime_error("cmake/rooms.cmake sets no tessera_united");
}

TEST(AnonymousNames, DifferWithinAFolderThatIsCompiledAsOne) {
  const std::regex united = united_folders();
  std::vector<SourceFile> files = files_in("src/", {".cpp"});
  std::erase_if(files, [&](const SourceFile& file) {
    return !std::regex_search(folder_of(file.path).substr(4), united);
  });
  ASSERT_GT(files.size(), 100u);
  for (const std::string& found : shared_names(files)) {
    ADD_FAILURE() << found << ": give one of them another name, or both one home";
  }
}

TEST(AnonymousNames, PlantedOnesAreFoundAndOverloadsAreNot) {
  const auto file = [](const char* path, const std::string& inside) {
    return SourceFile{path,
                      "namespace {\n" + inside + "\n}  // namespace\nint outside(int a) {}\n"};
  };
  const auto found = shared_names(
      {file("src/lab/a.cpp",
            "class Search {\n  int name(int a);\n};\nconstexpr int kRows[] = {1};\n"
            "std::string name_of(const Kind& kind,\n                    int count) {\n}"),
       file("src/lab/b.cpp",
            "struct Search {};\nconstexpr double kRows = 2, kOther = 1;\n"
            "std::string name_of(const Kind& other, int c = 3) {\n}"),
       file("src/lab/c.cpp", "using Words = int;\nstd::string name_of(Kind* kind, int count) {\n}"),
       file("src/cli/a.cpp", "class Search {};\nusing Words = int;\n")});
  const std::string both = " of src/lab/a.cpp and src/lab/b.cpp";
  EXPECT_EQ(found, (std::vector<std::string>{"Search" + both, "kRows" + both,
                                             "name_of(const Kind&, int,)" + both}));
}

}  // namespace
}  // namespace tessera::house
