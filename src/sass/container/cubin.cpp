#include "sass/container/cubin.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "sass/container/elf.h"
#include "sass/container/loops.h"

namespace tessera::sass {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("Damaged cubin: " + what);
}

// A record of a .nv.info section: a format byte, an attribute byte, and 16 bits. The 16 bits hold
// the value or, in format 4, the length of the payload that follows them.
constexpr int kFrameSize = 0x11, kRegisterCount = 0x2f, kMaxThreads = 0x05;
constexpr int kPayloadFormat = 4;

struct Record {
  int attribute = 0;
  std::span<const std::byte> payload;
};

std::vector<Record> records_of(std::span<const std::byte> section) {
  std::vector<Record> records;
  for (std::uint64_t at = 0; at < section.size();) {
    const int format = number_at<std::uint8_t>(section, at);
    const std::uint64_t value = number_at<std::uint16_t>(section, at + 2);
    const std::uint64_t length = format == kPayloadFormat ? value : 0;
    if (length > section.size() - at - 4) fail("a record of .nv.info leaves its section.");
    records.push_back({number_at<std::uint8_t>(section, at + 1), section.subspan(at + 4, length)});
    at += 4 + length;
  }
  return records;
}

// Reads the records of the file's shared .nv.info section. A record holds a symbol, which names a
// kernel, and a value.
void read_shared_records(const Elf& elf, CubinKernel& kernel) {
  const Section* info = elf.find(".nv.info");
  if (!info) fail("no section .nv.info.");
  for (const Record& record : records_of(info->bytes)) {
    if (record.attribute != kFrameSize && record.attribute != kRegisterCount) continue;
    const auto symbol = number_at<std::uint32_t>(record.payload, 0);
    const auto value = number_at<std::uint32_t>(record.payload, 4);
    if (symbol >= elf.symbols.size()) fail("a record of .nv.info names no symbol.");
    if (elf.symbols[symbol] != kernel.name) continue;
    if (record.attribute == kFrameSize) kernel.local_bytes = value;
    if (record.attribute == kRegisterCount) kernel.registers = static_cast<int>(value & 0xFFFF);
  }
}

void read_own_records(const Elf& elf, CubinKernel& kernel) {
  const Section* info = elf.find(".nv.info." + kernel.name);
  if (!info) return;
  for (const Record& record : records_of(info->bytes)) {
    if (record.attribute != kMaxThreads) continue;
    std::uint64_t threads = 1;
    for (const std::uint64_t at : {0, 4, 8}) {
      threads =
          std::min<std::uint64_t>(threads, 1 << 16) * number_at<std::uint32_t>(record.payload, at);
    }
    kernel.max_threads = static_cast<int>(std::min<std::uint64_t>(threads, 1 << 16));
  }
}

// HW: from sm_90 on the first 1024 bytes of a block's shared memory belong to the system. ptxas
// counts them in the size of the kernel's section but not in the size that it reports.
std::uint64_t shared_bytes_of(const Elf& elf, const std::string& kernel) {
  constexpr std::uint64_t kReserved = 1024;
  const Section* shared = elf.find(".nv.shared." + kernel);
  if (!shared) return 0;
  const std::uint64_t reserved = elf.sm >= 90 ? kReserved : 0;
  return shared->size - std::min(reserved, shared->size);
}

std::vector<Instruction> code_of(std::span<const std::byte> text) {
  if (text.size() % kInstructionBytes != 0) fail("code is not a whole number of instructions.");
  std::vector<Instruction> code;
  for (std::uint64_t at = 0; at < text.size(); at += kInstructionBytes) {
    code.push_back({number_at<std::uint64_t>(text, at), number_at<std::uint64_t>(text, at + 8)});
  }
  return code;
}

void count(const Instruction& instruction, Histogram& histogram) {
  if (!instruction.never_runs()) ++histogram[name_of(instruction)];
}

// Where control goes after the instruction at `index`.
Step step_at(const CubinKernel& kernel, std::size_t index, int sm) {
  const Instruction& instruction = kernel.code[index];
  const std::string name = name_of(instruction);
  const bool always = instruction.always_runs();
  if (name == "EXIT" || name == "RET") return {std::nullopt, !always};
  const auto target = branch_target(instruction, index * kInstructionBytes, sm);
  if (!target) return {};
  const auto size = static_cast<std::int64_t>(kernel.code.size() * kInstructionBytes);
  if (*target < 0 || *target >= size || *target % kInstructionBytes != 0) {
    fail("a branch of " + kernel.name + " leads to no instruction.");
  }
  return {static_cast<std::size_t>(*target) / kInstructionBytes, !always};
}

std::vector<Loop> loops_of(const CubinKernel& kernel, int sm) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < kernel.code.size(); ++i) steps.push_back(step_at(kernel, i, sm));
  std::vector<Loop> loops;
  for (const NaturalLoop& natural : find_loops(steps)) {
    Loop loop{natural.head * kInstructionBytes,
              (natural.members.back() + 1) * kInstructionBytes,
              {},
              natural.members};
    for (const std::size_t member : natural.members) count(kernel.code[member], loop.histogram);
    loops.push_back(std::move(loop));
  }
  return loops;
}

// Returns the source line of each instruction, from a table that lists only the first instruction
// of each line.
std::vector<SourceLine> lines_of(const CubinKernel& kernel, const LineTable& table) {
  const auto found = table.find(kernel.name);
  if (found == table.end()) return {};
  std::vector<SourceLine> lines(kernel.code.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto next = found->second.upper_bound(i * kInstructionBytes);
    if (next != found->second.begin()) lines[i] = std::prev(next)->second;
  }
  return lines;
}

// Source lines are optional: if they cannot be read, the kernel has none.
LineTable line_table_of(const Elf& elf) {
  try {
    return read_source_lines(elf);
  } catch (const std::runtime_error&) {
    return {};
  }
}

}  // namespace

const CubinKernel* CubinFile::find(std::string_view kernel) const {
  for (const CubinKernel& candidate : kernels) {
    if (candidate.name == kernel) return &candidate;
  }
  return nullptr;
}

CubinFile read_cubin(std::span<const std::byte> file) {
  constexpr std::string_view kText = ".text.";
  const Elf elf = read_elf(file);
  const LineTable lines = line_table_of(elf);
  CubinFile cubin{elf.sm, elf.abi, {}};
  for (const Section& section : elf.sections) {
    if (!section.name.starts_with(kText)) continue;
    CubinKernel kernel;
    kernel.name = section.name.substr(kText.size());
    read_shared_records(elf, kernel);
    read_own_records(elf, kernel);
    kernel.shared_bytes = shared_bytes_of(elf, kernel.name);
    if (!section.bytes.empty()) {
      kernel.code_offset = static_cast<std::uint64_t>(section.bytes.data() - file.data());
    }
    kernel.code = code_of(section.bytes);
    kernel.lines = lines_of(kernel, lines);
    for (const Instruction& instruction : kernel.code) count(instruction, kernel.histogram);
    kernel.loops = loops_of(kernel, elf.sm);
    cubin.kernels.push_back(std::move(kernel));
  }
  return cubin;
}

std::vector<std::byte> with_code(std::span<const std::byte> file, const CubinKernel& kernel,
                                 std::span<const Instruction> code) {
  if (code.size() != kernel.code.size()) {
    throw std::invalid_argument("A kernel's code keeps its length.");
  }
  static_assert(sizeof(Instruction) == kInstructionBytes);
  const std::span<const std::byte> bytes = std::as_bytes(code);
  if (kernel.code_offset > file.size() || bytes.size() > file.size() - kernel.code_offset) {
    throw std::invalid_argument("The kernel's code lies outside of this file.");
  }
  std::vector<std::byte> changed(file.begin(), file.end());
  std::copy(bytes.begin(), bytes.end(), changed.begin() + kernel.code_offset);
  return changed;
}

}  // namespace tessera::sass
