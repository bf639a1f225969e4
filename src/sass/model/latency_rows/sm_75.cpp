// Written by tools/calibrate/mine_latencies from the output of CUDA 13.0.88 for sm_75.
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
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kAlu, 5},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kMemory, 8},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kControl, 6},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kAny, 20},
    {kReadAfterWrite, kGeneral, Class::kWide, Class::kFma, 4},
    {kReadAfterWrite, kGeneral, Class::kWide, Class::kAlu, 5},
    {kReadAfterWrite, kGeneral, Class::kWide, Class::kAny, 6},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kFma, 5},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kWide, 5},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kWideAddend, 5},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kAlu, 4},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kMemory, 8},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kUnit, 6},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kAny, 9},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kFma, 7},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kDouble, 10},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kMemory, 19},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kAny, 20},
    {kReadAfterWrite, kGeneral, Class::kDouble, Class::kAny, 20},
    {kReadAfterWrite, kUniform, Class::kUniform, Class::kFma, 6},
    {kReadAfterWrite, kUniform, Class::kUniform, Class::kAlu, 6},
    {kReadAfterWrite, kUniform, Class::kUniform, Class::kUniform, 4},
    {kReadAfterWrite, kUniform, Class::kUniform, Class::kMove, 7},
    {kReadAfterWrite, kUniform, Class::kUniform, Class::kAny, 9},
    {kReadAfterWrite, kUniform, Class::kConstant, Class::kAny, 2},
    {kReadAfterWrite, kUniform, Class::kMove, Class::kMemory, 2},
    {kReadAfterWrite, kUniform, Class::kMove, Class::kUniform, 2},
    {kReadAfterWrite, kUniform, Class::kMove, Class::kAny, 4},
    {kReadAfterWrite, kPredicate, Class::kWide, Class::kFma, 8},
    {kReadAfterWrite, kPredicate, Class::kWide, Class::kAny, 9},
    {kReadAfterWrite, kPredicate, Class::kAlu, Class::kFma, 5},
    {kReadAfterWrite, kPredicate, Class::kAlu, Class::kAlu, 4},
    {kReadAfterWrite, kPredicate, Class::kAlu, Class::kAny, 12},
    {kReadAfterWrite, kUniformPredicate, Class::kUniform, Class::kAlu, 6},
    {kReadAfterWrite, kUniformPredicate, Class::kUniform, Class::kUniform, 4},
    {kReadAfterWrite, kUniformPredicate, Class::kUniform, Class::kAny, 11},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kFma, 2},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kWide, 4},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kAlu, 2},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kClock, 6},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kAny, 8},
    {kWriteAfterWrite, kGeneral, Class::kWide, Class::kFma, 4},
    {kWriteAfterWrite, kGeneral, Class::kWide, Class::kAlu, 5},
    {kWriteAfterWrite, kGeneral, Class::kWide, Class::kAny, 6},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kFma, 2},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kWide, 5},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kAlu, 2},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kClock, 6},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kUnit, 6},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kAny, 8},
    {kWriteAfterWrite, kGeneral, Class::kClock, Class::kFma, 6},
    {kWriteAfterWrite, kGeneral, Class::kClock, Class::kAlu, 7},
    {kWriteAfterWrite, kGeneral, Class::kClock, Class::kClock, 15},
    {kWriteAfterWrite, kGeneral, Class::kClock, Class::kDouble, 10},
    {kWriteAfterWrite, kGeneral, Class::kClock, Class::kMemory, 8},
    {kWriteAfterWrite, kGeneral, Class::kClock, Class::kAny, 19},
    {kWriteAfterWrite, kGeneral, Class::kDouble, Class::kAny, 19},
    {kWriteAfterWrite, kUniform, Class::kUniform, Class::kUniform, 2},
    {kWriteAfterWrite, kUniform, Class::kUniform, Class::kAny, 7},
    {kWriteAfterWrite, kUniform, Class::kConstant, Class::kAny, 2},
    {kWriteAfterWrite, kUniform, Class::kMove, Class::kAny, 2},
    {kWriteAfterWrite, kPredicate, Class::kWide, Class::kAny, 9},
    {kWriteAfterWrite, kPredicate, Class::kAlu, Class::kAlu, 4},
    {kWriteAfterWrite, kPredicate, Class::kAlu, Class::kAny, 12},
    {kWriteAfterWrite, kUniformPredicate, Class::kUniform, Class::kAny, 4},
};

constexpr StallRow kStalls[] = {
    {"BAR", 5}, {"BSYNC", 5}, {"CALL", 5}, {"EXIT", 5}, {"RET", 5},
};

}  // namespace

LatencyTable latencies_of_sm_75() { return {75, "CUDA 13.0.88", kRows, kStalls}; }

}  // namespace tessera::sass
