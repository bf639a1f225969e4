#include "sass/model/latencies.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>

#include "sass/model/latency_rows/tables.h"

namespace tessera::sass {
namespace {

using Class = LatencyClass;

Class by_name(const std::string& name) {
  static const std::unordered_map<std::string, Class> kNames = {
      {"FFMA", Class::kFma},
      {"FMUL", Class::kFma},
      {"FADD", Class::kFma},
      {"IMAD", Class::kFma},
      {"VIADD", Class::kFma},
      {"IMAD.WIDE", Class::kWide},
      {"IMAD.HI", Class::kWide},
      {"IADD3", Class::kAlu},
      {"LEA", Class::kAlu},
      {"LOP3", Class::kAlu},
      {"SHF", Class::kAlu},
      {"SEL", Class::kAlu},
      {"MOV", Class::kAlu},
      {"ISETP", Class::kAlu},
      {"PLOP3", Class::kAlu},
      {"PRMT", Class::kAlu},
      {"FSETP", Class::kAlu},
      {"FSEL", Class::kAlu},
      {"FMNMX", Class::kAlu},
      {"IABS", Class::kAlu},
      {"VIMNMX", Class::kAlu},
      {"IMNMX", Class::kAlu},
      {"VIADDMNMX", Class::kAlu},
      {"F2FP.BF16.F32.PACK_AB", Class::kAlu},
      {"F2FP.F16.F32.PACK_AB", Class::kAlu},
      {"I2FP", Class::kAlu},
      {"HFMA2.MMA", Class::kHalf},
      {"HFMA2", Class::kFma},
      {"HADD2", Class::kPacked},
      {"HMUL2", Class::kPacked},
      {"CS2R", Class::kClock},
      {"DFMA", Class::kDouble},
      {"DMUL", Class::kDouble},
      {"DADD", Class::kDouble},
      {"DSETP", Class::kDouble},
      {"DMMA", Class::kMatrix},
      {"HMMA", Class::kMatrix},
      {"MUFU", Class::kUnit},
      {"F2F", Class::kUnit},
      {"I2F", Class::kUnit},
      {"F2I", Class::kUnit},
      {"R2UR", Class::kToUniform},
      {"ULDC", Class::kConstant},
      {"UMOV", Class::kMove},
      {"VOTEU", Class::kVote},
      {"ELECT", Class::kVote},
      {"UIADD3", Class::kUniform},
      {"UIMAD", Class::kUniform},
      {"UIMAD.WIDE", Class::kUniform},
      {"UISETP", Class::kUniform},
      {"ULEA", Class::kUniform},
      {"ULOP3", Class::kUniform},
      {"UPLOP3", Class::kUniform},
      {"UPRMT", Class::kUniform},
      {"USEL", Class::kUniform},
      {"USHF", Class::kUniform}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? Class::kOther : found->second;
}

// The names of latency classes, in the order of the enum.
constexpr std::string_view kClassNames[] = {
    "Fma",    "Wide",   "WideAddend", "Alu",   "Half",      "Packed",  "Clock",
    "Double", "Matrix", "Memory",     "Unit",  "ToUniform", "Uniform", "Constant",
    "Move",   "Vote",   "Control",    "Guard", "Other",     "Any"};

}  // namespace

std::string_view name_of(LatencyClass latency_class) {
  return kClassNames[static_cast<int>(latency_class)];
}

LatencyClass class_of_first(const Operation& operation) {
  const Class by = by_name(operation.name);
  if (by != Class::kOther) return by;
  if (operation.timing == Timing::kControl) return Class::kControl;
  if (operation.timing != Timing::kVariable) return Class::kOther;
  static const char* const kMemoryPrefixes[] = {"LDS", "STS", "LDG", "STG",  "LDL",
                                                "STL", "LD.", "ST.", "ATOM", "RED"};
  const bool is_memory = std::ranges::any_of(
      kMemoryPrefixes, [&](const char* prefix) { return operation.name.starts_with(prefix); });
  return is_memory ? Class::kMemory : Class::kUnit;
}

LatencyClass class_of_second(const Operation& operation, const RegisterDependence& dependence) {
  constexpr int kAddend = 2;
  if (dependence.as_guard) return Class::kGuard;
  const Class by = class_of_first(operation);
  const bool reads = dependence.kind == DependenceKind::kReadAfterWrite;
  return by == Class::kWide && reads && dependence.operand == kAddend ? Class::kWideAddend : by;
}

namespace {

using Tables = std::array<LatencyTable, 4>;

const LatencyTable& of_or_before(const Tables& tables, int sm) {
  const auto later = std::ranges::upper_bound(tables, sm, {}, &LatencyTable::sm);
  return later == tables.begin() ? tables.front() : *std::prev(later);
}

}  // namespace

const LatencyTable& latencies_of(int sm) {
  static const Tables kTables = {latencies_of_sm_75(), latencies_of_sm_80(), latencies_of_sm_86(),
                                 latencies_of_sm_90()};
  return of_or_before(kTables, sm);
}

const LatencyTable& public_latencies_of(int sm) {
  static const Tables kTables = {public_latencies_of_sm_75(), public_latencies_of_sm_80(),
                                 public_latencies_of_sm_86(), public_latencies_of_sm_90()};
  return of_or_before(kTables, sm);
}

namespace {

constexpr int kKinds = 3, kFiles = 4, kClasses = static_cast<int>(Class::kAny) + 1;

std::size_t index_of(DependenceKind kind, RegisterFile file, Class first, Class second) {
  const int pair = static_cast<int>(kind) * kFiles + static_cast<int>(file);
  return static_cast<std::size_t>((pair * kClasses + static_cast<int>(first)) * kClasses +
                                  static_cast<int>(second));
}

}  // namespace

Distances::Distances(const LatencyTable& table, const LatencyTable& more)
    : cycles_(kKinds * kFiles * kClasses * kClasses) {
  add(table);
  add(more);
}

void Distances::add(const LatencyTable& table) {
  for (const LatencyRow& row : table.rows) {
    int& cycles = cycles_[index_of(row.kind, row.file, row.first, row.second)];
    if (cycles == 0 || row.cycles < cycles) cycles = row.cycles;
  }
  for (const StallRow& row : table.stalls) {
    const auto known = std::ranges::find(stalls_, row.name, &StallRow::name);
    if (known == stalls_.end()) {
      stalls_.push_back(row);
    } else {
      known->stall = std::min(known->stall, row.stall);
    }
  }
}

int Distances::least(DependenceKind kind, RegisterFile file, LatencyClass first,
                     LatencyClass second) const {
  for (const LatencyClass consumer : {second, LatencyClass::kAny}) {
    if (const int cycles = cycles_[index_of(kind, file, first, consumer)]) return cycles;
  }
  // A write after a write requires no more distance than a read after a write.
  if (kind != DependenceKind::kReadAfterWrite) {
    return least(DependenceKind::kReadAfterWrite, file, first, LatencyClass::kAny);
  }
  return kLongestLatency;
}

const Distances& distances_of(int sm) {
  static const std::map<int, Distances> kDistances = [] {
    std::map<int, Distances> all;
    for (const int known : {75, 80, 86, 90}) {
      all.emplace(known, Distances(latencies_of(known), public_latencies_of(known)));
    }
    return all;
  }();
  return kDistances.at(latencies_of(sm).sm);
}

}  // namespace tessera::sass
