// Written by tools/calibrate/mine_latencies from public repositories and the output of CUDA 13.0.88
// for sm_90.
#include "sass/model/latency_rows/tables.h"

namespace tessera::sass {
namespace {

using enum DependenceKind;
using enum RegisterFile;
using Class = LatencyClass;

constexpr LatencyRow kRows[] = {
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kHalf, 7},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kAny, 6},
    {kReadAfterWrite, kGeneral, Class::kWide, Class::kAny, 6},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kHalf, 6},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kPacked, 5},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kAny, 6},
    {kReadAfterWrite, kGeneral, Class::kHalf, Class::kPacked, 10},
    {kReadAfterWrite, kGeneral, Class::kHalf, Class::kAny, 10},
    {kReadAfterWrite, kGeneral, Class::kPacked, Class::kFma, 4},
    {kReadAfterWrite, kGeneral, Class::kPacked, Class::kAlu, 5},
    {kReadAfterWrite, kGeneral, Class::kPacked, Class::kHalf, 6},
    {kReadAfterWrite, kGeneral, Class::kPacked, Class::kUnit, 5},
    {kReadAfterWrite, kGeneral, Class::kPacked, Class::kAny, 10},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kAlu, 4},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kAny, 10},
    {kReadAfterWrite, kGeneral, Class::kOther, Class::kControl, 4},
    {kReadAfterWrite, kUniform, Class::kToUniform, Class::kAny, 13},
    {kReadAfterWrite, kUniform, Class::kConstant, Class::kMemory, 2},
    {kReadAfterWrite, kUniform, Class::kConstant, Class::kAny, 2},
    {kReadAfterWrite, kUniform, Class::kMove, Class::kAny, 8},
    {kReadAfterWrite, kUniform, Class::kVote, Class::kOther, 2},
    {kReadAfterWrite, kUniform, Class::kVote, Class::kAny, 13},
    {kReadAfterWrite, kUniform, Class::kOther, Class::kAlu, 6},
    {kReadAfterWrite, kPredicate, Class::kDouble, Class::kAny, 14},
    {kReadAfterWrite, kPredicate, Class::kOther, Class::kOther, 13},
    {kReadAfterWrite, kPredicate, Class::kOther, Class::kAny, 17},
    {kReadAfterWrite, kUniformPredicate, Class::kUniform, Class::kAny, 11},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kFma, 1},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kAny, 6},
    {kWriteAfterWrite, kGeneral, Class::kWide, Class::kAny, 6},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kDouble, 3},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kAny, 6},
    {kWriteAfterWrite, kGeneral, Class::kHalf, Class::kAny, 10},
    {kWriteAfterWrite, kGeneral, Class::kPacked, Class::kHalf, 6},
    {kWriteAfterWrite, kGeneral, Class::kPacked, Class::kMemory, 6},
    {kWriteAfterWrite, kGeneral, Class::kPacked, Class::kAny, 6},
    {kWriteAfterWrite, kGeneral, Class::kClock, Class::kAny, 10},
    {kWriteAfterWrite, kGeneral, Class::kDouble, Class::kAlu, 7},
    {kWriteAfterWrite, kGeneral, Class::kDouble, Class::kAny, 8},
    {kWriteAfterWrite, kGeneral, Class::kOther, Class::kAlu, 4},
    {kWriteAfterWrite, kUniform, Class::kToUniform, Class::kAny, 7},
    {kWriteAfterWrite, kUniform, Class::kUniform, Class::kAny, 7},
    {kWriteAfterWrite, kUniform, Class::kConstant, Class::kMove, 2},
    {kWriteAfterWrite, kUniform, Class::kConstant, Class::kAny, 2},
    {kWriteAfterWrite, kUniform, Class::kMove, Class::kAny, 5},
    {kWriteAfterWrite, kUniform, Class::kVote, Class::kOther, 2},
    {kWriteAfterWrite, kUniform, Class::kVote, Class::kAny, 7},
    {kWriteAfterWrite, kPredicate, Class::kDouble, Class::kAny, 14},
    {kWriteAfterWrite, kPredicate, Class::kOther, Class::kAlu, 21},
    {kWriteAfterWrite, kPredicate, Class::kOther, Class::kAny, 17},
    {kWriteAfterWrite, kUniformPredicate, Class::kUniform, Class::kAny, 4},
};

}  // namespace

LatencyTable public_latencies_of_sm_90() { return {90, "CUDA 13.0.88", kRows, {}}; }

}  // namespace tessera::sass
