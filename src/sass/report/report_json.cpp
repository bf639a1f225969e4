#include "sass/report/report_json.h"

#include <map>
#include <nlohmann/json.hpp>

#include "sass/report/report_parts.h"

namespace tessera::sass {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Mix& mix) {
  Json object = Json::object();
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    if (mix[kind] == 0) continue;
    object[std::string(name_of(kind))] = {{"count", mix[kind]}, {"names", mix.names[i]}};
  }
  return object;
}

Json ports_of(const KernelReport& kernel, const LoopReport& loop) {
  return {{"tag", "model"},
          {"cycles", loop.ports.cycles},
          {"bubbles", loop.ports.bubbles},
          {"crowded_ffmas", loop.ports.crowded},
          {"reads_per_ffma", loop.ports.reads_per_ffma()},
          {"ceiling", loop.port_ceiling(kernel.sm)}};
}

Json banks_of(const LoopReport& loop) {
  Json object;
  for (std::size_t i = 0; i < kBankModels.size(); ++i) {
    object[std::string(name_of(kBankModels[i]))] = {{"clashes", loop.clashes[i].clashes},
                                                    {"hidden_by_reuse", loop.clashes[i].hidden}};
  }
  return object;
}

Json faults_of(const LoopReport& loop) {
  Json list = Json::array();
  for (const ReuseFault& fault : loop.reuse_faults) {
    list.push_back({{"offset", loop.members[fault.at] * kInstructionBytes}, {"why", fault.reason}});
  }
  return list;
}

Json to_json(const KernelReport& kernel, const LoopReport& loop) {
  Json object = {{"begin", loop.begin},
                 {"end", loop.end},
                 {"depth", loop.depth},
                 {"is_main", &loop == kernel.main_loop()},
                 {"is_straight", loop.is_straight},
                 {"slots", loop.slots()},
                 {"ffma", loop.mix[Kind::kFfma]},
                 {"ffma_share", loop.ffma_share()},
                 {"ceiling", loop.ceiling(kernel.sm)},
                 {"mix", to_json(loop.mix)},
                 {"stalls", loop.stalls},
                 {"reuse_flags", loop.reuse_flags},
                 {"reuse_faults", faults_of(loop)},
                 {"illegal_controls", loop.illegal_controls},
                 {"global_bytes", loop.global_bytes},
                 {"flop_per_byte", loop.flop_per_byte()},
                 {"sums", loop.sums},
                 {"unroll", loop.unroll()},
                 {"verdict", verdict(kernel, loop)}};
  if (loop.counter)
    object["counter"] = {{"register", loop.counter->name}, {"step", loop.counter->step}};
  if (loop.mix[Kind::kFfma] > 0) {
    object["in_place"] = loop.in_place;
    object["ports"] = ports_of(kernel, loop);
    object["same_bank"] = banks_of(loop);
  }
  return object;
}

Json instructions_of(const KernelReport& kernel) {
  Json list = Json::array();
  for (std::size_t i = 0; i < kernel.code.size(); ++i) {
    const Control& control = kernel.operations[i].control;
    list.push_back({{"offset", i * kInstructionBytes},
                    {"text", kernel.operations[i].text},
                    {"stall", control.stall},
                    {"yield", control.yields},
                    {"write_scoreboard", control.write_scoreboard},
                    {"read_scoreboard", control.read_scoreboard},
                    {"wait_mask", control.wait_mask},
                    {"reuse", control.reuse},
                    {"bubbles", kernel.bubbles_at(i)}});
  }
  return list;
}

// Returns the number of instructions by file and line; null if the cubin has no source lines.
Json lines_of(const KernelReport& kernel) {
  if (kernel.lines.empty()) return nullptr;
  std::map<std::string, std::map<std::string, int>> counts;
  for (const SourceLine& line : kernel.lines) {
    if (line.line > 0) ++counts[line.file][std::to_string(line.line)];
  }
  return counts;
}

}  // namespace

Json to_json(const KernelReport& kernel, const std::vector<Note>& notes, bool instructions) {
  Json object = {{"kernel", kernel.name},
                 {"sm", kernel.sm},
                 {"registers", kernel.registers},
                 {"shared_bytes", kernel.shared_bytes},
                 {"stack_bytes", kernel.local_bytes},
                 {"max_threads", kernel.max_threads},
                 {"local_accesses", kernel.mix[Kind::kLocal]},
                 {"unknown_opcodes", kernel.unknown},
                 {"source_lines", lines_of(kernel)},
                 {"mix", to_json(kernel.mix)},
                 {"loops", Json::array()}};
  for (const LoopReport& loop : kernel.loops) object["loops"].push_back(to_json(kernel, loop));
  for (const Note& note : notes) object["notes"][note.name] = note.text;
  if (instructions) object["instructions"] = instructions_of(kernel);
  return object;
}

}  // namespace tessera::sass
