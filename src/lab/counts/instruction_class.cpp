// Sorts PTX forms by the part of the machine that they occupy: a table of opcodes, refined by type
// and state space.
#include <algorithm>
#include <array>
#include <utility>

#include "lab/counts/counts.h"

namespace tessera::lab {
namespace {

using Class = InstructionClass;

constexpr std::array<std::pair<Class, std::string_view>, 21> kNames = {{
    {Class::kFmaF32, "fma f32"},
    {Class::kFmaF64, "fma f64"},
    {Class::kFmaHalf, "fma half"},
    {Class::kFloat, "other float"},
    {Class::kSpecial, "special function"},
    {Class::kInteger, "integer"},
    {Class::kCompare, "compare"},
    {Class::kMove, "move"},
    {Class::kConvert, "convert"},
    {Class::kMatrix, "matrix"},
    {Class::kGlobalLoad, "global load"},
    {Class::kGlobalStore, "global store"},
    {Class::kSharedLoad, "shared load"},
    {Class::kSharedStore, "shared store"},
    {Class::kOtherAccess, "other access"},
    {Class::kAtomic, "atomic"},
    {Class::kCopy, "copy"},
    {Class::kBarrier, "barrier"},
    {Class::kWarp, "warp"},
    {Class::kControl, "control"},
    {Class::kOther, "other"},
}};

struct Opcode {
  std::string_view name;
  Class kind;
};

constexpr Opcode kOpcodes[] = {
    {"setp", Class::kCompare},
    {"set", Class::kCompare},
    {"selp", Class::kCompare},
    {"slct", Class::kCompare},
    {"testp", Class::kCompare},
    {"mov", Class::kMove},
    {"prmt", Class::kMove},
    {"cvt", Class::kConvert},
    {"cvta", Class::kConvert},
    {"isspacep", Class::kConvert},
    {"rcp", Class::kSpecial},
    {"sqrt", Class::kSpecial},
    {"rsqrt", Class::kSpecial},
    {"sin", Class::kSpecial},
    {"cos", Class::kSpecial},
    {"ex2", Class::kSpecial},
    {"lg2", Class::kSpecial},
    {"tanh", Class::kSpecial},
    {"atom", Class::kAtomic},
    {"red", Class::kAtomic},
    {"cp", Class::kCopy},
    {"prefetch", Class::kCopy},
    {"prefetchu", Class::kCopy},
    {"tensormap", Class::kCopy},
    {"discard", Class::kCopy},
    {"applypriority", Class::kCopy},
    {"bar", Class::kBarrier},
    {"barrier", Class::kBarrier},
    {"mbarrier", Class::kBarrier},
    {"membar", Class::kBarrier},
    {"fence", Class::kBarrier},
    {"griddepcontrol", Class::kBarrier},
    {"shfl", Class::kWarp},
    {"vote", Class::kWarp},
    {"match", Class::kWarp},
    {"redux", Class::kWarp},
    {"activemask", Class::kWarp},
    {"elect", Class::kWarp},
    {"movmatrix", Class::kWarp},
    {"bra", Class::kControl},
    {"brx", Class::kControl},
    {"ret", Class::kControl},
    {"exit", Class::kControl},
    {"call", Class::kControl},
    {"trap", Class::kControl},
    {"nanosleep", Class::kControl},
    {"ldmatrix", Class::kSharedLoad},
    {"stmatrix", Class::kSharedStore},
    {"mapa", Class::kInteger},
    {"getctarank", Class::kInteger},
    {"setmaxnreg", Class::kOther},
};

bool ends_with_type(std::string_view form, std::string_view types) {
  const std::string_view last = form.substr(form.rfind('.') + 1);
  for (std::size_t begin = 0; begin < types.size();) {
    const std::size_t end = std::min(types.find(' ', begin), types.size());
    if (last == types.substr(begin, end - begin)) return true;
    begin = end + 1;
  }
  return false;
}

Class access_class(const FormClass& form) {
  const bool load = form.kind == FormKind::kLoad;
  if (form.space == FormSpace::kGlobal) return load ? Class::kGlobalLoad : Class::kGlobalStore;
  if (form.space == FormSpace::kShared) return load ? Class::kSharedLoad : Class::kSharedStore;
  return Class::kOtherAccess;
}

}  // namespace

std::string_view name_of(InstructionClass kind) {
  const auto* at = std::find_if(kNames.begin(), kNames.end(),
                                [&](const auto& row) { return row.first == kind; });
  return at == kNames.end() ? "other" : at->second;
}

InstructionClass class_of(std::string_view form) {
  const FormClass known = classify(form);
  if (known.kind == FormKind::kLoad || known.kind == FormKind::kStore) return access_class(known);
  if (known.kind == FormKind::kMatrix) return Class::kMatrix;
  if (form.starts_with("bar.warp")) return Class::kWarp;
  const std::string_view name = form.substr(0, form.find('.'));
  if (name == "wgmma" || name == "wmma") return Class::kBarrier;  // fences, groups and their waits
  for (const Opcode& row : kOpcodes) {
    if (row.name == name) return row.kind;
  }
  if (ends_with_type(form, "f32"))
    return known.kind == FormKind::kFma ? Class::kFmaF32 : Class::kFloat;
  if (ends_with_type(form, "f64"))
    return known.kind == FormKind::kFma ? Class::kFmaF64 : Class::kFloat;
  if (ends_with_type(form, "f16 f16x2 bf16 bf16x2")) {
    return known.kind == FormKind::kFma ? Class::kFmaHalf : Class::kFloat;
  }
  const bool is_typed = ends_with_type(
      form, "u8 s8 b8 u16 s16 b16 u32 s32 b32 u64 s64 b64 b128 pred u16x2 s16x2 u32.u32 s32.s32");
  return is_typed ? Class::kInteger : Class::kOther;
}

}  // namespace tessera::lab
