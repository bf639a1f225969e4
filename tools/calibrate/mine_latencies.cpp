// Reads the shortest distances off compiled kernels that ptxas left between instructions of fixed
// latency, and prints them as src/sass/model/latency_rows/ has them. What was known before is kept
// where it is shorter. What is no ptxas output (patched or hand-made code) does not belong here.
// tools/calibrate/mine_corpus compiles what it should read.
//
//     mine_latencies "CUDA 13.0.88" 90 FILE...
//     mine_latencies "CUDA 13.0.88" 90 --public FILE...     only what is shorter than known
//
// FILE: cubins and fatbins; code for other architectures is skipped.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sass/container/cubin.h"
#include "sass/container/fatbin.h"
#include "sass/model/flow.h"
#include "sass/model/latencies.h"
#include "tools/calibrate/mined_distances.h"

namespace tessera::sass {
namespace {

void mine_file(const std::string& path, int sm, MinedDistances& mined) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), {});
  for (const FoundCubin& found : find_code(std::as_bytes(std::span(bytes))).cubins) {
    const CubinFile cubin = read_cubin(found.bytes);
    if (latencies_of(cubin.sm).sm != sm) continue;  // sm_89 goes with sm_86
    for (const CubinKernel& kernel : cubin.kernels) {
      try {
        mined.add(program_of(kernel, cubin.sm));
      } catch (const std::exception& error) {
        std::fprintf(stderr, "left out: %s\n", error.what());  // its jumps go by a table
      }
    }
  }
}

struct Printed {
  std::string origin, function;
  std::vector<LatencyRow> rows;
  std::map<std::string, int> stalls;
};

Printed all_rows(const MinedDistances& mined, int sm) {
  const LatencyTable& latencies = latencies_of(sm);
  const bool is_known = latencies.sm == sm;
  const auto known = is_known ? latencies.rows : std::span<const LatencyRow>();
  const auto stalls = is_known ? latencies.stalls : std::span<const StallRow>();
  return {"the output", "latencies_of_sm_", mined.rows(known), mined.stalls(stalls)};
}

Printed other_rows(const MinedDistances& mined, int sm) {
  const LatencyTable& known = latencies_of(sm);
  Printed printed{"public repositories and the output",
                  "public_latencies_of_sm_",
                  mined.rows_beside(known),
                  {}};
  for (const StallRow& row : mined.stalls_beside(known)) {
    printed.stalls.emplace(row.name, row.stall);
  }
  return printed;
}

void print(const std::string& source, int sm, const Printed& printed) {
  static const char* const kKinds[] = {"kReadAfterWrite", "kWriteAfterWrite", "kWriteAfterRead"};
  static const char* const kFiles[] = {"kGeneral", "kUniform", "kPredicate", "kUniformPredicate"};
  std::printf("// Written by tools/calibrate/mine_latencies from %s of %s for sm_%d.\n",
              printed.origin.c_str(), source.c_str(), sm);
  std::printf(
      "#include \"sass/model/latency_rows/tables.h\"\n\nnamespace tessera::sass {\nnamespace "
      "{\n\n");
  std::printf(
      "using enum DependenceKind;\nusing enum RegisterFile;\nusing Class = LatencyClass;\n\n");
  std::printf("constexpr LatencyRow kRows[] = {\n");
  for (const auto& [kind, file, first, second, cycles] : printed.rows) {
    std::printf("    {%s, %s, Class::k%s, Class::k%s, %d},\n", kKinds[static_cast<int>(kind)],
                kFiles[static_cast<int>(file)], name_of(first).data(), name_of(second).data(),
                cycles);
  }
  std::printf("};\n\n");
  if (!printed.stalls.empty()) {
    std::printf("constexpr StallRow kStalls[] = {\n");
    for (const auto& [name, cycles] : printed.stalls) {
      std::printf("    {\"%s\", %d},\n", name.c_str(), cycles);
    }
    std::printf("};\n\n");
  }
  std::printf("}  // namespace\n\n");
  std::printf("LatencyTable %s%d() { return {%d, \"%s\", kRows, %s}; }\n\n",
              printed.function.c_str(), sm, sm, source.c_str(),
              printed.stalls.empty() ? "{}" : "kStalls");
  std::printf("}  // namespace tessera::sass\n");
}

}  // namespace
}  // namespace tessera::sass

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  const bool is_public = words.size() > 2 && words[2] == "--public";
  const std::size_t first = is_public ? 3 : 2;
  if (words.size() <= first) {
    std::fprintf(stderr, "usage: mine_latencies COMPILER SM [--public] FILE...\n");
    return 2;
  }
  try {
    using namespace tessera::sass;
    MinedDistances mined;
    const int sm = std::stoi(words[1]);
    for (std::size_t i = first; i < words.size(); ++i) mine_file(words[i], sm, mined);
    print(words[0], sm, is_public ? other_rows(mined, sm) : all_rows(mined, sm));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
