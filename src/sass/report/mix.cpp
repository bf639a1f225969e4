#include "sass/report/mix.h"

#include <numeric>
#include <unordered_map>

namespace tessera::sass {
namespace {

struct Members {
  Kind kind;
  std::string_view stems;  // separated by blanks
};

constexpr Members kMembers[] = {
    {Kind::kFfma, "FFMA"},
    {Kind::kFp64, "DFMA DMUL DADD"},
    {Kind::kTensor, "HMMA IMMA DMMA QMMA HGMMA IGMMA QGMMA BMMA WARPGROUP"},
    {Kind::kFloat, "FMUL FADD FMNMX FSEL FCHK HADD2 HMUL2 HFMA2 HMNMX2 FSWZADD"},
    {Kind::kSharedLoad, "LDS LDSM"},
    {Kind::kSharedStore, "STS STSM"},
    {Kind::kGlobalLoad, "LDG"},
    {Kind::kGlobalStore, "STG"},
    {Kind::kCopy,
     "LDGSTS LDGDEPBAR DEPBAR SYNCS UTMALDG UTMASTG UTMAREDG UTMAPF UBLKCP UBLKPF UTMACMDFLUSH "
     "UTMACCTL ARRIVES"},
    {Kind::kLocal, "LDL STL"},
    {Kind::kAccess, "LD ST LDC ULDC ATOM ATOMG ATOMS RED REDG MEMBAR FENCE ERRBAR CCTL SHFL"},
    {Kind::kInteger,
     "IMAD IADD3 LEA LOP3 SHF IABS PRMT IMNMX VIADD VIMNMX VIADDMNMX POPC FLO BREV BMSK SGXT IDP "
     "UIADD3 ULEA ULOP3 USHF UIMAD UPRMT UPOPC UFLO UBREV UBMSK USGXT"},
    {Kind::kMove, "MOV SEL UMOV USEL S2R S2UR CS2R R2UR P2R R2P BMOV"},
    {Kind::kCompare, "ISETP FSETP DSETP PLOP3 UISETP UPLOP3 VOTE VOTEU MATCH REDUX ELECT HSETP2"},
    {Kind::kConvert, "I2F F2I F2F I2FP FRND F2FP MUFU I2I"},
    {Kind::kControl,
     "BRA BRX JMP CALL RET EXIT BSSY BSYNC BREAK WARPSYNC BAR YIELD NANOSLEEP UCGABAR_ARV "
     "UCGABAR_WAIT CGAERRBAR USETMAXREG ACQBULK PREEXIT"},
    {Kind::kNothing, "NOP"},
};

const std::unordered_map<std::string_view, Kind>& kinds() {
  static const auto table = [] {
    std::unordered_map<std::string_view, Kind> by_stem;
    for (const Members& members : kMembers) {
      std::string_view rest = members.stems;
      while (!rest.empty()) {
        const std::size_t end = rest.find(' ');
        by_stem.emplace(rest.substr(0, end), members.kind);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      }
    }
    return by_stem;
  }();
  return table;
}

// Whether the instruction only moves a value. Integer multiply-adds and packed FP16 operations may
// serve as moves.
bool is_move(std::string_view text) {
  return text.find("IMAD.MOV") != text.npos || text.find("-RZ, RZ, ") != text.npos;
}

}  // namespace

std::string_view stem_of(std::string_view name) { return name.substr(0, name.find('.')); }

std::string_view name_of(Kind kind) {
  static constexpr std::array<std::string_view, kKinds> kNames = {
      "FFMA",        "FP64",         "tensor core", "other FP32", "shared load",  "shared store",
      "global load", "global store", "copy",        "local",      "other access", "integer",
      "move",        "compare",      "convert",     "control",    "nothing"};
  return kNames[static_cast<int>(kind)];
}

Kind kind_of(const Instruction& instruction, const Operation& operation) {
  if (instruction.never_runs()) return Kind::kNothing;
  if (is_move(operation.text)) return Kind::kMove;
  const auto found = kinds().find(stem_of(operation.name));
  return found == kinds().end() ? Kind::kControl : found->second;
}

void Mix::add(const Instruction& instruction, const Operation& operation) {
  const auto kind = static_cast<int>(kind_of(instruction, operation));
  ++count[kind];
  ++names[kind][operation.name + (instruction.never_runs() ? " (never runs)" : "")];
}

int Mix::of(std::string_view name) const {
  int sum = 0;
  for (int i = 0; i < kKinds; ++i) {
    if (static_cast<Kind>(i) == Kind::kNothing && name != "NOP") continue;
    for (const auto& [found, times] : names[i]) {
      if (found == name || stem_of(found) == name) sum += times;
    }
  }
  return sum;
}

int Mix::total() const { return std::accumulate(count.begin(), count.end(), 0); }

}  // namespace tessera::sass
