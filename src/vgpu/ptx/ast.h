// A PTX module as data: the output of the parser and the input of the decoder. Names are resolved
// so far that there are no scopes: a register or label of an inner { } block gets a unique name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::vgpu::ptx {

// A fundamental type: ".f32" is {kFloat, 32}, ".b128" is {kBits, 128}, ".pred" is {kPred, 1}.
enum class TypeKind : std::uint8_t {
  kNone,
  kPred,
  kBits,
  kUnsigned,
  kSigned,
  kFloat,
  kFloat16x2,
  kBfloat16,
  kBfloat16x2,
  kTf32,
  kE4m3,
  kE5m2,
  kOther,
};
struct Type {
  TypeKind kind = TypeKind::kNone;
  std::uint16_t bits = 0;
  bool operator==(const Type&) const = default;
};

enum class Space : std::uint8_t { kGeneric, kRegister, kGlobal, kShared, kLocal, kParam, kConst };

enum class OperandKind : std::uint8_t {
  kRegister,  // name; %tid.x and other special registers too (name includes the component)
  kInteger,   // integer
  kFloat32,   // bits (0f...)
  kFloat64,   // bits (0d...), and decimal literals
  kSymbol,    // name of a variable, function or label; integer: + offset
  kAddress,   // [name + integer], [integer]; name may be a register or a variable
  kVector,    // {a, b, c, d}: elements
  kSink,      // _
};
struct Operand {
  OperandKind kind = OperandKind::kSink;
  std::string name;
  std::int64_t integer = 0;
  std::uint64_t bits = 0;
  bool negate = false;               // !%p as a source predicate
  bool address_is_register = false;  // kAddress: name is a register
  std::string second;                // d|p: the second destination; a|b of shfl/match/setp
  std::vector<Operand> elements;     // kVector; kAddress with a vector inside ([a, {x, y}])
};

// A source line from .loc. For inlined code, `caller` refers to the line of the call.
struct SourceLocation {
  int file = 0, line = 0, column = 0;  // file indexes Module::files
  int caller = -1;                     // index in Function::locations; -1: not inlined
};

struct Instruction {
  int line = 0;  // in the PTX text, from 1
  SourceLocation source;
  std::string guard;  // predicate register, empty if none
  bool guard_negated = false;
  std::string opcode;                  // "ld", "fma", "wmma"
  std::vector<std::string> modifiers;  // in order, without dots: {"global", "nc", "v4", "f32"}
  std::vector<Operand> operands;       // in order; for call: see CallSite
  std::string form() const;            // "ld.global.nc.v4.f32"
};

struct Label {
  std::string name;
  std::size_t instruction = 0;  // index of the instruction that it precedes
};

// An initial value that is an address: the 8 bytes at `offset` hold the address of a variable or
// function, plus `addend`.
struct InitialAddress {
  std::size_t offset = 0;
  std::string symbol;
  std::int64_t addend = 0;
};

struct Variable {
  Space space = Space::kRegister;
  Type type;
  int align = 0;  // bytes; 0: the type's own
  std::string name;
  std::uint64_t count = 1;      // elements; 0 for an unsized extern shared array
  std::vector<std::byte> init;  // empty: none
  std::vector<InitialAddress> addresses;
  bool is_extern = false;
  bool is_pointer = false;  // .ptr: a parameter that holds an address
  int line = 0;
};

// A labelled table, such as a .branchtargets or .calltargets list.
struct BranchTable {
  std::string name;
  std::vector<std::string> labels;
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool has_body = false;
  std::vector<Variable> params;     // .param (or .reg for .func) in order
  std::vector<Variable> returns;    // results of a .func
  std::vector<Variable> variables;  // registers, local, shared and param variables of the body
  std::vector<Instruction> body;
  std::vector<SourceLocation> locations;  // every .loc of the body
  std::vector<Label> labels;
  std::vector<BranchTable> tables;
  int max_threads = 0;       // .maxntid product, 0 if none
  int required_threads = 0;  // .reqntid product, 0 if none
  int cluster[3] = {};       // .reqnctapercluster, 0 if none
  int max_cluster_rank = 0;  // .maxclusterrank, 0 if none
  bool explicit_cluster = false;
  int line = 0;
};

struct Module {
  int version_major = 0, version_minor = 0;
  std::string target;  // "sm_90a"
  int address_size = 64;
  std::vector<std::string> files;   // by .file number; index 0 unused
  std::vector<Variable> variables;  // module scope: global, const, shared
  std::vector<Function> functions;
};

// call (ret), name, (args): operands[0] is the vector of returns (may be empty), operands[1] the
// symbol of the callee, operands[2] the vector of arguments (may be empty).

}  // namespace tessera::vgpu::ptx
