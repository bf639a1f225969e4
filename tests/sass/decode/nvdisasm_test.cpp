// Our decoder beside NVIDIA's disassembler, instruction by instruction, where there is one:
// nvdisasm in PATH, or named by NVDISASM. All images of the catalog are compared, and what is in
// the files that TESSERA_CUBINS names (cubins, programs, libraries; separated by colons);
// tools/ci/compare_nvdisasm sets both. What it confirmed for our own kernels stands in
// data/confirmed.json, which is compared everywhere; TESSERA_WRITE_CONFIRMED writes that file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "catalog/catalog.h"
#include "sass/container/cubin.h"
#include "sass/container/fatbin.h"
#include "sass/decode/operation.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

constexpr int kOldest = 75, kNewest = 90;

// Distinct instructions of one architecture, in the order in which they go into one raw file.
using Code = std::vector<Instruction>;

void add(const CubinFile& cubin,
         std::map<int, std::set<std::pair<std::uint64_t, std::uint64_t>>>& seen,
         std::map<int, Code>& code) {
  for (const CubinKernel& kernel : cubin.kernels) {
    for (const Instruction& instruction : kernel.code) {
      if (seen[cubin.sm].insert({instruction.low, instruction.high}).second) {
        code[cubin.sm].push_back(instruction);
      }
    }
  }
}

std::map<int, Code> all_code() {
  std::map<int, std::set<std::pair<std::uint64_t, std::uint64_t>>> seen;
  std::map<int, Code> code;
  for (const CodeImage* image : images_of_catalog()) add(read_cubin(image->cubin), seen, code);
  const char* const named = std::getenv("TESSERA_CUBINS");
  std::istringstream list(named ? named : "");
  for (std::string path; std::getline(list, path, ':');) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    for (const FoundCubin& cubin : find_code(std::as_bytes(std::span(bytes))).cubins) {
      // A file that is a cubin itself says 0 here.
      if (cubin.sm != 0 && (cubin.sm < kOldest || cubin.sm > kNewest)) continue;
      const CubinFile read = read_cubin(cubin.bytes);
      if (read.sm >= kOldest && read.sm <= kNewest) add(read, seen, code);
    }
  }
  return code;
}

std::string output_of(const std::string& command) {
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
    output.append(buffer, count);
  return pclose(pipe) == 0 ? output : "";
}

std::string disassembler() {
  const char* const named = std::getenv("NVDISASM");
  const std::string name = named ? named : "nvdisasm";
  return output_of(name + " --version 2>/dev/null").empty() ? "" : name;
}

// One blank between words, none in front of a comma.
std::string squeezed(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;)
    result += (result.empty() || word == "," ? "" : " ") + word;
  return result;
}

// What nvdisasm prints for each instruction: lines of "/*0010*/ TEXT ; /* 0x... */".
std::vector<std::string> disassemble(const std::string& nvdisasm, const Code& code, int sm) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("tessera_nvdisasm_" + std::to_string(getpid()) + ".bin");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(code.data()),
             static_cast<std::streamsize>(code.size() * kInstructionBytes));
  const std::string target = "SM" + std::to_string(sm) + (sm >= 90 ? "a" : "");
  const std::string output =
      output_of(nvdisasm + " -ndf -hex -b " + target + " " + path.string() + " 2>/dev/null");
  std::filesystem::remove(path);
  std::vector<std::string> texts;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find("*/"), end = line.rfind("; ");
    if (line.find("/*") == line.find_first_not_of(' ') && end != std::string::npos && start < end &&
        line.find("/* 0x") > end) {
      texts.push_back(squeezed(line.substr(start + 2, end - start - 2)));
    }
  }
  return texts;
}

const char* const kConfirmed = "tests/sass/decode/data/confirmed.json";

// The text with each number as 0, so that one instruction stands for all of its form.
std::string form_of(const std::string& text) {
  std::string form;
  bool in_number = false;
  for (const char letter : text) {
    const bool digit = std::isxdigit(static_cast<unsigned char>(letter)) && !std::isupper(letter);
    const bool begins = std::isdigit(static_cast<unsigned char>(letter)) && !form.empty() &&
                        (std::ispunct(form.back()) || form.back() == ' ' || form.back() == 'R') &&
                        form.find(' ') != std::string::npos;
    in_number = begins || (in_number && (digit || letter == 'x' || letter == '.'));
    if (!in_number) form += letter;
    if (begins) form += '0';
  }
  return form;
}

// One instruction of each form, the guard aside: "90 low high text".
void add_confirmed(const Code& code, int sm, std::set<std::string>& forms, nlohmann::json& list) {
  for (const Instruction& instruction : code) {
    const Operation operation = decode(instruction, 0, sm);
    if (operation.text.starts_with("@") || !operation.known) continue;
    if (!forms.insert(std::to_string(sm) + form_of(operation.text)).second) continue;
    char words[48];
    std::snprintf(words, sizeof words, "%d %016llx %016llx ", sm,
                  static_cast<unsigned long long>(instruction.low),
                  static_cast<unsigned long long>(instruction.high));
    list.push_back(words + squeezed(operation.text));
  }
}

TEST(Confirmed, FormsReadAsTheyDidBesideNvdisasm) {
  const nlohmann::json list = nlohmann::json::parse(std::ifstream(kConfirmed));
  for (const std::string line : list) {
    std::istringstream words(line);
    Instruction instruction;
    int sm = 0;
    words >> sm >> std::hex >> instruction.low >> instruction.high;
    std::string text;
    std::getline(words >> std::ws, text);
    EXPECT_EQ(squeezed(decode(instruction, 0, sm).text), text);
  }
  EXPECT_GT(list.size(), 3000u);
}

TEST(Nvdisasm, AgreesOnEveryInstructionOfOurImages) {
  const std::string nvdisasm = disassembler();
  if (nvdisasm.empty()) GTEST_SKIP() << "no nvdisasm in PATH, and NVDISASM names none";
  std::set<std::string> forms;
  nlohmann::json confirmed;
  for (const auto& [sm, code] : all_code()) {
    const std::vector<std::string> texts = disassemble(nvdisasm, code, sm);
    ASSERT_EQ(texts.size(), code.size()) << "sm_" << sm;
    int different = 0;
    for (std::size_t i = 0; i < code.size(); ++i) {
      const std::string ours = squeezed(decode(code[i], i * kInstructionBytes, sm).text);
      if (ours == texts[i]) continue;
      if (++different <= 20) ADD_FAILURE() << "sm_" << sm << ": " << ours << "\nand " << texts[i];
    }
    EXPECT_EQ(different, 0) << "of " << code.size() << " distinct instructions of sm_" << sm;
    std::printf("%zu distinct instructions of sm_%d, %d different\n", code.size(), sm, different);
    if (different == 0) add_confirmed(code, sm, forms, confirmed);
  }
  if (std::getenv("TESSERA_WRITE_CONFIRMED"))
    std::ofstream(kConfirmed) << confirmed.dump(0) << "\n";
}

// Runs everywhere: nothing that we ship lacks a row.
TEST(Operation, KnowsEveryInstructionOfOurImages) {
  std::map<std::string, int> unknown;
  std::size_t count = 0;
  for (const auto& [sm, code] : all_code()) {
    for (std::size_t i = 0; i < code.size(); ++i) {
      const Operation operation = decode(code[i], i * kInstructionBytes, sm);
      if (!operation.known) ++unknown[operation.name];
      const Instruction again = with_control(code[i], operation.control);
      ASSERT_TRUE(again.low == code[i].low && again.high == code[i].high) << operation.text;
      ++count;
    }
  }
  EXPECT_GT(count, 10'000u);
  for (const auto& [name, times] : unknown) ADD_FAILURE() << name << ": " << times << " times";
}

}  // namespace
}  // namespace tessera::sass
