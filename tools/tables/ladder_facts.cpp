// What the compiler made of each kernel of the ladder, as JSON: registers, memory, loads and stores
// by width in the PTX and in the cubin, the loop that multiplies, and what a patch made of it. The
// pages of the ladder quote these numbers, so they are read from the images that this build
// embeds, never typed.
//
//   ladder_facts > results/ladder/ladder_cubin.json && tools/tables/update_tables.py
//   ladder_facts --check results/ladder/ladder_cubin.json     exit code 1 when the file says
//   otherwise
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/renamed.h"
#include "catalog/catalog.h"
#include "sass/container/cubin.h"
#include "sass/model/ports.h"
#include "sass/report/ptx_counts.h"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

int count_of(const sass::Histogram& histogram, std::string_view name) {
  const auto found = histogram.find(std::string(name));
  return found == histogram.end() ? 0 : found->second;
}

constexpr std::string_view kMultiplies[] = {"FFMA", "DFMA", "DMMA", "HMMA", "HGMMA"};

int multiplies_in(const sass::Histogram& histogram) {
  int sum = 0;
  for (const std::string_view name : kMultiplies) sum += count_of(histogram, name);
  return sum;
}

int instructions_in(const sass::Histogram& histogram) {
  int sum = 0;
  for (const auto& [name, count] : histogram) sum += count;
  return sum;
}

// The loop in which multiplies are the largest share of the instructions; of equals the shortest.
const sass::Loop* main_loop(const sass::CubinKernel& kernel) {
  const auto share = [](const sass::Loop& loop) {
    return static_cast<double>(multiplies_in(loop.histogram)) / instructions_in(loop.histogram);
  };
  const auto best = std::ranges::max_element(kernel.loops, {}, share);
  return best == kernel.loops.end() ? nullptr : &*best;
}

// Memory accesses, multiplies and barriers: what the PTX reader counts as well.
Json shared_words(const sass::Histogram& histogram) {
  Json words = Json::object();
  for (const auto& [name, count] : histogram) {
    const std::string_view stem = std::string_view(name).substr(0, name.find('.'));
    for (const std::string_view kept :
         {"LDS", "STS", "LDG", "STG", "LD", "ST", "LDL", "STL", "BAR"}) {
      if (stem == kept) words[name] = count;
    }
    if (std::ranges::find(kMultiplies, stem) != std::end(kMultiplies)) words[name] = count;
  }
  return words;
}

sass::PortUse ports_of(const sass::CubinKernel& kernel, const sass::Loop& loop, int sm) {
  std::vector<sass::Operation> body;
  for (const std::size_t at : loop.members) {
    body.push_back(sass::decode(kernel.code[at], at * sass::kInstructionBytes, sm));
  }
  return sass::ports_of_loop(body);
}

// The multiplying loop as ptxas wrote it, and patched, by the model of register ports; null for
// kernels that are not patched.
Json patch_of(const CodeImage& image, const std::string& entry) {
  if (image.patched.bytes.empty()) return nullptr;
  const sass::CubinFile before = sass::read_cubin(image.cubin);
  const sass::CubinFile after = sass::read_cubin(image.patched.bytes);
  const sass::CubinKernel &old_code = *before.find(entry), &new_code = *after.find(entry);
  const sass::Loop* loop = main_loop(old_code);
  if (!loop) return nullptr;
  int moved = 0;
  for (const std::size_t at : loop->members) {
    const sass::Instruction &x = old_code.code[at], &y = new_code.code[at];
    moved += x.low != y.low;  // control fields stand in the higher half
  }
  const sass::PortUse old_use = ports_of(old_code, *loop, before.sm);
  const sass::PortUse new_use = ports_of(new_code, *loop, before.sm);
  return {{"tag", "model"},
          {"moved", moved},
          {"cycles", {old_use.cycles, new_use.cycles}},
          {"bubbles", {old_use.bubbles, new_use.bubbles}},
          {"crowded_ffmas", {old_use.crowded, new_use.crowded}},
          {"reads_per_ffma", {old_use.reads_per_ffma(), new_use.reads_per_ffma()}}};
}

Json facts_of(const Kernel& kernel, const KernelRow& row, const sass::CubinKernel& cubin,
              const sass::PtxKernel& ptx) {
  Json facts = {
      {"kernel", kernel.name},
      {"config", row.variant},
      {"entry", row.entry},
      {"type", name_of(kernel.types)},
      {"idea", kernel.idea},
      {"block", {row.block.m, row.block.n, row.block.k}},
      {"threads", row.threads * row.threads_y},
      {"registers", cubin.registers},
      {"shared_bytes", cubin.shared_bytes + row.shared_bytes},
      {"stack_bytes", cubin.local_bytes},
      // NOPs pad the end of a kernel.
      {"instructions", instructions_in(cubin.histogram) - count_of(cubin.histogram, "NOP")},
      {"ptx", shared_words(ptx.histogram)},
      {"cubin", shared_words(cubin.histogram)},
      {"differences", sass::differences(ptx, cubin)},
      {"main_loop", nullptr}};
  if (!kernel.patched_from.empty())
    facts["patch"] = patch_of(image_of(kernel, row.entry), row.entry);
  if (const sass::Loop* loop = main_loop(cubin)) {
    facts["main_loop"] = {{"instructions", instructions_in(loop->histogram)},
                          {"multiplies", multiplies_in(loop->histogram)},
                          {"cubin", shared_words(loop->histogram)}};
  }
  return facts;
}

// "release 13.0, V13.0.88", from the comment that nvcc puts on top of its PTX.
std::string compiler_of(std::string_view ptx) {
  const std::size_t begin = ptx.find("release ");
  if (begin == ptx.npos) return "unknown";
  return "nvcc " + std::string(ptx.substr(begin, ptx.find('\n', begin) - begin));
}

void add_facts(const Kernel& kernel, Json& file) {
  const CodeImage* image = nullptr;
  sass::CubinFile cubin;
  std::vector<sass::PtxKernel> ptx;
  for (const KernelRow& row : kernel.rows) {
    if (const CodeImage& holds = image_of(kernel, row.entry); image != &holds) {
      image = &holds;
      cubin = sass::read_cubin(best_cubin(holds));
      ptx = sass::count_ptx(holds.ptx);
      file["compiler"] = compiler_of(holds.ptx);
      file["arch"] = holds.cubin_arch;
    }
    const sass::CubinKernel* compiled = cubin.find(row.entry);
    const auto text = std::ranges::find(ptx, row.entry, &sass::PtxKernel::name);
    if (!compiled || text == ptx.end()) {
      throw std::runtime_error(row.entry + " is not in its image.");
    }
    file["entries"].push_back(facts_of(kernel, row, *compiled, *text));
  }
}

Json facts_of_this_build() {
  Json file = {{"schema", "tessera.cubin/1"}, {"compiler", ""}, {"arch", ""}, {"entries", nullptr}};
  file["entries"] = Json::array();
  for (const Kernel& kernel : all_kernels()) {
    if (std::isdigit(static_cast<unsigned char>(kernel.name.front()))) add_facts(kernel, file);
  }
  return file;
}

// Another compiler may number registers otherwise: that is no fault of the file.
int compare_with(const char* path, const Json& built) {
  std::ifstream stream(path);
  const Json committed = Json::parse(read_with_current_names(stream));
  const bool same_compiler = committed["compiler"] == built["compiler"];
  if (!same_compiler) {
    std::printf("%s is of %s, this build of %s: not compared\n", path,
                committed["compiler"].dump().c_str(), built["compiler"].dump().c_str());
  }
  if (!same_compiler || committed == built) return 0;
  for (const Json& entry : built["entries"]) {
    const bool is_known =
        std::ranges::find(committed["entries"], entry) != committed["entries"].end();
    if (!is_known) std::printf("%s is out of date\n", entry["entry"].dump().c_str());
  }
  std::printf("Run: ladder_facts > %s && tools/tables/update_tables.py\n", path);
  return 1;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  try {
    const tessera::Json built = tessera::facts_of_this_build();
    if (argc == 3 && std::string_view(argv[1]) == "--check")
      return tessera::compare_with(argv[2], built);
    std::printf("%s\n", built.dump(1).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ladder_facts: %s\n", error.what());
    return 1;
  }
}
