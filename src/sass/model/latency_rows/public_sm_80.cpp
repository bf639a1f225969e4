// Written by tools/calibrate/mine_latencies from public repositories and the output of CUDA 13.0.88
// for sm_80.
#include "sass/model/latency_rows/tables.h"

namespace tessera::sass {
namespace {

using enum DependenceKind;
using enum RegisterFile;
using Class = LatencyClass;

constexpr LatencyRow kRows[] = {
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kHalf, 10},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kPacked, 17},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kDouble, 6},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kAny, 5},
    {kReadAfterWrite, kGeneral, Class::kWide, Class::kUnit, 15},
    {kReadAfterWrite, kGeneral, Class::kWide, Class::kAny, 6},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kHalf, 6},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kPacked, 5},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kDouble, 6},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kAny, 6},
    {kReadAfterWrite, kGeneral, Class::kHalf, Class::kMemory, 8},
    {kReadAfterWrite, kGeneral, Class::kPacked, Class::kFma, 4},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kAlu, 4},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kUnit, 16},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kAny, 16},
    {kReadAfterWrite, kGeneral, Class::kOther, Class::kUnit, 4},
    {kReadAfterWrite, kGeneral, Class::kOther, Class::kToUniform, 4},
    {kReadAfterWrite, kUniform, Class::kConstant, Class::kFma, 2},
    {kReadAfterWrite, kUniform, Class::kConstant, Class::kMemory, 2},
    {kReadAfterWrite, kUniform, Class::kConstant, Class::kAny, 2},
    {kReadAfterWrite, kUniform, Class::kMove, Class::kMove, 5},
    {kReadAfterWrite, kUniform, Class::kVote, Class::kAlu, 30},
    {kReadAfterWrite, kUniform, Class::kVote, Class::kUnit, 2},
    {kReadAfterWrite, kUniform, Class::kVote, Class::kOther, 2},
    {kReadAfterWrite, kUniform, Class::kVote, Class::kAny, 30},
    {kReadAfterWrite, kUniform, Class::kOther, Class::kFma, 12},
    {kReadAfterWrite, kUniform, Class::kOther, Class::kAlu, 6},
    {kReadAfterWrite, kUniform, Class::kOther, Class::kAny, 30},
    {kReadAfterWrite, kPredicate, Class::kOther, Class::kGuard, 17},
    {kReadAfterWrite, kPredicate, Class::kOther, Class::kOther, 13},
    {kReadAfterWrite, kPredicate, Class::kOther, Class::kAny, 17},
    {kReadAfterWrite, kUniformPredicate, Class::kUniform, Class::kAny, 6},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kDouble, 4},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kAny, 5},
    {kWriteAfterWrite, kGeneral, Class::kWide, Class::kAlu, 3},
    {kWriteAfterWrite, kGeneral, Class::kWide, Class::kMemory, 6},
    {kWriteAfterWrite, kGeneral, Class::kWide, Class::kAny, 6},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kDouble, 5},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kAny, 6},
    {kWriteAfterWrite, kGeneral, Class::kHalf, Class::kFma, 7},
    {kWriteAfterWrite, kGeneral, Class::kHalf, Class::kClock, 6},
    {kWriteAfterWrite, kGeneral, Class::kClock, Class::kAny, 13},
    {kWriteAfterWrite, kUniform, Class::kVote, Class::kOther, 2},
    {kWriteAfterWrite, kUniform, Class::kVote, Class::kAny, 30},
    {kWriteAfterWrite, kPredicate, Class::kOther, Class::kAlu, 21},
    {kWriteAfterWrite, kPredicate, Class::kOther, Class::kAny, 17},
};

}  // namespace

LatencyTable public_latencies_of_sm_80() { return {80, "CUDA 13.0.88", kRows, {}}; }

}  // namespace tessera::sass
