#include "cli/output.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace tessera::cli {
namespace {

constexpr const char* kStdout = "-";

}  // namespace

void Output::add_options(CLI::App& app) {
  app.add_option("--json", json, "write JSON ('-': stdout, and nothing else there)")
      ->type_name("PATH");
  app.add_option("--csv", csv, "write the table as CSV")->type_name("PATH");
  app.add_option("--md", markdown, "write the table as markdown")->type_name("PATH");
}

void Output::check() const {
  const std::pair<const char*, const std::string&> outputs[] = {
      {"--json", json}, {"--csv", csv}, {"--md", markdown}};
  for (const auto& [name, path] : outputs) {
    if (path.empty()) continue;
    for (const auto& [other_name, other_path] : outputs) {
      if (&other_path != &path && other_path == path) {
        throw StatusError(Status::bad_argument(fmt::format(
            "{} is '{}', but must not be the same place as {}", name, path, other_name)));
      }
    }
    if (path != kStdout) lab::check_writable(path, name);
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
