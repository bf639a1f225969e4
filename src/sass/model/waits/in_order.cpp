#include "sass/model/waits/in_order.h"

#include <string>
#include <utility>

namespace tessera::sass {
namespace {

// HW: each of these queues works in order. So ptxas gives a scoreboard only to the last of several
// loads (seen on sm_90: of four LDS the first has no scoreboard, and its consumer waits for the
// scoreboard of the second LDS), and lets a load overwrite a register that an earlier store of the
// same queue reads.
// The FP64 units of sm_75 to sm_89 are such a queue, too. Loads from constant memory (LDC) are not
// treated as a queue: ptxas never relies on their order, and a kernel's first LDC R1, which nothing
// reads or waits for, would otherwise be finished by the next LDC. All memory instructions read
// their sources in one common order, whatever memory they access, atomics (ATOM, ATOMG) included,
// although the results of atomics are not assumed to arrive in order. An LDC may overwrite a
// register that an earlier store reads (seen on sm_90: STL).
enum class Queue {
  kNone,
  kShared,
  kGlobal,
  kSpecial,
  kConversion,
  kMatrix,
  kDouble,
  kShuffle,
  kTranspose,
  kReduction
};

Queue queue_of(const std::string& name) {
  static const std::pair<const char*, Queue> kPrefixes[] = {
      {"LDS", Queue::kShared},      {"STS", Queue::kShared},      {"LDG", Queue::kGlobal},
      {"STG", Queue::kGlobal},      {"LD.", Queue::kGlobal},      {"ST.", Queue::kGlobal},
      {"LDL", Queue::kGlobal},      {"STL", Queue::kGlobal},      {"S2", Queue::kSpecial},
      {"F2F", Queue::kConversion},  {"I2F", Queue::kConversion},  {"F2I", Queue::kConversion},
      {"MUFU", Queue::kConversion}, {"FLO", Queue::kConversion},  {"ATOMS", Queue::kShared},
      {"REDG", Queue::kGlobal},     {"DMMA", Queue::kMatrix},     {"DFMA", Queue::kDouble},
      {"DMUL", Queue::kDouble},     {"DADD", Queue::kDouble},     {"DSETP", Queue::kDouble},
      {"SHFL", Queue::kShuffle},    {"POPC", Queue::kConversion}, {"MOVM", Queue::kTranspose},
      {"REDUX", Queue::kReduction}};
  for (const auto& [prefix, queue] : kPrefixes) {
    if (name.starts_with(prefix)) return queue;
  }
  return Queue::kNone;
}

}  // namespace

bool write_in_order(const Operation& first, const Operation& second) {
  const Queue queue = queue_of(first.name);
  return queue != Queue::kNone && queue == queue_of(second.name);
}

bool is_memory(const Operation& operation) {
  const Queue queue = queue_of(operation.name);
  return queue == Queue::kShared || queue == Queue::kGlobal || operation.name.starts_with("ATOM");
}

bool read_in_order(const Operation& first, const Operation& second) {
  return write_in_order(first, second) ||
         (is_memory(first) && (is_memory(second) || second.name.starts_with("LDC")));
}

// HW: the predicate of ATOM says whether the address is in global memory. It is known when the
// sources have been read, and ptxas waits only for these reads (sm_90, sums of two FP16 numbers).
bool writes_predicate_early(const Operation& operation) { return operation.name == "ATOM"; }

}  // namespace tessera::sass
