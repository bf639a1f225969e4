// Written by tools/calibrate/mine_latencies from the output of CUDA 13.0.88 for sm_86.
#include "sass/model/latency_rows/tables.h"

namespace tessera::sass {
namespace {

using enum DependenceKind;
using enum RegisterFile;
using Class = LatencyClass;

constexpr LatencyRow kRows[] = {
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kFma, 4},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kWide, 4},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kWideAddend, 4},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kUnit, 4},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kControl, 4},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kAny, 5},
    {kReadAfterWrite, kGeneral, Class::kWide, Class::kFma, 4},
    {kReadAfterWrite, kGeneral, Class::kWide, Class::kAlu, 5},
    {kReadAfterWrite, kGeneral, Class::kWide, Class::kAny, 6},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kAlu, 4},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kUnit, 4},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kOther, 4},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kAny, 5},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kAny, 6},
    {kReadAfterWrite, kGeneral, Class::kDouble, Class::kAny, 6},
    {kReadAfterWrite, kGeneral, Class::kOther, Class::kAlu, 4},
    {kReadAfterWrite, kGeneral, Class::kOther, Class::kOther, 4},
    {kReadAfterWrite, kGeneral, Class::kOther, Class::kAny, 5},
    {kReadAfterWrite, kUniform, Class::kUniform, Class::kFma, 6},
    {kReadAfterWrite, kUniform, Class::kUniform, Class::kAlu, 6},
    {kReadAfterWrite, kUniform, Class::kUniform, Class::kUniform, 4},
    {kReadAfterWrite, kUniform, Class::kUniform, Class::kAny, 9},
    {kReadAfterWrite, kUniform, Class::kConstant, Class::kAny, 2},
    {kReadAfterWrite, kUniform, Class::kMove, Class::kFma, 2},
    {kReadAfterWrite, kUniform, Class::kMove, Class::kUniform, 2},
    {kReadAfterWrite, kUniform, Class::kMove, Class::kAny, 4},
    {kReadAfterWrite, kPredicate, Class::kWide, Class::kFma, 8},
    {kReadAfterWrite, kPredicate, Class::kWide, Class::kAny, 9},
    {kReadAfterWrite, kPredicate, Class::kAlu, Class::kFma, 5},
    {kReadAfterWrite, kPredicate, Class::kAlu, Class::kAlu, 4},
    {kReadAfterWrite, kPredicate, Class::kAlu, Class::kOther, 4},
    {kReadAfterWrite, kPredicate, Class::kAlu, Class::kAny, 13},
    {kReadAfterWrite, kUniformPredicate, Class::kUniform, Class::kAlu, 6},
    {kReadAfterWrite, kUniformPredicate, Class::kUniform, Class::kUniform, 4},
    {kReadAfterWrite, kUniformPredicate, Class::kUniform, Class::kAny, 11},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kFma, 2},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kWide, 4},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kAlu, 1},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kAny, 5},
    {kWriteAfterWrite, kGeneral, Class::kWide, Class::kFma, 4},
    {kWriteAfterWrite, kGeneral, Class::kWide, Class::kAlu, 5},
    {kWriteAfterWrite, kGeneral, Class::kWide, Class::kAny, 6},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kFma, 1},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kAlu, 2},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kOther, 4},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kAny, 5},
    {kWriteAfterWrite, kGeneral, Class::kClock, Class::kAny, 6},
    {kWriteAfterWrite, kGeneral, Class::kDouble, Class::kAny, 6},
    {kWriteAfterWrite, kGeneral, Class::kOther, Class::kAlu, 4},
    {kWriteAfterWrite, kGeneral, Class::kOther, Class::kOther, 4},
    {kWriteAfterWrite, kGeneral, Class::kOther, Class::kAny, 5},
    {kWriteAfterWrite, kUniform, Class::kUniform, Class::kUniform, 2},
    {kWriteAfterWrite, kUniform, Class::kUniform, Class::kAny, 5},
    {kWriteAfterWrite, kUniform, Class::kConstant, Class::kAny, 2},
    {kWriteAfterWrite, kUniform, Class::kMove, Class::kAny, 2},
    {kWriteAfterWrite, kPredicate, Class::kWide, Class::kAny, 9},
    {kWriteAfterWrite, kPredicate, Class::kAlu, Class::kAlu, 2},
    {kWriteAfterWrite, kPredicate, Class::kAlu, Class::kDouble, 10},
    {kWriteAfterWrite, kPredicate, Class::kAlu, Class::kAny, 13},
    {kWriteAfterWrite, kUniformPredicate, Class::kUniform, Class::kAny, 4},
};

constexpr StallRow kStalls[] = {
    {"BSYNC", 5},
    {"DEPBAR", 4},
    {"EXIT", 5},
    {"RET", 6},
};

}  // namespace

LatencyTable latencies_of_sm_86() { return {86, "CUDA 13.0.88", kRows, kStalls}; }

}  // namespace tessera::sass
