#include "cli/output.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

namespace tessera::cli {
namespace {

constexpr const char* kStdout = "-";

// Two spellings of one file, which need not be there yet.
bool same_place(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) return false;
  if (one == other) return true;
  if (one == kStdout || other == kStdout) return false;
  std::error_code error, other_error;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(one), error) ==
             std::filesystem::weakly_canonical(std::filesystem::absolute(other), other_error) &&
         !error && !other_error;
}

}  // namespace

void Output::add_options(CLI::App& app) {
  app.add_option("--json", json, "write JSON ('-': stdout, and nothing else there)")
      ->type_name("PATH");
  app.add_option("--csv", csv, "write the table as CSV")->type_name("PATH");
  app.add_option("--md", markdown, "write the table as markdown")->type_name("PATH");
}

void Output::check(const std::vector<NamedPath>& files_of_the_call) const {
  std::vector<NamedPath> taken = files_of_the_call;
  for (const NamedPath& output :
       {NamedPath{"--json", json}, NamedPath{"--csv", csv}, NamedPath{"--md", markdown}}) {
    if (output.path.empty()) continue;
    for (const NamedPath& other : taken) {
      if (!same_place(output.path, other.path)) continue;
      throw StatusError(
          Status::bad_argument(fmt::format("{} is '{}', but must not be the same place as {}",
                                           output.name, output.path, other.name)));
    }
    taken.push_back(output);
    if (output.path != kStdout) lab::check_writable(output.path, output.name);
  }
}

bool Output::prints_text() const {
  return json != kStdout && csv != kStdout && markdown != kStdout;
}

void Output::write(const lab::Json& object, const lab::Table& table) const {
  if (!json.empty()) lab::write_file(json, object.dump(1) + "\n", "--json");
  if (!csv.empty()) lab::write_file(csv, lab::render(table, lab::Format::kCsv), "--csv");
  if (!markdown.empty())
    lab::write_file(markdown, lab::render(table, lab::Format::kMarkdown), "--md");
}

}  // namespace tessera::cli
