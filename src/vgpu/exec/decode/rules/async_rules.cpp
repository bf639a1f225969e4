// Rules of cp.async and its groups, of mbarrier objects, and of createpolicy.
#include <fmt/format.h>

#include <array>

#include "vgpu/async/operations.h"
#include "vgpu/exec/decode/async_operands.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu {

Value async_address(Decoder& decoder, const ptx::Operand& operand, Window window) {
  std::int64_t offset = 0;
  bool wide = true;
  Value base = decoder.address(operand, window, offset, wide);
  if (!wide) {
    const Value widened = decoder.temporary(Scalar::k64);
    decoder.emit("mov.pack.b64.2", {widened, base, decoder.constant(Scalar::k32, 0)});
    base = widened;
  }
  if (offset == 0) return base;
  const Value sum = decoder.temporary(Scalar::k64);
  const Value more = decoder.constant(Scalar::k64, static_cast<std::uint64_t>(offset));
  decoder.emit("add.u64", {sum, base, more});
  return sum;
}

Window shared_or_generic(const ptx::Instruction& instruction) {
  const bool shared = has_modifier(instruction, "shared") ||
                      has_modifier(instruction, "shared::cta") ||
                      has_modifier(instruction, "shared::cluster");
  return shared ? Window::kShared : Window::kGeneric;
}

namespace {

bool is_hint(const std::string& modifier) { return modifier.starts_with("L2::"); }

// ---- mbarrier -----------------------------------------------------------------------------------

std::uint32_t mbarrier_flags(const ptx::Instruction& instruction) {
  return has_modifier(instruction, "shared::cluster") ? kInCluster : 0;
}

// Returns the flags of an instruction that may be .relaxed. The only other order that it may name
// is `strong`.
std::uint32_t order_flags(Decoder& decoder, const ptx::Instruction& instruction,
                          const char* strong) {
  for (const char* order : {"acquire", "release", "acq_rel"}) {
    if (has_modifier(instruction, order) && std::string_view(order) != strong) {
      decoder.unsupported(fmt::format(".{} is none of .{}, .relaxed", order, strong));
    }
  }
  return has_modifier(instruction, "relaxed") ? kOrdersNothing : 0;
}

// Decodes mbarrier.{init,inval,expect_tx,complete_tx} [object]{, number}.
void decode_simple(Decoder& decoder, const ptx::Instruction& instruction, Run run) {
  const auto& operands = instruction.operands;
  const Value object = async_address(decoder, operands.at(0), shared_or_generic(instruction));
  std::array<Value, 2> values{object, kNoValue};
  if (operands.size() == 2) values[1] = decoder.read(operands[1], Scalar::k32);
  DraftOp& op = decoder.emit_run(run, std::span(values.data(), operands.size()), 0);
  op.op.flags = mbarrier_flags(instruction);
}

// Decodes mbarrier.arrive[_drop][.expect_tx|.noComplete] state|_, [object]{, number}.
void decode_arrive(Decoder& decoder, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const std::size_t at = operands.at(0).kind == ptx::OperandKind::kAddress ? 0 : 1;
  const bool returns = at == 1 && operands[0].kind != ptx::OperandKind::kSink;
  std::uint32_t flags = mbarrier_flags(instruction);
  if (returns) flags |= kReturnsState;
  if (has_modifier(instruction, "arrive_drop")) flags |= kDrops;
  if (has_modifier(instruction, "noComplete")) flags |= kNoComplete;
  if (has_modifier(instruction, "expect_tx")) flags |= kExpects;
  flags |= order_flags(decoder, instruction, "release");
  if ((flags & kNoComplete) && (flags & kOrdersNothing)) {
    decoder.unsupported(".noComplete goes with .release alone");
  }
  if (returns && (flags & kInCluster)) {
    decoder.unsupported("an arrival at another CTA's mbarrier returns no state");
  }
  const Value object = async_address(decoder, operands.at(at), shared_or_generic(instruction));
  Value count = decoder.constant(Scalar::k32, 1), bytes = decoder.constant(Scalar::k32, 0);
  if (operands.size() > at + 1) {
    (flags & kExpects ? bytes : count) = decoder.read(operands[at + 1], Scalar::k32);
  }
  const Value state =
      returns ? decoder.write(operands[0], Scalar::k64) : decoder.temporary(Scalar::k64);
  DraftOp& op = decoder.emit_run(mbarrier_arrive, std::array{state, object, count, bytes}, 1);
  op.op.flags = flags;
}

// Decodes mbarrier.{test_wait,try_wait}[.parity] done, [object], state|parity{, time}.
void decode_wait(Decoder& decoder, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool parity = has_modifier(instruction, "parity");
  const Value object = async_address(decoder, operands.at(1), shared_or_generic(instruction));
  const Value phase = decoder.read(operands.at(2), parity ? Scalar::k32 : Scalar::k64);
  const Value done = decoder.write(operands[0], Scalar::kPredicate);
  decoder.control(ControlKind::kMbarrierWait, std::array{done, object, phase}, 1);
  decoder.control_op().op.flags =
      (parity ? kParity : 0) | order_flags(decoder, instruction, "acquire");
}

void decode_mbarrier(Decoder& decoder, const ptx::Instruction& instruction) {
  const std::string& what = instruction.modifiers.at(0);
  if (what == "init") return decode_simple(decoder, instruction, mbarrier_init);
  if (what == "inval") return decode_simple(decoder, instruction, mbarrier_inval);
  if (what == "expect_tx") return decode_simple(decoder, instruction, mbarrier_expect_tx);
  if (what == "complete_tx") return decode_simple(decoder, instruction, mbarrier_complete_tx);
  if (what == "arrive" || what == "arrive_drop") return decode_arrive(decoder, instruction);
  if (what == "test_wait" || what == "try_wait") return decode_wait(decoder, instruction);
  if (what != "pending_count") decoder.unsupported();
  const Value state = decoder.read(instruction.operands.at(1), Scalar::k64);
  const Value count = decoder.write(instruction.operands.at(0), Scalar::k32);
  decoder.emit_run(mbarrier_pending_count, std::array{count, state}, 1);
}

// ---- cp.async -----------------------------------------------------------------------------------

// Decodes cp.async.{ca,cg}.shared.global{hints} [to], [from], bytes{, bytes to read|ignore}{,
// policy}.
void decode_copy(Decoder& decoder, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const std::int64_t bytes = operands.at(2).integer;
  const bool caches_all = has_modifier(instruction, "ca");
  if (operands[2].kind != ptx::OperandKind::kInteger ||
      !(bytes == 16 || (caches_all && (bytes == 4 || bytes == 8)))) {
    decoder.unsupported("a copy has 4, 8 or 16 bytes with .ca, 16 with .cg");
  }
  bool policy = false;
  for (const auto& modifier : instruction.modifiers) {
    policy |= modifier == "L2::cache_hint";
    const bool known = modifier == "async" || modifier == "ca" || modifier == "cg" ||
                       modifier == "shared" || modifier == "shared::cta" || modifier == "global";
    if (!known && !is_hint(modifier)) decoder.unsupported();
  }
  std::array<Value, 3> values{async_address(decoder, operands[0], Window::kShared),
                              async_address(decoder, operands[1], Window::kGlobal), kNoValue};
  std::uint32_t flags = 0;
  const std::size_t count = operands.size() - (policy ? 1 : 0);
  if (count == 4) {
    const bool ignores = operands[3].kind == ptx::OperandKind::kRegister &&
                         decoder.declared(operands[3]) == Scalar::kPredicate;
    flags = ignores ? kIgnoresSource : kHasSourceBytes;
    values[2] = decoder.read(operands[3], ignores ? Scalar::kPredicate : Scalar::k32);
    if (operands[3].negate) {
      const Value inverted = decoder.temporary(Scalar::kPredicate);
      decoder.emit("not.pred", {inverted, values[2]});
      values[2] = inverted;
    }
  }
  DraftOp& op = decoder.emit_run(copy_async, std::span(values.data(), count - 1), 0);
  op.op.immediate = bytes;
  op.op.flags = flags;
}

// Decodes cp.async.mbarrier.arrive[.noinc][.shared].b64 [object].
void decode_copy_arrive(Decoder& decoder, const ptx::Instruction& instruction) {
  const Value object =
      async_address(decoder, instruction.operands.at(0), shared_or_generic(instruction));
  DraftOp& op = decoder.emit_run(copy_async_arrive, std::array{object}, 0);
  if (has_modifier(instruction, "noinc")) op.op.flags = kNoIncrement;
}

void decode_cp(Decoder& decoder, const ptx::Instruction& instruction) {
  if (!has_modifier(instruction, "async")) decoder.unsupported();
  if (has_modifier(instruction, "bulk")) return decode_bulk(decoder, instruction);
  const std::string& what = instruction.modifiers.at(1);
  if (what == "commit_group") return void(decoder.emit_run(copy_async_commit, {}, 0));
  if (what == "wait_all") return void(decoder.emit_run(copy_async_wait_all, {}, 0));
  if (what == "wait_group") {
    decoder.emit_run(copy_async_wait, {}, 0).op.immediate = instruction.operands.at(0).integer;
    return;
  }
  if (what == "mbarrier") return decode_copy_arrive(decoder, instruction);
  decode_copy(decoder, instruction);
}

// Decodes createpolicy.* d, ...: a cache policy. No cache is modelled, so any value will do.
void decode_createpolicy(Decoder& decoder, const ptx::Instruction& instruction) {
  const Value to = decoder.write(instruction.operands.at(0), Scalar::k64);
  decoder.emit("mov.b64", {to, decoder.constant(Scalar::k64, 0)});
}

constexpr std::array kRules = {RuleEntry{"mbarrier", decode_mbarrier}, RuleEntry{"cp", decode_cp},
                               RuleEntry{"createpolicy", decode_createpolicy}};

}  // namespace

std::span<const RuleEntry> async_rules() { return kRules; }

}  // namespace tessera::vgpu
