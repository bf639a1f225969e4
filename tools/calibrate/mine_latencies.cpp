// Reads the shortest distances off compiled kernels that ptxas left between instructions of fixed
// latency, and prints them as src/sass/model/latency_rows/ has them. What was known before is kept
// where it is shorter. What is no ptxas output (patched or hand-made code) does not belong here.
// tools/calibrate/mine_corpus compiles what it should read.
//
//     mine_latencies "CUDA 13.0.88" 90 CUBIN...     cubins of other architectures are skipped
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "sass/container/cubin.h"
#include "sass/model/flow.h"
#include "sass/model/latencies.h"
#include "sass/model/register_dependences.h"

namespace tessera::sass {
namespace {

using Key = std::tuple<DependenceKind, RegisterFile, LatencyClass, LatencyClass>;
// A pair seen this often at its shortest distance was held up there by its latency. Others may just
// never have been close, so they need no more than the slowest such pair of the same producer:
// class kAny.
constexpr int kOften = 10;

struct Seen {
  int cycles = kLongestLatency, times = 0;  // the shortest distance, and how often
};

struct Table {
  std::map<Key, Seen> distances;
  std::map<std::string, int> stalls;  // of instructions that decide where control goes
};

void mine(const Program& program, Table& table) {
  for (const Operation& operation : program.operations) {
    if (operation.timing != Timing::kControl || !operation.known) continue;
    int& stall = table.stalls.try_emplace(operation.name, operation.control.stall).first->second;
    stall = std::min(stall, operation.control.stall);
  }
  DependenceListener listener;
  listener.dependence = [&](const RegisterDependence& dependence) {
    if (dependence.is_open) return;
    Seen& seen = table.distances[{
        dependence.kind, dependence.file, class_of_first(program.operations[dependence.first]),
        class_of_second(program.operations[dependence.second], dependence)}];
    if (dependence.cycles < seen.cycles) seen = {dependence.cycles, 0};
    seen.times += dependence.cycles == seen.cycles;
  };
  visit_register_dependences(program, listener);
}

// Cycles after which a result of this class is read at the earliest; 0 if nobody was seen to.
int latency_of(const Table& table, LatencyClass producer) {
  int latency = 0;
  for (const LatencyClass reader : {LatencyClass::kFma, LatencyClass::kAlu}) {
    const auto seen = table.distances.find(
        {DependenceKind::kReadAfterWrite, RegisterFile::kGeneral, producer, reader});
    if (seen == table.distances.end() || seen->second.times < kOften) continue;
    latency = latency == 0 ? seen->second.cycles : std::min(latency, seen->second.cycles);
  }
  return latency;
}

// Two writes of one register: each lands its latency after its issue, so the second one is last if
// it lands later. Pairs of rare classes may never have been seen that close.
void lower_writes(const Table& table, std::map<Key, int>& rows) {
  constexpr int kMargin = 2;  // as ptxas leaves between two of one class
  const auto classes = {LatencyClass::kFma, LatencyClass::kAlu, LatencyClass::kHalf,
                        LatencyClass::kClock};
  for (const LatencyClass first : classes) {
    for (const LatencyClass second : classes) {
      const int before = latency_of(table, first), after = latency_of(table, second);
      if (before == 0 || after == 0) continue;
      const int cycles = std::max(1, before - after + kMargin);
      const Key key{DependenceKind::kWriteAfterWrite, RegisterFile::kGeneral, first, second};
      const auto [row, is_new] = rows.emplace(key, cycles);
      if (!is_new) row->second = std::min(row->second, cycles);
    }
  }
}

// The distances of pairs, then of each producer with any consumer that has no row.
std::map<Key, int> rows_of(const Table& table, std::span<const LatencyRow> known) {
  std::map<Key, int> slowest, rows;
  std::map<std::pair<DependenceKind, RegisterFile>, int> slowest_of_all;
  for (const auto& [key, seen] : table.distances) {
    const auto& [kind, file, first, second] = key;
    if (seen.times < kOften) continue;
    int& cycles = slowest[{kind, file, first, LatencyClass::kAny}];
    cycles = std::max(cycles, seen.cycles);
    int& all = slowest_of_all[{kind, file}];
    all = std::max(all, cycles);
  }
  for (const auto& [key, seen] : table.distances) {  // producers of which little is known
    const auto& [kind, file, first, second] = key;
    slowest.emplace(Key{kind, file, first, LatencyClass::kAny}, slowest_of_all[{kind, file}]);
  }
  // Of classes without a row the larger number is believed: they may never have been close.
  for (const LatencyRow& row : known) {
    if (row.second != LatencyClass::kAny) continue;
    int& cycles = slowest[{row.kind, row.file, row.first, row.second}];
    cycles = std::max(cycles, row.cycles);
  }
  // A write waits for another no longer than a read would.
  for (auto& [key, cycles] : slowest) {
    const auto& [kind, file, first, any] = key;
    const auto read = slowest.find({DependenceKind::kReadAfterWrite, file, first, any});
    if (read != slowest.end()) cycles = std::min(cycles, read->second);
  }
  for (const auto& [key, seen] : table.distances) {
    const auto& [kind, file, first, second] = key;
    const int any = slowest[{kind, file, first, LatencyClass::kAny}];
    if (seen.cycles < any) rows[key] = seen.cycles;
  }
  for (const LatencyRow& row : known) {
    const int any = slowest[{row.kind, row.file, row.first, LatencyClass::kAny}];
    if (row.second == LatencyClass::kAny || row.cycles >= any) continue;
    const auto [place, is_new] =
        rows.emplace(Key{row.kind, row.file, row.first, row.second}, row.cycles);
    if (!is_new) place->second = std::min(place->second, row.cycles);
  }
  rows.insert(slowest.begin(), slowest.end());
  lower_writes(table, rows);
  return rows;
}

void mine_file(const std::string& path, int sm, Table& table) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), {});
  const CubinFile cubin = read_cubin(std::as_bytes(std::span(bytes)));
  if (latencies_of(cubin.sm).sm != sm) return;  // sm_89 goes with sm_86
  for (const CubinKernel& kernel : cubin.kernels) {
    try {
      mine(program_of(kernel, cubin.sm), table);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "left out: %s\n", error.what());  // a kernel whose jumps go by a table
    }
  }
}

void print(const std::string& source, int sm, Table table) {
  static const char* const kKinds[] = {"kReadAfterWrite", "kWriteAfterWrite", "kWriteAfterRead"};
  static const char* const kFiles[] = {"kGeneral", "kUniform", "kPredicate", "kUniformPredicate"};
  const LatencyTable& latencies = latencies_of(sm);
  const bool is_known = latencies.sm == sm;
  const auto known = is_known ? latencies.rows : std::span<const LatencyRow>();
  for (const StallRow& row : is_known ? latencies.stalls : std::span<const StallRow>()) {
    int& stall = table.stalls.try_emplace(std::string(row.name), row.stall).first->second;
    stall = std::min(stall, row.stall);
  }
  std::printf("// Written by tools/calibrate/mine_latencies from the output of %s for sm_%d.\n",
              source.c_str(), sm);
  std::printf(
      "#include \"sass/model/latency_rows/tables.h\"\n\nnamespace tessera::sass {\nnamespace "
      "{\n\n");
  std::printf(
      "using enum DependenceKind;\nusing enum RegisterFile;\nusing Class = LatencyClass;\n\n");
  std::printf("constexpr LatencyRow kRows[] = {\n");
  for (const auto& [key, cycles] : rows_of(table, known)) {
    const auto& [kind, file, first, second] = key;
    std::printf("    {%s, %s, Class::k%s, Class::k%s, %d},\n", kKinds[static_cast<int>(kind)],
                kFiles[static_cast<int>(file)], name_of(first).data(), name_of(second).data(),
                cycles);
  }
  std::printf("};\n\nconstexpr StallRow kStalls[] = {\n");
  for (const auto& [name, cycles] : table.stalls) {
    if (cycles > 1) std::printf("    {\"%s\", %d},\n", name.c_str(), cycles);
  }
  std::printf("};\n\n}  // namespace\n\n");
  std::printf("LatencyTable latencies_of_sm_%d() { return {%d, \"%s\", kRows, kStalls}; }\n\n", sm,
              sm, source.c_str());
  std::printf("}  // namespace tessera::sass\n");
}

}  // namespace
}  // namespace tessera::sass

int main(int count, char** arguments) {
  if (count < 4) {
    std::fprintf(stderr, "usage: mine_latencies COMPILER SM CUBIN...\n");
    return 2;
  }
  try {
    tessera::sass::Table table;
    const int sm = std::stoi(arguments[2]);
    for (int i = 3; i < count; ++i) tessera::sass::mine_file(arguments[i], sm, table);
    tessera::sass::print(arguments[1], sm, table);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
